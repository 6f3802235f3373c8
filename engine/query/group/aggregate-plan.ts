import { partedOrder } from '../metric/group-keys.ts';
import { rankBoundOf } from '../metric/rank-bound.ts';
import type { AggregateLimits } from '../model/aggregate-limits.ts';
import type { AggregateQuery } from '../model/query.ts';
import { countableLevels, type FieldGroupBy, isByCount, isByLeast } from './computes.ts';
import { COUNTS_BYTES_MAX } from './entry/entry-counts.ts';
import { isOfMinutes } from './minute-counts.ts';
import { SKETCH_PARENTS_MAX } from './value-sketch.ts';

/** Buckets whose events are mostly so many each that the first entries of dictionaries tell all. */
const PARENTS_MAX = 16;
/** Rows that a count of a sketch can take. */
const SKETCH_ROWS_MAX = 2 ** 32 - 1;

/**
 * A way to find the buckets of a level. `trial`: one pass, that takes little memory when the order is by count;
 * `entries`: counts, or metrics, of entries of dictionaries; `sketch`: a sketch, and passes over the candidates that it
 * finds; `passes`: passes over shares of all values.
 */
export type LevelWay = 'trial' | 'entries' | 'sketch' | 'passes';

/** Facts that are known when it is a level's turn. */
export interface LevelFacts {
  limits: AggregateLimits;
  /** Rows of the blocks. */
  rowCount: number;
  /** Buckets of the level before. */
  parentCount: number;
  /** True when a level before may still get more of them. */
  grows: boolean;
  /** Entries that dictionaries of segments have of the attribute, about. */
  entryCount: number;
  /** True when more strings of the attribute lie in a dictionary than a trial takes. */
  isLarge: boolean;
}

/** Facts that a plan is made of. */
export interface QueryFacts extends Pick<AggregateLimits, 'cellsMax'> {
  /** Tells that more strings of an attribute lie in a dictionary than a cube takes. */
  isLarge: (path: string) => boolean;
}

/** How an aggregation goes. */
export interface AggregatePlan {
  /** True when the minutes in the footers of segments answer it: nothing else is done then. */
  byMinutes: boolean;
  /** Numbers of first levels that are counted together, descending: when a cube is full, the next one that fits. */
  cubes: readonly number[];
}

/** Plans an aggregation. */
export function planAggregate(
  query: AggregateQuery,
  { cellsMax, isLarge }: QueryFacts,
): AggregatePlan {
  if (isOfMinutes(query)) return { byMinutes: true, cubes: [] };
  const cubes: number[] = [];
  const large = query.groupBys.findIndex((level) => level.type === 'field' && isLarge(level.path));
  const fitting = large < 0 ? query.groupBys.length : large;
  for (let levels = fitting; levels > 0 && cellsMax > 0; levels--) {
    const count = countableLevels(query, levels);
    if (count > 0 && count !== cubes.at(-1)) cubes.push(count);
  }
  return { byMinutes: false, cubes };
}

/** Plans how the buckets of the level at `place` are found that no cube has found: the next way when one is full. */
export function planLevel(
  query: AggregateQuery,
  place: number,
  facts: LevelFacts,
): readonly LevelWay[] {
  const groupBy = query.groupBys[place];
  if (groupBy.type !== 'field') return ['passes'];
  const ways: LevelWay[] = [];
  const isMeasured = mayBeMeasured(query, place, groupBy, facts);
  if (isMeasured) ways.push('entries');
  if (!mayBeSketched(query, place, groupBy, facts)) return [...ways, 'passes'];
  if (!facts.isLarge) ways.push('trial');
  if (isByCount(groupBy) && mayBeCounted(facts)) ways.push('entries');
  return [...ways, 'sketch', 'passes'];
}

/** True when metrics of entries are likely to tell the first buckets of a level. */
function mayBeMeasured(
  { afterBucket }: AggregateQuery,
  place: number,
  { order }: FieldGroupBy,
  { limits, entryCount, isLarge }: LevelFacts,
): boolean {
  const parted = place > 0 || afterBucket !== undefined ? undefined : partedOrder(order);
  if (parted === undefined || limits.trialBytesMax >= limits.memoryBytesMax) return false;
  // Where a trial may do it takes one scan, as entries do when heads of dictionaries tell all.
  const mayTry = !isLarge && limits.trialBytesMax > 0;
  return entryCount > 0 && (!mayTry || parted.bound === 'sum' || parted.isExtreme);
}

/** True when counts of entries are likely to tell the first buckets of a level: of all entries, or of few parents. */
function mayBeCounted({ entryCount, parentCount }: LevelFacts): boolean {
  return parentCount <= PARENTS_MAX || entryCount * parentCount <= COUNTS_BYTES_MAX;
}

/** True when the first buckets of a level can be told from bounds that are too high. */
function mayBeSketched(
  { afterBucket }: AggregateQuery,
  place: number,
  groupBy: FieldGroupBy,
  { limits, rowCount, parentCount, grows }: LevelFacts,
): boolean {
  const isFirstByLeast = place === 0 && isByLeast(groupBy);
  if (!isFirstByLeast && rankBoundOf(groupBy.order) === undefined) return false;
  if (place === 0 && afterBucket !== undefined) return false;
  if (limits.trialBytesMax >= limits.memoryBytesMax) return false;
  const mayHaveParents = !grows && parentCount > 0 && parentCount <= SKETCH_PARENTS_MAX;
  return mayHaveParents && rowCount <= SKETCH_ROWS_MAX;
}
