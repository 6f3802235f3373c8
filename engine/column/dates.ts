import { ByteReader, type ByteWriter, type FarBytes } from '../base/bytes.ts';
import { EngineError } from '../base/errors.ts';
import type { DeltaSums } from '../packed/delta-sums.ts';
import { free, grow, refit } from '../packed/growth.ts';
import { IntegerStream } from '../packed/integer-stream.ts';
import { type WriteIntegers, writeIntegers } from '../packed/integers.ts';
import { ColumnBuilder } from './builder.ts';
import type { Zone } from './chunk.ts';
import type { DateColumn } from './column.ts';
import { dateMillis, printDate } from './date-form.ts';
import { Kind } from './kind.ts';
import { type PresentRows, presenceOf } from './presence.ts';

/** Origins from which values are counted. The numbers are on disk. Source: FORMAT.md 4.6. */
const FROM_EPOCH = 0;
const FROM_EVENT = 1;

const FORM_MAX = 0xffff;
/** The bits of a form that say how many fraction digits there are, and their value for six. */
const FRACTION_MASK = 3;
const FRACTION_MICROS = 2;

/** Date texts of an open block: value and form, see date-form.ts. */
export class DateBuilder extends ColumnBuilder {
  values = new Float64Array(4);
  forms = new Uint16Array(4);

  constructor(path: number) {
    super(path, Kind.DATE);
  }

  /** Adds a date of `row`. */
  append(row: number, value: number, form: number): void {
    const at = this.addRow(row);
    if (at === this.values.length) {
      this.values = grow(this.values, at + 1);
      this.forms = grow(this.forms, at + 1);
    }
    this.values[at] = value;
    this.forms[at] = form;
  }

  override clear(): void {
    this.values = refit(this.values, this.count, 4);
    this.forms = refit(this.forms, this.count, 4);
    super.clear();
  }
}

/** The event's time in the unit of `form`. */
function eventValue(timeMs: number, form: number): number {
  return (form & FRACTION_MASK) === FRACTION_MICROS ? timeMs * 1000 : timeMs;
}

/**
 * Writes the values `[from, to)`, counted from the times of their rows where that is exact; returns the least and
 * the greatest in milliseconds. `timeMs` is by row, from row `firstRow` on. `write` writes the streams.
 */
export function writeDates(
  writer: ByteWriter,
  builder: DateBuilder,
  from: number,
  to: number,
  timeMs: Float64Array,
  firstRow = 0,
  write: WriteIntegers = writeIntegers,
): Zone {
  const { values, forms, rows } = builder;
  const count = to - from;
  const relative = new Float64Array(count);
  const formValues = new Float64Array(count);
  const zone = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
  let exact = true;
  for (let index = from; index < to; index++) {
    const form = forms[index];
    const value = values[index];
    const event = eventValue(timeMs[rows[index] - firstRow], form);
    const difference = value - event;
    if (!Number.isSafeInteger(event) || !Number.isSafeInteger(difference)) exact = false;
    relative[index - from] = difference;
    formValues[index - from] = form;
    const ms = dateMillis(value, form);
    if (ms < zone.min) zone.min = ms;
    const maxMs = ms === value || ms * 1000 === value ? ms : ms + 1;
    if (maxMs > zone.max) zone.max = maxMs;
  }
  writer.u8(exact ? FROM_EVENT : FROM_EPOCH);
  write(writer, formValues, count, 'ids');
  write(writer, exact ? relative : values.slice(from, to), count, 'values');
  free(relative, formValues);
  return zone;
}

/** Writes dates of these values and forms as they are, whatever the times of their rows. */
export function writeEpochDates(
  writer: ByteWriter,
  values: Float64Array,
  forms: Float64Array,
): void {
  writer.u8(FROM_EPOCH);
  writeIntegers(writer, forms, forms.length, 'ids');
  writeIntegers(writer, values, values.length, 'values');
}

/** Dates as values and forms, see date-form.ts, by index. */
export interface DateParts {
  values: Float64Array;
  forms: Uint32Array;
}

/** A chunk of dates that is open for reading: one by one, or as a column. */
export class DateChunk {
  readonly #isRelative: boolean;
  readonly #forms: IntegerStream;
  readonly #values: IntegerStream;

  /** Opens what `writeDates` wrote of `count` values; `formSums`: when it was open before. Throws CORRUPTION. */
  constructor(bytes: Uint8Array | FarBytes, count: number, formSums?: DeltaSums) {
    const reader = new ByteReader(bytes);
    const origin = reader.u8();
    if (origin !== FROM_EPOCH && origin !== FROM_EVENT) {
      throw new EngineError('CORRUPTION', `dates are counted from ${origin}`);
    }
    this.#isRelative = origin === FROM_EVENT;
    this.#forms = new IntegerStream(reader, count, true, formSums);
    this.#values = new IntegerStream(reader, count);
  }

  /** Each value in the unit of its form; `eventMs` is by value, the time of its row. New arrays. Throws CORRUPTION. */
  parts(eventMs: Float64Array): DateParts {
    const forms = this.#forms.ids(FORM_MAX);
    const stored = this.#values.values();
    if (!this.#isRelative) return { values: stored.slice(), forms };
    const values = new Float64Array(stored.length);
    for (let index = 0; index < values.length; index++) {
      values[index] = stored[index] + eventValue(eventMs[index], forms[index]);
    }
    return { values, forms };
  }

  /** Lets go of what can be read again; the bytes that it still holds. */
  rest(): number {
    return this.#forms.rest() + this.#values.rest();
  }

  /** Ends it, and frees what it decoded. */
  free(): void {
    this.#values.free();
  }

  /** The value number `rank` as it was written; `eventMs` is the time of its row. */
  text(rank: number, eventMs: number): string {
    const form = this.#forms.at(rank);
    const base = this.#isRelative ? eventValue(eventMs, form) : 0;
    return printDate(base + this.#values.at(rank), form);
  }

  /** The column of a block of `rowCount` rows; `present` is undefined when all have a value. */
  column(present: PresentRows | undefined, rowCount: number, timeMs: Float64Array): DateColumn {
    const denseForms = this.#forms.ids(FORM_MAX);
    const denseValues = this.#values.values();
    const rows = present?.rows();
    const forms = new Uint16Array(rowCount);
    const values = new Float64Array(rowCount);
    for (let index = 0; index < denseValues.length; index++) {
      const row = rows === undefined ? index : rows[index];
      const form = denseForms[index];
      forms[row] = form;
      values[row] = denseValues[index] + (this.#isRelative ? eventValue(timeMs[row], form) : 0);
    }
    return { kind: Kind.DATE, presence: presenceOf(present), values, forms };
  }
}
