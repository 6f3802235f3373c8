import type { DateColumn, NumberColumn } from '../../column/column.ts';
import { parseDateForm } from '../../column/date-form.ts';
import type { Terms } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { SCALE_DOUBLE } from '../../column/number-text.ts';
import type { PackedSpan } from '../../packed/cells.ts';
import type { ColumnFacts } from '../../segment/column-outline.ts';
import { hashOfValue, hashWords, needsValueHash } from '../../word/word-hash.ts';
import { addRow, type Bitmap, keepRows, nextRow } from '../model/bitmap.ts';
import type { TextSearch } from './automaton.ts';
import { type Decimal, decimalKey, mantissaAt, parseDecimal } from './decimal.ts';
import { ArrayCursor } from './json.ts';
import type { LiteralFinder } from './literal.ts';
import { asciiText, compareText, encodeText } from './text.ts';

const cursor = new ArrayCursor();

/** Bounds of numbers, none where they are not known. */
export type Bounds = Pick<ColumnFacts, 'min' | 'max'>;

/**
 * Question of a leaf of a predicate to a value, whatever column it is in. Made once a query, used by one thread.
 * `numbers` and `dates` return those of `rows` that pass; `rows` have a value and are no exceptions of the column.
 */
export interface ValueTest {
  /** True when a string passes; its text is `bytes[start, end)`, WTF-8. */
  text(bytes: Uint8Array, start: number, end: number): boolean;
  /** True when a number passes that is written like this. */
  numberText(text: string): boolean;
  boolean(value: boolean): boolean;
  /** Makes the texts in `bytes[from, to)` ready for `text`: they do not change. */
  prepare?(bytes: Uint8Array, from: number, to: number): void;
  /** True when `numbers` takes as long for a row as for a text. */
  readonly printsNumbers: boolean;
  /** How many times as long a text takes as one of a comparison. */
  readonly weight?: number;
  /** The only string that passes. */
  readonly exact?: Uint8Array;
  /** Terms of all strings that pass. */
  readonly terms?: Terms;
  /** Finds what all strings contain that pass. */
  readonly finder?: LiteralFinder | undefined;
  /** The same as a question to a kernel. */
  readonly search?: TextSearch | undefined;
  numbers(column: NumberColumn, rows: Bitmap): Bitmap;
  /** The numbers that pass as they are stored, one a row; `undefined` when they are not stored together. */
  span?(column: NumberColumn): PackedSpan | undefined;
  /** The rows among `rows`, whose numbers may pass, found by a cheaper test than `numbers`. */
  likelyNumbers?(column: NumberColumn, rows: Bitmap): Bitmap;
  dates(column: DateColumn, rows: Bitmap): Bitmap;
  /** False when no value of a column of numbers with this least and greatest value passes. */
  possible(bounds: Bounds): boolean;
}

/** Words of a text. */
function termsOf(text: Uint8Array): Terms {
  const lengths = new Map<number, number>();
  const add = (hash: number, _: Uint8Array, start: number, end: number): unknown =>
    lengths.set(hash, end - start);
  hashWords(text, 0, text.length, { add });
  const words = [...lengths].sort(([, one], [, other]) => other - one).map(([hash]) => hash);
  const value = needsValueHash(text, 0, text.length)
    ? hashOfValue(text, 0, text.length)
    : undefined;
  return { words, value };
}

/** Compares with a text, and with the number that it says. */
export class TextTest implements ValueTest {
  readonly printsNumbers = false;
  readonly exact: Uint8Array;
  readonly terms: Terms;
  readonly #text: string;
  readonly #decimal: Decimal | undefined;
  readonly #key: string | undefined;
  readonly #double: number;
  readonly #date = { form: 0, value: 0, timeMs: 0 };
  readonly #isDate: boolean;

  constructor(text: string) {
    this.#text = text;
    this.exact = encodeText(text);
    this.terms = termsOf(this.exact);
    this.#decimal = parseDecimal(text);
    this.#key = this.#decimal && decimalKey(this.#decimal);
    this.#double = this.#decimal === undefined ? Number.NaN : Number(text);
    this.#isDate = parseDateForm(this.exact, 0, this.exact.length, this.#date);
  }

  text(bytes: Uint8Array, start: number, end: number): boolean {
    return end - start === this.exact.length && compareText(bytes, start, end, this.exact) === 0;
  }

  numberText(text: string): boolean {
    const decimal = this.#key === undefined ? undefined : parseDecimal(text);
    return decimal !== undefined && decimalKey(decimal) === this.#key;
  }

  boolean(value: boolean): boolean {
    return this.#text === String(value);
  }

  numbers(column: NumberColumn, rows: Bitmap): Bitmap {
    const wanted = this.#storedAs(column.scale);
    if (wanted === undefined) return new Uint32Array(rows.length);
    const passed = column.rowsWithin(wanted, wanted);
    keepRows(passed, rows);
    return passed;
  }

  span(column: NumberColumn): PackedSpan | undefined {
    const wanted = this.#storedAs(column.scale);
    return wanted === undefined ? undefined : column.span(wanted, wanted);
  }

  dates(column: DateColumn, rows: Bitmap): Bitmap {
    const passed = new Uint32Array(rows.length);
    if (!this.#isDate) return passed;
    const { form, value } = this.#date;
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      if (column.values[row] === value && column.forms[row] === form) addRow(passed, row);
    }
    return passed;
  }

  possible(bounds: Bounds): boolean {
    if (this.#decimal === undefined) return false;
    // Least and greatest values are of doubles: numbers beyond them may be there too.
    if (!Number.isFinite(this.#double)) return true;
    const { min = this.#double, max = this.#double } = bounds;
    return !(this.#double < min || this.#double > max);
  }

  /** How a column of this scale holds the number; `undefined` when it cannot. */
  #storedAs(scale: number): number | undefined {
    if (this.#decimal === undefined) return undefined;
    if (scale !== SCALE_DOUBLE) return mantissaAt(this.#decimal, scale);
    return this.numberText(String(this.#double)) ? this.#double : undefined;
  }
}

/** True when an element passes of the array whose JSON text, without blanks, is `array[from, to)`. */
export function anElementPasses(
  test: ValueTest,
  array: Uint8Array,
  from: number,
  to: number,
): boolean {
  cursor.open(array, from, to);
  while (cursor.next()) {
    const { kind, bytes, start, end, truth } = cursor;
    if (kind === Kind.STRING && test.text(bytes, start, end)) return true;
    if (kind === Kind.NUMBER && test.numberText(asciiText(bytes, start, end))) return true;
    if (kind === Kind.BOOLEAN && test.boolean(truth)) return true;
  }
  return false;
}
