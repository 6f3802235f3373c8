import { assert } from '../base/assert.ts';
import type { ByteReader, ByteWriter } from '../base/bytes.ts';
import { EngineError } from '../base/errors.ts';
import { bitsOf, pack, packedWords, unpack, unpackOne } from './bitpack.ts';
import { readPacked, writePacked } from './compress.ts';

/** How a stream is stored. The numbers are on disk. Source: FORMAT.md 4.2. */
const CONSTANT = 0;
const PACKED = 1;
const DELTA = 2;
const RUNS = 3;
const DOUBLES = 4;
const ENCODING_MASK = 7;
const BASE_NEGATIVE = 8;
const STEP_NEGATIVE = 16;

const WORD_BITS = 32;
const WORD_RANGE = 2 ** WORD_BITS;
/** Width of the largest safe whole number. */
const WIDTH_MAX = 53;
/** Bits reckoned for the start of a run when sizes are compared. */
const RUN_START_BITS = 16;
/** A run-length stream has two streams inside: its overhead in bits. */
const RUNS_OVERHEAD_BITS = 128;

/**
 * What a stream may be: `ids` are read at random and by kernels, so never as differences; `values` as is smallest.
 */
export type StreamUse = 'ids' | 'values';

/** What a pass over the values finds out. */
interface Extent {
  min: number;
  max: number;
  minStep: number;
  maxStep: number;
  runCount: number;
  whole: boolean;
}

function measure(values: Float64Array, count: number): Extent {
  let min = values[0];
  let max = values[0];
  let minStep = Number.POSITIVE_INFINITY;
  let maxStep = Number.NEGATIVE_INFINITY;
  let runCount = 1;
  let whole = Math.floor(min) === min;
  let previous = min;
  for (let index = 1; index < count; index++) {
    const value = values[index];
    const step = value - previous;
    if (value < min) min = value;
    if (value > max) max = value;
    if (step < minStep) minStep = step;
    if (step > maxStep) maxStep = step;
    if (step !== 0) runCount++;
    if (Math.floor(value) !== value) whole = false;
    previous = value;
  }
  return { min, max, minStep, maxStep, runCount, whole };
}

/** What is being packed: the low 32 bits (a store to it cuts to them) and the bits above. */
let low = new Uint32Array(1024);
let high = new Uint32Array(1024);

function ensureScratch(count: number): void {
  if (count + 4 <= low.length) return;
  low = new Uint32Array(count + 4);
  high = new Uint32Array(count + 4);
}

function writeWords(writer: ByteWriter, count: number, width: number): void {
  writer.u8(width);
  writer.pad(4);
  const words = pack(low, count, Math.min(width, WORD_BITS));
  writer.raw(new Uint8Array(words.buffer));
  if (width <= WORD_BITS) return;
  const upper = pack(high, count, width - WORD_BITS);
  writer.raw(new Uint8Array(upper.buffer));
}

function writePackedStream(
  writer: ByteWriter,
  values: Float64Array,
  count: number,
  s: Extent,
): void {
  ensureScratch(count);
  const { min } = s;
  const width = bitsOf(s.max - min);
  for (let index = 0; index < count; index++) low[index] = values[index] - min;
  if (width > WORD_BITS) {
    for (let index = 0; index < count; index++) {
      high[index] = Math.floor((values[index] - min) / WORD_RANGE);
    }
  }
  writer.u8(PACKED | (min < 0 ? BASE_NEGATIVE : 0));
  writer.varint(Math.abs(min));
  writeWords(writer, count, width);
}

function writeDeltaStream(
  writer: ByteWriter,
  values: Float64Array,
  count: number,
  s: Extent,
): void {
  ensureScratch(count);
  const { minStep } = s;
  const width = bitsOf(s.maxStep - minStep);
  for (let index = 1; index < count; index++) {
    low[index - 1] = values[index] - values[index - 1] - minStep;
  }
  if (width > WORD_BITS) {
    for (let index = 1; index < count; index++) {
      const difference = values[index] - values[index - 1] - minStep;
      high[index - 1] = Math.floor(difference / WORD_RANGE);
    }
  }
  const first = values[0];
  writer.u8(DELTA | (first < 0 ? BASE_NEGATIVE : 0) | (minStep < 0 ? STEP_NEGATIVE : 0));
  writer.varint(Math.abs(first));
  writer.varint(Math.abs(minStep));
  writeWords(writer, count - 1, width);
}

function writeRunStream(writer: ByteWriter, values: Float64Array, count: number, s: Extent): void {
  const starts = new Float64Array(s.runCount);
  const heads = new Float64Array(s.runCount);
  let run = 0;
  heads[0] = values[0];
  for (let index = 1; index < count; index++) {
    if (values[index] === values[index - 1]) continue;
    run++;
    starts[run] = index;
    heads[run] = values[index];
  }
  writer.u8(RUNS);
  writer.varint(s.runCount);
  writePackable(writer, starts, s.runCount, measure(starts, s.runCount), true);
  writePackable(writer, heads, s.runCount, measure(heads, s.runCount), true);
}

/** Constant, packed or differences: whichever is smallest. */
function writePackable(
  writer: ByteWriter,
  values: Float64Array,
  count: number,
  s: Extent,
  ordered: boolean,
): void {
  if (s.min === s.max) {
    writer.u8(CONSTANT | (s.min < 0 ? BASE_NEGATIVE : 0));
    writer.varint(Math.abs(s.min));
  } else if (ordered && s.maxStep - s.minStep < (s.max - s.min) / 2) {
    writeDeltaStream(writer, values, count, s);
  } else {
    writePackedStream(writer, values, count, s);
  }
}

/**
 * Writes `values[0, count)` as a stream in the smallest of the encodings that `use` allows; nothing for no values.
 * Finite numbers; those of `ids` are whole and below 2^32. -0 may come back as 0 unless some value is not whole.
 */
export function writeIntegers(
  writer: ByteWriter,
  values: Float64Array,
  count: number,
  use: StreamUse,
): void {
  if (count === 0) return;
  const s = measure(values, count);
  const safe = Number.isSafeInteger(s.min) && Number.isSafeInteger(s.max);
  if (!s.whole || !safe || !Number.isSafeInteger(s.max - s.min)) {
    assert(use === 'values', 'ids are whole numbers');
    writer.u8(DOUBLES);
    writePacked(writer, new Uint8Array(values.buffer, values.byteOffset, count * 8));
    return;
  }
  const width = bitsOf(s.max - s.min);
  const stepRange = s.maxStep - s.minStep;
  const ordered = use === 'values' && count > 1;
  const deltaWidth = ordered && stepRange < s.max - s.min ? bitsOf(stepRange) : width;
  const runBits = s.runCount * (RUN_START_BITS + width) + RUNS_OVERHEAD_BITS;
  if (s.runCount > 1 && runBits < count * deltaWidth) writeRunStream(writer, values, count, s);
  else writePackable(writer, values, count, s, ordered);
}

function damaged(what: string): never {
  throw new EngineError('CORRUPTION', what);
}

/** A u32 view of the next `count` words, or a copy when they do not lie at a multiple of four. */
export function readWords(reader: ByteReader, count: number): Uint32Array {
  const bytes = reader.raw(count * 4);
  if (bytes.byteOffset % 4 === 0) return new Uint32Array(bytes.buffer, bytes.byteOffset, count);
  return new Uint32Array(new Uint8Array(bytes).buffer);
}

/** A stream of numbers that is open for reading: one by one, or all. Views the bytes it was read from. */
export class IntegerStream {
  readonly count: number;
  readonly #encoding: number;
  readonly #base: number;
  readonly #step: number;
  readonly #width: number;
  readonly #low: Uint32Array;
  readonly #high: Uint32Array;
  #values: Float64Array | undefined;

  /** Throws CORRUPTION when the bytes are not those of a stream of `count` numbers. */
  constructor(reader: ByteReader, count: number, mayRun = true) {
    const head = count === 0 ? CONSTANT : reader.u8();
    const encoding = head & ENCODING_MASK;
    this.count = count;
    this.#encoding = encoding;
    this.#base = 0;
    this.#step = 0;
    this.#width = 0;
    this.#low = new Uint32Array(0);
    this.#high = this.#low;
    if (count === 0) return;
    if (encoding === RUNS && mayRun) {
      this.#values = readRuns(reader, count);
    } else if (encoding === DOUBLES) {
      this.#values = readDoubles(reader, count);
    } else if (encoding <= DELTA) {
      const base = reader.varint();
      this.#base = head & BASE_NEGATIVE ? -base : base;
      if (encoding === CONSTANT) return;
      const step = encoding === DELTA ? reader.varint() : 0;
      this.#step = head & STEP_NEGATIVE ? -step : step;
      this.#width = reader.u8();
      if (this.#width > WIDTH_MAX) damaged(`numbers of ${this.#width} bits`);
      reader.pad(4);
      const packed = encoding === DELTA ? count - 1 : count;
      this.#low = readWords(reader, packedWords(packed, Math.min(this.#width, WORD_BITS)));
      if (this.#width > WORD_BITS) {
        this.#high = readWords(reader, packedWords(packed, this.#width - WORD_BITS));
      }
    } else {
      damaged(`unknown stream encoding ${encoding}`);
    }
  }

  /** Whether all values are the same without any being stored. */
  get isConstant(): boolean {
    return this.#encoding === CONSTANT;
  }

  /** The value at `index`, which is below `count`. */
  at(index: number): number {
    if (this.#encoding === CONSTANT) return this.#base;
    if (this.#encoding !== PACKED) return this.values()[index];
    const lower = unpackOne(this.#low, Math.min(this.#width, WORD_BITS), index);
    if (this.#width <= WORD_BITS) return this.#base + lower;
    return this.#base + unpackOne(this.#high, this.#width - WORD_BITS, index) * WORD_RANGE + lower;
  }

  /** All values; decoded once and kept. Not to be written. */
  values(): Float64Array {
    this.#values ??= this.#decode();
    return this.#values;
  }

  #decode(): Float64Array {
    const values = new Float64Array(this.count);
    if (this.#encoding === CONSTANT) return values.fill(this.#base);
    const delta = this.#encoding === DELTA;
    const packed = delta ? this.count - 1 : this.count;
    const lower = unpack(this.#low, packed, Math.min(this.#width, WORD_BITS));
    const upper =
      this.#width > WORD_BITS ? unpack(this.#high, packed, this.#width - WORD_BITS) : undefined;
    const at = delta ? 1 : 0;
    const offset = delta ? this.#step : this.#base;
    for (let index = 0; index < packed; index++) values[at + index] = offset + lower[index];
    if (upper !== undefined) {
      for (let index = 0; index < packed; index++) {
        values[at + index] = offset + (upper[index] * WORD_RANGE + lower[index]);
      }
    }
    if (!delta) return values;
    values[0] = this.#base;
    for (let index = 1; index < this.count; index++) values[index] += values[index - 1];
    return values;
  }

  /** All values as whole numbers up to `max`; a new array. Throws CORRUPTION when one is not. */
  ids(max: number): Uint32Array {
    const ids = this.#decodeIds();
    for (let index = 0; index < ids.length; index++) {
      if (ids[index] > max) damaged(`id ${ids[index]} of ${max}`);
    }
    return ids;
  }

  #decodeIds(): Uint32Array {
    if (this.#encoding === PACKED && this.#width <= WORD_BITS) {
      const ids = unpack(this.#low, this.count, this.#width);
      const base = this.#base;
      if (base !== 0) for (let index = 0; index < ids.length; index++) ids[index] += base;
      return ids;
    }
    return Uint32Array.from(this.values());
  }
}

function readRuns(reader: ByteReader, count: number): Float64Array {
  const runCount = reader.varint();
  if (runCount < 1 || runCount > count) damaged(`${runCount} runs of ${count} values`);
  const starts = new IntegerStream(reader, runCount, false).values();
  const heads = new IntegerStream(reader, runCount, false).values();
  const values = new Float64Array(count);
  for (let run = 0; run < runCount; run++) {
    const start = starts[run];
    const end = run + 1 < runCount ? starts[run + 1] : count;
    if (!(start >= 0 && start < end && end <= count) || (run === 0 && start !== 0)) {
      damaged(`run from ${start} to ${end} of ${count}`);
    }
    values.fill(heads[run], start, end);
  }
  return values;
}

function readDoubles(reader: ByteReader, count: number): Float64Array {
  const bytes = readPacked(reader);
  if (bytes.length !== count * 8) damaged(`${bytes.length} bytes for ${count} doubles`);
  return new Float64Array(new Uint8Array(bytes).buffer);
}
