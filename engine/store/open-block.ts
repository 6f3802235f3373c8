import { assert } from '../base/assert.ts';
import { Batch } from '../column/batch.ts';
import { RegionWriter } from '../column/chunk.ts';
import type { PathTable } from '../column/path.ts';
import type { Rows } from '../column/rows.ts';
import { encodeBlock } from '../segment/block-encoder.ts';
import type { EncodedBlock } from '../segment/frame.ts';

/** A writer that has grown beyond this is not kept for the next block. */
const WRITER_BYTES_KEPT = 4 * 1024 * 1024;

/**
 * The rows that are not yet in a block of their final size, and the small blocks that make some of them durable.
 * Its rows are numbered on and on, from 0 at the first one that the writer ever took: the `firstSequence` of the
 * blocks that it encodes is such a number. Owned by a Writer. Source: FORMAT.md 5, "Small blocks".
 */
export class OpenBlock {
  #batch: Batch;
  /** Number of the batch's first row. */
  #firstRow = 0;
  /** Rows from the first on that were given out in small blocks. */
  #smallRows = 0;
  /** Ordinals of the small blocks. A list that a group may hold on to: see `seal`. */
  #smallOrdinals: number[] = [];
  #openedMs = 0;
  #out = new RegionWriter();

  constructor(paths: PathTable) {
    this.#batch = new Batch(paths);
  }

  get rowCount(): number {
    return this.#batch.rowCount;
  }

  /** Rows that are in no small block. */
  get freshRows(): number {
    return this.#batch.rowCount - this.#smallRows;
  }

  /** Whether it takes no more rows. */
  get isFull(): boolean {
    return this.#batch.isFull;
  }

  /** Number that the next row gets. */
  get nextRow(): number {
    return this.#firstRow + this.#batch.rowCount;
  }

  /** Whether small blocks of it are in the file. */
  get hasSmallBlocks(): boolean {
    return this.#smallOrdinals.length > 0;
  }

  /** Milliseconds since its first row came; 0 while there is none, and when the clock was set back. */
  ageMs(nowMs: number): number {
    if (this.#batch.rowCount === 0) return 0;
    if (nowMs < this.#openedMs) this.#openedMs = nowMs;
    return nowMs - this.#openedMs;
  }

  /** Copies rows from `fromRow` on until it is full; returns how many. */
  take(rows: Rows, fromRow: number, nowMs: number): number {
    if (this.#batch.rowCount === 0) this.#openedMs = nowMs;
    return this.#batch.append(rows, fromRow);
  }

  /** Encodes the fresh rows as a small block. The ordinal that it gets goes into `ordinals`. */
  encodeSmall(): { block: EncodedBlock; ordinals: number[] } {
    const from = this.#smallRows;
    const to = this.#batch.rowCount;
    const block = this.#encode(from, to);
    this.#smallRows = to;
    return { block, ordinals: this.#smallOrdinals };
  }

  /**
   * Encodes all rows as one block and begins anew. `ordinals` lists the small blocks that it replaces: complete
   * when the group before is durable. No block when there is nothing to replace: no rows, or one small block of all.
   */
  seal(): { block: EncodedBlock | undefined; ordinals: number[] } {
    const ordinals = this.#smallOrdinals;
    const { rowCount } = this.#batch;
    const settled = this.freshRows === 0 && ordinals.length <= 1;
    const block = settled ? undefined : this.#encode(0, rowCount);
    this.clear();
    return { block, ordinals: settled ? [] : ordinals };
  }

  #encode(from: number, to: number): EncodedBlock {
    const block = encodeBlock(this.#batch, from, to, this.#firstRow + from, this.#out);
    if (block.bytes.length > WRITER_BYTES_KEPT) this.#out = new RegionWriter();
    return block;
  }

  /** Forgets its rows. Their numbers are not used again; small blocks stay as they are in the file. */
  clear(): void {
    this.#firstRow += this.#batch.rowCount;
    this.#smallRows = 0;
    this.#smallOrdinals = [];
    this.#batch.clear();
  }

  /** Takes another path table from the next row on. Empty, because its rows are of the one before. */
  replacePaths(paths: PathTable): void {
    assert(this.#batch.rowCount === 0, 'an open block with rows keeps its paths');
    this.#batch = new Batch(paths);
  }
}
