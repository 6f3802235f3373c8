import { BLOCK_ROWS_MAX } from '../../../base/limits.ts';
import { inParts, Pace, type Units } from '../../../base/pause.ts';
import { plainValues } from '../../../packed/cells.ts';
import { grow } from '../../../packed/growth.ts';
import { findValues } from '../../../packed/packed.ts';
import { GreatestKeys } from '../../metric/greatest-keys.ts';
import { eachRow } from '../../model/bitmap.ts';
import { isDamage } from '../../model/source.ts';
import { type CountedEntries, HEADS } from '../../value/counted-values.ts';
import { NumberedHashes } from '../../value/numbered-hashes.ts';
import { KIND_BITS } from '../../value/value-numbers.ts';
import type { ValueTable } from '../../value/value-table.ts';
import type { FirstBuckets } from '../bucket-order.ts';
import type { EntryCounts } from './entry-counts.ts';

/**
 * Hashes that are looked for together, and counts by parent of entries that have one of them; beyond it values are
 * found in another way.
 */
const CANDIDATES_MAX = 1 << 17;
const COUNTS_MAX = 1 << 22;
/** Entries that are gone through in a unit: as many as the kernel of packed values takes at a time. */
const UNIT_ENTRIES = BLOCK_ROWS_MAX;
/** Counts are up to it. */
const COUNT_MAX = 2 ** 31 - 1;

/** Entries that have one of the hashes that are looked for. */
class Hits {
  count = 0;
  parts = new Uint32Array(1024);
  entries = new Uint32Array(1024);
  hashes = new Uint32Array(1024);

  add(part: number, entry: number, hash: number): void {
    if (this.count === this.parts.length) {
      this.parts = grow(this.parts, this.count + 1);
      this.entries = grow(this.entries, this.count + 1);
      this.hashes = grow(this.hashes, this.count + 1);
    }
    this.parts[this.count] = part;
    this.entries[this.count] = entry;
    this.hashes[this.count++] = hash;
  }
}

/**
 * Offers the values with the most events of each parent, `limit` of them at least, which `table` takes; in units. False
 * when too many may be among the first, or a dictionary is damaged.
 *
 * Mostly the first entries of the dictionaries tell all (`firstOfHeads`). Else: a value that has as many events as the
 * last of the first has more than a share of these in one of the dictionaries at least. Such entries are looked for in
 * all of them, by hashes, and then by the texts of those that may be enough together. Source: Cao and Wang, Efficient
 * top-k query calculation in distributed networks (TPUT).
 */
export function* offerFirst(
  counted: EntryCounts,
  limit: number,
  table: ValueTable,
  first: FirstBuckets,
): Units<boolean> {
  let found: Float64Array[] | undefined;
  try {
    found = yield* firstOf(yield* counted.finish(), counted.parentCount, limit, table);
    // Fewer may be among the first when what threads have counted is together.
    if (found === undefined && (yield* counted.unite())) {
      found = yield* firstOf(yield* counted.finish(), counted.parentCount, limit, table);
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  if (found === undefined) return false;
  const pace = new Pace();
  for (const [parent, events] of found.entries()) {
    for (let value = 0; value < events.length; value++) {
      if (pace.isFull(1)) yield;
      if (events[value] > 0) first.offer(parent, value, events[value], () => []);
    }
  }
  return true;
}

function* firstOf(
  parts: readonly CountedEntries[],
  parentCount: number,
  limit: number,
  table: ValueTable,
): Units<Float64Array[] | undefined> {
  // Hashes that are counted have no first ones.
  const isAnyRanked = parts.some(({ isRanked }) => isRanked);
  for (const heads of isAnyRanked ? HEADS : []) {
    const counts = yield* firstOfHeads(parts, parentCount, limit, table, heads);
    if (counts !== undefined) return counts;
  }
  if (parts.some(({ isComplete }) => !isComplete)) return undefined;
  return yield* firstOfAll(parts, parentCount, limit, table);
}

/**
 * By parent, the events of the values that may be among the first, which `table` takes; `undefined` when the first
 * `heads` entries of each dictionary do not tell them.
 *
 * In a dictionary a value has as many events as its entry, when that is among the first ones, else the tail at most:
 * the most that one of the others has. Values that are in no head are not wanted when all tails together are fewer than
 * the last wanted one has. Others that may have so many have to be in each head, but where nothing is behind it.
 * Source: Fagin, Lotem and Naor, Optimal aggregation algorithms for middleware (NRA).
 */
function* firstOfHeads(
  parts: readonly CountedEntries[],
  parentCount: number,
  limit: number,
  table: ValueTable,
  heads: number,
): Units<Float64Array[] | undefined> {
  const hashes = new NumberedHashes();
  const hits = yield* headsOf(parts, heads, hashes);
  const tails: Tails[] = [];
  for (let parent = 0; parent < parentCount; parent++) {
    const byPart = Float64Array.from(parts, (part) => part.most(parent, heads));
    tails.push({ byPart, total: byPart.reduce((sum, tail) => sum + tail, 0) });
    yield;
  }
  const shares = new Float64Array(parentCount);
  for (const [parent, counts] of countsOf(parts, parentCount, hits).entries()) {
    const least = Math.max(greatest(sumsOf(hashes, hits, counts), limit), 1);
    shares[parent] = least - tails[parent].total - 1;
    if (shares[parent] < 0) return undefined;
  }
  for (const [number, part] of parts.entries()) {
    if (part.isRanked) continue;
    if (!(yield* addCandidates(hashes, part, shares))) return undefined;
    yield* addAllHits(hits, hashes, number, part);
  }
  if (hits.count * parentCount > COUNTS_MAX) return undefined;
  const byParent = countsOf(parts, parentCount, hits);
  const leasts = byParent.map((counts) =>
    Math.max(greatest(sumsOf(hashes, hits, counts), limit), 1),
  );
  const wanted = wantedOfHeads(hashes, hits, byParent, leasts, tails);
  const numbers = wanted && (yield* numbersOf(parts, hits, wanted, table));
  if (numbers === undefined || !isOneEach(hashes, hits, numbers)) return undefined;
  const exact = byParent.map((counts) => exactCounts(table, counts, numbers));
  const isEnough = exact.every((counts, at) => Math.max(greatest(counts, limit), 1) >= leasts[at]);
  return isEnough ? exact : undefined;
}

/** The most events that values have which are not in the heads: in each part, and in all together. */
interface Tails {
  byPart: Float64Array;
  total: number;
}

/** The first `heads` entries of all dictionaries, whose hashes get numbers. */
function* headsOf(
  parts: readonly CountedEntries[],
  heads: number,
  hashes: NumberedHashes,
): Units<Hits> {
  const hits = new Hits();
  for (const [number, part] of parts.entries()) {
    if (!part.isRanked) continue;
    const end = Math.min(heads, part.countAbove(0));
    const own = yield* part.hashUnits(end);
    for (let entry = 0; entry < end; entry++) {
      hits.add(number, entry, hashes.add(own[entry] >>> KIND_BITS));
    }
    yield;
  }
  return hits;
}

/**
 * 1 at the hashes whose values may have `leasts[parent]` events in a parent; `undefined` when it is not known of one of
 * these how many events it has.
 */
function wantedOfHeads(
  { count }: NumberedHashes,
  hits: Hits,
  byParent: readonly Uint32Array[],
  leasts: readonly number[],
  tails: readonly Tails[],
): Uint8Array | undefined {
  const wanted = new Uint8Array(count);
  for (const [parent, counts] of byParent.entries()) {
    const { byPart, total } = tails[parent];
    const most = new Float64Array(count).fill(total);
    const known = new Float64Array(count);
    for (let hit = 0; hit < hits.count; hit++) {
      const tail = byPart[hits.parts[hit]];
      most[hits.hashes[hit]] += Math.max(counts[hit] - tail, 0);
      known[hits.hashes[hit]] += tail;
    }
    for (let hash = 0; hash < count; hash++) {
      if (most[hash] < leasts[parent]) continue;
      if (known[hash] !== total) return undefined;
      wanted[hash] = 1;
    }
  }
  return wanted;
}

/** True when the hits of each hash that have numbers have the same. */
function isOneEach(hashes: NumberedHashes, hits: Hits, numbers: Int32Array): boolean {
  const known = new Int32Array(hashes.count).fill(-1);
  for (let hit = 0; hit < hits.count; hit++) {
    const hash = hits.hashes[hit];
    if (numbers[hit] < 0) continue;
    if (known[hash] >= 0 && known[hash] !== numbers[hit]) return false;
    known[hash] = numbers[hit];
  }
  return true;
}

/** The same for all values, by all entries of the dictionaries; `undefined` when too many may be among the first. */
function* firstOfAll(
  parts: readonly CountedEntries[],
  parentCount: number,
  limit: number,
  table: ValueTable,
): Units<Float64Array[] | undefined> {
  const leasts = new Float64Array(parentCount);
  let hashes: NumberedHashes | undefined;
  for (const heads of HEADS) {
    for (let parent = 0; parent < parentCount; parent++) {
      leasts[parent] = yield* leastOfHeads(parts, parent, heads, limit);
    }
    hashes = yield* candidatesOf(parts, leasts);
    if (hashes !== undefined) break;
  }
  for (let isFirst = true; hashes !== undefined; isFirst = false) {
    const hits = yield* hitsOf(parts, parentCount, hashes);
    if (hits === undefined) return undefined;
    const byParent = countsOf(parts, parentCount, hits);
    const wanted = wantedOf(hashes, hits, byParent, leasts, isFirst ? limit : Infinity);
    const numbers = yield* numbersOf(parts, hits, wanted, table);
    if (numbers === undefined) return undefined;
    const exact = byParent.map((counts) => exactCounts(table, counts, numbers));
    let isEnough = true;
    for (let parent = 0; parent < parentCount; parent++) {
      const least = Math.max(greatest(exact[parent], limit), 1);
      if (least >= leasts[parent]) continue;
      // Several values have one hash, and more events together than the last one has.
      leasts[parent] = least;
      isEnough = false;
    }
    if (isEnough) return exact;
    hashes = yield* candidatesOf(parts, leasts);
  }
  return undefined;
}

/** How many events the last wanted value of a parent has at least, unless hashes collide; 1 when little is known. */
function* leastOfHeads(
  parts: readonly CountedEntries[],
  parent: number,
  heads: number,
  limit: number,
): Units<number> {
  const hashes = new NumberedHashes();
  const sums = new Float64Array(heads * parts.length);
  for (const part of parts) {
    const own = yield* part.hashUnits(heads);
    for (const { first, counts } of part.stretches(parent, heads)) {
      for (let at = 0; at < counts.length; at++) {
        if (counts[at] === 0) continue;
        sums[hashes.add(own[first + at] >>> KIND_BITS)] += counts[at];
      }
    }
    yield;
  }
  return Math.max(greatest(sums.subarray(0, hashes.count), limit), 1);
}

/**
 * The hashes of all entries that may be of a value with `leasts[parent]` events in a parent; `undefined` when there are
 * too many.
 */
function* candidatesOf(
  parts: readonly CountedEntries[],
  leasts: Float64Array,
): Units<NumberedHashes | undefined> {
  const hashes = new NumberedHashes();
  const shares = leasts.map((least) => Math.floor((least - 1) / parts.length));
  for (const part of parts) {
    if (!(yield* addCandidates(hashes, part, shares))) return undefined;
  }
  return hashes;
}

/** Adds the hashes of the entries that have more events than `shares[parent]` in a parent; false when too many do. */
function* addCandidates(
  hashes: NumberedHashes,
  part: CountedEntries,
  shares: Float64Array,
): Units<boolean> {
  for (const [parent, share] of shares.entries()) {
    const end = part.countAbove(share);
    const own = yield* part.hashUnits(end);
    for (const { first, counts } of part.stretches(parent, end)) {
      yield* inParts(counts.length, UNIT_ENTRIES, (from, to) => {
        if (hashes.count > CANDIDATES_MAX) return;
        eachAbove(counts, share, from, to, (at) => hashes.add(own[first + at] >>> KIND_BITS));
      });
      if (hashes.count > CANDIDATES_MAX) return false;
    }
  }
  return true;
}

/** Shows the places from `from` up to `to` of counts above `share`, ascending: mostly there are very few. */
function eachAbove(
  counts: ArrayLike<number>,
  share: number,
  from: number,
  to: number,
  visit: (at: number) => void,
): void {
  if (counts instanceof Uint32Array) {
    const values = plainValues(counts.subarray(from, to));
    eachRow(findValues(values, share + 1, COUNT_MAX), (place) => visit(from + place));
    return;
  }
  for (let at = from; at < to; at++) if (counts[at] > share) visit(at);
}

/** The entries that have one of the hashes; `undefined` when there are too many. */
function* hitsOf(
  parts: readonly CountedEntries[],
  parentCount: number,
  wanted: NumberedHashes,
): Units<Hits | undefined> {
  const hits = new Hits();
  for (const [number, part] of parts.entries()) {
    yield* addAllHits(hits, wanted, number, part);
    if (hits.count * parentCount > COUNTS_MAX) return undefined;
  }
  return hits;
}

/** Adds the entries of a part that have one of the hashes. */
function* addAllHits(
  hits: Hits,
  wanted: NumberedHashes,
  number: number,
  part: CountedEntries,
): Units<void> {
  const filter = wanted.filter();
  const end = part.countAbove(0);
  const own = yield* part.hashUnits(end);
  yield* inParts(end, UNIT_ENTRIES, (from, to) => {
    addHits(hits, wanted, filter, number, own, from, to);
  });
}

/** Adds the entries from one up to another of a part whose hashes are wanted. */
function addHits(
  hits: Hits,
  wanted: NumberedHashes,
  filter: Uint32Array,
  part: number,
  hashes: Int32Array,
  from: number,
  to: number,
): void {
  const mask = filter.length - 1;
  for (let entry = from; entry < to; entry++) {
    const hash = hashes[entry] >>> KIND_BITS;
    if (((filter[(hash >>> 5) & mask] >>> (hash & 31)) & 1) === 0) continue;
    const found = wanted.find(hash);
    if (found >= 0) hits.add(part, entry, found);
  }
}

/** By parent, the events of each hit. */
function countsOf(
  parts: readonly CountedEntries[],
  parentCount: number,
  { count, parts: hitParts, entries }: Hits,
): Uint32Array[] {
  return Array.from({ length: parentCount }, (_, parent) => {
    const counts = new Uint32Array(count);
    for (let hit = 0; hit < count; hit++) {
      counts[hit] = parts[hitParts[hit]].countOf(parent, entries[hit]);
    }
    return counts;
  });
}

/**
 * 1 at the hashes whose values together have as many events in a parent as the `limit`-th hash, and `leasts[parent]` at
 * least; these become as many as that has.
 */
function wantedOf(
  hashes: NumberedHashes,
  hits: Hits,
  byParent: readonly Uint32Array[],
  leasts: Float64Array,
  limit: number,
): Uint8Array {
  const wanted = new Uint8Array(hashes.count);
  for (const [parent, counts] of byParent.entries()) {
    const sums = sumsOf(hashes, hits, counts);
    if (limit <= sums.length) leasts[parent] = Math.max(leasts[parent], greatest(sums, limit));
    for (let hash = 0; hash < sums.length; hash++) {
      if (sums[hash] >= leasts[parent]) wanted[hash] = 1;
    }
  }
  return wanted;
}

/**
 * The numbers that the values of wanted hashes have in `table`, which takes them, by hit; -1 of others. `undefined`
 * when a part cannot tell values apart.
 */
function* numbersOf(
  parts: readonly CountedEntries[],
  hits: Hits,
  wanted: Uint8Array,
  table: ValueTable,
): Units<Int32Array | undefined> {
  const numbers = new Int32Array(hits.count).fill(-1);
  for (let from = 0, to = 0; from < hits.count; from = to) {
    const part = hits.parts[from];
    const chosen: number[] = [];
    for (; to < hits.count && hits.parts[to] === part; to++) {
      if (wanted[hits.hashes[to]] !== 0) chosen.push(to);
    }
    const entries = Uint32Array.from(chosen, (hit) => hits.entries[hit]);
    const found = yield* parts[part].numbersIn(table, entries);
    if (found === undefined) return undefined;
    for (let at = 0; at < chosen.length; at++) numbers[chosen[at]] = found[at];
  }
  return numbers;
}

/** The events of the values of a table, of which the hits have `numbers`. */
function exactCounts(table: ValueTable, counts: Uint32Array, numbers: Int32Array): Float64Array {
  const exact = new Float64Array(table.count);
  for (let hit = 0; hit < numbers.length; hit++) {
    if (numbers[hit] >= 0) exact[numbers[hit]] += counts[hit];
  }
  return exact;
}

/** The events of each hash together. */
function sumsOf({ count }: NumberedHashes, hits: Hits, counts: Uint32Array): Float64Array {
  const sums = new Float64Array(count);
  for (let hit = 0; hit < hits.count; hit++) sums[hits.hashes[hit]] += counts[hit];
  return sums;
}

/** The `limit`-th greatest of some numbers; 0 when not so many are above. */
function greatest(numbers: Float64Array, limit: number): number {
  const first = new GreatestKeys(limit);
  for (let at = 0; at < numbers.length; at++) first.offer(numbers[at]);
  return Math.max(first.least, 0);
}
