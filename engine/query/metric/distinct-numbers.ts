import type { NumberColumn } from '../../column/column.ts';
import { SCALE_DOUBLE } from '../../column/number-text.ts';
import type { Tally } from '../../packed/cells.ts';
import type { Pairs } from '../value/pairs.ts';
import type { ValueHash } from '../value/value-hash.ts';
import type { Cardinalities } from './cardinality.ts';

/** Bits of numbers by which those are known again that come often: 16,384, in memory near the processor. */
const SEEN_MASK = 0x3fff;
/** Whole numbers below have a bit each, of which there are as many as the greatest one needs. */
const BITS_MAX = 1 << 24;
const BITS_MIN = 1 << 16;

/** Numbers that were there before: all small whole ones, and of others those that came last, by some of their bits. */
class SeenNumbers {
  #bits = new Uint32Array(BITS_MIN >>> 5);
  readonly #last = new Float64Array(SEEN_MASK + 1).fill(Number.NaN);

  /** True when a number may not have been there; it has been from now on. */
  isNew(number: number): boolean {
    if (number >= 0 && number < BITS_MAX && (number | 0) === number) {
      if (number >>> 5 >= this.#bits.length) this.#grow(number);
      const word = this.#bits[number >>> 5];
      if (((word >>> (number & 31)) & 1) !== 0) return false;
      this.#bits[number >>> 5] = word | (1 << (number & 31));
      return true;
    }
    if (this.#last[number & SEEN_MASK] === number) return false;
    this.#last[number & SEEN_MASK] = number;
    return true;
  }

  #grow(number: number): void {
    let { length } = this.#bits;
    while (number >>> 5 >= length) length *= 2;
    const bits = new Uint32Array(length);
    bits.set(this.#bits);
    this.#bits = bits;
  }
}

/** Adds numbers to distinct counts, those that come again and again less often than they come. */
export class DistinctNumbers {
  readonly #hash: ValueHash;
  /** The numbers of columns of a scale that were added to group 0. */
  #seen: SeenNumbers | undefined;
  #seenScale = Number.NaN;

  constructor(hash: ValueHash) {
    this.#hash = hash;
  }

  /** Adds the numbers of the rows of `pairs`, which all have one, to their groups. */
  add(column: NumberColumn, { rows, groups, count }: Pairs, cardinalities: Cardinalities): void {
    const { mantissas, scale } = column;
    const hash = this.#hash;
    const seen = this.#seenOf(scale);
    let last = Number.NaN;
    for (let at = 0; at < count; at++) {
      const mantissa = mantissas[rows[at]];
      if (groups[at] === 0 && !seen.isNew(mantissa)) continue;
      if (mantissa !== last) {
        last = mantissa;
        if (scale !== SCALE_DOUBLE) hash.decimal(mantissa, scale);
        else if (Number.isSafeInteger(mantissa)) hash.decimal(mantissa, 0);
        else hash.numberText(String(mantissa));
      }
      cardinalities.add(groups[at], hash.low, hash.high);
    }
  }

  /** Adds `(code - 1) / 10^scale` for each code of a tally above 0 to a group. */
  addTallied(
    group: number,
    { codes, codeCount }: Tally,
    scale: number,
    cardinalities: Cardinalities,
  ): void {
    const hash = this.#hash;
    for (let at = 0; at < codeCount; at++) {
      if (codes[at] === 0) continue;
      hash.decimal(codes[at] - 1, scale);
      cardinalities.add(group, hash.low, hash.high);
    }
  }

  #seenOf(scale: number): SeenNumbers {
    if (this.#seen !== undefined && this.#seenScale === scale) return this.#seen;
    this.#seenScale = scale;
    this.#seen = new SeenNumbers();
    return this.#seen;
  }
}
