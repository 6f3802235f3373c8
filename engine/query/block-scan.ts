import type { Units } from '../base/pause.ts';
import type { Block } from '../segment/block.ts';
import type { BlockColumns } from '../segment/column-outline.ts';
import type { BlockRef } from '../segment/frame.ts';
import { allRows, type Bitmap, isEmpty } from './bitmap.ts';
import { bitmapBytesOf } from './budget.ts';
import { type Plan, planOf } from './plan.ts';
import { columnsOf, mayHaveRows } from './prune.ts';
import type { QueryStats, Selection, Snapshot } from './query.ts';
import { rowsWhere } from './scan.ts';
import {
  type BlockSource,
  isDamage,
  isReachedWhole,
  noStats,
  overlaps,
  type Progress,
  type Reach,
  rowsReached,
} from './source.ts';
import { telling } from './units.ts';

/** How a scan of the blocks ended. `full`: the visitor wanted no more; `damaged`: a block has to be left out. */
export type ScanOutcome = 'done' | 'full' | 'damaged';

/** What is given the blocks one after the other. */
export interface BlockVisitor {
  /** Whether it needs to see rows; otherwise `addCount` is enough. */
  readonly needsRows: boolean;
  /** Whether it wants no more blocks. */
  readonly isFull: boolean;
  /** Whether it does not need a block. */
  skips?(ref: BlockRef): boolean;
  /** Takes events of which nothing but their number is known. */
  addCount(eventCount: number): void;
  /** Takes all events of a block of which no more is known than its columns; false when it needs to see rows of it. */
  addColumns?(columns: BlockColumns): boolean;
  /** Takes `rows` of a block, in units. Throws CORRUPTION before it has taken anything, and LIMIT. */
  add(block: Block, rows: Bitmap): Units<void>;
}

/** Goes through the selected events of a snapshot, as often as needed; the same ones each time. */
export class BlockScan {
  readonly stats: QueryStats;
  /** Part of the blocks that the last scan went through before its visitor was full. */
  scanned = 1;
  readonly #source: BlockSource;
  readonly #reach: Reach;
  readonly #plan: Plan;
  readonly #refs: BlockRef[];
  readonly #damaged = new Set<BlockRef>();
  readonly #opened = new Set<BlockRef>();
  /** The selected rows of blocks that were scanned before, where these are not all. */
  readonly #rows = new Map<BlockRef, Bitmap>();
  #rowsBytesLeft: number;
  #scanCount = 0;
  #unitsDone = 0;
  #unitsTotal = 0;

  constructor(source: BlockSource, snapshot: Snapshot, selection: Selection & Reach) {
    const { predicate, fromMs, toMs } = selection;
    this.#source = source;
    this.#reach = selection;
    this.#plan = planOf(predicate);
    this.#rowsBytesLeft = bitmapBytesOf(source);
    this.stats = noStats(snapshot.blocks.length);
    this.#refs = snapshot.blocks.filter((ref) => overlaps(ref, fromMs, toMs));
  }

  /** Rows that the blocks have. */
  get rowCount(): number {
    return this.#refs.reduce((sum, { rowCount }) => sum + rowCount, 0);
  }

  /** All begins again, without the blocks that were found damaged. */
  restart(): void {
    this.#scanCount = 0;
  }

  /** How far the scans are. */
  get progress(): Progress {
    return { unitsDone: this.#unitsDone, unitsTotal: this.#unitsTotal };
  }

  /** Shows `visitor` all blocks that are not known to be damaged, a block or less a unit. */
  *run(visitor: BlockVisitor): Generator<Progress, ScanOutcome> {
    const isFirst = this.#scanCount++ === 0;
    this.#unitsTotal = Math.max(this.#unitsTotal, this.#unitsDone + this.#refs.length);
    for (const [done, ref] of this.#refs.entries()) {
      if (this.#damaged.has(ref) || visitor.skips?.(ref) === true) continue;
      try {
        if (!(yield* telling(() => this.progress, this.#show(visitor, ref)))) continue;
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#damaged.add(ref);
        this.stats.blocksDamaged++;
        if (!isFirst) return 'damaged';
      }
      this.#unitsDone++;
      yield this.progress;
      if (done + 1 < this.#refs.length && visitor.isFull) {
        this.scanned = (done + 1) / this.#refs.length;
        return 'full';
      }
    }
    return 'done';
  }

  /** Shows the selected rows of a block; false when it did not have to be opened. */
  *#show(visitor: BlockVisitor, ref: BlockRef): Units<boolean> {
    const takesAll = this.#plan.type === 'all' && isReachedWhole(ref, this.#reach);
    if (takesAll && !visitor.needsRows) {
      visitor.addCount(ref.rowCount);
      return false;
    }
    if (takesAll && this.#showColumns(visitor, ref)) return true;
    let rows = this.#rows.get(ref);
    if (rows !== undefined && isEmpty(rows)) return false;
    if (!mayHaveRows(this.#source, ref, this.#plan)) return false;
    const block = this.#source.open(ref);
    if (takesAll) rows = allRows(ref.rowCount);
    rows ??= yield* rowsWhere(this.#plan, block, rowsReached(block, this.#reach));
    if (!takesAll) this.#remember(ref, rows);
    yield* visitor.add(block, rows);
    if (this.#opened.has(ref)) return true;
    this.#opened.add(ref);
    this.stats.blocksOpened++;
    this.stats.rowsScanned += ref.rowCount;
    return true;
  }

  /** Remembers the selected rows of a block for the next scan, while there is room. */
  #remember(ref: BlockRef, rows: Bitmap): void {
    if (this.#rowsBytesLeft < rows.byteLength || this.#rows.has(ref)) return;
    this.#rows.set(ref, rows);
    this.#rowsBytesLeft -= rows.byteLength;
  }

  /** Shows what the footer of its segment says of a block; whether that was enough. */
  #showColumns(visitor: BlockVisitor, ref: BlockRef): boolean {
    if (visitor.addColumns === undefined) return false;
    const columns = columnsOf(this.#source, ref);
    return columns !== undefined && visitor.addColumns(columns);
  }
}
