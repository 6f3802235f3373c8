import { ByteReader } from '../../base/bytes.ts';
import type { DiskFile } from '../../base/file.ts';
import type { Kind } from '../../column/kind.ts';
import type { TextTemplate } from '../../derive/template.ts';
import { DeltaSums } from '../../packed/delta-sums.ts';
import { joinedNames } from '../directory-paths.ts';
import { type BlockRef, FrameKind, placed } from '../frame.ts';
import { FrameSource } from '../frame-source.ts';
import { bytesOf } from './block-regions.ts';
import type { StoredShapes } from './block-shapes.ts';
import { type Directory, readDirectory, regionsOf } from './directory.ts';
import { type RowMarks, readRowMarks } from './keys/row-marks.ts';

/** Memory of a head beside what it tells of, and of the text of a path beside its characters. */
const HEAD_BYTES = 2_048;
const PATH_BYTES = 40;
/** Memory of the sums of a stream, by row, and columns of which some are kept. */
const SUM_BYTES = 1 / 32;
const SUMMED_MAX = 16;
/** Bytes of shapes that are kept, as they are stored, and what one takes decoded. */
const SHAPES_BYTES_MAX = 512;
const SHAPES_FACTOR = 16;
/** Parts of templates that are kept, and what one takes. */
const PARTS_MAX = 64;
const PART_BYTES = 120;

/** Values that a block has under one path and kind. */
export interface ColumnInfo {
  /** Names joined by dots: `custom.http.verb`. */
  path: string;
  kind: Kind;
  /** Rows that have a value, at least 1. */
  presentCount: number;
  /** Bounds of numbers, and of dates in epoch milliseconds; never narrower than the values. */
  min?: number;
  max?: number;
}

/** Header and meta of a block: with them a block is opened again without a read. */
export class BlockHead {
  readonly ref: BlockRef;
  readonly source: FrameSource;
  readonly firstSequence: number;
  readonly directory: Directory;
  /** Sums of the times of rows, as far as they were needed. */
  readonly timeSums = new DeltaSums();
  /** Sums of columns of numbers and dates, as far as they were needed. */
  readonly #sums = new Map<number, DeltaSums>();
  /** Shapes of the rows, when they were read and are few. */
  #shapes: StoredShapes | undefined;
  /** Templates of derived texts by column, as far as they were read and are few. */
  readonly #templates = new Map<number, readonly TextTemplate[]>();
  readonly #meta: Uint8Array;
  #marks: RowMarks | undefined;
  readonly #hasChunks: boolean;
  /** Names of each path, joined by dots, once they were asked for. */
  #paths: string[] | undefined;
  #pathsBytes = 0;

  /** Reads header and meta of the frame at `ref`. Throws CORRUPTION when they are not those of that block. */
  constructor(ref: BlockRef, source: FrameSource) {
    const header = source.header();
    const meta = source.meta(header);
    const directory = readDirectory(meta, header);
    this.ref = ref;
    this.source = source;
    this.firstSequence = header.firstSequence;
    this.directory = directory;
    this.#meta = meta;
    this.#hasChunks = header.kind === FrameKind.DIRECTORY;
  }

  /** Bytes of memory that it takes now, about. */
  get memoryBytes(): number {
    const { columns, names, parents } = this.directory;
    const sums = this.ref.rowCount * SUM_BYTES * (1 + this.#sums.size);
    const shapes = this.#shapes === undefined ? 0 : SHAPES_BYTES_MAX * SHAPES_FACTOR;
    const templates = this.#templates.size * PARTS_MAX * PART_BYTES;
    const tables = columns.memoryBytes + names.memoryBytes + parents.byteLength;
    const bytes = this.source.memoryBytes(this.#meta) + this.#marksBytes;
    return HEAD_BYTES + bytes + tables + this.#pathsBytes + sums + shapes + templates;
  }

  /** Bytes of its regions that lie outside of its frame. */
  get chunkBytes(): number {
    if (!this.#hasChunks) return 0;
    return regionsOf(this.directory).reduce((sum, region) => sum + bytesOf(region), 0);
  }

  /** Marks of its rows, when it has some. Throws CORRUPTION. */
  get marks(): RowMarks | undefined {
    const { marks } = this.directory;
    if (marks === undefined) return undefined;
    this.#marks ??= readRowMarks(new ByteReader(this.source.region(marks)), this.ref);
    return this.#marks;
  }

  /** Shapes of the rows, which `read` reads when they are not kept, as few are. Throws what that throws. */
  shapes(read: () => StoredShapes): { shapes: StoredShapes; isKept: boolean } {
    const shapes = this.#shapes ?? read();
    const isKept = bytesOf(this.directory.shapes) <= SHAPES_BYTES_MAX;
    if (isKept) this.#shapes = shapes;
    return { shapes, isKept };
  }

  /** Templates of the texts of a column, which `read` reads when they are not kept. Throws what that throws. */
  templates(column: number, read: () => readonly TextTemplate[]): readonly TextTemplate[] {
    const known = this.#templates.get(column);
    if (known !== undefined) return known;
    const templates = read();
    const partCount = templates.reduce((sum, { length }) => sum + length, 0);
    if (partCount <= PARTS_MAX && this.#templates.size === 0)
      this.#templates.set(column, templates);
    return templates;
  }

  /** Sums of the stream of a column of numbers, or of the forms of dates; `undefined` of more columns than are kept. */
  sumsOf(column: number): DeltaSums | undefined {
    const known = this.#sums.get(column);
    if (known !== undefined || this.#sums.size >= SUMMED_MAX) return known;
    const sums = new DeltaSums();
    this.#sums.set(column, sums);
    return sums;
  }

  get #marksBytes(): number {
    let bytes = this.#marks?.times.byteLength ?? 0;
    for (const { before, firsts } of this.#marks?.writers ?? []) {
      bytes += before.byteLength + firsts.byteLength;
    }
    return bytes;
  }

  /** Names of each path from the root, joined by dots, by its number. Not to be written. */
  get paths(): readonly string[] {
    if (this.#paths === undefined) {
      this.#paths = joinedNames(this.directory);
      for (const { length } of this.#paths) this.#pathsBytes += PATH_BYTES + length;
    }
    return this.#paths;
  }
}

/**
 * Reads header and meta of the block at `ref`; `checked` as for `FrameSource`. Throws CORRUPTION naming the place, and
 * what `source` throws.
 */
export function readHead(
  source: Pick<DiskFile, 'read'>,
  ref: BlockRef,
  checked?: Set<number>,
): BlockHead {
  return placed(ref, () => new BlockHead(ref, new FrameSource(source, ref, checked)));
}
