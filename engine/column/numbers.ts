import { ColumnBuilder } from './builder.ts';
import { Dictionary } from './dictionary.ts';
import { grow, refit } from './growth.ts';
import { Kind } from './kind.ts';
import { FRACTION_DIGITS_MAX, POWERS_OF_TEN } from './number-text.ts';
import { NUMBER_AS_TEXT } from './rows.ts';

const MINUS = 0x2d;
const ZERO = 0x30;
const POINT = 0x2e;

/** Whether a text of digits would not be printed back from its mantissa: `-0`, `-0.0`, `007`. */
function isOdd(value: number, source: Uint8Array, start: number, length: number): boolean {
  const sign = source[start] === MINUS ? 1 : 0;
  if (source[start + sign] !== ZERO) return false;
  if (sign === 1 && value === 0) return true;
  return length > sign + 1 && source[start + sign + 1] !== POINT;
}

/** Numbers of an open block: mantissa and count of fraction digits, or text. */
export class NumberBuilder extends ColumnBuilder {
  /** The whole mantissa; of a text the nearest double. */
  values = new Float64Array(4);
  /** Fraction digits, up to FRACTION_DIGITS_MAX, or NUMBER_AS_TEXT. */
  details = new Uint16Array(4);
  /** Texts of the values that have NUMBER_AS_TEXT, in their order. */
  readonly texts = new Dictionary();

  constructor(path: number) {
    super(path, Kind.NUMBER);
  }

  /** Adds a number of `row` as row records describe it (rows.ts). */
  append(
    row: number,
    value: number,
    detail: number,
    source: Uint8Array,
    start: number,
    length: number,
  ): void {
    const at = this.addRow(row);
    if (at === this.values.length) {
      this.values = grow(this.values, at + 1);
      this.details = grow(this.details, at + 1);
    }
    this.values[at] = value;
    this.details[at] = detail;
    if (detail > FRACTION_DIGITS_MAX || isOdd(value, source, start, length)) {
      this.#keepText(at, source, start, length);
    }
  }

  #keepText(at: number, source: Uint8Array, start: number, length: number): void {
    const detail = this.details[at];
    if (detail <= FRACTION_DIGITS_MAX) this.values[at] /= POWERS_OF_TEN[detail];
    else if (detail !== NUMBER_AS_TEXT) {
      this.values[at] = Number(
        Buffer.from(source.subarray(start, start + length)).toString('latin1'),
      );
    }
    this.details[at] = NUMBER_AS_TEXT;
    this.texts.add(source, start, length);
  }

  override clear(): void {
    this.values = refit(this.values, this.count, 4);
    this.details = refit(this.details, this.count, 4);
    this.texts.clear();
    super.clear();
  }
}
