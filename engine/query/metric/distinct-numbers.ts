import type { NumberColumn } from '../../column/column.ts';
import { SCALE_DOUBLE } from '../../column/number-text.ts';
import type { Tally } from '../../packed/cells.ts';
import type { Pairs } from '../value/pairs.ts';
import type { ValueHash } from '../value/value-hash.ts';
import type { Cardinalities } from './cardinality.ts';

/** Bits of numbers by which those are known again that come often: 16,384, in memory near the processor. */
const SEEN_MASK = 0x3fff;

/** Adds numbers to distinct counts, those that come again and again less often than they come. */
export class DistinctNumbers {
  readonly #hash: ValueHash;
  /** The numbers of columns of a scale that were added to group 0 last, by some of their bits. */
  #seen = new Float64Array(0);
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
      if (groups[at] === 0) {
        if (seen[mantissa & SEEN_MASK] === mantissa) continue;
        seen[mantissa & SEEN_MASK] = mantissa;
      }
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

  #seenOf(scale: number): Float64Array {
    if (this.#seenScale === scale) return this.#seen;
    this.#seenScale = scale;
    this.#seen = new Float64Array(SEEN_MASK + 1).fill(Number.NaN);
    return this.#seen;
  }
}
