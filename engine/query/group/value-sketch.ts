import { assert } from '../../base/assert.ts';
import { inParts, type Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block/block.ts';
import type { Bitmap } from '../model/bitmap.ts';
import { FieldValues } from '../value/field-values.ts';
import { HASH_BITS, ValueNumbers } from '../value/value-numbers.ts';
import { HashHeads, type ValuePart } from '../value/value-part.ts';
import type { BlockVisitor } from './block-scan.ts';
import { Nesting, type PassStage } from './nesting.ts';
import type { GroupShare } from './pass.ts';
import type { VisitorData, VisitorSpec } from './shared-scan.ts';

/** Counts of all parents together: 16 MiB of them. */
const COUNT_BITS = 22;
/** Counts of a parent at least, or too many values share one. */
const COUNT_BITS_MIN = 16;
/** Counts above which candidates are looked for before any is accepted. */
const CANDIDATES_MIN = 64;
/** Groups of counts that differ by an eighth at most, so that a bound is found without sorting. */
const GROUP_BITS = 3;
const GROUPS = 32 << GROUP_BITS;

/** First bits of hashes by which values are in shares. */
const SHARE_BITS = 16;
const SHARE_SHIFT = HASH_BITS - SHARE_BITS;

/** Counts that are gone through in a unit, one after the other. */
const UNIT_COUNTS = 1 << 16;

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
 * A pass over the blocks that finds how many events the values of an attribute have at most, in each bucket of the
 * stages before: values are counted by a part of their hashes, several together. What it takes does not depend on how
 * many values there are. Owned by one thread.
 */
export class ValueSketch implements BlockVisitor {
  readonly needsRows = true;
  readonly isFull = false;
  readonly parentCount: number;
  /** Bits of a hash by which values are counted. */
  readonly bits: number;
  /** Counts in bucket p begin at `p << bits`. */
  readonly counts: Uint32Array;
  readonly #nesting: Nesting;
  readonly #path: string;
  readonly #values: FieldValues<HashNumbers>;

  /** The `stages` do not grow and have at most SKETCH_PARENTS_MAX buckets; `seed` is that of the tables of values. */
  constructor(stages: readonly PassStage[], path: string, seed: number) {
    this.#nesting = new Nesting(stages);
    this.#path = path;
    this.parentCount = this.#nesting.bucketCount;
    this.bits = COUNT_BITS - Math.ceil(Math.log2(this.parentCount));
    this.counts = new Uint32Array(this.parentCount << this.bits);
    this.#values = new FieldValues(path, new HashNumbers(seed, this.bits));
  }

  get memoryBytes(): number {
    return this.counts.byteLength;
  }

  spec(): VisitorSpec | undefined {
    const stages = this.#nesting.specs;
    const { seed } = this.#values.numbers;
    return stages && { type: 'sketch', stages, path: this.#path, seed };
  }

  found(): VisitorData {
    return { type: 'sketch', counts: this.counts };
  }

  *merge(data: VisitorData): Units<void> {
    assert(data.type === 'sketch', 'a sketch');
    const { counts } = this;
    yield* inParts(counts.length, UNIT_COUNTS, (from, to) => {
      for (let at = from; at < to; at++) counts[at] += data.counts[at];
    });
  }

  addCount(): void {}

  *add(block: Block, rows: Bitmap): Units<void> {
    yield* this.#nesting.prepare(block, rows);
    yield* this.#values.prepare(block, this.#nesting.rows);
    const pairs = this.#nesting.pairs();
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
}

/** The values that may be among the first of a parent by their counts: those with `leasts[parent]` events or more. */
export class Candidates extends HashHeads {
  readonly #sketch: ValueSketch;
  readonly #leasts: Uint32Array;

  private constructor(sketch: ValueSketch) {
    const { bits } = sketch;
    super({ bits, wanted: new Uint8Array(1 << bits) });
    this.#sketch = sketch;
    this.#leasts = new Uint32Array(sketch.parentCount);
  }

  /** Finds the candidates of a finished sketch, in units; `limit`: how many values are wanted of each parent. */
  static *find(sketch: ValueSketch, limit: number): Units<Candidates> {
    const candidates = new Candidates(sketch);
    yield* candidates.#find(limit);
    return candidates;
  }

  *#find(limit: number): Units<void> {
    const { parentCount, bits, counts } = this.#sketch;
    const candidateCount = Math.max(limit * 2, CANDIDATES_MIN);
    for (let parent = 0; parent < parentCount; parent++) {
      const own = counts.subarray(parent << bits, (parent + 1) << bits);
      this.#leasts[parent] = yield* boundOf(own, candidateCount);
    }
    yield* this.#mark();
  }

  /**
   * True when no other value of a parent can be among its first, if the last of these has `count` events, 0 for want of
   * some. If there may be others, they are candidates from now on. Found in units.
   */
  *suffice(counts: ReadonlyMap<number, number>): Units<boolean> {
    let enough = true;
    for (let parent = 0; parent < this.#sketch.parentCount; parent++) {
      const least = Math.max(counts.get(parent) ?? 0, 1);
      if (least >= this.#leasts[parent]) continue;
      this.#leasts[parent] = least;
      enough = false;
    }
    if (!enough) yield* this.#mark();
    return enough;
  }

  *#mark(): Units<void> {
    const { counts } = this.#sketch;
    const { wanted } = this.spec;
    const leasts = this.#leasts;
    const mask = wanted.length - 1;
    const { bits } = this.#sketch;
    yield* inParts(counts.length, UNIT_COUNTS, (from, to) => {
      for (let at = from; at < to; at++) {
        if (counts[at] >= leasts[at >>> bits]) wanted[at & mask] = 1;
      }
    });
  }
}

/** The values of a share, among the candidates if there are some. */
export function partOf(
  { index, count }: GroupShare,
  candidates?: Candidates,
): ValuePart | undefined {
  if (count === 1) return candidates;
  // By the first bits of hashes: tables look values up by the others.
  const isOfShare = (hash: number) => ((hash >>> SHARE_SHIFT) * count) >>> SHARE_BITS === index;
  return { has: (hash) => isOfShare(hash) && (candidates?.has(hash) ?? true) };
}

/** The greatest bound of a group of counts that at least `wanted` of them reach; 1 when not so many are above 0. */
function* boundOf(counts: Uint32Array, wanted: number): Units<number> {
  const sizes = new Uint32Array(GROUPS);
  yield* inParts(counts.length, UNIT_COUNTS, (from, to) => {
    for (let at = from; at < to; at++) sizes[groupOf(counts[at])]++;
  });
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
