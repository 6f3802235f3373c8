import { assert } from '../base/assert.ts';
import { extend, free } from '../packed/growth.ts';
import type { PartValues, PartWords } from './part-words.ts';
import type { WordCounts } from './word-counts.ts';

/** Pairs for which there is room at first. */
const PAIRS_MIN = 1_024;
const PARTS_MAX = 2 ** 16;

/** Hashes of words, each with a part of a column in which the word is: the first `count`, in the order of the parts. */
export interface Pairs {
  count: number;
  hashes: Uint32Array<ArrayBuffer>;
  parts: Uint16Array<ArrayBuffer>;
}

/** Collects the words of the values of a column, part after part. */
export class WordPairs {
  /** Parts that have ended. */
  partCount = 0;
  count = 0;
  readonly #words: PartWords;
  readonly #counts: WordCounts;
  #hashes = new Uint32Array(PAIRS_MIN);
  #parts = new Uint16Array(PAIRS_MIN);

  /** `words` may be used for others too, between two parts. `counts` counts the values that have certain words. */
  constructor(words: PartWords, counts: WordCounts) {
    this.#words = words;
    this.#counts = counts;
  }

  /** Adds the words of a part, the next one. */
  addPart(values: PartValues): void {
    assert(this.partCount < PARTS_MAX, 'numbers of parts have 16 bits');
    const hashes = this.#words.hashes(values, this.#counts);
    const end = this.count + hashes.length;
    if (end > this.#hashes.length) {
      this.#hashes = extend(this.#hashes, end);
      this.#parts = extend(this.#parts, end);
    }
    this.#hashes.set(hashes, this.count);
    this.#parts.fill(this.partCount, this.count, end);
    this.count = end;
    this.partCount++;
  }

  /** Shows all pairs, and frees their memory. */
  take(show: (pairs: Pairs) => void): void {
    show({ count: this.count, hashes: this.#hashes, parts: this.#parts });
    free(this.#hashes, this.#parts);
    this.#hashes = new Uint32Array(PAIRS_MIN);
    this.#parts = new Uint16Array(PAIRS_MIN);
    this.count = 0;
    this.partCount = 0;
  }
}
