import { LOWER } from '../../word/word-hash.ts';
import { ASCII_WORD } from '../../word/word-run.ts';
import type { LiteralFinder } from './literal.ts';
import type { ValueTest } from './match.ts';
import { ContainsTest, WordsTest } from './printed-test.ts';
import { WordSequence } from './word.ts';

/** A test of texts that are made of parts, one after the other. */
export interface PartTest {
  /** Passes a text whose borders of parts are closed when it passes one of these. */
  readonly test: ValueTest;
  /**
   * Tells that the border between two parts is closed: nothing that is looked for lies over it or ends only there.
   * `before` ends there and `after` begins there; each has no bytes when it is not known.
   */
  isClosed(before: Uint8Array, after: Uint8Array): boolean;
}

/** How texts are tested by their parts: those may pass for which each of `tests` passes. */
export interface PartTests {
  tests: readonly PartTest[];
  /** True when all these do pass. */
  isExact: boolean;
}

const known = new WeakMap<ValueTest, PartTests | undefined>();

/** Finds how a test of texts is done by their parts; `undefined` when it needs them whole. The same each time. */
export function partTestsOf(test: ValueTest): PartTests | undefined {
  if (!known.has(test)) known.set(test, makePartTests(test));
  return known.get(test);
}

function makePartTests(test: ValueTest): PartTests | undefined {
  if (test instanceof WordsTest) {
    const { patterns } = test.words;
    if (patterns.length === 1) return { tests: [wordTest(test)], isExact: true };
    const tests = patterns.map((word) => wordTest(new WordsTest(new WordSequence([word]))));
    return { tests, isExact: false };
  }
  const { finder } = test;
  return finder && { tests: [literalTest(finder)], isExact: finder.decides };
}

/** Tests for one word, which no character beside those of words has in it. */
function wordTest(test: WordsTest): PartTest {
  const isClosed = (before: Uint8Array, after: Uint8Array): boolean =>
    separates(before[before.length - 1]) || separates(after[0]);
  return { test, isClosed };
}

function separates(byte: number | undefined): boolean {
  return byte !== undefined && byte < 0x80 && ASCII_WORD[byte] === 0;
}

function literalTest(finder: LiteralFinder): PartTest {
  const { literal } = finder;
  const isClosed = (before: Uint8Array, after: Uint8Array): boolean => {
    for (let split = 1; split < literal.length; split++) {
      if (mayEnd(before, literal, split) && mayBegin(after, literal, split)) return false;
    }
    return true;
  };
  return { test: new ContainsTest(finder), isClosed };
}

/** Tells that text whose last bytes are `before` may end with the first `split` bytes of `literal`. */
function mayEnd(before: Uint8Array, literal: Uint8Array, split: number): boolean {
  for (let back = 1; back <= Math.min(split, before.length); back++) {
    if (LOWER[before[before.length - back]] !== literal[split - back]) return false;
  }
  return true;
}

/** Tells that text whose first bytes are `after` may begin with the bytes of `literal` from `split` on. */
function mayBegin(after: Uint8Array, literal: Uint8Array, split: number): boolean {
  for (let at = 0; at < Math.min(literal.length - split, after.length); at++) {
    if (LOWER[after[at]] !== literal[split + at]) return false;
  }
  return true;
}
