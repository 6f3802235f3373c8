import { isAscii } from 'node:buffer';
import { assert } from '../../base/assert.ts';
import type { WordPattern } from '../model/predicate.ts';
import { finderOf, type LiteralFinder } from './literal.ts';
import { compilePattern, matchesPattern, type PatternTokens } from './pattern.ts';
import { encodeText, LOWER, pointAt, pointBytes, SAME } from './text.ts';

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

const ASCII_WORD: Uint8Array = wordPage(0).slice(0, 128);

/** Whether the code point that begins at `at`, beyond ASCII, is one of words. */
function isWordPoint(bytes: Uint8Array, at: number): boolean {
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
function asciiEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] < 0x80 && ASCII_WORD[bytes[at]] === 1) at++;
  return at;
}

/** Where the word in which `at` lies begins, in a text that begins at `start`. */
function runStart(bytes: Uint8Array, at: number, start: number): number {
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

/** The characters beyond ASCII that are ASCII letters when lower-cased: U+0130 and U+212A. */
const FOLDED = [Buffer.from('\u0130'), Buffer.from('\u212a')];

/** Whether the ASCII letters of the lower-cased text are those of the text: no letter beyond ASCII becomes one. */
export function keepsLetters(bytes: Uint8Array): boolean {
  if (isAscii(bytes)) return true;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return !FOLDED.some((character) => view.includes(character));
}

/** One word of a sequence: its literal when it has no wildcard, else its tokens. */
interface Word {
  literal: Uint8Array | undefined;
  tokens: PatternTokens;
}

const decoder = new TextDecoder();
/** Words that follow one another in a text, compared without case. Words of a text are those of FORMAT.md 4. */
export class WordSequence {
  readonly #words: Word[];
  /** Finds what all texts hold for which `keepsLetters` and that match. */
  readonly anchor: LiteralFinder | undefined;

  /** `words` are lower-cased and at least one. */
  constructor(words: readonly WordPattern[]) {
    assert(words.length > 0, 'a sequence has words');
    this.#words = words.map((word) => {
      const plain = word.every((piece) => 'literal' in piece);
      const text = word.map((piece) => ('literal' in piece ? piece.literal : '')).join('');
      return { literal: plain ? encodeText(text) : undefined, tokens: compilePattern(word) };
    });
    this.anchor = finderOf(words[0], words.length === 1);
  }

  /**
   * Whether the text `bytes[start, end)`, WTF-8, holds the words one after the other. `plain`: `keepsLetters` of the
   * text; then only places where a literal of the first word stands are looked at.
   */
  matches(bytes: Uint8Array, start: number, end: number, plain: boolean): boolean {
    const anchor = plain ? this.anchor : undefined;
    let at = start;
    while (at < end) {
      if (anchor === undefined) {
        at = wordStart(bytes, at, end);
        if (at === end) return false;
      } else {
        const found = anchor.find(bytes, at, end);
        if (found < 0) return false;
        at = runStart(bytes, found, start);
      }
      const asciiPart = asciiEnd(bytes, at, end);
      const after = wordEnd(bytes, asciiPart, end);
      const first = this.#words[0];
      if (isWord(first, bytes, at, after, after === asciiPart) && this.#follow(bytes, after, end)) {
        return true;
      }
      at = after;
    }
    return false;
  }

  /** Whether the words after the first one are the next ones of the text. */
  #follow(bytes: Uint8Array, from: number, end: number): boolean {
    let after = from;
    for (let index = 1; index < this.#words.length; index++) {
      const at = wordStart(bytes, after, end);
      if (at === end) return false;
      const asciiPart = asciiEnd(bytes, at, end);
      after = wordEnd(bytes, asciiPart, end);
      if (!isWord(this.#words[index], bytes, at, after, after === asciiPart)) return false;
    }
    return true;
  }
}

function isWord(
  word: Word,
  bytes: Uint8Array,
  start: number,
  end: number,
  ascii: boolean,
): boolean {
  if (word.literal !== undefined) {
    if (end - start === word.literal.length && isLiteral(word.literal, bytes, start)) return true;
    return !ascii && isLoweredWord(word, bytes, start, end);
  }
  return ascii
    ? matchesPattern(word.tokens, bytes, start, end, LOWER)
    : isLoweredWord(word, bytes, start, end);
}

function isLiteral(literal: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < literal.length; index++) {
    if (LOWER[bytes[start + index]] !== literal[index]) return false;
  }
  return true;
}

/** Lower-cases beyond ASCII as JavaScript does, as the words of a query were. */
function isLoweredWord(word: Word, bytes: Uint8Array, start: number, end: number): boolean {
  const lowered = encodeText(decoder.decode(bytes.subarray(start, end)).toLowerCase());
  return matchesPattern(word.tokens, lowered, 0, lowered.length, SAME);
}
