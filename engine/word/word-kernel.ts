import { randomBytes } from 'node:crypto';
import { copyBytes } from '../base/bytes.ts';
import { makeKernels } from '../kernel/kernel.ts';
import { type PartValues, type PartWords, PlainWords } from './part-words.ts';
import type { WordCounts } from './word-counts.ts';
import { FOLD, type HashSink, hashOfValue, hashWords, needsValueHash } from './word-hash.ts';

/** Functions of word.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  wordStart(factor: number): number;
  wordBegin(count: number): void;
  wordValues(first: number, count: number, hasValues: boolean): number;
  wordValue(weight: number): void;
  wordAdd(hash: number, length: number): number;
  wordEnd(): number;
  wordHashCount: WebAssembly.Global;
  WORD_TEXT_BYTES: WebAssembly.Global;
  WORD_BYTES: WebAssembly.Global;
  WORD_VALUES: WebAssembly.Global;
  WORD_FOLD: WebAssembly.Global;
  WORD_TEXT: WebAssembly.Global;
  WORD_OFFSET: WebAssembly.Global;
  WORD_WEIGHT: WebAssembly.Global;
  WORD_HASH: WebAssembly.Global;
  WORD_COUNTED_BYTE: WebAssembly.Global;
  WORD_COUNTED_START: WebAssembly.Global;
  WORD_COUNT: WebAssembly.Global;
}

/** Finds words by the kernel; parts that it has no room for, or fails at, by the reference. Owned by one thread. */
export class KernelWords implements PartWords, HashSink {
  readonly #exports: Exports;
  readonly #memory: Uint8Array;
  readonly #offset: Uint32Array;
  readonly #weight: Uint32Array;
  readonly #plain = new PlainWords();
  #counts: WordCounts | undefined;
  #isFull = false;
  /** Set when the kernel failed. */
  #isOver = false;

  private constructor(exports: Exports) {
    const { buffer } = exports.memory;
    const values = exports.WORD_VALUES.value;
    this.#exports = exports;
    this.#memory = new Uint8Array(buffer);
    this.#offset = new Uint32Array(buffer, exports.WORD_OFFSET.value, values + 1);
    this.#weight = new Uint32Array(buffer, exports.WORD_WEIGHT.value, values);
    this.#memory.set(FOLD, exports.WORD_FOLD.value);
  }

  /** Makes a kernel; `undefined` where there are none, or no memory for one. */
  static make(): KernelWords | undefined {
    const exports = makeKernels() as Exports | undefined;
    // Words come from strangers: none of them may be able to choose hashes that lie in one place.
    const factor = randomBytes(4).readInt32LE() | 1;
    if (exports === undefined || exports.wordStart(factor) === 0) return undefined;
    return new KernelWords(exports);
  }

  hashes(values: PartValues, counts: WordCounts): Uint32Array {
    if (!this.#isOver) {
      try {
        if (this.#read(values, counts)) return this.#end(counts);
      } catch {
        this.#isOver = true;
      }
    }
    return this.#plain.hashes(values, counts);
  }

  /** Adds a word that JavaScript found. */
  add(hash: number, bytes: Uint8Array, start: number, end: number): void {
    const exports = this.#exports;
    const room = exports.WORD_TEXT.value + exports.WORD_TEXT_BYTES.value;
    // Words that are counted have fewer bytes.
    const length = Math.min(end - start, exports.WORD_BYTES.value);
    copyBytes(bytes, start, start + length, this.#memory, room);
    if (exports.wordAdd(hash, length) === 0) this.#isFull = true;
  }

  /** Reads the part; false when there is no room for it. */
  #read(values: PartValues, counts: WordCounts): boolean {
    this.#begin(counts);
    const { to, hasValues } = values;
    for (let from = values.from; from < to && !this.#isFull; ) {
      const count = this.#fill(values, from);
      let done = 0;
      while (done < count && !this.#isFull) {
        done = this.#exports.wordValues(done, count, hasValues);
        // Those that it declines.
        if (done < count) this.#readOne(values, from + done++);
      }
      if (count === 0) this.#readOne(values, from);
      from += Math.max(count, 1);
    }
    return !this.#isFull;
  }

  #begin(counts: WordCounts): void {
    const exports = this.#exports;
    const { buffer } = exports.memory;
    this.#isFull = false;
    if (counts !== this.#counts) {
      this.#memory.set(counts.bytes, exports.WORD_COUNTED_BYTE.value);
      const { starts } = counts;
      new Uint32Array(buffer, exports.WORD_COUNTED_START.value, starts.length).set(starts);
      this.#counts = counts;
    }
    const { hashes } = counts;
    new Uint32Array(buffer, exports.WORD_HASH.value, hashes.length).set(hashes);
    exports.wordBegin(hashes.length);
  }

  /** Puts values from number `from` on into the memory, as many as have room; returns how many. */
  #fill({ entries, entryOf, rowsOf, to }: PartValues, from: number): number {
    const { offsets, bytes } = entries;
    const exports = this.#exports;
    const text = exports.WORD_TEXT.value;
    const room = exports.WORD_TEXT_BYTES.value;
    const most = Math.min(to - from, exports.WORD_VALUES.value);
    let end = 0;
    let count = 0;
    for (; count < most; count++) {
      const entry = entryOf === undefined ? from + count : entryOf[from + count];
      const length = offsets[entry + 1] - offsets[entry];
      if (end + length > room) break;
      if (entryOf !== undefined) {
        copyBytes(bytes, offsets[entry], offsets[entry + 1], this.#memory, text + end);
      }
      this.#offset[count] = end;
      this.#weight[count] = rowsOf === undefined ? 1 : rowsOf[entry];
      end += length;
    }
    this.#offset[count] = end;
    if (entryOf === undefined) {
      this.#memory.set(bytes.subarray(offsets[from], offsets[from + count]), text);
    }
    return count;
  }

  #readOne({ entries, entryOf, rowsOf, hasValues }: PartValues, value: number): void {
    const { offsets, bytes } = entries;
    const entry = entryOf === undefined ? value : entryOf[value];
    const start = offsets[entry];
    const end = offsets[entry + 1];
    this.#exports.wordValue(rowsOf === undefined ? 1 : rowsOf[entry]);
    hashWords(bytes, start, end, this);
    if (!hasValues || !needsValueHash(bytes, start, end)) return;
    this.add(hashOfValue(bytes, start, end), bytes, start, start);
  }

  #end(counts: WordCounts): Uint32Array {
    const exports = this.#exports;
    const { buffer } = exports.memory;
    const first = exports.wordEnd();
    counts.addAll(new Uint32Array(buffer, exports.WORD_COUNT.value, counts.hashes.length));
    const count = exports.wordHashCount.value - first;
    return new Uint32Array(buffer, exports.WORD_HASH.value + 4 * first, count);
  }
}

let ofThread: PartWords | undefined;

/** The finder of words of the calling thread: the kernel, where there is one. */
export function partWords(): PartWords {
  ofThread ??= KernelWords.make() ?? new PlainWords();
  return ofThread;
}
