import { pointBytes } from './code-point.ts';
import { ASCII_WORD, isWordPoint, wordEnd } from './word-run.ts';

/**
 * Takes hashes of 32 bits, never negative, each with the word that it is of: `bytes[start, end)`, with `A` to `Z` made
 * small.
 */
export interface HashSink {
  add(hash: number, bytes: Uint8Array, start: number, end: number): unknown;
}

/** Where hashes of words begin, and those of whole values. Source: FORMAT.md 10.4. */
const WORD_BASIS = 0x811c9dc5;
const VALUE_BASIS = 0x2f0b4c47;
const PRIME = 0x01000193;
/** Bytes of a word with a digit from which on it tells a value from others. */
const TELLING_BYTES = 5;
/** In `FOLD`: a byte of no word, and one of a character beyond ASCII. */
const NO_WORD = 0;
const BEYOND_ASCII = 255;

/** Bytes with `A` to `Z` made small: the fold of words. */
export const LOWER: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte,
);

/** By byte, the small letter of a character of words; 0 of others, 255 of those beyond ASCII. */
export const FOLD: Uint8Array = LOWER.map((small, byte) => {
  if (byte >= 0x80) return BEYOND_ASCII;
  return ASCII_WORD[byte] === 0 ? NO_WORD : small;
});

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Spreads the bits of a hash. Source: the end of MurmurHash3. */
function finished(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Hashes a word that is lower-cased. */
export function hashOfWord(word: Uint8Array): number {
  let hash = WORD_BASIS;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word[at], PRIME);
  return finished(hash);
}

/** Hashes a whole value as it is. */
export function hashOfValue(bytes: Uint8Array, start: number, end: number): number {
  let hash = VALUE_BASIS;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at], PRIME);
  return finished(hash);
}

/**
 * Tells that a value is to be found as a whole too: it has no word of a digit and some other characters, which would
 * tell it from others. Source: FORMAT.md 10.4.
 */
export function needsValueHash(bytes: Uint8Array, start: number, end: number): boolean {
  let from = start;
  let hasDigit = false;
  for (let at = start; at < end; at++) {
    const folded = FOLD[bytes[at]];
    if (folded === NO_WORD) {
      if (hasDigit && at - from >= TELLING_BYTES) return false;
      from = at + 1;
      hasDigit = false;
    } else if (folded >= 0x30 && folded <= 0x39) hasDigit = true;
  }
  return !(hasDigit && end - from >= TELLING_BYTES);
}

/** Gives `sink` the hash of each word of `bytes[start, end)`. */
export function hashWords(bytes: Uint8Array, start: number, end: number, sink: HashSink): void {
  for (let at = start; at < end; ) {
    const from = at;
    let hash = WORD_BASIS;
    let folded = FOLD[bytes[at]];
    while (folded !== NO_WORD && folded !== BEYOND_ASCII) {
      hash = Math.imul(hash ^ folded, PRIME);
      folded = ++at < end ? FOLD[bytes[at]] : NO_WORD;
    }
    if (folded === BEYOND_ASCII && isWordPoint(bytes, at)) {
      at = wordEnd(bytes, at, end);
      hashBeyondAscii(bytes, from, at, sink);
      continue;
    }
    if (at > from) sink.add(finished(hash), bytes, from, at);
    if (at < end) at += pointBytes(bytes[at]);
  }
}

/**
 * Gives `sink` the hashes of a word with characters beyond ASCII: lower-cased as a whole, and with small letters of
 * ASCII alone, as words are compared in both ways.
 */
function hashBeyondAscii(bytes: Uint8Array, start: number, end: number, sink: HashSink): void {
  const lowered = encoder.encode(decoder.decode(bytes.subarray(start, end)).toLowerCase());
  sink.add(hashOfWord(lowered), lowered, 0, lowered.length);
  let hash = WORD_BASIS;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ LOWER[bytes[at]], PRIME);
  sink.add(finished(hash), bytes, start, end);
}
