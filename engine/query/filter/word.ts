import { isAscii } from 'node:buffer';
import { assert } from '../../base/assert.ts';
import type { Terms } from '../../column/entries.ts';
import { hashOfWord, LOWER } from '../../word/word-hash.ts';
import { asciiEnd, runStart, wordEnd, wordStart } from '../../word/word-run.ts';
import type { WordPattern } from '../model/predicate.ts';
import { finderOf, LiteralFinder } from './literal.ts';
import { compilePattern, matchesPattern, type PatternTokens } from './pattern.ts';
import { encodeText, SAME } from './text.ts';

/** The characters beyond ASCII that are ASCII letters when lower-cased: U+0130 and U+212A. */
const FOLDED = [Buffer.from('\u0130'), Buffer.from('\u212a')];

/** True when the ASCII letters of the lower-cased text are those of the text: no letter beyond ASCII becomes one. */
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
  /** The words, lower-cased. */
  readonly patterns: readonly WordPattern[];
  readonly #words: Word[];
  /** Finds what all texts hold for which `keepsLetters` and that match. */
  readonly finder: LiteralFinder | undefined;
  readonly terms: Terms;
  /** The word, when it is the only one and has no wildcard. */
  readonly only: Uint8Array | undefined;

  /** `words` are lower-cased and at least one. */
  constructor(words: readonly WordPattern[]) {
    assert(words.length > 0, 'a sequence has words');
    this.patterns = words;
    this.#words = words.map((word) => {
      const plain = word.every((piece) => 'literal' in piece);
      const text = word.map((piece) => ('literal' in piece ? piece.literal : '')).join('');
      return { literal: plain ? encodeText(text) : undefined, tokens: compilePattern(word) };
    });
    const literals = this.#words.flatMap(({ literal }) => literal ?? []);
    const longest = literals.toSorted((one, other) => other.length - one.length);
    this.terms = { words: longest.map(hashOfWord), value: undefined };
    this.only = words.length === 1 ? literals[0] : undefined;
    const finder = finderOf(words[0], words.length === 1);
    const isWord = finder !== undefined && finder.length === this.only?.length;
    this.finder = isWord ? new LiteralFinder(finder.literal, false, true) : finder;
  }

  /**
   * True when the text `bytes[start, end)`, WTF-8, holds the words one after the other. `plain`: `keepsLetters` of the
   * text; then only places where a literal of the first word stands are looked at.
   */
  matches(bytes: Uint8Array, start: number, end: number, plain: boolean): boolean {
    const finder = plain ? this.finder : undefined;
    let at = start;
    while (at < end) {
      if (finder === undefined) {
        at = wordStart(bytes, at, end);
        if (at === end) return false;
      } else {
        const found = finder.find(bytes, at, end);
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

  /** True when the words after the first one are the next ones of the text. */
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
