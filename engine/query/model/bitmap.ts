import { BLOCK_ROWS_MAX } from '../../base/limits.ts';

/**
 * Rows of a block as bits: bit `row & 31` of word `row >>> 5`; bits beyond the last row are 0. The form of
 * `Presence`, so that columns and filters combine word by word.
 */
export type Bitmap = Uint32Array;

/** Makes a bitmap of no rows for a block of `rowCount` rows. */
export function noRows(rowCount: number): Bitmap {
  return new Uint32Array((rowCount + 31) >>> 5);
}

/** Makes a bitmap of all rows of a block of `rowCount` rows. */
export function allRows(rowCount: number): Bitmap {
  const bitmap = noRows(rowCount).fill(0xffffffff);
  const excess = rowCount & 31;
  if (excess !== 0) bitmap[bitmap.length - 1] = (1 << excess) - 1;
  return bitmap;
}

/** Bitmaps of all rows that blocks of one size, one after the other, share. */
export class EveryRow {
  #rowCount = 0;
  #rows = allRows(0);

  /** All rows of a block of `rowCount` rows; not to be written. */
  of(rowCount: number): Bitmap {
    if (this.#rowCount !== rowCount) {
      this.#rowCount = rowCount;
      this.#rows = allRows(rowCount);
    }
    return this.#rows;
  }
}

/** True when the bit of `row` is set. */
export function hasRow(bitmap: Bitmap, row: number): boolean {
  return ((bitmap[row >>> 5] >>> (row & 31)) & 1) === 1;
}

/** Sets the bit of `row`. */
export function addRow(bitmap: Bitmap, row: number): void {
  bitmap[row >>> 5] |= 1 << (row & 31);
}

/** Clears the bit of `row`. */
export function dropRow(bitmap: Bitmap, row: number): void {
  bitmap[row >>> 5] &= ~(1 << (row & 31));
}

/** Keeps in `target` the rows that `other` has too. `undefined` has all rows, as a `Presence` has. */
export function keepRows(target: Bitmap, other: Bitmap | undefined): void {
  if (other === undefined) return;
  for (let word = 0; word < target.length; word++) target[word] &= other[word];
}

/** Adds the rows of `other` to `target`. */
export function addRows(target: Bitmap, other: Bitmap): void {
  for (let word = 0; word < target.length; word++) target[word] |= other[word];
}

/** Takes the rows of `other` out of `target`. */
export function dropRows(target: Bitmap, other: Bitmap): void {
  for (let word = 0; word < target.length; word++) target[word] &= ~other[word];
}

/** True when no row is set. */
export function isEmpty(bitmap: Bitmap): boolean {
  for (let word = 0; word < bitmap.length; word++) if (bitmap[word] !== 0) return false;
  return true;
}

/** Counts the set rows. */
export function countRows(bitmap: Bitmap): number {
  let count = 0;
  for (let word = 0; word < bitmap.length; word++) count += bitsOf(bitmap[word]);
  return count;
}

/** Counts the set rows from `from` up to `to`. */
export function countBetween(bitmap: Bitmap, from: number, to: number): number {
  if (from >= to) return 0;
  const first = from >>> 5;
  const last = (to - 1) >>> 5;
  const head = -1 << (from & 31);
  const tail = -1 >>> (31 - ((to - 1) & 31));
  if (first === last) return bitsOf(bitmap[first] & head & tail);
  let count = bitsOf(bitmap[first] & head) + bitsOf(bitmap[last] & tail);
  for (let word = first + 1; word < last; word++) count += bitsOf(bitmap[word]);
  return count;
}

/** All rows of the largest block, one after the other. */
const everyRow = Uint32Array.from({ length: BLOCK_ROWS_MAX }, (_, row) => row);

/**
 * The set rows of a block of `rowCount` rows, ascending: a view of what is not to be written, of `scratch` unless these
 * are all.
 */
export function rowList(bitmap: Bitmap, rowCount: number, scratch: Uint32Array): Uint32Array {
  const count = countRows(bitmap);
  if (count === rowCount) return everyRow.subarray(0, count);
  listRows(bitmap, scratch);
  return scratch.subarray(0, count);
}

/** Puts the set rows into `list`, ascending, which has room for all rows of the block; their number. */
export function listRows(bitmap: Bitmap, list: Uint32Array): number {
  let count = 0;
  for (let word = 0; word < bitmap.length; word++) {
    const base = word << 5;
    let bits = bitmap[word];
    if (bits === 0xffffffff) {
      for (let row = base; row < base + 32; row++) list[count++] = row;
      continue;
    }
    for (; bits !== 0; bits &= bits - 1) list[count++] = base + 31 - Math.clz32(bits & -bits);
  }
  return count;
}

/** Calls `visit` with each set row, ascending. */
export function eachRow(bitmap: Bitmap, visit: (row: number) => void): void {
  for (let word = 0; word < bitmap.length; word++) {
    const base = word << 5;
    for (let bits = bitmap[word]; bits !== 0; bits &= bits - 1) {
      visit(base + 31 - Math.clz32(bits & -bits));
    }
  }
}

/** The first set row at or after `from`; -1 when there is none. */
export function nextRow(bitmap: Bitmap, from: number): number {
  let word = from >>> 5;
  if (word >= bitmap.length) return -1;
  let bits = bitmap[word] & (-1 << (from & 31));
  while (bits === 0) {
    if (++word === bitmap.length) return -1;
    bits = bitmap[word];
  }
  return (word << 5) + 31 - Math.clz32(bits & -bits);
}

/** The last set row at or before `from`; -1 when there is none. */
export function previousRow(bitmap: Bitmap, from: number): number {
  let word = from >>> 5;
  if (from < 0) return -1;
  let bits = bitmap[word] & (0xffffffff >>> (31 - (from & 31)));
  while (bits === 0) {
    if (--word < 0) return -1;
    bits = bitmap[word];
  }
  return (word << 5) + 31 - Math.clz32(bits);
}

/** Bits of a 32-bit word that are set. */
function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
