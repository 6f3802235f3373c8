import { unreachable } from '../../base/assert.ts';
import type { Units } from '../../base/pause.ts';
import type { BooleanColumn, Column, NumberColumn, StringColumn } from '../../column/column.ts';
import { printDate } from '../../column/date-form.ts';
import type { EntrySource, PossibleParts } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import type { Block } from '../../segment/block/block.ts';
import { anElementPasses, type ValueTest } from '../filter/match.ts';
import type { Plan } from '../filter/plan.ts';
import { WordsTest } from '../filter/printed-test.ts';
import { encodeText } from '../filter/text.ts';
import { keepsLetters, type WordSequence } from '../filter/word.ts';
import {
  addRow,
  addRows,
  type Bitmap,
  dropRow,
  dropRows,
  hasRow,
  isEmpty,
  keepRows,
  nextRow,
  noRows,
} from '../model/bitmap.ts';
import { partsOfRows } from '../model/units.ts';
import {
  type EntryTest,
  entriesOfDictionary,
  entriesThatPass,
  type Passes,
  testEach,
} from './entry-passes.ts';

/** The path of the text in which words are looked for. */
export const MESSAGE = 'message';
/** Rows of a block above which each test of a column is a unit. */
const UNIT_ROWS = 256;
/** Words of a bitmap whose rows are tested one by one in a unit: 2,048 rows. */
const PART_WORDS = 64;

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
      return yield* rowsOfWords(plan.words, block, rows);
    case 'value':
      return yield* rowsOfTestedColumns(
        (path) => plan.paths.includes(path),
        plan.test,
        block,
        rows,
      );
    case 'anywhere':
      return yield* rowsOfTestedColumns(() => true, plan.test, block, rows);
    case 'exists':
      return rowsThatExist(plan.paths, block, rows);
    default:
      return unreachable(plan);
  }
}

/** Numbers of the columns at `path`, one for each kind that it has in this block. */
export function columnsAt(block: Block, path: string): number[] {
  const found: number[] = [];
  for (const [index, info] of block.columns.entries()) if (info.path === path) found.push(index);
  return found;
}

/** The rows among `rows` that have a value in `column`, as a new bitmap. */
export function rowsPresent(column: Column, rows: Bitmap): Bitmap {
  const present = rows.slice();
  if (!('ids' in column)) {
    keepRows(present, column.presence);
    return present;
  }
  const { ids } = column;
  for (let row = nextRow(present, 0); row >= 0; row = nextRow(present, row + 1)) {
    if (ids[row] === 0) dropRow(present, row);
  }
  return present;
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

function* rowsOfWords(words: WordSequence, block: Block, rows: Bitmap): Units<Bitmap> {
  const found = noRows(block.rowCount);
  for (const index of columnsAt(block, MESSAGE)) {
    const column = block.column(index);
    if (column.kind === Kind.STRING) {
      addRows(found, rowsOfEntries(column, yield* textsWithWords(column, words, rows), rows));
    } else if (column.kind === Kind.DATE) {
      const present = rowsPresent(column, rows);
      for (let row = nextRow(present, 0); row >= 0; row = nextRow(present, row + 1)) {
        const text = encodeText(printDate(column.values[row], column.forms[row]));
        if (words.matches(text, 0, text.length, true)) addRow(found, row);
      }
    }
    if (block.rowCount > UNIT_ROWS) yield;
  }
  return found;
}

function textsWithWords(column: StringColumn, words: WordSequence, rows: Bitmap): Units<Passes> {
  return entriesThatPass(column, rows, words, wordTestOf(words));
}

function wordTestOf(words: WordSequence): EntryTest {
  return (bytes, offsets, passes, first) => {
    const plain = keepsLetters(bytes.subarray(offsets[0], offsets[offsets.length - 1]));
    const finder = plain ? words.anchor : undefined;
    testEach({ bytes, offsets }, passes, first, finder, (start, end) =>
      words.matches(bytes, start, end, plain),
    );
  };
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
  if (plan.type === 'words' || (plan.type === 'value' && plan.test instanceof WordsTest)) {
    const words = plan.type === 'words' ? plan.words : (plan.test as WordsTest).words;
    const whole = { test: wordTestOf(words), weight: 1, text: undefined };
    return yield* entriesOfDictionary(dictionary, possible, words, whole);
  }
  if (plan.type !== 'value') return undefined;
  const { test } = plan;
  const { weight = 1, exact } = test;
  const whole = { test: textTestOf(test, false), weight, text: exact };
  return yield* entriesOfDictionary(dictionary, possible, test, whole);
}

function* rowsOfTestedColumns(
  isNamed: (path: string) => boolean,
  test: ValueTest,
  block: Block,
  rows: Bitmap,
): Units<Bitmap> {
  const found = noRows(block.rowCount);
  for (const [index, info] of block.columns.entries()) {
    if (!isNamed(info.path)) continue;
    if (info.kind === Kind.NUMBER && !test.possible(info)) continue;
    addRows(found, yield* rowsThatPass(block.column(index), test, rows));
    if (block.rowCount > UNIT_ROWS) yield;
  }
  return found;
}

function* rowsThatPass(column: Column, test: ValueTest, rows: Bitmap): Units<Bitmap> {
  switch (column.kind) {
    case Kind.STRING:
      return rowsOfEntries(
        column,
        test instanceof WordsTest
          ? yield* textsWithWords(column, test.words, rows)
          : yield* textsThatPass(column, test, rows),
        rows,
      );
    case Kind.ARRAY:
      return rowsOfEntries(column, yield* textsThatPass(column, test, rows), rows);
    case Kind.NUMBER:
      return yield* numbersThatPass(column, test, rows);
    case Kind.DATE:
      return yield* testedInParts(rowsPresent(column, rows), (part) => test.dates(column, part));
    case Kind.BOOLEAN:
      return booleansThatPass(column, test, rows);
    default:
      return unreachable(column);
  }
}

/** The rows among `rows` whose entry passes. */
function rowsOfEntries(column: StringColumn, { only, passes }: Passes, rows: Bitmap): Bitmap {
  if (only === 0) return new Uint32Array(rows.length);
  const packed = only === undefined ? undefined : column.rowsOf?.(only);
  if (packed !== undefined) {
    keepRows(packed, rows);
    return packed;
  }
  const found = new Uint32Array(rows.length);
  const { ids } = column;
  for (let word = 0; word < rows.length; word++) {
    if (rows[word] === 0) continue;
    const base = word << 5;
    const count = Math.min(32, ids.length - base);
    let bits = 0;
    for (let bit = 0; bit < count; bit++) bits |= passes[ids[base + bit]] << bit;
    found[word] = bits & rows[word];
  }
  return found;
}

function textsThatPass(column: StringColumn, test: ValueTest, rows: Bitmap): Units<Passes> {
  const isArray = column.kind === Kind.ARRAY;
  const text = isArray ? undefined : test.exact;
  return entriesThatPass(column, rows, test, textTestOf(test, isArray), test.weight, text);
}

function textTestOf(test: ValueTest, isArray: boolean): EntryTest {
  const finder = isArray ? undefined : test.finder;
  return (bytes, offsets, passes, first) => {
    if (!isArray) test.prepare?.(bytes, offsets[0], offsets[offsets.length - 1]);
    testEach({ bytes, offsets }, passes, first, finder, (start, end) =>
      isArray ? anElementPasses(test, bytes, start, end) : test.text(bytes, start, end),
    );
  };
}

function* numbersThatPass(column: NumberColumn, test: ValueTest, rows: Bitmap): Units<Bitmap> {
  const plain = rowsPresent(column, rows);
  for (const { row } of column.exceptions) dropRow(plain, row);
  const found = test.printsNumbers
    ? yield* testedInParts(plain, (part) => test.numbers(column, part))
    : test.numbers(column, plain);
  for (const { row, text } of column.exceptions) {
    if (hasRow(rows, row) && test.numberText(text)) addRow(found, row);
  }
  return found;
}

/** Those of `rows` that pass a test that is as slow as one of texts: some thousand rows a unit. */
function* testedInParts(rows: Bitmap, test: (part: Bitmap) => Bitmap): Units<Bitmap> {
  if (rows.length <= PART_WORDS) return test(rows);
  const found = new Uint32Array(rows.length);
  for (const part of partsOfRows(rows, PART_WORDS)) {
    if (isEmpty(part)) continue;
    addRows(found, test(part));
    yield;
  }
  return found;
}

function booleansThatPass(column: BooleanColumn, test: ValueTest, rows: Bitmap): Bitmap {
  const found = rowsPresent(column, rows);
  const onTrue = test.boolean(true) ? 0xffffffff : 0;
  const onFalse = test.boolean(false) ? 0xffffffff : 0;
  for (let word = 0; word < found.length; word++) {
    const values = column.values[word];
    found[word] &= (values & onTrue) | (~values & onFalse);
  }
  return found;
}
