import { BLOCK_ROWS_MAX } from '../base/limits.ts';
import { ThreadKernel } from '../kernel/thread-kernel.ts';
import { packedWords } from './bitpack.ts';
import {
  type CellRows,
  type CellSums,
  type GroupedRows,
  type PackedSpan,
  type PackedSteps,
  type PackedValues,
  storedEnd,
  type Tallies,
} from './cells.ts';
import { PackedKernel } from './packed-kernel.ts';
import * as plain from './plain-cells.ts';
import { TALLIED_MAX, talliesOf } from './plain-tally.ts';

/*
 * Questions about packed values: the kernel of the thread answers, or plain TypeScript where there is none or it has no
 * room. Views that are given are good until the next question.
 */

const WORD_BITS = 32;
/** Numbers below are looked for by differences. */
const FOUND_MAX = 2 ** 31;

const ofThread = new ThreadKernel(() => PackedKernel.make());

/** True when the values have room in the memory of the kernel: those of a block do. */
function fits({ count }: PackedValues): boolean {
  return count <= BLOCK_ROWS_MAX;
}

/** True when a kernel answers. */
export function hasKernel(): boolean {
  return ofThread.get() !== undefined;
}

/** A bit for each of the stored numbers, set when it is from `first` to `last`, below 2^31; in a new array. */
export function findValues(values: PackedValues, first: number, last: number): Uint32Array {
  const { count } = values;
  if (first > last || first >= storedEnd(values))
    return new Uint32Array(Math.ceil(count / WORD_BITS));
  const found = fits(values)
    ? ofThread.ask((kernel) => kernel.find(values, first, Math.min(last, FOUND_MAX - 1)))
    : undefined;
  return found?.answer ?? plain.findValues(values, first, last);
}

/**
 * How many of the values of a span, one a row, each run of rows has: number i ends before row `ends[i]`. Good until the
 * next question.
 */
export function countSpan(span: PackedSpan, ends: Uint32Array, runCount: number): Uint32Array {
  const { values, first } = span;
  const last = Math.min(span.last, FOUND_MAX - 1);
  if (first > last || first >= storedEnd(values)) return new Uint32Array(runCount);
  const found = fits(values)
    ? ofThread.ask((kernel) => kernel.countRuns({ values, first, last }, ends, runCount))
    : undefined;
  return found?.answer ?? plain.countSpan({ values, first, last }, ends, runCount);
}

/**
 * A bit for each of the numbers, below 2^31, set when `chosen` has a 1 for it, in a new array; `undefined` when one of
 * them is behind the last of `chosen`.
 */
export function chooseValues(values: PackedValues, chosen: Uint8Array): Uint32Array | undefined {
  const found = fits(values) ? ofThread.ask((kernel) => kernel.choose(values, chosen)) : undefined;
  return found?.answer ?? plain.chooseValues(values, chosen);
}

/** `count` of packed values from `from` on, a multiple of 128; `undefined` of patched ones. */
export function packedPart(
  { words, width, base, patches }: PackedValues,
  from: number,
  count: number,
): PackedValues | undefined {
  if (patches !== undefined) return undefined;
  const first = packedWords(from, width);
  return { words: words.subarray(first, first + packedWords(count, width)), count, width, base };
}

/** The numbers, below 2^31, in a new array; `undefined` when one is above `last`. */
export function unpackValues(values: PackedValues, last: number): Uint32Array | undefined {
  return unpackedView(values, last)?.slice();
}

/** The same, good until the next question. */
export function unpackedView(values: PackedValues, last: number): Uint32Array | undefined {
  const found = fits(values) ? ofThread.ask((kernel) => kernel.unpack(values, last)) : undefined;
  return found === undefined ? plain.unpackValues(values, last) : found.answer;
}

/** True when the kernel finds that the last of ascending numbers is below `end`. */
export function areBelow(steps: PackedSteps, end: number): boolean {
  if (steps.count > BLOCK_ROWS_MAX) return false;
  return ofThread.ask((kernel) => kernel.lastOf(steps) < end)?.answer === true;
}

/** Rows by cell. */
export function countCells(cells: CellRows): Uint32Array {
  const found = ofThread.get()?.takes(cells)
    ? ofThread.ask((kernel) => kernel.count(cells))
    : undefined;
  return found?.answer ?? plain.countCells(cells);
}

/** The rows whose cell has a group, by `groups`: group + 1 by cell, 0 for none. */
export function groupCells(cells: CellRows, groups: Uint32Array): GroupedRows {
  const found = ofThread.get()?.takes(cells)
    ? ofThread.ask((kernel) => kernel.group(cells, groups))
    : undefined;
  return found?.answer ?? plain.groupCells(cells, groups);
}

/** Sums of `numbers`, one a row and below 2^31, by cell; with their bounds when these are wanted. */
export function sumCells(cells: CellRows, numbers: PackedValues, withBounds: boolean): CellSums {
  const isTaken = ofThread.get()?.takesSums(cells) === true;
  const found = isTaken
    ? ofThread.ask((kernel) => kernel.sum(cells, numbers, withBounds))
    : undefined;
  return found?.answer ?? plain.sumCells(cells, numbers);
}

/** Tallies of the codes of the rows of the bits; `plainCodes` gives the same codes by row. */
export function tallyRows(
  codes: PackedValues,
  rows: Uint32Array,
  plainCodes: () => Uint32Array,
): Tallies {
  const found = fits(codes)
    ? ofThread.ask((kernel) => kernel.tallies(codes, rows, TALLIED_MAX + 1))
    : undefined;
  return found?.answer ?? talliesOf(plainCodes(), rows);
}
