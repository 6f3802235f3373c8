import { ByteReader, type ByteWriter, type FarBytes } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { compress, readPacked, writePacked } from '../packed/compress.ts';
import type { DeltaSums } from '../packed/delta-sums.ts';
import { free } from '../packed/growth.ts';
import { IntegerStream } from '../packed/integer-stream.ts';
import { type WriteIntegers, writeIntegers } from '../packed/integers.ts';
import type { Zone } from './chunk.ts';
import type { NumberColumn } from './column.ts';
import { LazyNumberColumn } from './lazy-numbers.ts';
import {
  FRACTION_DIGITS_MAX,
  POWERS_OF_TEN,
  PrintRule,
  printNumber,
  SCALE_DOUBLE,
} from './number-text.ts';
import type { NumberBuilder } from './numbers.ts';
import type { PresentRows } from './presence.ts';
import { NUMBER_AS_TEXT } from './rows.ts';

/** `scale` of doubles on disk. */
const SCALE_BYTE_DOUBLE = 255;
/** Doubles are tried when more than 1 in this many values is an exception to the decimal rules. */
const EXCEPTION_RATIO = 16;
/** Memory of an exception that is open for reading. */
const EXCEPTION_BYTES = 48;

interface Plan {
  rule: PrintRule;
  scale: number;
}

function endsWithZero(mantissa: number): boolean {
  return (mantissa | 0) === mantissa ? (mantissa | 0) % 10 === 0 : mantissa % 10 === 0;
}

/** The decimal rule with the fewest exceptions, and how many values it fits. */
function decimalPlan(builder: NumberBuilder, from: number, to: number): Plan & { fits: number } {
  const { values, details } = builder;
  const countOf = new Uint32Array(FRACTION_DIGITS_MAX + 1);
  let shortest = 0;
  let point = 0;
  let digitsMax = 0;
  for (let index = from; index < to; index++) {
    const digits = details[index];
    if (digits === NUMBER_AS_TEXT) continue;
    countOf[digits]++;
    if (digits > digitsMax) digitsMax = digits;
    const trimmed = digits === 0 || !endsWithZero(values[index]);
    if (trimmed) shortest++;
    if (digits === 1 || (digits > 1 && trimmed)) point++;
  }
  let common = 0;
  for (let digits = 1; digits < countOf.length; digits++) {
    if (countOf[digits] > countOf[common]) common = digits;
  }
  const fits = Math.max(countOf[common], shortest, point);
  if (fits === countOf[common]) return { rule: PrintRule.FIXED, scale: common, fits };
  const rule = fits === shortest ? PrintRule.SHORTEST : PrintRule.POINT;
  return { rule, scale: digitsMax, fits };
}

/** Checks that all values have the same number of fraction digits and none is a text. */
function isUniform(builder: NumberBuilder, from: number, to: number): boolean {
  const { details } = builder;
  const first = details[from];
  if (first === NUMBER_AS_TEXT) return false;
  for (let index = from + 1; index < to; index++) if (details[index] !== first) return false;
  return true;
}

const decoder = new TextDecoder();

/** Result of a pass over the values to be written. */
class Conversion {
  readonly stored: Float64Array;
  readonly exceptionAt: number[] = [];
  readonly exceptionTexts: string[] = [];
  readonly zone: Zone = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };

  constructor(builder: NumberBuilder, from: number, to: number, plan: Plan) {
    this.stored = new Float64Array(to - from);
    let textAt = 0;
    if (builder.texts.entryCount > 0) {
      for (let index = 0; index < from; index++) {
        if (builder.details[index] === NUMBER_AS_TEXT) textAt++;
      }
    }
    for (let index = from; index < to; index++) {
      const digits = builder.details[index];
      const isText = digits === NUMBER_AS_TEXT;
      const value = builder.values[index];
      const number = isText ? value : value / POWERS_OF_TEN[digits];
      if (number < this.zone.min) this.zone.min = number;
      if (number > this.zone.max) this.zone.max = number;
      const text = isText ? textAt++ : -1;
      if (plan.scale === SCALE_DOUBLE)
        this.#takeDouble(builder, index - from, number, value, digits, text, plan);
      else if (isText) this.#except(index - from, entryText(builder, text));
      else this.#takeDecimal(index - from, value, digits, plan);
    }
    this.#fillExceptions();
  }

  #takeDecimal(at: number, mantissa: number, digits: number, plan: Plan): void {
    const { scale, rule } = plan;
    let fits = digits === scale;
    let scaled = mantissa;
    if (rule !== PrintRule.FIXED) {
      scaled = mantissa * POWERS_OF_TEN[scale - digits];
      const trimmed = digits === 0 || !endsWithZero(mantissa);
      fits = rule === PrintRule.SHORTEST ? trimmed : digits === 1 || (digits > 1 && trimmed);
      fits &&= Number.isSafeInteger(scaled);
    }
    if (fits) this.stored[at] = scaled;
    else this.#except(at, printNumber(mantissa, digits, PrintRule.FIXED));
  }

  #takeDouble(
    builder: NumberBuilder,
    at: number,
    number: number,
    mantissa: number,
    digits: number,
    text: number,
    plan: Plan,
  ): void {
    const written =
      text >= 0 ? entryText(builder, text) : printNumber(mantissa, digits, PrintRule.FIXED);
    if (printNumber(number, SCALE_DOUBLE, plan.rule) === written) this.stored[at] = number;
    else this.#except(at, written);
  }

  #except(at: number, text: string): void {
    this.exceptionAt.push(at);
    this.exceptionTexts.push(text);
  }

  /** Gives exceptions the stored number of a neighbour, so that they cost no bits. */
  #fillExceptions(): void {
    const { exceptionAt, stored } = this;
    let first = 0;
    while (first < exceptionAt.length && exceptionAt[first] === first) first++;
    for (let index = 0; index < exceptionAt.length; index++) {
      const at = exceptionAt[index];
      if (index < first) stored[at] = first < stored.length ? stored[first] : 0;
      else stored[at] = stored[at - 1];
    }
  }
}

function entryText(builder: NumberBuilder, text: number): string {
  const { offsets, bytes } = builder.texts;
  return decoder.decode(bytes.subarray(offsets[text], offsets[text + 1]));
}

/** Writes mantissas that have `scale` fraction digits each. */
function writeUniform(
  writer: ByteWriter,
  mantissas: Float64Array,
  scale: number,
  write: WriteIntegers,
): Zone {
  writer.u8(PrintRule.FIXED);
  writer.u8(scale);
  writer.varint(0);
  write(writer, mantissas, mantissas.length, 'values');
  let min = mantissas[0];
  let max = min;
  for (let index = 1; index < mantissas.length; index++) {
    const mantissa = mantissas[index];
    if (mantissa < min) min = mantissa;
    if (mantissa > max) max = mantissa;
  }
  return { min: min / POWERS_OF_TEN[scale], max: max / POWERS_OF_TEN[scale] };
}

function convert(builder: NumberBuilder, from: number, to: number): [Plan, Conversion] {
  let plan: Plan = decimalPlan(builder, from, to);
  let best = new Conversion(builder, from, to, plan);
  if (best.exceptionAt.length * EXCEPTION_RATIO > to - from) {
    for (const rule of [PrintRule.SHORTEST, PrintRule.POINT]) {
      const other = { rule, scale: SCALE_DOUBLE };
      const conversion = new Conversion(builder, from, to, other);
      if (conversion.exceptionAt.length >= best.exceptionAt.length) continue;
      plan = other;
      best = conversion;
    }
  }
  return [plan, best];
}

/**
 * Writes the values `[from, to)` of a column, their mantissas by `write`; returns their least and greatest. At least
 * one value.
 */
export function writeNumbers(
  writer: ByteWriter,
  builder: NumberBuilder,
  from: number,
  to: number,
  write: WriteIntegers = writeIntegers,
): Zone {
  if (isUniform(builder, from, to)) {
    const mantissas = builder.values.subarray(from, to);
    return writeUniform(writer, mantissas, builder.details[from], write);
  }
  const [plan, { stored, exceptionAt, exceptionTexts, zone }] = convert(builder, from, to);
  writer.u8(plan.rule);
  writer.u8(plan.scale === SCALE_DOUBLE ? SCALE_BYTE_DOUBLE : plan.scale);
  writer.varint(exceptionAt.length);
  write(writer, stored, stored.length, 'values');
  if (exceptionAt.length === 0) return zone;
  writeIntegers(writer, Float64Array.from(exceptionAt), exceptionAt.length, 'values');
  const lengths = Float64Array.from(exceptionTexts, (text) => text.length);
  writeIntegers(writer, lengths, lengths.length, 'values');
  writePacked(writer, Buffer.from(exceptionTexts.join(''), 'latin1'), compress);
  return zone;
}

interface Exceptions {
  /** Numbers among the values, ascending. */
  at: Uint32Array;
  texts: string[];
}

function readExceptions(reader: ByteReader, exceptionCount: number, count: number): Exceptions {
  if (exceptionCount > count) damaged(`${exceptionCount} exceptions of ${count} numbers`);
  if (exceptionCount === 0) return { at: new Uint32Array(0), texts: [] };
  const at = new IntegerStream(reader, exceptionCount).ids(count - 1);
  const lengths = new IntegerStream(reader, exceptionCount).values();
  const text = Buffer.from(readPacked(reader)).toString('latin1');
  const texts: string[] = [];
  let start = 0;
  for (let index = 0; index < exceptionCount; index++) {
    if (index > 0 && at[index] <= at[index - 1]) damaged('exceptions are not in order');
    const end = start + lengths[index];
    if (!(lengths[index] > 0 && end <= text.length))
      damaged(`number text of ${lengths[index]} bytes`);
    texts.push(text.slice(start, end));
    start = end;
  }
  if (start !== text.length) damaged('number texts are too long');
  return { at, texts };
}

/** Numbers as `NumberBuilder` holds them: mantissa and fraction digits, or NUMBER_AS_TEXT and a text by rank. */
export interface NumberParts {
  values: Float64Array;
  details: Uint16Array;
  texts: Map<number, string>;
}

const PLAIN_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?$/;

/** The parts that a builder keeps of a number written in this way. */
export function partsOfText(text: string): { value: number; detail: number } {
  const match = PLAIN_NUMBER.exec(text);
  const digits = match?.[3]?.length ?? 0;
  const mantissa = match === null ? 0 : Number(`${match[1]}${match[2]}${match[3] ?? ''}`);
  const isPlain =
    match !== null &&
    Number.isSafeInteger(mantissa) &&
    digits <= FRACTION_DIGITS_MAX &&
    !(mantissa === 0 && match[1] === '-');
  return isPlain
    ? { value: mantissa, detail: digits }
    : { value: Number(text), detail: NUMBER_AS_TEXT };
}

/** Takes the zeros off the end of the decimals, all but one when the rule is POINT. */
function trim(values: Float64Array, details: Uint16Array, rule: PrintRule): void {
  const least = rule === PrintRule.POINT ? 1 : 0;
  for (let rank = 0; rank < values.length; rank++) {
    let value = values[rank];
    let digits = details[rank];
    while (digits > least && endsWithZero(value)) {
      value /= 10;
      digits--;
    }
    // A scale of 0 with the rule POINT still prints one decimal.
    if (digits < least) {
      value *= 10;
      digits = least;
    }
    values[rank] = value;
    details[rank] = digits;
  }
}

/** A chunk of numbers that is open for reading: one by one, or as a column. */
export class NumberChunk {
  readonly #stream: IntegerStream;
  readonly #rule: PrintRule;
  readonly #scale: number;
  readonly #exceptions: Exceptions;
  #parts: NumberParts | undefined;
  /** The text that was read last, of which others are derived in the same row. */
  #lastRank = -1;
  #lastText = '';

  /** Opens what `writeNumbers` wrote of `count` values; `sums`: when it was open before. Throws CORRUPTION. */
  constructor(bytes: Uint8Array | FarBytes, count: number, sums?: DeltaSums) {
    const reader = new ByteReader(bytes);
    const rule = reader.u8();
    if (rule > PrintRule.POINT) damaged(`unknown print rule ${rule}`);
    this.#rule = rule as PrintRule;
    const scale = reader.u8();
    if (scale > FRACTION_DIGITS_MAX && scale !== SCALE_BYTE_DOUBLE) damaged(`scale ${scale}`);
    this.#scale = scale === SCALE_BYTE_DOUBLE ? SCALE_DOUBLE : scale;
    const exceptionCount = reader.varint();
    this.#stream = new IntegerStream(reader, count, true, sums);
    this.#exceptions = readExceptions(reader, exceptionCount, count);
  }

  /** Text of the value number `rank`. */
  text(rank: number): string {
    if (this.#lastRank !== rank) {
      this.#lastText = this.#text(rank);
      this.#lastRank = rank;
    }
    return this.#lastText;
  }

  #text(rank: number): string {
    const { at, texts } = this.#exceptions;
    if (at.length > 0) {
      let low = 0;
      let high = at.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (at[middle] < rank) low = middle + 1;
        else high = middle;
      }
      if (low < at.length && at[low] === rank) return texts[low];
    }
    return printNumber(this.#stream.at(rank), this.#scale, this.#rule);
  }

  /** Numbers of the values that are kept as texts, and these texts. Not to be written. */
  get exceptions(): Readonly<{ at: Uint32Array; texts: readonly string[] }> {
    return this.#exceptions;
  }

  /** All values in the form in which a builder holds them; decoded once and kept. Not to be written. */
  parts(): NumberParts {
    this.#parts ??= this.#readParts();
    return this.#parts;
  }

  /** Lets go of what can be read again; the bytes that it still holds. */
  rest(): number {
    this.#parts = undefined;
    return this.#exceptions.at.length * EXCEPTION_BYTES + this.#stream.rest();
  }

  /** Ends it, and frees what `parts` gave. */
  free(): void {
    free(this.#parts?.values, this.#parts?.details);
    this.#stream.free();
  }

  #readParts(): NumberParts {
    const stored = this.#stream.values();
    const isPlain = this.#scale !== SCALE_DOUBLE && this.#rule === PrintRule.FIXED;
    const values = isPlain && this.#exceptions.at.length === 0 ? stored : stored.slice();
    const details = new Uint16Array(values.length);
    const texts = new Map<number, string>();
    const set = (rank: number, text: string): void => {
      const parts = partsOfText(text);
      values[rank] = parts.value;
      details[rank] = parts.detail;
      if (parts.detail === NUMBER_AS_TEXT) texts.set(rank, text);
      else texts.delete(rank);
    };
    if (this.#scale === SCALE_DOUBLE) {
      for (let rank = 0; rank < values.length; rank++) {
        set(rank, printNumber(values[rank], this.#scale, this.#rule));
      }
    } else {
      details.fill(this.#scale);
      if (this.#rule !== PrintRule.FIXED) trim(values, details, this.#rule);
    }
    const { at, texts: exceptions } = this.#exceptions;
    for (let index = 0; index < at.length; index++) set(at[index], exceptions[index]);
    return { values, details, texts };
  }

  /** The column of a block of `rowCount` rows; `present` is undefined when all have a value. */
  column(present: PresentRows | undefined, rowCount: number): NumberColumn {
    const rows = present?.rows();
    const exceptions = this.#exceptions.texts.map((text, index) => {
      const rank = this.#exceptions.at[index];
      return { row: rows === undefined ? rank : rows[rank], text };
    });
    const texts = {
      scale: this.#scale,
      exceptions,
      text: (row: number) => this.text(present === undefined ? row : present.rank(row)),
    };
    return new LazyNumberColumn(this.#stream, present, rowCount, texts);
  }
}
