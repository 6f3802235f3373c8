import type { ByteReader, ByteWriter } from '../../../base/bytes.ts';
import { damaged } from '../../../base/errors.ts';
import { writeDense } from '../../../packed/dense-integers.ts';
import { IntegerStream } from '../../../packed/integer-stream.ts';
import type { BlockRef } from '../../frame.ts';
import { presentWriters, type RowKeys } from './present-writers.ts';

/** Rows from one mark to the next. Source: FORMAT.md 10.2. */
export const MARK_ROWS = 1_024;
/** Writers whose rows are marked; with more of them only times are. */
const MARKED_WRITERS_MAX = 16;

/** Marks of the rows of one writer. */
export interface WriterMarks {
  /** Rows of it before each multiple of MARK_ROWS, 0 among them, and last how many it has. */
  before: Float64Array;
  /**
   * By the same multiples but 0, from 0 on: the sequence, less the number of its rows before, of its first row from
   * there on; of its last one when there is none.
   */
  firsts: Float64Array;
}

/** Marks of a block, by which the time and the key of a row are read without those of most others. */
export interface RowMarks {
  /** Times of the rows whose numbers are multiples of MARK_ROWS, but 0. */
  times: Float64Array;
  /** In the order of the block's writers; none when they are too many. */
  writers: readonly WriterMarks[];
}

/** Number of the marks of so many rows. */
function markCountOf(rowCount: number): number {
  return Math.floor((rowCount - 1) / MARK_ROWS);
}

/** Writes the marks of the rows of a sealed block; nothing when it has none. Source: FORMAT.md 10.2. */
export function writeRowMarks(region: ByteWriter, timeMs: Float64Array, keys: RowKeys): void {
  const markCount = markCountOf(timeMs.length);
  if (markCount === 0) return;
  const times = Float64Array.from({ length: markCount }, (_, mark) => timeMs[rowOf(mark)]);
  writeDense(region, times, markCount, 'values');
  const { present, ranks } = presentWriters(keys.writers);
  const isMarked = present.length <= MARKED_WRITERS_MAX;
  region.u8(isMarked ? present.length : 0);
  if (!isMarked) return;
  const all = marksOf(keys, ranks, present.length);
  // What is left of the rows before a mark is of the last writer.
  for (const { before } of all.slice(0, -1)) {
    writeDense(region, before.subarray(1), markCount + 1, 'values');
  }
  for (const { firsts } of all) writeDense(region, firsts, markCount, 'values');
}

/** The row of a mark. */
function rowOf(mark: number): number {
  return (mark + 1) * MARK_ROWS;
}

/** The marks of each writer; `ranks` has their places by their numbers. */
function marksOf(
  { writers, sequences }: RowKeys,
  ranks: Uint8Array,
  writerCount: number,
): WriterMarks[] {
  const markCount = markCountOf(writers.length);
  const all = Array.from({ length: writerCount }, () => ({
    before: new Float64Array(markCount + 2),
    firsts: new Float64Array(markCount),
  }));
  const next = new Uint32Array(writerCount);
  // Marks for which the first row of each writer was met.
  const met = new Uint32Array(writerCount);
  const last = new Float64Array(writerCount);
  for (let row = 0; row < writers.length; row++) {
    const mark = Math.floor(row / MARK_ROWS);
    if (row === mark * MARK_ROWS) {
      for (const [rank, { before }] of all.entries()) before[mark] = next[rank];
    }
    const rank = ranks[writers[row]];
    last[rank] = sequences[row] - next[rank]++;
    while (met[rank] < mark) all[rank].firsts[met[rank]++] = last[rank];
  }
  for (const [rank, { before, firsts }] of all.entries()) {
    before[markCount + 1] = next[rank];
    firsts.fill(last[rank], met[rank]);
  }
  return all;
}

/** Reads the marks of a block. Throws CORRUPTION. */
export function readRowMarks(
  reader: ByteReader,
  { rowCount, minTimeMs, maxTimeMs }: Pick<BlockRef, 'rowCount' | 'minTimeMs' | 'maxTimeMs'>,
): RowMarks {
  const markCount = markCountOf(rowCount);
  if (markCount === 0) damaged(`marks of ${rowCount} rows`);
  const times = new IntegerStream(reader, markCount).values();
  let last = minTimeMs;
  for (const time of times) {
    if (!(time >= last && time <= maxTimeMs)) damaged(`a mark of time ${time} behind ${last}`);
    last = time;
  }
  const writerCount = reader.u8();
  if (writerCount > MARKED_WRITERS_MAX) damaged(`marks of ${writerCount} writers`);
  const before = writerCount === 0 ? [] : readBefore(reader, writerCount, rowCount);
  const writers = before.map((counts) => {
    return { before: counts, firsts: new IntegerStream(reader, markCount).values() };
  });
  if (reader.remaining !== 0) damaged(`${reader.remaining} bytes after marks`);
  return { times, writers };
}

/** Reads how many rows of each writer stand before each mark. */
function readBefore(reader: ByteReader, writerCount: number, rowCount: number): Float64Array[] {
  const markCount = markCountOf(rowCount);
  const rest = new Float64Array(markCount + 2);
  for (let mark = 1; mark <= markCount; mark++) rest[mark] = mark * MARK_ROWS;
  rest[markCount + 1] = rowCount;
  const all = Array.from({ length: writerCount - 1 }, () => {
    const before = new Float64Array(markCount + 2);
    before.set(new IntegerStream(reader, markCount + 1).values(), 1);
    for (let mark = 0; mark < rest.length; mark++) rest[mark] -= before[mark];
    return before;
  });
  all.push(rest);
  for (const before of all) {
    for (let mark = 1; mark < before.length; mark++) {
      const rows = before[mark] - before[mark - 1];
      if (!(rows >= 0 && Number.isInteger(rows))) damaged(`${rows} rows of a writer at a mark`);
    }
    if (!(before[markCount + 1] > 0)) damaged('a writer without rows');
  }
  return all;
}

/** Checks all times of a block against its marks. Throws CORRUPTION. */
export function checkTimes(times: Float64Array, marks: RowMarks): void {
  for (const [mark, time] of marks.times.entries()) {
    const stored = times[rowOf(mark)];
    if (stored !== time) damaged(`row ${rowOf(mark)} has time ${stored}, its mark ${time}`);
  }
}
