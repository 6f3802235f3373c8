import { must } from '../base/assert.ts';
import type {
  BooleanColumn,
  Column,
  DateColumn,
  NumberColumn,
  StringColumn,
} from '../column/column.ts';
import { Kind } from '../column/kind.ts';
import { POWERS_OF_TEN, SCALE_DOUBLE } from '../column/number-text.ts';
import { type Bitmap, countRows, dropRow, hasRow, nextRow } from './bitmap.ts';
import { Cardinality } from './cardinality.ts';
import { NumberReader } from './decimal.ts';
import { ArrayCursor } from './json.ts';
import { Quantiles } from './quantile.ts';
import type { Aggregation } from './query.ts';
import { rowsPresent } from './scan.ts';
import { Sum } from './sum.ts';
import { asciiText, encodeText } from './text.ts';
import type { ValueHash } from './value-hash.ts';

/** Percent of the aggregations that are quantiles. */
const PERCENT = new Map<Aggregation, number>([
  ['median', 50],
  ['pc75', 75],
  ['pc90', 90],
  ['pc95', 95],
  ['pc98', 98],
  ['pc99', 99],
]);

const cursor = new ArrayCursor();
const reader = new NumberReader();

/**
 * What aggregations of one path need to know of its values. Mergeable; owned by one thread.
 *
 * Values are the scalars at the path and the scalar elements of arrays there. Numbers and numeric strings count as
 * numbers, unless they are beyond all doubles. Source: decisions.md 3.8, 5.3, 5b.6, 5b.7.
 */
export class Summary {
  #count = 0;
  #numberCount = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  readonly #sum = new Sum();
  readonly #needsNumbers: boolean;
  readonly #quantiles: Quantiles | undefined;
  readonly #cardinality: Cardinality | undefined;
  readonly #hash: ValueHash;

  /** Keeps no more than `aggregations` ask for. Summaries that are merged have hashes of one key. */
  constructor(aggregations: ReadonlySet<Aggregation>, hash: ValueHash) {
    const quantiles = [...aggregations].some((aggregation) => PERCENT.has(aggregation));
    this.#quantiles = quantiles ? new Quantiles() : undefined;
    this.#cardinality = aggregations.has('cardinality') ? new Cardinality() : undefined;
    this.#needsNumbers = [...aggregations].some(
      (name) => name !== 'count' && name !== 'cardinality',
    );
    this.#hash = hash;
  }

  /** Adds the values that `column` has in `rows`. */
  add(column: Column, rows: Bitmap): void {
    if (column.kind === Kind.NUMBER) this.#addNumbers(column, rows);
    else if (column.kind === Kind.BOOLEAN) this.#addBooleans(column, rows);
    else if (column.kind === Kind.DATE) this.#addDates(column, rows);
    else if (column.kind === Kind.ARRAY) this.#addArrays(column, rows);
    else this.#addStrings(column, rows);
  }

  /** Adds what `other` has, which was made for the same aggregations; `other` stays as it is. */
  merge(other: Summary): void {
    this.#count += other.#count;
    this.#numberCount += other.#numberCount;
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
    this.#sum.merge(other.#sum);
    if (other.#quantiles !== undefined) this.#quantiles?.merge(other.#quantiles);
    if (other.#cardinality !== undefined) this.#cardinality?.merge(other.#cardinality);
  }

  /** The value of an aggregation, one of those that it was made for; `null` when there are no numbers for it. */
  value(aggregation: Aggregation): number | null {
    if (aggregation === 'count') return this.#count;
    if (aggregation === 'cardinality') return must(this.#cardinality, 'cardinality').result();
    if (this.#numberCount === 0) return null;
    const value = this.#numericValue(aggregation);
    return Number.isFinite(value) ? value : null;
  }

  #numericValue(aggregation: Aggregation): number {
    switch (aggregation) {
      case 'sum':
        return this.#sum.result();
      case 'avg':
        return this.#sum.result() / this.#numberCount;
      case 'min':
        return this.#min;
      case 'max':
        return this.#max;
      default:
        return must(
          this.#quantiles?.at(must(PERCENT.get(aggregation), aggregation)),
          'a quantile of numbers',
        );
    }
  }

  #addNumbers(column: NumberColumn, rows: Bitmap): void {
    const plain = rowsPresent(column, rows);
    this.#count += countRows(plain);
    for (const { row } of column.exceptions) dropRow(plain, row);
    if (this.#needsNumbers) this.#addPlain(column, plain);
    if (this.#cardinality !== undefined) this.#addDistinct(column, plain, this.#cardinality);
    for (const { row, text } of column.exceptions) {
      if (!hasRow(rows, row)) continue;
      const bytes = encodeText(text);
      this.#addNumber(bytes, 0, bytes.length, 1);
      if (this.#cardinality === undefined) continue;
      this.#hash.numberText(text);
      this.#cardinality.add(this.#hash.low, this.#hash.high);
    }
  }

  /** Adds numbers that a column holds as mantissas or doubles. */
  #addPlain(column: NumberColumn, rows: Bitmap): void {
    const { mantissas, scale } = column;
    const divisor = scale === SCALE_DOUBLE ? 1 : POWERS_OF_TEN[scale];
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const mantissa = mantissas[row];
      if (mantissa < min) min = mantissa;
      if (mantissa > max) max = mantissa;
    }
    this.#numberCount += countRows(rows);
    this.#min = Math.min(this.#min, min / divisor);
    this.#max = Math.max(this.#max, max / divisor);
    if (scale === SCALE_DOUBLE) this.#sum.addDoubles(mantissas, rows);
    else this.#sum.addRows(mantissas, rows, scale);
    const quantiles = this.#quantiles;
    if (quantiles === undefined) return;
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      quantiles.add(mantissas[row] / divisor, 1);
    }
  }

  #addDistinct(column: NumberColumn, rows: Bitmap, cardinality: Cardinality): void {
    const { mantissas, scale } = column;
    const hash = this.#hash;
    let last = Number.NaN;
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const mantissa = mantissas[row];
      if (mantissa === last) continue;
      last = mantissa;
      if (scale !== SCALE_DOUBLE) hash.decimal(mantissa, scale);
      else if (Number.isSafeInteger(mantissa)) hash.decimal(mantissa, 0);
      else hash.numberText(String(mantissa));
      cardinality.add(hash.low, hash.high);
    }
  }

  /** Adds the number `bytes[start, end)` `times` over, when it is one. */
  #addNumber(bytes: Uint8Array, start: number, end: number, times: number): void {
    if (!this.#needsNumbers || !reader.read(bytes, start, end)) return;
    const { value } = reader;
    this.#numberCount += times;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
    if (reader.small) this.#sum.addRepeated(reader.mantissa, reader.scale, times);
    else this.#sum.addText(asciiText(bytes, start, end), times);
    this.#quantiles?.add(value, times);
  }

  #addStrings(column: StringColumn, rows: Bitmap): void {
    const counts = countEntries(column, rows);
    for (let entry = 0; entry < column.entryCount; entry++) {
      const times = counts[entry + 1];
      if (times > 0) {
        this.#addString(column.bytes, column.offsets[entry], column.offsets[entry + 1], times);
      }
    }
  }

  #addString(bytes: Uint8Array, start: number, end: number, times: number): void {
    this.#count += times;
    this.#addNumber(bytes, start, end, times);
    if (this.#cardinality === undefined) return;
    this.#hash.string(bytes, start, end);
    this.#cardinality.add(this.#hash.low, this.#hash.high);
  }

  #addArrays(column: StringColumn, rows: Bitmap): void {
    const counts = countEntries(column, rows);
    for (let entry = 0; entry < column.entryCount; entry++) {
      const times = counts[entry + 1];
      if (times === 0) continue;
      cursor.open(column.bytes, column.offsets[entry], column.offsets[entry + 1]);
      while (cursor.next()) this.#addElement(times);
    }
  }

  /** Adds the element at which `cursor` is. */
  #addElement(times: number): void {
    const { kind, bytes, start, end } = cursor;
    if (kind === Kind.STRING) {
      this.#addString(bytes, start, end, times);
      return;
    }
    this.#count += times;
    if (kind === Kind.NUMBER) {
      this.#addNumber(bytes, start, end, times);
      if (this.#cardinality !== undefined) this.#hash.numberText(asciiText(bytes, start, end));
    } else {
      this.#hash.boolean(cursor.truth);
    }
    this.#cardinality?.add(this.#hash.low, this.#hash.high);
  }

  #addDates(column: DateColumn, rows: Bitmap): void {
    const present = rowsPresent(column, rows);
    this.#count += countRows(present);
    if (this.#cardinality === undefined) return;
    for (let row = nextRow(present, 0); row >= 0; row = nextRow(present, row + 1)) {
      this.#hash.date(column.values[row], column.forms[row]);
      this.#cardinality.add(this.#hash.low, this.#hash.high);
    }
  }

  #addBooleans(column: BooleanColumn, rows: Bitmap): void {
    const present = rowsPresent(column, rows);
    const count = countRows(present);
    this.#count += count;
    if (this.#cardinality === undefined) return;
    for (let word = 0; word < present.length; word++) present[word] &= column.values[word];
    const trueCount = countRows(present);
    for (const [value, times] of [
      [true, trueCount] as const,
      [false, count - trueCount] as const,
    ]) {
      if (times === 0) continue;
      this.#hash.boolean(value);
      this.#cardinality.add(this.#hash.low, this.#hash.high);
    }
  }
}

/** How many of `rows` have each entry + 1. */
function countEntries(column: StringColumn, rows: Bitmap): Uint32Array {
  const counts = new Uint32Array(column.entryCount + 1);
  const { ids } = column;
  for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) counts[ids[row]]++;
  return counts;
}
