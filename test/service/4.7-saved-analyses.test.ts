import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Answer, request, send, testService } from '../support/service.ts';

const service = await testService(t);
const token = readFileSync(join(service.folder, 'admin-token'), 'utf8').trim();
const DAY = '2026-03-01';
const TIME = { from: `${DAY}T10:00:00Z`, to: `${DAY}T11:00:00Z` };
const EVENT_COUNT = 120;

/** Events of one a half minute, newest last; verbs are GET, but every fifth is DELETE and every tenth POST. */
const events = Array.from({ length: EVENT_COUNT }, (_, n) => ({
  timestamp: new Date(Date.parse(TIME.from) + n * 30_000).toISOString(),
  n,
  verb: n % 10 === 0 ? 'POST' : n % 5 === 0 ? 'DELETE' : 'GET',
  size: n,
  message: `event ${n}`,
  ...(n % 2 === 0 ? { syslog: { appname: 'web' } } : {}),
}));
await send(service, JSON.stringify(events));

async function admin(method: string, path: string, value?: object): Promise<Answer> {
  const answer = await request(`${service.http}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(value === undefined ? {} : { body: JSON.stringify(value) }),
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer;
}

const path = (id: string): string => `${service.http}/beta/saved_analyses/${id}/execute`;

function execute(id: string, body?: object, readKey = service.readKey): Promise<Answer> {
  return request(path(id), {
    method: 'POST',
    headers: {
      'x-api-key': readKey,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

interface Raw {
  id: string;
  date: string;
  message: string;
  custom: { n: number };
  syslog: { appname?: string };
  reception: { date: string };
}

function numbersOf(answer: Answer): number[] {
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body as { result: { events: Raw[] } }).result.events.map(({ custom }) => custom.n);
}

const down = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, place) => from - place);

await admin('POST', 'fields', { id: 'how', name: 'Verb', attribute: 'custom.verb' });
await admin('POST', 'tagsets', {
  ...{ id: 'danger', name: 'Danger' },
  tags: [
    { name: 'High', color: '#ff0000', query: 'how:DELETE' },
    { name: 'Low', query: 'how:(GET OR DELETE)' },
  ],
});
await admin('POST', 'metrics', {
  ...{ id: 'bytes', name: 'Bytes', type: 'attribute', unit: 'B' },
  ...{ attribute: 'custom.size', aggregation: 'sum' },
});
await admin('POST', 'metrics', {
  ...{ id: 'mean', name: 'Mean', type: 'formula', formula: 'bytes / count' },
});
await admin('POST', 'saved_analyses', { id: 'all', name: 'All', kind: 'list', time: TIME });
await admin('POST', 'saved_analyses', {
  ...{ id: 'deletions', name: 'Deletions', kind: 'list', time: TIME },
  filters: [{ search: 'how:DELETE' }, { field: { id: 'danger', values: ['high'] } }],
  columns: [{ field: 'danger' }, { metric: 'mean' }],
});

t.test('4.7 a list view gives raw events, newest first', async (t) => {
  const answer = await execute('all', { limit: 2 });
  const { events: found } = (answer.body as { result: { events: Raw[] } }).result;
  t.match(found, [
    {
      ...{ id: /^[\w-]{22}$/, date: events[119].timestamp, message: 'event 119' },
      custom: { n: 119, verb: 'GET', timestamp: events[119].timestamp },
      syslog: {},
      reception: { date: /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ },
    },
    { message: 'event 118', custom: { n: 118 }, syslog: { appname: 'web' } },
  ]);
  t.same(Object.keys(found[0]).sort(), [
    ...['custom', 'date', 'id', 'message', 'reception', 'syslog'],
  ]);
  t.same(numbersOf(await execute('all')), down(119, 50), '50 unless asked otherwise');
  t.same(
    numbersOf(await execute('deletions')),
    events
      .filter(({ verb }) => verb === 'DELETE')
      .map(({ n }) => n)
      .reverse(),
  );
});

t.test('4.7 an answer names what its outputs are made of when it is asked to', async (t) => {
  await admin('POST', 'saved_analyses', {
    ...{ id: 'named', name: 'Bytes by verb', kind: 'table', time: TIME },
    compute: [{ metric: { id: 'bytes', output: 'b' } }, { metric: { id: 'avg:custom.n' } }],
    groupBy: [{ time: { interval: '1h' } }, { field: { id: 'how' } }],
  });
  const { body } = await execute('named', { names: true });
  t.match(body, {
    result: {
      values: [{ fields: { f0: String }, metrics: { m0: Number } }],
      names: { name: 'Bytes by verb', fields: ['how'], metrics: ['bytes', 'avg:custom.n'] },
    },
  });
  const { body: plain } = await execute('named');
  t.notOk('names' in (plain as { result: object }).result);
});

interface Row {
  time: number;
  fields: Record<string, unknown>;
  metrics: Record<string, unknown>;
}

async function rowsOf(id: string, body?: object, readKey = service.readKey): Promise<Row[]> {
  const { status, text, body: answer } = await execute(id, body, readKey);
  if (status !== 200) throw new Error(text);
  return (answer as { result: { values: Row[] } }).result.values;
}

const FROM_MS = Date.parse(TIME.from);

t.test('4.7 a top list has positional names and the start of the range as time', async (t) => {
  await admin('POST', 'saved_analyses', {
    ...{ id: 'top', name: 'Top', kind: 'toplist', time: TIME },
    compute: [{ metric: { id: 'count' } }, { metric: { id: 'mean', output: 'average' } }],
    groupBy: [{ field: { id: 'how', total: 'all', order: { mean: 'asc' } } }],
  });
  const row = (f0: string, m0: number, m1: number): Row => ({
    ...{ time: FROM_MS, fields: { f0 }, metrics: { m0, m1 } },
  });
  const rows = [row('POST', 12, 55), row('GET', 96, 60), row('DELETE', 12, 60)];
  const found = await rowsOf('top');
  t.same(found[0], rows[0], 'and no total row');
  t.same(new Set(found.map(({ fields }) => fields['f0'])), new Set(['POST', 'GET', 'DELETE']));
  t.same(await rowsOf('top', { limit: 1 }), [rows[0]]);
  const time = { from: FROM_MS + 30_000, to: FROM_MS + 60_000 };
  t.same(await rowsOf('top', { time }), [{ ...row('GET', 1, 1), time: FROM_MS + 30_000 }]);
  t.match(await rowsOf('top', { format: true, limit: 1 }), [
    {
      fields: { f0: { id: 'POST', name: 'POST', color: /^#[0-9a-f]{6}$/ } },
      metrics: { m0: { value: 12, formatted: '12' }, m1: { value: 55, formatted: '55' } },
    },
  ]);
  t.match(await execute('top', { 'field.from': 1 }), { status: 400, text: /field\.from 1 / });
  t.equal((await rowsOf('top', { 'field.from': 0 })).length, 3);
});

t.test('4.7 tagsets group by their tags', async (t) => {
  await admin('POST', 'saved_analyses', {
    ...{ id: 'dangers', name: 'Dangers', kind: 'table', time: TIME },
    filters: [{ search: 'n:<10' }],
    compute: [{ metric: { id: 'bytes' } }],
    groupBy: [{ field: { id: 'danger' } }, { field: { id: 'syslog.appname' } }],
  });
  const found = await rowsOf('dangers', { format: true });
  t.match(found, [
    {
      time: FROM_MS,
      fields: {
        f0: { id: 'low', name: 'Low', color: '#ff7f0e' },
        f1: { id: 'web', name: 'web', color: /^#[0-9a-f]{6}$/ },
      },
      metrics: { m0: { value: 20, formatted: '20 B' } },
    },
  ]);
});

t.test('4.7 a time series has a row for each step of time and field', async (t) => {
  await admin('POST', 'saved_analyses', {
    ...{ id: 'grouped', name: 'Grouped', kind: 'timeseries' },
    time: { from: `${DAY}T10:58:00Z`, to: `${DAY}T11:02:00Z` },
    compute: [{ metric: { id: 'count' } }],
    groupBy: [{ time: { interval: '1m' } }, { field: { id: 'how' } }],
  });
  const at = (minute: number): number => FROM_MS + minute * 60_000;
  t.same(await rowsOf('grouped'), [
    { time: at(58), fields: { f0: 'GET' }, metrics: { m0: 2 } },
    { time: at(59), fields: { f0: 'GET' }, metrics: { m0: 2 } },
  ]);
  await admin('POST', 'saved_analyses', {
    ...{ id: 'series', name: 'Series', kind: 'timeseries' },
    time: { from: `${DAY}T10:59:00Z`, to: `${DAY}T11:01:00Z` },
    compute: [
      { timeseries: { metricId: 'count', interval: '1m' } },
      { timeseries: { metricId: 'bytes', interval: '1m' } },
    ],
  });
  const rows = [
    { time: at(59), fields: {}, metrics: { m0: 2, m1: 118 + 119 } },
    { time: at(60), fields: {}, metrics: { m0: 0, m1: null } },
  ];
  t.same(await rowsOf('series'), rows, 'empty steps are there');
  t.same(await rowsOf('series', { limit: 1 }), rows, 'a time series has no pages');
});

t.test('4.7 field.from leaves out events before the page, in both spellings', async (t) => {
  t.same(numbersOf(await execute('all', { 'field.from': 50 })), down(69, 50));
  t.same(numbersOf(await execute('all', { field: { from: 100 }, limit: 30 })), down(19, 20));
  t.same(numbersOf(await execute('all', { 'field.from': 120 })), []);
  t.same(numbersOf(await execute('all', { 'field.from': 100_000 })), []);
});

t.test('4.7 the saved time holds unless another is asked', async (t) => {
  const time = { from: `${DAY}T10:00:00`, to: `${DAY}T10:01:00`, timezone: 'UTC' };
  t.same(numbersOf(await execute('all', { time })), [1, 0]);
  t.same(numbersOf(await execute('all', { time: { to: `${DAY}T10:01:00Z` } })), [1, 0]);
  const answer = await execute('all', { limit: 1, time: { timezone: 'UTC+02:00' } });
  t.match(answer.text, `"date":"${DAY}T12:59:30.000+02:00"`);
});

t.test(
  '4.7 a client that sends a key alone, from another origin, to a path with a slash',
  async (t) => {
    const headers = { 'x-api-key': service.readKey, accept: '*/*', origin: 'http://a.example' };
    const preflight = await request(`${path('all')}/`, {
      method: 'OPTIONS',
      headers: {
        ...{ origin: 'http://a.example', 'access-control-request-method': 'POST' },
        'access-control-request-headers': 'x-api-key',
      },
    });
    t.equal(preflight.status, 204);
    t.match(preflight.headers.get('access-control-allow-headers'), 'x-api-key');
    const answer = await request(`${path('all')}/`, { method: 'POST', headers });
    t.equal(answer.headers.get('access-control-allow-origin'), '*');
    t.equal(numbersOf(answer).length, 50);
  },
);

t.test('4.7 GET takes the parameters of the query', async (t) => {
  const get = (query: string): Promise<Answer> =>
    request(`${path('all')}?api_key=${service.readKey}${query}`);
  t.same(numbersOf(await get('&limit=3')), [119, 118, 117]);
  t.same(numbersOf(await get('&limit=2&field.from=10')), [109, 108]);
  t.same(numbersOf(await get('&limit=1&limit=2')), [119], 'the first of those that are repeated');
  const from = Date.parse(TIME.from);
  t.same(numbersOf(await get(`&from=${from + 30_000}&to=${from + 90_000}`)), [2, 1]);
  const zoned = await get(`&from=${DAY}T12:00:00&to=${DAY}T12:00:30&timezone=UTC%2B02:00`);
  t.same(numbersOf(zoned), [0]);
  t.match(zoned.text, `"date":"${DAY}T12:00:00.000+02:00"`);
  t.same(numbersOf(await get(`&from=${DAY}T12:00:00&to=${DAY}T12:00:30&offset=7200`)), [0]);
  const wrong: [string, RegExp][] = [
    ['&limt=3', /\\"limt\\" is unknown; did you mean \\"limit\\"/],
    ['&limit=x', /limit \\"x\\" is not allowed; allowed: a whole number from 1 to 1000/],
    ['&limit=1001', /limit 1001/],
    ['&field.from=-1', /field\.from -1 .*0 to 100000/],
    ['&format=yes', /format \\"yes\\".*true or false/],
    ['&from=then', /time\.from \\"then\\"/],
    ['&timezone=Mars', /time\.timezone \\"Mars\\"/],
  ];
  for (const [query, message] of wrong) {
    const { status, text } = await get(query);
    t.equal(status, 400, query);
    t.match(text, message);
  }
});

t.test('4.7 what is wrong is refused, the key first', async (t) => {
  t.equal((await execute('all', {}, 'nobody')).status, 401);
  t.equal((await execute('all', {}, service.writeKey)).status, 403);
  t.match(await execute('nothing'), { status: 404, text: /\\"nothing\\": there is no such saved/ });
  t.match(await execute('__proto__'), { status: 404 });
  const headers = { 'x-api-key': service.readKey };
  t.equal((await request(path('all'), { method: 'PUT', headers })).status, 405);
  t.equal((await request(path('all'), { method: 'POST', headers, body: '{}' })).status, 415);
  t.equal((await request(`${path('all')}?limit=1`, { method: 'POST', headers })).status, 400);
  const wrong: [object, RegExp][] = [
    [{ limits: 1 }, /limits is unknown; did you mean \\"limit\\"/],
    [{ limit: '1' }, /limit \\"1\\"/],
    [{ field: { form: 1 } }, /form is unknown/],
    [{ field: { from: 1 }, 'field.from': 1 }, /field\.from is there twice/],
    [{ 'field.from': 100_001 }, /100001 .*0 to 100000/],
    [{ time: { from: 'now' } }, /time\.from \\"now\\" is after/],
    [{ format: 1 }, /format 1/],
  ];
  for (const [body, message] of wrong) {
    const { status, text } = await execute('all', body);
    t.equal(status, 400, JSON.stringify(body));
    t.match(text, message);
  }
});

t.test('4.7 the security filter of the key holds, with ids of fields', async (t) => {
  const { body } = await admin('POST', 'read_keys', { name: 'few', security_filter: 'how:POST' });
  const { key } = (body as { result: { key: string } }).result;
  t.same(numbersOf(await execute('all', { limit: 3 }, key)), [110, 100, 90]);
  t.same(numbersOf(await execute('deletions', {}, key)), []);
  t.match(await rowsOf('top', {}, key), [{ fields: { f0: 'POST' } }]);
});

t.test('4.7 a change of an analysis is in force at once', async (t) => {
  await admin('PATCH', 'saved_analyses/all', { filters: [{ search: 'n:<3' }] });
  t.same(numbersOf(await execute('all')), [2, 1, 0]);
  await admin('DELETE', 'saved_analyses/all');
  t.equal((await execute('all')).status, 404);
});
