import { assert } from '../../base/assert.ts';
import { Pace, type Units } from '../../base/pause.ts';
import { MetricTable } from '../metric/metric-table.ts';
import type { Metric, MetricValue } from '../model/query.ts';
import type { Progress } from '../model/source.ts';
import { TupleTable } from '../value/tuple-table.ts';
import { type LevelWay, planLevel } from './aggregate-plan.ts';
import type { Aggregation } from './aggregation.ts';
import type { ScanOutcome } from './block-scan.ts';
import { afterTest, comparer, FirstBuckets, lastCounts, limitOf } from './bucket-order.ts';
import {
  type FieldGroupBy,
  metricsAtOnce,
  type SelectingGroupBy,
  VALUE_STEPS,
} from './computes.ts';
import { EntryCounts } from './entry-counts.ts';
import { type Level, takeValue } from './level.ts';
import { TOTAL } from './nesting.ts';
import { type GroupShare, Pass } from './pass.ts';
import { parentCountOf } from './stages.ts';
import { offerFirst } from './top-entries.ts';
import { Candidates, partOf, ValueSketch } from './value-sketch.ts';

const ALL: GroupShare = { index: 0, count: 1 };

/** The buckets of a level that are in the answer. */
export interface FoundBuckets {
  level: Level;
  first: FirstBuckets;
  /** The values of the totals, by their parents. */
  totals: Map<number, MetricValue[]>;
  /** True when the values of all computes are with them. */
  isComputed: boolean;
}

/** Looks for the buckets of a level that are in the answer, those of the levels before are found. */
export class LevelSearch {
  readonly #work: Aggregation;
  readonly #place: number;
  readonly #groupBy: SelectingGroupBy;
  /** Metrics that are computed together with the buckets. */
  readonly #metrics: readonly Metric[];

  constructor(work: Aggregation, place: number, groupBy: SelectingGroupBy) {
    this.#work = work;
    this.#place = place;
    this.#groupBy = groupBy;
    const isLast = place === work.stages.length - 1;
    this.#metrics = (isLast ? metricsAtOnce(groupBy, work.query.computes) : undefined) ?? [];
  }

  /**
   * Goes the ways of the plan until one is not full; `undefined` when a block turned out damaged that was counted
   * before.
   */
  *run(): Generator<Progress, FoundBuckets | undefined> {
    const { query, stages, limits, scan } = this.#work;
    const place = this.#place;
    const grows = stages.slice(0, place).some((stage) => stage.grows);
    const groupBy = this.#groupBy;
    const ways = planLevel(query, place, {
      limits,
      rowCount: scan.rowCount,
      parentCount: parentCountOf(stages, place),
      grows,
      isLarge: groupBy.type === 'field' && scan.hasLarge(groupBy.path),
    });
    for (const way of ways) {
      const found = yield* this.#go(way);
      this.#work.went(way, place + 1, found === 'full');
      if (found === 'damaged') return undefined;
      if (found !== 'full') return found;
    }
    throw new Error('the last way is never full');
  }

  *#go(way: LevelWay): Generator<Progress, FoundBuckets | 'full' | 'damaged'> {
    if (way === 'passes') return yield* this.#byPasses();
    const groupBy = this.#groupBy;
    assert(groupBy.type === 'field', `${way} of an attribute`);
    if (way === 'sketch') {
      const sketch = new ValueSketch(
        this.#work.stages.slice(0, this.#place),
        groupBy.path,
        this.#work.seed,
      );
      if ((yield* this.#work.scan.run(sketch)) === 'damaged') return 'damaged';
      return yield* this.#byPasses(
        yield* this.#work.tell(Candidates.find(sketch, groupBy.limit + 1)),
      );
    }
    const found = this.#nothing();
    if (way === 'entries') {
      found.isComputed &&= !groupBy.total && this.#metrics.every(({ type }) => type === 'core');
    }
    const outcome =
      way === 'trial'
        ? yield* this.#byShare(ALL, undefined, found, true)
        : yield* this.#byEntries(groupBy, found);
    return outcome === 'done' ? found : outcome;
  }

  #nothing(): FoundBuckets {
    const level = this.#work.levelOf(this.#groupBy);
    const limit = limitOf(this.#groupBy, this.#place);
    const first = new FirstBuckets(limit, comparer(this.#groupBy.order, level));
    return { level, first, totals: new Map(), isComputed: this.#metrics.length > 0 };
  }

  /**
   * Finds the buckets in as many passes over shares of the values as memory asks for, those of `candidates` when there
   * are some.
   */
  *#byPasses(candidates?: Candidates): Generator<Progress, FoundBuckets | 'damaged'> {
    const limit = limitOf(this.#groupBy, this.#place);
    for (let shares = 1; ; ) {
      const found = this.#nothing();
      let outcome: ScanOutcome = 'done';
      for (let index = 0; index < shares && outcome === 'done'; index++) {
        outcome = yield* this.#byShare({ index, count: shares }, candidates, found);
      }
      if (outcome === 'damaged') return 'damaged';
      if (outcome === 'full') shares = this.#work.moreShares(shares);
      else if (yield* this.#work.tell(isEnough(candidates, found.first, limit))) return found;
    }
  }

  /**
   * Finds the buckets of a level by entries of dictionaries, and gives them their counts for each metric; `full` when
   * it cannot be done so.
   */
  *#byEntries(
    groupBy: FieldGroupBy,
    { level: merged, first, isComputed }: FoundBuckets,
  ): Generator<Progress, ScanOutcome> {
    const place = this.#place;
    const metricCount = isComputed ? this.#metrics.length : 0;
    const stages = this.#work.stages.slice(0, place);
    const { path, order } = groupBy;
    const { memoryBytesMax } = this.#work.limits;
    const counts = new EntryCounts(
      this.#work.source,
      stages,
      path,
      this.#work.seed,
      memoryBytesMax,
    );
    if (place === 0) yield* this.#work.tell(counts.takeSegments(this.#work.scan.wholeBlocks));
    const outcome = yield* this.#work.scan.run(counts);
    if (outcome === 'damaged' || counts.isFull) return outcome === 'damaged' ? outcome : 'full';
    const level = this.#work.fieldLevel(path);
    const best = new FirstBuckets(limitOf(groupBy, place), comparer(order, level));
    const limit = groupBy.limit + 1;
    const isFound = yield* this.#work.tell(offerFirst(counts, limit, level.numbers, best));
    counts.free();
    if (!isFound) return 'full';
    for (const [parent, buckets] of best.entries()) {
      for (const { value, rank } of buckets) {
        const values = () => new Array<MetricValue>(metricCount).fill(rank ?? null);
        first.offer(parent, takeValue(merged, level, value), rank, values);
      }
    }
    return 'done';
  }

  /** Scans for the part of a level's buckets whose values, or numbers, are of a share. */
  *#byShare(
    share: GroupShare,
    candidates: Candidates | undefined,
    found: FoundBuckets,
    isTrial = false,
  ): Generator<Progress, ScanOutcome> {
    const place = this.#place;
    const groupBy = this.#groupBy;
    const metrics = this.#metrics;
    const { order } = groupBy;
    const level =
      groupBy.type === 'field'
        ? this.#work.fieldLevel(groupBy.path, partOf(share, candidates), isTrial)
        : this.#work.stages[place].level;
    const byValue = groupBy.type === 'field';
    const tuples = new TupleTable();
    const asked = order.by.type === 'natural' ? metrics : [...metrics, order.by];
    const table = new MetricTable(asked, this.#work.source.secret);
    const total = groupBy.total && (!byValue || share.index === 0);
    const pass = new Pass(
      [...this.#work.stages.slice(0, place), { level, tuples, grows: true, total }],
      [{ metrics: table, steps: undefined }],
      byValue ? ALL : share,
      false,
      this.#work.limits[isTrial ? 'trialBytesMax' : 'memoryBytesMax'],
    );
    const outcome = yield* this.#work.scan.run(pass);
    if (outcome !== 'done') return outcome;
    if (level.isLarge === true) return 'full';

    yield* this.#work.tell(table.settle());
    const after = place === 0 ? this.#work.query.afterBucket : undefined;
    const isAfter = afterTest(level, after, order.direction);
    const best = new FirstBuckets(
      groupBy.limit === undefined ? undefined : groupBy.limit + 1,
      comparer(order, level),
    );
    const pace = new Pace();
    for (let tuple = 0; tuple < tuples.count; tuple++) {
      if (pace.isFull(VALUE_STEPS)) yield this.#work.scan.progress;
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
        if (pace.isFull(1)) yield this.#work.scan.progress;
        found.first.offer(parent, takeValue(found.level, level, value), rank, () => values);
      }
    }
    return 'done';
  }
}

/** True when no other values can be among the first than the candidates. */
function* isEnough(
  candidates: Candidates | undefined,
  first: FirstBuckets,
  limit: number | undefined,
): Units<boolean> {
  return candidates === undefined || (yield* candidates.suffice(lastCounts(first, limit)));
}
