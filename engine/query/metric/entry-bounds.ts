import { assert } from '../../base/assert.ts';
import { inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type { EntryHash, EntrySource } from '../../column/entries.ts';
import { grow } from '../../packed/growth.ts';
import type { Block } from '../../segment/block/block.ts';
import { idsOf, stringsOf } from '../value/block-strings.ts';
import type { Pairs } from '../value/pairs.ts';
import { BOUND_MIN, type EventCodes, type RankBound, topOf } from './rank-bound.ts';

/** Entries of a dictionary whose numbers are counted by levels of codes: the first ones, which most events have. */
const HEADS = 4_096;
/** Codes of a level, as a power of two: a quarter of an octave. */
const LEVEL_BITS = 8;
/** Levels; all codes below them are in the first one, and those above in the last. */
const LEVELS = 32;

/** Numbers that bound values: sums, or others. */
export type Bounds = Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** Bounds of values that are told apart by the first bits of their hashes: those in bucket p begin at `p << bits`. */
export interface HashedBounds {
  bound: RankBound;
  hash: EntryHash;
  /** Bits by which a hash is shifted to be a number of `bits` bits. */
  shift: number;
  bits: number;
  bounds: Bounds;
}

/**
 * Adds events of blocks whose strings lie in a dictionary of the segment to the bounds of values. Where there is one
 * bucket they are added to the entries of a dictionary first, and these to the values when the next dictionary comes:
 * the quantile of a part of a value's numbers bounds that of all more closely than the numbers do. Owned by one thread.
 */
export class EntryBounds {
  readonly #into: HashedBounds;
  #dictionary: EntrySource | undefined;
  #hashes: Int32Array = new Int32Array(0);
  /** The bounds of entries, by entry + 1. */
  #own: Bounds;
  /** How many numbers the first entries have, by entry + 1 and level. */
  readonly #levels: Uint32Array;
  #firstLevel: number | undefined;

  constructor(into: HashedBounds) {
    this.#into = into;
    const { bound, bounds } = into;
    this.#own = bounds instanceof Float64Array ? new Float64Array(0) : new Uint32Array(0);
    const hasLevels = bound.type === 'numbers' && bound.percent !== undefined;
    this.#levels = new Uint32Array(hasLevels ? (HEADS + 1) * LEVELS : 0);
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#own.byteLength + this.#levels.byteLength;
  }

  /**
   * Adds pairs of a block in units; false when its strings at `path` do not lie in one dictionary. Throws CORRUPTION
   * before it has added anything.
   */
  *add(block: Block, path: string, pairsOf: () => Pairs, codes: EventCodes): Units<boolean> {
    const column = stringsOf(block, path);
    if (column?.shared === undefined) return false;
    yield* this.#open(column.shared);
    const pairs = pairsOf();
    const ids = idsOf(column);
    if (!this.#isFlat) this.#addToValues(ids, pairs, codes);
    else if (codes === 'ones') this.#count(ids, pairs);
    else if (codes instanceof Float64Array) this.#sum(ids, pairs, codes);
    else this.#widen(ids, pairs, codes);
    return true;
  }

  get #isFlat(): boolean {
    return this.#into.bounds.length >>> this.#into.bits === 1;
  }

  *#open(dictionary: EntrySource): Units<void> {
    if (this.#dictionary === dictionary) return;
    const hashes = yield* dictionary.hashUnits(this.#into.hash);
    yield* this.settle();
    this.#dictionary = dictionary;
    this.#hashes = hashes;
    const length = this.#isFlat ? hashes.length + 1 : 0;
    if (length > this.#own.length) this.#own = grow(this.#own, length);
  }

  #addToValues(ids: Uint32Array, { rows, groups, count }: Pairs, codes: EventCodes): void {
    const { bits, shift, bounds } = this.#into;
    const hashes = this.#hashes;
    for (let at = 0; at < count; at++) {
      const id = ids[rows[at]];
      if (id === 0) continue;
      const place = (groups[at] << bits) + (hashes[id - 1] >>> shift);
      if (codes === 'ones') bounds[place]++;
      else if (codes instanceof Float64Array) bounds[place] += codes[rows[at]];
      else if (bounds[place] < codes[rows[at]]) bounds[place] = codes[rows[at]];
    }
  }

  #count(ids: Uint32Array, { rows, count }: Pairs): void {
    const own = this.#own;
    for (let at = 0; at < count; at++) own[ids[rows[at]]]++;
  }

  #sum(ids: Uint32Array, { rows, count }: Pairs, amounts: Float64Array): void {
    const own = this.#own;
    for (let at = 0; at < count; at++) own[ids[rows[at]]] += amounts[rows[at]];
  }

  #widen(ids: Uint32Array, { rows, count }: Pairs, codes: Uint32Array): void {
    const own = this.#own;
    const levels = this.#levels;
    this.#firstLevel ??= (greatestOf(codes) >>> LEVEL_BITS) - LEVELS + 2;
    const first = this.#firstLevel;
    const end = this.#headsEnd;
    for (let at = 0; at < count; at++) {
      const row = rows[at];
      const id = ids[row];
      const code = codes[row];
      if (own[id] < code) own[id] = code;
      if (id >= end || code === BOUND_MIN) continue;
      const level = (code >>> LEVEL_BITS) - first;
      levels[id * LEVELS + Math.min(Math.max(level, 0), LEVELS - 1)]++;
    }
  }

  /** Adds the entries of the last dictionary to the values, in units. */
  *settle(): Units<void> {
    if (!this.#isFlat || this.#dictionary === undefined) return;
    this.#dictionary = undefined;
    const { bound, shift, bounds } = this.#into;
    const own = this.#own;
    const hashes = this.#hashes;
    const isSum = bound.type !== 'numbers';
    own[0] = 0;
    for (let id = Math.min(this.#headsEnd - 1, hashes.length); id > 0; id--) {
      if (own[id] !== 0) own[id] = this.#boundOf(id);
    }
    yield* inParts(hashes.length, UNIT_SLOTS, (from, to) => {
      for (let entry = from; entry < to; entry++) {
        const added = own[entry + 1];
        if (added === 0) continue;
        own[entry + 1] = 0;
        const place = hashes[entry] >>> shift;
        if (isSum) bounds[place] += added;
        else if (bounds[place] < added) bounds[place] = added;
      }
    });
    this.#levels.fill(0);
  }

  /** Entries of which levels are counted are below, plus 1. */
  get #headsEnd(): number {
    return this.#levels.length / LEVELS;
  }

  /** The bound of entry `id` - 1: its greatest code, or the end of the level in which its quantile is. */
  #boundOf(id: number): number {
    const greatest = this.#own[id];
    const levels = this.#levels.subarray(id * LEVELS, (id + 1) * LEVELS);
    const { bound } = this.#into;
    assert(bound.type === 'numbers', 'levels of numbers');
    let count = 0;
    for (let level = 0; level < LEVELS; level++) count += levels[level];
    let left = topOf(bound, count);
    let level = LEVELS - 1;
    while (level > 0 && left > levels[level]) left -= levels[level--];
    if (level === LEVELS - 1) return greatest;
    const end = ((this.#firstLevel ?? 0) + level + 1) << LEVEL_BITS;
    return Math.min(greatest, Math.max(end, BOUND_MIN));
  }
}

function greatestOf(codes: Uint32Array): number {
  let greatest = 0;
  for (const code of codes) if (code > greatest) greatest = code;
  return greatest;
}
