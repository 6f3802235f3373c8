import { damaged } from '../../base/errors.ts';
import { TEXT_PIECE_ROWS } from '../../base/limits.ts';
import type { Units } from '../../base/pause.ts';
import type { PossibleParts } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import type { DerivedView } from '../../derive/derived-text.ts';
import { PartKind, type TemplatePart, type TextTemplate } from '../../derive/template.ts';
import type { Block } from '../../segment/block/block.ts';
import type { PartTest, PartTests } from '../filter/part-test.ts';
import {
  addRow,
  addRows,
  type Bitmap,
  dropRows,
  hasRow,
  isEmpty,
  keepRows,
  noRows,
} from '../model/bitmap.ts';
import { entryTestOf, rowsThatPass } from './column-rows.ts';
import { rowsOfNumbers } from './stretches.ts';

/** The answer of a test about derived texts, by their parts. */
interface Outcome {
  /** Rows whose texts pass. */
  found: Bitmap;
  /** Others, whose texts have a border of parts that is not closed. */
  open: Bitmap;
}

/**
 * Finds rows by derived texts that are not made for that: a test is asked of the literals of templates, of the entries
 * of the columns whose values are parts, and of what texts have of their own. Used for one search.
 */
export class DerivedRows {
  readonly #block: Block;
  readonly #view: DerivedView;
  readonly #possible: PossibleParts | undefined;
  readonly #valueRows: Uint32Array | undefined;

  /** Of a column of `block` that is stored as `view`. `possible`: the only parts that may have such texts. */
  constructor(block: Block, view: DerivedView, possible: PossibleParts | undefined) {
    this.#block = block;
    this.#view = view;
    this.#possible = possible;
    this.#valueRows = view.rows();
  }

  /**
   * The rows among `rows` whose texts pass, found in units; `made` finds them by texts that it makes. Throws
   * CORRUPTION.
   */
  *thatPass(
    { tests, isExact }: PartTests,
    rows: Bitmap,
    made: (rows: Bitmap) => Units<Bitmap>,
  ): Units<Bitmap> {
    const rest = this.#rowsOf(this.#possibleValues());
    keepRows(rest, rows);
    if (isEmpty(rest)) return rest;
    const templates = this.#view.templates();
    if (isExact) {
      const { found, open } = yield* this.#outcome(templates, tests[0], rest);
      if (!isEmpty(open)) addRows(found, yield* made(open));
      return found;
    }
    for (const test of tests) {
      const { found, open } = yield* this.#outcome(templates, test, rest);
      addRows(found, open);
      keepRows(rest, found);
    }
    return isEmpty(rest) ? rest : yield* made(rest);
  }

  *#outcome(templates: readonly TextTemplate[], test: PartTest, among: Bitmap): Units<Outcome> {
    const choices = new Choices(templates, test);
    const found = this.#rowsAmong(choices.found, among);
    const open = this.#rowsAmong(choices.open, among);
    yield* this.#addOfColumns(choices.columns, among, test, found);
    if (choices.own.includes(1) && this.#view.hasOwn()) {
      yield* this.#addOfOwn(this.#rowsAmong(choices.own, among), test, found);
    }
    return { found, open };
  }

  /** The rows among `among` whose texts are made by the templates that are chosen, as a bitmap of its own. */
  #rowsAmong(chosen: Uint8Array, among: Bitmap): Bitmap {
    if (!chosen.includes(1)) return noRows(this.#block.rowCount);
    if (!chosen.includes(0)) return among.slice();
    if (this.#valueRows === undefined) {
      const few = rowsOfNumbers(among, (from) => this.#view.numbersFrom(from), chosen);
      if (few !== undefined) return few;
    }
    const rows = this.#rowsOf(this.#view.valuesOf(chosen));
    keepRows(rows, among);
    return rows;
  }

  /** Adds the rows that a column has in their texts with a value that passes. */
  *#addOfColumns(
    columns: ReadonlyMap<number, Uint8Array>,
    among: Bitmap,
    { test }: PartTest,
    found: Bitmap,
  ): Units<void> {
    const rest = among.slice();
    dropRows(rest, found);
    for (const [index, chosen] of columns) {
      if (isEmpty(rest)) return;
      const info = this.#block.columns[index] ?? damaged(`a text is derived of column ${index}`);
      if (info.kind === Kind.NUMBER && !test.possible(info)) continue;
      // Rows are tested that have other templates too where that is cheap: most blocks have none that passes.
      const isCheap = info.kind === Kind.STRING;
      const rows = isCheap ? rest : this.#rowsAmong(chosen, rest);
      if (isEmpty(rows)) continue;
      const passed = yield* rowsThatPass(this.#block.column(index), test, rows);
      if (!isEmpty(passed)) {
        if (isCheap) keepRows(passed, this.#rowsAmong(chosen, passed));
        addRows(found, passed);
        dropRows(rest, passed);
      }
      yield;
    }
  }

  /** Adds the rows among `rows` whose texts have something of their own that passes, a piece a unit. */
  *#addOfOwn(rows: Bitmap, { test }: PartTest, found: Bitmap): Units<void> {
    dropRows(rows, found);
    if (isEmpty(rows)) return;
    const wanted = this.#valuesOf(rows);
    const pieceWords = TEXT_PIECE_ROWS / 32;
    for (let piece = 0; piece * pieceWords < wanted.length; piece++) {
      const part = wanted.subarray(piece * pieceWords, (piece + 1) * pieceWords);
      if (isEmpty(part)) continue;
      const { values, offsets, bytes } = this.#view.ownTexts(piece);
      const passes = Uint8Array.from(values, (value) => (hasRow(wanted, value) ? 1 : 0));
      entryTestOf(test)(bytes, offsets, passes, 0);
      for (let text = 0; text < passes.length; text++) {
        if (passes[text] === 1) addRow(found, this.#valueRows?.[values[text]] ?? values[text]);
      }
      yield;
    }
  }

  /** The values that may pass, as far as is known without a look at them; all when nothing is. */
  #possibleValues(): Bitmap | undefined {
    const possible = this.#possible;
    if (possible === undefined) return undefined;
    const { parts, pieces } = possible;
    const words = (pieces * TEXT_PIECE_ROWS) / 32;
    const values = new Uint32Array(parts.length * words);
    for (let part = 0; part < parts.length; part++) {
      if (parts[part] === 1) values.fill(0xffffffff, part * words, (part + 1) * words);
    }
    return values;
  }

  /** The rows of these values, or of all, as a bitmap of its own. */
  #rowsOf(values: Bitmap | undefined): Bitmap {
    const rows = noRows(this.#block.rowCount);
    const valueRows = this.#valueRows;
    if (valueRows === undefined) {
      if (values === undefined) rows.fill(0xffffffff);
      else rows.set(values.subarray(0, rows.length));
      return rows;
    }
    for (let value = 0; value < valueRows.length; value++) {
      if (values === undefined || hasRow(values, value)) addRow(rows, valueRows[value]);
    }
    return rows;
  }

  /** The values of these rows; may be `rows` itself. */
  #valuesOf(rows: Bitmap): Bitmap {
    const valueRows = this.#valueRows;
    if (valueRows === undefined) return rows;
    const values = noRows(valueRows.length);
    for (let value = 0; value < valueRows.length; value++) {
      if (hasRow(rows, valueRows[value])) addRow(values, value);
    }
    return values;
  }
}

function isFoundIn({ kind, bytes }: TemplatePart, { test }: PartTest): boolean {
  return kind === PartKind.LITERAL && test.text(bytes, 0, bytes.length);
}

/** Verdicts of a test on templates: of each choice 1 by template. */
class Choices {
  /** Their texts pass. */
  readonly found: Uint8Array;
  /** Others, with a border of parts that is not closed. */
  readonly open: Uint8Array;
  /** Others, with parts of their own. */
  readonly own: Uint8Array;
  /** Others, with values of a column. */
  readonly columns = new Map<number, Uint8Array>();

  constructor(templates: readonly TextTemplate[], test: PartTest) {
    const { length } = templates;
    this.found = new Uint8Array(length);
    this.open = new Uint8Array(length);
    this.own = new Uint8Array(length);
    for (const [number, parts] of templates.entries()) {
      if (!isClosed(parts, test)) this.open[number] = 1;
      else if (parts.some((part) => isFoundIn(part, test))) this.found[number] = 1;
      else this.#addParts(number, parts, length);
    }
  }

  #addParts(number: number, parts: TextTemplate, length: number): void {
    for (const { kind, column } of parts) {
      if (kind === PartKind.OWN) this.own[number] = 1;
      if (kind !== PartKind.VALUE) continue;
      const known = this.columns.get(column);
      const chosen = known ?? new Uint8Array(length);
      chosen[number] = 1;
      if (known === undefined) this.columns.set(column, chosen);
    }
  }
}

/** Tells that nothing that is looked for lies over a border of these parts. */
function isClosed(parts: TextTemplate, test: PartTest): boolean {
  for (let part = 1; part < parts.length; part++) {
    if (!test.isClosed(parts[part - 1].bytes, parts[part].bytes)) return false;
  }
  return true;
}
