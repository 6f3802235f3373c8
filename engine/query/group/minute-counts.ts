import { MINUTE_MS } from '../../base/durations.ts';
import type {
  AggregateBucket,
  AggregateQuery,
  AggregateResult,
  AggregateWay,
  BucketKey,
  QueryStats,
  Snapshot,
} from '../model/query.ts';
import { type BlockSource, firstAt, noStats, type Progress } from '../model/source.ts';
import type { Floor } from '../scan/bound.ts';
import { RowCounts } from '../scan/row-counts.ts';
import { checkCells } from './pass.ts';

/** A query, maybe of the events from a floor on. */
type FlooredQuery = AggregateQuery & { floor?: Floor };

/**
 * Counts the events of a query for which `isOfMinutes` holds. The minutes in the footers of sealed segments answer it:
 * opened are the blocks in which the range is cut inside a minute, and those of log segments that lie in several steps.
 * Damaged blocks are left out and counted. Throws LIMIT, and what the source throws but CORRUPTION.
 */
export function* minuteCounts(
  source: BlockSource,
  snapshot: Snapshot,
  query: FlooredQuery,
): Generator<Progress, AggregateResult> {
  const counting = new Counting(source, snapshot, query);
  yield* counting.run();
  const ways: AggregateWay[] = [{ way: 'minutes', levels: query.groupBys.length }];
  return { buckets: bucketsOf(counting, query), more: false, stats: counting.stats, ways };
}

/** True when all that is asked for is how many events there are, of all, between whole minutes. */
export function isOfMinutes({
  predicate,
  fromMs,
  toMs,
  computes,
  groupBys,
}: AggregateQuery): boolean {
  if (predicate.type !== 'all' || groupBys.length > 1) return false;
  const atMinutes = (boundaries: readonly number[]): boolean =>
    boundaries.every((timeMs) => timeMs <= fromMs || timeMs >= toMs || timeMs % MINUTE_MS === 0);
  return (
    groupBys.every((groupBy) => groupBy.type === 'time' && atMinutes(groupBy.boundaries)) &&
    computes.every(
      (compute) =>
        compute.metric.type === 'core' &&
        (compute.type === 'metric' || atMinutes(compute.boundaries)),
    )
  );
}

/** Counts the events between neighbouring cuts: the ends of the range, and the boundaries inside it. */
class Counting {
  readonly stats: QueryStats;
  readonly #rows: RowCounts;
  readonly #cuts: Float64Array;
  readonly #tiedCount: number;
  /** Events before each cut. */
  readonly #before: Float64Array;

  constructor(source: BlockSource, snapshot: Snapshot, query: FlooredQuery) {
    this.stats = noStats(snapshot.blocks.length);
    this.#cuts = cutsOf(query);
    const blocks = query.fromMs < query.toMs ? snapshot.blocks : [];
    this.#rows = new RowCounts(source, blocks, this.#cuts);
    this.#tiedCount = query.floor?.tiedCount ?? 0;
    this.#before = new Float64Array(this.#cuts.length);
  }

  /** Counts all blocks. */
  *run(): Generator<Progress, void> {
    const rows = this.#rows;
    yield* rows.run();
    this.stats.blocksOpened = rows.blocksOpened;
    this.stats.rowsScanned = rows.rowsScanned;
    this.stats.blocksDamaged = rows.damaged.length;
    // Rows that the floor leaves out are at its time, the very beginning of the range.
    let before = -this.#tiedCount;
    for (let step = 1; step < this.#before.length; step++) {
      before += rows.counts[step - 1];
      this.#before[step] = before;
    }
  }

  /** Events of the range with `fromMs <= date < toMs`; both are cuts, or lie outside of the range. Only after `run`. */
  between(fromMs: number, toMs: number): number {
    return Math.max(this.#beforeTime(toMs) - this.#beforeTime(fromMs), 0);
  }

  #beforeTime(timeMs: number): number {
    const last = this.#cuts.length - 1;
    return this.#before[Math.min(firstAt(this.#cuts, timeMs), last)];
  }
}

/** The ends of the range and all boundaries inside it, ascending and distinct. */
function cutsOf({ fromMs, toMs, computes, groupBys }: AggregateQuery): Float64Array {
  const cuts = new Set([fromMs, toMs]);
  const add = (boundaries: readonly number[]): void => {
    for (const timeMs of boundaries) if (timeMs > fromMs && timeMs < toMs) cuts.add(timeMs);
  };
  for (const groupBy of groupBys) if (groupBy.type === 'time') add(groupBy.boundaries);
  for (const compute of computes) if (compute.type === 'timeseries') add(compute.boundaries);
  return Float64Array.from(cuts).sort();
}

/** The answer: one bucket, or those of the steps of time that have events, and their total. */
function bucketsOf(counting: Counting, query: AggregateQuery): AggregateBucket[] {
  const { fromMs, toMs, groupBys, afterBucket, computes } = query;
  const cellCount = computes.reduce(
    (sum, compute) => sum + (compute.type === 'metric' ? 1 : stepsOf(compute.boundaries)),
    0,
  );
  const [groupBy] = groupBys;
  if (groupBy?.type !== 'time') {
    checkCells(cellCount);
    return [bucketOf(counting, query, [], fromMs, toMs)];
  }
  const { boundaries, total } = groupBy;
  const afterMs = afterBucket?.type === 'time' ? afterBucket.timeMs : Number.NEGATIVE_INFINITY;
  const steps: number[] = [];
  for (let step = 0; step < stepsOf(boundaries); step++) {
    if (boundaries[step] <= afterMs) continue;
    if (counting.between(boundaries[step], boundaries[step + 1]) > 0) steps.push(step);
  }
  checkCells((steps.length + (total ? 1 : 0)) * cellCount);
  const buckets = steps.map((step) => {
    const timeMs = boundaries[step];
    return bucketOf(counting, query, [{ type: 'time', timeMs }], timeMs, boundaries[step + 1]);
  });
  if (total) buckets.push(bucketOf(counting, query, [{ type: 'total' }], fromMs, toMs));
  return buckets;
}

function stepsOf(boundaries: readonly number[]): number {
  return Math.max(boundaries.length - 1, 0);
}

/** The bucket of the events with `fromMs <= date < toMs`. */
function bucketOf(
  counting: Counting,
  { computes }: AggregateQuery,
  keys: BucketKey[],
  fromMs: number,
  toMs: number,
): AggregateBucket {
  const values = computes.map((compute) => {
    if (compute.type === 'metric') return counting.between(fromMs, toMs);
    const { boundaries } = compute;
    const series: number[] = [];
    for (let step = 0; step < stepsOf(boundaries); step++) {
      const startMs = Math.max(boundaries[step], fromMs);
      series.push(counting.between(startMs, Math.min(boundaries[step + 1], toMs)));
    }
    return series;
  });
  return { keys, values };
}
