import t from 'tap';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import type { AggregateLimits } from '../../engine/query/model/aggregate-limits.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { AggregateQuery, BucketKey, GroupBy, Metric } from '../../engine/query/model/query.ts';
import { segmentPath } from '../../engine/store/filename.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { numbers, run } from './blocks.ts';
import { Crew } from './crew.ts';

/** The same answers by all ways: counted together, sketched, by entries of dictionaries, in shares, and plainly. */
const PLAIN: Partial<AggregateLimits> = { cellsMax: 0, trialBytesMax: Number.POSITIVE_INFINITY };
const WAYS: Partial<AggregateLimits>[] = [
  {},
  { cellsMax: 0, trialBytesMax: 0 },
  { cellsMax: 60 },
  { cellsMax: 0, trialBytesMax: 0, memoryBytesMax: 150_000 },
];
const ROWS = 4_700;
const EVER = { fromMs: 0, toMs: 10_000 };
const CORE: Metric = { type: 'core' };
const ALL: Predicate = { type: 'all' };
const DATE = '2016-01-01T00:00:00Z';

/** Rows whose attribute `u` has values as `value` chooses them. */
function rowsOf(seed: number, value: (next: (below: number) => number) => string): TestRow[] {
  const next = numbers(seed);
  return Array.from({ length: ROWS }, (_, index) => {
    const text = value(next);
    const k = next(7);
    const leaves: TestLeaf[] = [
      { kind: 'string', text: `GET /${text} ${k === 3 ? 'Slow' : 'fast'}`, names: ['message'] },
      { kind: 'number', text: String(k), names: ['custom', 'k'] },
    ];
    if (index % 10 !== 0) leaves.push({ kind: 'string', text, names: ['custom', 'u'] });
    if (index % 20 !== 0) leaves.push({ kind: 'string', text, names: ['custom', 'w'] });
    if (index % 50 === 0) leaves.push({ kind: 'date', text: DATE, names: ['custom', 'u'] });
    if (index % 70 === 0) leaves.push({ kind: 'number', text: '20.0', names: ['custom', 'u'] });
    return { timeMs: next(10_000), leaves };
  });
}

const CHOICES: Record<string, (next: (below: number) => number) => string> = {
  'a few values often': (next) => `v${Math.floor(next(60) ** 2 / 400)}`,
  'many values, some often': (next) => (next(3) === 0 ? `v${next(8)}` : `v${next(3_000)}`),
  'many values, all as often': (next) => `v${next(2_000)}`,
  'values that are there once, and dates': (next) => (next(50) === 0 ? DATE : `v${next(2 ** 30)}`),
};

/** Two sealed segments and two log segments of such rows. */
async function shelfOf(seed: number, choice: (typeof CHOICES)[string]): Promise<Shelf> {
  const shelf = new Shelf();
  for (let part = 0; part < 4; part++) {
    const rows = rowsOf(seed + part, choice).slice(0, part < 2 ? ROWS : 500);
    const ref = await shelf.add(rows, part, 0);
    if (part < 2) await shelf.seal([ref]);
  }
  return shelf;
}

const field = (path: string, limit: number, total = false): GroupBy => ({
  type: 'field',
  path,
  limit,
  order: { by: CORE, direction: 'desc' },
  total,
});
const metric = (...metrics: Metric[]): AggregateQuery['computes'] =>
  metrics.map((one) => ({ type: 'metric', metric: one }));
const slow: Predicate = { type: 'words', words: [[{ literal: 'slow' }]] };
const three: Predicate = {
  type: 'value',
  paths: ['custom.k'],
  match: { type: 'text', text: '3' },
};
const max: Metric = { type: 'attribute', path: 'custom.k', aggregation: 'max' };
const distinct: Metric = { type: 'attribute', path: 'custom.u', aggregation: 'cardinality' };
const time: GroupBy = { type: 'time', boundaries: [0, 2_500, 5_000, 10_000], total: true };

/** True when distinct values are counted, each group of which takes more memory than the last way has. */
function hasDistinct(computes: AggregateQuery['computes']): boolean {
  return computes.some(({ metric }) => metric === distinct);
}

const QUERIES: Omit<AggregateQuery, 'fromMs' | 'toMs' | 'predicate'>[] = [
  { computes: metric(CORE), groupBys: [field('custom.u', 7)] },
  { computes: metric(CORE), groupBys: [field('custom.u', 20, true)] },
  { computes: metric(CORE, max), groupBys: [field('custom.u', 5)] },
  { computes: metric(distinct), groupBys: [field('custom.u', 5), field('custom.k', 3)] },
  { computes: metric(CORE), groupBys: [field('custom.k', 3, true), field('custom.u', 4)] },
  { computes: metric(CORE), groupBys: [time, field('custom.u', 4), field('custom.k', 2)] },
  { computes: metric(CORE, distinct), groupBys: [field('custom.k', 10)] },
  { computes: metric(distinct), groupBys: [] },
  { computes: metric(CORE), groupBys: [field('custom.w', 7)] },
  { computes: metric(CORE), groupBys: [field('custom.k', 3), field('custom.w', 4)] },
];

for (const [name, choice] of Object.entries(CHOICES)) {
  t.test(`all ways give the same answer: ${name}`, async (t) => {
    const shelf = await shelfOf(name.length, choice);
    const snapshot = { blocks: shelf.refs };
    for (const selection of [
      { ...EVER, predicate: ALL },
      { ...EVER, predicate: slow },
      { fromMs: 2_000, toMs: 7_000, predicate: three },
    ]) {
      for (const query of QUERIES) {
        const asked = { ...selection, ...query };
        const answer = (limits: Partial<AggregateLimits>) => {
          const { buckets, more } = run(aggregateUnits(shelf.reader, snapshot, asked, limits));
          return JSON.stringify({ buckets, more });
        };
        const wanted = answer(PLAIN);
        const ways = hasDistinct(query.computes) ? WAYS.slice(0, -1) : WAYS;
        const wrong = ways.filter((limits) => answer(limits) !== wanted);
        t.same(wrong, [], JSON.stringify(query.groupBys));
      }
    }
  });
}

const CREWS = [
  { name: 'one other', members: 1, fails: false },
  { name: 'three others', members: 3, fails: false },
  { name: 'three others, half of whom break down', members: 3, fails: true },
];
const inTime: Omit<AggregateQuery, 'fromMs' | 'toMs' | 'predicate'>[] = [
  { computes: metric(CORE), groupBys: [time] },
  { computes: metric(max, distinct, CORE), groupBys: [time, field('custom.k', 4, true)] },
  {
    computes: ['sum', 'avg', 'pc95', 'min', 'count'].map((aggregation) => ({
      type: 'timeseries',
      metric: { type: 'attribute', path: 'custom.k', aggregation } as Metric,
      boundaries: [0, 1_000, 3_000, 10_000],
    })),
    groupBys: [field('custom.u', 6)],
  },
];

for (const { name, members, fails } of CREWS) {
  t.test(`scans in which others join give the same answer: ${name}`, async (t) => {
    const choice = CHOICES['a few values often'];
    const shelf = await shelfOf(3, choice);
    for (let part = 4; part < 12; part++)
      await shelf.add(rowsOf(part, choice).slice(0, 300), part, 0);
    const crew = new Crew(shelf, members, numbers(members), fails);
    const snapshot = { blocks: shelf.refs };
    for (const predicate of [ALL, three]) {
      for (const query of [...QUERIES, ...inTime]) {
        const asked = { fromMs: 500, toMs: 9_000, predicate, ...query };
        const wanted = run(aggregateUnits(shelf.reader, snapshot, asked, PLAIN));
        for (const limits of [{}, PLAIN, WAYS[1], WAYS[2]]) {
          const found = crew.run(aggregateUnits(shelf.reader, snapshot, asked, limits, crew));
          t.same(found.buckets, wanted.buckets, JSON.stringify({ limits, query }));
          t.same(found.stats, wanted.stats);
        }
      }
    }
    t.ok(crew.joinedCount > 100, `${crew.joinedCount} parts`);
  });
}

t.test('blocks that others find damaged are left out and counted', async (t) => {
  const choice = CHOICES['a few values often'];
  const shelf = new Shelf();
  for (let part = 0; part < 12; part++)
    await shelf.add(rowsOf(part, choice).slice(0, 200), part, 0);
  const damaged = [7, 9];
  const intact = { blocks: shelf.refs.filter((_, place) => !damaged.includes(place)) };
  for (const place of damaged) {
    shelf.disk.damage(segmentPath(shelf.refs[place].segment), (bytes) => bytes.fill(0, 64));
  }
  const crew = new Crew(shelf, 2, numbers(1));
  for (const query of [...QUERIES, ...inTime]) {
    const asked = { ...EVER, predicate: three, ...query };
    const wanted = run(aggregateUnits(shelf.reader, intact, asked));
    const snapshot = { blocks: shelf.refs };
    const found = crew.run(aggregateUnits(shelf.reader, snapshot, asked, {}, crew));
    t.same(found.buckets, wanted.buckets);
    t.equal(found.stats.blocksDamaged, damaged.length);
  }
});

/** The key of a bucket of `u`, as the rows have it. */
function nameOf(key: BucketKey): string {
  return key.type === 'number' || key.type === 'string' ? `${key.type} ${key.text}` : key.type;
}

t.test('top values and words of sealed segments are those of the rows', async (t) => {
  const choice = CHOICES['many values, some often'];
  const shelf = await shelfOf(5, choice);
  const counts = new Map<string, number>();
  let slowCount = 0;
  for (let part = 0; part < 4; part++) {
    for (const { leaves } of rowsOf(5 + part, choice).slice(0, part < 2 ? ROWS : 500)) {
      const own = new Set<string>();
      for (const leaf of leaves) {
        const last = leaf.names.at(-1);
        if (last === 'message' && 'text' in leaf && leaf.text.endsWith('Slow')) slowCount++;
        if (last !== 'u' || !('text' in leaf)) continue;
        own.add(leaf.kind === 'number' ? 'number 20' : `string ${leaf.text}`);
      }
      for (const name of own) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  const compare = ([a, left]: [string, number], [b, right]: [string, number]): number =>
    right - left || (a < b ? -1 : 1);
  const wanted = [...counts].sort(compare).slice(0, 40);
  const snapshot = { blocks: shelf.refs };
  const asked = { ...EVER, predicate: ALL, computes: metric(CORE) };
  for (const limits of [...WAYS, PLAIN]) {
    const query = { ...asked, groupBys: [field('custom.u', 40)] };
    const { buckets } = run(aggregateUnits(shelf.reader, snapshot, query, limits));
    t.same(
      buckets.map(({ keys, values }) => [nameOf(keys[0]), values[0]]),
      wanted,
    );
  }
  const query = { ...asked, predicate: slow, groupBys: [] };
  const { buckets } = run(aggregateUnits(shelf.reader, snapshot, query));
  t.equal(buckets[0].values[0], slowCount);
});
