import { must } from '../../base/assert.ts';
import type { Column, NumberColumn, Presence } from '../../column/column.ts';
import { Kind } from '../../column/kind.ts';
import { MANTISSA_EXACT_MAX, POWERS_OF_TEN, SCALE_DOUBLE } from '../../column/number-text.ts';
import { plainValues, type Tallies } from '../../packed/cells.ts';
import { tallyRows, unpackedView } from '../../packed/packed.ts';
import { TALLIED_MAX } from '../../packed/plain-tally.ts';
import { type Bitmap, hasRow } from '../model/bitmap.ts';
import type { Pairs } from '../value/pairs.ts';
import type { LongBounds } from './long-bounds.ts';
import type { Sums, UnpackedNumbers } from './sum.ts';

/** Numbers up to which those of a column are read as they are packed. */
export const PACKED_MAX = 2 ** 31 - 2;

/*
 * Loops over pairs of a block's rows and groups.
 */

/** Takes into `kept` those of `pairs` whose rows have a number that the column does not hold as a text. */
export function keepNumbers(column: NumberColumn, pairs: Pairs, kept: Pairs): void {
  const { presence, exceptions } = column;
  const { rows, groups, count } = pairs;
  kept.reserve(count);
  const keptRows = kept.rows;
  const keptGroups = kept.groups;
  const texts = new Set(exceptions.map(({ row }) => row));
  const isPlain = texts.size === 0;
  let length = 0;
  for (let at = 0; at < count; at++) {
    const row = rows[at];
    keptRows[length] = row;
    keptGroups[length] = groups[at];
    if ((presence === undefined || hasRow(presence, row)) && (isPlain || !texts.has(row))) length++;
  }
  kept.count = length;
}

/** True when a row has a value. */
export function isPresent(presence: Presence, row: number): boolean {
  return presence === undefined || hasRow(presence, row);
}

/** Counts the pairs of each group. */
export function countPairs({ groups, count }: Pairs, counts: Float64Array): void {
  for (let at = 0; at < count; at++) counts[groups[at]]++;
}

/** True when a column is of numbers that can be tallied. */
export function isTallied(column: Column): boolean {
  if (column.kind !== Kind.NUMBER || column.scale === SCALE_DOUBLE) return false;
  return (column.packed(TALLIED_MAX) ?? column.small(TALLIED_MAX)) !== undefined;
}

/** Tallies of the numbers of a column in `rows`; `undefined` when some may be too large for that. */
export function talliesOf(column: NumberColumn, rows: Bitmap): Tallies | undefined {
  const codes = column.packed(TALLIED_MAX);
  if (codes !== undefined) {
    return tallyRows(codes, rows, () => must(column.small(TALLIED_MAX), 'small numbers'));
  }
  const small = column.small(TALLIED_MAX);
  return small && tallyRows(plainValues(small), rows, () => small);
}

/** Divisor of the whole numbers of a column; 1 when it has doubles. */
export function divisorOf({ scale }: NumberColumn): number {
  return scale === SCALE_DOUBLE ? 1 : POWERS_OF_TEN[scale];
}

/** The numbers of a column where they are packed, good until others are read; `undefined` where they are not. */
export function unpackedOf(column: NumberColumn): UnpackedNumbers | undefined {
  const coded = column.coded();
  const packed = coded?.codes ?? column.packed(PACKED_MAX);
  if (packed === undefined) return undefined;
  const codes = unpackedView(packed, coded === undefined ? PACKED_MAX : coded.table.length - 1);
  return codes && { codes, table: coded?.table };
}

/** Numbers of columns by row, as they are needed, in memory that the next column uses again. */
export class RowNumbers {
  #mantissas = new Float64Array(0);

  /**
   * The mantissas of the rows of `pairs`, which have plain numbers in a column, good until the next ones; of other rows
   * they mean nothing.
   */
  of(column: NumberColumn, { rows, count }: Pairs): Float64Array {
    const unpacked = unpackedOf(column);
    if (unpacked === undefined) return column.mantissas;
    const { codes, table } = unpacked;
    if (this.#mantissas.length < codes.length) this.#mantissas = new Float64Array(codes.length);
    const mantissas = this.#mantissas;
    if (table === undefined) {
      for (let at = 0; at < count; at++) mantissas[rows[at]] = codes[rows[at]] - 1;
    } else {
      for (let at = 0; at < count; at++) mantissas[rows[at]] = table[codes[rows[at]]];
    }
    return mantissas;
  }
}

/**
 * Widens the bounds of each group by its numbers, of which it gets the mantissas by row: those that lie between doubles
 * go to `long`. `mins` or `maxs` may be empty, when it is not wanted.
 */
export function widenBounds(
  column: NumberColumn,
  mantissas: Float64Array,
  { rows, groups, count }: Pairs,
  mins: Float64Array,
  maxs: Float64Array,
  long: LongBounds,
): void {
  const [hasMins, hasMaxs] = [mins.length > 0, maxs.length > 0];
  const { scale } = column;
  const divisor = divisorOf(column);
  const exactMax = divisor === 1 ? Number.POSITIVE_INFINITY : MANTISSA_EXACT_MAX;
  const longNumber = (mantissa: number) => ({
    value: mantissa / divisor,
    text: `${mantissa}e-${scale}`,
  });
  for (let at = 0; at < count; ) {
    const group = groups[at];
    let min = mantissas[rows[at]];
    let max = min;
    for (at++; at < count && groups[at] === group; at++) {
      const mantissa = mantissas[rows[at]];
      if (mantissa < min) min = mantissa;
      if (mantissa > max) max = mantissa;
    }
    if (Math.abs(min) >= exactMax) long.addLeast(group, longNumber(min));
    else if (hasMins && min / divisor < mins[group]) mins[group] = min / divisor;
    if (Math.abs(max) >= exactMax) long.addGreatest(group, longNumber(max));
    else if (hasMaxs && max / divisor > maxs[group]) maxs[group] = max / divisor;
  }
}

/**
 * Adds the numbers of a column that are packed in one loop: to the counts of groups, and to either sums or bounds.
 * False, and nothing is done, where more is wanted, or where that cannot be. `mins` or `maxs` is empty when it is not.
 */
export function addUnpacked(
  column: NumberColumn,
  pairs: Pairs,
  sums: Sums | undefined,
  counts: Float64Array,
  mins: Float64Array,
  maxs: Float64Array,
): boolean {
  const hasBoth = mins.length > 0 && maxs.length > 0;
  const isOne = sums === undefined ? !hasBoth : mins.length + maxs.length === 0;
  if (!isOne || (sums !== undefined && column.scale === SCALE_DOUBLE)) return false;
  const numbers = unpackedOf(column);
  if (numbers === undefined) return false;
  sums?.addUnpacked(pairs, numbers, column.scale, counts);
  return sums !== undefined || widenUnpacked(numbers, divisorOf(column), pairs, counts, mins, maxs);
}

/** The same for bounds, of which `mins` or `maxs` are not empty; not done when numbers may lie between doubles. */
function widenUnpacked(
  { codes, table }: UnpackedNumbers,
  divisor: number,
  { rows, groups, count }: Pairs,
  counts: Float64Array,
  mins: Float64Array,
  maxs: Float64Array,
): boolean {
  const exactMax = divisor === 1 ? Number.POSITIVE_INFINITY : MANTISSA_EXACT_MAX;
  if (table?.some((mantissa) => Math.abs(mantissa) >= exactMax) === true) return false;
  const values = table?.map((mantissa) => mantissa / divisor);
  const isLeast = mins.length > 0;
  const bounds = isLeast ? mins : maxs;
  const sign = isLeast ? -1 : 1;
  for (let at = 0; at < count; at++) {
    const group = groups[at];
    const code = codes[rows[at]];
    const value = values === undefined ? (code - 1) / divisor : values[code];
    counts[group]++;
    if ((value - bounds[group]) * sign > 0) bounds[group] = value;
  }
  return true;
}
