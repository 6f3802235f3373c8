import t from 'tap';
import { assert, must } from '../../engine/base/assert.ts';
import { finished } from '../../engine/base/pause.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { comparer, FirstBuckets } from '../../engine/query/group/bucket-order.ts';
import { EntryCounts } from '../../engine/query/group/entry/entry-counts.ts';
import { offerFirst } from '../../engine/query/group/entry/top-entries.ts';
import { FieldLevel } from '../../engine/query/group/level.ts';
import { allRows } from '../../engine/query/model/bitmap.ts';
import type { AggregateQuery, GroupBy } from '../../engine/query/model/query.ts';
import type { BlockSource } from '../../engine/query/model/source.ts';
import { ValueTable } from '../../engine/query/value/value-table.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { numbers, run } from './blocks.ts';

const ROWS = 14_000;
const PLAIN = { cellsMax: 0, trialBytesMax: Number.POSITIVE_INFINITY };

/** Rows of which one in `often` has one of a few users, the others nearly each its own. */
function rowsOf(seed: number, often: number): TestRow[] {
  const next = numbers(seed);
  return Array.from({ length: ROWS }, (_, timeMs) => {
    const user = next(often) === 0 ? `user ${next(4) + next(3)}` : `user ${next(8_000)}`;
    const leaf = (name: string, text: string): TestLeaf => ({
      ...{ kind: 'string', text, names: ['custom', name] },
    });
    return { timeMs, leaves: [leaf('kind', `kind ${next(3)}`), leaf('user', user)] };
  });
}

/** Two sealed segments and a log segment. */
async function shelfOf(often: number): Promise<Shelf> {
  const shelf = new Shelf();
  for (let part = 0; part < 3; part++) {
    const ref = await shelf.add(rowsOf(part + 1, often).slice(0, part < 2 ? ROWS : 300), part, 0);
    if (part < 2) await shelf.seal([ref]);
  }
  return shelf;
}

const field = (path: string, limit: number): Extract<GroupBy, { type: 'field' }> => ({
  ...{ type: 'field', path, limit, total: false },
  order: { by: { type: 'core' }, direction: 'desc' },
});
const query: AggregateQuery = {
  ...{ fromMs: 0, toMs: 1e6, predicate: { type: 'all' } },
  computes: [{ type: 'metric', metric: { type: 'core' } }],
  groupBys: [field('custom.kind', 3), field('custom.user', 4)],
};

t.test(
  'without room for all entries the first ones of dictionaries tell frequent values',
  async (t) => {
    const MEMORY = [1e6, 80_000, 60_000, 50_000, 40_000, 30_000];
    const ways: (string | undefined)[][] = [];
    for (const often of [2, 1_000]) {
      const shelf = await shelfOf(often);
      const snapshot = { blocks: shelf.refs };
      const wanted = run(aggregateUnits(shelf.reader, snapshot, query, PLAIN)).buckets;
      const byMemory = MEMORY.map((memoryBytesMax) => {
        const limits = { cellsMax: 0, trialBytesMax: 0, memoryBytesMax };
        const answer = run(aggregateUnits(shelf.reader, snapshot, query, limits));
        t.strictSame(answer.buckets, wanted);
        return answer.ways?.find(({ levels, full }) => levels === 2 && full !== true)?.way;
      });
      t.equal(byMemory[0], 'entries');
      ways.push(byMemory);
    }
    const [often, evenly] = ways;
    t.ok(often.some((way, at) => way === 'entries' && evenly[at] === 'sketch'));
  },
);

t.test('what others counted of fewer or more entries is added to what both have', async (t) => {
  const shelf = await shelfOf(2);
  const path = 'custom.user';
  const one = { ...query, groupBys: [field(path, 4)] };
  const { buckets } = run(aggregateUnits(shelf.reader, { blocks: shelf.refs }, one, PLAIN));
  const { reader } = shelf;
  // It keeps no numbers of strings: each count takes as much memory as the first one.
  const { secret, ids } = reader;
  const source: BlockSource = { secret, ids, open: (ref) => reader.open(ref) };
  const counted = (bytesMax: number, mask: number): EntryCounts => {
    const counts = new EntryCounts(source, [], path, 1, bytesMax);
    for (const ref of shelf.refs) {
      const rows = allRows(ref.rowCount).map((word) => word & mask);
      finished(counts.add(shelf.reader.open(ref), rows));
    }
    return counts;
  };
  const { memoryBytes } = counted(1e6, 0x0f0f0f0f);
  for (const [ownLess, otherLess] of [
    [0, 0],
    [0, 1],
    [1, 0],
    [2_000, 1],
    [1, 2_000],
  ]) {
    const own = counted(memoryBytes - ownLess, 0x0f0f0f0f);
    const other = counted(memoryBytes - otherLess, 0xf0f0f0f0);
    const found = must(other.found(), 'what was found');
    assert(found.type === 'entries', 'counts of entries');
    const most = Math.max(...found.dictionaries.map(({ end }) => end));
    t.ok(otherLess === 0 ? most > 4_096 : most === (otherLess === 1 ? 4_096 : 256));
    finished(own.merge(structuredClone(found)));
    const level = new FieldLevel(path, new ValueTable(1));
    const first = new FirstBuckets(4, comparer(field(path, 4).order, level));
    t.ok(finished(offerFirst(own, 5, level.numbers, first)));
    const [[, candidates]] = [...first.entries()];
    t.strictSame(
      candidates.map(({ value, rank }) => [level.key(value), rank]),
      buckets.map(({ keys, values }) => [keys[0], values[0]]),
    );
  }
});
