import { assert, must } from '../../base/assert.ts';
import type { Units } from '../../base/pause.ts';
import { type PartedOrder, partedOrder } from '../metric/group-keys.ts';
import { rankBoundOf } from '../metric/rank-bound.ts';
import type { Metric, MetricValue } from '../model/query.ts';
import type { Progress } from '../model/source.ts';
import { telling } from '../model/units.ts';
import type { HashHeads } from '../value/value-part.ts';
import { type LevelWay, planLevel } from './aggregate-plan.ts';
import { type Aggregation, SHARES_MAX } from './aggregation.ts';
import type { ScanOutcome } from './block-scan.ts';
import { comparer, FirstBuckets, lastRanks, limitOf } from './bucket-order.ts';
import {
  type FieldGroupBy,
  isByCount,
  isByLeast,
  metricsAtOnce,
  type SelectingGroupBy,
} from './computes.ts';
import { EntryCounts } from './entry/entry-counts.ts';
import { EntryMeasures } from './entry/entry-measures.ts';
import { offerFirst } from './entry/top-entries.ts';
import { firstMeasured, type Measure } from './entry/top-measures.ts';
import { takeValue } from './level.ts';
import type { GroupShare } from './pass.ts';
import {
  type FoundBuckets,
  type LevelTask,
  noBuckets,
  searchShare,
  searchTogether,
} from './share-search.ts';
import type { MeasuresSpec } from './shared-scan.ts';
import { parentCountOf } from './stages.ts';
import { Candidates, LeastValues, partOf, ValueSketch } from './value-sketch.ts';

const ALL: GroupShare = { index: 0, count: 1 };
/** Others that take shares of one search: for more of them there would be many more shares, who may all be busy. */
const OTHERS_MAX = 3;
/** Strings among which one of the fewest events is looked for at first; and then, for all that are wanted. */
const LEAST_TEXTS_OF_ONE = 8;
const LEAST_TEXTS_MAX = 16_384;
/** Entries of each dictionary among which the first values are looked for by metrics: for each wanted one, at most. */
const HEADS_PER_VALUE = 4;
const HEADS_MAX = 8_192;
/** Values that are looked for in all dictionaries where heads do not tell all of a value, for each entry of a head. */
const CANDIDATES_PER_HEAD = 16;

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
    const groupBy = this.#groupBy;
    const ways = planLevel(query, place, {
      limits,
      rowCount: scan.rowCount,
      parentCount: parentCountOf(stages, place),
      grows: this.#grows,
      entryCount: groupBy.type === 'field' ? scan.entriesOf(groupBy.path) : 0,
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
      return yield* isByLeast(groupBy) ? this.#byLeast(groupBy) : this.#bySketch(groupBy);
    }
    const found = this.#nothing();
    if (way === 'entries') {
      const parted = partedOrder(groupBy.order);
      if (parted !== undefined) return yield* this.#byMeasures(groupBy, parted);
      found.isComputed &&= !groupBy.total && this.#metrics.every(({ type }) => type === 'core');
    }
    const outcome =
      way === 'trial'
        ? yield* this.#byShare(ALL, undefined, found, true)
        : yield* this.#byEntries(groupBy, found);
    return outcome === 'done' ? found : outcome;
  }

  /** Finds the buckets among those that what bounds them leaves; `full` when that does not tell many from others. */
  *#bySketch(groupBy: FieldGroupBy): Generator<Progress, FoundBuckets | 'full' | 'damaged'> {
    const { scan, seed } = this.#work;
    const stages = this.#work.stages.slice(0, this.#place);
    const bound = must(rankBoundOf(groupBy.order), 'a bound');
    const sketch = new ValueSketch(stages, groupBy.path, seed, bound);
    const outcome = yield* scan.run(sketch);
    if (outcome === 'damaged' || sketch.isFull) return outcome === 'damaged' ? outcome : 'full';
    return yield* this.#byPasses(
      yield* this.#work.tell(Candidates.find(sketch, groupBy.limit + 1)),
    );
  }

  /** Finds the values of the fewest events by their texts; `full` when too few of the first ones have one event. */
  *#byLeast({ path, limit }: FieldGroupBy): Generator<Progress, FoundBuckets | 'full' | 'damaged'> {
    const { scan, seed } = this.#work;
    const wanted = limit + 1;
    const few = wanted * LEAST_TEXTS_OF_ONE;
    for (const countMax of [few, Math.max(few, LEAST_TEXTS_MAX)]) {
      const least = new LeastValues({ type: 'least', path, countMax });
      let outcome = yield* scan.run(least);
      if (outcome !== 'done') return outcome;
      const found = this.#nothing();
      outcome = yield* this.#byShare(ALL, least.part(seed), found);
      if (outcome !== 'done') return outcome;
      if (least.proves(found, wanted)) return found;
      if (least.hasAll) return 'full';
    }
    return 'full';
  }

  #nothing(): FoundBuckets {
    const level = this.#work.levelOf(this.#groupBy);
    return noBuckets(this.#groupBy, this.#place, level, this.#metrics.length > 0);
  }

  /**
   * Finds the buckets in as many passes over shares of the values as memory asks for, those of `candidates` when there
   * are some and not many; together with other threads where these can take shares.
   */
  *#byPasses(candidates?: Candidates): Generator<Progress, FoundBuckets | 'full' | 'damaged'> {
    const { scan, seed } = this.#work;
    const limit = limitOf(this.#groupBy, this.#place);
    const others = candidates === undefined ? this.#others : 0;
    const memoryBytesMax = this.#bytesOf(others);
    for (let shares = yield* this.#firstShares(candidates, others, memoryBytesMax); ; ) {
      if (candidates?.areMany === true) return 'full';
      const found = this.#nothing();
      // The most shares are for who has all the memory.
      const isShared = others > 0 && shares > 1 && shares < SHARES_MAX;
      const about = { count: shares, others, seed, memoryBytesMax };
      const outcome = isShared
        ? yield* searchTogether(scan, this.#task, about, found)
        : yield* this.#byShares(shares, candidates, found);
      if (outcome === 'damaged') return 'damaged';
      if (outcome === 'full') shares = evenly(this.#work.moreShares(shares), others);
      else if (yield* this.#work.tell(isEnough(candidates, found.first, limit))) return found;
    }
  }

  /** Threads that may take shares of the values. */
  get #others(): number {
    const mayTake = !this.#grows && this.#groupBy.type === 'field';
    return mayTake ? Math.min(this.#work.scan.others, OTHERS_MAX) : 0;
  }

  /** True when a level before may still get more buckets. */
  get #grows(): boolean {
    return this.#work.stages.slice(0, this.#place).some(({ grows }) => grows);
  }

  /** Memory of a share with so many others: what they may take who join in other scans is for all alike. */
  #bytesOf(others: number): number {
    const { memoryBytesMax } = this.#work.limits;
    return others === 0 ? memoryBytesMax : Math.floor((memoryBytesMax * 3) / (2 * (others + 1)));
  }

  /** Shares to begin with: several where a dictionary tells that one does not fit. */
  *#firstShares(
    candidates: Candidates | undefined,
    others: number,
    bytesMax: number,
  ): Generator<Progress, number> {
    const { scan } = this.#work;
    const groupBy = this.#groupBy;
    if (candidates !== undefined || groupBy.type !== 'field' || this.#place > 0) return 1;
    if (!scan.hasLarge(groupBy.path)) return 1;
    const { by } = groupBy.order;
    const metrics = by.type === 'natural' ? this.#metrics : [...this.#metrics, by];
    return evenly(yield* this.#work.firstShares(groupBy.path, metrics, bytesMax), others);
  }

  *#byShares(
    count: number,
    candidates: Candidates | undefined,
    found: FoundBuckets,
  ): Generator<Progress, ScanOutcome> {
    let outcome: ScanOutcome = 'done';
    for (let index = 0; index < count && outcome === 'done'; index++) {
      outcome = yield* this.#byShare({ index, count }, candidates, found);
    }
    return outcome;
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

  /** Finds the buckets of a level by metrics of entries of dictionaries; `full` when it cannot be done so. */
  *#byMeasures(
    { path, limit, order, total }: FieldGroupBy,
    parted: PartedOrder,
  ): Generator<Progress, FoundBuckets | 'full' | 'damaged'> {
    const { scan, source, seed, limits } = this.#work;
    const { by } = order;
    assert(by.type === 'attribute', 'a metric of an attribute');
    const { memoryBytesMax, headsMax } = limits;
    const count = limit + 1;
    const heads = Math.min(Math.max(count * HEADS_PER_VALUE, headsMax), HEADS_MAX);
    const about = { path, seed, order: parted, headsMax: heads, memoryBytesMax };
    const measure: Measure = function* (metrics, part) {
      const spec: MeasuresSpec = { type: 'measures', ...about, metrics, ...(part && { part }) };
      const measures = new EntryMeasures(source, spec);
      const outcome = yield* scan.run(measures);
      if (outcome !== 'done') return outcome;
      const found = yield* telling(() => scan.progress, measures.finish());
      return measures.isFull ? 'full' : (found ?? 'full');
    };
    const { secret } = source;
    const candidates = Math.max(count, headsMax) * CANDIDATES_PER_HEAD;
    const task = { order: parted, by, others: this.#metrics, limit: count, candidates, secret };
    const level = this.#work.fieldLevel(path);
    const first = yield* firstMeasured(task, measure, level.numbers, (units) =>
      this.#work.tell(units),
    );
    if (typeof first === 'string') return first;
    const found = this.#nothing();
    const isSame = (metric: Metric): boolean => JSON.stringify(metric) === JSON.stringify(by);
    found.isComputed &&= !total && (first.areAll || this.#metrics.every(isSame));
    const wanted = found.isComputed ? this.#metrics : [];
    const best = new FirstBuckets(count, comparer(order, level));
    for (const { value, rank, metricOf } of first.values) {
      best.offer(0, value, rank, () => wanted.map(metricOf));
    }
    for (const [parent, buckets] of best.entries()) {
      for (const { value, rank, values } of buckets) {
        found.first.offer(parent, takeValue(found.level, level, value), rank, () => values);
      }
    }
    return found;
  }

  /** As `searchShare`; a trial takes little memory where counts may tell the first ones next. */
  *#byShare(
    share: GroupShare,
    candidates: HashHeads | undefined,
    found: FoundBuckets,
    isTrial = false,
  ): Generator<Progress, ScanOutcome> {
    const { scan, limits, stages } = this.#work;
    const groupBy = this.#groupBy;
    const level =
      groupBy.type === 'field'
        ? this.#work.fieldLevel(groupBy.path, partOf(share, candidates), isTrial)
        : stages[this.#place].level;
    const bytesMax = limits[isTrial && isByCount(groupBy) ? 'trialBytesMax' : 'memoryBytesMax'];
    return yield* searchShare(scan, this.#task, share, level, found, bytesMax);
  }

  get #task(): LevelTask {
    const { stages, query, source } = this.#work;
    const place = this.#place;
    return {
      stages: stages.slice(0, place),
      groupBy: this.#groupBy,
      place,
      metrics: this.#metrics,
      after: place === 0 ? query.afterBucket : undefined,
      secret: source.secret,
    };
  }
}

/** As many shares for each of the threads, if there are several. */
function evenly(shares: number, others: number): number {
  if (shares === 1) return 1;
  return Math.min(Math.ceil(shares / (others + 1)) * (others + 1), SHARES_MAX);
}

/** True when no other values can be among the first than the candidates. */
function* isEnough(
  candidates: Candidates | undefined,
  first: FirstBuckets,
  limit: number | undefined,
): Units<boolean> {
  return candidates === undefined || (yield* candidates.suffice(lastRanks(first, limit)));
}
