import { grow, refit } from '../packed/growth.ts';
import { ColumnBuilder } from './builder.ts';
import { Dictionary } from './dictionary.ts';
import { Kind } from './kind.ts';
import { NUMBER_AS_TEXT } from './rows.ts';

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
    if (detail === NUMBER_AS_TEXT) this.texts.add(source, start, length);
  }

  override clear(): void {
    this.values = refit(this.values, this.count, 4);
    this.details = refit(this.details, this.count, 4);
    this.texts.clear();
    super.clear();
  }
}
