import t from 'tap';
import type { AggregateQuery, ListQuery, QueryStats } from '../../engine/engine.ts';
import { answerJob } from '../support/answer.ts';

const stats: QueryStats = {
  blocksTotal: 3,
  blocksOpened: 2,
  blocksRefuted: 0,
  blocksCounted: 0,
  rowsScanned: 9,
  blocksDamaged: 0,
};
const selection = { fromMs: 5, toMs: 9, predicate: { type: 'all' as const } };
const reply = { zone: 'UTC', explain: false };

t.test(
  'a saved list has what the event has, a syslog in any case, and its reception',
  async (t) => {
    const query: ListQuery = {
      ...selection,
      ...{ order: 'desc', limit: 5, event: true },
      columns: [{ type: 'attribute', path: 'syslog' }],
    };
    const dates = { timeMs: 1_600_000_000_123, receivedMs: 1_600_000_000_500 };
    const answer = answerJob(
      { type: 'list', query, saved: true, ...reply, zone: '+02:00' },
      {
        events: [
          { id: 'a', ...dates, event: '{"custom":{"syslog":{"x":1.10}}}', columns: ['null'] },
          {
            id: 'b',
            ...dates,
            event: '{"custom":{},"syslog":{"a":1},"message":"}"}',
            columns: ['{}'],
          },
        ],
        stats,
      },
    );
    const head = '"date":"2020-09-13T14:26:40.123+02:00"';
    const reception = '"reception":{"date":"2020-09-13T14:26:40.500+02:00"}';
    t.equal(
      answer,
      `{"events":[{"id":"a",${head},"custom":{"syslog":{"x":1.10}},"syslog":{},${reception}},` +
        `{"id":"b",${head},"custom":{},"syslog":{"a":1},"message":"}",${reception}}]}`,
    );
  },
);

const metric = { type: 'core' as const };
const aggregation = { type: 'aggregate' as const, format: false, ...reply };

t.test('rows of a view have positional names, and time is no field', async (t) => {
  const order = { by: { type: 'natural' as const }, direction: 'asc' as const };
  const field = { type: 'field' as const, limit: 10, order, total: false };
  const query: AggregateQuery = {
    ...selection,
    computes: [
      { type: 'metric', metric },
      { type: 'metric', metric },
    ],
    groupBys: [
      { ...field, path: 'custom.a' },
      { type: 'time', boundaries: [4, 8, 12], total: false },
      { ...field, path: 'custom.b' },
    ],
  };
  const outputs = [{ name: 'x' }, { name: '__proto__', unit: 'ms' }];
  const groupOutputs = [{ name: 'a' }, { name: 'time' }, { name: 'b' }];
  const job = { ...aggregation, query, outputs, groupOutputs };
  const found = {
    buckets: [
      {
        keys: [
          { type: 'string' as const, text: 'q"' },
          { type: 'time' as const, timeMs: 4 },
          { type: 'boolean' as const, value: true },
        ],
        values: [1, null],
      },
      {
        keys: [
          { type: 'number' as const, text: '200' },
          { type: 'time' as const, timeMs: 8 },
          { type: 'string' as const, text: '' },
        ],
        values: [1.5, 2],
      },
    ],
    more: true,
    stats: { ...stats, blocksDamaged: 1 },
  };
  const first = '{"time":4,"fields":{"f0":"q\\"","f1":true},"metrics":{"m0":1,"m1":null}}';
  const second = '{"time":8,"fields":{"f0":200,"f1":""},"metrics":{"m0":1.5,"m1":2}}';
  const damaged = '"damaged":{"blocks":1}';
  t.equal(
    answerJob({ ...job, saved: { rowsMax: 9 } }, found),
    `{"values":[${first},${second}],${damaged}}`,
  );
  t.equal(answerJob({ ...job, saved: { rowsMax: 1 } }, found), `{"values":[${first}],${damaged}}`);
  t.match(
    answerJob({ ...job, format: true, saved: { rowsMax: 9 } }, found),
    /"f0":\{"id":"200","name":"200","color":"#[0-9a-f]{6}"\}.*"m1":\{"value":2,"formatted":"2 ms"\}/,
  );
});

t.test('a time series is a row for each step, empty ones too', async (t) => {
  const compute = { type: 'timeseries' as const, metric, boundaries: [4, 8, 12] };
  const query: AggregateQuery = { ...selection, computes: [compute, compute], groupBys: [] };
  const outputs = [{ name: 'x' }, { name: 'y' }];
  const job = { ...aggregation, query, outputs, groupOutputs: [], saved: { rowsMax: 9 } };
  const values = [
    [3, 0],
    [2.5, null],
  ];
  t.equal(
    answerJob(job, { buckets: [{ keys: [], values }], more: false, stats }),
    '{"values":[{"time":4,"fields":{},"metrics":{"m0":3,"m1":2.5}},' +
      '{"time":8,"fields":{},"metrics":{"m0":0,"m1":null}}]}',
  );
});
