import { CARDINALITY_EXACT_MAX } from '../../base/limits.ts';
import type { Column, NumberColumn } from '../../column/column.ts';
import { Kind } from '../../column/kind.ts';
import type { PackedValues } from '../../packed/cells.ts';
import { unpackedView } from '../../packed/packed.ts';
import type { Block } from '../../segment/block/block.ts';
import { hasRow } from '../model/bitmap.ts';
import type { BucketOrder, MetricValue } from '../model/query.ts';
import { columnsAt } from '../scan/scan.ts';
import { divisorOf } from './number-kernels.ts';
import { PERCENT } from './percent.ts';
import { CODES, codeOf, SMALL_VALUES, smallCodesOf } from './quantile-code.ts';

/**
 * Bound from above of where a bucket comes in an order: how many events it has, of which none has several values at
 * `one`; the sum of its numbers above 0; or the code of its number that comes first, or of that at `percent` % of its
 * numbers. Plain data that crosses threads.
 */
export type RankBound =
  | { type: 'events'; one?: string }
  | { type: 'sum'; path: string }
  | NumbersBound;

interface NumbersBound {
  type: 'numbers';
  path: string;
  direction: BucketOrder['direction'];
  percent?: number;
}

/** Codes of the events of a block by row, what each adds to a sum, or that each counts as one. */
export type EventCodes = Uint32Array | Float64Array | 'ones';

/** The least bound of a bucket that there is: that of one without numbers. */
export const BOUND_MIN = 1;
/** The greatest bound by a number. */
const CODE_MAX = CODES;
/** Amount that an event without a number above 0 adds to a sum: not nothing, and less than any sum is rounded by. */
const AMOUNT_MIN = 2 ** -1000;

const small = new Map<string, Uint32Array>();
const amountsOf = new Map<number, Float64Array>();

/** Bound that buckets have in an order; `undefined` where only their values tell. */
export function rankBoundOf({ by, direction }: BucketOrder): RankBound | undefined {
  const isDescending = direction === 'desc';
  if (by.type === 'core') return isDescending ? { type: 'events' } : undefined;
  if (by.type !== 'attribute') return undefined;
  const { path, aggregation } = by;
  if (aggregation === 'sum') return isDescending ? { type: 'sum', path } : undefined;
  if (aggregation === 'count' || aggregation === 'cardinality') {
    return isDescending ? { type: 'events', one: path } : undefined;
  }
  const percent = PERCENT.get(aggregation);
  return { type: 'numbers', path, direction, ...(percent === undefined ? {} : { percent }) };
}

/** The least bound that a bucket has which comes no later than one of a rank; without a rank that of all. */
export function leastBound(bound: RankBound, rank: MetricValue | undefined): number {
  if (rank === undefined || rank === null) return BOUND_MIN;
  if (bound.type === 'numbers') {
    // One less: means are rounded.
    return Math.max(firstCode(codeOf(Number(rank)), bound.direction) - 1, BOUND_MIN);
  }
  // One less: sums are rounded.
  if (bound.type === 'sum') return codeOf(Number(rank)) - 1;
  // Above, distinct values are estimated, and may be more than there are events.
  const most = bound.one === undefined ? Infinity : CARDINALITY_EXACT_MAX + 1;
  return Math.max(Math.min(Number(rank), most), BOUND_MIN);
}

/**
 * How many of so many numbers come no later than their quantile, at most: of numbers in parts, that of all comes no
 * earlier than the first of those of the parts.
 */
export function topOf({ direction, percent = 0 }: NumbersBound, count: number): number {
  const before = (count * percent) / 100;
  return direction === 'desc' ? count - Math.floor(before) : Math.ceil(before);
}

/** A code of a number, greater when the number comes earlier. */
function firstCode(code: number, direction: BucketOrder['direction']): number {
  return direction === 'desc' ? code : CODE_MAX - code;
}

/** The codes of small numbers over a divisor, by number + 1. */
function smallCodes(divisor: number, direction: BucketOrder['direction']): Uint32Array {
  const name = `${divisor} ${direction}`;
  const known = small.get(name);
  if (known !== undefined) return known;
  const codes = new Uint32Array(SMALL_VALUES + 1);
  for (const [number, code] of smallCodesOf(divisor).entries()) {
    codes[number + 1] = firstCode(code, direction);
  }
  small.set(name, codes);
  return codes;
}

/** Bounds by single events of a block, by row. Used from block to block, owned by one thread. */
export class EventBounds {
  readonly #bound: RankBound;
  #codes: Uint32Array | Float64Array = new Uint32Array(0);

  constructor(bound: RankBound) {
    this.#bound = bound;
  }

  /**
   * The codes by the rows of a block, good until those of the next one; `ones` where each event counts as one, and
   * `undefined` where they are not known without a look at texts. Throws CORRUPTION.
   */
  of(block: Block): EventCodes | undefined {
    const bound = this.#bound;
    const path = bound.type === 'events' ? bound.one : bound.path;
    const columns =
      path === undefined ? [] : columnsAt(block, path).map((index) => block.column(index));
    if (bound.type === 'events') {
      return columns.every(({ kind }) => kind !== Kind.ARRAY) ? 'ones' : undefined;
    }
    if (bound.type === 'sum') {
      return this.#ofColumns(block, columns, Float64Array, AMOUNT_MIN, (column, codes) =>
        addAmounts(column, codes),
      );
    }
    return this.#ofColumns(block, columns, Uint32Array, BOUND_MIN, (column, codes) =>
      takeCodes(column, bound.direction, codes),
    );
  }

  /** The codes of columns that have numbers, begun with `least`; `undefined` when others may have some too. */
  #ofColumns<T extends Uint32Array | Float64Array>(
    { rowCount }: Block,
    columns: readonly Column[],
    Codes: new (length: number) => T,
    least: number,
    take: (column: NumberColumn, codes: T) => void,
  ): T | undefined {
    const known = this.#codes;
    const codes = known instanceof Codes && known.length >= rowCount ? known : new Codes(rowCount);
    this.#codes = codes;
    codes.fill(least);
    for (const column of columns) {
      if (column.kind === Kind.NUMBER) take(column, codes);
      else if (column.kind !== Kind.BOOLEAN && column.kind !== Kind.DATE) return undefined;
    }
    return codes;
  }
}

/** Raises `codes` to those of a column's numbers. */
function takeCodes(
  column: NumberColumn,
  direction: BucketOrder['direction'],
  codes: Uint32Array,
): void {
  if (!takePacked(column, direction, codes)) takeNumbers(column, direction, codes);
  for (const { row } of column.exceptions) codes[row] = CODE_MAX;
}

/** Takes numbers as they are stored, where all are small or have codes; false when they are not so. */
function takePacked(
  column: NumberColumn,
  direction: BucketOrder['direction'],
  codes: Uint32Array,
): boolean {
  const coded = column.coded();
  const divisor = divisorOf(column);
  if (coded !== undefined) {
    const known = coded.table.map((mantissa) => firstCode(codeOf(mantissa / divisor), direction));
    return takeKnown(coded.codes, Uint32Array.from(known), codes);
  }
  const packed = column.packed(SMALL_VALUES - 1);
  return packed !== undefined && takeKnown(packed, smallCodes(divisor, direction), codes);
}

/** Takes numbers of which `known` has the codes. */
function takeKnown(packed: PackedValues, known: Uint32Array, codes: Uint32Array): boolean {
  const numbers = unpackedView(packed, known.length - 1);
  if (numbers === undefined) return false;
  for (let row = 0; row < numbers.length; row++) {
    const code = known[numbers[row]];
    if (codes[row] < code) codes[row] = code;
  }
  return true;
}

function takeNumbers(
  column: NumberColumn,
  direction: BucketOrder['direction'],
  codes: Uint32Array,
): void {
  const { presence, mantissas } = column;
  const divisor = divisorOf(column);
  for (let row = 0; row < mantissas.length; row++) {
    if (presence !== undefined && !hasRow(presence, row)) continue;
    codes[row] = firstCode(codeOf(mantissas[row] / divisor), direction);
  }
}

/** Adds a column's numbers above 0 to `amounts`. */
function addAmounts(column: NumberColumn, amounts: Float64Array): void {
  if (!addPacked(column, amounts)) {
    const { presence, mantissas } = column;
    const divisor = divisorOf(column);
    for (let row = 0; row < mantissas.length; row++) {
      if (presence !== undefined && !hasRow(presence, row)) continue;
      if (mantissas[row] > 0) amounts[row] += mantissas[row] / divisor;
    }
  }
  for (const { row } of column.exceptions) amounts[row] = Number.POSITIVE_INFINITY;
}

/** Adds numbers as they are stored, where all are small or have codes; false when they are not so. */
function addPacked(column: NumberColumn, amounts: Float64Array): boolean {
  const coded = column.coded();
  const divisor = divisorOf(column);
  if (coded !== undefined) {
    const known = coded.table.map((mantissa) => Math.max(mantissa, 0) / divisor);
    return addKnown(coded.codes, known, amounts);
  }
  const packed = column.packed(SMALL_VALUES - 1);
  return packed !== undefined && addKnown(packed, smallAmounts(divisor), amounts);
}

/** Adds numbers of which `known` has what they are. */
function addKnown(packed: PackedValues, known: Float64Array, amounts: Float64Array): boolean {
  const numbers = unpackedView(packed, known.length - 1);
  if (numbers === undefined) return false;
  for (let row = 0; row < numbers.length; row++) amounts[row] += known[numbers[row]];
  return true;
}

/** Small numbers over a divisor, by number + 1. */
function smallAmounts(divisor: number): Float64Array {
  const known = amountsOf.get(divisor);
  if (known !== undefined) return known;
  const amounts = Float64Array.from({ length: SMALL_VALUES + 1 }, (_, at) =>
    Math.max((at - 1) / divisor, 0),
  );
  amountsOf.set(divisor, amounts);
  return amounts;
}
