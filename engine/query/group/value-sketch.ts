import { assert } from '../../base/assert.ts';
import { finished, inParts, type Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block/block.ts';
import { EntryBounds } from '../metric/entry-bounds.ts';
import { EventBounds, leastBound, type RankBound } from '../metric/rank-bound.ts';
import type { Bitmap } from '../model/bitmap.ts';
import type { MetricValue } from '../model/query.ts';
import { FieldValues } from '../value/field-values.ts';
import type { Pairs } from '../value/pairs.ts';
import { HASH_BITS, ValueNumbers } from '../value/value-numbers.ts';
import { HashHeads, type ValuePart } from '../value/value-part.ts';
import type { BlockVisitor } from './block-scan.ts';
import { Nesting, type PassStage } from './nesting.ts';
import type { GroupShare } from './pass.ts';
import type { VisitorData, VisitorSpec } from './shared-scan.ts';

/** Bounds of all parents together, as a power of two: 16 MiB of them. */
const BOUND_BITS = 22;
/** Bounds of a parent at least, or too many values share one, and at most: as many stay in the caches of a core. */
const BOUND_BITS_MIN = 16;
const BOUND_BITS_MAX = 20;
/**
 * Values whose bounds are the greatest, which are looked for before any is accepted: more by numbers, since values of
 * many events have great ones among them. When they do not suffice, so many times as many are.
 */
const CANDIDATES_MIN = 64;
const CANDIDATES_GROWTH = 8;
/** One of so many values at most may be candidates: it is quicker to look for all of them then. */
const CANDIDATES_PART = 4;
/** Bits by which bounds are told apart in a pass. */
const DIGIT_BITS = 16;

/** First bits of hashes by which values are in shares. */
const SHARE_BITS = 16;
const SHARE_SHIFT = HASH_BITS - SHARE_BITS;

/** Bounds that are gone through in a unit, one after the other. */
const UNIT_BOUNDS = 1 << 16;

/** Buckets in which sketches can tell values apart. */
export const SKETCH_PARENTS_MAX = 1 << (BOUND_BITS - BOUND_BITS_MIN);

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
 * A pass over the blocks that finds what bounds the values of an attribute in their order, in each bucket of the stages
 * before: how many events they have at most, or which number comes first. Values are told apart by a part of their
 * hashes, several together. What it takes does not depend on how many values there are. Owned by one thread.
 */
export class ValueSketch implements BlockVisitor {
  readonly needsRows = true;
  /** True when it has met events of which it does not know how they count: then it is not right. */
  isFull = false;
  readonly parentCount: number;
  /** Bits of a hash by which values are told apart. */
  readonly bits: number;
  /** Bounds in bucket p begin at `p << bits`; 0 where there are no events. */
  readonly bounds: Uint32Array;
  readonly bound: RankBound;
  readonly #nesting: Nesting;
  readonly #path: string;
  readonly #values: FieldValues<HashNumbers>;
  readonly #events: EventBounds;
  readonly #entries: EntryBounds;

  /** The `stages` do not grow and have at most SKETCH_PARENTS_MAX buckets; `seed` is that of the tables of values. */
  constructor(stages: readonly PassStage[], path: string, seed: number, bound: RankBound) {
    this.#nesting = new Nesting(stages);
    this.#path = path;
    this.bound = bound;
    this.parentCount = this.#nesting.bucketCount;
    this.bits = Math.min(BOUND_BITS - Math.ceil(Math.log2(this.parentCount)), BOUND_BITS_MAX);
    this.bounds = new Uint32Array(this.parentCount << this.bits);
    const hash = new HashNumbers(seed, this.bits);
    this.#values = new FieldValues(path, hash);
    this.#events = new EventBounds(bound);
    const { bits, bounds } = this;
    this.#entries = new EntryBounds({ bound, hash, bits, shift: HASH_BITS - bits, bounds });
  }

  get memoryBytes(): number {
    return this.bounds.byteLength + this.#entries.memoryBytes;
  }

  spec(): VisitorSpec | undefined {
    const stages = this.#nesting.specs;
    const { seed } = this.#values.numbers;
    return stages && { type: 'sketch', stages, path: this.#path, seed, bound: this.bound };
  }

  found(): VisitorData | undefined {
    if (this.isFull) return undefined;
    finished(this.settle());
    return { type: 'sketch', bounds: this.bounds };
  }

  /** Makes `bounds` right, in units; to be called after the last block. */
  settle(): Units<void> {
    return this.#entries.settle();
  }

  *merge(data: VisitorData): Units<void> {
    assert(data.type === 'sketch', 'a sketch');
    const { bounds } = this;
    const added = data.bounds;
    const isSum = this.bound.type === 'events';
    yield* inParts(bounds.length, UNIT_BOUNDS, (from, to) => {
      if (isSum) for (let at = from; at < to; at++) bounds[at] += added[at];
      else for (let at = from; at < to; at++) bounds[at] = Math.max(bounds[at], added[at]);
    });
  }

  addCount(): void {}

  *add(block: Block, rows: Bitmap): Units<void> {
    yield* this.#nesting.prepare(block, rows);
    const codes = this.#events.of(block);
    if (codes === undefined) {
      this.isFull = true;
      return;
    }
    const pairsOf = (): Pairs => this.#nesting.pairs();
    if (yield* this.#entries.add(block, this.#path, pairsOf, codes)) return;
    yield* this.#values.prepare(block, this.#nesting.rows);
    const pairs = pairsOf();
    if (codes === 'ones') this.#count(pairs);
    else this.#widen(pairs, codes);
  }

  #count({ rows, groups, count }: Pairs): void {
    const { starts, values } = this.#values.values();
    const { bits, bounds } = this;
    for (let at = 0; at < count; at++) {
      const row = rows[at];
      const base = groups[at] << bits;
      if (starts === undefined) {
        if (values[row] !== 0) bounds[base + values[row] - 1]++;
      } else {
        for (let index = starts[row]; index < starts[row + 1]; index++)
          bounds[base + values[index]]++;
      }
    }
  }

  #widen({ rows, groups, count }: Pairs, codes: Uint32Array): void {
    const { starts, values } = this.#values.values();
    const { bits, bounds } = this;
    for (let at = 0; at < count; at++) {
      const row = rows[at];
      const base = groups[at] << bits;
      const code = codes[row];
      if (starts === undefined) {
        const place = base + values[row] - 1;
        if (values[row] !== 0 && bounds[place] < code) bounds[place] = code;
      } else {
        for (let index = starts[row]; index < starts[row + 1]; index++) {
          const place = base + values[index];
          if (bounds[place] < code) bounds[place] = code;
        }
      }
    }
  }
}

/** The values that may be among the first of a parent by their bounds: those that have `leasts[parent]` or more. */
export class Candidates extends HashHeads {
  /** True when so many values are among them that it is quicker to look for all. */
  areMany = false;
  /** Values of a parent that are to be candidates. */
  #count = 0;
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
    candidates.#count = Math.max(limit * 2, CANDIDATES_MIN);
    for (let parent = 0; parent < sketch.parentCount; parent++) yield* candidates.#find(parent, 1);
    yield* candidates.#mark();
    return candidates;
  }

  /**
   * True when no other value of a parent can be among its first, if the last of these has a rank of `lasts`, none for
   * want of some. If there may be others, those whose bounds are the greatest are candidates from now on. Found in
   * units.
   */
  *suffice(lasts: ReadonlyMap<number, MetricValue | undefined>): Units<boolean> {
    let enough = true;
    this.#count *= CANDIDATES_GROWTH;
    for (let parent = 0; parent < this.#sketch.parentCount; parent++) {
      const least = leastBound(this.#sketch.bound, lasts.get(parent));
      if (least >= this.#leasts[parent]) continue;
      yield* this.#find(parent, least);
      enough = false;
    }
    if (!enough) yield* this.#mark();
    return enough;
  }

  /** Looks for as many values of a parent as are to be candidates, with bounds of `least` at least. */
  *#find(parent: number, least: number): Units<void> {
    const { bits, bounds } = this.#sketch;
    const own = bounds.subarray(parent << bits, (parent + 1) << bits);
    this.#leasts[parent] = Math.max(yield* greatestOf(own, this.#count), least);
  }

  *#mark(): Units<void> {
    const { bounds, bits } = this.#sketch;
    const { wanted } = this.spec;
    const leasts = this.#leasts;
    const mask = wanted.length - 1;
    let known = 0;
    let marked = 0;
    yield* inParts(bounds.length, UNIT_BOUNDS, (from, to) => {
      for (let at = from; at < to; at++) {
        if (bounds[at] === 0) continue;
        known++;
        if (bounds[at] < leasts[at >>> bits]) continue;
        marked++;
        wanted[at & mask] = 1;
      }
    });
    this.areMany = marked * CANDIDATES_PART > known;
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

/** The `rank`-th greatest bound, from 1 on; 1 when not so many are above 0. */
function* greatestOf(bounds: Uint32Array, rank: number): Units<number> {
  let first = 0;
  let left = rank;
  for (let shift = DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
    const sizes = new Uint32Array(1 << DIGIT_BITS);
    yield* inParts(bounds.length, UNIT_BOUNDS, (from, to) => {
      for (let at = from; at < to; at++) {
        const digit = (bounds[at] - first) >>> shift;
        if (bounds[at] >= first && digit < sizes.length) sizes[digit]++;
      }
    });
    let digit = sizes.length - 1;
    while (digit > 0 && sizes[digit] < left) left -= sizes[digit--];
    first += digit * 2 ** shift;
  }
  return Math.max(first, 1);
}
