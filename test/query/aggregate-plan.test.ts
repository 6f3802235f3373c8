import fc from 'fast-check';
import t from 'tap';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { planAggregate, planLevel } from '../../engine/query/group/aggregate-plan.ts';
import { type AggregateLimits, LIMITS } from '../../engine/query/model/aggregate-limits.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type {
  AggregateQuery,
  BucketOrder,
  GroupBy,
  Metric,
} from '../../engine/query/model/query.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { run } from './blocks.ts';

const ALL: Predicate = { type: 'all' };
const ONE: Predicate = { type: 'value', paths: ['custom.k'], match: { type: 'text', text: '1' } };
const CORE: Metric = { type: 'core' };
const MAX: Metric = { type: 'attribute', path: 'custom.k', aggregation: 'max' };
const P95: Metric = { type: 'attribute', path: 'custom.k', aggregation: 'pc95' };
const BY_COUNT: BucketOrder = { by: CORE, direction: 'desc' };
const TIME: GroupBy = { type: 'time', boundaries: [0, 4_000, 10_000], total: false };

const field = (path: string, order = BY_COUNT): GroupBy => ({
  ...{ type: 'field', path: `custom.${path}`, limit: 5, total: false },
  order,
});
const of = (
  metric: Metric,
  groupBys: GroupBy[],
  more: Partial<AggregateQuery> = {},
): AggregateQuery => ({
  ...{ fromMs: 0, toMs: 10_000, predicate: ALL, groupBys },
  computes: [{ type: 'metric', metric }],
  ...more,
});
const after = { type: 'string', text: 'v' } as const;
const FACTS = { cellsMax: LIMITS.cellsMax, isLarge: (path: string) => path === 'custom.large' };

t.test(
  'levels whose order is by count or natural are counted together, those before a full one next',
  async (t) => {
    const table: [AggregateQuery, number[]][] = [
      [of(CORE, [field('a'), field('b'), field('c')]), [3, 2, 1]],
      [of(CORE, [TIME, field('a')]), [2]],
      [of(CORE, [field('a'), TIME]), [2, 1]],
      [of(CORE, [TIME], { predicate: ONE }), [1]],
      [of(CORE, [field('a'), field('b', { by: MAX, direction: 'asc' })]), [1]],
      [of(MAX, [field('a'), field('b')]), [1]],
      [of(P95, [field('a'), field('b')]), [2, 1]],
      [of(P95, [TIME]), []],
      [of(CORE, [field('a')], { afterBucket: after }), []],
      [of(CORE, [], { predicate: ONE }), []],
      [of(CORE, [TIME, field('a'), field('large')]), [2]],
      [of(CORE, [field('large'), field('a')]), []],
    ];
    for (const [query, cubes] of table) {
      t.same(planAggregate(query, FACTS), { byMinutes: false, cubes }, JSON.stringify(query));
      t.same(planAggregate(query, { ...FACTS, cellsMax: 0 }).cubes, []);
    }
    t.same(planAggregate(of(CORE, []), FACTS), { byMinutes: true, cubes: [] });
    const whole = of(CORE, [{ ...TIME, boundaries: [0, 10_000] }]);
    t.same(planAggregate(whole, FACTS).byMinutes, true);
  },
);

t.test(
  'a level whose order has bounds is tried and sketched, by count counted by entries; any other takes passes',
  async (t) => {
    const facts = {
      ...{ limits: LIMITS, rowCount: 1_000, parentCount: 1, grows: false },
      ...{ entryCount: 4_000_000, isLarge: false },
    };
    const ways = ['trial', 'entries', 'sketch', 'passes'];
    const query = of(CORE, [field('a'), field('b')]);
    t.same(planLevel(query, 0, facts), ways);
    t.same(planLevel(query, 0, { ...facts, isLarge: true }), ways.slice(1));
    t.same(planLevel(query, 1, { ...facts, parentCount: 16 }), ways);
    const many = { ...facts, parentCount: 64 };
    t.same(planLevel(query, 1, many), ['trial', 'sketch', 'passes']);
    t.same(planLevel(query, 1, { ...many, entryCount: 400_000 }), ways);
    const sum: Metric = { ...P95, aggregation: 'sum' };
    const rest = ['sketch', 'passes'];
    for (const [by, direction, after, isTold] of [
      [MAX, 'desc', rest, true],
      [MAX, 'asc', rest, false],
      [sum, 'desc', rest, true],
      [sum, 'asc', ['passes'], false],
      [{ ...P95, aggregation: 'count' }, 'desc', rest, true],
    ] as const) {
      const asked = of(CORE, [field('a', { by, direction })]);
      const ways = after.length > 1 ? ['trial', ...after] : after;
      t.same(planLevel(asked, 0, facts), isTold ? ['entries', ...ways] : ways);
      t.same(planLevel(asked, 0, { ...facts, isLarge: true }), ['entries', ...after]);
      t.same(planLevel(asked, 0, { ...facts, entryCount: 0 }), ways, 'no dictionaries');
      const inner = of(CORE, [field('b'), field('a', { by, direction })]);
      t.same(planLevel(inner, 1, facts), ways, 'a later level');
      const behind = { ...asked, afterBucket: { type: 'string', text: 'v' } } as const;
      t.same(planLevel(behind, 0, facts), ['passes']);
    }
    for (const [by, direction] of [
      [P95, 'desc'],
      [{ ...P95, aggregation: 'cardinality' }, 'desc'],
      [CORE, 'asc'],
    ] as const) {
      const asked = of(CORE, [field('a', { by, direction })]);
      t.same(planLevel(asked, 0, facts), ['trial', 'sketch', 'passes']);
      t.same(planLevel(asked, 0, { ...facts, isLarge: true }), ['sketch', 'passes']);
    }
    const inner = of(CORE, [field('a'), field('b', { by: CORE, direction: 'asc' })]);
    t.same(planLevel(inner, 1, facts), ['passes']);
    const small = { ...LIMITS, trialBytesMax: LIMITS.memoryBytesMax };
    const table: [AggregateQuery, Partial<typeof facts>][] = [
      [query, { parentCount: 65 }],
      [query, { parentCount: 0 }],
      [query, { grows: true }],
      [query, { rowCount: 2 ** 32 }],
      [query, { limits: small }],
      [
        of(CORE, [field('a', { by: { ...P95, aggregation: 'cardinality' }, direction: 'asc' })]),
        {},
      ],
      [of(CORE, [field('a', { by: { type: 'natural' }, direction: 'desc' })]), {}],
      [of(CORE, [field('a')], { afterBucket: after }), {}],
      [of(CORE, [{ type: 'tagset', tags: [], order: BY_COUNT, total: false }]), {}],
    ];
    for (const [asked, known] of table) {
      t.same(planLevel(asked, 0, { ...facts, ...known }), ['passes'], JSON.stringify(known));
    }
  },
);

t.test('a plan counts fewer and fewer levels together, and never more than there are', async () => {
  const order = fc.record({
    by: fc.constantFrom<BucketOrder['by']>(CORE, MAX, { type: 'natural' }),
    direction: fc.constantFrom<BucketOrder['direction']>('asc', 'desc'),
  });
  const groupBy = fc.oneof(
    order.map((order) => field('a', order)),
    fc.constant(TIME),
  );
  const groupBys = fc.array(groupBy, { maxLength: 3 });
  fc.assert(
    fc.property(groupBys, fc.constantFrom(CORE, MAX, P95), (groupBys, metric) => {
      const { cubes } = planAggregate(of(metric, groupBys, { predicate: ONE }), FACTS);
      return cubes.every(
        (count, at) => count > 0 && count < (at === 0 ? groupBys.length + 1 : cubes[at - 1]),
      );
    }),
  );
});

/** Rows of which `u` has many values, each a few times, and `once` another one in each. */
function rows(): TestRow[] {
  return Array.from({ length: 4_000 }, (_, index) => {
    const leaf = (name: string, text: string): TestLeaf => ({
      ...{ kind: 'string', text, names: ['custom', name] },
    });
    const leaves: TestLeaf[] = [
      { kind: 'number', text: String(index % 7), names: ['custom', 'k'] },
      { kind: 'number', text: String(index), names: ['custom', 'place'] },
      leaf('u', `v${Math.floor((index % 900) ** 2 / 900)}`),
      leaf('once', `o${index}`),
    ];
    return { timeMs: index * 2, leaves };
  });
}

t.test('an answer tells the ways that it went', async (t) => {
  const shelf = new Shelf();
  await shelf.seal([await shelf.add(rows(), 0, 0)], 1_000);
  const none = { cellsMax: 0, trialBytesMax: 0 };
  const little = { ...none, memoryBytesMax: 60_000 };
  const byMax = field('u', { by: MAX, direction: 'desc' });
  const place: Metric = { type: 'attribute', path: 'custom.place', aggregation: 'pc95' };
  const byPlace = field('once', { by: place, direction: 'desc' });
  const table: [AggregateQuery, Partial<AggregateLimits>, string[]][] = [
    [of(CORE, []), {}, ['minutes of 0']],
    [of(CORE, [field('k'), TIME]), {}, ['cube of 2']],
    [
      of(CORE, [field('k'), field('u')]),
      { cellsMax: 60 },
      ['cube of 2 is full', 'cube of 1', 'trial of 2'],
    ],
    [of(CORE, [field('u')]), none, ['trial of 1 is full', 'entries of 1']],
    [
      of(CORE, [field('once')]),
      little,
      ['trial of 1 is full', 'entries of 1 is full', 'sketch of 1 is full', 'passes of 1'],
    ],
    [of(CORE, [byMax]), {}, ['trial of 1']],
    [of(CORE, [byPlace]), little, ['trial of 1 is full', 'sketch of 1']],
    [of(P95, [field('k'), TIME]), {}, ['cube of 1', 'values of 2']],
    [of(P95, [TIME]), {}, ['values of 1']],
    [of(P95, []), {}, ['values of 0']],
  ];
  for (const [query, limits, wanted] of table) {
    const snapshot = { blocks: shelf.refs };
    const { ways = [], buckets } = run(aggregateUnits(shelf.reader, snapshot, query, limits));
    const told = ways.map(
      ({ way, levels, full }) => `${way} of ${levels}${full ? ' is full' : ''}`,
    );
    t.same(told, wanted, JSON.stringify(query.groupBys));
    const plain = { cellsMax: 0, trialBytesMax: Number.POSITIVE_INFINITY };
    t.same(buckets, run(aggregateUnits(shelf.reader, snapshot, query, plain)).buckets);
  }
});
