import { checksum } from '../../base/checksum.ts';
import type { EncodedColumns } from '../batch.ts';

/** Functions and places of encode.as.ts. */
export interface EncodeExports {
  memory: WebAssembly.Memory;
  encodeColumns(from: number, to: number, pathCount: number): number;
  blockMetaBytes: WebAssembly.Global;
  blockOutBytes: WebAssembly.Global;
  blockRegions: WebAssembly.Global;
  BLOCK_ROWS: WebAssembly.Global;
  BLOCK_PATHS: WebAssembly.Global;
  BLOCK_REGIONS: WebAssembly.Global;
  BLOCK_META: WebAssembly.Global;
  BLOCK_OUT: WebAssembly.Global;
  BLOCK_TIME: WebAssembly.Global;
  BLOCK_PATH: WebAssembly.Global;
  BLOCK_PLACE: WebAssembly.Global;
}

/** Fields of a region outside of the meta, in words. */
const PLACE_WORDS = 3;

/** The kernel of encode.as.ts: writes the columns of a few rows that lie in the memory of append.as.ts. */
export class EncodeKernel {
  readonly #exports: EncodeExports;
  readonly #memory: Uint8Array;
  readonly #view: DataView;
  readonly #metaAt: number;
  readonly #outAt: number;
  readonly #times: Float64Array;
  readonly #paths: Uint32Array;
  readonly #places: Uint32Array;
  /** Set when it has trapped: it is not asked again. */
  #isBroken = false;

  constructor(exports: EncodeExports) {
    const { memory, BLOCK_ROWS, BLOCK_PATHS, BLOCK_REGIONS, ...places } = exports;
    const { buffer } = memory;
    this.#exports = exports;
    this.#memory = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
    this.#metaAt = places.BLOCK_META.value;
    this.#outAt = places.BLOCK_OUT.value;
    this.#times = new Float64Array(buffer, places.BLOCK_TIME.value, BLOCK_ROWS.value);
    this.#paths = new Uint32Array(buffer, places.BLOCK_PATH.value, BLOCK_PATHS.value);
    const words = PLACE_WORDS * BLOCK_REGIONS.value;
    this.#places = new Uint32Array(buffer, places.BLOCK_PLACE.value, words);
  }

  /** The columns of the rows from `fromRow` on, whose times are `timeMs`, as `BatchRows.encode` has them. */
  encode(
    fromRow: number,
    timeMs: Float64Array,
    pathNumbers: Uint32Array,
  ): EncodedColumns | undefined {
    const rowCount = timeMs.length;
    if (this.#isBroken || rowCount > this.#times.length) return undefined;
    const pathCount = Math.min(pathNumbers.length, this.#paths.length);
    this.#paths.set(pathNumbers.subarray(0, pathCount));
    this.#times.set(timeMs);
    const count = this.#ask(fromRow, fromRow + rowCount, pathCount);
    if (count < 0) return undefined;
    this.#addChecksums();
    const { blockMetaBytes, blockOutBytes } = this.#exports;
    const meta = this.#memory.subarray(this.#metaAt, this.#metaAt + blockMetaBytes.value);
    const regions = this.#memory.subarray(this.#outAt, this.#outAt + blockOutBytes.value);
    return { count, meta, regions };
  }

  /** How many columns there are; -1 when they are for the plain form. */
  #ask(from: number, to: number, pathCount: number): number {
    try {
      return this.#exports.encodeColumns(from, to, pathCount);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      this.#isBroken = true;
      return -1;
    }
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
