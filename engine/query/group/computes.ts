import type { Pace, Units } from '../../base/pause.ts';
import { isLightMetric, type MetricTable } from '../metric/metric-table.ts';
import type {
  AggregateBucket,
  AggregateQuery,
  Compute,
  GroupBy,
  Metric,
  MetricValue,
} from '../model/query.ts';
import type { TimeLevel } from './level.ts';
import type { GroupShare } from './pass.ts';

/** A level whose buckets are chosen; of time all are in the answer. */
export type SelectingGroupBy = Exclude<GroupBy, { type: 'time' }>;
/** A level of values of an attribute. */
export type FieldGroupBy = Extract<GroupBy, { type: 'field' }>;
/** The values of a bucket. */
export type ComputedValues = AggregateBucket['values'];

/** Steps of a unit that a value of a bucket takes. */
export const VALUE_STEPS = 4;

/** True when nothing is computed but how many events there are. */
export function countsOnly(computes: readonly Compute[]): boolean {
  return computes.every(({ type, metric }) => type === 'metric' && metric.type === 'core');
}

/** True when those with the most events are the first. */
export function isByCount({ order }: SelectingGroupBy): boolean {
  return order.by.type === 'core' && order.direction === 'desc';
}

/** True when those with the fewest events are the first. */
export function isByLeast({ order }: SelectingGroupBy): boolean {
  return order.by.type === 'core' && order.direction === 'asc';
}

/**
 * The metrics of all computes when the pass that finds the last level's buckets can compute them too: there are no time
 * series, and each takes little memory or is what the level is ordered by.
 */
export function metricsAtOnce(
  { type, order }: SelectingGroupBy,
  computes: readonly Compute[],
): Metric[] | undefined {
  const ordered = JSON.stringify(order.by);
  const metrics: Metric[] = [];
  for (const compute of computes) {
    if (compute.type === 'timeseries') return undefined;
    const { metric } = compute;
    const cheap = type === 'tagset' || isLightMetric(metric) || JSON.stringify(metric) === ordered;
    if (!cheap) return undefined;
    metrics.push(metric);
  }
  return metrics;
}

/**
 * How many of the first `levelCount` levels are worth counting together: those for whose order counts are enough, and
 * whose buckets are not found by the pass that computes their values anyway.
 */
export function countableLevels(
  { groupBys, computes, afterBucket }: AggregateQuery,
  levelCount: number,
): number {
  let counted = 0;
  for (const [place, groupBy] of groupBys.slice(0, levelCount).entries()) {
    const by = groupBy.type === 'time' ? 'natural' : groupBy.order.by.type;
    const isCount = by === 'core' && (place > 0 || afterBucket === undefined);
    if (by !== 'natural' && !isCount) break;
    counted = place + 1;
  }
  if (counted === groupBys.length && countsOnly(computes)) return counted;
  const last = groupBys[counted - 1];
  const isWhole = counted > 0 && counted === groupBys.length;
  if (isWhole && last.type !== 'time' && metricsAtOnce(last, computes) !== undefined) counted--;
  while (counted > 0 && groupBys[counted - 1].type === 'time') counted--;
  return counted;
}

/** Places of computes by their steps of time; those without any are one group. */
export function groupComputes(
  computes: readonly Compute[],
): { places: number[]; boundaries: readonly number[] | undefined }[] {
  const groups = new Map<string, { places: number[]; boundaries: readonly number[] | undefined }>();
  for (const [place, compute] of computes.entries()) {
    const boundaries = compute.type === 'timeseries' ? compute.boundaries : undefined;
    const name = boundaries === undefined ? '' : boundaries.join(' ');
    const group = groups.get(name) ?? { places: [], boundaries };
    group.places.push(place);
    groups.set(name, group);
  }
  return [...groups.values()];
}

/** Steps of time that a table tells apart. */
export function stepsOf(steps: TimeLevel | undefined): number {
  return steps?.valueCount ?? 1;
}

/** True when a group is of a share. */
export function isOfShare(group: number, { index, count }: GroupShare): boolean {
  return group % count === index;
}

/** The values of a bucket in steps of time: those that are `known` already, or none. */
export function seriesOf(known: ComputedValues[number], steps: TimeLevel): MetricValue[] {
  return Array.isArray(known) ? known : new Array<MetricValue>(steps.valueCount).fill(null);
}

/**
 * Puts the values of a metric in the steps of a bucket into `series`, as far as they are in a share. In units of
 * `pace`.
 */
export function* fillSeries(
  series: MetricValue[],
  metrics: MetricTable,
  metric: Metric,
  bucket: number,
  share: GroupShare,
  pace: Pace,
): Units<void> {
  const first = bucket * series.length;
  for (let step = 0; step < series.length; step++) {
    if (!isOfShare(first + step, share)) continue;
    series[step] = metrics.value(metric, first + step);
    if (pace.isFull(VALUE_STEPS)) yield;
  }
}
