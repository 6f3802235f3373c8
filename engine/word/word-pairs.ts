import { assert } from '../base/assert.ts';
import { extend, release } from '../column/growth.ts';
import type { HashSet } from './hash-set.ts';
import type { WordCounts } from './word-counts.ts';
import { type HashSink, hashOfValue, hashWords, needsValueHash } from './word-hash.ts';

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
export class WordPairs implements HashSink {
  /** Parts that have ended. */
  partCount = 0;
  count = 0;
  readonly #set: HashSet;
  readonly #counts: WordCounts;
  /** Words that are counted: their hashes are the first ones of the set. */
  readonly #countedCount: number;
  /** 1 for each of them whose hash is in the part. */
  readonly #isInPart: Uint8Array;
  #hashes = new Uint32Array(PAIRS_MIN);
  #parts = new Uint16Array(PAIRS_MIN);

  /**
   * `set` holds the words of a part until that ends; others may use it too, between two parts. `counts` counts the
   * values that have certain words.
   */
  constructor(set: HashSet, counts: WordCounts) {
    this.#set = set;
    this.#counts = counts;
    this.#countedCount = counts.words.length;
    this.#isInPart = new Uint8Array(this.#countedCount);
  }

  /** Adds the words of a value to the part. The value counts as many as it weighs. */
  addWords(bytes: Uint8Array, start: number, end: number, weight = 1): void {
    if (this.#set.count === 0) for (const hash of this.#counts.hashes) this.#set.add(hash);
    this.#counts.begin(weight);
    hashWords(bytes, start, end, this);
  }

  /** Adds a value as a whole to the part, behind its words, when these do not tell it from others. */
  addValue(bytes: Uint8Array, start: number, end: number): void {
    if (!needsValueHash(bytes, start, end)) return;
    const place = this.#set.add(hashOfValue(bytes, start, end));
    if (place < this.#countedCount) this.#isInPart[place] = 1;
  }

  add(hash: number, bytes: Uint8Array, start: number, end: number): void {
    const place = this.#set.add(hash);
    if (place >= this.#countedCount) return;
    this.#isInPart[place] = 1;
    this.#counts.add(place, bytes, start, end);
  }

  /** Ends the part. */
  endPart(): void {
    assert(this.partCount < PARTS_MAX, 'numbers of parts have 16 bits');
    const { hashes, count } = this.#set;
    if (this.count + count > this.#hashes.length) {
      this.#hashes = extend(this.#hashes, this.count + count);
      this.#parts = extend(this.#parts, this.count + count);
    }
    let end = this.count;
    for (let place = 0; place < this.#countedCount; place++) {
      if (this.#isInPart[place] === 1) this.#hashes[end++] = hashes[place];
    }
    this.#isInPart.fill(0);
    if (count > this.#countedCount) {
      this.#hashes.set(hashes.subarray(this.#countedCount, count), end);
      end += count - this.#countedCount;
    }
    this.#parts.fill(this.partCount, this.count, end);
    this.count = end;
    this.partCount++;
    this.#set.clear();
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
