import { free } from '../packed/growth.ts';
import { BitWriter } from './bit-stream.ts';
import type { Pairs } from './word-pairs.ts';

/** Plain bits of the gaps between hashes, and so bits of a hash beyond those that number all of them. */
export const GAP_BITS = 3;

/** Bits of a hash that a pass of the sort goes by. */
const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const HASH_BITS = 32;

/** Rules of a frame by which its pages are written. */
export interface PageRule {
  /** Bits of a hash that do not count. */
  shift: number;
  /** Bits of what is left that tell the hashes of a page from each other. */
  pageShift: number;
  partCount: number;
}

/** Words of a page as they are written; good until the next one. */
export interface WordPage {
  wordCount: number;
  bits: Uint8Array;
}

/** Words of some parts of a column, in order. */
export interface WordPages {
  readonly hashCount: number;
  /** Writes the words of a page, of which each is asked for once. */
  page(page: number, rule: PageRule): WordPage;
}

/** Sorts and writes pair by pair: the reference of `KernelPages`. */
export class PlainPages implements WordPages {
  readonly hashCount: number;
  readonly #pairs: Pairs;
  readonly #bits = new BitWriter();

  /** Copies `pairs`. */
  constructor(pairs: Pairs) {
    this.#pairs = sortPairs(pairs);
    const { hashes, count } = this.#pairs;
    let hashCount = 0;
    for (let at = 0; at < count; at++) if (at === 0 || hashes[at] !== hashes[at - 1]) hashCount++;
    this.hashCount = hashCount;
  }

  page(page: number, { shift, pageShift, partCount }: PageRule): WordPage {
    const { count, hashes, parts } = this.#pairs;
    let last = page * 2 ** pageShift - 1;
    const pageEnd = last + 2 ** pageShift;
    let at = this.#search(last + 1, shift);
    let wordCount = 0;
    while (at < count && hashes[at] >>> shift <= pageEnd) {
      const hash = hashes[at] >>> shift;
      let end = at + 1;
      while (end < count && hashes[end] >>> shift === hash) end++;
      this.#bits.rice(hash - last - 1, GAP_BITS);
      const isMixed = hashes[at] !== hashes[end - 1];
      this.#writeParts(at, isMixed ? sortParts(parts, at, end) : end, partCount);
      last = hash;
      at = end;
      wordCount++;
    }
    return { wordCount, bits: this.#bits.take() };
  }

  /** Ends it. */
  free(): void {
    free(this.#pairs.hashes, this.#pairs.parts);
  }

  /** The first pair whose hash, without `shift` bits, is `least` or more. */
  #search(least: number, shift: number): number {
    const { hashes, count } = this.#pairs;
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (hashes[middle] >>> shift < least) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Writes the parts `[from, to)` of a word. */
  #writeParts(from: number, to: number, partCount: number): void {
    const { parts } = this.#pairs;
    const count = to - from;
    this.#bits.gamma(count);
    if (isEverywhere(count, partCount)) return;
    const low = plainBits(count, partCount);
    let last = -1;
    for (let at = from; at < to; at++) {
      this.#bits.rice(parts[at] - last - 1, low);
      last = parts[at];
    }
  }
}

/** Plain bits of the gaps between `count` of `partCount` parts: these are far below 2^31. */
export function plainBits(count: number, partCount: number): number {
  return Math.max(31 - Math.clz32((partCount * 2) / (count * 3)), 0);
}

/** Tells that a word is in so many parts that these are not listed. */
export function isEverywhere(count: number, partCount: number): boolean {
  return count * 2 > partCount;
}

/** Puts the parts of several hashes in order, each once; returns where they end. */
function sortParts(parts: Uint16Array, from: number, to: number): number {
  parts.subarray(from, to).sort();
  let end = from + 1;
  for (let at = end; at < to; at++) if (parts[at] !== parts[at - 1]) parts[end++] = parts[at];
  return end;
}

/** Sorts pairs by hash, digit after digit, in new arrays; those of a hash stay in their order. */
function sortPairs({ hashes, parts, count }: Pairs): Pairs {
  let from = { count, hashes: hashes.slice(0, count), parts: parts.slice(0, count) };
  let to = { count, hashes: new Uint32Array(count), parts: new Uint16Array(count) };
  for (let shift = 0; shift < HASH_BITS; shift += DIGIT_BITS) {
    scatter(from, to, shift);
    [from, to] = [to, from];
  }
  free(to.hashes, to.parts);
  return from;
}

/** Puts pairs in the order of one digit. */
function scatter(from: Pairs, to: Pairs, shift: number): void {
  const places = new Uint32Array(DIGITS);
  const mask = DIGITS - 1;
  const { hashes, parts, count } = from;
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
