import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import { type Disk, type DiskFile, readWritten } from '../../base/file.ts';
import { BLOCK_ROWS_MAX } from '../../base/limits.ts';
import { Scratch } from '../../column/entries.ts';
import type { Kind } from '../../column/kind.ts';
import { PATH_ROOT, PathTable } from '../../column/path.ts';
import { leafKey } from '../../column/shape.ts';
import { deriveKernel } from '../../derive/derive-kernel.ts';
import { free } from '../../packed/growth.ts';
import { type Block, openBlock } from '../block/block.ts';
import type { BlockRef } from '../frame.ts';
import { SealedFile } from '../sealed-file.ts';
import type { BlockSum } from '../sum/block-sum.ts';
import type { RowSum } from '../sum/row-sum.ts';

/** Where a column of the batch comes from: column `index` of the source block number `source`. */
export interface ColumnPart {
  source: number;
  index: number;
  presentCount: number;
}

/** A column of the batch: all that is under one path and kind in the source blocks. */
export interface SourceColumn {
  path: number;
  kind: Kind;
  parts: ColumnPart[];
  valueCount: number;
}

/** A source block, and what is known of its rows without their values. */
export interface Source {
  block: Block;
  /** Through which its columns are read. */
  sum: BlockSum;
  /** The batch's number of each of its paths. */
  paths: Uint32Array;
  /** By row, the bytes of text by which it makes a block larger; undefined when there are none. */
  weights: Uint32Array | undefined;
}

/** The files that blocks are read from, each opened once. */
class SourceFiles {
  readonly #disk: Disk;
  readonly #pathOf: (sealed: boolean, segment: number) => string;
  readonly #files = new Map<string, DiskFile>();
  readonly #sealed = new Map<number, SealedFile>();

  constructor(disk: Disk, pathOf: (sealed: boolean, segment: number) => string) {
    this.#disk = disk;
    this.#pathOf = pathOf;
  }

  /** Throws CORRUPTION. */
  open(ref: BlockRef): Block {
    return ref.sealed ? this.#sealedFile(ref).open(ref) : openBlock(this.#file(ref), ref);
  }

  /** Bytes of the dictionaries that sealed sources have open. */
  get memoryBytes(): number {
    let bytes = 0;
    for (const file of this.#sealed.values()) bytes += file.memoryBytes;
    return bytes;
  }

  /** Lets go of the dictionaries that sealed sources have open. */
  forget(): void {
    for (const file of this.#sealed.values()) file.forget();
  }

  close(): void {
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
    this.#sealed.clear();
  }

  #file({ sealed, segment }: BlockRef): DiskFile {
    const path = this.#pathOf(sealed, segment);
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const file = readWritten(path, () => this.#disk.open(path, 'read'));
    this.#files.set(path, file);
    return file;
  }

  #sealedFile(ref: BlockRef): SealedFile {
    const known = this.#sealed.get(ref.segment);
    if (known !== undefined) return known;
    const file = new SealedFile(this.#file(ref), ref.segment);
    this.#sealed.set(ref.segment, file);
    return file;
  }
}

/**
 * Columns of all blocks that are open at once, but for a block that has more alone. Each takes nearly a kilobyte of
 * objects, in each block.
 */
const COLUMNS_MAX = 32_768;
/** Memory of dictionaries of sealed sources that may stay open. */
const DICTIONARY_BYTES_MAX = 32 * 1024 * 1024;

/** Blocks that are sealed together, read one column at a time. */
export class SourceRows {
  readonly sources: Source[] = [];
  readonly damaged: BlockRef[] = [];
  readonly paths = new PathTable(Number.POSITIVE_INFINITY);
  readonly columns: SourceColumn[] = [];
  readonly #files: SourceFiles;
  readonly #sum: RowSum;
  readonly #pause: () => Promise<void>;
  readonly #scratch = new Scratch();
  readonly #weights = new Uint32Array(BLOCK_ROWS_MAX);
  #rowCount = 0;
  #columnCount = 0;

  /** The rows are added to `sum`; `pause` is awaited between two blocks. */
  constructor(
    disk: Disk,
    pathOf: (sealed: boolean, segment: number) => string,
    sum: RowSum,
    pause: () => Promise<void>,
  ) {
    this.#files = new SourceFiles(disk, pathOf);
    this.#sum = sum;
    this.#pause = pause;
  }

  /**
   * Opens `refs` from number `first` on, at least one, as many as memory allows; returns the number of the first that
   * is left. All bytes of each are read; those that are damaged are left out. Rejects with IO.
   */
  async open(refs: readonly BlockRef[], first: number): Promise<number> {
    let next = first;
    for (; next < refs.length; next++) {
      await this.#pause();
      try {
        const block = this.#files.open(refs[next]);
        const columnCount = this.#columnCount + block.outlines.length;
        if (this.sources.length > 0 && columnCount > COLUMNS_MAX) break;
        block.verify(this.#scratch);
        block.readWhole(deriveKernel());
        this.#columnCount = columnCount;
        this.#add(block);
      } catch (error) {
        if (!(error instanceof EngineError && error.code === 'CORRUPTION')) throw error;
        this.damaged.push(refs[next]);
      }
    }
    assert(this.#rowCount < 2 ** 31, 'rows of a batch have numbers of 31 bits');
    this.#collectColumns();
    return next;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Ends the sums of all sources: what was not read of them is read. Rejects with CORRUPTION, and as `pause`. */
  async sumUp(): Promise<void> {
    for (const { block, sum } of this.sources) {
      sum.end();
      block.forget();
      await this.#pause();
    }
  }

  /** Lets go of what was decoded of a column; while it is still read, only when that is much. */
  forget(isRead = false): void {
    if (!isRead || this.#files.memoryBytes > DICTIONARY_BYTES_MAX) this.#files.forget();
  }

  /** Lets go of the weights of all rows, whose places are known. */
  forgetWeights(): void {
    for (const source of this.sources) {
      free(source.weights);
      source.weights = undefined;
    }
  }

  close(): void {
    this.#files.close();
    this.forgetWeights();
  }

  #add(block: Block): void {
    const { rowCount } = block;
    const weights = this.#weights.subarray(0, rowCount).fill(0);
    block.weigh(weights);
    const weighty = weights.some((bytes) => bytes > 0) ? weights.slice() : undefined;
    const sum = this.#sum.begin(block);
    block.forget();
    const paths = this.#internPaths(block);
    this.sources.push({ block, sum, paths, weights: weighty });
    this.#rowCount += rowCount;
  }

  /** The batch's number of each path of a block. */
  #internPaths(block: Block): Uint32Array {
    const { parents, names } = block.paths;
    const numbers = new Uint32Array(names.length);
    for (let path = 0; path < names.length; path++) {
      const name = names.at(path);
      const parent = parents[path] === 0 ? PATH_ROOT : numbers[parents[path] - 1];
      numbers[path] = this.paths.intern(parent, name, 0, name.length);
    }
    return numbers;
  }

  #collectColumns(): void {
    const known = new Map<number, SourceColumn>();
    for (const [source, { block, paths }] of this.sources.entries()) {
      for (const [index, outline] of block.outlines.entries()) {
        const { kind, presentCount } = outline;
        const path = paths[outline.path];
        const key = leafKey(path, kind);
        let column = known.get(key);
        if (column === undefined) {
          column = { path, kind, parts: [], valueCount: 0 };
          known.set(key, column);
          this.columns.push(column);
        }
        column.parts.push({ source, index, presentCount });
        column.valueCount += presentCount;
      }
    }
  }
}
