import { inParts, Pace, type Units } from '../../base/pause.ts';
import { grow } from '../../packed/growth.ts';
import { firstAt, isDamage } from '../model/source.ts';
import { KIND_BITS } from '../value/value-numbers.ts';
import type { ValueTable } from '../value/value-table.ts';
import type { FirstBuckets } from './bucket-order.ts';
import type { CountedEntries, EntryCounts } from './entry-counts.ts';

/**
 * Entries of each dictionary, those with the most values, by which it is told how many events the last wanted value has
 * at least; the next number when that leaves too many candidates.
 */
const HEADS = [256, 4_096];
/**
 * Hashes that are looked for together, and counts by parent of entries that have one of them; beyond it values are
 * found in another way.
 */
const CANDIDATES_MAX = 1 << 17;
const COUNTS_MAX = 1 << 22;
/** Entries that are gone through in a unit. */
const UNIT_ENTRIES = 1 << 16;
/** Places of a filter: as many times those of the hashes, but for very many. */
const WORD_BITS = 32;
const FILTER_RATIO = 32;
const FILTER_MIN = 1 << 12;
const FILTER_MAX = 1 << 20;

/** Numbers hashes from 0 on. */
class Hashes {
  count = 0;
  #keys = new Int32Array(1 << 12);
  /** Number + 1; 0 is free. */
  #slots = new Int32Array(1 << 12);

  /** The number of a hash; -1 when it has none. */
  find(hash: number): number {
    return this.#slots[this.#slot(hash)] - 1;
  }

  /** The number of a hash, a new one when it has none. */
  add(hash: number): number {
    const slot = this.#slot(hash);
    if (this.#slots[slot] !== 0) return this.#slots[slot] - 1;
    this.#keys[slot] = hash;
    this.#slots[slot] = ++this.count;
    if (this.count * 2 > this.#slots.length) this.#spread();
    return this.count - 1;
  }

  /** A power of two of bits, those of a word together: set where a hash may be whose last bits say the place. */
  filter(): Uint32Array {
    let length = FILTER_MIN;
    while (length < this.count * FILTER_RATIO && length < FILTER_MAX) length *= 2;
    const filter = new Uint32Array(length / WORD_BITS);
    for (let slot = 0; slot < this.#slots.length; slot++) {
      const place = this.#keys[slot] & (length - 1);
      if (this.#slots[slot] !== 0) filter[place >>> 5] |= 1 << (place & 31);
    }
    return filter;
  }

  #slot(hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== 0 && this.#keys[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  #spread(): void {
    const [keys, slots] = [this.#keys, this.#slots];
    this.#keys = new Int32Array(keys.length * 2);
    this.#slots = new Int32Array(keys.length * 2);
    for (let from = 0; from < keys.length; from++) {
      if (slots[from] === 0) continue;
      const slot = this.#slot(keys[from]);
      this.#keys[slot] = keys[from];
      this.#slots[slot] = slots[from];
    }
  }
}

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
 * A value that has as many events as the last of the first has more than a share of these in one of the dictionaries at
 * least: such entries are looked for in all of them, by hashes, and then by the texts of those that may be enough
 * together. Source: Cao and Wang, Efficient top-k query calculation in distributed networks (TPUT).
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
  const leasts = new Float64Array(parentCount);
  let hashes: Hashes | undefined;
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
    const counts = yield* exactCounts(parts, hits, byParent, wanted, table);
    if (counts === undefined) return undefined;
    let isEnough = true;
    for (let parent = 0; parent < parentCount; parent++) {
      const least = Math.max(greatest(counts[parent], limit), 1);
      if (least >= leasts[parent]) continue;
      // Several values have one hash, and more events together than the last one has.
      leasts[parent] = least;
      isEnough = false;
    }
    if (isEnough) return counts;
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
  const hashes = new Hashes();
  const sums = new Float64Array(heads * parts.length);
  for (const part of parts) {
    for (const { first, counts } of part.stretches(parent, heads)) {
      for (let at = 0; at < counts.length; at++) {
        if (counts[at] === 0) continue;
        sums[hashes.add(part.hashes[first + at] >>> KIND_BITS)] += counts[at];
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
): Units<Hashes | undefined> {
  const hashes = new Hashes();
  for (const [parent, least] of leasts.entries()) {
    const share = Math.floor((least - 1) / parts.length);
    for (const part of parts) {
      for (const { first, counts } of part.stretches(parent, part.countAbove(share))) {
        yield* inParts(counts.length, UNIT_ENTRIES, (from, to) => {
          if (hashes.count > CANDIDATES_MAX) return;
          for (let at = from; at < to; at++) {
            if (counts[at] > share) hashes.add(part.hashes[first + at] >>> KIND_BITS);
          }
        });
        if (hashes.count > CANDIDATES_MAX) return undefined;
      }
    }
  }
  return hashes;
}

/** The entries that have one of the hashes; `undefined` when there are too many. */
function* hitsOf(
  parts: readonly CountedEntries[],
  parentCount: number,
  wanted: Hashes,
): Units<Hits | undefined> {
  const hits = new Hits();
  const filter = wanted.filter();
  for (const [number, part] of parts.entries()) {
    yield* inParts(part.countAbove(0), UNIT_ENTRIES, (from, to) => {
      addHits(hits, wanted, filter, number, part.hashes, from, to);
    });
    if (hits.count * parentCount > COUNTS_MAX) return undefined;
  }
  return hits;
}

/** Adds the entries from one up to another of a part whose hashes are wanted. */
function addHits(
  hits: Hits,
  wanted: Hashes,
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
  hashes: Hashes,
  hits: Hits,
  byParent: readonly Uint32Array[],
  leasts: Float64Array,
  limit: number,
): Uint8Array {
  const wanted = new Uint8Array(hashes.count);
  const sums = new Float64Array(hashes.count);
  for (const [parent, counts] of byParent.entries()) {
    sums.fill(0);
    for (let hit = 0; hit < hits.count; hit++) sums[hits.hashes[hit]] += counts[hit];
    if (limit <= sums.length) leasts[parent] = Math.max(leasts[parent], greatest(sums, limit));
    for (let hash = 0; hash < sums.length; hash++) {
      if (sums[hash] >= leasts[parent]) wanted[hash] = 1;
    }
  }
  return wanted;
}

/**
 * By parent, the events of the values of wanted hashes, which `table` takes; `undefined` when a part cannot tell values
 * apart.
 */
function* exactCounts(
  parts: readonly CountedEntries[],
  hits: Hits,
  byParent: readonly Uint32Array[],
  wanted: Uint8Array,
  table: ValueTable,
): Units<Float64Array[] | undefined> {
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
  return byParent.map((counts) => {
    const exact = new Float64Array(table.count);
    for (let hit = 0; hit < hits.count; hit++) {
      if (numbers[hit] >= 0) exact[numbers[hit]] += counts[hit];
    }
    return exact;
  });
}

/** The `limit`-th greatest of some numbers; 0 when not so many are above. */
function greatest(numbers: Float64Array, limit: number): number {
  const first = new Float64Array(limit);
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at];
    if (number <= first[0]) continue;
    const end = firstAt(first, number);
    first.copyWithin(0, 1, end);
    first[end - 1] = number;
  }
  return first[0];
}
