import type { Entries, StoredTexts } from '../../column/entries.ts';
import { makeKernels } from '../../kernel/kernel.ts';
import { ThreadKernel } from '../../kernel/thread-kernel.ts';
import { lz4DataOf } from '../../packed/compress.ts';
import type { ByteAutomaton, TextQuestion, TextSearch } from './automaton.ts';
import { keepsLetters } from './word.ts';

/** Functions of literal.as.ts and automaton.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  searchBegin(): number;
  literalPlace(number: number): number;
  automatonPlace(number: number): number;
  textLengths(count: number, width: number, base: number): number;
  textInflate(packedBytes: number, bytes: number): number;
  textIsAscii(bytes: number): number;
  textBits(count: number): void;
  literalFind(count: number, bytes: number, length: number, isWord: boolean): number;
  automatonMatch(count: number, isAscii: boolean, all: boolean, begin: number, stops: number): void;
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
  BITS: 7,
  LENGTHS: 8,
  STORED: 9,
} as const;

/** Numbers of `automatonPlace`. */
const StatePlace = { STEP: 0, ACCEPTS: 1, LAST: 2, ENDS: 3 } as const;

/** Verdicts on a text: it passes, or has to be tested. */
export const FOUND = 1;
export const UNSURE = 2;

const WORD_BITS = 32;

/** The kernel of literal.as.ts and automaton.as.ts with its memory. Owned by one thread. */
class SearchKernel {
  readonly #exports: Exports;
  readonly #bytes: Uint8Array;
  readonly #literal: Uint8Array;
  readonly #text: Uint8Array;
  readonly #offset: Uint32Array;
  readonly #found: Uint8Array;
  readonly #bits: Uint32Array;
  readonly #lengths: Uint32Array;
  /** The automaton that is in its memory. */
  #automaton: ByteAutomaton | undefined;
  /** True when the texts that were asked about last are ASCII. */
  #isAscii = true;

  private constructor(exports: Exports) {
    const { buffer } = exports.memory;
    const place = exports.literalPlace;
    this.#exports = exports;
    this.#bytes = new Uint8Array(buffer);
    this.#literal = new Uint8Array(buffer, place(Place.LITERAL), place(Place.LITERAL_BYTES));
    this.#text = new Uint8Array(buffer, place(Place.TEXT), place(Place.TEXT_BYTES));
    this.#offset = new Uint32Array(buffer, place(Place.OFFSET), place(Place.TEXTS) + 1);
    this.#found = new Uint8Array(buffer, place(Place.FOUND), place(Place.TEXTS));
    this.#bits = new Uint32Array(buffer, place(Place.BITS), place(Place.TEXTS) / 32);
    this.#lengths = new Uint32Array(buffer, place(Place.LENGTHS), place(Place.TEXTS));
  }

  /** `undefined` where there are no kernels, or no memory for one. */
  static make(): SearchKernel | undefined {
    const exports = makeKernels() as Exports | undefined;
    if (exports === undefined || exports.searchBegin() === 0) return undefined;
    return new SearchKernel(exports);
  }

  /** Takes texts; false without room for them. */
  take({ bytes, offsets }: Entries): boolean {
    const count = offsets.length - 1;
    const text = bytes.subarray(offsets[0], offsets[count]);
    if (count === 0 || count > this.#found.length || text.length > this.#text.length) return false;
    this.#text.set(text);
    this.#offset.set(offsets);
    return true;
  }

  /** Takes texts as they are stored; false without room, or when they are none that it can read. */
  takeStored({ lengths, stored }: StoredTexts): boolean {
    const { words, count, width, base } = lengths;
    const hasRoom =
      count > 0 && count <= this.#found.length && words.length <= this.#lengths.length;
    if (!hasRoom || stored.length > this.#text.length) return false;
    this.#lengths.set(words);
    const bytes = this.#exports.textLengths(count, width, base) >>> 0;
    if (bytes > this.#text.length) return false;
    if (stored.length === bytes) {
      this.#text.set(stored);
      return true;
    }
    const packed = lz4DataOf(stored, bytes);
    if (packed === undefined) return false;
    this.#bytes.set(packed, this.#exports.literalPlace(Place.STORED));
    return this.#exports.textInflate(packed.length, bytes) !== 0;
  }

  /** Verdicts on the `count` texts that it took, by each; `undefined` without room for the question. */
  ask({ finder, automaton }: TextQuestion, count: number): Uint8Array | undefined {
    const bytes = this.#offset[count] - this.#offset[0];
    let isAscii: boolean;
    if (finder !== undefined) {
      const { literal } = finder;
      if (literal.length > this.#literal.length) return undefined;
      this.#literal.set(literal);
      isAscii = this.#exports.literalFind(count, bytes, literal.length, finder.isWord) !== 0;
    } else isAscii = this.#exports.textIsAscii(bytes) !== 0;
    if (automaton !== undefined) {
      this.#load(automaton);
      const { begin, stops } = automaton.tables;
      this.#exports.automatonMatch(count, isAscii, finder === undefined, begin, stops);
    }
    this.#isAscii = isAscii;
    return this.#found;
  }

  /** Adds bits of the `count` texts that it took and that pass; how many bytes these are, `undefined` as for `ask`. */
  decide({ search, test }: TextDecision, count: number, into: Uint32Array): number | undefined {
    const found = this.ask(search, count);
    if (found === undefined) return undefined;
    const offset = this.#offset;
    const end = offset[count] - offset[0];
    const isRight =
      !search.needsLetters || this.#isAscii || keepsLetters(this.#text.subarray(0, end));
    if (!isRight) found.fill(UNSURE, 0, count);
    const unsure = search.isExact || !isRight ? UNSURE : FOUND;
    for (
      let at = found.indexOf(unsure);
      at >= 0 && at < count;
      at = found.indexOf(unsure, at + 1)
    ) {
      const isFound = test(this.#text, offset[at] - offset[0], offset[at + 1] - offset[0]);
      found[at] = isFound ? FOUND : 0;
    }
    this.#exports.textBits(count);
    const words = Math.ceil(count / WORD_BITS);
    for (let word = 0; word < words; word++) into[word] |= this.#bits[word];
    return end;
  }

  #load(automaton: ByteAutomaton): void {
    if (this.#automaton === automaton) return;
    const place = this.#exports.automatonPlace;
    const { steps, accepts, lasts, ends } = automaton.tables;
    this.#bytes.set(steps, place(StatePlace.STEP));
    this.#bytes.set(accepts, place(StatePlace.ACCEPTS));
    this.#bytes.set(lasts, place(StatePlace.LAST));
    this.#bytes.set(ends, place(StatePlace.ENDS));
    this.#automaton = automaton;
  }
}

/** A search with what decides of texts that are found or unsure. */
export interface TextDecision {
  search: TextSearch;
  test: (bytes: Uint8Array, start: number, end: number) => boolean;
}

const ofThread = new ThreadKernel(() => SearchKernel.make());

/** True when a kernel searches. */
export function hasSearchKernel(): boolean {
  return ofThread.get() !== undefined;
}

/**
 * Finds the entries that have what is looked for: by entry FOUND, UNSURE or 0, good until the next search; `undefined`
 * where there is no kernel, or it has no room.
 */
export function findInEach(entries: Entries, question: TextQuestion): Uint8Array | undefined {
  return ofThread.ask((kernel) =>
    kernel.take(entries) ? kernel.ask(question, entries.offsets.length - 1) : undefined,
  )?.answer;
}

/**
 * Adds the texts that pass to a bitmap, of which text 0 is the first; how many bytes all texts have, `undefined` where
 * there is no kernel, or it does not tell.
 */
export function searchEntries(
  entries: Entries,
  decision: TextDecision,
  into: Uint32Array,
): number | undefined {
  return ofThread.ask((kernel) =>
    kernel.take(entries) ? kernel.decide(decision, entries.offsets.length - 1, into) : undefined,
  )?.answer;
}

/** Does the same of texts as they are stored. */
export function searchStored(
  texts: StoredTexts,
  decision: TextDecision,
  into: Uint32Array,
): number | undefined {
  return ofThread.ask((kernel) =>
    kernel.takeStored(texts) ? kernel.decide(decision, texts.lengths.count, into) : undefined,
  )?.answer;
}
