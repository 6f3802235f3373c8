import { pointAt, pointBytes } from './code-point.ts';

/** Letters, digits, marks and `_`. Source: FORMAT.md 4, "Words". */
const WORD_CHARACTER = /[\p{L}\p{N}\p{M}_]/u;
const PAGE_BITS = 8;
const PAGE_POINTS = 1 << PAGE_BITS;

/** Pages of code points, 1 for those of words; made when a text first needs one. */
const pages: (Uint8Array | undefined)[] = new Array(0x110000 >>> PAGE_BITS).fill(undefined);

function wordPage(page: number): Uint8Array {
  const made = new Uint8Array(PAGE_POINTS);
  for (let index = 0; index < PAGE_POINTS; index++) {
    const character = String.fromCodePoint((page << PAGE_BITS) + index);
    made[index] = WORD_CHARACTER.test(character) ? 1 : 0;
  }
  pages[page] = made;
  return made;
}

/** By ASCII character, 1 for those of words. */
export const ASCII_WORD: Uint8Array = wordPage(0).slice(0, 128);

/** Tells that the code point that begins at `at`, beyond ASCII, is one of words. */
export function isWordPoint(bytes: Uint8Array, at: number): boolean {
  const point = pointAt(bytes, at);
  const page = pages[point >>> PAGE_BITS] ?? wordPage(point >>> PAGE_BITS);
  return page[point & (PAGE_POINTS - 1)] === 1;
}

/** Where the next word of `bytes[at, end)` begins; `end` when there is none. */
export function wordStart(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at];
    if (byte < 0x80) {
      if (ASCII_WORD[byte] === 1) return at;
      at++;
    } else {
      if (isWordPoint(bytes, at)) return at;
      at += pointBytes(byte);
    }
  }
  return end;
}

/** Where the word that begins at `from` ends. */
export function wordEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = asciiEnd(bytes, from, end);
  while (at < end && bytes[at] >= 0x80 && isWordPoint(bytes, at)) {
    at = asciiEnd(bytes, at + pointBytes(bytes[at]), end);
  }
  return at;
}

/** Where the ASCII characters of words that stand at `from` end. */
export function asciiEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] < 0x80 && ASCII_WORD[bytes[at]] === 1) at++;
  return at;
}

/** Where the word in which `at` lies begins, in a text that begins at `start`. */
export function runStart(bytes: Uint8Array, at: number, start: number): number {
  let from = at;
  while (from > start) {
    let before = from - 1;
    while (before > start && (bytes[before] & 0xc0) === 0x80) before--;
    const isWordCharacter =
      bytes[before] < 0x80 ? ASCII_WORD[bytes[before]] === 1 : isWordPoint(bytes, before);
    if (!isWordCharacter) break;
    from = before;
  }
  return from;
}
