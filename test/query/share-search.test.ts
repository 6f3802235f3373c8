import t from 'tap';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { shareClaims } from '../../engine/query/group/share-search.ts';
import type { Offer, SharedScan } from '../../engine/query/group/shared-scan.ts';
import type { AggregateLimits } from '../../engine/query/model/aggregate-limits.ts';
import type { AggregateQuery, GroupBy, Metric } from '../../engine/query/model/query.ts';
import { segmentPath } from '../../engine/store/filename.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { numbers, run } from './blocks.ts';
import { Crew } from './crew.ts';

/** Shares of the values of a level that other threads search. */

const ROWS = 3_000;
const VALUES = 1_500;
const CORE: Metric = { type: 'core' };
const of = (aggregation: 'max' | 'pc95'): Metric => ({
  type: 'attribute',
  path: 'custom.k',
  aggregation,
});
/** All fits, and hardly anything. */
const PLAIN: Partial<AggregateLimits> = { cellsMax: 0, trialBytesMax: Number.POSITIVE_INFINITY };
const SMALL: Partial<AggregateLimits> = { ...PLAIN, memoryBytesMax: 100_000 };

function rowsOf(seed: number): TestRow[] {
  const next = numbers(seed);
  return Array.from({ length: ROWS }, (_, index) => {
    const leaves: TestLeaf[] = [
      { kind: 'number', text: String(next(5_000)), names: ['custom', 'k'] },
      { kind: 'number', text: String(next(4)), names: ['custom', 'few'] },
    ];
    const text = `v${next(VALUES)}`;
    if (index % 9 !== 0) leaves.push({ kind: 'string', text, names: ['custom', 'u'] });
    if (index % 50 === 0)
      leaves.push({ kind: 'number', text: String(next(99)), names: ['custom', 'u'] });
    return { timeMs: index, leaves };
  });
}

/** Six log segments of such rows, of which some are sealed. */
async function stored(sealedCount = 3): Promise<Shelf> {
  const shelf = new Shelf();
  for (let part = 0; part < 6; part++) {
    const ref = await shelf.add(rowsOf(part), part, 0);
    if (part < sealedCount) await shelf.seal([ref]);
  }
  return shelf;
}

const field = (
  path: string,
  by: Metric | { type: 'natural' },
  direction: 'asc' | 'desc',
  total = false,
): GroupBy => ({ type: 'field', path, limit: 20, order: { by, direction }, total });

const QUERIES: [name: string, computes: Metric[], groupBys: GroupBy[]][] = [
  ['least first', [CORE], [field('custom.u', CORE, 'asc')]],
  ['by the greatest', [CORE, of('max')], [field('custom.u', of('max'), 'desc', true)]],
  ['by a quantile', [of('pc95')], [field('custom.u', of('pc95'), 'desc')]],
  ['by name', [CORE], [field('custom.u', { type: 'natural' }, 'desc')]],
  [
    'in others, with totals',
    [CORE, of('max')],
    [field('custom.few', CORE, 'desc', true), field('custom.u', of('max'), 'asc', true)],
  ],
];

function queryOf(computes: Metric[], groupBys: GroupBy[]): AggregateQuery {
  return {
    ...{ fromMs: 0, toMs: ROWS, predicate: { type: 'all' }, groupBys },
    computes: computes.map((metric) => ({ type: 'metric', metric })),
  };
}

/** Counts the offers of shares. */
class Counting extends Crew {
  sharesCount = 0;

  override offer(scan: SharedScan): Offer {
    if (scan.spec.type === 'shares') this.sharesCount++;
    return super.offer(scan);
  }
}

for (const { members, fails } of [
  { members: 1, fails: false },
  { members: 3, fails: false },
  { members: 3, fails: true },
  { members: 5, fails: false },
]) {
  const who = `${members} ${members === 1 ? 'other' : 'others'}${fails ? ', of which some fail' : ''}`;
  t.test(`shares give the same answer with ${who}`, async (t) => {
    const shelf = await stored();
    const snapshot = { blocks: shelf.refs };
    for (const [name, computes, groupBys] of QUERIES) {
      const query = queryOf(computes, groupBys);
      const wanted = run(aggregateUnits(shelf.reader, snapshot, query, PLAIN));
      const alone = run(aggregateUnits(shelf.reader, snapshot, query, SMALL));
      t.same(alone.buckets, wanted.buckets, `${name}, alone`);
      for (let seed = 0; seed < 2; seed++) {
        const crew = new Counting(shelf, members, numbers(seed), fails);
        const found = crew.run(aggregateUnits(shelf.reader, snapshot, query, SMALL, crew));
        t.same(found.buckets, wanted.buckets, name);
        t.equal(found.more, wanted.more, name);
        t.same(found.stats, alone.stats, name);
        if (fails) continue;
        t.ok(crew.sharesCount > 0, `${name}: shares are offered`);
        t.ok(crew.joinedCount > 0, `${name}: others find some`);
      }
    }
  });
}

t.test('blocks that are damaged are left out of all shares, and counted once', async (t) => {
  for (const damaged of [[1], [4], [0, 5]]) {
    const shelf = await stored(0);
    const snapshot = { blocks: shelf.refs };
    const intact = { blocks: shelf.refs.filter((_, place) => !damaged.includes(place)) };
    const wanted = QUERIES.map(([, computes, groupBys]) =>
      run(aggregateUnits(shelf.reader, intact, queryOf(computes, groupBys), PLAIN)),
    );
    for (const place of damaged) {
      const { segment } = shelf.refs[place];
      shelf.disk.damage(segmentPath(segment), (bytes) => bytes.fill(0, 64));
    }
    for (const [place, [name, computes, groupBys]] of QUERIES.entries()) {
      shelf.reader.forget(shelf.refs.map(({ segment }) => segment));
      const crew = new Counting(shelf, 2, numbers(place));
      const query = queryOf(computes, groupBys);
      const found = crew.run(aggregateUnits(shelf.reader, snapshot, query, SMALL, crew));
      t.same(found.buckets, wanted[place].buckets, name);
      t.equal(found.stats.blocksDamaged, damaged.length, name);
    }
  }
});

t.test('whose search is over takes the shares of others from them', (t) => {
  const owner = shareClaims(8);
  const other = shareClaims(8, 2, owner.cells);
  const own = owner.next(-1);
  const place = other.jump();
  t.same([owner.has(own), other.has(place), other.has(own)], [true, true, false]);
  owner.close();
  t.same([owner.has(own), other.has(place), other.jump()], [true, false, -1]);
  t.end();
});
