import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { type Disk, type DiskFile, readWritten } from '../base/file.ts';
import type { Kind } from '../column/kind.ts';
import { PATH_ROOT, PathTable } from '../column/path.ts';
import { leafKey, leafKind, leafPath, type Shapes } from '../column/shape.ts';
import { type Block, openBlock, verifyBlock } from './block.ts';
import type { BlockRef } from './frame.ts';
import { SealedFile } from './sealed-file.ts';

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

/** A source block; its rows have the numbers `[base, base + rowCount)` in the batch. */
export interface Source {
  block: Block;
  base: number;
}

/** Finds the source of a row; rows that are asked for one after the other are mostly of the same. */
export class SourceFinder {
  readonly #sources: readonly Source[];
  #found = 0;
  #from = 0;
  #to = 0;

  constructor(sources: readonly Source[]) {
    this.#sources = sources;
  }

  /** Number of the source that has the batch's row number `row`. */
  source(row: number): number {
    if (row >= this.#from && row < this.#to) return this.#found;
    let low = 0;
    let high = this.#sources.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#sources[middle].base <= row) low = middle;
      else high = middle - 1;
    }
    this.#found = low;
    this.#from = this.#sources[low].base;
    this.#to = this.#from + this.#sources[low].block.rowCount;
    return low;
  }
}

/** The files that blocks are read from, each opened once. */
class SourceFiles {
  readonly #disk: Disk;
  readonly #pathOf: (sealed: boolean, segment: number) => string;
  readonly #files = new Map<string, DiskFile>();
  readonly #sealed = new Map<number, SealedFile>();
  /** Where frames are checked, one after the other. */
  #frame = new Uint8Array(0);

  constructor(disk: Disk, pathOf: (sealed: boolean, segment: number) => string) {
    this.#disk = disk;
    this.#pathOf = pathOf;
  }

  /** Opens a block all of whose bytes are right. Throws CORRUPTION. */
  open(ref: BlockRef): Block {
    const file = this.#file(ref);
    if (ref.bytes > this.#frame.length) this.#frame = new Uint8Array(ref.bytes);
    const frame = this.#frame.subarray(0, ref.bytes);
    if (file.read(frame, ref.offset) !== ref.bytes || !verifyBlock(frame)) {
      throw new EngineError('CORRUPTION', `segment ${ref.segment} at ${ref.offset}: damaged`);
    }
    return ref.sealed ? this.#sealedFile(ref).open(ref) : openBlock(file, ref);
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

/** All rows of the blocks that are sealed together, numbered block after block. Reads one column at a time. */
export class SourceRows {
  readonly sources: Source[] = [];
  readonly damaged: BlockRef[] = [];
  readonly paths = new PathTable(Number.POSITIVE_INFINITY);
  readonly columns: SourceColumn[] = [];
  readonly #files: SourceFiles;
  readonly #pause: () => Promise<void>;
  readonly #pathsOf: Uint32Array[] = [];
  #rowCount = 0;

  /** `pause` is awaited between two blocks. */
  constructor(
    disk: Disk,
    pathOf: (sealed: boolean, segment: number) => string,
    pause: () => Promise<void>,
  ) {
    this.#files = new SourceFiles(disk, pathOf);
    this.#pause = pause;
  }

  /** Opens `refs`; those that are damaged are left out. Rejects with IO. */
  async open(refs: readonly BlockRef[]): Promise<void> {
    for (const ref of [...refs].sort((a, b) => a.minTimeMs - b.minTimeMs)) {
      await this.#pause();
      try {
        const block = this.#files.open(ref);
        this.#pathsOf.push(this.#internPaths(block));
        this.sources.push({ block, base: this.#rowCount });
        this.#rowCount += block.rowCount;
      } catch (error) {
        if (!(error instanceof EngineError && error.code === 'CORRUPTION')) throw error;
        this.damaged.push(ref);
      }
    }
    assert(this.#rowCount < 2 ** 31, 'rows of a batch have numbers of 31 bits');
    this.#collectColumns();
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** All shapes, over the batch's paths, and by source the number among them of each of its own. */
  shapes(): { shapes: Shapes; numbersOf: Uint32Array[] } {
    const known = new Map<string, number>();
    const lists: number[][] = [];
    const numbersOf: Uint32Array[] = [];
    for (const [source, { block }] of this.sources.entries()) {
      const { shapes } = block.shapes();
      const paths = this.#pathsOf[source];
      const numbers = new Uint32Array(shapes.count);
      for (let shape = 0; shape < shapes.count; shape++) {
        const list: number[] = [];
        for (let at = shapes.starts[shape]; at < shapes.starts[shape + 1]; at++) {
          const key = shapes.keys[at];
          list.push(leafKey(paths[leafPath(key)], leafKind(key)));
        }
        const text = list.join();
        let found = known.get(text);
        if (found === undefined) {
          found = lists.length;
          known.set(text, found);
          lists.push(list);
        }
        numbers[shape] = found;
      }
      numbersOf.push(numbers);
    }
    const starts = new Uint32Array(lists.length + 1);
    for (const [shape, list] of lists.entries()) starts[shape + 1] = starts[shape] + list.length;
    return {
      shapes: { count: lists.length, starts, keys: Uint32Array.from(lists.flat()) },
      numbersOf,
    };
  }

  /** Lets go of what was decoded of a column. */
  forget(): void {
    this.#files.forget();
  }

  close(): void {
    this.#files.close();
  }

  /** The batch's number of each path of a block. */
  #internPaths(block: Block): Uint32Array {
    const { parents, names } = block.paths;
    const numbers = new Uint32Array(names.length);
    for (const [path, name] of names.entries()) {
      const parent = parents[path] === 0 ? PATH_ROOT : numbers[parents[path] - 1];
      numbers[path] = this.paths.intern(parent, name, 0, name.length);
    }
    return numbers;
  }

  #collectColumns(): void {
    const known = new Map<number, SourceColumn>();
    for (const [source, { block }] of this.sources.entries()) {
      for (const [index, { kind, presentCount }] of block.columns.entries()) {
        const path = this.#pathsOf[source][block.pathOf(index)];
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
