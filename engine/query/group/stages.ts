import { must } from '../../base/assert.ts';
import { Pace, type Units } from '../../base/pause.ts';
import type { AggregateBucket, BucketKey, GroupBy } from '../model/query.ts';
import type { ComputedValues } from './computes.ts';
import { type PassStage, TOTAL } from './nesting.ts';

/** Steps of a unit that a bucket of the answer takes. */
const BUCKET_STEPS = 4;

/** A level of buckets on its way to the answer. Once it does not grow its tuples are those of the answer. */
export interface Stage extends PassStage {
  groupBy: GroupBy;
  /** The buckets in each bucket of the level before, in their order. */
  children: Map<number, number[]>;
}

/** Buckets of the level before the one at `place`. */
export function parentCountOf(stages: readonly Stage[], place: number): number {
  return place === 0 ? 1 : stages[place - 1].tuples.count;
}

/** The buckets of a level in a bucket of the level before, to which more may be added. */
export function childrenOf(stage: Stage, parent: number): number[] {
  const known = stage.children.get(parent);
  if (known !== undefined) return known;
  const children: number[] = [];
  stage.children.set(parent, children);
  return children;
}

/** Orders the buckets of the levels of time before `end`, which all are in the answer. Works in units. */
export function* arrangeTimes(stages: readonly Stage[], end: number): Units<void> {
  const pace = new Pace();
  for (const [place, stage] of stages.slice(0, end).entries()) {
    if (stage.groupBy.type !== 'time') continue;
    const { tuples } = stage;
    if (stage.total) {
      const parentCount = parentCountOf(stages, place);
      for (let parent = 0; parent < parentCount; parent++) tuples.add(parent, TOTAL);
    }
    stage.children = new Map();
    for (let tuple = 0; tuple < tuples.count; tuple++) {
      childrenOf(stage, tuples.parent(tuple)).push(tuple);
      if (pace.isFull(1)) yield;
    }
    const rank = (tuple: number) => tuples.value(tuple) || Number.POSITIVE_INFINITY;
    for (const children of stage.children.values()) {
      children.sort((a, b) => rank(a) - rank(b));
      if (pace.isFull(children.length)) yield;
    }
  }
}

/** The buckets of the last level in their order, with their `values`. Made in units. */
export function* collectBuckets(
  stages: readonly Stage[],
  values: readonly ComputedValues[],
): Units<AggregateBucket[]> {
  const buckets: AggregateBucket[] = [];
  const pace = new Pace();
  const add = (tuple: number, keys: BucketKey[]): void => {
    buckets.push({ keys, values: must(values[tuple], 'values of a bucket') });
  };
  function* collect(place: number, parent: number, keys: BucketKey[]): Units<void> {
    const { children, tuples, level } = stages[place];
    for (const tuple of children.get(parent) ?? []) {
      const value = tuples.value(tuple);
      const key: BucketKey = value === TOTAL ? { type: 'total' } : level.key(value - 1);
      const path = keys.concat(key);
      if (place < stages.length - 1) yield* collect(place + 1, tuple, path);
      else add(tuple, path);
      if (pace.isFull(BUCKET_STEPS)) yield;
    }
  }
  if (stages.length === 0) add(0, []);
  else yield* collect(0, 0, []);
  return buckets;
}
