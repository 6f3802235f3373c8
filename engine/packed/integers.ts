import { assert } from '../base/assert.ts';
import type { ByteReader, ByteWriter } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { bitsOf, pack, packedWords } from './bitpack.ts';
import { compress, writePacked } from './compress.ts';
import { free } from './growth.ts';
import { askStream, type Extent, type IdExtent, streamKernel } from './stream-kernel.ts';

/** Form of a stored stream, and the flags beside it. The numbers are on disk. Source: FORMAT.md 4.2. */
export const StreamHead = {
  CONSTANT: 0,
  PACKED: 1,
  DELTA: 2,
  RUNS: 3,
  DOUBLES: 4,
  CODES: 5,
  ENCODING_MASK: 7,
  BASE_NEGATIVE: 8,
  STEP_NEGATIVE: 16,
  PATCHED: 32,
} as const;
/** Values that a stream of codes has at most. */
export const CODES_MAX = 256;

/** Bits of a word; wider numbers are stored as two. */
export const WORD_BITS = 32;
/** Numbers that a word holds. */
export const WORD_RANGE = 2 ** WORD_BITS;

const { CONSTANT, PACKED, DELTA, RUNS, DOUBLES, BASE_NEGATIVE, STEP_NEGATIVE } = StreamHead;
/** Bits reckoned for the start of a run when sizes are compared. */
const RUN_START_BITS = 16;
/** A run-length stream has two streams inside: its overhead in bits. */
const RUNS_OVERHEAD_BITS = 128;

/**
 * Use of a stream: `ids` are read at random and by kernels, so never stored as differences; `values` take the
 * smallest form.
 */
export type StreamUse = 'ids' | 'values';

/** Looks at all of `values[0, count)`. */
export function extentOf(values: Float64Array, count: number): Extent {
  return askStream(count, (kernel) => kernel.extent(values, count)) ?? plainExtent(values, count);
}

function plainExtent(values: Float64Array, count: number): Extent {
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

/**
 * Values being packed, as their low 32 bits (a store cuts to them) and the bits above, and the words made of them: in
 * the memory of the kernel, or where that has no room in arrays of their own.
 */
let low: Uint32Array = new Uint32Array(0);
let high = low;
let words = low;
let own = { low, high, words };

/** Turns to memory for `count` values. */
function takeScratch(count: number): void {
  const kernel = streamKernel(count);
  if (kernel === undefined && own.low.length < count + 4) {
    const make = (): Uint32Array => new Uint32Array(count + 4);
    own = { low: make(), high: make(), words: make() };
  }
  ({ low, high, words } = kernel ?? own);
}

/** Packs the first `count` numbers of `idsToWrite`, each below 2^width, and overwrites them. */
export function writeWords(writer: ByteWriter, count: number, width: number): void {
  writeLess(writer, count, width, 0);
}

/** Packs them, each less `base` and then below 2^width. */
function writeLess(writer: ByteWriter, count: number, width: number, base: number): void {
  writer.u8(width);
  writer.pad(4);
  writePart(writer, low, count, Math.min(width, WORD_BITS), base);
  if (width > WORD_BITS) writePart(writer, high, count, width - WORD_BITS, 0);
}

function writePart(
  writer: ByteWriter,
  values: Uint32Array,
  count: number,
  width: number,
  base: number,
): void {
  const packed = askStream(count, (kernel) =>
    values === kernel.low || values === kernel.high
      ? kernel.pack(values === kernel.high, count, width, base)
      : undefined,
  );
  if (packed === undefined) {
    if (base !== 0) for (let index = 0; index < count; index++) values[index] -= base;
    pack(values, count, width, words);
  }
  writer.words(words, packedWords(count, width));
}

/**
 * Memory for `count` whole numbers below 2^32 that are about to be written by `writeIds`. What it holds is anything.
 */
export function idsToWrite(count: number): Uint32Array {
  takeScratch(count);
  return low;
}

function idExtentOf(ids: Uint32Array, count: number): IdExtent {
  const found = askStream(count, (kernel) =>
    ids === kernel.low ? kernel.idExtent(count) : undefined,
  );
  return found ?? plainIdExtent(ids, count);
}

function plainIdExtent(ids: Uint32Array, count: number): IdExtent {
  let min = ids[0];
  let max = min;
  let previous = min;
  let runCount = 1;
  for (let index = 1; index < count; index++) {
    const id = ids[index];
    if (id < min) min = id;
    if (id > max) max = id;
    if (id !== previous) runCount++;
    previous = id;
  }
  return { min, max, runCount };
}

/** Writes the first `count` numbers of `idsToWrite` as `writeIntegers` writes ids, and overwrites them. */
export function writeIds(writer: ByteWriter, count: number): void {
  if (count === 0) return;
  const { min, max, runCount } = idExtentOf(low, count);
  const width = bitsOf(max - min);
  if (min !== max && runCount * (RUN_START_BITS + width) + RUNS_OVERHEAD_BITS < count * width) {
    writeIntegers(writer, Float64Array.from(low.subarray(0, count)), count, 'ids');
    return;
  }
  writer.u8(min === max ? CONSTANT : PACKED);
  writer.varint(min);
  if (min !== max) writeLess(writer, count, width, min);
}

/** Puts a whole number below 2^53 where numbers are packed from. */
function setNumber(index: number, value: number): void {
  low[index] = value;
  high[index] = Math.floor(value / WORD_RANGE);
}

function writePackedStream(
  writer: ByteWriter,
  values: Float64Array,
  count: number,
  s: Extent,
): void {
  takeScratch(count);
  const { min } = s;
  const width = bitsOf(s.max - min);
  const isWide = width > WORD_BITS;
  const isTaken = askStream(count, (kernel) => kernel.relative(values, count, min, isWide));
  if (isTaken !== true) {
    for (let index = 0; index < count; index++) setNumber(index, values[index] - min);
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
  takeScratch(count);
  const { minStep } = s;
  const width = bitsOf(s.maxStep - minStep);
  const isWide = width > WORD_BITS;
  const isTaken = askStream(count, (kernel) => kernel.steps(values, count, minStep, isWide));
  if (isTaken !== true) {
    for (let index = 1; index < count; index++) {
      setNumber(index - 1, values[index] - values[index - 1] - minStep);
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
  writePlain(writer, starts, s.runCount, true);
  writePlain(writer, heads, s.runCount, true);
  free(starts, heads);
}

/** True when differences take fewer bits than the values. */
function hasSmallSteps({ min, max, minStep, maxStep }: Extent): boolean {
  return maxStep - minStep < (max - min) / 2;
}

/** Writes safe whole numbers as a stream that may stand inside of another: constant, packed or differences. */
export function writePlain(
  writer: ByteWriter,
  values: Float64Array,
  count: number,
  ordered: boolean,
): void {
  writePackable(writer, values, count, extentOf(values, count), ordered);
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
  } else if (ordered && hasSmallSteps(s)) {
    writeDeltaStream(writer, values, count, s);
  } else {
    writePackedStream(writer, values, count, s);
  }
}

/** True when all values are whole numbers, and so are their differences, that doubles tell apart. */
export function isSafe({ min, max, whole }: Extent): boolean {
  const isExact = Number.isSafeInteger(min) && Number.isSafeInteger(max);
  return whole && isExact && Number.isSafeInteger(max - min);
}

function isOrdered(count: number, use: StreamUse): boolean {
  return use === 'values' && count > 1;
}

/** Bits of a value, or of a difference where these are smaller. */
function stepWidth({ min, max, minStep, maxStep }: Extent, count: number, use: StreamUse): number {
  const range = max - min;
  return bitsOf(isOrdered(count, use) ? Math.min(maxStep - minStep, range) : range);
}

function runBits({ min, max, runCount }: Extent): number {
  return runCount * (RUN_START_BITS + bitsOf(max - min)) + RUNS_OVERHEAD_BITS;
}

/** Bits that `writeIntegers` takes for safe numbers, nearly. */
export function plainBits(s: Extent, count: number, use: StreamUse): number {
  return Math.min(runBits(s), count * stepWidth(s, count, use));
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
  if (count > 0) writeMeasured(writer, values, count, use, extentOf(values, count));
}

/** Does the same with at least one value, at all of which `extentOf` has looked. */
export function writeMeasured(
  writer: ByteWriter,
  values: Float64Array,
  count: number,
  use: StreamUse,
  s: Extent,
): void {
  if (!isSafe(s)) {
    assert(use === 'values', 'ids are whole numbers');
    writer.u8(DOUBLES);
    const bytes = new Uint8Array(values.buffer, values.byteOffset, count * 8);
    writePacked(writer, bytes, compress);
    return;
  }
  if (s.runCount > 1 && runBits(s) < count * stepWidth(s, count, use)) {
    writeRunStream(writer, values, count, s);
  } else writePackable(writer, values, count, s, isOrdered(count, use));
}

/** Writes a stream of numbers as `writeIntegers` does. */
export type WriteIntegers = typeof writeIntegers;

/** Reads how many codes a stream of `count` values has. Throws CORRUPTION. */
export function readCodeCount(reader: ByteReader, count: number): number {
  const codeCount = reader.varint();
  if (codeCount < 2 || codeCount > Math.min(count, CODES_MAX)) damaged(`${codeCount} codes`);
  return codeCount;
}

/** The values of codes, if they ascend. Throws CORRUPTION. */
export function checkedCodes(table: Float64Array): Float64Array {
  for (let code = 1; code < table.length; code++) {
    if (!(table[code] > table[code - 1])) damaged('values of codes are not in order');
  }
  return table;
}
