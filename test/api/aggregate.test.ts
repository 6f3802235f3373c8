import t from 'tap';
import type { MetricDefinition, Resolver } from '../../server/api/resolver.ts';
import { AGGREGATE, messageOf, request, service, TIME } from './service.ts';

const METRICS: [string, object][] = [
  ['hits', { type: 'core' }],
  ['latency', { type: 'attribute', attribute: 'custom.time', aggregation: 'avg', unit: 'ms' }],
  ['rate', { type: 'formula', formula: '100 * latency / hits', unit: '%' }],
  ['double', { type: 'formula', formula: 'rate + rate' }],
  ['loop', { type: 'formula', formula: '1 + loop' }],
  ['count', { type: 'attribute', attribute: 'custom.n', aggregation: 'sum' }],
];
const metrics = new Map(
  METRICS.map(([id, rest]) => [id, { id, name: id, ...rest } as MetricDefinition]),
);
const tags = ['slow', 'fast'].map((id) => ({
  id,
  name: `the ${id}`,
  color: '#00ff00',
  predicate: { type: 'exists' as const, paths: [`custom.${id}`] },
}));
const resolver: Resolver = {
  metric: (id) => metrics.get(id),
  metricIds: () => [...metrics.keys()],
  field: (id) => {
    if (id === 'verb') return { id, name: id, type: 'attribute', attribute: 'custom.http.verb' };
    return id === 'speed' ? { id, name: id, type: 'tagset', tags } : undefined;
  },
};

/** The one job of a body. */
async function jobOf(body: object) {
  const { answer, jobs } = service({ resolver });
  const reply = await answer(request(AGGREGATE, { body: { time: TIME, ...body } }));
  if (reply.status !== 200) throw new Error(messageOf(reply));
  return jobs[0];
}

t.test('declared metrics win over built-in ids, and formulas are written out', async (t) => {
  const core = { type: 'core' };
  const latency = { type: 'attribute', path: 'custom.time', aggregation: 'avg' };
  const ids = ['hits', 'latency', 'double', 'count'];
  const job = await jobOf({ compute: ids.map((id) => ({ metric: { id } })) });
  const rate = {
    type: 'operation',
    operator: '/',
    left: {
      type: 'operation',
      operator: '*',
      left: { type: 'number', value: 100 },
      right: { type: 'metric', metric: latency },
    },
    right: { type: 'metric', metric: core },
  };
  t.match(job, {
    outputs: [
      { name: 'hits' },
      { name: 'latency', unit: 'ms' },
      { name: 'double' },
      { name: 'count' },
    ],
    query: {
      computes: [
        { metric: core },
        { metric: latency },
        {
          metric: {
            type: 'formula',
            expression: { type: 'operation', operator: '+', left: rate, right: rate },
          },
        },
        { metric: { type: 'attribute', path: 'custom.n', aggregation: 'sum' } },
      ],
    },
  });
  const { answer } = service({ resolver });
  const body = { time: TIME, compute: [{ metric: { id: 'loop' } }] };
  const refused = await answer(request(AGGREGATE, { body }));
  t.equal(refused.status, 400);
  t.match(messageOf(refused), /^compute\[0\]\.metric\.id: the formula of "loop" uses itself/);
});

t.test('groupBys are of declared fields, tagsets and time', async (t) => {
  const compute = [{ metric: { id: 'hits', output: 'n' } }, { metric: { id: 'latency' } }];
  const job = await jobOf({
    compute,
    groupBy: [
      { field: { id: 'verb', order: { latency: 'asc' }, total: null } },
      { field: { id: 'speed', order: { '@natural': 'asc' }, limit: 500 } },
      { time: { interval: '1h', total: 'all' } },
    ],
  });
  t.match(job, {
    groupOutputs: [
      { name: 'verb' },
      { name: 'speed', tags: tags.map(({ id, name, color }) => ({ id, name, color })) },
      { name: 'time', total: 'all' },
    ],
    query: {
      groupBys: [
        {
          type: 'field',
          path: 'custom.http.verb',
          limit: 10,
          order: { by: { type: 'attribute', path: 'custom.time' }, direction: 'asc' },
          total: false,
        },
        { type: 'tagset', limit: 500, order: { by: { type: 'natural' } }, total: false },
        { type: 'time', total: true },
      ],
    },
  });
});

t.test('the default order is the first metric, descending; an output names a metric', async (t) => {
  const compute = [{ metric: { id: 'latency' } }, { metric: { id: 'hits', output: 'n' } }];
  const field = { id: 'custom.a', limit: 3 };
  const latency = { by: { type: 'attribute', aggregation: 'avg' }, direction: 'desc' };
  t.match(await jobOf({ compute, groupBy: [{ field }] }), {
    query: { groupBys: [{ order: latency }] },
  });
  const byOutput = { ...field, order: { n: 'desc' } };
  t.match(await jobOf({ compute, groupBy: [{ field: byOutput }] }), {
    query: { groupBys: [{ order: { by: { type: 'core' }, direction: 'desc' } }] },
  });
});

t.test('an unknown metric lists those that are declared', async (t) => {
  const { answer } = service({ resolver });
  const body = { time: TIME, compute: [{ metric: { id: 'hist' } }] };
  const reply = await answer(request(AGGREGATE, { body }));
  t.match(messageOf(reply), /"hist" is unknown; did you mean "hits"\? allowed: count, .*hits/);
});

t.test('afterBucket is a bucket of the first groupBy', async (t) => {
  const order = { '@natural': 'asc' };
  const compute = [{ metric: { id: 'hits' } }];
  const asked: [object, unknown, object][] = [
    [{ field: { id: 'verb', order } }, 'GET', { type: 'string', text: 'GET' }],
    [{ field: { id: 'verb', order } }, 200, { type: 'number', text: '200' }],
    [{ field: { id: 'verb', order } }, true, { type: 'boolean', value: true }],
    [{ field: { id: 'speed', order, output: 'verb' } }, 'fast', { type: 'tag', id: 'fast' }],
    [{ time: { output: 'verb' } }, '1970-01-01T00:01:00Z', { type: 'time', timeMs: 60_000 }],
  ];
  for (const [groupBy, value, afterBucket] of asked) {
    const job = await jobOf({ compute, groupBy: [groupBy], afterBucket: { verb: value } });
    t.match(job, { query: { afterBucket } });
  }
});
