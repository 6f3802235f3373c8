import { unreachable } from '../../base/assert.ts';
import type { Units } from '../../base/pause.ts';
import type { BooleanColumn, Column, NumberColumn, StringColumn } from '../../column/column.ts';
import { Kind } from '../../column/kind.ts';
import type { PackedSpan } from '../../packed/cells.ts';
import { chooseValues } from '../../packed/packed.ts';
import { anElementPasses, type ValueTest } from '../filter/match.ts';
import { WordsTest } from '../filter/printed-test.ts';
import { keepsLetters } from '../filter/word.ts';
import {
  addRow,
  addRows,
  type Bitmap,
  countRows,
  dropRow,
  hasRow,
  isEmpty,
  keepRows,
  nextRow,
  noRows,
} from '../model/bitmap.ts';
import { partsOfRows } from '../model/units.ts';
import {
  type EntryTest,
  entriesThatPass,
  isMost,
  type Passes,
  type TestOwner,
  testEach,
} from './entry-passes.ts';
import { piecesWith } from './entry-words.ts';
import { rowsOfNumbers } from './stretches.ts';
import { textRows } from './text-rows.ts';

/** Rows that are tested one by one in a unit, and words of a bitmap of as many. */
const PART_ROWS = 2_048;
const PART_WORDS = PART_ROWS / 32;

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

/**
 * The values of `column`, one a row, that pass, as they are stored; `undefined` when they are not stored so. Found in
 * units. Throws CORRUPTION.
 */
export function* spanThatPasses(
  column: Column,
  test: ValueTest,
  rows: Bitmap,
): Units<PackedSpan | undefined> {
  if (column.kind === Kind.NUMBER) return test.span?.(column);
  const isText = column.kind === Kind.STRING && column.shared !== undefined;
  if (!isText || test.exact === undefined) return undefined;
  const { only } = yield* textsThatPass(column, test, rows);
  const values = only === undefined ? undefined : column.packed?.();
  if (values === undefined || only === undefined) return undefined;
  const stored = only - values.base;
  return { values, first: Math.max(stored, 0), last: only === 0 ? -1 : stored };
}

/** The rows among `rows` whose value in `column` passes, found in units. Throws CORRUPTION. */
export function* rowsThatPass(column: Column, test: ValueTest, rows: Bitmap): Units<Bitmap> {
  switch (column.kind) {
    case Kind.STRING:
      return (
        (yield* rowsOfTexts(column, test, rows)) ??
        rowsOfEntries(column, yield* textsThatPass(column, test, rows), rows)
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

/** The rows among `rows` whose texts pass, when a kernel is to search these as they are stored. */
function* rowsOfTexts(
  column: StringColumn,
  test: ValueTest,
  rows: Bitmap,
): Units<Bitmap | undefined> {
  if (column.storedPieces === undefined || test.search === undefined || !isMost(rows))
    return undefined;
  const { terms } = test;
  let possible = terms && column.partsWith?.(terms);
  if (terms !== undefined) possible ??= yield* piecesWith(column, terms);
  if (possible?.parts.includes(1) === false) return noRows(column.entryCount);
  const found = textRows(column, test, rows, possible);
  return found && (yield* found);
}

/** The rows among `rows` whose entry passes, as a new bitmap. Throws CORRUPTION. */
export function rowsOfEntries(
  column: StringColumn,
  { only, passes }: Passes,
  rows: Bitmap,
): Bitmap {
  if (only === 0) return new Uint32Array(rows.length);
  const few = column.idsFrom && rowsOfNumbers(rows, (from) => column.idsFrom?.(from), passes);
  if (few !== undefined) return few;
  const packed = only === undefined ? rowsOfPacked(column, passes) : column.rowsOf?.(only);
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

/** The rows whose entry passes, by the ids as they are stored; `undefined` when they have to be read for that. */
function rowsOfPacked(column: StringColumn, passes: Uint8Array): Bitmap | undefined {
  const packed = column.packed?.();
  return packed && chooseValues(packed, passes);
}

/** The entries of a column that pass and that a row of `rows` has, found in units. Throws CORRUPTION. */
export function textsThatPass(column: StringColumn, test: ValueTest, rows: Bitmap): Units<Passes> {
  if (column.kind === Kind.ARRAY) {
    return entriesThatPass(column, rows, test, arrayTestOf(test), test.weight);
  }
  return entriesThatPass(column, rows, ownerOf(test), entryTestOf(test), test.weight, test.exact);
}

/** The maker of a test of strings, by which it is known what passes. */
export function ownerOf(test: ValueTest): TestOwner {
  return test instanceof WordsTest ? test.words : test;
}

function arrayTestOf(test: ValueTest): EntryTest {
  return (bytes, offsets, passes, first) =>
    testEach({ bytes, offsets }, passes, first, undefined, (start, end) =>
      anElementPasses(test, bytes, start, end),
    );
}

/** Tests strings one after the other. */
export function entryTestOf(test: ValueTest): EntryTest {
  if (test instanceof WordsTest) return wordTestOf(test);
  return (bytes, offsets, passes, first) => {
    test.prepare?.(bytes, offsets[0], offsets[offsets.length - 1]);
    testEach({ bytes, offsets }, passes, first, test.search, (start, end) =>
      test.text(bytes, start, end),
    );
  };
}

function* numbersThatPass(column: NumberColumn, test: ValueTest, rows: Bitmap): Units<Bitmap> {
  const isPlain = column.presence === undefined && column.exceptions.length === 0;
  const plain = isPlain ? rows : rowsPresent(column, rows);
  for (const { row } of column.exceptions) dropRow(plain, row);
  const likely = test.likelyNumbers?.(column, plain) ?? plain;
  const found = test.printsNumbers
    ? yield* testedInParts(likely, (part) => test.numbers(column, part))
    : test.numbers(column, plain);
  for (const { row, text } of column.exceptions) {
    if (hasRow(rows, row) && test.numberText(text)) addRow(found, row);
  }
  return found;
}

/** Those of `rows` that pass a test that is as slow as one of texts: some thousand rows a unit. */
function* testedInParts(rows: Bitmap, test: (part: Bitmap) => Bitmap): Units<Bitmap> {
  if (countRows(rows) <= PART_ROWS) return test(rows);
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

function wordTestOf({ words, search }: WordsTest): EntryTest {
  return (bytes, offsets, passes, first) => {
    const plain = keepsLetters(bytes.subarray(offsets[0], offsets[offsets.length - 1]));
    testEach({ bytes, offsets }, passes, first, plain ? search : undefined, (start, end) =>
      words.matches(bytes, start, end, plain),
    );
  };
}
