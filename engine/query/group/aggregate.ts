import { Pace, type Units } from '../../base/pause.ts';
import { MetricTable } from '../metric/metric-table.ts';
import { type AggregateLimits, LIMITS } from '../model/aggregate-limits.ts';
import type {
  AggregateBucket,
  AggregateQuery,
  AggregateResult,
  BucketKey,
  MetricValue,
  Snapshot,
} from '../model/query.ts';
import type { BlockSource, Progress } from '../model/source.ts';
import { withinBound } from '../scan/bound.ts';
import { TupleTable } from '../value/tuple-table.ts';
import { type AggregatePlan, planAggregate } from './aggregate-plan.ts';
import { Aggregation } from './aggregation.ts';
import { BlockScan } from './block-scan.ts';
import { FirstBuckets, limitOf } from './bucket-order.ts';
import { type ComputedValues, countsOnly } from './computes.ts';
import { Cube, countedSteps, firstCounted } from './cube.ts';
import { FieldLevel, type Level, takeValue } from './level.ts';
import { LevelSearch } from './level-search.ts';
import { Measure } from './measure.ts';
import { minuteCounts } from './minute-counts.ts';
import { TOTAL } from './nesting.ts';
import { checkCells } from './pass.ts';
import type { Sharing } from './shared-scan.ts';
import { arrangeTimes, childrenOf, collectBuckets, parentCountOf, type Stage } from './stages.ts';

/** Carries out the plan of an aggregation. */
class Aggregating {
  readonly #work: Aggregation;
  readonly #plan: AggregatePlan;
  /** The buckets, when they were made as they were counted. */
  #buckets: AggregateBucket[] | undefined;
  /** Values of the buckets of the last level. */
  #values: ComputedValues[] = [];
  /** True when `#values` are computed, together with the last level's buckets. */
  #computed = false;
  more = false;
  /** Of the first level, when there are more. */
  last: BucketKey | undefined;

  constructor(work: Aggregation, plan: AggregatePlan) {
    this.#work = work;
    this.#plan = plan;
  }

  *run(): Generator<Progress, AggregateBucket[]> {
    while (!(yield* this.#compute())) {
      // A block turned out damaged after other passes had read it: all begins again without it.
      this.#work.scan.restart();
    }
    return (
      this.#buckets ?? (yield* this.#work.tell(collectBuckets(this.#work.stages, this.#values)))
    );
  }

  /** Finds the buckets and their values; false when a block turned out damaged that was counted before. */
  *#compute(): Generator<Progress, boolean> {
    const work = this.#work;
    const { groupBys, afterBucket } = work.query;
    this.more = false;
    this.last = undefined;
    this.#values = [];
    this.#buckets = undefined;
    this.#computed = false;
    work.ways = [];
    work.stages = groupBys.map((groupBy, place) => ({
      groupBy,
      level: work.levelOf(groupBy, place === 0 ? afterBucket : undefined),
      tuples: new TupleTable(),
      grows: true,
      total: groupBy.total,
      children: new Map(),
    }));
    const countedLevels = yield* this.#countTogether();
    if (countedLevels < 0) return false;
    for (const [place, { groupBy }] of work.stages.entries()) {
      if (place < countedLevels || groupBy.type === 'time') continue;
      const found = yield* new LevelSearch(work, place, groupBy).run();
      if (found === undefined) return false;
      const { level, first, totals, isComputed } = found;
      yield* work.tell(this.#settle(work.stages[place], place, level, first, totals));
      this.#computed = isComputed;
      if (!isComputed) this.#values = [];
    }
    if (this.#computed || this.#buckets !== undefined) return true;
    const values = yield* new Measure(work).run();
    this.#values = values ?? [];
    return values !== undefined;
  }

  /** Counts the events of the first levels at once, as many as can be; their number, -1 when a block is damaged. */
  *#countTogether(): Generator<Progress, number> {
    const work = this.#work;
    const { memoryBytesMax, trialBytesMax, cellsMax } = work.limits;
    let fitting = work.stages.length;
    for (const count of this.#plan.cubes) {
      if (count > fitting) continue;
      const levels = work.stages
        .slice(0, count)
        .map(({ groupBy, level }) =>
          groupBy.type === 'field' ? work.fieldLevel(groupBy.path, undefined, true) : level,
        );
      const cube = new Cube(levels, cellsMax, Math.min(memoryBytesMax, trialBytesMax));
      if (!cube.isFull && (yield* work.scan.run(cube)) === 'damaged') return -1;
      work.went('cube', count, cube.isFull);
      if (!cube.isFull) {
        cube.finish();
        this.#buckets = yield* work.tell(countedSteps(cube, levels, work.query));
        if (this.#buckets === undefined) yield* work.tell(this.#settleCounted(cube, levels));
        return count;
      }
      fitting = cube.fitting;
    }
    return 0;
  }

  /** Makes the buckets of the first levels those that were counted. */
  *#settleCounted(cube: Cube, levels: readonly Level[]): Units<void> {
    const { stages, query } = this.#work;
    const { computes, afterBucket } = query;
    const isAll = levels.length === stages.length && countsOnly(computes);
    let paths: number[][] = [[]];
    let counts: ComputedValues[] = [];
    for (const [place, level] of levels.entries()) {
      const stage = stages[place];
      const { groupBy } = stage;
      const counted = yield* firstCounted(cube, level, paths, groupBy, place, afterBucket);
      // What is still to be found in the buckets, or measured, needs no other values of the level.
      const isRenumbered = !isAll && groupBy.type === 'field';
      const found = isRenumbered
        ? renumbered(counted, level, this.#work.levelOf(groupBy))
        : { first: counted, level, origins: undefined };
      yield* this.#settle(stage, place, found.level, found.first, new Map());
      const { tuples } = stage;
      if (place < levels.length - 1) paths = longerPaths(paths, tuples, found.origins);
      else if (isAll) counts = countsOf(cube, paths, tuples, computes.length);
    }
    this.#values = counts;
    if (!isAll) return;
    this.#computed = true;
  }

  /** Makes the buckets that were found those of the level. */
  *#settle(
    stage: Stage,
    place: number,
    level: Level,
    first: FirstBuckets,
    totals: ReadonlyMap<number, MetricValue[]>,
  ): Units<void> {
    const pace = new Pace();
    const limit = limitOf(stage.groupBy, 1) ?? Infinity;
    yield* arrangeTimes(this.#work.stages, place);
    const tuples = new TupleTable();
    const keep = (parent: number, value: number, values: MetricValue[]): void => {
      const tuple = tuples.add(parent, value);
      this.#values[tuple] = values;
      childrenOf(stage, parent).push(tuple);
      checkCells(tuples.count);
    };
    for (const [parent, candidates] of first.entries()) {
      if (place === 0 && candidates.length > limit) {
        this.more = true;
        this.last = level.key(candidates[limit - 1].value);
      }
      const keptCount = Math.min(candidates.length, limit);
      for (let rank = 0; rank < keptCount; rank++) {
        keep(parent, candidates[rank].value + 1, candidates[rank].values);
        if (pace.isFull(1)) yield;
      }
    }
    if (stage.total) {
      const parentCount = parentCountOf(this.#work.stages, place);
      for (let parent = 0; parent < parentCount; parent++) {
        if (pace.isFull(1)) yield;
        keep(parent, TOTAL, totals.get(parent) ?? this.#valuesOfNothing());
      }
    }
    stage.level = level;
    if (level instanceof FieldLevel) level.numbers.freeze();
    stage.tuples = tuples;
    stage.grows = false;
  }

  #valuesOfNothing(): MetricValue[] {
    const metrics = this.#work.query.computes.map((compute) => compute.metric);
    const table = new MetricTable(metrics, this.#work.source.secret);
    return metrics.map((metric) => table.value(metric, 0));
  }
}

/** The paths to the buckets of a level, in whose values `origins` has those that the cube has; else they are these. */
function longerPaths(
  paths: readonly number[][],
  tuples: TupleTable,
  origins: readonly number[] | undefined,
): number[][] {
  const longer: number[][] = [];
  for (let tuple = 0; tuple < tuples.count; tuple++) {
    const value = tuples.value(tuple) - 1;
    const origin = origins === undefined || value < 0 ? value : origins[value];
    longer.push(paths[tuples.parent(tuple)].concat(origin));
  }
  return longer;
}

/** The counts of the buckets of a level, `computes` times each; `paths` lead to those of the level before. */
function countsOf(
  cube: Cube,
  paths: readonly number[][],
  tuples: TupleTable,
  computes: number,
): ComputedValues[] {
  const inParents = paths.map((path) => cube.countsIn(path));
  const counts: ComputedValues[] = [];
  for (let tuple = 0; tuple < tuples.count; tuple++) {
    const count = inParents[tuples.parent(tuple)](tuples.value(tuple) - 1);
    counts.push(new Array<number>(computes).fill(count));
  }
  return counts;
}

/** The same buckets of another level, which takes their values; `origins`: by its values those of `level`. */
function renumbered(
  counted: FirstBuckets,
  level: Level,
  into: Level,
): { first: FirstBuckets; level: Level; origins: readonly number[] } {
  const first = new FirstBuckets(undefined, () => 0);
  const origins: number[] = [];
  for (const [parent, buckets] of counted.entries()) {
    for (const { value, rank } of buckets) {
      const taken = takeValue(into, level, value);
      origins[taken] = value;
      first.offer(parent, taken, rank, () => []);
    }
  }
  return { first, level: into, origins };
}

/**
 * Computes metrics over the selected events in nested buckets, a block or less a unit. Which way it goes is
 * planned first, and what is next when a way takes too much memory (`planAggregate`, `planLevel`). The answer is exact
 * in any case. Damaged blocks are left out and counted. Throws LIMIT, MEMORY, and what the source throws but
 * CORRUPTION.
 */
export function* aggregateUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: AggregateQuery,
  limits: Partial<AggregateLimits> = {},
  sharing?: Sharing,
): Generator<Progress, AggregateResult> {
  return yield* withinBound(source, snapshot, query, function* (reached) {
    const allowed = { ...LIMITS, ...limits };
    const scan = new BlockScan(source, snapshot, reached, sharing);
    const isLarge = (path: string): boolean => scan.hasLarge(path);
    const plan = planAggregate(reached, { ...allowed, isLarge });
    if (plan.byMinutes) return yield* minuteCounts(source, snapshot, reached);
    const work = new Aggregation(source, reached, allowed, scan);
    const aggregating = new Aggregating(work, plan);
    const buckets = yield* aggregating.run();
    const { more, last } = aggregating;
    const { ways } = work;
    return { buckets, more, stats: scan.stats, ways, ...(last === undefined ? {} : { last }) };
  });
}
