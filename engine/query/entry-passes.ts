import type { StringColumn } from '../column/column.ts';
import { type EntrySource, PIECE_ENTRIES } from '../column/entries.ts';
import { type Bitmap, countRows, nextRow } from './bitmap.ts';

/** Only the entries of the wanted rows are looked at when these are fewer than 1 in this many. */
const SPARSE_RATIO = 4;

/** Tests strings one after the other: leaves 1 in `passes[first + e]` where it is 1 and entry e passes, 0 elsewhere. */
export type EntryTest = (
  bytes: Uint8Array,
  offsets: Uint32Array,
  passes: Uint8Array,
  first: number,
) => void;

/** What tests said of whole dictionaries of segments, while both live: for the other blocks of the segments. */
const decided = new WeakMap<object, WeakMap<EntrySource, Uint8Array>>();

/**
 * 1 for each entry + 1 of a column that passes and that a row of `rows` has, and 0 first; not to be written. `owner`: what
 * makes the test, always the same one. Throws CORRUPTION.
 */
export function entriesThatPass(
  column: StringColumn,
  rows: Bitmap,
  owner: object,
  test: EntryTest,
): Uint8Array {
  const { shared, ids } = column;
  if (shared === undefined) {
    const passes = entriesWanted(column, rows);
    test(column.bytes, column.offsets, passes, 1);
    return passes;
  }
  let ofOwner = decided.get(owner);
  if (ofOwner === undefined) {
    ofOwner = new WeakMap();
    decided.set(owner, ofOwner);
  }
  const known = ofOwner.get(shared);
  if (known !== undefined) return known;
  const passes = new Uint8Array(shared.entryCount + 1);
  if (countRows(rows) * PIECE_ENTRIES < shared.entryCount) {
    testSingly(ids, shared, rows, passes, test);
    return passes;
  }
  passes.fill(1, 1);
  shared.eachPiece((first, { bytes, offsets }) => test(bytes, offsets, passes, first + 1));
  ofOwner.set(shared, passes);
  return passes;
}

/** Tests the entries of few rows one by one. */
function testSingly(
  ids: Uint32Array,
  shared: EntrySource,
  rows: Bitmap,
  passes: Uint8Array,
  test: EntryTest,
): void {
  const offsets = new Uint32Array(2);
  const passed = new Uint8Array(1);
  for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
    if (ids[row] === 0) continue;
    const { bytes, start, end } = shared.place(ids[row] - 1);
    offsets[1] = end - start;
    passed[0] = 1;
    test(bytes.subarray(start, end), offsets, passed, 0);
    passes[ids[row]] = passed[0];
  }
}

/** 1 for each entry + 1 that a row of `rows` may have, and 0 first. All entries when most rows are wanted. */
function entriesWanted(column: StringColumn, rows: Bitmap): Uint8Array {
  const wanted = new Uint8Array(column.entryCount + 1);
  if (countRows(rows) * SPARSE_RATIO >= column.ids.length) {
    wanted.fill(1, 1);
    return wanted;
  }
  for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
    wanted[column.ids[row]] = 1;
  }
  wanted[0] = 0;
  return wanted;
}
