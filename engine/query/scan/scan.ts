import { unreachable } from '../../base/assert.ts';
import type { Units } from '../../base/pause.ts';
import type { EntrySource, PossibleParts } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { deriveKernel } from '../../derive/derive-kernel.ts';
import type { PackedSpan } from '../../packed/cells.ts';
import type { Block } from '../../segment/block/block.ts';
import type { ValueTest } from '../filter/match.ts';
import { partTestsOf } from '../filter/part-test.ts';
import type { Plan } from '../filter/plan.ts';
import type { WordsTest } from '../filter/printed-test.ts';
import {
  addRow,
  addRows,
  type Bitmap,
  countRows,
  dropRows,
  hasRow,
  isEmpty,
  nextRow,
  noRows,
} from '../model/bitmap.ts';
import { entryTestOf, ownerOf, rowsPresent, rowsThatPass, spanThatPasses } from './column-rows.ts';
import { DerivedRows } from './derived-rows.ts';
import { entriesOfDictionary, type Passes } from './entry-passes.ts';

/** The path of the text in which words are looked for. */
export const MESSAGE = 'message';
/** Derived strings of a block that are made one by one: to make all takes as long as about a thousand. */
const FEW_ROWS = 256;
/** Strings of an overflow map that are looked at in a unit. */
const OVERFLOW_UNIT = 1_024;
/** Rows of a block above which each test of a column is a unit. */
const UNIT_ROWS = 256;

/**
 * The rows among `rows` for which `plan` holds, found in units. May return `rows` itself, and never writes to it.
 * Throws CORRUPTION when a column that it needs is damaged.
 */
export function* rowsWhere(plan: Plan, block: Block, rows: Bitmap): Units<Bitmap> {
  if (isEmpty(rows)) return rows;
  switch (plan.type) {
    case 'all':
      return rows;
    case 'none':
      return noRows(block.rowCount);
    case 'and': {
      let left = rows;
      for (const child of plan.children) left = yield* rowsWhere(child, block, left);
      return left;
    }
    case 'or':
      return yield* rowsOfAny(plan.children, block, rows);
    case 'not': {
      const rest = rows.slice();
      dropRows(rest, yield* rowsWhere(plan.child, block, rows));
      return rest;
    }
    case 'words':
      return yield* rowsOfWords(plan.test, block, rows);
    case 'value':
      return yield* rowsOfTestedColumns(columnsOf(block, plan.paths), plan.test, block, rows);
    case 'anywhere':
      return yield* rowsAnywhere(plan.test, block, rows);
    case 'exists':
      return rowsThatExist(plan.paths, block, rows);
    default:
      return unreachable(plan);
  }
}

/**
 * The values of a block, one a row of `rows`, which are all of them, for which `plan` holds, as they are stored:
 * `undefined` when they are not stored so, and where one column does not tell. Found in units. Throws CORRUPTION.
 */
export function* spanWhere(plan: Plan, block: Block, rows: Bitmap): Units<PackedSpan | undefined> {
  if (plan.type !== 'value' || plan.test.printsNumbers) return undefined;
  const [path] = plan.paths;
  const columns = plan.paths.length === 1 ? columnsAt(block, path) : [];
  if (columns.length !== 1 || block.derived(columns[0]) !== undefined) return undefined;
  return yield* spanThatPasses(block.column(columns[0]), plan.test, rows);
}

/** Numbers of the columns at `path`, one for each kind that it has in this block. */
export function columnsAt(block: Block, path: string): number[] {
  return block.columnsAt(path);
}

/** Numbers of the columns at one of `paths`. */
function columnsOf(block: Block, paths: readonly string[]): Iterable<number> {
  return new Set(paths.flatMap((path) => columnsAt(block, path)));
}

function* rowsOfAny(children: readonly Plan[], block: Block, rows: Bitmap): Units<Bitmap> {
  const found = noRows(block.rowCount);
  const rest = rows.slice();
  for (const child of children) {
    const more = yield* rowsWhere(child, block, rest);
    addRows(found, more);
    dropRows(rest, more);
  }
  return found;
}

function rowsThatExist(paths: readonly string[], block: Block, rows: Bitmap): Bitmap {
  const found = noRows(block.rowCount);
  for (const [index, info] of block.columns.entries()) {
    const named = paths.some((path) => info.path === path || info.path.startsWith(`${path}.`));
    if (!named) continue;
    if (info.presentCount === block.rowCount) return rows;
    addRows(found, rowsPresent(block.column(index), rows));
  }
  return found;
}

function* rowsOfWords(test: WordsTest, block: Block, rows: Bitmap): Units<Bitmap> {
  let found: Bitmap | undefined;
  for (const index of columnsAt(block, MESSAGE)) {
    const kind = block.kindOf(index);
    if (kind !== Kind.STRING && kind !== Kind.DATE) continue;
    const more = yield* rowsOfColumn(block, index, test, rows);
    if (found === undefined) found = more;
    else addRows(found, more);
    if (block.rowCount > UNIT_ROWS) yield;
  }
  return found ?? noRows(block.rowCount);
}

/** The rows among `rows` whose value in the column number `index` passes; texts that are derived are not made. */
function* rowsOfColumn(block: Block, index: number, test: ValueTest, rows: Bitmap): Units<Bitmap> {
  const view = block.derived(index);
  const tests = view && partTestsOf(test);
  if (view === undefined || tests === undefined) {
    return yield* rowsThatPass(block.column(index), test, rows);
  }
  const possible = test.terms && block.partsWith(index, test.terms);
  const derived = new DerivedRows(block, view, possible);
  return yield* derived.thatPass(tests, rows, (rest) => {
    if (countRows(rest) <= FEW_ROWS) return stringsThatPass(block, index, test, rest);
    block.deriveBy(deriveKernel());
    return rowsThatPass(block.column(index), test, rest);
  });
}

/** The rows among `rows` whose strings pass, each of which is read alone. */
function* stringsThatPass(
  block: Block,
  index: number,
  test: ValueTest,
  rows: Bitmap,
): Units<Bitmap> {
  const found = noRows(block.rowCount);
  for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
    const place = block.string(index, row);
    if (place !== undefined && test.text(place.bytes, place.start, place.end)) addRow(found, row);
    yield;
  }
  return found;
}

/**
 * Finds the entries of a dictionary of strings for which a plan of one path holds; `undefined` when it is another one,
 * or the dictionary is damaged. `possible`: the parts that may have some.
 */
export function* entriesWhere(
  plan: Plan,
  dictionary: EntrySource,
  possible: PossibleParts | undefined,
): Units<Passes | undefined> {
  if (plan.type !== 'words' && plan.type !== 'value') return undefined;
  const test: ValueTest = plan.test;
  const { weight = 1, exact } = test;
  const whole = { test: entryTestOf(test), weight, text: exact };
  return yield* entriesOfDictionary(dictionary, possible, ownerOf(test), whole);
}

/** The rows among `rows` that have a value that passes: strings of an overflow map are tested one after the other. */
function* rowsAnywhere(test: ValueTest, block: Block, rows: Bitmap): Units<Bitmap> {
  const found = noRows(block.rowCount);
  let left = OVERFLOW_UNIT;
  for (const { row, bytes, start, end } of block.overflowStrings()) {
    if (hasRow(rows, row) && !hasRow(found, row) && test.text(bytes, start, end)) {
      addRow(found, row);
    }
    if (--left > 0) continue;
    left = OVERFLOW_UNIT;
    yield;
  }
  const { columnCount, ownColumnCount } = block;
  const isLeft = (index: number): boolean =>
    index < ownColumnCount || block.info(index).kind !== Kind.STRING;
  const tested = Array.from({ length: columnCount }, (_, index) => index).filter(isLeft);
  addRows(found, yield* rowsOfTestedColumns(tested, test, block, rows));
  return found;
}

function* rowsOfTestedColumns(
  columns: Iterable<number>,
  test: ValueTest,
  block: Block,
  rows: Bitmap,
): Units<Bitmap> {
  let found: Bitmap | undefined;
  for (const index of columns) {
    if (block.kindOf(index) === Kind.NUMBER && !test.possible(block.info(index))) continue;
    const more = yield* rowsOfColumn(block, index, test, rows);
    if (found === undefined) found = more;
    else addRows(found, more);
    if (block.rowCount > UNIT_ROWS) yield;
  }
  return found ?? noRows(block.rowCount);
}
