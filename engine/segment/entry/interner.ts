import { assert, must } from '../../base/assert.ts';
import { HASH_SEED } from '../../base/hash.ts';
import { collectHeap } from '../../base/thread/collect.ts';
import { Dictionary } from '../../column/dictionary.ts';
import type { Entries } from '../../column/entries.ts';
import { makeKernels } from '../../kernel/kernel.ts';

/** Functions of intern.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  internStart(): number;
  internBegin(key: number): void;
  internStrings(count: number): number;
  internGather(count: number): number;
  internEntryCount: WebAssembly.Global;
  internEntryEnd: WebAssembly.Global;
  INTERN_TEXT: WebAssembly.Global;
  INTERN_TEXT_BYTES: WebAssembly.Global;
  INTERN_OFFSET: WebAssembly.Global;
  INTERN_STRINGS: WebAssembly.Global;
  INTERN_NUMBER: WebAssembly.Global;
  INTERN_ENTRY: WebAssembly.Global;
  INTERN_ENTRY_OFFSET: WebAssembly.Global;
}

/** Bytes of entries in a kernel from which on its memory is worth a collection. */
const COLLECTED_BYTES = 4 * 1024 * 1024;

/** The kernel of a thread, which numbers the strings of one column after the other. */
class InternKernel {
  readonly exports: Exports;
  readonly text: Uint8Array;
  readonly offsets: Uint32Array;
  readonly numbers: Uint32Array;
  /** The interner whose strings are in the memory. */
  owner: Interner | undefined;
  #entryBytesMax = 0;

  private constructor(exports: Exports) {
    const { buffer } = exports.memory;
    const count = exports.INTERN_STRINGS.value;
    this.exports = exports;
    this.text = new Uint8Array(buffer, exports.INTERN_TEXT.value, exports.INTERN_TEXT_BYTES.value);
    this.offsets = new Uint32Array(buffer, exports.INTERN_OFFSET.value, count + 1);
    this.numbers = new Uint32Array(buffer, exports.INTERN_NUMBER.value, count);
  }

  static make(): InternKernel | undefined {
    const exports = makeKernels() as Exports | undefined;
    if (exports === undefined || exports.internStart() === 0) return undefined;
    return new InternKernel(exports);
  }

  /** Bytes of the distinct strings so far. */
  get entryBytes(): number {
    return this.exports.internEntryEnd.value;
  }

  /** Most bytes that distinct strings of one interner had, of which the memory keeps its size. */
  get entryBytesMax(): number {
    return Math.max(this.#entryBytesMax, this.entryBytes);
  }

  /** Forgets the strings of the interner before. */
  begin(owner: Interner): void {
    this.#entryBytesMax = this.entryBytesMax;
    this.owner = owner;
    this.exports.internBegin(HASH_SEED);
  }
}

let ofThread: { kernel: InternKernel | undefined } | undefined;

/**
 * Gives back the memory of the calling thread's kernel: the next interner makes another one. None is in use. Resolves
 * when it is free, if it is much.
 */
export async function releaseInterner(): Promise<void> {
  if (ofThread?.kernel === undefined) return;
  const { entryBytesMax } = ofThread.kernel;
  ofThread = undefined;
  // V8 frees the memory of a kernel when it collects, which it sees no need of while its heap is small.
  if (entryBytesMax >= COLLECTED_BYTES) await collectHeap();
}

/**
 * Numbers the strings of a column, equal ones alike: by the kernel, and by a `Dictionary` from when that has no room or
 * fails. Of those of a thread one is used at a time: the next one takes the memory of the kernel.
 */
export class Interner {
  #kernel: InternKernel | undefined;
  #dictionary: Dictionary | undefined;
  /** Distinct strings that the kernel has numbered. */
  #count = 0;

  constructor() {
    ofThread ??= { kernel: InternKernel.make() };
    this.#kernel = ofThread.kernel;
    if (this.#kernel === undefined) this.#dictionary = new Dictionary();
    else this.#kernel.begin(this);
  }

  get entryCount(): number {
    return this.#dictionary?.entryCount ?? this.#count;
  }

  get byteCount(): number {
    return this.#dictionary?.byteCount ?? this.#kernel?.entryBytes ?? 0;
  }

  /** The distinct strings by number. Good until the next interner is made; nothing is numbered after it. */
  entries(): Dictionary {
    if (this.#dictionary !== undefined) return this.#dictionary;
    const { offsets, bytes } = this.#numbered();
    this.#dictionary = Dictionary.of(offsets, bytes);
    return this.#dictionary;
  }

  /**
   * The distinct strings that `numbers` name, one after the other: of a few thousand. Good until the next call, and as
   * `entries` are.
   */
  gather(numbers: Uint32Array): Entries {
    const found = this.#gather(numbers);
    if (found !== undefined) return found;
    const dictionary = this.entries();
    const offsets = new Uint32Array(numbers.length + 1);
    for (let at = 0; at < numbers.length; at++) {
      const start = dictionary.offsets[numbers[at]];
      offsets[at + 1] = offsets[at] + dictionary.offsets[numbers[at] + 1] - start;
    }
    return { offsets, bytes: dictionary.gather(numbers, 0, numbers.length) };
  }

  /** Numbers the strings `[from, to)`; that of string i goes to `into[i - from]`. */
  intern(strings: Entries, from: number, to: number, into: Uint32Array): void {
    for (let at = from; at < to; ) {
      const done = this.#dictionary === undefined ? this.#intern(strings, at, to, into, from) : 0;
      at += done;
      if (done > 0) continue;
      const { offsets, bytes } = strings;
      const dictionary = this.#plain();
      for (; at < to; at++) {
        into[at - from] = dictionary.intern(bytes, offsets[at], offsets[at + 1] - offsets[at]);
      }
    }
  }

  /** Numbers strings from `at` on by the kernel; returns how many, 0 when it has no room or fails. */
  #intern(
    { offsets, bytes }: Entries,
    at: number,
    to: number,
    into: Uint32Array,
    from: number,
  ): number {
    const kernel = this.#kernel;
    if (kernel === undefined) return 0;
    assert(kernel.owner === this, 'of interners one is used at a time');
    const start = offsets[at];
    const most = Math.min(to, at + kernel.numbers.length);
    let end = at;
    while (end < most && offsets[end + 1] - start <= kernel.text.length) end++;
    kernel.text.set(bytes.subarray(start, offsets[end]));
    for (let index = at; index <= end; index++) kernel.offsets[index - at] = offsets[index] - start;
    try {
      const done = kernel.exports.internStrings(end - at);
      into.set(kernel.numbers.subarray(0, done), at - from);
      this.#count = kernel.exports.internEntryCount.value;
      return done;
    } catch {
      // What it had numbered before is whole.
      ofThread = { kernel: undefined };
      return 0;
    }
  }

  /** Gathers strings by the kernel; `undefined` when it does not have them, has no room for them, or fails. */
  #gather(numbers: Uint32Array): Entries | undefined {
    const kernel = this.#kernel;
    if (kernel === undefined || numbers.length > kernel.numbers.length) return undefined;
    assert(kernel.owner === this, 'of interners one is used at a time');
    kernel.numbers.set(numbers);
    try {
      if (kernel.exports.internGather(numbers.length) === 0) return undefined;
    } catch {
      ofThread = { kernel: undefined };
      return undefined;
    }
    const offsets = kernel.offsets.subarray(0, numbers.length + 1);
    return { offsets, bytes: kernel.text.subarray(0, offsets[numbers.length]) };
  }

  /** A dictionary that goes on where the kernel stopped. */
  #plain(): Dictionary {
    if (this.#dictionary !== undefined) return this.#dictionary;
    const { offsets, bytes } = this.#numbered();
    const dictionary = new Dictionary();
    for (let entry = 0; entry + 1 < offsets.length; entry++) {
      dictionary.intern(bytes, offsets[entry], offsets[entry + 1] - offsets[entry]);
    }
    this.#dictionary = dictionary;
    this.#kernel = undefined;
    return dictionary;
  }

  /** The strings that the kernel has numbered. */
  #numbered(): { offsets: Uint32Array<ArrayBuffer>; bytes: Uint8Array<ArrayBuffer> } {
    const kernel = must(this.#kernel, 'the kernel');
    assert(kernel.owner === this, 'of interners one is used at a time');
    const { exports } = kernel;
    const buffer = exports.memory.buffer as ArrayBuffer;
    const count = this.#count;
    const offsets = new Uint32Array(buffer, exports.INTERN_ENTRY_OFFSET.value, count + 1);
    const bytes = new Uint8Array(buffer, exports.INTERN_ENTRY.value, offsets[count]);
    return { offsets, bytes };
  }
}
