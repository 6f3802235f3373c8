import type { Block } from '../segment/block.ts';
import type { Bitmap } from './bitmap.ts';
import type { BlockVisitor } from './block-scan.ts';
import { EntryCounts } from './entry-counts.ts';
import { FieldValues } from './field-values.ts';
import { type GroupShare, Nesting, type PassStage } from './pass.ts';
import { HASH_BITS, ValueNumbers } from './value-numbers.ts';
import type { ValuePart } from './value-table.ts';

/** Counts of all parents together: 16 MiB of them. */
const COUNT_BITS = 22;
/** Counts of a parent at least, or too many values share one. */
const COUNT_BITS_MIN = 16;
/** Counts above which candidates are looked for before any is accepted. */
const CANDIDATES_MIN = 64;
/** Groups of counts that differ by an eighth at most, so that a bound is found without sorting. */
const GROUP_BITS = 3;
const GROUPS = 32 << GROUP_BITS;

/** Buckets in which sketches can tell values apart. */
export const SKETCH_PARENTS_MAX = 1 << (COUNT_BITS - COUNT_BITS_MIN);

/** Numbers values by the first bits of their hashes: several may have one number. */
class HashNumbers extends ValueNumbers {
  readonly usesHashes = true;
  readonly #shift: number;

  constructor(seed: number, bits: number) {
    super(seed);
    this.#shift = HASH_BITS - bits;
  }

  ofHash(hash: number): number {
    return hash >>> this.#shift;
  }

  protected number(
    _kind: number,
    _number: number,
    _bytes: Uint8Array,
    _start: number,
    _end: number,
    hash: number,
  ): number {
    return hash >>> this.#shift;
  }
}

/**
 * A pass over the blocks that finds how many events the values of an attribute have at most, in each bucket of the stages
 * before: values are counted by a part of their hashes, several together. What it takes does not depend on how many values
 * there are. Owned by one thread.
 */
export class ValueSketch implements BlockVisitor {
  readonly needsRows = true;
  readonly isFull = false;
  readonly parentCount: number;
  /** Bits of a hash by which values are counted. */
  readonly bits: number;
  /** Counts in bucket p begin at `p << bits`. */
  readonly counts: Uint32Array;
  /** What was counted by entries of dictionaries instead, until `finish`. */
  readonly entries: EntryCounts;
  readonly #nesting: Nesting;
  readonly #values: FieldValues<HashNumbers>;

  /** The `stages` do not grow and have at most SKETCH_PARENTS_MAX buckets; `seed` is that of the tables of values. */
  constructor(stages: readonly PassStage[], path: string, seed: number) {
    this.#nesting = new Nesting(stages);
    this.parentCount = this.#nesting.bucketCount;
    this.bits = COUNT_BITS - Math.ceil(Math.log2(this.parentCount));
    this.counts = new Uint32Array(this.parentCount << this.bits);
    this.#values = new FieldValues(path, new HashNumbers(seed, this.bits));
    this.entries = new EntryCounts(path);
  }

  addCount(): void {}

  add(block: Block, rows: Bitmap): void {
    if (this.parentCount === 1 && this.entries.add(block, rows, this.#values.numbers)) return;
    this.#nesting.prepare(block, rows);
    this.#values.prepare(block, rows);
    const pairs = this.#nesting.pairs(block, rows);
    const { starts, values } = this.#values.values();
    const { bits, counts } = this;
    const { rows: pairRows, groups, count } = pairs;
    for (let at = 0; at < count; at++) {
      const row = pairRows[at];
      const base = groups[at] << bits;
      if (starts === undefined) {
        if (values[row] !== 0) counts[base + values[row] - 1]++;
      } else {
        for (let index = starts[row]; index < starts[row + 1]; index++)
          counts[base + values[index]]++;
      }
    }
  }

  /** Takes what was counted by entries; to be called once, after the last block. */
  finish(): void {
    const { counts, bits } = this;
    for (const [shared, entryCounts] of this.entries.parts) {
      const hashes = shared.hashes(this.#values.numbers);
      for (let entry = 0; entry < hashes.length; entry++) {
        counts[hashes[entry] >>> (HASH_BITS - bits)] += entryCounts[entry + 1];
      }
    }
  }
}

/** The values that may be among the first of a parent by their counts: those with `leasts[parent]` events or more. */
export class Candidates implements ValuePart {
  readonly #sketch: ValueSketch;
  readonly #leasts: Uint32Array;
  readonly #wanted: Uint8Array;

  /** `limit`: how many are wanted of each parent. */
  constructor(sketch: ValueSketch, limit: number) {
    const { parentCount, bits, counts } = sketch;
    this.#sketch = sketch;
    this.#leasts = new Uint32Array(parentCount);
    this.#wanted = new Uint8Array(1 << bits);
    const candidateCount = Math.max(limit * 2, CANDIDATES_MIN);
    for (let parent = 0; parent < parentCount; parent++) {
      const own = counts.subarray(parent << bits, (parent + 1) << bits);
      this.#leasts[parent] = boundOf(own, candidateCount);
    }
    this.#mark();
  }

  has(hash: number): boolean {
    return this.#wanted[hash >>> (HASH_BITS - this.#sketch.bits)] === 1;
  }

  /**
   * Whether no other value of a parent can be among its first, when the last of these has `count` events; 0 when there are
   * not enough of them. If there may be others, they are candidates from now on.
   */
  suffice(counts: ReadonlyMap<number, number>): boolean {
    let enough = true;
    for (let parent = 0; parent < this.#sketch.parentCount; parent++) {
      const least = Math.max(counts.get(parent) ?? 0, 1);
      if (least >= this.#leasts[parent]) continue;
      this.#leasts[parent] = least;
      enough = false;
    }
    if (!enough) this.#mark();
    return enough;
  }

  #mark(): void {
    const { parentCount, bits, counts } = this.#sketch;
    for (let parent = 0; parent < parentCount; parent++) {
      const least = this.#leasts[parent];
      const base = parent << bits;
      const wanted = this.#wanted;
      for (let at = 0; at < wanted.length; at++) if (counts[base + at] >= least) wanted[at] = 1;
    }
  }
}

/** The values of a share, among the candidates if there are some. */
export function partOf(
  { index, count }: GroupShare,
  candidates?: Candidates,
): ValuePart | undefined {
  if (count === 1) return candidates;
  const has = (hash: number) => (hash >>> 24) % count === index && (candidates?.has(hash) ?? true);
  return { has };
}

/** The greatest bound of a group of counts that at least `wanted` of them reach; 1 when not so many are above 0. */
function boundOf(counts: Uint32Array, wanted: number): number {
  const sizes = new Uint32Array(GROUPS);
  for (let at = 0; at < counts.length; at++) sizes[groupOf(counts[at])]++;
  let reached = 0;
  for (let group = GROUPS - 1; group > 0; group--) {
    reached += sizes[group];
    if (reached >= wanted) return leastOf(group);
  }
  return 1;
}

/** The group of a count: itself while it is small, then its first GROUP_BITS + 1 bits. */
function groupOf(count: number): number {
  const shift = 31 - Math.clz32(count) - GROUP_BITS;
  return shift <= 0 ? count : ((shift + 1) << GROUP_BITS) + ((count >>> shift) & 7);
}

/** The least count of a group. */
function leastOf(group: number): number {
  const shift = (group >>> GROUP_BITS) - 1;
  return shift <= 0 ? group : (8 + (group & 7)) * 2 ** shift;
}
