import { FRACTION_DIGITS_MAX } from '../column/number-text.ts';
import { type Bitmap, nextRow } from './bitmap.ts';
import { parseDecimal } from './decimal.ts';

/** Digits before and behind the point up to which texts are added exactly; other texts are added as doubles. */
const DIGITS_EXACT_MAX = 400;

/**
 * A sum of numbers: exact for decimals of whatever scales, within a rounding of the last place for doubles.
 * Decimals are added as whole numbers, one total a scale, which moves to a BigInt before it could be rounded;
 * doubles with Neumaier's compensation. Mergeable.
 */
export class Sum {
  /** Totals by scale, below 2^53 each. */
  readonly #totals = new Float64Array(FRACTION_DIGITS_MAX + 1);
  /** What left `#totals`, by scale. */
  readonly #large = new Map<number, bigint>();
  #doubles = 0;
  #compensation = 0;

  /** Adds `mantissa / 10^scale`. */
  addDecimal(mantissa: number, scale: number): void {
    const total = this.#totals[scale] + mantissa;
    if (Number.isSafeInteger(total)) {
      this.#totals[scale] = total;
      return;
    }
    this.#addLarge(BigInt(this.#totals[scale]), scale);
    this.#totals[scale] = mantissa;
  }

  /** Adds `mantissas[row] / 10^scale` of all `rows`. */
  addRows(mantissas: Float64Array, rows: Bitmap, scale: number): void {
    let total = this.#totals[scale];
    for (let word = 0; word < rows.length; word++) {
      for (let bits = rows[word]; bits !== 0; bits &= bits - 1) {
        const mantissa = mantissas[(word << 5) + 31 - Math.clz32(bits & -bits)];
        const next = total + mantissa;
        if (next <= Number.MAX_SAFE_INTEGER && next >= Number.MIN_SAFE_INTEGER) {
          total = next;
        } else {
          this.#addLarge(BigInt(total), scale);
          total = mantissa;
        }
      }
    }
    this.#totals[scale] = total;
  }

  /** Adds `mantissa / 10^scale` `times` over. */
  addRepeated(mantissa: number, scale: number, times: number): void {
    const product = mantissa * times;
    if (Number.isSafeInteger(product)) this.addDecimal(product, scale);
    else this.#addLarge(BigInt(mantissa) * BigInt(times), scale);
  }

  /** Adds the number that `text` says `times` over. */
  addText(text: string, times: number): void {
    const decimal = parseDecimal(text);
    const exponent = decimal?.exponent ?? 0;
    const exact = Math.abs(exponent) + (decimal?.digits.length ?? 0) <= DIGITS_EXACT_MAX;
    if (decimal === undefined || !exact) {
      this.addDouble(Number(text) * times);
      return;
    }
    const whole = BigInt(`${decimal.negative ? '-' : ''}${decimal.digits || '0'}`) * BigInt(times);
    if (exponent >= 0) this.#addLarge(whole * 10n ** BigInt(exponent), 0);
    else this.#addLarge(whole, -exponent);
  }

  /** Adds the doubles of all `rows`. */
  addDoubles(values: Float64Array, rows: Bitmap): void {
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      this.addDouble(values[row]);
    }
  }

  /** Adds a double. */
  addDouble(value: number): void {
    const total = this.#doubles + value;
    this.#compensation +=
      Math.abs(this.#doubles) >= Math.abs(value)
        ? this.#doubles - total + value
        : value - total + this.#doubles;
    this.#doubles = total;
  }

  /** Adds what `other` has; `other` stays as it is. */
  merge(other: Sum): void {
    for (let scale = 0; scale < this.#totals.length; scale++) {
      this.addDecimal(other.#totals[scale], scale);
    }
    for (const [scale, total] of other.#large) this.#addLarge(total, scale);
    this.addDouble(other.#doubles);
    this.addDouble(other.#compensation);
  }

  /** The sum as the nearest double; not finite when it is beyond them. */
  result(): number {
    let decimals = 0n;
    let scaleMax = 0;
    for (const scale of this.#large.keys()) scaleMax = Math.max(scaleMax, scale);
    for (const [scale, total] of this.#totals.entries()) {
      if (total !== 0) scaleMax = Math.max(scaleMax, scale);
    }
    for (const [scale, total] of this.#totals.entries()) {
      if (total !== 0) decimals += BigInt(total) * 10n ** BigInt(scaleMax - scale);
    }
    for (const [scale, total] of this.#large) decimals += total * 10n ** BigInt(scaleMax - scale);
    const exact = Number(`${decimals}e-${scaleMax}`);
    return exact + (this.#doubles + this.#compensation);
  }

  #addLarge(value: bigint, scale: number): void {
    this.#large.set(scale, (this.#large.get(scale) ?? 0n) + value);
  }
}
