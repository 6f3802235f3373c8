import { existsSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { adminToken, define } from '../support/admin.ts';
import { metric } from '../support/metrics.ts';
import { Neighbour } from '../support/neighbour.ts';
import {
  type Answer,
  ask,
  removeFolder,
  request,
  runCommand,
  sendTcp,
  startService,
  TEST_LISTENERS,
  temporaryFolder,
} from '../support/service.ts';

const WRONG = 'A'.repeat(43);

const folder = temporaryFolder();
const listeners = ['--https-input', '127.0.0.1:0', '--metrics-open', 'true'];
const service = await startService(folder, listeners);
const token = adminToken(service);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});

function admin(bearer: string, init: RequestInit = {}): Promise<Answer> {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
  return request(`${service.http}/admin/api/read_keys`, { headers, ...init });
}

/** The lines of the log about failures. */
function told(): Record<string, unknown>[] {
  return service
    .output()
    .split('\n')
    .filter((line) => line.includes('could not be authenticated'))
    .map((line) => JSON.parse(line));
}

t.test(
  '13 who tries tokens is counted, told to wait and logged, and the admin gets on',
  async (t) => {
    const neighbour = new Neighbour(service);
    await neighbour.alone();
    const statuses: number[] = [];
    for (let at = 0; at < 150; at++) {
      const answer = await admin(at === 0 ? token.slice(1) : WRONG);
      statuses.push(answer.status);
      if (answer.status === 429) t.equal(answer.headers.get('retry-after'), '60');
    }
    t.same(statuses, [...Array(100).fill(401), ...Array(50).fill(429)]);
    t.equal((await admin(token)).status, 200);
    const other = { ...service, readKey: 'A'.repeat(22) };
    for (let at = 0; at < 30; at++) {
      t.equal((await ask(other, '/beta/events/list', {})).status, 401);
      const input = await request(`${service.http}/v1/input/${WRONG}`, {
        method: 'POST',
        body: 'x',
      });
      t.equal(input.status, 401);
    }
    const counted = (route: string): Promise<number> =>
      metric(service, 'logseam_authentication_failures_total', { route });
    t.equal(await counted('admin'), 150);
    t.equal(await counted('read'), 30);
    t.equal(await counted('input'), 30);
    const lines = told();
    t.ok(lines.length > 0 && lines.length <= 20, `${lines.length} lines`);
    t.match(lines[0], { level: 'info', route: 'admin', peer: '127.0.0.1', failures: 1 });
    t.notMatch(service.output(), WRONG);
    await neighbour.check(t);
  },
);

t.test('13 a line of audit.log has the peer, and nothing that reorders text', async (t) => {
  const name = 'abc\u202egpj.exe\u2066';
  await define(service, 'groups', { id: 'steering', name });
  const log = readFileSync(join(folder, 'audit.log'), 'utf8');
  t.match(log, /^[ -~\n]*$/);
  const last = JSON.parse(log.trim().split('\n').at(-1) ?? '');
  t.match(last, { who: 'admin-token', peer: '127.0.0.1', what: 'create', definition: { name } });
});

t.test(
  '13 the first write key is in no file any more when its first event was accepted',
  async (t) => {
    const other = temporaryFolder();
    t.teardown(() => removeFolder(other));
    let first = await startService(other);
    const { writeKey, tcpPort } = first;
    const file = join(other, 'write-key');
    t.equal(readFileSync(file, 'utf8').trim(), writeKey);
    await request(`${first.http}/v1/input/${'A'.repeat(22)}`, { method: 'POST', body: 'x' });
    await first.stop();
    t.ok(existsSync(file), 'it stays until then');
    first = await startService(other);
    await sendTcp(first.tcpPort, `${writeKey} an event\n`);
    while (existsSync(file)) await pause(5);
    t.not(tcpPort, 0);
    await first.stop();
    first = await startService(other);
    t.notOk(existsSync(file));
    await first.stop();
  },
);

t.test('13 a token that was cut is refused at the start', async (t) => {
  const other = temporaryFolder();
  t.teardown(() => removeFolder(other));
  await (await startService(other)).stop();
  for (const bytes of [20, 0]) {
    truncateSync(join(other, 'admin-token'), bytes);
    const { code, stderr } = await runCommand(['serve', '--data', other, ...TEST_LISTENERS]);
    t.equal(code, 1);
    t.match(stderr, /admin-token does not hold a token of 43 characters/);
  }
});

t.test('1.1 a listener of https_input takes input alone', async (t) => {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  process.removeAllListeners('warning');
  const url = service.httpsInput;
  t.match(url, /^https:/);
  const input = await request(`${url}/v1/input/${service.writeKey}`, { method: 'POST', body: 'x' });
  t.equal(input.status, 200);
  for (const path of ['/admin/api/read_keys', '/beta/events/list', '/healthz', '/metrics', '/']) {
    const headers = { authorization: `Bearer ${token}`, 'x-api-key': service.readKey };
    t.equal((await request(`${url}${path}`, { headers })).status, 404, path);
  }
});
