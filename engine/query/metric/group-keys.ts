import { inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import { POWERS_OF_TEN } from '../../column/number-text.ts';
import type { Aggregation, BucketOrder, MetricValue } from '../model/query.ts';
import type { MetricTableData } from './metric-table.ts';
import { Sums } from './sum.ts';
import type { SummaryData } from './summary-data.ts';

/** Key of a group that has no value to be ordered by. */
export const NO_KEY = Number.NEGATIVE_INFINITY;

/** Numbers by which groups come in an order, the greatest first, as nearest doubles; NO_KEY where there is no value. */
export type GroupKeys = (group: number) => number;

/**
 * Way in which the keys of parts of a bucket bound its own: it is no greater than the `sum` of those above 0, or than
 * the `greatest` of them.
 */
export type KeyBound = 'sum' | 'greatest';

/** An order by what parts of a bucket's events tell together. */
export interface PartedOrder {
  path: string;
  aggregation: Aggregation;
  /** 1 when the greatest come first, else -1. */
  sign: 1 | -1;
  bound: KeyBound;
  /** True when that is so only as long as no key is above 0. */
  needsNone: boolean;
  /** True when the key of a bucket is the greatest of its parts. */
  isExtreme: boolean;
}

/** Such an order; `undefined` of another one. */
export function partedOrder({ by, direction }: BucketOrder): PartedOrder | undefined {
  if (by.type !== 'attribute') return undefined;
  const { path, aggregation } = by;
  const isDescending = direction === 'desc';
  const about = { path, aggregation, sign: isDescending ? (1 as const) : (-1 as const) };
  switch (aggregation) {
    case 'count':
      return isDescending
        ? { ...about, bound: 'sum', needsNone: false, isExtreme: false }
        : undefined;
    case 'sum':
      // The more parts of numbers above 0, the greater a sum is: the least one is not below any of its parts.
      return isDescending
        ? { ...about, bound: 'sum', needsNone: false, isExtreme: false }
        : { ...about, bound: 'greatest', needsNone: true, isExtreme: false };
    case 'avg':
      return { ...about, bound: 'greatest', needsNone: false, isExtreme: false };
    case 'min':
    case 'max': {
      const isExtreme = (aggregation === 'max') === isDescending;
      return { ...about, bound: 'greatest', needsNone: false, isExtreme };
    }
    default:
      return undefined;
  }
}

/** The key of a value. */
export function keyOf({ sign }: PartedOrder, value: MetricValue): number {
  return value === null ? NO_KEY : sign * Number(value);
}

/** The keys of the groups of a table, made in units; `undefined` when one of them is not finite. */
export function* keysOf(
  { summaries }: MetricTableData,
  order: PartedOrder,
): Units<GroupKeys | undefined> {
  const data = summaries.get(order.path);
  if (data === undefined) return () => NO_KEY;
  return plainKeys(data, order) ?? (yield* strangeKeys(data, order));
}

/** The keys where all numbers are doubles, or decimals of one scale with short sums. */
function plainKeys(data: SummaryData, { aggregation, sign }: PartedOrder): GroupKeys | undefined {
  const { counts, numberCounts, mins, maxs, longBounds, sums } = data;
  if (aggregation === 'count') {
    return (group) => (counts[group] === 0 ? NO_KEY : sign * counts[group]);
  }
  if (aggregation === 'min' && longBounds.mins.size === 0) {
    return (group) => (numberCounts[group] === 0 ? NO_KEY : sign * mins[group]);
  }
  if (aggregation === 'max' && longBounds.maxs.size === 0) {
    return (group) => (numberCounts[group] === 0 ? NO_KEY : sign * maxs[group]);
  }
  if (sums === undefined || sums.large.size > 0 || sums.doubles.length > 0) return undefined;
  const scales = sums.totals.flatMap(({ length }, scale) => (length > 0 ? [scale] : []));
  if (scales.length > 1) return undefined;
  const [scale] = scales;
  if (scale === undefined) return (group) => (numberCounts[group] === 0 ? NO_KEY : 0);
  const totals = sums.totals[scale];
  const divisor = sign * POWERS_OF_TEN[scale];
  if (aggregation === 'sum') {
    return (group) => (numberCounts[group] === 0 ? NO_KEY : (totals[group] ?? 0) / divisor);
  }
  return (group) => {
    const count = numberCounts[group];
    return count === 0 ? NO_KEY : (totals[group] ?? 0) / divisor / count;
  };
}

function* strangeKeys(
  data: SummaryData,
  { aggregation, sign }: PartedOrder,
): Units<GroupKeys | undefined> {
  const { groupCount, numberCounts, mins, maxs, longBounds } = data;
  const sums = data.sums && Sums.of(data.sums);
  const numberOf = (group: number): number => {
    if (aggregation === 'min')
      return Math.min(mins[group], longBounds.mins.get(group)?.value ?? Infinity);
    if (aggregation === 'max')
      return Math.max(maxs[group], longBounds.maxs.get(group)?.value ?? -Infinity);
    const sum = sums?.result(group) ?? 0;
    return aggregation === 'sum' ? sum : sum / numberCounts[group];
  };
  const keys = new Float64Array(groupCount);
  let areFinite = true;
  yield* inParts(groupCount, UNIT_SLOTS, (from, to) => {
    for (let group = from; group < to; group++) {
      keys[group] = numberCounts[group] === 0 ? NO_KEY : sign * numberOf(group);
      areFinite &&= numberCounts[group] === 0 || Number.isFinite(keys[group]);
    }
  });
  return areFinite ? (group) => keys[group] : undefined;
}
