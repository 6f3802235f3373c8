import type { Aggregation } from '../model/query.ts';

/** Percent of the aggregations that are quantiles. */
export const PERCENT: ReadonlyMap<Aggregation, number> = new Map<Aggregation, number>([
  ['median', 50],
  ['pc75', 75],
  ['pc90', 90],
  ['pc95', 95],
  ['pc98', 98],
  ['pc99', 99],
]);

/** True when an aggregation takes a few numbers a group, however many values it has. */
export function isLight(aggregation: Aggregation): boolean {
  return aggregation !== 'cardinality' && !PERCENT.has(aggregation);
}
