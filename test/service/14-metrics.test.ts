import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { EVENT_BYTES_MIN } from '../../engine/base/limits.ts';
import { type Families, readExposition, sumOf } from '../support/exposition.ts';
import {
  ask,
  removeFolder,
  request,
  runCommand,
  type Service,
  send,
  sendTcp,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const folder = temporaryFolder();
t.teardown(() => removeFolder(folder));
let service: Service;

t.before(async () => {
  service = await startService(folder, ['--ingest-workers', '2', '--query-workers', '2']);
});
t.teardown(() => service.stop());

async function metrics(): Promise<Families> {
  const answer = await request(`${service.http}/metrics`, {
    headers: { 'x-api-key': service.readKey },
  });
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  return readExposition(answer.text);
}

async function makeKey(...args: string[]): Promise<string> {
  const made = await runCommand(['key', 'create', '--data', folder, ...args]);
  return /[\w-]{22}/.exec(made.stdout)?.[0] ?? '';
}

t.test('metrics count exactly what was sent, by channel and key', async (t) => {
  const before = await metrics();
  t.equal(sumOf(before, 'logseam_events_total'), 0);
  const name = 'od"d \\ name';
  const other = { ...service, writeKey: await makeKey('--write', '--name', name) };
  let bytes = 0;
  for (let round = 0; round < 10; round++) {
    const body = JSON.stringify([{ round }, { round }, { round }]);
    bytes += 3 * EVENT_BYTES_MIN;
    t.equal((await send(service, body)).status, 200);
  }
  t.equal((await send(other, '{"one":1}')).status, 200);
  t.equal((await send({ ...service, writeKey: 'x' }, '{}')).status, 401);
  t.equal((await send(service, '{"bad"')).status, 400);
  const lines = [
    `${service.writeKey} a`,
    `${other.writeKey} bb`,
    'nokey c',
    `${service.writeKey} d`,
  ];
  await sendTcp(service.tcpPort, `${lines.join('\n')}\n`);
  await ask(service, '/beta/events/list', { time: { from: 0, to: 'now' } });

  const after = await metrics();
  const count = (metric: string, labels: Record<string, string> = {}): number =>
    sumOf(after, metric, labels);
  const http = { channel: 'http', key: 'default' };
  t.equal(count('logseam_events_total', http), 30);
  t.equal(count('logseam_event_bytes_total', http), bytes);
  t.equal(count('logseam_requests_total', http), 10);
  t.equal(count('logseam_events_total', { channel: 'http', key: name }), 1);
  t.equal(count('logseam_events_total', { channel: 'tcp', key: 'default' }), 2);
  t.equal(
    count('logseam_event_bytes_total', { channel: 'tcp', key: 'default' }),
    2 * EVENT_BYTES_MIN,
  );
  t.equal(count('logseam_events_total', { channel: 'tcp', key: name }), 1);
  t.equal(count('logseam_events_total'), 34);
  t.equal(count('logseam_refusals_total', { channel: 'http', reason: 'key' }), 1);
  t.equal(count('logseam_refusals_total', { channel: 'http', reason: 'malformed' }), 1);
  t.equal(count('logseam_lines_dropped_total', { channel: 'tcp' }), 1);
  t.equal(count('logseam_rows_decoded_total'), 34, 'by the kernel or the reference');
  t.equal(count('logseam_commit_seconds_count'), 11);
  t.equal(count('logseam_commit_seconds_bucket', { le: '+Inf' }), 11);
  t.equal(count('logseam_query_seconds_count', { kind: 'list' }), 1);
  t.equal(count('logseam_connections_total', { channel: 'tcp' }), 1);
  t.equal(count('logseam_store_rows'), 34);
  t.equal(count('logseam_store_sealed_rows'), 0);
  t.equal(count('logseam_ready'), 1);
  t.equal(count('logseam_workers_up', { kind: 'ingest' }), 2);
  t.equal(count('logseam_ingest_tasks_pending'), 0);
  t.equal(count('logseam_ingest_slot_bytes_free'), count('logseam_ingest_slot_bytes'));
  t.ok(count('logseam_disk_free_bytes') > 0);
  t.ok(count('process_cpu_seconds_total') > 0);
  t.ok(count('process_resident_memory_bytes') > 10_000_000);
});

t.test('metrics tell how the process does and what it answered', async (t) => {
  const key = await makeKey('--write', '--name', 'bounded', '--quota-mb', '2');
  t.equal((await send({ ...service, writeKey: key }, '{"n":1}')).status, 200);
  const before = await metrics();
  const held = `${service.writeKey} a line without its end`;
  const socket = connect(service.tcpPort, '127.0.0.1', () => socket.write(held));
  const answers = (families: Families, status: string): number =>
    sumOf(families, 'logseam_http_answers_total', { channel: 'http', status });
  for (let times = 0; times < 3; times++) {
    t.equal((await request(`${service.http}/nothing`)).status, 404);
    t.equal((await send(service, '{"bad"')).status, 400);
  }
  let after = await metrics();
  t.equal(answers(after, '404') - answers(before, '404'), 3);
  t.equal(answers(after, '400') - answers(before, '400'), 3);
  t.equal(answers(after, '200') - answers(before, '200'), 1, 'its own answer counts later');
  t.equal(sumOf(after, 'logseam_quota_bytes', { key: 'bounded' }), 2_000_000);
  t.equal(sumOf(after, 'logseam_quota_used_bytes', { key: 'bounded' }), EVENT_BYTES_MIN);
  t.equal(after.get('logseam_quota_bytes')?.samples.length, 1, 'others have no quota');
  t.same(after.get('logseam_certificate_end_seconds')?.samples, [], 'nor is there a certificate');
  while (sumOf(after, 'logseam_held_bytes') === 0) after = await metrics();
  t.equal(sumOf(after, 'logseam_held_bytes'), held.length);
  socket.destroy();
  while (sumOf(after, 'logseam_held_bytes') > 0) after = await metrics();
  const open = sumOf(after, 'process_open_fds');
  t.ok(open > 10 && open < sumOf(after, 'process_max_fds'));
  t.same(
    after.get('logseam_event_loop_lag_seconds')?.samples.map(({ labels }) => labels),
    [
      { kind: 'front', worker: '0' },
      ...[0, 1].map((worker) => ({ kind: 'ingest', worker: String(worker) })),
      ...[0, 1].map((worker) => ({ kind: 'query', worker: String(worker) })),
    ],
  );
});

t.test('metrics tell what memory each thread has', async (t) => {
  const families = await metrics();
  const resident = sumOf(families, 'process_resident_memory_bytes');
  const threads = families.get('logseam_event_loop_lag_seconds')?.samples ?? [];
  t.equal(threads.length, 5);
  for (const { labels } of threads) {
    const heap = sumOf(families, 'logseam_thread_memory_bytes', { ...labels, of: 'heap' });
    const buffers = sumOf(families, 'logseam_thread_memory_bytes', { ...labels, of: 'buffers' });
    t.ok(heap > 1_000_000 && heap < resident, `heap of ${JSON.stringify(labels)}`);
    t.ok(buffers > 0, `buffers of ${JSON.stringify(labels)}`);
  }
  const ofIngest = { kind: 'ingest', worker: '0', of: 'kernels' };
  t.ok(sumOf(families, 'logseam_thread_memory_bytes', ofIngest) > 1_000_000);
});

t.test('classes of a histogram never shrink with their bound', async (t) => {
  for (const [name, { type, samples }] of await metrics()) {
    if (type !== 'histogram') continue;
    const before = new Map<string, number>();
    for (const { name: part, labels, value } of samples) {
      if (part !== `${name}_bucket`) continue;
      const { le: _, ...rest } = labels;
      const group = JSON.stringify(rest);
      t.ok(value >= (before.get(group) ?? 0), `${part} ${JSON.stringify(labels)}`);
      before.set(group, value);
    }
    t.ok(before.size > 0, name);
  }
});

t.test('metrics tell nobody but those who may know of all keys', async (t) => {
  const narrow = await makeKey('--read', '--name', 'narrow', '--filter', 'team:a');
  const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await request(`${service.http}/metrics`, { headers })).status;
  t.equal(await status({}), 401);
  t.equal(await status({ 'x-api-key': 'unknown' }), 401);
  t.equal(await status({ 'x-api-key': service.writeKey }), 403);
  t.equal(await status({ 'x-api-key': narrow }), 403);
  t.equal(await status({ 'x-api-key': service.readKey }), 200);
  t.equal(await status({ authorization: `Bearer ${token}` }), 200);
  t.equal(await status({ authorization: 'Bearer wrong' }), 401);
  const text = (await request(`${service.http}/metrics?api_key=${service.readKey}`)).text;
  for (const secret of [service.writeKey, service.readKey, token, folder]) {
    t.notOk(text.includes(secret), 'no secret and no path is told');
  }
});

t.test('healthz and readyz are open; a stopping service is not ready', async (t) => {
  t.equal((await request(`${service.http}/healthz`)).text, '{"ok":true}');
  t.equal((await request(`${service.http}/readyz`)).text, '{"ok":true}');
  t.equal((await request(`${service.http}/readyz`, { method: 'POST' })).status, 405);
  t.equal((await request(`${service.http}/metrics`, { method: 'POST' })).status, 405);
  const own = temporaryFolder();
  t.teardown(() => removeFolder(own));
  const ending = await startService(own);
  const port = Number(new URL(ending.http).port);
  const asking = connect(port, '127.0.0.1');
  const answered = new Promise<string>((resolve) => {
    let text = '';
    asking.on('data', (chunk) => {
      text += chunk;
    });
    asking.on('close', () => resolve(text));
  });
  // A request whose body has not ended keeps the service from ending at once.
  asking.write('POST /beta/events/list HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{');
  const waiting = connect(port, '127.0.0.1');
  await new Promise((resolve) => {
    waiting.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    waiting.once('data', resolve);
  });
  const stopped = ending.stop();
  while (!ending.output().includes('stopping')) await new Promise(setImmediate);
  const reply = new Promise<string>((resolve) =>
    waiting.once('data', (chunk) => resolve(`${chunk}`)),
  );
  waiting.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n');
  t.match(await reply, /503 [\s\S]*the service is stopping/);
  asking.write('}');
  await answered;
  t.equal(await stopped, 0);
});
