import type { DateColumn, NumberColumn } from '../../column/column.ts';
import { dateMillis, parseDateForm, printDate } from '../../column/date-form.ts';
import { POWERS_OF_TEN, SCALE_DOUBLE } from '../../column/number-text.ts';
import { addRow, type Bitmap, nextRow } from '../model/bitmap.ts';
import type { RangeEnd } from '../model/predicate.ts';
import { NumberReader } from './decimal.ts';
import type { Bounds, ValueTest } from './match.ts';
import { compareText, encodeText } from './text.ts';

/** An instant: milliseconds, and microseconds beyond them. */
interface Instant {
  timeMs: number;
  micros: number;
}

/** An end of a range in the forms in which values are compared with it. */
interface End {
  inclusive: boolean;
  bytes: Uint8Array;
  number: number | undefined;
  instant: Instant | undefined;
}

const dateResult = { form: 0, value: 0, timeMs: 0 };

/** The instant of a stored date. */
function instantOf(value: number, form: number): Instant {
  const timeMs = dateMillis(value, form);
  return { timeMs, micros: timeMs === value ? 0 : value - timeMs * 1000 };
}

function instantOfText(bytes: Uint8Array, start: number, end: number): Instant | undefined {
  if (!parseDateForm(bytes, start, end, dateResult)) return undefined;
  return instantOf(dateResult.value, dateResult.form);
}

function endOf(end: RangeEnd | undefined): End | undefined {
  if (end === undefined) return undefined;
  const bytes = encodeText(end.text);
  const instant = instantOfText(bytes, 0, bytes.length);
  return { inclusive: end.inclusive, bytes, number: end.number, instant };
}

/** True when a value that differs from an end by `difference`, away from the outside, is inside. */
function inside(difference: number, end: End): boolean {
  return difference > 0 || (difference === 0 && end.inclusive);
}

/**
 * Compares with one or two ends. A value is compared with every end in the end's way, and is outside where it
 * cannot be: numbers and numeric strings with numbers, other strings and dates with texts. When all ends are dates,
 * dates are compared by time. Source: predicate.ts, `RangeEnd`.
 */
export class RangeTest implements ValueTest {
  readonly printsNumbers = false;
  readonly #from: End | undefined;
  readonly #to: End | undefined;
  /** True when all ends are numbers, whether none is, whether all are dates. */
  readonly #numeric: boolean;
  readonly #textual: boolean;
  readonly #dated: boolean;
  readonly #reader = new NumberReader();

  /** At least one end is given. */
  constructor(from: RangeEnd | undefined, to: RangeEnd | undefined) {
    this.#from = endOf(from);
    this.#to = endOf(to);
    const ends = [this.#from, this.#to].filter((end) => end !== undefined);
    this.#numeric = ends.every((end) => end.number !== undefined);
    this.#textual = ends.every((end) => end.number === undefined);
    this.#dated = ends.every((end) => end.instant !== undefined);
  }

  text(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#numeric) {
      return this.#reader.read(bytes, start, end) && this.#holds(this.#reader.value);
    }
    if (!this.#textual || this.#reader.read(bytes, start, end)) return false;
    const instant = this.#dated ? instantOfText(bytes, start, end) : undefined;
    return instant === undefined ? this.#holdsText(bytes, start, end) : this.#holdsInstant(instant);
  }

  numberText(text: string): boolean {
    return this.#numeric && this.#holds(Number(text));
  }

  boolean(): boolean {
    return false;
  }

  numbers(column: NumberColumn, rows: Bitmap): Bitmap {
    if (!this.#numeric) return new Uint32Array(rows.length);
    const divisor = column.scale === SCALE_DOUBLE ? 1 : POWERS_OF_TEN[column.scale];
    const passed = new Uint32Array(rows.length);
    for (let word = 0; word < rows.length; word++) {
      if (rows[word] === 0) continue;
      const base = word << 5;
      const count = Math.min(32, column.mantissas.length - base);
      passed[word] = this.#wordOf(column.mantissas, base, count, divisor) & rows[word];
    }
    return passed;
  }

  dates(column: DateColumn, rows: Bitmap): Bitmap {
    const passed = new Uint32Array(rows.length);
    if (!this.#textual) return passed;
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const value = column.values[row];
      const form = column.forms[row];
      if (this.#dated ? this.#holdsInstant(instantOf(value, form)) : this.#holdsDate(value, form)) {
        addRow(passed, row);
      }
    }
    return passed;
  }

  possible({ min, max }: Bounds): boolean {
    if (!this.#numeric) return false;
    const aboveAll = (this.#from?.number ?? -Infinity) > (max ?? Infinity);
    const belowAll = (this.#to?.number ?? Infinity) < (min ?? -Infinity);
    return !aboveAll && !belowAll;
  }

  /** Bits of the numbers `mantissas[base, base + count) / divisor` that are inside. */
  #wordOf(mantissas: Float64Array, base: number, count: number, divisor: number): number {
    const low = this.#from?.number ?? -Infinity;
    const high = this.#to?.number ?? Infinity;
    const lowInside = this.#from?.inclusive ?? true;
    const highInside = this.#to?.inclusive ?? true;
    let bits = 0;
    for (let bit = 0; bit < count; bit++) {
      const value = mantissas[base + bit] / divisor;
      const above = lowInside ? value >= low : value > low;
      const below = highInside ? value <= high : value < high;
      if (above && below) bits |= 1 << bit;
    }
    return bits;
  }

  #holds(value: number): boolean {
    const from = this.#from;
    const to = this.#to;
    return (
      (from === undefined || inside(value - (from.number ?? Number.NaN), from)) &&
      (to === undefined || inside((to.number ?? Number.NaN) - value, to))
    );
  }

  #holdsText(bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#from;
    const to = this.#to;
    return (
      (from === undefined || inside(compareText(bytes, start, end, from.bytes), from)) &&
      (to === undefined || inside(-compareText(bytes, start, end, to.bytes), to))
    );
  }

  #holdsDate(value: number, form: number): boolean {
    const bytes = encodeText(printDate(value, form));
    return this.#holdsText(bytes, 0, bytes.length);
  }

  #holdsInstant(instant: Instant): boolean {
    const from = this.#from;
    const to = this.#to;
    return (
      (from === undefined || inside(compareInstants(instant, from.instant), from)) &&
      (to === undefined || inside(-compareInstants(instant, to.instant), to))
    );
  }
}

function compareInstants(left: Instant, right: Instant | undefined): number {
  if (right === undefined) return Number.NaN;
  return left.timeMs === right.timeMs ? left.micros - right.micros : left.timeMs - right.timeMs;
}
