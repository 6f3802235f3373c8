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
 * `one`; or the code of its number that comes first, or of that at `percent` % of its numbers. Plain data that crosses
 * threads.
 */
export type RankBound = { type: 'events'; one?: string } | NumbersBound;

interface NumbersBound {
  type: 'numbers';
  path: string;
  direction: BucketOrder['direction'];
  percent?: number;
}

/** Codes of the events of a block by row, or that each counts as one. */
export type EventCodes = Uint32Array | 'ones';

/** The least bound of a bucket that there is: that of one without numbers. */
export const BOUND_MIN = 1;
/** The greatest bound by a number. */
const CODE_MAX = CODES;

const small = new Map<string, Uint32Array>();

/** Bound that buckets have in an order; `undefined` where only their values tell. */
export function rankBoundOf({ by, direction }: BucketOrder): RankBound | undefined {
  const isDescending = direction === 'desc';
  if (by.type === 'core') return isDescending ? { type: 'events' } : undefined;
  if (by.type !== 'attribute' || by.aggregation === 'sum') return undefined;
  const { path, aggregation } = by;
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
  #codes = new Uint32Array(0);

  constructor(bound: RankBound) {
    this.#bound = bound;
  }

  /**
   * The codes by the rows of a block, good until those of the next one; `ones` where each event counts as one, and
   * `undefined` where they are not known without a look at texts. Throws CORRUPTION.
   */
  of(block: Block): EventCodes | undefined {
    const bound = this.#bound;
    const path = bound.type === 'numbers' ? bound.path : bound.one;
    const columns =
      path === undefined ? [] : columnsAt(block, path).map((index) => block.column(index));
    if (bound.type === 'events') {
      return columns.every(({ kind }) => kind !== Kind.ARRAY) ? 'ones' : undefined;
    }
    if (this.#codes.length < block.rowCount) this.#codes = new Uint32Array(block.rowCount);
    this.#codes.fill(BOUND_MIN);
    return columns.every((column) => this.#take(column, bound.direction)) ? this.#codes : undefined;
  }

  #take(column: Column, direction: BucketOrder['direction']): boolean {
    if (column.kind !== Kind.NUMBER)
      return column.kind === Kind.BOOLEAN || column.kind === Kind.DATE;
    if (!this.#takePacked(column, direction)) this.#takeNumbers(column, direction);
    for (const { row } of column.exceptions) this.#codes[row] = CODE_MAX;
    return true;
  }

  /** Takes numbers as they are stored, where all are small or have codes; false when they are not so. */
  #takePacked(column: NumberColumn, direction: BucketOrder['direction']): boolean {
    const coded = column.coded();
    const divisor = divisorOf(column);
    if (coded !== undefined) {
      const { codes, table } = coded;
      const known = table.map((mantissa) => firstCode(codeOf(mantissa / divisor), direction));
      return this.#takeKnown(codes, Uint32Array.from(known));
    }
    const packed = column.packed(SMALL_VALUES - 1);
    return packed !== undefined && this.#takeKnown(packed, smallCodes(divisor, direction));
  }

  /** Takes numbers of which `known` has the codes. */
  #takeKnown(packed: PackedValues, known: Uint32Array): boolean {
    const numbers = unpackedView(packed, known.length - 1);
    if (numbers === undefined) return false;
    const codes = this.#codes;
    for (let row = 0; row < numbers.length; row++) {
      const code = known[numbers[row]];
      if (codes[row] < code) codes[row] = code;
    }
    return true;
  }

  #takeNumbers(column: NumberColumn, direction: BucketOrder['direction']): void {
    const { presence, mantissas } = column;
    const divisor = divisorOf(column);
    const codes = this.#codes;
    for (let row = 0; row < mantissas.length; row++) {
      if (presence !== undefined && !hasRow(presence, row)) continue;
      codes[row] = firstCode(codeOf(mantissas[row] / divisor), direction);
    }
  }
}
