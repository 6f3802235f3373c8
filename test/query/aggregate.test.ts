import fc from 'fast-check';
import t from 'tap';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import type { AggregateLimits } from '../../engine/query/model/aggregate-limits.ts';
import type { AggregateQuery, BucketKey } from '../../engine/query/model/query.ts';
import type { TestRow } from '../segment/leaves.ts';
import {
  isRight,
  type ModelAggregate,
  type ModelAggregation,
  type ModelBucket,
  type ModelCompute,
  type ModelGroupBy,
  type ModelMetric,
  type ModelOrder,
  type ModelSimpleMetric,
  modelBuckets,
} from '../support/bucket-model.ts';
import { distinctKey, Model } from '../support/model.ts';
import { Blocks, run } from './blocks.ts';
import { PATHS, predicate, testRow } from './events.ts';

const RUNS = 200;

interface Store {
  blocks: Blocks;
  model: Model;
}

/** Rows in blocks of two writers. */
function storeOf(written: TestRow[][]): Store {
  const blocks = new Blocks();
  const model = new Model();
  let sequence = 0;
  for (const [index, rows] of written.entries()) {
    for (const event of blocks.add(rows, index & 1, sequence)) model.add(event);
    sequence += rows.length;
  }
  return { blocks, model };
}

const row = fc.tuple(testRow, fc.boolean()).map(([row]) => row);
const written = fc.oneof(
  fc.array(fc.array(row, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 5 }),
  fc.array(fc.array(row, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 }),
  fc.tuple(fc.array(row, { minLength: 30, maxLength: 120 })),
);

const path = fc.constantFrom(...PATHS);
/** Boundaries of [-1, 13), some of the steps empty. */
const boundaries = fc
  .uniqueArray(fc.integer({ min: 0, max: 12 }), { maxLength: 6 })
  .map((inner) => [-2, ...inner.sort((a, b) => a - b), 14]);

const exactMetric: fc.Arbitrary<ModelSimpleMetric> = fc.oneof(
  fc.constant({ type: 'core' as const }),
  fc.record({
    type: fc.constant('attribute' as const),
    path,
    aggregation: fc.constantFrom<ModelAggregation>('count', 'cardinality', 'min', 'max'),
  }),
);
const formula: fc.Arbitrary<ModelMetric> = fc
  .tuple(
    exactMetric,
    exactMetric,
    fc.constantFrom('+' as const, '-' as const, '*' as const, '/' as const),
  )
  .map(([left, right, operator]) => ({
    type: 'formula' as const,
    expression: {
      type: 'operation' as const,
      operator,
      left: { type: 'metric' as const, metric: left },
      right: { type: 'metric' as const, metric: right },
    },
  }));
const metric: fc.Arbitrary<ModelMetric> = fc.oneof(
  exactMetric,
  formula,
  fc.record({
    type: fc.constant('attribute' as const),
    path,
    aggregation: fc.constantFrom<ModelAggregation>('sum', 'avg', 'median', 'pc90', 'pc99'),
  }),
);
const compute: fc.Arbitrary<ModelCompute> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('metric' as const), metric }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('timeseries' as const), metric, boundaries }),
  },
);
const direction = fc.constantFrom('asc' as const, 'desc' as const);
const order: fc.Arbitrary<ModelOrder> = fc.record({
  by: fc.oneof(fc.constant({ type: 'natural' as const }), exactMetric, formula),
  direction,
});
const limit = fc.constantFrom(1, 2, 3, 100);
const groupBy: fc.Arbitrary<ModelGroupBy> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('field' as const),
      path,
      limit,
      order,
      total: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('time' as const), boundaries, total: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.array(predicate, { minLength: 1, maxLength: 3 }),
        order,
        fc.boolean(),
        fc.option(limit),
      )
      .map(([predicates, order, total, limit]) => ({
        type: 'tagset' as const,
        tags: predicates.map((predicate, place) => ({ id: `t${place}`, predicate })),
        order,
        total,
        ...(limit === null ? {} : { limit }),
      })),
  },
);
const query: fc.Arbitrary<ModelAggregate> = fc.record({
  fromMs: fc.integer({ min: -1, max: 6 }),
  toMs: fc.integer({ min: 6, max: 13 }),
  predicate: fc.oneof({ weight: 2, arbitrary: fc.constant({ type: 'all' as const }) }, predicate),
  computes: fc.array(compute, { minLength: 1, maxLength: 3 }),
  groupBys: fc.array(groupBy, { maxLength: 3 }),
});

/** A key as the model writes it. */
function keyText(key: BucketKey): string {
  switch (key.type) {
    case 'number':
    case 'string':
      return distinctKey({ type: key.type, text: key.text });
    case 'boolean':
      return distinctKey({ type: 'boolean', text: String(key.value) });
    case 'tag':
      return `tag ${key.id}`;
    case 'time':
      return `time ${key.timeMs}`;
    default:
      return 'total';
  }
}

type Buckets = ReturnType<typeof bucketsOf>['buckets'];

function bucketsOf({ blocks }: Store, asked: AggregateQuery, limits?: Partial<AggregateLimits>) {
  return run(aggregateUnits(blocks, { blocks: blocks.refs }, asked, limits));
}

/** Throws when buckets are not those of the model. */
function compare(found: Buckets, wanted: ModelBucket[]): void {
  const keys = JSON.stringify(found.map((bucket) => bucket.keys.map(keyText)));
  const wantedKeys = JSON.stringify(wanted.map((bucket) => bucket.keys));
  if (keys !== wantedKeys) throw new Error(`buckets ${keys}, not ${wantedKeys}`);
  for (const [at, { keys, values }] of wanted.entries()) {
    for (const [place, value] of values.entries()) {
      const actual = found[at].values[place];
      const all = Array.isArray(value) ? value : [value];
      const actuals = Array.isArray(actual) ? actual : [actual];
      const right =
        all.length === actuals.length && all.every((one, step) => isRight(actuals[step], one));
      if (!right)
        throw new Error(`${keys}: ${JSON.stringify(actual)}, not ${JSON.stringify(value)}`);
    }
  }
}

t.test('buckets and their values are those of the model', async () => {
  fc.assert(
    fc.property(written, fc.array(query, { minLength: 4, maxLength: 4 }), (written, queries) => {
      const store = storeOf(written);
      for (const asked of queries) {
        compare(bucketsOf(store, asked).buckets, modelBuckets(store.model, asked));
      }
    }),
    { numRuns: RUNS },
  );
});

t.test('pages of the first level in natural order are together all of it', async () => {
  const first = fc.record({
    type: fc.constant('field' as const),
    path,
    limit: fc.integer({ min: 1, max: 5 }),
    order: fc.record({ by: fc.constant({ type: 'natural' as const }), direction }),
    total: fc.boolean(),
  });
  const inner = fc.array(groupBy, { maxLength: 1 });
  fc.assert(
    fc.property(written, query, first, inner, (written, asked, first, inner) => {
      const store = storeOf(written);
      const whole = { ...asked, groupBys: [{ ...first, limit: 1_000, total: false }, ...inner] };
      const found: Buckets = [];
      let page: AggregateQuery = { ...asked, groupBys: [first, ...inner] };
      for (;;) {
        const { buckets, more } = bucketsOf(store, page);
        const shown = buckets.filter(({ keys }) => keys[0].type !== 'total');
        found.push(...shown);
        if (first.total && inner.length === 0 && shown.length === buckets.length) {
          throw new Error('a page without its total');
        }
        if (!more) break;
        const last = bucketsOf(store, { ...page, groupBys: [first] }).buckets.findLast(
          ({ keys }) => keys[0].type !== 'total',
        );
        if (last === undefined) throw new Error('more than nothing');
        page = { ...page, afterBucket: last.keys[0] };
      }
      compare(found, modelBuckets(store.model, whole));
    }),
    { numRuns: RUNS / 4 },
  );
});

t.test('time buckets after one are those that begin later', async () => {
  fc.assert(
    fc.property(written, query, boundaries, (written, asked, boundaries) => {
      const store = storeOf(written);
      const groupBys = [{ type: 'time' as const, boundaries, total: true }];
      const all = bucketsOf(store, { ...asked, groupBys }).buckets;
      return all.slice(0, -1).every(({ keys }, place) => {
        const rest = bucketsOf(store, { ...asked, groupBys, afterBucket: keys[0] }).buckets;
        return JSON.stringify(rest) === JSON.stringify(all.slice(place + 1));
      });
    }),
    { numRuns: RUNS / 8 },
  );
});

/** Rows with many values of several kinds. */
function manyValues(count: number): TestRow[][] {
  return Array.from({ length: 20 }, (_, block) =>
    Array.from({ length: count / 20 }, (_, index) => {
      const n = (block * 7919 + index * 104_729) % 1_500;
      const leaf =
        n % 3 === 0
          ? { kind: 'number' as const, text: String(n / 4) }
          : { kind: 'string' as const, text: `value ${n}` };
      return {
        timeMs: (block * 13 + index) % 12,
        leaves: [
          { ...leaf, names: ['custom', 'a'] },
          { kind: 'number' as const, text: String(index % 17), names: ['custom', 'b'] },
        ],
      };
    }),
  );
}

t.test('groups that do not fit are computed part by part, with the same answer', async (t) => {
  const store = storeOf(manyValues(4_000));
  const by = (metric: ModelSimpleMetric): ModelOrder => ({ by: metric, direction: 'desc' });
  const distinct: ModelSimpleMetric = {
    type: 'attribute',
    path: 'custom.b',
    aggregation: 'cardinality',
  };
  const field = { type: 'field' as const, path: 'custom.a', limit: 20, total: true };
  const time = { type: 'time' as const, boundaries: [0, 3, 6, 12], total: false };
  const all = { fromMs: 0, toMs: 12, predicate: { type: 'all' as const } };
  const computes = [distinct, { type: 'core' as const }].map((metric) => ({
    type: 'metric' as const,
    metric,
  }));
  const groupBys: ModelGroupBy[][] = [
    [{ ...field, order: by({ type: 'core' }) }],
    [{ ...field, order: by(distinct) }, time],
    [time, { ...field, order: by(distinct) }],
    [{ ...field, order: { by: { type: 'natural' }, direction: 'desc' } }],
  ];
  for (const groupBy of groupBys) {
    const asked: ModelAggregate = { ...all, computes, groupBys: groupBy };
    const wanted = modelBuckets(store.model, asked);
    let opened = 0;
    for (const limits of [{ cellsMax: 0 }, { cellsMax: 0, memoryBytesMax: 90_000 }]) {
      store.blocks.opened = 0;
      compare(bucketsOf(store, asked, limits).buckets, wanted);
      t.ok(store.blocks.opened > opened, 'more passes with less memory');
      opened = store.blocks.opened;
    }
  }
  const asked = { ...all, computes, groupBys: groupBys[0] };
  t.throws(() => bucketsOf(store, asked, { memoryBytesMax: 3_000 }), { code: 'MEMORY' });
});

t.test('a level of values between two of time is grouped as the model does', async () => {
  const number = { kind: 'number' as const, text: '0', names: ['custom', 'a'] };
  const store = storeOf([[{ timeMs: 0, leaves: [number] }], [{ timeMs: 0, leaves: [] }]]);
  const time = { type: 'time' as const, boundaries: [0, 3, 6, 12], total: false };
  const field = {
    ...{ type: 'field' as const, path: 'custom.a', limit: 100, total: false },
    order: { by: { type: 'core' as const }, direction: 'desc' as const },
  };
  const asked: ModelAggregate = {
    ...{ fromMs: 0, toMs: 12, predicate: { type: 'all' } },
    computes: [{ type: 'metric', metric: { type: 'core' } }],
    groupBys: [time, field, time],
  };
  compare(bucketsOf(store, asked).buckets, modelBuckets(store.model, asked));
});

t.test('an answer of too many values is refused', async (t) => {
  const store = storeOf(manyValues(400));
  const boundaries = Array.from({ length: 10_001 }, (_, index) => index - 1);
  const series = { type: 'timeseries' as const, metric: { type: 'core' as const }, boundaries };
  const order = { by: { type: 'core' as const }, direction: 'desc' as const };
  const field = { type: 'field' as const, path: 'custom.a', limit: 100, order, total: true };
  const asked: AggregateQuery = {
    fromMs: 0,
    toMs: 12,
    predicate: { type: 'all' },
    computes: [series],
    groupBys: [field],
  };
  t.throws(() => bucketsOf(store, asked), { code: 'LIMIT', message: /1000000 values/ });
});

t.test('a block that turns out damaged in a later pass is left out of all', async (t) => {
  const rows = manyValues(400);
  for (const damagedAt of [0, 7]) {
    const { blocks } = storeOf(rows);
    const model = new Model();
    const intact = storeOf(rows.filter((_, index) => index !== damagedAt));
    for (const event of intact.model.events) model.add(event);
    const bytes = blocks.bytes(blocks.refs[damagedAt]);
    const order = { by: { type: 'core' as const }, direction: 'desc' as const };
    const field = { type: 'field' as const, limit: 5, order, total: true };
    const asked = {
      fromMs: 0,
      toMs: 12,
      predicate: { type: 'all' as const },
      computes: [
        {
          type: 'metric' as const,
          metric: { type: 'attribute' as const, path: 'custom.b', aggregation: 'median' },
        },
      ],
      groupBys: [
        { ...field, path: 'custom.a' },
        { ...field, path: 'custom.b' },
      ],
    } as ModelAggregate;
    let damage = 0;
    for (let at = 64; at < bytes.length; at += 61) {
      bytes[at] ^= 1;
      const found = bucketsOf({ blocks, model }, asked);
      bytes[at] ^= 1;
      if (found.stats.blocksDamaged === 0) continue;
      damage++;
      compare(found.buckets, modelBuckets(model, asked));
    }
    t.ok(damage > 0, `${damage} kinds of damage`);
  }
});
