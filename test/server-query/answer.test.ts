import t from 'tap';
import type { AggregateQuery, ListQuery, QueryStats } from '../../engine/engine.ts';
import { formatNumber } from '../../server/query/answer/format.ts';
import { answerJob } from '../support/answer.ts';

const stats: QueryStats = {
  blocksTotal: 3,
  blocksOpened: 2,
  blocksRefuted: 0,
  blocksCounted: 0,
  rowsScanned: 9,
  blocksDamaged: 0,
};
const list: ListQuery = {
  fromMs: 0,
  toMs: 1,
  predicate: { type: 'all' },
  order: 'desc',
  limit: 5,
  event: false,
  columns: [],
};
const event = { id: 'AbC-_1', timeMs: 1_600_000_000_123, receivedMs: 5, columns: [] };

t.test('a list is its events with dates in the asked zone', async (t) => {
  const job = { type: 'list' as const, query: list, zone: '+02:00', explain: false };
  t.equal(
    answerJob(job, { events: [event, { ...event, id: 'x' }], stats }),
    '{"events":[{"id":"AbC-_1","date":"2020-09-13T14:26:40.123+02:00"},' +
      '{"id":"x","date":"2020-09-13T14:26:40.123+02:00"}]}',
  );
  t.equal(answerJob(job, { events: [], stats }), '{"events":[]}');
});

t.test('events and columns are handed on as the texts they are', async (t) => {
  const query = { ...list, event: true, columns: [{ type: 'count' as const }] };
  const text = '{"custom":{"n":1.10,"__proto__":1},"message":"a"}';
  const answer = answerJob(
    { type: 'list', query, zone: 'UTC', explain: false },
    { events: [{ ...event, event: text, columns: ['1'] }], stats },
  );
  t.equal(
    answer,
    `{"events":[{"id":"AbC-_1","date":"2020-09-13T12:26:40.123Z","event":${text},"columns":[1]}]}`,
  );
});

t.test('a partial answer names the damage', async (t) => {
  const damaged = { ...stats, blocksDamaged: 2 };
  t.equal(
    answerJob(
      { type: 'list', query: list, zone: 'UTC', explain: false },
      { events: [], stats: damaged },
    ),
    '{"events":[],"damaged":{"blocks":2}}',
  );
});

t.test('an explained answer tells what was read for it', async (t) => {
  t.equal(
    answerJob({ type: 'list', query: list, zone: 'UTC', explain: true }, { events: [], stats }),
    `{"events":[],"explain":${JSON.stringify(stats)}}`,
  );
});

t.test('a fetched event is in UTC, and an absent one is undefined', async (t) => {
  const query = { id: 'AbC-_1', predicate: { type: 'all' as const }, event: false, columns: [] };
  const columns = [{ type: 'attribute' as const, path: 'custom.a' }];
  t.equal(
    answerJob({ type: 'fetch', query: { ...query, columns } }, { ...event, columns: ['null'] }),
    '{"id":"AbC-_1","date":"2020-09-13T12:26:40.123Z","columns":[null]}',
  );
  t.equal(answerJob({ type: 'fetch', query }, undefined), undefined);
});

const metricCompute = { type: 'metric' as const, metric: { type: 'core' as const } };

t.test('an aggregation without groupBys is one bucket of the outputs in their order', async (t) => {
  const outputs = ['count', '__proto__', 'a"b', '1'].map((name) => ({ name }));
  const query: AggregateQuery = {
    ...list,
    computes: outputs.map(() => metricCompute),
    groupBys: [],
  };
  const job = { type: 'aggregate' as const, query, zone: 'UTC', format: false, explain: false };
  const bucket = { keys: [], values: ['12345678901234567890', null, 0.1, Infinity] };
  const result = { buckets: [bucket], more: false, stats };
  t.equal(
    answerJob({ ...job, outputs, groupOutputs: [] }, result),
    '{"aggregates":[{"bucket":{},"values":{"count":12345678901234567890,"__proto__":null,"a\\"b":0.1,"1":null}}]}',
  );
  t.equal(
    answerJob(
      {
        ...job,
        query: { ...query, computes: [metricCompute, metricCompute, metricCompute] },
        format: true,
        outputs: [{ name: 'a' }, { name: 'b', unit: 'ms' }, { name: 'c', unit: 'ms' }],
        groupOutputs: [],
      },
      { ...result, buckets: [{ keys: [], values: ['1234.5', null, 5] }] },
    ),
    '{"aggregates":[{"bucket":{},"values":{"a":{"value":1234.5,"formatted":"1.2k"},' +
      '"b":{"value":null,"formatted":"-"},"c":{"value":5,"formatted":"5 ms"}}}]}',
  );
});

t.test('formatted numbers have at most one decimal and k M G T', async (t) => {
  const numbers: [number | null, string][] = [
    [null, '-'],
    [0, '0'],
    [-0, '0'],
    [7, '7'],
    [0.04, '0'],
    [-0.04, '0'],
    [0.25, '0.3'],
    [12.34, '12.3'],
    [999, '999'],
    [999.94, '999.9'],
    [999.96, '1k'],
    [1000, '1k'],
    [1234, '1.2k'],
    [-1234, '-1.2k'],
    [35_000_000, '35M'],
    [999_949, '999.9k'],
    [999_950, '1M'],
    [1.5e9, '1.5G'],
    [2.25e12, '2.3T'],
    [1_950, '2k'],
    [1_050, '1.1k'],
    [-1_050, '-1.1k'],
    [0.05, '0.1'],
    [999.9e12, '999.9T'],
    [1e15, '1e15'],
    [1.26e18, '1.3e18'],
    [-1.25e300, '-1.3e300'],
  ];
  for (const [number, text] of numbers) t.equal(formatNumber(number), text, String(number));
});
