import type { ByteWriter } from '../../base/bytes.ts';
import { checksum } from '../../base/checksum.ts';
import type { EncodedColumns, RowList } from '../batch.ts';

/** Functions and places of encode.as.ts. */
export interface EncodeExports {
  memory: WebAssembly.Memory;
  beginBlock(from: number, to: number, pathCount: number): void;
  encodeShapes(): number;
  encodeColumns(): number;
  dropTrapped(): void;
  findRows(rows: number, count: number): number;
  columnCount: WebAssembly.Global;
  nextColumn: WebAssembly.Global;
  partColumns: WebAssembly.Global;
  blockShapeCount: WebAssembly.Global;
  regionBytes: WebAssembly.Global;
  blockMetaBytes: WebAssembly.Global;
  blockOutBytes: WebAssembly.Global;
  blockRegions: WebAssembly.Global;
  BATCH_ROWS: WebAssembly.Global;
  BLOCK_PATHS: WebAssembly.Global;
  BLOCK_REGIONS: WebAssembly.Global;
  BLOCK_META: WebAssembly.Global;
  BLOCK_REGION: WebAssembly.Global;
  BLOCK_OUT: WebAssembly.Global;
  BLOCK_TIME: WebAssembly.Global;
  BLOCK_PATH: WebAssembly.Global;
  BLOCK_PLACE: WebAssembly.Global;
}

/** Answers of `encodeShapes` that are no paths. */
const DONE = -1;
const NO_ROOM = 0;
/** Fields of a region outside of the meta, in words. */
const PLACE_WORDS = 3;

/** The kernel of encode.as.ts: writes the columns of rows that lie in the memory of append.as.ts. */
export class EncodeKernel {
  readonly #exports: EncodeExports;
  readonly #memory: Uint8Array;
  readonly #view: DataView;
  readonly #metaAt: number;
  readonly #regionAt: number;
  readonly #outAt: number;
  readonly #times: Float64Array;
  readonly #paths: Uint32Array;
  readonly #places: Uint32Array;
  #isBroken = false;

  constructor(exports: EncodeExports) {
    const { memory, BATCH_ROWS, BLOCK_PATHS, BLOCK_REGIONS, ...places } = exports;
    const { buffer } = memory;
    this.#exports = exports;
    this.#memory = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
    this.#metaAt = places.BLOCK_META.value;
    this.#regionAt = places.BLOCK_REGION.value;
    this.#outAt = places.BLOCK_OUT.value;
    this.#times = new Float64Array(buffer, places.BLOCK_TIME.value, BATCH_ROWS.value);
    this.#paths = new Uint32Array(buffer, places.BLOCK_PATH.value, BLOCK_PATHS.value);
    const words = PLACE_WORDS * BLOCK_REGIONS.value;
    this.#places = new Uint32Array(buffer, places.BLOCK_PLACE.value, words);
  }

  /** Is set when it has trapped: it is not asked again. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /**
   * Begins a block of the rows from `fromRow` on, whose times are `timeMs`, over a table of so many paths; returns
   * their numbers, to be set.
   */
  begin(fromRow: number, timeMs: Float64Array, pathCount: number): Uint32Array {
    this.#times.set(timeMs);
    this.#exports.beginBlock(fromRow, fromRow + timeMs.length, pathCount);
    return this.#paths.subarray(0, pathCount);
  }

  /** Writes the shapes as `BatchEncoder` does. */
  writeShapes(writer: ByteWriter, number: (path: number) => void): number {
    const { encodeShapes, blockOutBytes, blockShapeCount } = this.#exports;
    for (;;) {
      const reason = this.#try(encodeShapes);
      if (reason === undefined) return -1;
      writer.raw(this.#memory.subarray(this.#outAt, this.#outAt + blockOutBytes.value));
      if (reason === DONE) return blockShapeCount.value;
      if (reason !== NO_ROOM) number(reason);
    }
  }

  /** The stream that `writeShapes` has left. */
  shapeIds(): Uint8Array {
    const end = this.#regionAt + this.#exports.regionBytes.value;
    return this.#memory.subarray(this.#regionAt, end);
  }

  /** All columns of the block: some together, encoded, or the number of one that is for the plain form. */
  *parts(): Generator<EncodedColumns | number> {
    const { nextColumn, columnCount, partColumns } = this.#exports;
    while (nextColumn.value < columnCount.value) {
      const isForPlain = this.#ask();
      if (partColumns.value > 0) yield this.#part(partColumns.value);
      if (isForPlain) yield nextColumn.value++;
    }
  }

  /** The number of rows that lie in the memory of the kernel among the row lists of the block; -1 when they are new. */
  find({ rows, from, to }: RowList): number {
    return this.#exports.findRows(rows.byteOffset + from * rows.BYTES_PER_ELEMENT, to - from);
  }

  /** Has columns encoded; true when the next one is for the plain form. */
  #ask(): boolean {
    const { encodeColumns, partColumns } = this.#exports;
    if (this.#isBroken) partColumns.value = 0;
    return this.#isBroken || this.#try(encodeColumns) !== 0;
  }

  /** The answer of a function; `undefined` when it traps. */
  #try(ask: () => number): number | undefined {
    try {
      return ask();
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      this.#isBroken = true;
      this.#exports.dropTrapped();
      return undefined;
    }
  }

  #part(count: number): EncodedColumns {
    this.#addChecksums();
    const { blockMetaBytes, blockOutBytes } = this.#exports;
    const meta = this.#memory.subarray(this.#metaAt, this.#metaAt + blockMetaBytes.value);
    const regions = this.#memory.subarray(this.#outAt, this.#outAt + blockOutBytes.value);
    return { count, meta, regions };
  }

  /** Puts the checksums of regions to their places in the meta. */
  #addChecksums(): void {
    const words = PLACE_WORDS * this.#exports.blockRegions.value;
    for (let at = 0; at < words; at += PLACE_WORDS) {
      const start = this.#outAt + this.#places[at + 1];
      const sum = checksum(this.#memory, start, start + this.#places[at + 2]);
      this.#view.setUint32(this.#metaAt + this.#places[at], sum, true);
    }
  }
}
