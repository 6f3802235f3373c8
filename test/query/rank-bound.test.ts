import t from 'tap';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import type { AggregateLimits } from '../../engine/query/model/aggregate-limits.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type {
  AggregateQuery,
  Aggregation,
  BucketOrder,
  GroupBy,
  Metric,
} from '../../engine/query/model/query.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { numbers, run } from './blocks.ts';
import { Crew } from './crew.ts';

/** Values that are the first by a metric, found among those that bounds leave. */

const ROWS = 1_500;
const CORE: Metric = { type: 'core' };
const PLAIN: Partial<AggregateLimits> = { cellsMax: 0, trialBytesMax: Number.POSITIVE_INFINITY };
/** Too little for all values. */
const SKETCHED: Partial<AggregateLimits> = {
  ...{ cellsMax: 0, trialBytesMax: 0, memoryBytesMax: 150_000, headsMax: 8 },
};

type Next = (below: number) => number;

/** Numbers of all kinds: `n` of each event, by how often its value comes. */
const NUMBERS: Record<string, (next: Next, often: boolean) => TestLeaf | undefined> = {
  'small ones': (next, often) => numberOf(next(often ? 3_000 : 9_000) / 1_000),
  'negative and large ones': (next) => numberOf((next(2_000_000) - 1_000_000) * 1_000),
  'doubles, long ones and none': (next) => {
    const kind = next(40);
    if (kind < 4) return undefined;
    if (kind === 4) return numberOf(`${9_007_199_254_740_993n + BigInt(next(3))}.5`);
    return numberOf(next(1_000) / (1 + next(999)));
  },
  'hardly different ones': (next) => numberOf(next(2)),
  'some in strings': (next) =>
    next(2) === 0
      ? numberOf(next(50))
      : { kind: 'string', text: `${next(90)}`, names: ['custom', 'n'] },
};

function numberOf(value: number | string): TestLeaf {
  return { kind: 'number', text: String(value), names: ['custom', 'n'] };
}

function rowsOf(seed: number, number: (typeof NUMBERS)[string]): TestRow[] {
  const next = numbers(seed);
  return Array.from({ length: ROWS }, (_, index) => {
    const isOften = next(2) === 0;
    const text = isOften ? `often ${Math.floor(next(400) ** 2 / 8_000)}` : `v${next(2_000)}`;
    const leaves: TestLeaf[] = [
      { kind: 'number', text: String(next(3)), names: ['custom', 'few'] },
      { kind: 'string', text: `a${next(700)}`, names: ['custom', 'address'] },
    ];
    if (index % 11 !== 0) leaves.push({ kind: 'string', text, names: ['custom', 'u'] });
    const leaf = number(next, isOften);
    if (leaf !== undefined) leaves.push(leaf);
    if (index % 4 === 0) {
      const elements = Array.from({ length: next(5) }, () => `"e${next(60)}"`);
      leaves.push({ kind: 'array', text: `[${elements}]`, names: ['custom', 'list'] });
    }
    return { timeMs: index, leaves };
  });
}

/** Three log segments of such rows, two of which are sealed. */
async function stored(seed: number, number: (typeof NUMBERS)[string]): Promise<Shelf> {
  const shelf = new Shelf();
  for (let part = 0; part < 3; part++) {
    const ref = await shelf.add(rowsOf(seed * 10 + part, number), part, 0);
    if (part < 2) await shelf.seal([ref], 1_000);
  }
  return shelf;
}

const of = (aggregation: Aggregation, path = 'custom.n'): Metric => ({
  ...{ type: 'attribute', path, aggregation },
});
const ORDERS: BucketOrder[] = (['desc', 'asc'] as const).flatMap((direction) => [
  ...(['min', 'max', 'avg', 'sum', 'median', 'pc95'] as const).map((aggregation) => ({
    ...{ by: of(aggregation), direction },
  })),
  ...['custom.address', 'custom.list'].flatMap((path) => [
    { by: of('cardinality', path), direction },
    { by: of('count', path), direction },
  ]),
]);

const field = (path: string, limit: number, order: BucketOrder, total = false): GroupBy => ({
  ...{ type: 'field', path, limit, order, total },
});

function queriesOf(order: BucketOrder): AggregateQuery[] {
  const few = field('custom.few', 2, { by: CORE, direction: 'desc' });
  const { by } = order;
  const computes: Metric[] = by.type === 'natural' ? [CORE] : [by, CORE];
  return [[field('custom.u', 5, order, true)], [few, field('custom.u', 3, order)]].map(
    (groupBys) => ({
      ...{ fromMs: 0, toMs: ROWS, predicate: { type: 'all' }, groupBys },
      computes: computes.map((metric) => ({ type: 'metric', metric })),
    }),
  );
}

let seed = 0;
for (const [name, number] of Object.entries(NUMBERS)) {
  t.test(`the first by a metric are those of all values: ${name}`, async (t) => {
    const shelf = await stored(++seed, number);
    const snapshot = { blocks: shelf.refs };
    const crew = new Crew(shelf, 2, numbers(seed));
    let sketched = 0;
    let measured = 0;
    for (const order of ORDERS) {
      for (const query of queriesOf(order)) {
        const told = JSON.stringify({ order, levels: query.groupBys.length });
        const wanted = run(aggregateUnits(shelf.reader, snapshot, query, PLAIN));
        const found = run(aggregateUnits(shelf.reader, snapshot, query, SKETCHED));
        t.same(found.buckets, wanted.buckets, told);
        t.equal(found.more, wanted.more, told);
        if (found.ways?.some(({ way, full }) => way === 'sketch' && full !== true)) sketched++;
        if (found.ways?.some(({ way, full }) => way === 'entries' && full !== true)) measured++;
        if (query.groupBys.length > 1) continue;
        const shared = crew.run(aggregateUnits(shelf.reader, snapshot, query, SKETCHED, crew));
        t.same(shared.buckets, wanted.buckets, `${told}, with others`);
      }
    }
    t.ok(sketched > 0, `${sketched} of them by a sketch`);
    t.ok(measured > 0, `${measured} of them by entries`);
  });
}

/** Texts of an attribute: numbers among them come first in natural order. */
const TEXTS: Record<string, { text: (next: Next) => string; isSketched: boolean }> = {
  'values that are there once': { text: (next) => `v${next(2 ** 30)}`, isSketched: true },
  'values of a few events': { text: (next) => `v${next(1_500)}`, isSketched: true },
  'numbers, dates and others': {
    text: (next) =>
      ['', '-1e3', '7.50', '2016-01-01T00:00:00Z', 'é', '\ud800'][next(12)] ??
      (next(3) === 0 ? `${next(40)}` : `${next(2) === 0 ? 'a' : 'z'}${next(3_000)}`),
    isSketched: true,
  },
  'values that all have many events': { text: (next) => `v${next(20)}`, isSketched: false },
};
const LEAST: BucketOrder = { by: CORE, direction: 'asc' };

for (const [name, { text, isSketched }] of Object.entries(TEXTS)) {
  t.test(`those of the fewest events are those of all values: ${name}`, async (t) => {
    const shelf = new Shelf();
    for (let part = 0; part < 4; part++) {
      const next = numbers(++seed);
      const rows = Array.from({ length: ROWS }, (_, index): TestRow => {
        const leaf: TestLeaf = { kind: 'string', text: text(next), names: ['custom', 'u'] };
        const few: TestLeaf = { kind: 'number', text: `${index % 3}`, names: ['custom', 'few'] };
        return { timeMs: index, leaves: index % 7 === 0 ? [few] : [leaf, few] };
      });
      const ref = await shelf.add(rows, part, 0);
      if (part < 3) await shelf.seal([ref], 1_000);
    }
    const snapshot = { blocks: shelf.refs };
    const crew = new Crew(shelf, 2, numbers(seed));
    const ways: (boolean | undefined)[] = [];
    for (const [limit, fromMs, toMs] of [
      [1, 0, ROWS],
      [20, 0, ROWS],
      [20, 200, 900],
    ]) {
      for (const predicate of [
        { type: 'all' },
        { type: 'value', paths: ['custom.few'], match: { type: 'text', text: '1' } },
      ] satisfies Predicate[]) {
        const groupBys = [field('custom.u', limit, LEAST)];
        const computes: AggregateQuery['computes'] = [{ type: 'metric', metric: CORE }];
        const query: AggregateQuery = { fromMs, toMs, predicate, groupBys, computes };
        const limits = { ...SKETCHED, memoryBytesMax: 40_000 };
        const wanted = run(aggregateUnits(shelf.reader, snapshot, query, PLAIN));
        const found = run(aggregateUnits(shelf.reader, snapshot, query, limits));
        t.same(found.buckets, wanted.buckets, `${limit} from ${fromMs}`);
        t.equal(found.more, wanted.more);
        ways.push(found.ways?.some(({ way, full }) => way === 'sketch' && full !== true));
        const shared = crew.run(aggregateUnits(shelf.reader, snapshot, query, limits, crew));
        t.same(shared.buckets, wanted.buckets, `${limit} from ${fromMs}, with others`);
      }
    }
    t.equal(ways.includes(true), isSketched, 'by a sketch');
  });
}
