import { EngineError } from '../base/errors.ts';
import type { Block, ColumnInfo } from '../segment/block.ts';
import type { BlockRef } from '../segment/frame.ts';
import { addRow, allRows, type Bitmap, noRows } from './bitmap.ts';
import type { QueryStats } from './query.ts';

/** What a query reads from; a Reader is one. */
export interface BlockSource {
  /** The manifest's secret: event ids are signed with it, values hashed. */
  readonly secret: Uint8Array;
  /** Opens a block. Throws CORRUPTION when its header or directory is damaged, IO when the file is not there. */
  open(ref: BlockRef): Block;
  /**
   * What the block at `ref` has, when that is known without opening it, as in sealed segments. Throws as `open`; a
   * source without it knows nothing.
   */
  columns?(ref: BlockRef): readonly ColumnInfo[] | undefined;
}

/** How far a query is: what its generator yields after each unit of work, a block, 1 to 5 ms. */
export interface Progress {
  unitsDone: number;
  unitsTotal: number;
}

/** Whether `error` says that bytes on disk are not what was written; all else is not for a query to handle. */
export function isDamage(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'CORRUPTION';
}

/** The stats of a query that has done nothing yet. */
export function noStats(blocksTotal: number): QueryStats {
  return { blocksTotal, blocksOpened: 0, rowsScanned: 0, blocksDamaged: 0 };
}

/** Whether rows of a block may have `fromMs <= time < toMs`. */
export function overlaps(ref: BlockRef, fromMs: number, toMs: number): boolean {
  return ref.maxTimeMs >= fromMs && ref.minTimeMs < toMs;
}

/** Whether all rows of a block have `fromMs <= time < toMs`. */
export function isInside(ref: BlockRef, fromMs: number, toMs: number): boolean {
  return ref.minTimeMs >= fromMs && ref.maxTimeMs < toMs;
}

/** The rows of a block with `fromMs <= time < toMs`. Throws CORRUPTION when its times are damaged. */
export function rowsInRange(block: Block, fromMs: number, toMs: number): Bitmap {
  if (isInside(block.ref, fromMs, toMs)) return allRows(block.rowCount);
  const times = block.timeMs();
  if (block.ref.sealed)
    return rowsFromTo(block.rowCount, firstAt(times, fromMs), firstAt(times, toMs));
  const rows = noRows(block.rowCount);
  for (let row = 0; row < times.length; row++) {
    if (times[row] >= fromMs && times[row] < toMs) addRow(rows, row);
  }
  return rows;
}

/** The first row of ascending `times` at or after `timeMs`: their count when there is none. */
export function firstAt(times: Float64Array, timeMs: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The rows `[from, to)` of `rowCount`. */
export function rowsFromTo(rowCount: number, from: number, to: number): Bitmap {
  const rows = noRows(rowCount);
  for (let row = from; row < to; row++) addRow(rows, row);
  return rows;
}
