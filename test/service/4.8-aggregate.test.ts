import t from 'tap';
import { administer } from '../support/browser.ts';
import { type Answer, ask, send, testService } from '../support/service.ts';

const service = await testService(t);
const START = Date.UTC(2024, 4, 1, 12);
const TIME = { from: '2024-05-01T12:00:00Z', to: '2024-05-01T12:10:00Z' };

interface Row {
  bucket: Record<string, unknown>;
  values: Record<string, unknown>;
}

function rows(answer: Answer): Row[] {
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body as { result: { aggregates: Row[] } }).result.aggregates;
}

function lastBucket(answer: Answer): Record<string, unknown> | undefined {
  return (answer.body as { result: { lastBucket?: Record<string, unknown> } }).result.lastBucket;
}

function aggregate(query: object): Promise<Answer> {
  return ask(service, '/beta/events/aggregate', { time: TIME, compute: COUNT, ...query });
}

const COUNT = [{ metric: { id: 'count', output: 'hits' } }];

// 120 events in 6 minutes, 3 s apart: 3 verbs, 4 status codes of mixed types, the tags of 2 teams.
const STATUSES = [200, '200', 404.0, true];
for (let part = 0; part < 4; part++) {
  await send(
    service,
    JSON.stringify(
      Array.from({ length: 30 }, (_, index) => {
        const n = part * 30 + index;
        return {
          timestamp: START + n * 3000,
          'http.verb': ['GET', 'GET', 'POST'][n % 3],
          status: STATUSES[n % 4],
          'http.response_time': (n % 10) / 10,
          tags: n % 2 === 0 ? ['web', 'web', 'shop'] : ['shop'],
          ...(n < 60 ? { region: 'north' } : {}),
        };
      }),
    ),
  );
}

t.test('4.8 a field gives its top values, with another output, total and metrics', async (t) => {
  const answer = await aggregate({
    compute: [...COUNT, { metric: { id: 'avg:custom.http.response_time' } }],
    groupBy: [{ field: { id: 'custom.region', output: 'where', total: 'everywhere' } }],
  });
  t.same(rows(answer), [
    { bucket: { where: 'north' }, values: { hits: 60, 'avg:custom.http.response_time': 0.45 } },
    {
      bucket: { where: 'everywhere' },
      values: { hits: 120, 'avg:custom.http.response_time': 0.45 },
    },
  ]);
  t.equal(lastBucket(answer), undefined);
});

t.test('4.8 groupBys nest: top values of the first, and inside each of the second', async (t) => {
  const groupBy = [
    { field: { id: 'custom.http.verb', limit: 1, output: 'verb' } },
    { field: { id: 'custom.status', order: { '@natural': 'desc' } } },
  ];
  t.same(rows(await aggregate({ groupBy })), [
    { bucket: { verb: 'GET', 'custom.status': true }, values: { hits: 20 } },
    { bucket: { verb: 'GET', 'custom.status': 404 }, values: { hits: 20 } },
    { bucket: { verb: 'GET', 'custom.status': '200' }, values: { hits: 20 } },
    { bucket: { verb: 'GET', 'custom.status': 200 }, values: { hits: 20 } },
  ]);
});

t.test('4.8 an array puts its event into the bucket of each distinct element', async (t) => {
  const groupBy = [{ field: { id: 'custom.tags', output: 'tag' } }];
  t.same(rows(await aggregate({ groupBy })), [
    { bucket: { tag: 'shop' }, values: { hits: 120 } },
    { bucket: { tag: 'web' }, values: { hits: 60 } },
  ]);
});

t.test('4.8 natural order is paged by lastBucket and afterBucket', async (t) => {
  const groupBy = [{ field: { id: 'custom.status', limit: 3, order: { '@natural': 'asc' } } }];
  const first = await aggregate({ groupBy });
  t.same(
    rows(first).map(({ bucket }) => bucket['custom.status']),
    [200, '200', 404],
  );
  t.same(lastBucket(first), { 'custom.status': 404 });
  const second = await aggregate({ groupBy, afterBucket: lastBucket(first) });
  t.same(
    rows(second).map(({ bucket }) => bucket['custom.status']),
    [true],
  );
  t.equal(lastBucket(second), undefined);
});

t.test('4.8 time buckets leave empty steps out and follow the zone', async (t) => {
  const time = {
    from: '2024-05-01T14:00:30',
    to: '2024-05-01T15:00',
    timezone: 'Europe/Paris',
  };
  const groupBy = [{ time: { interval: '5m', total: 'all' } }];
  t.same(rows(await aggregate({ time, groupBy })), [
    { bucket: { time: '2024-05-01T14:00:00.000+02:00' }, values: { hits: 90 } },
    { bucket: { time: '2024-05-01T14:05:00.000+02:00' }, values: { hits: 20 } },
    { bucket: { time: 'all' }, values: { hits: 110 } },
  ]);
});

t.test('4.8 a time series has its empty steps', async (t) => {
  const interval = '3m';
  const compute = [
    { timeseries: { metricId: 'count', output: 'n', interval } },
    { timeseries: { metricId: 'max:custom.http.response_time', output: 'max', interval } },
    ...COUNT,
  ];
  const time = (minute: string) => `2024-05-01T12:${minute}:00.000Z`;
  t.same(rows(await aggregate({ compute })), [
    {
      bucket: {},
      values: {
        n: [
          { time: time('00'), value: 60 },
          { time: time('03'), value: 60 },
          { time: time('06'), value: 0 },
          { time: time('09'), value: 0 },
        ],
        max: [
          { time: time('00'), value: 0.9 },
          { time: time('03'), value: 0.9 },
          { time: time('06'), value: null },
          { time: time('09'), value: null },
        ],
        hits: 120,
      },
    },
  ]);
});

t.test('4.8 format gives names, colours and short numbers', async (t) => {
  const query = {
    compute: [{ metric: { id: 'sum:custom.http.response_time', output: 's' } }],
    groupBy: [
      { field: { id: 'custom.status', limit: 2, order: { '@natural': 'asc' }, total: 'all' } },
    ],
    format: true,
  };
  const answer = await aggregate(query);
  const found = rows(answer);
  t.match(found[0], {
    bucket: { 'custom.status': { id: '200', name: '200', color: /^#[0-9a-f]{6}$/ } },
    values: { s: { value: 12, formatted: '12' } },
  });
  t.same(lastBucket(answer), { 'custom.status': '200' }, 'lastBucket is not formatted');
  t.same(rows(await aggregate(query)), found, 'colours are stable');
});

t.test('4.8 a formula stands in the place of a metric', async (t) => {
  const id = '=sum:custom.http.response_time / count * 100';
  const answer = await aggregate({
    compute: [
      { metric: { id, output: 'm' } },
      { timeseries: { metricId: '=count + 1', interval: '10m' } },
    ],
    groupBy: [{ field: { id: 'custom.region', order: { [id]: 'desc' } } }],
  });
  t.match(rows(answer), [{ values: { m: 45, '=count + 1': [{ value: 61 }] } }]);
  for (const [wrong, why] of [
    ['=', /the formula of \\"=\\" is malformed at position 0/],
    ['=count + (', /is malformed at position 9/],
    ['=hits / 2', /metric \\"hits\\" is unknown/],
    ['==count', /metric \\"=count\\" is unknown/],
    [`=${'('.repeat(60)}`, /at most 50 levels/],
  ] as const) {
    const refused = await aggregate({ compute: [{ metric: { id: wrong } }] });
    t.equal(refused.status, 400);
    t.match(refused.text, why);
  }
  const saved = {
    name: 'Share',
    kind: 'table',
    time: TIME,
    filters: [],
    compute: [{ metric: { id: '=slow * 2' } }],
  };
  const slow = {
    name: 'Slow',
    id: 'slow',
    type: 'attribute',
    attribute: 'custom.n',
    aggregation: 'max',
  };
  await administer(service, 'POST', 'metrics', slow);
  await administer(service, 'POST', 'saved_analyses', saved);
  await t.rejects(administer(service, 'DELETE', 'metrics/slow'), /it is used by .* \\?"share/);
});

t.test('4.8 no events: no buckets, but the total and the one without groupBys', async (t) => {
  const filters = [{ search: 'nowhere' }];
  t.same(rows(await aggregate({ filters })), [{ bucket: {}, values: { hits: 0 } }]);
  const groupBy = [{ field: { id: 'custom.status', total: 'all' } }];
  t.same(rows(await aggregate({ filters, groupBy })), [
    { bucket: { 'custom.status': 'all' }, values: { hits: 0 } },
  ]);
});

t.test('4.8 more than 10,000 time buckets are refused', async (t) => {
  const time = { from: START, to: START + 10_001_000 };
  const answer = await aggregate({ time, groupBy: [{ time: { interval: '1s' } }] });
  t.equal(answer.status, 400);
  t.match(
    answer.text,
    /groupBy\[0\]\.time\.interval \\"1s\\" gives 10001 time buckets; allowed: 10000/,
  );
});
