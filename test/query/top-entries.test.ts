import fc from 'fast-check';
import t from 'tap';
import { finished, type Units } from '../../engine/base/pause.ts';
import { encodeText } from '../../engine/query/filter/text.ts';
import { comparer, FirstBuckets } from '../../engine/query/group/bucket-order.ts';
import type { EntryCounts } from '../../engine/query/group/entry/entry-counts.ts';
import { offerFirst } from '../../engine/query/group/entry/top-entries.ts';
import type { CountedEntries } from '../../engine/query/value/counted-values.ts';
import { KIND_BITS } from '../../engine/query/value/value-numbers.ts';
import { ValueTable } from '../../engine/query/value/value-table.ts';

/** Entries of a part: the number of a text, and its events by parent. */
interface Entry {
  text: number;
  counts: number[];
}

interface Part {
  isRanked: boolean;
  entries: Entry[];
}

interface World {
  parts: Part[];
  parentCount: number;
  /** Texts whose numbers are equal by it have one hash. */
  hashes: number;
}

/** Most entries whose hashes were asked for. */
let hashedMax = 0;

function total({ counts }: Entry): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function textOf(number: number): string {
  return `text ${number}`;
}

function partOf({ isRanked, entries }: Part, hashes: number): CountedEntries {
  return {
    ...{ isRanked, isComplete: true },
    *hashUnits(end: number): Units<Int32Array> {
      yield;
      if (isRanked) hashedMax = Math.max(hashedMax, Math.min(end, entries.length));
      return Int32Array.from(entries, ({ text }) => (text % hashes) << KIND_BITS);
    },
    most: (parent, from) =>
      isRanked ? Math.max(0, ...entries.slice(from).map(({ counts }) => counts[parent])) : 0,
    stretches: (parent, end) => [
      { first: 0, counts: Uint32Array.from(entries.slice(0, end), ({ counts }) => counts[parent]) },
    ],
    countOf: (parent, entry) => entries[entry].counts[parent],
    countAbove: (least) =>
      isRanked ? entries.findLastIndex((entry) => total(entry) > least) + 1 : entries.length,
    *numbersIn(table: ValueTable, wanted: Uint32Array): Units<Int32Array> {
      yield;
      return Int32Array.from(wanted, (entry) => {
        const text = encodeText(textOf(entries[entry].text));
        return table.string(text, 0, text.length);
      });
    },
  };
}

/** The first values of each parent with their events; `undefined` when they are to be found in another way. */
function firstOf({ parts, parentCount, hashes }: World, limit: number): unknown[] | undefined {
  const finish = function* (): Units<CountedEntries[]> {
    yield;
    return parts.map((part) => partOf(part, hashes));
  };
  const table = new ValueTable(1);
  const text = (value: number): string => {
    const key = table.key(value);
    return key.type === 'string' ? key.text : '';
  };
  const compare = (left: number, right: number): number => (text(left) < text(right) ? -1 : 1);
  const order = comparer({ by: { type: 'core' }, direction: 'desc' }, { compare });
  const first = new FirstBuckets(limit, order);
  const counted = { finish, parentCount } as unknown as EntryCounts;
  if (!finished(offerFirst(counted, limit, table, first))) return undefined;
  const found: unknown[] = new Array(parentCount).fill([]);
  for (const [parent, buckets] of first.entries()) {
    found[parent] = buckets.map(({ value, rank }) => [text(value), rank]);
  }
  return found;
}

/** The same, by adding up all. */
function wantedOf({ parts, parentCount }: World, limit: number): unknown[] {
  return Array.from({ length: parentCount }, (_, parent) => {
    const sums = new Map<string, number>();
    for (const { text, counts } of parts.flatMap(({ entries }) => entries)) {
      sums.set(textOf(text), (sums.get(textOf(text)) ?? 0) + counts[parent]);
    }
    return [...sums]
      .filter(([, count]) => count > 0)
      .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
      .slice(0, limit);
  });
}

/** Numbers from 0 on, below 1, which a seed gives. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A world in which text n has about `most / (n + 1) ** skew` events in each part. */
function worldOf(
  [seed, partCount, texts, most, skew, parentCount]: number[],
  hashes: number,
  hasUnranked: boolean,
): World {
  const random = randomOf(seed);
  const parts = Array.from({ length: partCount }, (_, number) => {
    const entries: Entry[] = [];
    for (let text = 0; text < texts; text++) {
      const counts = Array.from({ length: parentCount }, (_, parent) =>
        Math.round((random() * most) / (((text * 7 + parent) % texts) + 1) ** skew),
      );
      if (total({ text, counts }) > 0) entries.push({ text, counts });
    }
    const isRanked = !hasUnranked || number + 1 < partCount;
    if (isRanked) entries.sort((left, right) => total(right) - total(left));
    return { isRanked, entries };
  });
  return { parts, parentCount, hashes };
}

t.test('the first values are those of all sums, whatever dictionaries have of them', async (t) => {
  const shape = fc.tuple(
    fc.nat(),
    fc.integer({ min: 1, max: 4 }),
    fc.constantFrom(3, 300, 1_000, 5_000),
    fc.constantFrom(2, 50, 5_000),
    fc.constantFrom(0, 0.3, 1, 1.5),
    fc.integer({ min: 1, max: 3 }),
  );
  const hashes = fc.constantFrom(2, 250, 1 << 20);
  let proven = 0;
  fc.assert(
    fc.property(shape, hashes, fc.boolean(), fc.nat(12), (numbers, of, hasUnranked, more) => {
      const world = worldOf(numbers, of, hasUnranked);
      hashedMax = 0;
      const found = firstOf(world, more + 1);
      if (found === undefined) return;
      if (hashedMax < numbers[2] / 2) proven++;
      t.strictSame(found, wantedOf(world, more + 1));
    }),
    { numRuns: 150 },
  );
  t.ok(proven > 0);
});

t.test(
  'of values that are much more frequent than others, no tail of a dictionary is hashed',
  async (t) => {
    for (const hasUnranked of [false, true]) {
      const world = worldOf([7, 4, 3_000, 50_000, 1.2, 2], 1 << 20, hasUnranked);
      hashedMax = 0;
      t.strictSame(firstOf(world, 10), wantedOf(world, 10));
      t.equal(hashedMax, 256);
    }
  },
);

function entry(text: number, count: number): Entry {
  return { text, counts: [count] };
}

function entriesOf(from: number, count: number, events: number): Entry[] {
  return Array.from({ length: count }, (_, n) => entry(from + n, events));
}

t.test('values of one hash are told apart where dictionaries hide one of them', async (t) => {
  // Each head has one of two texts of one hash, and the other one is behind it.
  const parts = [0, 1_024].map((text) => [
    ...[entry(text, 7_000), entry(1, 6_000), entry(2, 3_000)],
    ...entriesOf(3, 300, 20),
    entry(1_024 - text, 19),
  ]);
  const ranked = parts.map((entries) => ({ isRanked: true, entries }));
  const found = firstOf({ parts: ranked, parentCount: 1, hashes: 1_024 }, 3);
  const first = [
    ['text 1', 12_000],
    ['text 0', 7_019],
    ['text 1024', 7_019],
  ];
  t.strictSame(found, [first]);
});

t.test('more values than the heads have are looked for behind them', async (t) => {
  const parts = [0, 1].map(() => ({ isRanked: true, entries: entriesOf(0, 300, 20) }));
  const world = { parts, parentCount: 1, hashes: 1_024 };
  t.strictSame(firstOf(world, 270), wantedOf(world, 270));
});
