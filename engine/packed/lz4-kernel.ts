import { makeKernels } from '../kernel/kernel.ts';

/** Functions and places of lz4.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  lz4Begin(): number;
  lz4Compress(length: number, most: number): number;
  lz4Decompress(packedBytes: number, rawBytes: number, wanted: number): number;
  LZ4_SOURCE: WebAssembly.Global;
  LZ4_SOURCE_BYTES: WebAssembly.Global;
  LZ4_TARGET: WebAssembly.Global;
}

/** The kernel of lz4.as.ts with its memory. Owned by one thread. */
export class Lz4Kernel {
  /** The most that it compresses, or that it makes of what was compressed, at once. */
  readonly bytesMax: number;
  readonly #exports: Exports;
  readonly #memory: Uint8Array;

  private constructor(exports: Exports) {
    this.#exports = exports;
    this.#memory = new Uint8Array(exports.memory.buffer);
    this.bytesMax = exports.LZ4_SOURCE_BYTES.value;
  }

  /** `undefined` where there are no kernels, or no memory for one. */
  static make(): Lz4Kernel | undefined {
    const exports = makeKernels() as Exports | undefined;
    return exports === undefined || exports.lz4Begin() === 0 ? undefined : new Lz4Kernel(exports);
  }

  /**
   * Compresses more than 12 bytes, `bytesMax` at most; a view that is good until the next call, `undefined` when that
   * gives more than `most` bytes.
   */
  compress(bytes: Uint8Array, most: number): Uint8Array | undefined {
    const { LZ4_SOURCE, LZ4_TARGET } = this.#exports;
    this.#memory.set(bytes, LZ4_SOURCE.value);
    const count = this.#exports.lz4Compress(bytes.length, most);
    if (count === 0) return undefined;
    return this.#memory.subarray(LZ4_TARGET.value, LZ4_TARGET.value + count);
  }

  /**
   * Decompresses bytes to `rawBytes`, both `bytesMax` at most; a view that is good until the next call, `undefined`
   * when they are damaged. With `wanted` only so many of the first ones are there, and damage behind them is not seen.
   */
  decompress(packed: Uint8Array, rawBytes: number, wanted = rawBytes): Uint8Array | undefined {
    const { LZ4_SOURCE, LZ4_TARGET } = this.#exports;
    this.#memory.set(packed, LZ4_TARGET.value);
    if (this.#exports.lz4Decompress(packed.length, rawBytes, wanted) === 0) return undefined;
    return this.#memory.subarray(LZ4_SOURCE.value, LZ4_SOURCE.value + wanted);
  }
}
