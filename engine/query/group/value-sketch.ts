import { assert } from '../../base/assert.ts';
import { inParts, type Units } from '../../base/pause.ts';
import type { StringColumn } from '../../column/column.ts';
import { EntryHash, type KeptEntries, PIECE_ENTRIES, Scratch } from '../../column/entries.ts';
import type { Block } from '../../segment/block/block.ts';
import { type Bounds, EntryBounds } from '../metric/entry-bounds.ts';
import { codeOf } from '../metric/quantile-code.ts';
import { EventBounds, leastBound, type RankBound } from '../metric/rank-bound.ts';
import type { Bitmap } from '../model/bitmap.ts';
import type { MetricValue } from '../model/query.ts';
import { isDamage } from '../model/source.ts';
import { columnsAt } from '../scan/scan.ts';
import { idsOf, stringsOf } from '../value/block-strings.ts';
import { FieldValues } from '../value/field-values.ts';
import { LeastTexts } from '../value/least-texts.ts';
import { Pairs } from '../value/pairs.ts';
import { HASH_BITS, ValueNumbers } from '../value/value-numbers.ts';
import { HashHeads, type ValuePart } from '../value/value-part.ts';
import type { BlockVisitor } from './block-scan.ts';
import type { FirstBuckets } from './bucket-order.ts';
import type { Level } from './level.ts';
import { Nesting, type PassStage } from './nesting.ts';
import type { GroupShare } from './pass.ts';
import type { LeastSpec, VisitorData, VisitorSpec } from './shared-scan.ts';

/** Bounds of all parents together, as a power of two: 8 MiB of them, beyond which threads wait for memory together. */
const BOUND_BITS = 21;
/** Bounds of a parent at least, or too many values share one, and at most: as many stay in the caches of a core. */
const BOUND_BITS_MIN = 15;
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

/** Memory of which entries are there, beyond which the values of fewest events are not looked for by texts. */
const PRESENT_BYTES_MAX = 32 * 1024 * 1024;
/** Pieces of dictionaries that are looked at in a unit. */
const UNIT_PIECES = 8;

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
  /** Bounds in bucket p begin at `p << bits`; 0 where there are no events. They are sums for a bound of this type. */
  readonly bounds: Bounds;
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
    const isSum = bound.type === 'sum';
    // Sums take twice the memory.
    const bits = (isSum ? BOUND_BITS - 1 : BOUND_BITS) - Math.ceil(Math.log2(this.parentCount));
    this.bits = Math.min(bits, BOUND_BITS_MAX);
    const cells = this.parentCount << this.bits;
    this.bounds = isSum ? new Float64Array(cells) : new Uint32Array(cells);
    const hash = new HashNumbers(seed, this.bits);
    this.#values = new FieldValues(path, hash);
    this.#events = new EventBounds(bound);
    const { bounds } = this;
    const shift = HASH_BITS - this.bits;
    this.#entries = new EntryBounds({ bound, hash, bits: this.bits, shift, bounds });
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
    return this.isFull ? undefined : { type: 'sketch', bounds: this.bounds };
  }

  settle(): Units<void> {
    return this.#entries.settle();
  }

  *merge(data: VisitorData): Units<void> {
    assert(data.type === 'sketch', 'a sketch');
    const { bounds } = this;
    const added = data.bounds;
    const isSum = this.bound.type !== 'numbers';
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
    else if (codes instanceof Float64Array) this.#sum(pairs, codes);
    else this.#widen(pairs, codes);
  }

  /** The bounds of finished sums by their codes, in units; those of others as they are. */
  *codes(): Units<Uint32Array> {
    const { bounds } = this;
    if (bounds instanceof Uint32Array) return bounds;
    const codes = new Uint32Array(bounds.length);
    yield* inParts(bounds.length, UNIT_BOUNDS, (from, to) => {
      for (let at = from; at < to; at++) codes[at] = bounds[at] === 0 ? 0 : codeOf(bounds[at]);
    });
    return codes;
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

  #sum({ rows, groups, count }: Pairs, amounts: Float64Array): void {
    const { starts, values } = this.#values.values();
    const { bits, bounds } = this;
    for (let at = 0; at < count; at++) {
      const row = rows[at];
      const base = groups[at] << bits;
      if (starts === undefined) {
        if (values[row] !== 0) bounds[base + values[row] - 1] += amounts[row];
      } else {
        for (let index = starts[row]; index < starts[row + 1]; index++)
          bounds[base + values[index]] += amounts[row];
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
  readonly #bounds: Uint32Array;
  readonly #leasts: Uint32Array;

  private constructor(sketch: ValueSketch, bounds: Uint32Array) {
    const { bits } = sketch;
    super({ bits, wanted: new Uint8Array(1 << bits) });
    this.#sketch = sketch;
    this.#bounds = bounds;
    this.#leasts = new Uint32Array(sketch.parentCount);
  }

  /** Finds the candidates of a finished sketch, in units; `limit`: how many values are wanted of each parent. */
  static *find(sketch: ValueSketch, limit: number): Units<Candidates> {
    const candidates = new Candidates(sketch, yield* sketch.codes());
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
    const { bits } = this.#sketch;
    const own = this.#bounds.subarray(parent << bits, (parent + 1) << bits);
    this.#leasts[parent] = Math.max(yield* greatestOf(own, this.#count), least);
  }

  *#mark(): Units<void> {
    const { bits } = this.#sketch;
    const bounds = this.#bounds;
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

/** The first buckets of a level. */
interface LeastBuckets {
  first: FirstBuckets;
  level: Pick<Level, 'key'>;
}

/**
 * A pass over the blocks that finds the strings that one event may have, the first of these in natural order. Owned by
 * one thread.
 */
export class LeastValues implements BlockVisitor {
  readonly needsRows = true;
  readonly #spec: LeastSpec;
  readonly #texts: LeastTexts;
  /** By dictionary of a segment, and entry + 1, how many selected events have it: 2 for more, which are too many. */
  readonly #present = new Map<KeptEntries, Uint8Array>();
  readonly #pairs = new Pairs();
  /** True when it has met values that are not strings. */
  #isStrange = false;

  constructor(spec: LeastSpec) {
    this.#spec = spec;
    this.#texts = new LeastTexts(spec.countMax);
  }

  get isFull(): boolean {
    return this.#isStrange || this.memoryBytes > PRESENT_BYTES_MAX;
  }

  get memoryBytes(): number {
    return this.#present.values().reduce((sum, { length }) => sum + length, 0);
  }

  /** True when there are no other strings that one event may have. */
  get hasAll(): boolean {
    return this.#texts.hasAll;
  }

  spec(): VisitorSpec {
    return this.#spec;
  }

  found(): VisitorData | undefined {
    return this.isFull ? undefined : { type: 'least', texts: this.#texts.data };
  }

  *merge(data: VisitorData): Units<void> {
    assert(data.type === 'least', 'least values');
    this.#texts.merge(data.texts);
    yield;
  }

  addCount(): void {}

  *add(block: Block, rows: Bitmap): Units<void> {
    const column = stringsOf(block, this.#spec.path);
    if (column === undefined) {
      this.#isStrange ||= columnsAt(block, this.#spec.path).length > 0;
      return;
    }
    const { shared } = column;
    const known = shared && this.#present.get(shared);
    const present = known ?? new Uint8Array(column.entryCount + 1);
    this.#pairs.reset(rows);
    const ids = idsOf(column);
    const { rows: list, count } = this.#pairs;
    for (let at = 0; at < count; at++) {
      const id = ids[list[at]];
      if (present[id] <= 1) present[id]++;
    }
    if (shared === undefined) yield* this.#takeOwn(column, present);
    else if (known === undefined) this.#present.set(shared, present);
  }

  /** Looks at the texts of a block's own strings, in units. */
  *#takeOwn({ entryCount, bytes, offsets }: StringColumn, present: Uint8Array): Units<void> {
    yield* inParts(entryCount, UNIT_PIECES * PIECE_ENTRIES, (from, to) => {
      for (let entry = from; entry < to; entry++) {
        if (present[entry + 1] !== 1) continue;
        this.#texts.offer(bytes, offsets[entry], offsets[entry + 1]);
      }
    });
  }

  /** Looks at the texts of all segments, in units. */
  *settle(): Units<void> {
    try {
      for (const [dictionary, present] of this.#present) yield* this.#take(dictionary, present);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#isStrange = true;
    }
    this.#present.clear();
  }

  *#take(dictionary: KeptEntries, present: Uint8Array): Units<void> {
    const scratch = new Scratch();
    yield* inParts(Math.ceil(dictionary.entryCount / PIECE_ENTRIES), UNIT_PIECES, (from, to) => {
      for (let first = from * PIECE_ENTRIES; first < to * PIECE_ENTRIES; first += PIECE_ENTRIES) {
        if (!present.subarray(first + 1, first + PIECE_ENTRIES + 1).includes(1)) continue;
        const { bytes, offsets } = dictionary.piece(first, scratch);
        for (let at = 0; at < offsets.length - 1; at++) {
          if (present[first + at + 1] !== 1) continue;
          this.#texts.offer(bytes, offsets[at], offsets[at + 1]);
        }
      }
    });
  }

  /** The values that it has found, by hashes of this `seed`. */
  part(seed: number): HashHeads {
    const hash = new EntryHash(seed);
    const wanted = new Uint8Array(1 << BOUND_BITS_MAX);
    const shift = HASH_BITS - BOUND_BITS_MAX;
    for (const bytes of this.#texts.bytes())
      wanted[hash.hashOf(bytes, 0, bytes.length) >>> shift] = 1;
    return new HashHeads({ bits: BOUND_BITS_MAX, wanted });
  }

  /** True when these buckets, found among the values of `part` with their counts, are the first `count` ones. */
  proves({ first, level }: LeastBuckets, count: number): boolean {
    for (const [, { [count - 1]: last }] of first.entries()) {
      if (last?.rank !== 1) return false;
      const key = level.key(last.value);
      return key.type === 'string' && this.#texts.reaches(key.text);
    }
    return false;
  }
}

/** The values of a share, among the candidates if there are some. */
export function partOf(
  { index, count }: GroupShare,
  candidates?: HashHeads,
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
