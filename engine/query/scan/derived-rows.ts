import { TEXT_PIECE_ROWS } from '../../base/limits.ts';
import type { Units } from '../../base/pause.ts';
import type { StringColumn } from '../../column/column.ts';
import type { PossibleParts } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import type { DerivedView } from '../../derive/derived-text.ts';
import { PartKind, type TemplatePart, type TextTemplate } from '../../derive/template.ts';
import type { Block } from '../../segment/block/block.ts';
import type { ValueTest } from '../filter/match.ts';
import type { PartTest, PartTests } from '../filter/part-test.ts';
import {
  addRow,
  addRows,
  type Bitmap,
  countRows,
  dropRows,
  hasRow,
  isEmpty,
  keepRows,
  nextRow,
  noRows,
} from '../model/bitmap.ts';
import { entryTestOf, ownerOf, rowsOfEntries, rowsThatPass, textsThatPass } from './column-rows.ts';
import { passesNone } from './entry-passes.ts';
import { rowsOfNumbers } from './stretches.ts';

/** Rows whose templates are read one by one. */
const FEW_ROWS = 8;

/** The answer of a test about derived texts, by their parts. */
interface Outcome {
  /** Rows whose texts pass. */
  found: Bitmap;
  /** Others, whose texts have a border of parts that is not closed; `undefined` when no template has one. */
  open: Bitmap | undefined;
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
    const rest = this.#possibleAmong(rows);
    if (isEmpty(rest)) return rest;
    const templates = this.#view.templates();
    if (isExact) {
      const { found, open } = yield* this.#outcome(templates, tests[0], rest);
      if (open !== undefined && !isEmpty(open)) addRows(found, yield* made(open));
      return found;
    }
    for (const test of tests) {
      const { found, open } = yield* this.#outcome(templates, test, rest);
      if (open !== undefined) addRows(found, open);
      keepRows(rest, found);
    }
    return isEmpty(rest) ? rest : yield* made(rest);
  }

  *#outcome(templates: readonly TextTemplate[], test: PartTest, among: Bitmap): Units<Outcome> {
    const choices = new Choices(templates, test);
    const found = this.#rowsAmong(choices.found, among);
    const open = choices.open.includes(1) ? this.#rowsAmong(choices.open, among) : undefined;
    const rest = choices.found.includes(1) ? without(among, found) : among;
    yield* this.#addOfColumns(choices.columns, rest, test, found);
    if (choices.own.includes(1)) {
      yield* this.#addOfOwn(this.#rowsAmong(choices.own, this.#ownAmong(among)), test, found);
    }
    return { found, open };
  }

  /** The rows among `among` whose texts are made by the templates that are chosen, as a bitmap of its own. */
  #rowsAmong(chosen: Uint8Array, among: Bitmap): Bitmap {
    if (!chosen.includes(1) || isEmpty(among)) return noRows(this.#block.rowCount);
    if (!chosen.includes(0)) return among.slice();
    if (this.#valueRows === undefined) {
      if (countRows(among) <= FEW_ROWS) return this.#fewAmong(chosen, among);
      const few = rowsOfNumbers(among, (from) => this.#view.numbersFrom(from), chosen);
      if (few !== undefined) return few;
    }
    const rows = this.#rowsOf(this.#view.valuesOf(chosen));
    keepRows(rows, among);
    return rows;
  }

  /** The rows among `among` whose texts may have something of their own; may be `among` itself. */
  #ownAmong(among: Bitmap): Bitmap {
    const parts = this.#view.ownPieces();
    if (!parts.includes(1)) return noRows(this.#block.rowCount);
    if (this.#valueRows !== undefined || !parts.includes(0)) return among;
    return partsOf({ parts, pieces: 1 }, among);
  }

  /** The same of few rows, whose templates are read one by one: who rebuilds them reads these too. */
  #fewAmong(chosen: Uint8Array, among: Bitmap): Bitmap {
    const found = noRows(this.#block.rowCount);
    for (let row = nextRow(among, 0); row >= 0; row = nextRow(among, row + 1)) {
      if (chosen[this.#view.numberAt(row)] === 1) addRow(found, row);
    }
    return found;
  }

  /** Adds the rows among `rows` that a column has in their texts with a value that passes. */
  *#addOfColumns(
    columns: ReadonlyMap<number, Uint8Array>,
    rows: Bitmap,
    { test }: PartTest,
    found: Bitmap,
  ): Units<void> {
    let rest = rows;
    for (const [index, chosen] of columns) {
      if (isEmpty(rest)) return;
      const isNone = passesNone(ownerOf(test), () => this.#block.sharedEntries(index));
      if (isNone || !this.#mayPass(index, test)) continue;
      const column = this.#block.column(index);
      const passed =
        column.kind === Kind.STRING
          ? yield* this.#ofStrings(column, chosen, test, rest)
          : yield* rowsThatPass(column, test, this.#rowsAmong(chosen, rest));
      if (passed === undefined || isEmpty(passed)) continue;
      addRows(found, passed);
      rest = without(rest, passed);
      yield;
    }
  }

  /** False when it is known that no value of a column of numbers passes. */
  #mayPass(index: number, test: ValueTest): boolean {
    return this.#block.kindOf(index) !== Kind.NUMBER || test.possible(this.#block.info(index));
  }

  /**
   * The rows among `rows` of the templates that are chosen whose string passes; `undefined` when none does. Rows are
   * tested that have other templates too: that is cheap, and most blocks have none that passes.
   */
  *#ofStrings(
    column: StringColumn,
    chosen: Uint8Array,
    test: ValueTest,
    rows: Bitmap,
  ): Units<Bitmap | undefined> {
    const passes = yield* textsThatPass(column, test, rows);
    if (passes.only === 0) return undefined;
    const passed = rowsOfEntries(column, passes, rows);
    if (!isEmpty(passed)) keepRows(passed, this.#rowsAmong(chosen, passed));
    return passed;
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

  /** The rows among `rows` that may pass, as far as is known without a look at them, as a bitmap of its own. */
  #possibleAmong(rows: Bitmap): Bitmap {
    const possible = this.#possible;
    if (this.#valueRows === undefined) {
      return possible === undefined ? rows.slice() : partsOf(possible, rows);
    }
    const all = noRows(this.#valueRows.length).fill(0xffffffff);
    const found = this.#rowsOf(possible === undefined ? all : partsOf(possible, all));
    keepRows(found, rows);
    return found;
  }

  /** The rows of these values, as a bitmap of its own. */
  #rowsOf(values: Bitmap): Bitmap {
    const valueRows = this.#valueRows;
    if (valueRows === undefined) return values.slice();
    const rows = noRows(this.#block.rowCount);
    for (let value = 0; value < valueRows.length; value++) {
      if (hasRow(values, value)) addRow(rows, valueRows[value]);
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

/** The values among `values` that are in parts that may have what is looked for. */
function partsOf({ parts, pieces }: PossibleParts, values: Bitmap): Bitmap {
  const found = new Uint32Array(values.length);
  const words = (pieces * TEXT_PIECE_ROWS) / 32;
  for (let part = 0; part < parts.length; part++) {
    const first = part * words;
    if (parts[part] === 1) found.set(values.subarray(first, first + words), first);
  }
  return found;
}

/** The rows of `rows` that `others` do not have, as a bitmap of its own. */
function without(rows: Bitmap, others: Bitmap): Bitmap {
  const rest = rows.slice();
  dropRows(rest, others);
  return rest;
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
