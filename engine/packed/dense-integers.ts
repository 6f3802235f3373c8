import type { ByteWriter } from '../base/bytes.ts';
import { bitsOf } from './bitpack.ts';
import {
  CODES_MAX,
  extentOf,
  idsToWrite,
  isSafe,
  plainBits,
  StreamHead,
  type StreamUse,
  writeIntegers,
  writeMeasured,
  writePlain,
  writeWords,
} from './integers.ts';
import type { Extent } from './stream-kernel.ts';

const { CODES, PACKED, DELTA, BASE_NEGATIVE, STEP_NEGATIVE, PATCHED } = StreamHead;
/** Fewer values are not worth a look. */
const VALUES_MIN = 64;
/** Share of the plain bits up to which other forms are taken. */
const CODED_MAX = 0.95;
const PATCHED_MAX = 0.9;
/** One number in so many is patched at most: they are read one by one. */
const PATCH_RATIO = 8;
/** Bits of a place beside those of the mean distance of places. */
const PLACE_BITS = 3;
/** Bits reckoned for what stands beside words. */
const HEAD_BITS = 64;
const WIDTH_MAX = 32;

/** Numbers by how many bits they have. */
const widths = new Uint32Array(WIDTH_MAX + 1);
/** Codes of the values of a block, as they are found. */
const codeAt = new Uint8Array(2 ** 16);
const SLOT_BITS = 10;
const slots = new Uint16Array(2 ** SLOT_BITS);

/** A width for words, and how many numbers have more bits. */
interface PatchPlan {
  width: number;
  patchCount: number;
  bits: number;
}

/**
 * Writes `values[0, count)` as `writeIntegers` does, or as codes or patched where that is smaller: for what is written
 * once, as it takes longer. Ids are never patched.
 */
export function writeDense(
  writer: ByteWriter,
  values: Float64Array,
  count: number,
  use: StreamUse,
): void {
  if (count < VALUES_MIN) {
    writeIntegers(writer, values, count, use);
    return;
  }
  const s = extentOf(values, count);
  if (!isSafe(s) || s.min === s.max) {
    writeMeasured(writer, values, count, use, s);
    return;
  }
  let least = plainBits(s, count, use);
  const table = codesOf(values, count, bitsOf(s.max - s.min));
  const codedBits = table === undefined ? Number.POSITIVE_INFINITY : bitsOfCodes(table, s, count);
  const isCoded = codedBits <= least * CODED_MAX;
  if (isCoded) least = codedBits;
  const packed = use === 'ids' ? undefined : packedPlan(values, count, s);
  const delta = use === 'ids' ? undefined : deltaPlan(values, count, s);
  const isDelta = (delta?.bits ?? least) < (packed?.bits ?? least);
  const plan = isDelta ? delta : packed;
  if (plan !== undefined && plan.bits <= least * PATCHED_MAX) {
    if (isDelta) writeDeltas(writer, values, count, s, plan);
    else writePacked(writer, values, count, s, plan);
  } else if (isCoded && table !== undefined) writeCodes(writer, table, count);
  else writeMeasured(writer, values, count, use, s);
}

function bitsOfCodes(table: Float64Array, { min, max }: Extent, count: number): number {
  return count * bitsOf(table.length - 1) + table.length * bitsOf(max - min) + HEAD_BITS;
}

/**
 * Distinct values, in the order in which they come, whose numbers are in `codeAt`; `undefined` when they are too many
 * to take fewer bits than `width`.
 */
function codesOf(values: Float64Array, count: number, width: number): Float64Array | undefined {
  const most = Math.min(CODES_MAX, 2 ** (width - 1));
  if (count > codeAt.length) return undefined;
  slots.fill(0);
  const found = new Float64Array(most);
  let foundCount = 0;
  let last = values[0] + 1;
  let code = 0;
  for (let index = 0; index < count; index++) {
    const value = values[index];
    if (value !== last) {
      last = value;
      let slot = Math.imul(value ^ (value / 2 ** 32), 0x9e3779b1) >>> (32 - SLOT_BITS);
      while (slots[slot] !== 0 && found[slots[slot] - 1] !== value) {
        slot = (slot + 1) & (slots.length - 1);
      }
      if (slots[slot] === 0) {
        if (foundCount === most) return undefined;
        found[foundCount++] = value;
        slots[slot] = foundCount;
      }
      code = slots[slot] - 1;
    }
    codeAt[index] = code;
  }
  return found.subarray(0, foundCount);
}

function writeCodes(writer: ByteWriter, found: Float64Array, count: number): void {
  const table = found.slice().sort();
  const ranks = new Uint8Array(table.length);
  for (let code = 0; code < found.length; code++) ranks[code] = table.indexOf(found[code]);
  writer.u8(CODES);
  writer.varint(table.length);
  writePlain(writer, table, table.length, true);
  const ids = idsToWrite(count);
  for (let index = 0; index < count; index++) ids[index] = ranks[codeAt[index]];
  writeWords(writer, count, bitsOf(table.length - 1));
}

/** The cheapest width for `count` numbers, of which `widths` tells how many have how many bits. */
function bestWidth(count: number, fullWidth: number): PatchPlan | undefined {
  let best: PatchPlan | undefined;
  let patchCount = 0;
  for (let width = fullWidth - 1; width >= 0; width--) {
    patchCount += widths[width + 1];
    if (patchCount * PATCH_RATIO > count) break;
    const patchBits = bitsOf(Math.floor(count / patchCount)) + PLACE_BITS + fullWidth - width;
    const bits = count * width + patchCount * patchBits + 2 * HEAD_BITS;
    if (bits < (best?.bits ?? Number.POSITIVE_INFINITY)) best = { width, patchCount, bits };
  }
  return best;
}

function packedPlan(values: Float64Array, count: number, s: Extent): PatchPlan | undefined {
  const fullWidth = bitsOf(s.max - s.min);
  if (fullWidth > WIDTH_MAX) return undefined;
  widths.fill(0);
  const { min } = s;
  for (let index = 0; index < count; index++) widths[32 - Math.clz32(values[index] - min)]++;
  return bestWidth(count, fullWidth);
}

function deltaPlan(values: Float64Array, count: number, s: Extent): PatchPlan | undefined {
  const fullWidth = bitsOf(s.maxStep - s.minStep);
  if (fullWidth > WIDTH_MAX) return undefined;
  widths.fill(0);
  const { minStep } = s;
  for (let index = 1; index < count; index++) {
    widths[32 - Math.clz32(values[index] - values[index - 1] - minStep)]++;
  }
  return bestWidth(count - 1, fullWidth);
}

function writePacked(
  writer: ByteWriter,
  values: Float64Array,
  count: number,
  { min }: Extent,
  plan: PatchPlan,
): void {
  writer.u8(PACKED | PATCHED | (min < 0 ? BASE_NEGATIVE : 0));
  writer.varint(Math.abs(min));
  const numbers = idsToWrite(count);
  for (let index = 0; index < count; index++) numbers[index] = values[index] - min;
  writePatched(writer, numbers, count, plan);
}

function writeDeltas(
  writer: ByteWriter,
  values: Float64Array,
  count: number,
  { minStep }: Extent,
  plan: PatchPlan,
): void {
  const [first] = values;
  const signs = (first < 0 ? BASE_NEGATIVE : 0) | (minStep < 0 ? STEP_NEGATIVE : 0);
  writer.u8(DELTA | PATCHED | signs);
  writer.varint(Math.abs(first));
  writer.varint(Math.abs(minStep));
  const numbers = idsToWrite(count);
  for (let index = 1; index < count; index++) {
    numbers[index - 1] = values[index] - values[index - 1] - minStep;
  }
  writePatched(writer, numbers, count - 1, plan);
}

/** Writes the words of `numbers`, which are those of `idsToWrite`, and the bits for which they have no room. */
function writePatched(
  writer: ByteWriter,
  numbers: Uint32Array,
  count: number,
  { width, patchCount }: PatchPlan,
): void {
  const places = new Float64Array(patchCount);
  const highs = new Float64Array(patchCount);
  const most = 2 ** width - 1;
  let found = 0;
  for (let at = 0; at < count; at++) {
    if (numbers[at] <= most) continue;
    places[found] = at;
    highs[found++] = Math.floor(numbers[at] / 2 ** width);
    numbers[at] &= most;
  }
  writeWords(writer, count, width);
  writer.varint(patchCount);
  writePlain(writer, places, patchCount, true);
  writePlain(writer, highs, patchCount, false);
}
