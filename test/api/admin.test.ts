import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { openDisk } from '../../engine/base/file.ts';
import type { KeyUsage } from '../../engine/engine.ts';
import { AuthFailures } from '../../server/api/access/failures.ts';
import { createAdmin } from '../../server/api/admin/admin.ts';
import { keyResources } from '../../server/api/admin/keys.ts';
import { ApiError, type ApiRequest } from '../../server/api/reply.ts';
import { openKeys } from '../../server/registry/keys.ts';
import { Senders } from '../../server/registry/senders.ts';
import { dayOf, UsageCells } from '../../server/registry/usage.ts';

const TOKEN = 'T'.repeat(43);
const NOW_MS = Date.UTC(2026, 2, 1, 12);
const DAY = dayOf(NOW_MS);

const folder = mkdtempSync(join(tmpdir(), 'logseam-admin-'));
const cells = new UsageCells();
const keys = await openKeys({
  disk: openDisk(folder),
  cells,
  planLimitMb: undefined,
  nowMs: () => NOW_MS,
});
t.teardown(async () => {
  await keys.close();
  rmSync(folder, { recursive: true });
});

let changedCount = 0;
const senders = new Senders();
const used: KeyUsage[] = [];
const admin = createAdmin({
  token: TOKEN,
  failures: new AuthFailures({ info: () => {} }),
  resources: new Map(
    keyResources({
      keys,
      cells,
      nowMs: () => NOW_MS,
      usage: () => used,
      senders,
      filterIds: (text) => {
        if (text.includes('((')) throw new Error('at position 2: expected a term');
        return [];
      },
      changed: () => {
        changedCount++;
      },
    }),
  ),
});

function request(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): ApiRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
  return {
    method,
    path: `/admin/api/${path}`,
    query: new Map(),
    headers: new Map(
      Object.entries({
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json; charset=UTF-8',
        ...headers,
      }),
    ),
    body: new TextEncoder().encode(text),
    peer: '192.0.2.7',
    isSecure: false,
    signal: new AbortController().signal,
  };
}

/** The `result` of a request that succeeds. */
async function ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const reply = await admin(request(method, path, body));
  if (reply.status !== 200) throw new Error(`status ${reply.status}`);
  return JSON.parse(String(reply.body)).result;
}

t.test('a request without the token of the folder is refused', async (t) => {
  for (const authorization of [
    '',
    'Bearer',
    'Bearer wrong',
    `Basic ${TOKEN}`,
    `Bearer ${TOKEN}x`,
  ]) {
    await t.rejects(
      admin(request('GET', 'write_keys', {}, { authorization })),
      {
        status: 401,
        message: /could not be authenticated/,
        headers: { 'WWW-Authenticate': 'Bearer' },
      },
      authorization,
    );
  }
  await t.rejects(admin(request('GET', 'nothing', {}, { authorization: 'x' })), {
    status: 401,
    message: /token/,
  });
});

t.test('a write key is made, shown once, changed and deleted', async (t) => {
  const made = await ask('POST', 'write_keys', {
    name: 'web',
    daily_quota: { type: 'megabytes', value: 1 },
  });
  const { key, ...rest } = made;
  t.match(key, /^[\w-]{22}$/);
  t.equal(changedCount, 1);
  t.same(rest, {
    id: made['id'],
    name: 'web',
    enabled: true,
    quota_reached: false,
    daily_usage: 0,
    daily_quota: { type: 'megabytes', value: 1 },
    ...{ days: [], last_seen: null, senders: [] },
  });
  t.same(await ask('GET', 'write_keys'), { write_keys: [rest] }, 'the list has no key');
  t.same(await ask('GET', 'write_keys/web'), rest);
  const { cell } = must(keys.lookup(String(key)), 'key');
  cells.reserve(cell, 1_000_001, DAY);
  t.match(await ask('GET', `write_keys/${rest['id']}`), {
    enabled: false,
    quota_reached: true,
    daily_usage: 1_000_001,
  });
  t.match(
    await ask('PATCH', 'write_keys/web', { name: 'a/b', daily_quota: null, enabled: false }),
    { name: 'a/b', daily_quota: null, enabled: false, quota_reached: false },
  );
  t.equal(changedCount, 2);
  t.equal(cells.reserve(cell, 1, DAY), 'disabled');
  t.same(await ask('DELETE', 'write_keys/a/b'), { id: rest['id'], name: 'a/b', deleted: true });
  t.equal(changedCount, 3);
  t.equal(keys.lookup(String(key)), undefined);
  t.match(
    readFileSync(join(folder, 'audit.log'), 'utf8'),
    /"admin-token","peer":"192.0.2.7","what":"delete"/,
  );
});

t.test('a write key tells its last 30 days, its last event and its senders', async (t) => {
  const { id } = await ask('POST', 'write_keys', { name: 'days' });
  const key = String(id);
  const [first, today] = [DAY - 40, DAY];
  for (let day = first; day <= today + 1; day++) used.push({ key, day, bytes: day, events: 1 });
  used.push({ key: 'other', day: today, bytes: 1, events: 1 });
  const dayText = new Date(DAY * 86_400_000).toISOString().slice(0, 10);
  const { days, ...rest } = await ask('GET', 'write_keys/days');
  t.equal((days as object[]).length, 30);
  t.same((days as object[]).at(-1), { day: dayText, bytes: today, events: 1 });
  t.match(rest, { last_seen: dayText, senders: [] });
  senders.stored([{ key, day: today, bytes: 1, events: 1 }], NOW_MS);
  senders.note(key, NOW_MS, () => ({ peer: '192.0.2.1', channel: 'tcp' }));
  senders.note(key, NOW_MS, () => ({ peer: '192.0.2.2', channel: 'tcp' }));
  const last_seen = new Date(NOW_MS).toISOString();
  t.match(await ask('GET', 'write_keys/days'), {
    ...{ last_seen, senders: [{ peer: '192.0.2.1', channel: 'tcp', last_seen }] },
  });
  for (let n = 1; n <= 20; n++) {
    senders.note(key, NOW_MS + n * 1_000, () => ({ peer: `192.0.2.${n % 15}`, channel: 'udp' }));
  }
  t.same(
    senders.of(key).map(({ peer }) => peer),
    [5, 4, 3, 2, 1, 0, 14, 13, 12, 11].map((n) => `192.0.2.${n}`),
  );
  used.length = 0;
});

t.test('a read key has a security filter that is checked', async (t) => {
  const made = await ask('POST', 'read_keys', { name: 'red', security_filter: 'team:red' });
  const { key, ...rest } = made;
  t.same(rest, { id: made['id'], name: 'red', security_filter: 'team:red' });
  t.equal(keys.lookup(String(key))?.filter, 'team:red');
  t.match(await ask('PATCH', 'read_keys/red', { security_filter: null }), {
    security_filter: null,
  });
  await t.rejects(admin(request('PATCH', 'read_keys/red', { security_filter: '((' })), {
    status: 400,
    message: /security_filter "\(\(": at position 2/,
  });
  await t.rejects(admin(request('GET', 'write_keys/red')), { status: 404, message: /"red"/ });
  await ask('DELETE', 'read_keys/red');
});

t.test('what is wrong is refused by name, value and what is allowed', async (t) => {
  await ask('POST', 'write_keys', { name: 'taken' });
  const before = [changedCount, keys.table().version];
  const table: [string, string, unknown, number, RegExp][] = [
    ['GET', 'write_kyes', {}, 404, /"write_kyes" is unknown.*did you mean write_keys\?/],
    ['GET', '', {}, 404, /write_keys, read_keys/],
    ['GET', 'write_keys/nobody', {}, 404, /"nobody"/],
    ['PUT', 'write_keys', {}, 405, /"PUT".*GET, POST/],
    ['POST', 'write_keys/taken', {}, 405, /GET, PATCH, DELETE/],
    ['POST', 'write_keys', '{', 400, /not JSON/],
    ['POST', 'write_keys', '[1]', 400, /the body is .*; it must be an object/],
    ['POST', 'write_keys', {}, 400, /name is missing/],
    ['POST', 'write_keys', { name: 7 }, 400, /name 7 is not allowed; allowed: a string/],
    ['POST', 'write_keys', { name: 'taken' }, 400, /"taken" is taken/],
    ['POST', 'write_keys', { name: 'x'.repeat(101) }, 400, /101 characters/],
    ['POST', 'write_keys', { name: 'x', enabled: 'no' }, 400, /enabled "no" .*true or false/],
    ['POST', 'write_keys', { name: 'x', enabeld: true }, 400, /enabeld is unknown.*"enabled"\?/],
    ['POST', 'write_keys', { name: 'x', security_filter: 'a' }, 400, /security_filter.*unknown/],
    ['POST', 'read_keys', { name: 'x', daily_quota: null }, 400, /daily_quota.*unknown/],
    ['POST', 'write_keys', { name: 'x', id: 'y' }, 400, /id cannot be set/],
    [
      'POST',
      'write_keys',
      '{"name":"x","__proto__":{"enabled":false}}',
      400,
      /__proto__ is unknown/,
    ],
    ['PATCH', 'write_keys/taken', { daily_quota: 5 }, 400, /daily_quota 5 .*object/],
    [
      'PATCH',
      'write_keys/taken',
      { daily_quota: { type: 'gb', value: 1 } },
      400,
      /"gb".*megabytes/,
    ],
    ['PATCH', 'write_keys/taken', { daily_quota: { type: 'megabytes' } }, 400, /value is missing/],
    [
      'PATCH',
      'write_keys/taken',
      { daily_quota: { type: 'megabytes', value: 1, x: 1 } },
      400,
      /daily_quota\.x is unknown/,
    ],
    [
      'PATCH',
      'write_keys/taken',
      { daily_quota: { type: 'percentage', value: 5 } },
      400,
      /plan_limit_mb/,
    ],
    [
      'PATCH',
      'write_keys/taken',
      `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      400,
      /name \(an array/,
    ],
  ];
  for (const [method, path, body, status, message] of table) {
    const title = `${method} ${path} ${JSON.stringify(body)}`.slice(0, 100);
    await t.rejects(admin(request(method, path, body)), { status, message }, title);
  }
  await t.rejects(admin(request('POST', 'write_keys', {}, { 'content-type': 'text/plain' })), {
    status: 415,
    message: /application\/json/,
  });
  t.same([changedCount, keys.table().version], before, 'nothing has changed');
});

t.test('a change that cannot be written is 503 and tells no path', async (t) => {
  const other = mkdtempSync(join(tmpdir(), 'logseam-admin-'));
  t.teardown(() => rmSync(other, { recursive: true }));
  const options = { disk: openDisk(other), cells, planLimitMb: undefined, nowMs: () => NOW_MS };
  const closed = await openKeys(options);
  await closed.close();
  const resources = keyResources({
    keys: closed,
    cells,
    nowMs: () => NOW_MS,
    usage: () => [],
    senders,
    filterIds: () => [],
    changed: () => t.fail('nothing changed'),
  });
  const broken = createAdmin({
    token: TOKEN,
    failures: { note: () => false },
    resources: new Map(resources),
  });
  const error = await broken(request('POST', 'write_keys', { name: 'x' })).catch((e) => e);
  t.ok(error instanceof ApiError);
  t.equal(error.status, 503);
  t.notMatch(error.message, other);
});

t.test('the type of a quota may be in the words of people', async (t) => {
  const of = (name: string, type: string) =>
    ask('POST', 'write_keys', { name, daily_quota: { type, value: 2 } });
  t.match(await of('worded', 'Volume in MB'), { daily_quota: { type: 'megabytes', value: 2 } });
  await t.rejects(of('huge', 'Volume in GB'), /allowed/);
});
