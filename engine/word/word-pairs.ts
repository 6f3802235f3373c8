import { assert } from '../base/assert.ts';
import { extend, release } from '../packed/growth.ts';
import type { PartValues, PartWords } from './part-words.ts';
import type { WordCounts } from './word-counts.ts';

/** Bits of a hash that a pass of the sort goes by. */
const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const HASH_BITS = 32;
/** Pairs for which there is room at first. */
const PAIRS_MIN = 1_024;
const PARTS_MAX = 2 ** 16;

/** Hashes of words, each with a part of a column in which the word is. */
export interface SortedPairs {
  count: number;
  /** Ascending. */
  hashes: Uint32Array<ArrayBuffer>;
  /** Ascending where hashes are equal. */
  parts: Uint16Array<ArrayBuffer>;
}

type Pairs = Pick<SortedPairs, 'hashes' | 'parts'>;

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

  /** Shows all pairs, sorted, and frees their memory. */
  take(show: (pairs: SortedPairs) => void): void {
    const { count } = this;
    const sorted = sortPairs({ hashes: this.#hashes, parts: this.#parts }, count);
    show({ count, ...sorted });
    release(sorted.hashes);
    release(sorted.parts);
    this.#hashes = new Uint32Array(PAIRS_MIN);
    this.#parts = new Uint16Array(PAIRS_MIN);
    this.count = 0;
    this.partCount = 0;
  }
}

/** Sorts pairs by hash, digit after digit; those of a hash stay in their order. Frees what they were in before. */
function sortPairs(pairs: Pairs, count: number): Pairs {
  let from = pairs;
  let to = { hashes: new Uint32Array(count), parts: new Uint16Array(count) };
  for (let shift = 0; shift < HASH_BITS; shift += DIGIT_BITS) {
    scatter(from, to, count, shift);
    [from, to] = [to, from];
  }
  release(to.hashes);
  release(to.parts);
  return from;
}

/** Puts pairs in the order of one digit. */
function scatter(from: Pairs, to: Pairs, count: number, shift: number): void {
  const places = new Uint32Array(DIGITS);
  const mask = DIGITS - 1;
  const { hashes, parts } = from;
  const { hashes: toHashes, parts: toParts } = to;
  for (let index = 0; index < count; index++) places[(hashes[index] >>> shift) & mask]++;
  let place = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const next = place + places[digit];
    places[digit] = place;
    place = next;
  }
  for (let index = 0; index < count; index++) {
    const at = places[(hashes[index] >>> shift) & mask]++;
    toHashes[at] = hashes[index];
    toParts[at] = parts[index];
  }
}
