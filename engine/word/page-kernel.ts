import { makeKernels } from '../kernel/kernel.ts';
import { ThreadKernel } from '../kernel/thread-kernel.ts';
import { type PageRule, PlainPages, type WordPage, type WordPages } from './word-pages.ts';
import type { Pairs } from './word-pairs.ts';

/** Functions and places of pairs.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  pairStart(): number;
  pairSort(count: number): number;
  pairPage(page: number, shift: number, pageShift: number, parts: number): number;
  pairWordCount: WebAssembly.Global;
  PAIR_COUNT: WebAssembly.Global;
  PAIR_HASH: WebAssembly.Global;
  PAIR_PART: WebAssembly.Global;
  PAIR_BITS: WebAssembly.Global;
}

/** The kernel of pairs.as.ts with its memory. Owned by one thread. */
class PageKernel {
  /** Pairs that it sorts at most. */
  readonly countMax: number;
  readonly #exports: Exports;

  private constructor(exports: Exports) {
    this.#exports = exports;
    this.countMax = exports.PAIR_COUNT.value;
  }

  /** `undefined` where there are no kernels, or no memory for one. */
  static make(): PageKernel | undefined {
    const exports = makeKernels() as Exports | undefined;
    return exports === undefined || exports.pairStart() === 0 ? undefined : new PageKernel(exports);
  }

  /** Sorts `countMax` pairs at most; returns how many hashes they have. */
  sort({ count, hashes, parts }: Pairs): number {
    const { memory, PAIR_HASH, PAIR_PART, pairSort } = this.#exports;
    const { buffer } = memory;
    new Uint32Array(buffer, PAIR_HASH.value, count).set(hashes.subarray(0, count));
    new Uint16Array(buffer, PAIR_PART.value, count).set(parts.subarray(0, count));
    return pairSort(count);
  }

  /** Writes a page of the pairs that were sorted last; `undefined` when there is no room for it. */
  page(page: number, { shift, pageShift, partCount }: PageRule): WordPage | undefined {
    const { memory, PAIR_BITS, pairWordCount, pairPage } = this.#exports;
    const bytes = pairPage(page, shift, pageShift, partCount);
    if (bytes === 0) return undefined;
    const bits = new Uint8Array(memory.buffer, PAIR_BITS.value, bytes);
    return { wordCount: pairWordCount.value, bits };
  }
}

const ofThread = new ThreadKernel(() => PageKernel.make());

/** Sorts and writes pairs by the kernel, and by the reference what it has no room for. One is used at a time. */
class KernelPages implements WordPages {
  readonly hashCount: number;
  readonly #pairs: Pairs;
  #plain: PlainPages | undefined;

  constructor(pairs: Pairs) {
    this.#pairs = pairs;
    const { countMax } = ofThread.get() ?? { countMax: 0 };
    const sorted =
      pairs.count <= countMax ? ofThread.ask((kernel) => kernel.sort(pairs)) : undefined;
    this.hashCount = sorted === undefined ? this.#reference().hashCount : sorted.answer;
  }

  page(page: number, rule: PageRule): WordPage {
    const written =
      this.#plain === undefined ? ofThread.ask((kernel) => kernel.page(page, rule)) : undefined;
    return written?.answer ?? this.#reference().page(page, rule);
  }

  free(): void {
    this.#plain?.free();
  }

  #reference(): PlainPages {
    this.#plain ??= new PlainPages(this.#pairs);
    return this.#plain;
  }
}

/** Shows `pairs` in order, page by page; `show` keeps nothing of it. They stay as they are. */
export function withPages(pairs: Pairs, show: (pages: WordPages) => void): void {
  const pages = new KernelPages(pairs);
  try {
    show(pages);
  } finally {
    pages.free();
  }
}
