import { isAscii } from 'node:buffer';
import { Pattern as RegularPattern } from '../../base/pattern.ts';
import { readPattern } from '../../base/pattern-text.ts';
import type { DateColumn, NumberColumn } from '../../column/column.ts';
import { printDate } from '../../column/date-form.ts';
import type { Terms } from '../../column/entries.ts';
import { SCALE_DOUBLE } from '../../column/number-text.ts';
import { decodeText } from '../../segment/block/rebuild.ts';
import { LOWER } from '../../word/word-hash.ts';
import { addRow, addRows, type Bitmap, keepRows, nextRow } from '../model/bitmap.ts';
import type { Pattern, WordPattern } from '../model/predicate.ts';
import { automatonOf, type ByteAutomaton, type TextSearch } from './automaton.ts';
import { finderOf, LiteralFinder } from './literal.ts';
import type { ValueTest } from './match.ts';
import { compilePattern, matchesPattern, type PatternTokens } from './pattern.ts';
import { asciiText, encodeText, SAME } from './text.ts';
import type { WordSequence } from './word.ts';

/** Holds the text of a number, which is ASCII, while it is tested. */
const shortText = new Uint8Array(64);

/** A test of texts; numbers, booleans and dates are tested by theirs. */
abstract class PrintedTest implements ValueTest {
  readonly printsNumbers = true;
  /** How many times as long a text takes as one of a comparison. */
  readonly weight: number = 1;
  /** The last column of numbers, and which of them passed. */
  #column: NumberColumn | undefined;
  #known = new Map<number, boolean>();

  abstract text(bytes: Uint8Array, start: number, end: number): boolean;

  numberText(text: string): boolean {
    const { length } = text;
    if (length > shortText.length) return this.text(encodeText(text), 0, length);
    for (let at = 0; at < length; at++) shortText[at] = text.charCodeAt(at);
    return this.text(shortText, 0, length);
  }

  boolean(value: boolean): boolean {
    return this.numberText(String(value));
  }

  /**
   * Equal numbers of a column have equal texts, so each is printed once, also when not all rows come at once; 0 may be
   * -0.
   */
  numbers(column: NumberColumn, rows: Bitmap): Bitmap {
    const passed = new Uint32Array(rows.length);
    if (this.#column !== column) {
      this.#column = column;
      this.#known = new Map();
    }
    const known = this.#known;
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const mantissa = column.mantissas[row];
      let passes = mantissa === 0 ? undefined : known.get(mantissa);
      if (passes === undefined) {
        passes = this.numberText(column.text(row));
        known.set(mantissa, passes);
      }
      if (passes) addRow(passed, row);
    }
    return passed;
  }

  dates(column: DateColumn, rows: Bitmap): Bitmap {
    const passed = new Uint32Array(rows.length);
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      if (this.numberText(printDate(column.values[row], column.forms[row]))) addRow(passed, row);
    }
    return passed;
  }

  possible(): boolean {
    return true;
  }
}

/** A search for what a finder finds, if there is one. */
function searchOf(finder: LiteralFinder | undefined): TextSearch | undefined {
  return finder && { finder, isExact: finder.decides, needsLetters: false };
}

/** Compares texts with a pattern. */
export class PatternTest extends PrintedTest {
  readonly finder: LiteralFinder | undefined;
  readonly search: TextSearch | undefined;
  readonly #tokens: PatternTokens;
  readonly #fold: Uint8Array;

  constructor(pattern: Pattern, ignoresCase: boolean) {
    super();
    this.finder = finderOf(pattern, ignoresCase);
    this.search = searchOf(this.finder);
    this.#fold = ignoresCase ? LOWER : SAME;
    this.#tokens = compilePattern(pattern).map((token) => this.#fold[token] ?? token);
  }

  text(bytes: Uint8Array, start: number, end: number): boolean {
    return matchesPattern(this.#tokens, bytes, start, end, this.#fold);
  }
}

/** Characters of which texts of numbers are made, lower-cased. */
const OF_NUMBER_TEXTS = /^[\de.+-]*$/;

/** Looks for an ASCII literal, without case. */
export class ContainsTest extends PrintedTest {
  readonly finder: LiteralFinder;
  readonly search: TextSearch | undefined;
  readonly #isOfNumbers: boolean;

  constructor(finder: LiteralFinder) {
    super();
    this.finder = finder;
    this.search = { finder, isExact: true, needsLetters: false };
    this.#isOfNumbers = OF_NUMBER_TEXTS.test(asciiText(finder.literal, 0, finder.length));
  }

  text(bytes: Uint8Array, start: number, end: number): boolean {
    return this.finder.find(bytes, start, end) >= 0;
  }

  override possible(): boolean {
    return this.#isOfNumbers;
  }
}

const NO_BYTES = new Uint8Array(0);
/** Words whose numbers are safe whole ones. */
const DIGITS = /^\d{1,15}$/;

/** Bytes that words of numbers and of dates are made of, lower-cased. */
const OF_NUMBERS = /^[\de]*$/;
const OF_DATES = /^[\dtz]*$/;
/** Words of dates: years, shorter numbers and zones; fractions; hours behind a day; all but these before a `Z`. */
const DATE_WORD = /^(?:\d{2,4}|\d{6}|\d\dt\d\d|(?:\d{2,3}|\d{6})z)$/;

/** Tells that a date may have a word. */
function isOfDate(word: WordPattern): boolean {
  const literals = word.map((piece) => ('literal' in piece ? piece.literal : undefined));
  if (!literals.includes(undefined)) return DATE_WORD.test(literals.join(''));
  return literals.every((literal) => literal === undefined || OF_DATES.test(literal));
}

/** Looks for words in texts. */
export class WordsTest extends PrintedTest {
  readonly words: WordSequence;
  readonly terms: Terms;
  readonly search: TextSearch | undefined;
  readonly #isOfNumbers: boolean;
  readonly #isOfDates: boolean;

  constructor(words: WordSequence) {
    super();
    this.words = words;
    this.terms = words.terms;
    const { finder } = words;
    this.search = finder && {
      finder,
      isExact: finder.isWord || finder.decides,
      needsLetters: true,
    };
    const literals = words.patterns
      .flat()
      .map((piece) => ('literal' in piece ? piece.literal : ''));
    this.#isOfNumbers = literals.every((literal) => OF_NUMBERS.test(literal));
    this.#isOfDates = words.patterns.every(isOfDate);
  }

  text(bytes: Uint8Array, start: number, end: number): boolean {
    return this.words.matches(bytes, start, end, false);
  }

  /** Of a word of digits the numbers that have these before their point, or right behind it. */
  likelyNumbers(column: NumberColumn, rows: Bitmap): Bitmap {
    const word = asciiText(this.words.only ?? NO_BYTES, 0, this.words.only?.length ?? 0);
    const { scale } = column;
    if (!DIGITS.test(word) || scale === SCALE_DOUBLE) return rows;
    const wanted = Number(word);
    if (scale === 0 && wanted > 0) {
      const found = column.rowsWithin(wanted, wanted);
      addRows(found, column.rowsWithin(-wanted, -wanted));
      keepRows(found, rows);
      return found;
    }
    const unit = 10 ** scale;
    const fraction = word.length > scale ? -1 : wanted * 10 ** (scale - word.length);
    const found = new Uint32Array(rows.length);
    const { mantissas } = column;
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const mantissa = Math.abs(mantissas[row]);
      const whole = Math.floor(mantissa / unit);
      const isLikely = scale === 0 || whole === wanted || mantissa - whole * unit === fraction;
      if (isLikely) addRow(found, row);
    }
    return found;
  }

  override possible(): boolean {
    return this.#isOfNumbers;
  }

  override dates(column: DateColumn, rows: Bitmap): Bitmap {
    return this.#isOfDates ? super.dates(column, rows) : new Uint32Array(rows.length);
  }
}

/** Steps a character of a matcher that run in the time of a comparison. */
const WEIGHT_SIZE = 16;
/** Bytes that lone surrogates become in texts that are decoded as UTF-8. */
const REPLACED = '\ufffd';
/** A shorter literal is in most texts, where looking for it gains nothing. */
const LITERAL_MIN = 3;
const ASCII = /^[\0-\x7f]+$/;

/** Takes steps, which a pattern may need for a text; false when there are not as many left. */
export type Allowance = (steps: number) => boolean;

/** Compares whole texts with a regular expression. */
export class RegexTest extends PrintedTest {
  override readonly weight: number;
  readonly #pattern: RegularPattern;
  readonly #allowance: Allowance | undefined;
  /** The bytes of the last text, and a view of them. */
  #bytes: Uint8Array | undefined;
  #view: Buffer = Buffer.alloc(0);
  /** Prepared bytes `[from, to)` that are ASCII, as a text. */
  #ascii: { bytes: Uint8Array; from: number; to: number; text: string } | undefined;
  readonly finder: LiteralFinder | undefined;
  #search: { search: TextSearch | undefined } | undefined;

  /** Throws PatternError. What `allowance` does not reach for is not compared. */
  constructor(source: string, allowance?: Allowance) {
    super();
    this.#allowance = allowance;
    const read = readPattern(source);
    this.#pattern = new RegularPattern(read);
    this.weight = 2 + Math.floor(this.#pattern.steps / WEIGHT_SIZE);
    if (read.literal.length >= LITERAL_MIN && ASCII.test(read.literal)) {
      this.finder = new LiteralFinder(encodeText(read.literal.toLowerCase()));
    }
  }

  /** The pattern as an automaton, which takes no steps of an allowance; where there is none what all texts hold. */
  get search(): TextSearch | undefined {
    if (this.#allowance !== undefined) return undefined;
    this.#search ??= { search: this.#searchOf(automatonOf(this.#pattern)) };
    return this.#search.search;
  }

  #searchOf(automaton: ByteAutomaton | undefined): TextSearch | undefined {
    const { finder } = this;
    return automaton === undefined
      ? searchOf(finder)
      : { finder, automaton, isExact: true, needsLetters: false };
  }

  prepare(bytes: Uint8Array, from: number, to: number): void {
    const part = bytes.subarray(from, to);
    const view = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    this.#ascii = isAscii(part) ? { bytes, from, to, text: view.toString('latin1') } : undefined;
  }

  text(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.finder !== undefined && this.finder.find(bytes, start, end) < 0) return false;
    if (this.#allowance?.(this.#pattern.stepsOf(end - start)) === false) return false;
    const ascii = this.#ascii;
    if (ascii?.bytes === bytes && start >= ascii.from && end <= ascii.to) {
      if (!this.#pattern.mayMatch(bytes, start, end)) return false;
      return this.#pattern.test(ascii.text.slice(start - ascii.from, end - ascii.from));
    }
    if (this.#bytes !== bytes) {
      this.#bytes = bytes;
      this.#view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    const text = this.#view.toString('utf8', start, end);
    const isKept = !text.includes(REPLACED);
    return this.#pattern.test(isKept ? text : decodeText(bytes, start, end));
  }
}
