import { assert } from '../../base/assert.ts';
import { LOWER } from '../../word/word-hash.ts';
import type { Pattern } from '../model/predicate.ts';
import { encodeText } from './text.ts';

const SHIFT_MAX = 255;

/**
 * Finds an ASCII literal without case, by Horspool's algorithm: it looks at one byte in a literal's length. One without
 * letters is the same in both cases, so that Node's own search finds it in a whole text.
 */
export class LiteralFinder {
  /** True when all texts that hold the literal are asked for. */
  readonly decides: boolean;
  /** True when all texts are asked for that hold it as a word, of those for which `keepsLetters`. */
  readonly isWord: boolean;
  /** The bytes that are looked for, lower-cased. Not to be written. */
  readonly literal: Uint8Array;
  readonly #hasLetters: boolean;
  /** How far to go on from a byte that stands under the literal's last one; 0 for that byte itself. */
  readonly #shifts: Uint8Array;
  /** How far to go on when the last byte was right and another was not. */
  readonly #lastShift: number;

  /** `literal` is lower-cased and has at least one byte. */
  constructor(literal: Uint8Array, decides = false, isWord = false) {
    assert(literal.length > 0 && literal.every((byte) => byte < 0x80), 'an ASCII literal');
    const last = literal.length - 1;
    const shifts = new Uint8Array(256).fill(Math.min(literal.length, SHIFT_MAX));
    for (let at = 0; at < last; at++) shifts[literal[at]] = Math.min(last - at, SHIFT_MAX);
    this.#lastShift = shifts[literal[last]];
    shifts[literal[last]] = 0;
    for (let byte = 0; byte < 256; byte++) shifts[byte] = shifts[LOWER[byte]];
    this.literal = literal;
    this.#shifts = shifts;
    this.#hasLetters = literal.some((byte) => byte >= 0x61 && byte <= 0x7a);
    this.decides = decides;
    this.isWord = isWord;
  }

  get length(): number {
    return this.literal.length;
  }

  /** Result of `find` for the rest of a text. */
  findIn(text: Uint8Array, from: number): number {
    if (this.#hasLetters) return this.find(text, from, text.length);
    return Buffer.prototype.indexOf.call(text, this.literal, from);
  }

  /** Where the literal is in `bytes[from, end)` for the first time; -1 when it is not. */
  find(bytes: Uint8Array, from: number, end: number): number {
    const { literal } = this;
    const shifts = this.#shifts;
    const last = literal.length - 1;
    let at = from + last;
    while (at < end) {
      const shift = shifts[bytes[at]];
      if (shift !== 0) {
        at += shift;
        continue;
      }
      let left = last;
      const start = at - last;
      while (left > 0 && LOWER[bytes[start + left - 1]] === literal[left - 1]) left--;
      if (left === 0) return start;
      at += this.#lastShift;
    }
    return -1;
  }
}

const ASCII = /^[\0-\x7f]+$/;

/**
 * Finds what all texts hold that match a pattern, with or without case: the longest of its literals that are ASCII.
 * With `decides` texts match that hold what a pattern without case has between two `*`.
 */
export function finderOf(pattern: Pattern, decides: boolean): LiteralFinder | undefined {
  let longest = '';
  for (const piece of pattern) {
    if (!('literal' in piece) || !ASCII.test(piece.literal)) continue;
    if (piece.literal.length > longest.length) longest = piece.literal;
  }
  if (longest === '') return undefined;
  const isInside = pattern.length === 3 && isAny(pattern[0]) && isAny(pattern[2]);
  return new LiteralFinder(encodeText(longest.toLowerCase()), decides && isInside);
}

function isAny(piece: Pattern[number]): boolean {
  return 'wildcard' in piece && piece.wildcard === '*';
}
