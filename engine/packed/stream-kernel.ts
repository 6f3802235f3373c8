import { makeKernels } from '../kernel/kernel.ts';
import { ThreadKernel } from '../kernel/thread-kernel.ts';

/** Findings of a pass over the values of a stream. */
export interface Extent {
  min: number;
  max: number;
  minStep: number;
  maxStep: number;
  runCount: number;
  whole: boolean;
}

/** The same of whole numbers below 2^32. */
export type IdExtent = Pick<Extent, 'min' | 'max' | 'runCount'>;

/** Where the rows of values lie among those of a block. */
export interface RowSlots {
  rows: Uint16Array;
  firstRow: number;
  rowCount: number;
}

/** Functions and places of stream.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  streamBegin(): number;
  streamExtent(count: number): number;
  streamRelative(count: number, base: number, isWide: number): void;
  streamSteps(count: number, base: number, isWide: number): void;
  streamIdExtent(count: number): number;
  streamPack(isHigh: number, count: number, width: number, base: number): number;
  streamUse(count: number, entryCount: number): number;
  streamNumber(count: number): void;
  streamSlots(count: number, firstRow: number, rowCount: number): void;
  idMin: WebAssembly.Global;
  idMax: WebAssembly.Global;
  STREAM_COUNT: WebAssembly.Global;
  STREAM_PAD: WebAssembly.Global;
  STREAM_EXTENT: WebAssembly.Global;
  STREAM_VALUES: WebAssembly.Global;
  STREAM_LOW: WebAssembly.Global;
  STREAM_HIGH: WebAssembly.Global;
  STREAM_WORDS: WebAssembly.Global;
  STREAM_ENTRIES: WebAssembly.Global;
  STREAM_ROWS: WebAssembly.Global;
  STREAM_NUMBERS: WebAssembly.Global;
  STREAM_USED: WebAssembly.Global;
}

/** Fewer values are faster without a kernel. */
const COUNT_MIN = 16;
const EXTENT_NUMBERS = 4;

/** The kernel of stream.as.ts with its memory. Its functions do what those of integers.ts and text.ts do. */
export class StreamKernel {
  /** Whole numbers that are packed next, as their low 32 bits and those above, and the words made of them. */
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  readonly words: Uint32Array;
  readonly #exports: Exports;
  readonly #countMax: number;
  readonly #extent: Float64Array;
  readonly #values: Float64Array;
  readonly #entries: Uint16Array;
  readonly #rows: Uint16Array;
  readonly #numbers: Uint16Array;
  readonly #used: Uint16Array;

  private constructor(exports: Exports) {
    this.#exports = exports;
    const { buffer } = exports.memory;
    const count = exports.STREAM_COUNT.value;
    const padBytes = exports.STREAM_PAD.value;
    this.#countMax = count;
    const room = count + padBytes / 4;
    this.low = new Uint32Array(buffer, exports.STREAM_LOW.value, room);
    this.high = new Uint32Array(buffer, exports.STREAM_HIGH.value, room);
    this.words = new Uint32Array(buffer, exports.STREAM_WORDS.value, room);
    this.#extent = new Float64Array(buffer, exports.STREAM_EXTENT.value, EXTENT_NUMBERS);
    this.#values = new Float64Array(buffer, exports.STREAM_VALUES.value, count);
    this.#entries = new Uint16Array(buffer, exports.STREAM_ENTRIES.value, count);
    this.#rows = new Uint16Array(buffer, exports.STREAM_ROWS.value, count);
    this.#numbers = new Uint16Array(buffer, exports.STREAM_NUMBERS.value, count);
    this.#used = new Uint16Array(buffer, exports.STREAM_USED.value, count);
  }

  /** `undefined` where there are no kernels, or no memory for one. */
  static make(): StreamKernel | undefined {
    const exports = makeKernels() as Exports | undefined;
    if (exports === undefined || exports.streamBegin() === 0) return undefined;
    return new StreamKernel(exports);
  }

  /** True when it has room for as many values, and they are worth it. */
  takes(count: number): boolean {
    return count >= COUNT_MIN && count <= this.#countMax;
  }

  extent(values: Float64Array, count: number): Extent {
    this.#values.set(values.subarray(0, count));
    const found = this.#exports.streamExtent(count);
    const [min, max, minStep, maxStep] = this.#extent;
    return { min, max, minStep, maxStep, runCount: found >>> 1, whole: found % 2 === 1 };
  }

  /** Has the values, each less `base`, packed next; `isWide` when some are then 2^32 or more. */
  relative(values: Float64Array, count: number, base: number, isWide: boolean): true {
    this.#values.set(values.subarray(0, count));
    this.#exports.streamRelative(count, base, isWide ? 1 : 0);
    return true;
  }

  /** Has the differences between the `count` values, each less `base`, packed next. */
  steps(values: Float64Array, count: number, base: number, isWide: boolean): true {
    this.#values.set(values.subarray(0, count));
    this.#exports.streamSteps(count - 1, base, isWide ? 1 : 0);
    return true;
  }

  /** Looks at the first `count` of `low`. */
  idExtent(count: number): IdExtent {
    const runCount = this.#exports.streamIdExtent(count);
    const { idMin, idMax } = this.#exports;
    return { min: idMin.value >>> 0, max: idMax.value >>> 0, runCount };
  }

  /** Packs the first `count` of `low` or `high`, each less `base`; how many words that are. */
  pack(isHigh: boolean, count: number, width: number, base: number): number {
    return this.#exports.streamPack(isHigh ? 1 : 0, count, width, base) / 4;
  }

  /** The entries that values use, and the number + 1 of each of `entryCount` entries; in new arrays. */
  use(
    entries: Uint16Array,
    entryCount: number,
  ): { entries: Uint16Array; count: number; numbers: Uint16Array } {
    this.#entries.set(entries);
    const count = this.#exports.streamUse(entries.length, entryCount);
    const numbers = this.#numbers.slice(0, entryCount);
    return { entries: this.#used.slice(0, count), count, numbers };
  }

  /** Puts the number of the entry of each value to `low`, or to the place of its row there. */
  number(entries: Uint16Array, numbers: Uint16Array, slots: RowSlots | undefined): true {
    this.#entries.set(entries);
    this.#numbers.set(numbers);
    if (slots === undefined) {
      this.#exports.streamNumber(entries.length);
      return true;
    }
    this.#rows.set(slots.rows);
    this.#exports.streamSlots(entries.length, slots.firstRow, slots.rowCount);
    return true;
  }
}

const ofThread = new ThreadKernel(() => StreamKernel.make());

/** The kernel of this thread for `count` values; `undefined` when the plain form is for them. */
export function streamKernel(count: number): StreamKernel | undefined {
  const kernel = ofThread.get();
  return kernel?.takes(count) === true ? kernel : undefined;
}

/**
 * Asks the kernel about `count` values; `undefined` when the plain form is for them. One that traps is not asked again.
 */
export function askStream<T>(count: number, ask: (kernel: StreamKernel) => T): T | undefined {
  return streamKernel(count) === undefined ? undefined : ofThread.ask(ask)?.answer;
}
