import { assert } from '../base/assert.ts';
import { BLOCK_BYTES_FINAL, BLOCK_ROWS_FINAL } from '../base/limits.ts';
import { KernelBatch } from '../column/append/kernel-batch.ts';
import { Batch } from '../column/batch.ts';
import { RegionWriter } from '../column/chunk.ts';
import type { PathTable } from '../column/path.ts';
import type { Rows } from '../column/rows.ts';
import { encodeBlock } from '../segment/block/block-encoder.ts';
import { addRun, type Run, rowsOfRuns } from '../segment/block/runs.ts';
import type { EncodedBlock } from '../segment/frame.ts';

/** A writer that has grown beyond this is not kept for the next block. */
const WRITER_BYTES_KEPT = 4 * 1024 * 1024;

/** A block for a group, and the small blocks that it replaces or is one of. */
export interface PartBlock {
  block: EncodedBlock;
  /** Ordinals of the open block's small blocks: a list that a group may hold on to. */
  ordinals: number[];
}

/**
 * The rows that are not yet in a block of their final size, and the small blocks that make some of them durable.
 * Owned by a Writer. Source: FORMAT.md 5, "Small blocks".
 */
export class OpenBlock {
  #batch: Batch | KernelBatch;
  /** The batch that takes rows by a kernel, if there is one; rows that it declines go to another one. */
  #kernel: KernelBatch | undefined;
  /** Rows from the first on that were given out in small blocks, and their sequences. */
  #smallRows = 0;
  #runs: Run[] = [];
  /** Bytes of the batch when the last small block was given out. */
  #smallBytes = 0;
  /** Ordinals of the small blocks. A list that a group may hold on to: see `seal`. */
  #smallOrdinals: number[] = [];
  #openedMs = 0;
  #out = new RegionWriter();

  constructor(paths: PathTable) {
    this.#kernel = KernelBatch.make(paths);
    this.#batch = this.#kernel ?? new Batch(paths);
  }

  get rowCount(): number {
    return this.#batch.rowCount;
  }

  /** Rows that are in no small block. */
  get freshRows(): number {
    return this.#batch.rowCount - this.#smallRows;
  }

  /** Rows and bytes that lie in no small block, as a share of those that make the next flush final. */
  get flushShare(): number {
    const freshBytes = this.#batch.bytes - this.#smallBytes;
    return Math.max(this.freshRows / BLOCK_ROWS_FINAL, freshBytes / BLOCK_BYTES_FINAL);
  }

  /** Is set when enough rows lie in no small block to make the next flush final. */
  get isFlushFinal(): boolean {
    return this.flushShare >= 1;
  }

  /** Is set when the block takes no more rows. */
  get isFull(): boolean {
    return this.#batch.isFull;
  }

  /** Is set when the file has small blocks of this block. */
  get hasSmallBlocks(): boolean {
    return this.#smallOrdinals.length > 0;
  }

  /** Milliseconds since its first row came; 0 while there is none. */
  ageMs(nowMs: number): number {
    return this.#batch.rowCount === 0 ? 0 : nowMs - this.#openedMs;
  }

  /**
   * Copies rows from `fromRow` on until the block is full, and returns how many. `nowMs` is of the clock of `ageMs`.
   */
  take(rows: Rows, fromRow: number, nowMs: number): number {
    if (this.#batch.rowCount === 0) this.#openedMs = nowMs;
    const taken = this.#batch.append(rows, fromRow);
    if (taken > 0 || this.#batch.rowCount > 0 || fromRow === rows.rowCount) return taken;
    this.#batch = new Batch(this.#batch.paths);
    return this.#batch.append(rows, fromRow);
  }

  /**
   * Encodes the fresh rows as a small block. First its ordinal goes into `ordinals`, and the sequence of its first row
   * into `placed`.
   */
  encodeSmall(): PartBlock {
    const from = this.#smallRows;
    const to = this.#batch.rowCount;
    const block = this.#encode(from, to, []);
    this.#smallRows = to;
    this.#smallBytes = this.#batch.bytes;
    return { block, ordinals: this.#smallOrdinals };
  }

  /** The rows of the small block that was encoded last have the sequences from `first` on. */
  placed(first: number): void {
    addRun(this.#runs, { first, rows: this.#smallRows - rowsOfRuns(this.#runs) });
  }

  /**
   * Encodes all rows as one block and begins anew. `ordinals` lists the small blocks that it replaces; the list is
   * complete once the group before is durable. `undefined` when there are no rows, or when one small block has them
   * all.
   */
  seal(): PartBlock | undefined {
    const ordinals = this.#smallOrdinals;
    const settled = this.freshRows === 0 && ordinals.length <= 1;
    const block = settled ? undefined : this.#encode(0, this.#batch.rowCount, this.#runs);
    this.clear();
    return block === undefined ? undefined : { block, ordinals };
  }

  #encode(from: number, to: number, runs: readonly Run[]): EncodedBlock {
    assert(rowsOfRuns(runs) <= to - from, 'small blocks have their sequences');
    const block = encodeBlock(this.#batch, from, to, runs, this.#out);
    if (block.bytes.length > WRITER_BYTES_KEPT) this.#out = new RegionWriter();
    return block;
  }

  /** Forgets its rows. Small blocks stay as they are in the file. */
  clear(): void {
    this.#smallRows = 0;
    this.#runs = [];
    this.#smallBytes = 0;
    this.#smallOrdinals = [];
    if (this.#kernel?.isBroken === true) this.#abandonKernel();
    this.#kernel?.clear();
    if (this.#kernel === undefined) this.#batch.clear();
    else this.#batch = this.#kernel;
  }

  /** Has all further rows taken by the plain form. */
  #abandonKernel(): void {
    this.#kernel = undefined;
    this.#batch = new Batch(this.#batch.paths);
  }

  /** Takes another path table from the next row on. Empty, because its rows are of the one before. */
  replacePaths(paths: PathTable): void {
    assert(this.#batch.rowCount === 0, 'an open block with rows keeps its paths');
    this.#kernel?.replacePaths(paths);
    this.#batch = this.#kernel ?? new Batch(paths);
  }

  /** Gives up its memory, empty, and itself. */
  release(): void {
    this.#kernel?.release();
  }
}

/**
 * Rows of one request that come piece by piece. They have blocks of their own: no other rows wait for the last piece,
 * and none is visible before. Owned by the thread of the writer that takes them.
 */
export class GatheredRows {
  readonly #open: OpenBlock;
  readonly #blocks: EncodedBlock[] = [];
  #rowCount = 0;

  /** `paths` is the table that the rows' paths are numbers of. */
  constructor(paths: PathTable) {
    this.#open = new OpenBlock(paths);
  }

  /** Rows so far. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Copies all rows of a piece. */
  add(rows: Rows): void {
    for (let row = 0; row < rows.rowCount; ) {
      row += this.#open.take(rows, row, 0);
      if (this.#open.isFull) this.#seal();
    }
    this.#rowCount += rows.rowCount;
  }

  /** All rows as blocks; no piece may be added any more. */
  end(): readonly EncodedBlock[] {
    this.#seal();
    this.#open.release();
    return this.#blocks;
  }

  #seal(): void {
    const sealed = this.#open.seal();
    if (sealed !== undefined) this.#blocks.push(sealed.block);
  }
}
