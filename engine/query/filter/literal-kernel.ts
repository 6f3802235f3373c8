import type { Entries } from '../../column/entries.ts';
import { makeKernels } from '../../kernel/kernel.ts';
import { ThreadKernel } from '../../kernel/thread-kernel.ts';
import type { LiteralFinder } from './literal.ts';

/** Functions of literal.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  literalBegin(): number;
  literalPlace(number: number): number;
  literalFind(count: number, bytes: number, length: number): void;
}

/** Numbers of `literalPlace`. */
const Place = {
  LITERAL: 0,
  TEXT: 1,
  OFFSET: 2,
  FOUND: 3,
  LITERAL_BYTES: 4,
  TEXT_BYTES: 5,
  TEXTS: 6,
} as const;

/** The kernel of literal.as.ts with its memory. Owned by one thread. */
class LiteralKernel {
  readonly #exports: Exports;
  readonly #literal: Uint8Array;
  readonly #text: Uint8Array;
  readonly #offset: Uint32Array;
  readonly #found: Uint8Array;

  private constructor(exports: Exports) {
    const { buffer } = exports.memory;
    const place = exports.literalPlace;
    this.#exports = exports;
    this.#literal = new Uint8Array(buffer, place(Place.LITERAL), place(Place.LITERAL_BYTES));
    this.#text = new Uint8Array(buffer, place(Place.TEXT), place(Place.TEXT_BYTES));
    this.#offset = new Uint32Array(buffer, place(Place.OFFSET), place(Place.TEXTS) + 1);
    this.#found = new Uint8Array(buffer, place(Place.FOUND), place(Place.TEXTS));
  }

  /** `undefined` where there are no kernels, or no memory for one. */
  static make(): LiteralKernel | undefined {
    const exports = makeKernels() as Exports | undefined;
    if (exports === undefined || exports.literalBegin() === 0) return undefined;
    return new LiteralKernel(exports);
  }

  /** As `findInEach`. */
  find({ bytes, offsets }: Entries, literal: Uint8Array): Uint8Array | undefined {
    const count = offsets.length - 1;
    const text = bytes.subarray(offsets[0], offsets[count]);
    const hasRoom =
      count > 0 &&
      count <= this.#found.length &&
      text.length <= this.#text.length &&
      literal.length <= this.#literal.length;
    if (!hasRoom) return undefined;
    this.#literal.set(literal);
    this.#text.set(text);
    this.#offset.set(offsets);
    this.#exports.literalFind(count, text.length, literal.length);
    return this.#found;
  }
}

const ofThread = new ThreadKernel(() => LiteralKernel.make());

/**
 * Finds the entries that have what `finder` looks for: 1 by entry, else 0, good until the next search; `undefined`
 * where there is no kernel, or it has no room.
 */
export function findInEach(entries: Entries, { literal }: LiteralFinder): Uint8Array | undefined {
  return ofThread.ask((kernel) => kernel.find(entries, literal))?.answer;
}
