import { EngineError } from '../../base/errors.ts';
import { Pace, type Units } from '../../base/pause.ts';
import { MetricTable } from '../metric/metric-table.ts';
import { type AggregateLimits, LIMITS } from '../model/aggregate-limits.ts';
import type {
  AggregateBucket,
  AggregateQuery,
  AggregateResult,
  BucketKey,
  GroupBy,
  Metric,
  QueryStats,
  Snapshot,
} from '../model/query.ts';
import type { BlockSource, Progress, Reach } from '../model/source.ts';
import { telling } from '../model/units.ts';
import { withinBound } from '../scan/bound.ts';
import { TupleTable } from '../value/tuple-table.ts';
import { type ValuePart, ValueTable } from '../value/value-table.ts';
import { BlockScan, type ScanOutcome } from './block-scan.ts';
import { afterTest, comparer, FirstBuckets, lastCounts, limitOf } from './bucket-order.ts';
import {
  type ComputedValues,
  countableLevels,
  countsOnly,
  type FieldGroupBy,
  fillSeries,
  groupComputes,
  isOfShare,
  metricsAtOnce,
  type SelectingGroupBy,
  seriesOf,
  stepsOf,
  VALUE_STEPS,
} from './computes.ts';
import { Cube, firstCounted } from './cube.ts';
import { EntryCounts } from './entry-counts.ts';
import { FieldLevel, type Level, TagLevel, TimeLevel, takeValue } from './level.ts';
import { minuteCounts } from './minute-counts.ts';
import { checkCells, type GroupShare, Pass, TOTAL } from './pass.ts';
import type { Sharing } from './shared-scan.ts';
import { arrangeTimes, childrenOf, collectBuckets, parentCountOf, type Stage } from './stages.ts';
import { offerFirst } from './top-entries.ts';
import { Candidates, partOf, SKETCH_PARENTS_MAX, ValueSketch } from './value-sketch.ts';

/** Parts into which the groups are cut when they do not fit. */
const SHARES_MAX = 64;
/** Groups of a whole scan are that many times what those of its begun part let expect. */
const GROWTH_EXPECTED = 1.25;
/** Rows that a count of a sketch can take. */
const SKETCH_ROWS_MAX = 2 ** 32 - 1;

const ALL: GroupShare = { index: 0, count: 1 };

/** What the shares of a level have found together. */
interface Found {
  merged: Level;
  first: FirstBuckets;
  totals: Map<number, (number | null)[]>;
}

/** An aggregation at work. */
class Aggregating {
  readonly #source: BlockSource;
  readonly #query: AggregateQuery;
  readonly #limits: AggregateLimits;
  readonly #scan: BlockScan;
  readonly #seed: number;
  #stages: Stage[] = [];
  /** Values of the buckets of the last level. */
  #values: ComputedValues[] = [];
  /** Whether `#values` are computed, together with the last level's buckets. */
  #computed = false;
  more = false;
  /** Of the first level, when there are more. */
  last: BucketKey | undefined;

  constructor(
    source: BlockSource,
    snapshot: Snapshot,
    query: AggregateQuery & Reach,
    limits: AggregateLimits,
    sharing: Sharing | undefined,
  ) {
    this.#source = source;
    this.#query = query;
    this.#limits = limits;
    this.#scan = new BlockScan(source, snapshot, query, sharing);
    const { secret } = source;
    this.#seed = new DataView(secret.buffer, secret.byteOffset).getInt32(8, true);
  }

  get stats(): QueryStats {
    return this.#scan.stats;
  }

  *run(): Generator<Progress, AggregateBucket[]> {
    while (!(yield* this.#compute())) {
      // A block turned out damaged after other passes had read it: all begins again without it.
      this.#scan.restart();
    }
    return yield* this.#tell(collectBuckets(this.#stages, this.#values));
  }

  /** Does units of work that are not of a scan. */
  #tell<T>(units: Units<T>): Generator<Progress, T> {
    return telling(() => this.#scan.progress, units);
  }

  /** Finds the buckets and their values; false when a block turned out damaged that was counted before. */
  *#compute(): Generator<Progress, boolean> {
    const { groupBys, afterBucket } = this.#query;
    this.more = false;
    this.last = undefined;
    this.#values = [];
    this.#computed = false;
    this.#stages = groupBys.map((groupBy, place) => ({
      groupBy,
      level: this.#levelOf(groupBy, place === 0 ? afterBucket : undefined),
      tuples: new TupleTable(),
      grows: true,
      total: groupBy.total,
      children: new Map(),
    }));
    const countedLevels = yield* this.#countTogether();
    if (countedLevels < 0) return false;
    for (const [place, { groupBy }] of this.#stages.entries()) {
      if (place < countedLevels || groupBy.type === 'time') continue;
      if (!(yield* this.#select(place, groupBy))) return false;
    }
    return this.#computed || (yield* this.#measure());
  }

  #levelOf(groupBy: GroupBy, after?: BucketKey): Level {
    if (groupBy.type === 'field') return this.#fieldLevel(groupBy.path);
    if (groupBy.type === 'tagset') return new TagLevel(groupBy.tags);
    const afterMs = after?.type === 'time' ? after.timeMs : undefined;
    return new TimeLevel(this.#source, groupBy.boundaries, afterMs);
  }

  #fieldLevel(path: string, part?: ValuePart, smallOnly = false): FieldLevel {
    return new FieldLevel(path, new ValueTable(this.#seed, part), smallOnly);
  }

  /** Counts the events of the first levels at once, as many as can be; their number, -1 when a block is damaged. */
  *#countTogether(): Generator<Progress, number> {
    const { memoryBytesMax, trialBytesMax, cellsMax } = this.#limits;
    const bytesMax = Math.min(memoryBytesMax, trialBytesMax);
    for (let count = countableLevels(this.#query, this.#stages.length); count > 0; ) {
      const levels = this.#stages
        .slice(0, count)
        .map(({ groupBy, level }) =>
          groupBy.type === 'field' ? this.#fieldLevel(groupBy.path, undefined, true) : level,
        );
      const cube = new Cube(levels, cellsMax, bytesMax);
      if (!cube.isFull && (yield* this.#scan.run(cube)) === 'damaged') return -1;
      if (!cube.isFull) {
        yield* this.#tell(cube.finish());
        yield* this.#tell(this.#settleCounted(cube, levels));
        return count;
      }
      count = countableLevels(this.#query, cube.fitting);
    }
    return 0;
  }

  /** Makes the buckets of the first levels those that were counted. */
  *#settleCounted(cube: Cube, levels: readonly Level[]): Units<void> {
    const { computes, afterBucket } = this.#query;
    let paths: number[][] = [[]];
    for (const [place, level] of levels.entries()) {
      const stage = this.#stages[place];
      const merged = stage.groupBy.type === 'field' ? this.#levelOf(stage.groupBy) : level;
      const first = new FirstBuckets(undefined, () => 0);
      /** What values of `merged` are in `level`. */
      const origins: number[] = [];
      const counted = yield* firstCounted(cube, level, paths, stage.groupBy, place, afterBucket);
      for (const [parent, buckets] of counted.entries()) {
        for (const { value, rank } of buckets) {
          const taken = takeValue(merged, level, value);
          origins[taken] = value;
          first.offer(parent, taken, rank, () => []);
        }
      }
      yield* this.#settle(stage, place, merged, first, new Map());
      const { tuples } = stage;
      const before = paths;
      paths = [];
      for (let tuple = 0; tuple < tuples.count; tuple++) {
        const value = tuples.value(tuple);
        paths.push([...before[tuples.parent(tuple)], value === TOTAL ? -1 : origins[value - 1]]);
      }
    }
    this.#values = [];
    if (levels.length < this.#stages.length || !countsOnly(computes)) return;
    this.#values = paths.map((path) => computes.map(() => cube.countOf(path)));
    this.#computed = true;
  }

  /** Finds the buckets of a level that are in the answer. */
  *#select(place: number, groupBy: SelectingGroupBy): Generator<Progress, boolean> {
    const last = place === this.#stages.length - 1;
    const metrics = last ? (metricsAtOnce(groupBy, this.#query.computes) ?? []) : [];
    const { memoryBytesMax, trialBytesMax } = this.#limits;
    const mayBeSketched = this.#mayBeSketched(place, groupBy) && trialBytesMax < memoryBytesMax;
    let candidates: Candidates | undefined;
    for (let shares = 1; ; ) {
      const merged = this.#levelOf(groupBy);
      const first = new FirstBuckets(limitOf(groupBy, place), comparer(groupBy.order, merged));
      const found: Found = { merged, first, totals: new Map() };
      const isTrial = mayBeSketched && candidates === undefined;
      let outcome: ScanOutcome = 'done';
      for (let index = 0; index < shares && outcome === 'done'; index++) {
        const part = { share: { index, count: shares }, candidates, isTrial };
        outcome = yield* this.#selectShare(place, groupBy, metrics, part, found);
      }
      let isComputed = last && metrics.length > 0;
      let byEntries = false;
      if (outcome === 'full' && isTrial && groupBy.type === 'field') {
        isComputed &&= !groupBy.total && metrics.every(({ type }) => type === 'core');
        const metricCount = isComputed ? metrics.length : 0;
        outcome = yield* this.#selectByEntries(place, groupBy, metricCount, found);
        byEntries = outcome === 'done';
      }
      if (outcome === 'full' && isTrial && groupBy.type === 'field') {
        const sketch = new ValueSketch(this.#stages.slice(0, place), groupBy.path, this.#seed);
        if ((yield* this.#scan.run(sketch)) === 'damaged') return false;
        candidates = yield* this.#tell(Candidates.find(sketch, groupBy.limit + 1));
      } else if (outcome === 'full') {
        shares = this.#moreShares(shares);
      } else if (outcome === 'damaged') {
        return false;
      } else if (
        byEntries ||
        (yield* this.#tell(isEnough(candidates, first, limitOf(groupBy, place))))
      ) {
        const stage = this.#stages[place];
        yield* this.#tell(this.#settle(stage, place, merged, first, found.totals));
        this.#computed = isComputed;
        if (!this.#computed) this.#values = [];
        return true;
      }
    }
  }

  /** Whether the first buckets of a level can be found by a sketch. */
  #mayBeSketched(place: number, { type, order }: SelectingGroupBy): boolean {
    const { by, direction } = order;
    if (type !== 'field' || by.type !== 'core' || direction !== 'desc') return false;
    if (place === 0 && this.#query.afterBucket !== undefined) return false;
    if (this.#stages.slice(0, place).some(({ grows }) => grows)) return false;
    const parentCount = parentCountOf(this.#stages, place);
    return (
      parentCount > 0 && parentCount <= SKETCH_PARENTS_MAX && this.#scan.rowCount <= SKETCH_ROWS_MAX
    );
  }

  /**
   * Finds the buckets of a level by entries of dictionaries, and gives them `metricCount` times their counts; `full` when it cannot
   * be done so.
   */
  *#selectByEntries(
    place: number,
    groupBy: FieldGroupBy,
    metricCount: number,
    { merged, first }: Found,
  ): Generator<Progress, ScanOutcome> {
    const stages = this.#stages.slice(0, place);
    const { path, order } = groupBy;
    const { memoryBytesMax } = this.#limits;
    const counts = new EntryCounts(this.#source, stages, path, this.#seed, memoryBytesMax);
    if (place === 0) yield* this.#tell(counts.takeSegments(this.#scan.wholeBlocks));
    const outcome = yield* this.#scan.run(counts);
    if (outcome === 'damaged' || counts.isFull) return outcome === 'damaged' ? outcome : 'full';
    const level = this.#fieldLevel(path);
    const best = new FirstBuckets(limitOf(groupBy, place), comparer(order, level));
    const limit = groupBy.limit + 1;
    if (!(yield* this.#tell(offerFirst(counts, limit, level.numbers, best)))) return 'full';
    for (const [parent, buckets] of best.entries()) {
      for (const { value, rank } of buckets) {
        const values = () => new Array<number | null>(metricCount).fill(rank ?? null);
        first.offer(parent, takeValue(merged, level, value), rank, values);
      }
    }
    return 'done';
  }

  /** Scans for the part of a level's buckets whose values, or numbers, are of a share. */
  *#selectShare(
    place: number,
    groupBy: SelectingGroupBy,
    metrics: readonly Metric[],
    {
      share,
      candidates,
      isTrial,
    }: { share: GroupShare; candidates: Candidates | undefined; isTrial: boolean },
    found: Found,
  ): Generator<Progress, ScanOutcome> {
    const { order } = groupBy;
    const level =
      groupBy.type === 'field'
        ? this.#fieldLevel(groupBy.path, partOf(share, candidates), isTrial)
        : this.#stages[place].level;
    const byValue = groupBy.type === 'field';
    const tuples = new TupleTable();
    const asked = order.by.type === 'natural' ? metrics : [...metrics, order.by];
    const table = new MetricTable(asked, this.#source.secret);
    const total = groupBy.total && (!byValue || share.index === 0);
    const pass = new Pass(
      [...this.#stages.slice(0, place), { level, tuples, grows: true, total }],
      [{ metrics: table, steps: undefined }],
      byValue ? ALL : share,
      false,
      this.#limits[isTrial ? 'trialBytesMax' : 'memoryBytesMax'],
    );
    const outcome = yield* this.#scan.run(pass);
    if (outcome !== 'done') return outcome;
    if (level.isLarge === true) return 'full';

    yield* this.#tell(table.settle());
    const after = place === 0 ? this.#query.afterBucket : undefined;
    const isAfter = afterTest(level, after, order.direction);
    const best = new FirstBuckets(
      groupBy.limit === undefined ? undefined : groupBy.limit + 1,
      comparer(order, level),
    );
    const pace = new Pace();
    for (let tuple = 0; tuple < tuples.count; tuple++) {
      if (pace.isFull(VALUE_STEPS)) yield this.#scan.progress;
      if (!byValue && tuple % share.count !== share.index) continue;
      const values = () => metrics.map((metric) => table.value(metric, tuple));
      if (tuples.value(tuple) === TOTAL) {
        found.totals.set(tuples.parent(tuple), values());
        continue;
      }
      const value = tuples.value(tuple) - 1;
      if (!isAfter(value)) continue;
      const rank = order.by.type === 'natural' ? undefined : table.value(order.by, tuple);
      best.offer(tuples.parent(tuple), value, rank, values);
    }
    for (const [parent, candidates] of best.entries()) {
      for (const { value, rank, values } of candidates) {
        if (pace.isFull(1)) yield this.#scan.progress;
        found.first.offer(parent, takeValue(found.merged, level, value), rank, () => values);
      }
    }
    return 'done';
  }

  /** Makes the buckets that were found those of the level. */
  *#settle(
    stage: Stage,
    place: number,
    level: Level,
    first: FirstBuckets,
    totals: ReadonlyMap<number, (number | null)[]>,
  ): Units<void> {
    const pace = new Pace();
    const limit = limitOf(stage.groupBy, 1) ?? Infinity;
    yield* arrangeTimes(this.#stages, place);
    const tuples = new TupleTable();
    const keep = (parent: number, value: number, values: (number | null)[]): void => {
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
      for (const { value, values } of candidates.slice(0, limit)) {
        keep(parent, value + 1, values);
        if (pace.isFull(1)) yield;
      }
    }
    if (stage.total) {
      const parentCount = parentCountOf(this.#stages, place);
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

  #valuesOfNothing(): (number | null)[] {
    const metrics = this.#query.computes.map((compute) => compute.metric);
    const table = new MetricTable(metrics, this.#source.secret);
    return metrics.map((metric) => table.value(metric, 0));
  }

  /** Computes the values of all buckets of the last level. */
  *#measure(): Generator<Progress, boolean> {
    for (let shares = 1; ; ) {
      let outcome: ScanOutcome = 'done';
      this.#values = [];
      for (let index = 0; index < shares && outcome === 'done'; index++) {
        outcome = yield* this.#measureShare({ index, count: shares });
      }
      if (outcome === 'damaged') return false;
      if (outcome === 'done') return true;
      shares = this.#moreShares(shares);
    }
  }

  *#measureShare(share: GroupShare): Generator<Progress, ScanOutcome> {
    const { computes } = this.#query;
    const groups = groupComputes(computes);
    const tables = groups.map(({ places, boundaries }) => ({
      metrics: new MetricTable(
        places.map((place) => computes[place].metric),
        this.#source.secret,
      ),
      steps: boundaries === undefined ? undefined : new TimeLevel(this.#source, boundaries),
    }));
    const pass = new Pass(this.#stages, tables, share, true, this.#limits.memoryBytesMax);
    const outcome = yield* this.#scan.run(pass);
    if (outcome !== 'done') return outcome;
    yield* this.#tell(arrangeTimes(this.#stages, this.#stages.length));
    for (const { metrics } of tables) yield* this.#tell(metrics.settle());
    const bucketCount = this.#stages.at(-1)?.tuples.count ?? 1;
    const cellCounts = tables.map(({ steps }, at) => groups[at].places.length * stepsOf(steps));
    const cellCount = cellCounts.reduce((sum, count) => sum + count, 0);
    checkCells(bucketCount * cellCount);
    const pace = new Pace();
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      if (pace.isFull(computes.length * VALUE_STEPS)) yield this.#scan.progress;
      const values = this.#values[bucket] ?? computes.map(() => null);
      this.#values[bucket] = values;
      for (const [at, { places }] of groups.entries()) {
        const { metrics, steps } = tables[at];
        for (const place of places) {
          const { metric } = computes[place];
          if (steps !== undefined) {
            const known = seriesOf(values[place], steps);
            values[place] = known;
            yield* this.#tell(fillSeries(known, metrics, metric, bucket, share, pace));
          } else if (isOfShare(bucket, share)) {
            values[place] = metrics.value(metric, bucket);
          }
        }
      }
    }
    return 'done';
  }

  /** How many shares to try next. Throws MEMORY when there are too many. */
  #moreShares(shares: number): number {
    let needed = shares * 2;
    while (needed < (shares / this.#scan.scanned) * GROWTH_EXPECTED) needed *= 2;
    const next = shares < SHARES_MAX ? Math.min(needed, SHARES_MAX) : needed;
    if (next <= SHARES_MAX) return next;
    throw new EngineError(
      'MEMORY',
      `its groups take more than ${SHARES_MAX} times ${this.#limits.memoryBytesMax} bytes; allowed: fewer distinct ` +
        'values, fewer computes or a shorter time',
    );
  }
}

/** Whether no other values can be among the first than the candidates. */
function* isEnough(
  candidates: Candidates | undefined,
  first: FirstBuckets,
  limit: number | undefined,
): Units<boolean> {
  return candidates === undefined || (yield* candidates.suffice(lastCounts(first, limit)));
}

/**
 * Computes metrics over the selected events in nested buckets, a block or less a unit. Levels of few values are counted together in
 * one scan (Cube). Of many values, ordered by count, a sketch tells first which may be among the first (ValueSketch), and only
 * these are counted. Any other level takes a pass, or several over parts of its values when they take too much memory. The
 * answer is exact in any case. Damaged blocks are left out and counted. Throws LIMIT, MEMORY, and what the source throws but
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
    const counted = minuteCounts(source, snapshot, reached);
    if (counted !== undefined) return yield* counted;
    const allLimits = { ...LIMITS, ...limits };
    const aggregating = new Aggregating(source, snapshot, reached, allLimits, sharing);
    const buckets = yield* aggregating.run();
    const { more, stats, last } = aggregating;
    return { buckets, more, stats, ...(last === undefined ? {} : { last }) };
  });
}
