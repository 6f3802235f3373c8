import { type PackedValues, storedEnd } from '../../packed/cells.ts';
import { countCells } from '../../packed/packed.ts';
import type { Bitmap } from '../model/bitmap.ts';

/**
 * The values of rows of a block that have one at most: row r has value `known[codes[r]] - 2`, none at 1. Codes are
 * those of the block's columns, as small as they are there; `known` is 0 for codes that none of these rows has.
 */
export interface CodedValues {
  codes: Uint32Array;
  known: Int32Array;
}

/**
 * The values of each row of a block. Without `starts` row r has value `values[r] - 1`, and none at 0; with them it has
 * the distinct `values[starts[r]]` to `values[starts[r + 1] - 1]`.
 */
export interface RowValues {
  starts: Uint32Array | undefined;
  values: Int32Array;
}

/** Meanings of plain codes: each is the value that is one lower. */
let plain = new Int32Array(0);

/** Values of rows by codes that are one higher, 0 for none: those of as many different ones. */
export function plainCodes(values: Int32Array, valueCount: number): CodedValues {
  if (plain.length <= valueCount) {
    plain = new Int32Array(Math.max(valueCount + 1, plain.length * 2));
    for (let code = 0; code < plain.length; code++) plain[code] = code + 1;
  }
  return {
    codes: new Uint32Array(values.buffer, values.byteOffset, values.length),
    known: plain.subarray(0, valueCount + 1),
  };
}

/** The same by codes as they are stored; `known` may be 0 for some that rows have, or have no place for them. */
export interface KnownCodes {
  codes: PackedValues;
  known: Int32Array;
}

const NO_CODES = new Uint32Array(0);

/** The codes of `rows` whose meaning is not known, ascending; `undefined` when one has no place in `known`. */
export function unknownCodes({ codes, known }: KnownCodes, rows: Bitmap): Uint32Array | undefined {
  const { base, count: rowCount } = codes;
  const end = Math.max(Math.min(known.length - base, storedEnd(codes)), 0);
  const level = { codes, size: end + 1, digits: undefined };
  const cells = { rowCount, rows, runs: undefined, levels: [level], cellCount: end + 1 };
  const times = countCells(cells);
  if (times[end] > 0) return undefined;
  let count = 0;
  for (let code = 0; code < end; code++) {
    if (times[code] > 0 && known[base + code] === 0) count++;
  }
  if (count === 0) return NO_CODES;
  const found = new Uint32Array(count);
  for (let code = end - 1; count > 0; code--) {
    if (times[code] > 0 && known[base + code] === 0) found[--count] = base + code;
  }
  return found;
}

/** True when `known` is 0 for no code of `rows`, which all have a place in it. */
export function areKnown(codes: Uint32Array, known: Int32Array, rows: Bitmap): boolean {
  if (known.length <= codes.length && !known.includes(0)) return true;
  // Signs of differences: the loop has no branches.
  let signs = 0;
  for (let word = 0; word < rows.length && signs >= 0; word++) {
    const base = word << 5;
    if (rows[word] === 0xffffffff) {
      for (let row = base; row < base + 32; row++) signs |= known[codes[row]] - 1;
      continue;
    }
    for (let bits = rows[word]; bits !== 0; bits &= bits - 1) {
      signs |= known[codes[base + 31 - Math.clz32(bits & -bits)]] - 1;
    }
  }
  return signs >= 0;
}

/** The rows among `rows`, whose codes are all known, that have a value. */
export function rowsWithValue({ codes, known }: CodedValues, rows: Bitmap): Bitmap {
  const found = new Uint32Array(rows.length);
  for (let word = 0; word < rows.length; word++) {
    const base = word << 5;
    let left = 0;
    for (let bits = rows[word]; bits !== 0; bits &= bits - 1) {
      const bit = 31 - Math.clz32(bits & -bits);
      // 1 is for no value.
      left |= (known[codes[base + bit]] >>> 1 === 0 ? 0 : 1) << bit;
    }
    found[word] = left;
  }
  return found;
}
