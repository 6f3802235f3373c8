import { must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { BlockRef } from '../segment/frame.ts';
import type { Bitmap } from './bitmap.ts';
import { isEmpty } from './bitmap.ts';
import { comparer, FirstBuckets } from './bucket-order.ts';
import { FieldLevel, type Level, TagLevel, TimeLevel } from './level.ts';
import { isLightMetric, MetricTable } from './metric-table.ts';
import {
  checkCells,
  type GroupShare,
  Pass,
  type PassStage,
  type PassTable,
  TOTAL,
} from './pass.ts';
import { type Plan, planOf } from './plan.ts';
import { mayHaveRows } from './prune.ts';
import type {
  AggregateBucket,
  AggregateQuery,
  AggregateResult,
  BucketKey,
  Compute,
  GroupBy,
  Metric,
  QueryStats,
  Snapshot,
} from './query.ts';
import { rowsWhere } from './scan.ts';
import {
  type BlockSource,
  isDamage,
  isInside,
  noStats,
  overlaps,
  type Progress,
  rowsInRange,
} from './source.ts';
import { TupleTable } from './tuple-table.ts';
import { ValueTable } from './value-table.ts';

/** Memory of the groups of one pass. */
const MEMORY_BYTES_MAX = 256 * 1024 * 1024;
/** Parts into which the groups are cut when they do not fit. */
const SHARES_MAX = 64;
/** Groups of a whole scan are that many times what those of its begun part let expect. */
const GROWTH_EXPECTED = 1.25;
/** Blocks whose selected rows are remembered from pass to pass. */
const BITMAPS_MAX = 4_096;

const ALL: GroupShare = { index: 0, count: 1 };

type SelectingGroupBy = Exclude<GroupBy, { type: 'time' }>;
type ComputedValues = AggregateBucket['values'];

/** How a scan of the blocks ended. `full`: there was not enough memory; `damaged`: a block has to be left out. */
type Outcome = 'done' | 'full' | 'damaged';

/** A level of buckets on its way to the answer. Once it does not grow its tuples are those of the answer. */
interface Stage extends PassStage {
  groupBy: GroupBy;
  /** The buckets in each bucket of the level before, in their order. */
  children: Map<number, number[]>;
}

/** An aggregation at work. */
class Aggregating {
  readonly stats: QueryStats;
  readonly #source: BlockSource;
  readonly #query: AggregateQuery;
  readonly #memoryBytesMax: number;
  readonly #plan: Plan;
  readonly #refs: BlockRef[];
  readonly #seed: number;
  readonly #damaged = new Set<BlockRef>();
  /** The selected rows of blocks that were scanned before. */
  readonly #rows = new Map<BlockRef, Bitmap>();
  #stages: Stage[] = [];
  /** Values of the buckets of the last level. */
  #values: ComputedValues[] = [];
  /** Whether `#values` are computed, together with the last level's buckets. */
  #computed = false;
  #scanCount = 0;
  /** Part of the blocks that the last scan went through. */
  #scanned = 0;
  #unitsDone = 0;
  #unitsTotal = 0;
  more = false;

  constructor(
    source: BlockSource,
    snapshot: Snapshot,
    query: AggregateQuery,
    memoryBytesMax: number,
  ) {
    this.#source = source;
    this.#query = query;
    this.#memoryBytesMax = memoryBytesMax;
    this.#plan = planOf(query.predicate);
    this.stats = noStats(snapshot.blocks.length);
    this.#refs = snapshot.blocks.filter((ref) => overlaps(ref, query.fromMs, query.toMs));
    const { secret } = source;
    this.#seed = new DataView(secret.buffer, secret.byteOffset).getInt32(8, true);
  }

  *run(): Generator<Progress, AggregateBucket[]> {
    while (!(yield* this.#compute())) {
      // A block turned out damaged after other passes had read it: all begins again without it.
    }
    this.stats.blocksDamaged = this.#damaged.size;
    const buckets: AggregateBucket[] = [];
    this.#collect(0, 0, [], buckets);
    return buckets;
  }

  /** Finds the buckets and their values; false when a block turned out damaged that was counted before. */
  *#compute(): Generator<Progress, boolean> {
    const { groupBys, afterBucket } = this.#query;
    this.more = false;
    this.#values = [];
    this.#computed = false;
    this.#scanCount = 0;
    this.#stages = groupBys.map((groupBy, place) => ({
      groupBy,
      level: this.#levelOf(groupBy, place === 0 ? afterBucket : undefined),
      tuples: new TupleTable(),
      grows: true,
      total: groupBy.total,
      children: new Map(),
    }));
    for (const [place, { groupBy }] of this.#stages.entries()) {
      if (groupBy.type !== 'time' && !(yield* this.#select(place, groupBy))) return false;
    }
    return this.#computed || (yield* this.#measure());
  }

  #levelOf(groupBy: GroupBy, after: BucketKey | undefined): Level {
    if (groupBy.type === 'field') return new FieldLevel(groupBy.path, new ValueTable(this.#seed));
    if (groupBy.type === 'tagset') return new TagLevel(groupBy.tags);
    return new TimeLevel(groupBy.boundaries, after?.type === 'time' ? after.timeMs : undefined);
  }

  /** Finds the buckets of a level that are in the answer. */
  *#select(place: number, groupBy: SelectingGroupBy): Generator<Progress, boolean> {
    const stage = this.#stages[place];
    const last = place === this.#stages.length - 1;
    const metrics = last ? (metricsAtOnce(groupBy, this.#query.computes) ?? []) : [];
    for (let shares = 1; ; ) {
      const merged = this.#levelOf(groupBy, undefined);
      const limit = groupBy.limit === undefined || place > 0 ? groupBy.limit : groupBy.limit + 1;
      const first = new FirstBuckets(limit, comparer(groupBy.order, merged));
      const totals = new Map<number, (number | null)[]>();
      let outcome: Outcome = 'done';
      for (let index = 0; index < shares && outcome === 'done'; index++) {
        outcome = yield* this.#selectShare(
          place,
          groupBy,
          metrics,
          { index, count: shares },
          {
            merged,
            first,
            totals,
          },
        );
      }
      if (outcome === 'damaged') return false;
      if (outcome === 'done') {
        this.#settle(stage, place, merged, first, totals);
        this.#computed = last && metrics.length > 0;
        if (!this.#computed) this.#values = [];
        return true;
      }
      shares = this.#moreShares(shares);
    }
  }

  /** Scans for the part of a level's buckets whose values, or numbers, are of a share. */
  *#selectShare(
    place: number,
    groupBy: SelectingGroupBy,
    metrics: readonly Metric[],
    share: GroupShare,
    found: {
      merged: Level;
      first: FirstBuckets;
      totals: Map<number, (number | null)[]>;
    },
  ): Generator<Progress, Outcome> {
    const { order } = groupBy;
    const level =
      groupBy.type === 'field'
        ? new FieldLevel(groupBy.path, new ValueTable(this.#seed, share.index, share.count))
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
    );
    const outcome = yield* this.#scan(pass);
    if (outcome !== 'done') return outcome;

    const after = place === 0 ? this.#query.afterBucket : undefined;
    const afterValue = after === undefined ? -1 : level.place(after);
    const sign = order.direction === 'asc' ? 1 : -1;
    const best = new FirstBuckets(
      groupBy.limit === undefined ? undefined : groupBy.limit + 1,
      comparer(order, level),
    );
    for (let tuple = 0; tuple < tuples.count; tuple++) {
      if (!byValue && tuple % share.count !== share.index) continue;
      const values = () => metrics.map((metric) => table.value(metric, tuple));
      if (tuples.value(tuple) === TOTAL) {
        found.totals.set(tuples.parent(tuple), values());
        continue;
      }
      const value = tuples.value(tuple) - 1;
      if (afterValue >= 0 && sign * level.compare(value, afterValue) <= 0) continue;
      const rank = order.by.type === 'natural' ? undefined : table.value(order.by, tuple);
      best.offer(tuples.parent(tuple), value, rank, values);
    }
    for (const [parent, candidates] of best.entries()) {
      for (const { value, rank, values } of candidates) {
        found.first.offer(parent, takeValue(found.merged, level, value), rank, () => values);
      }
    }
    return 'done';
  }

  /** Makes the buckets that were found those of the level. */
  #settle(
    stage: Stage,
    place: number,
    level: Level,
    first: FirstBuckets,
    totals: ReadonlyMap<number, (number | null)[]>,
  ): void {
    const limit = (stage.groupBy.type === 'time' ? undefined : stage.groupBy.limit) ?? Infinity;
    this.#arrangeTimes(place);
    const tuples = new TupleTable();
    const keep = (parent: number, value: number, values: (number | null)[]): void => {
      const tuple = tuples.add(parent, value);
      this.#values[tuple] = values;
      childrenOf(stage, parent).push(tuple);
      checkCells(tuples.count);
    };
    for (const [parent, candidates] of first.entries()) {
      if (place === 0) this.more = candidates.length > limit;
      for (const { value, values } of candidates.slice(0, limit)) keep(parent, value + 1, values);
    }
    if (stage.total) {
      for (let parent = 0; parent < this.#parentCount(place); parent++) {
        keep(parent, TOTAL, totals.get(parent) ?? this.#valuesOfNothing());
      }
    }
    stage.level = level;
    if (level instanceof FieldLevel) level.table.freeze();
    stage.tuples = tuples;
    stage.grows = false;
  }

  /** Buckets of the level before. */
  #parentCount(place: number): number {
    return place === 0 ? 1 : this.#stages[place - 1].tuples.count;
  }

  #valuesOfNothing(): (number | null)[] {
    const metrics = this.#query.computes.map((compute) => compute.metric);
    const table = new MetricTable(metrics, this.#source.secret);
    return metrics.map((metric) => table.value(metric, 0));
  }

  /** Computes the values of all buckets of the last level. */
  *#measure(): Generator<Progress, boolean> {
    for (let shares = 1; ; ) {
      let outcome: Outcome = 'done';
      this.#values = [];
      for (let index = 0; index < shares && outcome === 'done'; index++) {
        outcome = yield* this.#measureShare({ index, count: shares });
      }
      if (outcome === 'damaged') return false;
      if (outcome === 'done') return true;
      shares = this.#moreShares(shares);
    }
  }

  *#measureShare(share: GroupShare): Generator<Progress, Outcome> {
    const { computes } = this.#query;
    const { secret } = this.#source;
    const groups = groupComputes(computes);
    const tables = groups.map(({ places, boundaries }) => ({
      metrics: new MetricTable(
        places.map((place) => computes[place].metric),
        secret,
      ),
      steps: boundaries === undefined ? undefined : new TimeLevel(boundaries),
    }));
    const outcome = yield* this.#scan(new Pass(this.#stages, tables, share, true));
    if (outcome !== 'done') return outcome;
    this.#arrangeTimes(this.#stages.length);
    const bucketCount = this.#stages.at(-1)?.tuples.count ?? 1;
    const cellCounts = tables.map(({ steps }, at) => groups[at].places.length * stepsOf(steps));
    checkCells(bucketCount * cellCounts.reduce((sum, count) => sum + count, 0));
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      const values = this.#values[bucket] ?? computes.map(() => null);
      this.#values[bucket] = values;
      for (const [at, { places }] of groups.entries()) {
        for (const place of places) {
          values[place] = valueIn(tables[at], computes[place].metric, bucket, share, values[place]);
        }
      }
    }
    return 'done';
  }

  /** Orders the buckets of the levels of time before `end`, which all are in the answer. */
  #arrangeTimes(end: number): void {
    for (const [place, stage] of this.#stages.slice(0, end).entries()) {
      if (stage.groupBy.type !== 'time') continue;
      const { tuples } = stage;
      if (stage.total) {
        for (let parent = 0; parent < this.#parentCount(place); parent++) tuples.add(parent, TOTAL);
      }
      stage.children = new Map();
      for (let tuple = 0; tuple < tuples.count; tuple++) {
        childrenOf(stage, tuples.parent(tuple)).push(tuple);
      }
      const rank = (tuple: number) => tuples.value(tuple) || Number.POSITIVE_INFINITY;
      for (const children of stage.children.values()) children.sort((a, b) => rank(a) - rank(b));
    }
  }

  /** Scans all blocks that are not known to be damaged. */
  *#scan(pass: Pass): Generator<Progress, Outcome> {
    const first = this.#scanCount++ === 0;
    this.#unitsTotal = Math.max(this.#unitsTotal, this.#unitsDone + this.#refs.length);
    for (const [done, ref] of this.#refs.entries()) {
      if (this.#damaged.has(ref)) continue;
      try {
        if (!this.#scanBlock(pass, ref, first)) continue;
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#damaged.add(ref);
        if (!first) return 'damaged';
      }
      this.#unitsDone++;
      yield { unitsDone: this.#unitsDone, unitsTotal: this.#unitsTotal };
      if (pass.memoryBytes > this.#memoryBytesMax && done + 1 < this.#refs.length) {
        this.#scanned = (done + 1) / this.#refs.length;
        return 'full';
      }
    }
    return 'done';
  }

  /** Adds the selected rows of a block; false when it did not have to be opened. */
  #scanBlock(pass: Pass, ref: BlockRef, first: boolean): boolean {
    const { fromMs, toMs } = this.#query;
    if (this.#plan.type === 'all' && !pass.needsRows && isInside(ref, fromMs, toMs)) {
      pass.addCount(ref.rowCount);
      return false;
    }
    let rows = this.#rows.get(ref);
    if (rows !== undefined && isEmpty(rows)) return false;
    if (!mayHaveRows(this.#source, ref, this.#plan)) return false;
    const block = this.#source.open(ref);
    rows ??= rowsWhere(this.#plan, block, rowsInRange(block, fromMs, toMs));
    pass.add(block, rows);
    if (this.#rows.size < BITMAPS_MAX) this.#rows.set(ref, rows);
    if (!first) return true;
    this.stats.blocksOpened++;
    this.stats.rowsScanned += ref.rowCount;
    return true;
  }

  /** How many shares to try next. Throws LIMIT when there are too many. */
  #moreShares(shares: number): number {
    let needed = shares * 2;
    while (needed < (shares / this.#scanned) * GROWTH_EXPECTED) needed *= 2;
    const next = shares < SHARES_MAX ? Math.min(needed, SHARES_MAX) : needed;
    if (next <= SHARES_MAX) return next;
    throw new EngineError(
      'LIMIT',
      `the groups take more than ${SHARES_MAX} times ${this.#memoryBytesMax} bytes of memory; allowed: fewer ` +
        'distinct values, fewer computes or a shorter time',
    );
  }

  /** Appends the buckets in a bucket of the level before, down to the last level. */
  #collect(place: number, parent: number, keys: BucketKey[], buckets: AggregateBucket[]): void {
    if (place === this.#stages.length) {
      buckets.push({ keys, values: must(this.#values[parent], 'values of a bucket') });
      return;
    }
    const { children, tuples, level } = this.#stages[place];
    for (const tuple of children.get(parent) ?? []) {
      const value = tuples.value(tuple);
      const key: BucketKey = value === TOTAL ? { type: 'total' } : level.key(value - 1);
      this.#collect(place + 1, tuple, [...keys, key], buckets);
    }
  }
}

function childrenOf(stage: Stage, parent: number): number[] {
  const known = stage.children.get(parent);
  if (known !== undefined) return known;
  const children: number[] = [];
  stage.children.set(parent, children);
  return children;
}

/**
 * The metrics of all computes when the pass that finds the last level's buckets can compute them too: there are no time
 * series, and each takes little memory or is what the level is ordered by.
 */
function metricsAtOnce(
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

/** Places of computes by their steps of time; those without any are one group. */
function groupComputes(
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

function stepsOf(steps: TimeLevel | undefined): number {
  return steps?.stepCount ?? 1;
}

/** The value of a metric in a bucket, or those in its steps, as far as they are in a share; `known` are those of others. */
function valueIn(
  { metrics, steps }: PassTable,
  metric: Metric,
  bucket: number,
  share: GroupShare,
  known: ComputedValues[number],
): ComputedValues[number] {
  if (steps === undefined) {
    return bucket % share.count === share.index ? metrics.value(metric, bucket) : known;
  }
  const { stepCount } = steps;
  const series = Array.isArray(known) ? known : new Array<number | null>(stepCount).fill(null);
  for (let step = 0; step < stepCount; step++) {
    const group = bucket * stepCount + step;
    if (group % share.count === share.index) series[step] = metrics.value(metric, group);
  }
  return series;
}

function takeValue(into: Level, from: Level, value: number): number {
  if (!(into instanceof FieldLevel && from instanceof FieldLevel)) return value;
  return into.table.take(from.table, value);
}

/**
 * Computes metrics over the selected events in nested buckets, a block a unit. A level whose buckets have to be chosen takes
 * a pass over the blocks, or several over parts of its values when their groups would take more than `memoryBytesMax`; the
 * answer is exact in any case. Damaged blocks are left out and counted. Throws LIMIT, and what the source throws but
 * CORRUPTION.
 */
export function* aggregateUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: AggregateQuery,
  memoryBytesMax = MEMORY_BYTES_MAX,
): Generator<Progress, AggregateResult> {
  const aggregating = new Aggregating(source, snapshot, query, memoryBytesMax);
  const buckets = yield* aggregating.run();
  return { buckets, more: aggregating.more, stats: aggregating.stats };
}
