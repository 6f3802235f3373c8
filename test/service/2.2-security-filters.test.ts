import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  type Answer,
  listAll,
  removeFolder,
  request,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';

/**
 * Answers to a key with a security filter, on each endpoint: the same as a key without one that adds the filter to
 * its own, and the same as if the hidden events were not there.
 */

const FILTER = 'team:red';
const DAY = '2026-03-01';
const TIME = { from: `${DAY}T00:00:00Z`, to: `${DAY}T03:00:00Z` };
const EVENTS = 300;
const NOBODYS = 'AAAAAAAAAAAAAAAAAAAA';

/** Two in three are hidden: of another team, of none, or of several of which none is red. */
const events = Array.from({ length: EVENTS }, (_, n) => {
  const isRed = n % 3 === 0;
  const team = isRed ? (n % 2 === 0 ? 'red' : ['red', 'blue']) : ['blue', ['green', 'blue']][n % 2];
  const timestamp = new Date(Date.parse(TIME.from) + Math.floor(n / 2) * 60_000).toISOString();
  const shared = {
    timestamp,
    n,
    verb: ['GET', 'PUT', 'POST'][n % 3 === 0 ? (n / 3) % 3 : n % 2],
    host: `host-${n % 7}`,
    took: isRed ? n / 10 : n * 1_000,
    message: `${isRed ? 'open' : 'secret'} event ${n}`,
  };
  if (isRed) return { ...shared, team };
  const hidden = { ...shared, secret: { word: `hidden${n}` } };
  return n % 5 === 0 ? hidden : { ...hidden, team };
});
const isVisible = (event: object): boolean =>
  'team' in event && String(event.team).startsWith('red');

/** A service with its administration. */
interface Opened extends Service {
  admin(method: string, path: string, value: object): Promise<Answer>;
}

const folders: string[] = [];
async function open(): Promise<Opened> {
  const folder = temporaryFolder();
  folders.push(folder);
  const service = await startService(folder, ['--ingest-workers', '1']);
  t.teardown(async () => {
    await service.stop();
    removeFolder(folder);
  });
  const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
  const admin = async (method: string, path: string, value: object): Promise<Answer> => {
    const answer = await request(`${service.http}/admin/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(value),
    });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer;
  };
  return { ...service, admin };
}

/** All events, and those alone that the key may see. */
const [whole, visibleOnly] = await Promise.all([open(), open()]);
await send(whole, JSON.stringify(events));
await send(visibleOnly, JSON.stringify(events.filter(isVisible)));
const made = await whole.admin('POST', 'read_keys', { name: 'red', security_filter: FILTER });
const narrow = (made.body as { result: { key: string } }).result.key;

const saved = { time: TIME };
const analyses: Record<string, unknown>[] = [
  { ...saved, id: 'list', kind: 'list' },
  {
    ...{ ...saved, id: 'series', kind: 'timeseries' },
    compute: [{ timeseries: { metricId: 'sum:custom.took', interval: '30m' } }],
    groupBy: [{ field: { id: 'custom.verb' } }],
  },
  {
    ...{ ...saved, id: 'top', kind: 'toplist' },
    compute: [{ metric: { id: 'count' } }],
    groupBy: [{ field: { id: 'kind' } }, { field: { id: 'custom.host' } }],
  },
  {
    ...{ ...saved, id: 'table', kind: 'table' },
    compute: [{ metric: { id: 'mean' } }, { metric: { id: 'max:custom.took' } }],
    groupBy: [{ field: { id: 'custom.team' } }],
  },
];
for (const { admin } of [whole, visibleOnly]) {
  await admin('POST', 'fields', { id: 'verb', name: 'Verb', attribute: 'custom.verb' });
  await admin('POST', 'tagsets', {
    ...{ id: 'kind', name: 'Kind' },
    tags: [
      { id: 'writing', name: 'Writing', query: 'verb:(PUT OR POST)' },
      { id: 'secret', name: 'Secret', query: 'secret' },
      { id: 'rest', name: 'Rest', query: '*' },
    ],
  });
  await admin('POST', 'metrics', {
    ...{ id: 'total', name: 'Total', type: 'attribute' },
    ...{ attribute: 'custom.took', aggregation: 'sum' },
  });
  await admin('POST', 'metrics', {
    ...{ id: 'mean', name: 'Mean', type: 'formula', formula: 'total / count' },
  });
  for (const analysis of analyses) {
    await admin('POST', 'saved_analyses', { name: analysis['id'], ...analysis });
    const [id, filters] = [`${analysis['id']}_red`, [{ search: FILTER }]];
    await admin('POST', 'saved_analyses', { ...analysis, id, name: id, filters });
  }
}

/** An event of either service with that number, as a key without filter sees it. */
async function idOf(service: Service, n: number): Promise<string> {
  const [found] = await listAll(service, { filters: [{ search: `n:${n}` }] });
  return found.id;
}
const ids = new Map([
  [whole, await idOf(whole, 150)],
  [visibleOnly, await idOf(visibleOnly, 150)],
]);

/** A question: a path and a body, given a service and the filters that are added. */
interface Row {
  title: string;
  path: string | ((isFiltered: boolean) => string);
  method?: 'GET';
  body?: (service: Opened) => object;
  /** It takes no filters of its own, so that it is compared with the other service only. */
  takesNone?: true;
}

const columns = [
  ...[{ attribute: 'custom.took' }, { field: 'kind' }, { field: 'verb' }],
  ...[{ metric: 'mean' }, { attribute: 'custom.secret' }],
];
const aggregate = (title: string, body: object): Row => ({
  title: `aggregate: ${title}`,
  path: '/beta/events/aggregate',
  body: () => ({ time: TIME, ...body }),
});
const metric = (...metrics: string[]): object => ({
  compute: metrics.map((id) => ({ metric: { id } })),
});
const list = (title: string, body: object): Row => ({
  title: `list: ${title}`,
  path: '/beta/events/list',
  body: () => ({ time: TIME, limit: 40, ...body }),
});
const complete = (query: string): Row => ({
  title: `complete: ${query}`,
  path: '/beta/discover/complete',
  body: () => ({ time: TIME, query, limit: 50 }),
  takesNone: true,
});
const execute = (id: string, method?: 'GET'): Row => ({
  title: `saved analysis: ${id} ${method ?? 'POST'}`,
  path: (isFiltered) => `/beta/saved_analyses/${id}${isFiltered ? '_red' : ''}/execute`,
  ...(method === undefined ? { body: () => ({}) } : { method }),
});

const rows: Row[] = [
  list('whole events', { event: true }),
  list('columns', { columns, order: 'asc' }),
  list('an event that is hidden', { event: true, filters: [{ search: 'n:151' }] }),
  list('or', { event: true, filters: [{ search: 'n:151 OR secret OR team:blue' }] }),
  list('not', { event: true, filters: [{ search: '-team:red' }] }),
  list('a tag', { filters: [{ field: { id: 'kind', values: ['secret'] } }] }),
  {
    ...list('after an event', {}),
    body: (service) => ({ time: TIME, afterEvent: ids.get(service) }),
  },
  {
    ...{ title: 'fetch', path: '/beta/events/fetch', takesNone: true },
    body: (service) => ({ id: ids.get(service), event: true, columns }),
  },
  {
    ...{ title: 'export: NDJSON', path: '/beta/events/export' },
    body: () => ({ time: TIME, columns }),
  },
  {
    ...{ title: 'export: CSV', path: '/beta/events/export' },
    body: () => ({ time: TIME, format: 'csv', order: 'asc', columns }),
  },
  {
    ...{ title: 'context', path: '/beta/events/context' },
    body: (service) => ({ id: ids.get(service), before: 9, after: 7, event: true, columns }),
  },
  aggregate('count', metric('count')),
  aggregate('all aggregations', metric('sum:custom.took', 'min:custom.took', 'max:custom.took')),
  aggregate('percentiles', metric('median:custom.took', 'pc99:custom.took', 'avg:custom.took')),
  aggregate('cardinality', metric('cardinality:custom.n', 'cardinality:custom.secret.word')),
  aggregate('formula', metric('mean', 'total')),
  aggregate('field, total', {
    ...metric('count', 'mean'),
    groupBy: [
      { field: { id: 'custom.team', total: 'all' } },
      { field: { id: 'verb', total: 'all' } },
    ],
  }),
  aggregate('hidden attribute', {
    ...metric('count'),
    groupBy: [{ field: { id: 'custom.secret.word' } }],
  }),
  aggregate('natural order, first page', {
    ...metric('count'),
    groupBy: [{ field: { id: 'custom.n', limit: 5, order: { '@natural': 'asc' } } }],
  }),
  aggregate('natural order, next page', {
    ...metric('count'),
    groupBy: [{ field: { id: 'custom.n', limit: 5, order: { '@natural': 'asc' } } }],
    afterBucket: { 'custom.n': 10 },
  }),
  aggregate('tagset, total', {
    ...metric('count', 'max:custom.took'),
    groupBy: [{ field: { id: 'kind', total: 'all' } }],
    format: true,
  }),
  aggregate('minutes', { ...metric('count'), groupBy: [{ time: { interval: '1m' } }] }),
  aggregate('time, total, ordered by a hidden metric', {
    ...metric('total'),
    groupBy: [
      { field: { id: 'custom.host', order: { 'sum:custom.took': 'desc' } } },
      { time: { interval: '1h', total: 'all' } },
    ],
  }),
  aggregate('time series', {
    compute: [
      { timeseries: { metricId: 'count', interval: '10m' } },
      { timeseries: { metricId: 'mean', interval: '10m' } },
    ],
    groupBy: [{ field: { id: 'verb' } }],
  }),
  ...analyses.flatMap(({ id }) => [execute(String(id)), execute(String(id), 'GET')]),
  {
    ...{ title: 'attributes and their values', path: '/beta/discover/attributes' },
    body: () => ({ time: TIME, values: 50 }),
  },
  complete('sec'),
  complete('custom.s'),
  complete('custom.secret.word:'),
  complete('custom.team:'),
  complete('team:b'),
  complete('n:1'),
  {
    ...{ title: 'groups', path: '/beta/discover/groups', takesNone: true },
    body: () => ({}),
  },
];

function ask(row: Row, service: Opened, key: string, isFiltered: boolean): Promise<Answer> {
  const { path, method = 'POST', body } = row;
  const url = service.http + (typeof path === 'string' ? path : path(isFiltered));
  const asked = body?.(service) as { filters?: object[] } | undefined;
  const filters = [...(asked?.filters ?? []), ...(isFiltered ? [{ search: FILTER }] : [])];
  const text = JSON.stringify(
    filters.length === 0 || typeof path !== 'string' ? asked : { ...asked, filters },
  );
  return request(url, {
    method,
    headers: { 'x-api-key': key, ...(asked && { 'content-type': 'application/json' }) },
    ...(asked && { body: text }),
  });
}

/** An answer without what two services cannot have in common: ids, and when events were received. */
function comparable({ text }: Answer): string {
  return text
    .replaceAll(/"id":"[\w-]{22}"/g, '"id":"..."')
    .replaceAll(/^[\w-]{22},/gm, '...,')
    .replaceAll(/"reception":\{"date":"[^"]*"\}/g, '"reception":...');
}

/** A reply without its hints: a filter that is added is a term more. */
function withoutHints({ text }: Answer): string {
  return text.replace(/,"hints":\[[^\]]*\]/, '');
}

t.test('the rows see what a filter hides', async (t) => {
  let different = 0;
  for (const row of rows) {
    const all = await ask(row, whole, whole.readKey, false);
    const answer = await ask(row, whole, narrow, false);
    if (comparable(all) !== comparable(answer)) different++;
  }
  t.ok(
    different > rows.length - 8,
    `${different} of ${rows.length} rows differ without the filter`,
  );
});

for (const row of rows) {
  t.test(row.title, async (t) => {
    const answer = await ask(row, whole, narrow, false);
    t.equal(answer.status, 200, answer.text);
    t.notMatch(answer.text, /hidden\d|secret event|green/);
    if (row.takesNone !== true) {
      const added = await ask(row, whole, whole.readKey, true);
      t.equal(withoutHints(answer), withoutHints(added), 'as with the filter added');
    }
    const other = await ask(row, visibleOnly, visibleOnly.readKey, false);
    t.equal(comparable(answer), comparable(other), 'as if the hidden events were not there');
  });
}

t.test('the id of a hidden event is as that of none', async (t) => {
  const hidden = await idOf(whole, 151);
  for (const path of ['/beta/events/fetch', '/beta/events/context']) {
    const answers = await Promise.all(
      [hidden, NOBODYS, hidden.slice(0, -1)].map((id) =>
        request(whole.http + path, {
          method: 'POST',
          headers: { 'x-api-key': narrow, 'content-type': 'application/json' },
          body: JSON.stringify({ id }),
        }).then(({ status, text }) => ({ status, text: text.replace(id, '...') })),
      ),
    );
    t.equal(answers[0].status, 404, path);
    t.same(answers[0], answers[1], `${path}: as one that was never given`);
    t.same(answers[0], answers[2], `${path}: as a malformed one`);
  }
});

t.test('what was read tells of hidden events, so it is not told', async (t) => {
  const refused: [string, object | undefined][] = [
    ['/beta/events/list', { time: TIME, explain: true }],
    ['/beta/events/aggregate', { time: TIME, ...metric('count'), explain: true }],
    ['/metrics', undefined],
  ];
  for (const [path, body] of refused) {
    const answer = await request(whole.http + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': narrow, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    t.equal(answer.status, 403, path);
  }
});
