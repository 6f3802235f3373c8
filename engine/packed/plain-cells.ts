import { findPacked, unpack, unpackBelow, unpackOne } from './bitpack.ts';
import type {
  CellLevel,
  CellRows,
  CellSums,
  GroupedRows,
  PackedSpan,
  PackedValues,
} from './cells.ts';
import { addPatches } from './patches.ts';

const WORD_BITS = 32;

/*
 * Plain forms of the kernel in packed.as.ts.
 */

/** A bit for each of the stored numbers, set when it is from `first` to `last`, below 2^31; in a new array. */
export function findValues(values: PackedValues, first: number, last: number): Uint32Array {
  const { words, count, width, patches } = values;
  if (width === WORD_BITS) return findPlain(words, first, last);
  const found = findPacked(words, count, width, first, last);
  for (const [at, place] of patches?.places.entries() ?? []) {
    const number = unpackOne(words, width, place) + (patches?.highs[at] ?? 0);
    const bit = 1 << (place & 31);
    if (number >= first && number <= last) found[place >>> 5] |= bit;
    else found[place >>> 5] &= ~bit;
  }
  return found;
}

/** The same of numbers of whole words. */
function findPlain(numbers: Uint32Array, first: number, last: number): Uint32Array {
  const found = new Uint32Array(Math.ceil(numbers.length / WORD_BITS));
  for (let at = 0; at < numbers.length; at++) {
    if (numbers[at] >= first && numbers[at] <= last) found[at >>> 5] |= 1 << (at & 31);
  }
  return found;
}

/** How many of the values of a span each run of rows has, in a new array. */
export function countSpan(
  { values, first, last }: PackedSpan,
  ends: Uint32Array,
  runCount: number,
): Uint32Array {
  const found = findValues(values, first, last);
  const counts = new Uint32Array(runCount);
  for (let run = 0, row = 0; run < runCount; run++) {
    for (; row < ends[run]; row++) counts[run] += (found[row >>> 5] >>> (row & 31)) & 1;
  }
  return counts;
}

/** The numbers, below 2^31, in a new array; `undefined` when one is above `last`. */
export function unpackValues(values: PackedValues, last: number): Uint32Array | undefined {
  const { words, count, width, base, patches } = values;
  const found = unpackBelow(words, count, width, base, last);
  if (found === undefined || patches === undefined) return found;
  addPatches(found, patches);
  return patches.places.every((place) => found[place] <= last) ? found : undefined;
}

/** A bit for each of the numbers, set when it is chosen; `undefined` when `chosen` does not reach as far. */
export function chooseValues(packed: PackedValues, chosen: Uint8Array): Uint32Array | undefined {
  const { count } = packed;
  const values = unpackValues(packed, chosen.length - 1);
  if (values === undefined) return undefined;
  const found = new Uint32Array(Math.ceil(count / WORD_BITS));
  for (let at = 0; at < count; at++) found[at >>> 5] |= chosen[values[at]] << (at & 31);
  return found;
}

/** Rows by cell, in a new array. */
export function countCells(cells: CellRows): Uint32Array {
  const counts = new Uint32Array(cells.cellCount);
  eachCell(cells, (cell) => {
    counts[cell]++;
  });
  return counts;
}

/** The rows whose cell has a group, by `groups`: group + 1 by cell, 0 for none. */
export function groupCells(cells: CellRows, groups: Uint32Array): GroupedRows {
  const { rowCount } = cells;
  const found = { count: 0, rows: new Uint32Array(rowCount), groups: new Uint32Array(rowCount) };
  eachCell(cells, (cell, row) => {
    if (groups[cell] === 0) return;
    found.rows[found.count] = row;
    found.groups[found.count++] = groups[cell] - 1;
  });
  return found;
}

/** Sums of `numbers`, one a row, by cell. */
export function sumCells(cells: CellRows, numbers: PackedValues): CellSums {
  const { cellCount } = cells;
  const counts = new Uint32Array(cellCount);
  const sums = new Float64Array(cellCount);
  const least = new Uint32Array(cellCount).fill(0xffffffff);
  const greatest = new Uint32Array(cellCount);
  const values = unpacked(numbers);
  eachCell(cells, (cell, row) => {
    const value = values[row];
    counts[cell]++;
    sums[cell] += value;
    least[cell] = Math.min(least[cell], value);
    greatest[cell] = Math.max(greatest[cell], value);
  });
  return { counts, sums, least, greatest };
}

/** Shows the cell of each row that counts, ascending. */
function eachCell(cells: CellRows, visit: (cell: number, row: number) => void): void {
  const { rows } = cells;
  const cellOf = cellsOf(cells);
  for (let word = 0; word < rows.length; word++) {
    for (let bits = rows[word]; bits !== 0; bits &= bits - 1) {
      const row = (word << 5) + 31 - Math.clz32(bits & -bits);
      visit(cellOf[row], row);
    }
  }
}

/** The cell of each row, whether it counts or not. */
function cellsOf({ rowCount, runs, levels }: CellRows): Uint32Array {
  const cells = new Uint32Array(rowCount);
  for (let run = 0, from = 0; run < (runs?.count ?? 0); run++) {
    cells.fill(runs?.cells[run] ?? 0, from, runs?.ends[run]);
    from = runs?.ends[run] ?? 0;
  }
  let step = 1;
  for (const level of levels) {
    const values = unpacked(level.codes);
    for (let row = 0; row < rowCount; row++) cells[row] += digitOf(level, values[row]) * step;
    step *= level.size;
  }
  return cells;
}

function digitOf({ digits, size }: CellLevel, code: number): number {
  if (digits === undefined) return Math.min(code, size - 1);
  return digits[Math.min(code, digits.length - 1)];
}

/** The numbers without their base. Those of whole words lie as they are, maybe without a pad behind the last. */
function unpacked({ words, count, width, patches }: PackedValues): Uint32Array {
  const numbers = width === WORD_BITS ? words : unpack(words, count, width);
  if (patches !== undefined) addPatches(numbers, patches);
  return numbers;
}
