import { EngineError } from '../../base/errors.ts';
import type { CountedEntries, PossibleParts, Terms } from '../../column/entries.ts';
import { hasKernel } from '../../packed/packed.ts';
import type { Block } from '../../segment/block/block.ts';
import type { SumSource } from '../../segment/block/block-sources.ts';
import type { BlockColumns } from '../../segment/column-outline.ts';
import type { Footer } from '../../segment/footer.ts';
import { type BlockRef, isHole } from '../../segment/frame.ts';
import { addRow, allRows, type Bitmap, dropRow, nextRow, noRows } from './bitmap.ts';
import type { MemoryBound } from './budget.ts';
import { compareEvents, type EventIds, type EventKey } from './event-id.ts';
import type { FilterCache, SelectedRows, VisibleMinutes } from './filter-cache.ts';
import type { QueryStats } from './query.ts';

/** Source that a query reads from; a Reader is one. */
export interface BlockSource extends MemoryBound {
  /** The manifest's secret: values are hashed with it. */
  readonly secret: Uint8Array;
  readonly ids: EventIds;
  /** How many rows filters let through, kept from query to query; a source without it keeps nothing. */
  readonly visible?: FilterCache<VisibleMinutes>;
  /** The rows of whole blocks that predicates select, kept likewise. */
  readonly selected?: FilterCache<SelectedRows> | undefined;
  /** Sums of dictionaries, kept likewise. */
  readonly sums?: SumSource;
  /** Opens a block. Throws CORRUPTION when its header or directory is damaged or its file is not there; IO. */
  open(ref: BlockRef): Block;
  /**
   * The columns of the block at `ref`, when they are known without opening it, as in sealed segments. Throws as `open`;
   * a source without it knows nothing.
   */
  columns?(ref: BlockRef): BlockColumns | undefined;
  /** The footer of the sealed segment in which `ref` lies. Throws as `open`; `undefined` as for `columns`. */
  footer?(ref: BlockRef): Footer | undefined;
  /**
   * The dictionary number `number` of the sealed segment in which `ref` lies. Throws as `open`; a source without it
   * gives none.
   */
  dictionary?(ref: BlockRef, number: number): CountedEntries;
  /**
   * Finds parts of a column of strings of the block at `ref`, as `StringColumn.partsWith`. Throws as `open`; a source
   * without it knows nothing.
   */
  partsWith?(ref: BlockRef, path: string, terms: Terms): PossibleParts | undefined;
  /**
   * Counts the rows of the sealed segment in which `ref` lies whose string at `path` has a word, which is lower-cased;
   * `undefined` when words do not tell. Throws as `open`; a source without it knows nothing.
   */
  rowsWith?(ref: BlockRef, path: string, word: Uint8Array): number | undefined;
}

/**
 * How far a query is, in blocks mostly: what its generator yields after each unit of work, a block or a part of one, 1
 * to 5 ms.
 */
export interface Progress {
  unitsDone: number;
  unitsTotal: number;
  /** True when nothing can be done before other threads have found something. */
  waits?: boolean;
  /** Bytes of what it has found by now, as far as that may be much. */
  heldBytes?: number;
}

/**
 * Events with `fromMs <= date < toMs`, of those at `fromMs` only the ones from `floor` on, when it is there: `fromMs`
 * is its time.
 */
export interface Reach {
  fromMs: number;
  toMs: number;
  floor?: EventKey;
}

/** True when `error` says that bytes on disk are not what was written; all else is not for a query to handle. */
export function isDamage(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'CORRUPTION';
}

/** The stats of a query that has done nothing yet. */
export function noStats(blocksTotal: number): QueryStats {
  const read = { blocksOpened: 0, blocksRefuted: 0, blocksCounted: 0, rowsScanned: 0 };
  return { blocksTotal, ...read, blocksDamaged: 0, kernel: hasKernel() };
}

/** True when rows of a block may have `fromMs <= time < toMs`. */
export function overlaps(ref: BlockRef, fromMs: number, toMs: number): boolean {
  return ref.maxTimeMs >= fromMs && ref.minTimeMs < toMs;
}

/** True when all rows of a block have `fromMs <= time < toMs`; never for lost ones, which have to be met with. */
export function isInside(ref: BlockRef, fromMs: number, toMs: number): boolean {
  return ref.minTimeMs >= fromMs && ref.maxTimeMs < toMs && !isHole(ref);
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

/** True when all rows of a block are reached, as far as that is known without opening it. */
export function isReachedWhole(ref: BlockRef, { fromMs, toMs, floor }: Reach): boolean {
  return isInside(ref, floor === undefined ? fromMs : floor.timeMs + 1, toMs);
}

/** The rows of a block that are reached. Throws CORRUPTION when its times or keys are damaged. */
export function rowsReached(block: Block, { fromMs, toMs, floor }: Reach): Bitmap {
  const rows = rowsInRange(block, fromMs, toMs);
  if (floor !== undefined) dropBefore(rows, block, floor);
  return rows;
}

/** Takes the rows at the time of `floor` that come before it out of `rows`. Throws CORRUPTION. */
export function dropBefore(rows: Bitmap, block: Block, floor: EventKey): void {
  const { timeMs } = floor;
  if (!overlaps(block.ref, timeMs, timeMs + 1)) return;
  const times = block.timeMs();
  const { writers, sequences } = block.keys();
  for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
    if (times[row] !== timeMs) {
      if (block.ref.sealed && times[row] > timeMs) return;
      continue;
    }
    const key = { timeMs, writer: writers[row], sequence: sequences[row] };
    if (compareEvents(key, floor) < 0) dropRow(rows, row);
  }
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
