import t from 'tap';
import { STRETCH_ROWS } from '../../engine/column/column.ts';
import { addRow, hasRow, noRows } from '../../engine/query/model/bitmap.ts';
import { inStretches, rowsOfNumbers } from '../../engine/query/scan/stretches.ts';

/** Rows of a block that are few are looked at a stretch after the other. */

const ROWS = 40 * STRETCH_ROWS - 300;
const numbers = Uint32Array.from({ length: ROWS }, (_, row) => (row * 2_654_435_761) % 7);
const chosen = Uint8Array.of(0, 1, 0, 0, 1, 0, 1);

function numbersFrom(from: number): Uint32Array {
  return numbers.subarray(from, from + STRETCH_ROWS);
}

t.test('of few rows those are found whose numbers are chosen', async (t) => {
  for (const places of [
    [],
    [0],
    [ROWS - 1],
    [5, 6, STRETCH_ROWS - 1, STRETCH_ROWS, 20_000, ROWS - 300],
  ]) {
    const rows = noRows(ROWS);
    for (const row of places) addRow(rows, row);
    const found = rowsOfNumbers(rows, numbersFrom, chosen);
    const wanted = places.filter((row) => chosen[numbers[row]] === 1);
    t.same(
      Array.from({ length: ROWS }, (_, row) => row).filter((row) => found && hasRow(found, row)),
      wanted,
    );
  }
});

t.test('only stretches with rows are read', async (t) => {
  const rows = noRows(ROWS);
  for (const row of [3_000, 3_001, 9_999, 40_000]) addRow(rows, row);
  const read: number[] = [];
  const isDone = inStretches(
    rows,
    (from) => {
      read.push(from / STRETCH_ROWS);
      return numbersFrom(from);
    },
    () => {},
  );
  t.ok(isDone);
  t.same(
    read,
    [3_000, 9_999, 40_000].map((row) => Math.floor(row / STRETCH_ROWS)),
  );
});

t.test(
  'rows in many stretches, and numbers that are not read alone, are left to others',
  async (t) => {
    const rows = noRows(ROWS);
    addRow(rows, 1);
    t.equal(
      rowsOfNumbers(rows, () => undefined, chosen),
      undefined,
    );
    for (let row = 0; row < ROWS; row += 2_000) addRow(rows, row);
    t.equal(rowsOfNumbers(rows, numbersFrom, chosen), undefined);
  },
);
