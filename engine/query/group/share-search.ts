import { assert, must } from '../../base/assert.ts';
import { Pace, type Units } from '../../base/pause.ts';
import { MetricTable } from '../metric/metric-table.ts';
import { Claims } from '../model/claims.ts';
import type { BucketKey, Metric, MetricValue } from '../model/query.ts';
import type { Progress } from '../model/source.ts';
import { telling } from '../model/units.ts';
import { TupleTable } from '../value/tuple-table.ts';
import { ValueTable } from '../value/value-table.ts';
import type { BlockScan, ScanOutcome } from './block-scan.ts';
import { afterTest, comparer, FirstBuckets, limitOf } from './bucket-order.ts';
import { type SelectingGroupBy, VALUE_STEPS } from './computes.ts';
import { FieldLevel, type Level, takeValue, takeValues } from './level.ts';
import { Nesting, type PassStage, TOTAL } from './nesting.ts';
import { type GroupShare, Pass } from './pass.ts';
import type { JoinedPart, SharedBucket, SharesSpec, VisitorData } from './shared-scan.ts';
import { sharedVisits } from './shared-visits.ts';
import { partOf } from './value-sketch.ts';

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

/** No buckets yet of the level at `place`, whose values are those of `level`. */
export function noBuckets(
  groupBy: SelectingGroupBy,
  place: number,
  level: Level,
  isComputed: boolean,
): FoundBuckets {
  const first = new FirstBuckets(limitOf(groupBy, place), comparer(groupBy.order, level));
  return { level, first, totals: new Map(), isComputed };
}

/** A level whose buckets are looked for, in those of the levels before. */
export interface LevelTask {
  /** The levels before. */
  stages: readonly PassStage[];
  groupBy: SelectingGroupBy;
  place: number;
  /** Metrics that are computed together with the buckets. */
  metrics: readonly Metric[];
  /** Behind this one they begin. */
  after: BucketKey | undefined;
  secret: Uint8Array;
}

/**
 * Scans for the part of a level's buckets whose values, or numbers, are of a share, and offers them to `found`. `level`
 * takes the values of the share.
 */
export function* searchShare(
  scan: BlockScan,
  { stages, groupBy, metrics, after, secret }: LevelTask,
  share: GroupShare,
  level: Level,
  found: FoundBuckets,
  memoryBytesMax: number,
): Generator<Progress, ScanOutcome> {
  const { order } = groupBy;
  const byValue = groupBy.type === 'field';
  const tuples = new TupleTable();
  const asked = order.by.type === 'natural' ? metrics : [...metrics, order.by];
  const table = new MetricTable(asked, secret);
  const total = groupBy.total && (!byValue || share.index === 0);
  const pass = new Pass(
    [...stages, { level, tuples, grows: true, total }],
    [{ metrics: table, steps: undefined }],
    byValue ? ALL : share,
    false,
    memoryBytesMax,
  );
  const outcome = yield* scan.run(pass);
  if (outcome !== 'done') return outcome;
  if (level.isLarge === true) return 'full';

  yield* telling(() => scan.progress, table.settle());
  const isAfter = afterTest(level, after, order.direction);
  const best = new FirstBuckets(
    groupBy.limit === undefined ? undefined : groupBy.limit + 1,
    comparer(order, level),
  );
  const pace = new Pace();
  for (let tuple = 0; tuple < tuples.count; tuple++) {
    if (pace.isFull(VALUE_STEPS)) yield scan.progress;
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
      if (pace.isFull(1)) yield scan.progress;
      found.first.offer(parent, takeValue(found.level, level, value), rank, () => values);
    }
  }
  return 'done';
}

/** Found buckets as plain data; they are not to be used any more. */
export function dataOf({ level, first, totals }: FoundBuckets): VisitorData {
  const buckets: SharedBucket[] = [];
  for (const [parent, candidates] of first.entries()) {
    for (const candidate of candidates) buckets.push({ parent, ...candidate });
  }
  return { type: 'shares', values: level.data, buckets, totals: [...totals] };
}

/** Takes what another has found of other shares, in units. */
export function* takeBuckets(found: FoundBuckets, data: VisitorData | undefined): Units<void> {
  assert(data?.type === 'shares', 'buckets of shares');
  const take = yield* takeValues(found.level, data.values);
  const pace = new Pace();
  for (const { parent, value, rank, values } of data.buckets) {
    found.first.offer(parent, take(value), rank, () => values);
    if (pace.isFull(1)) yield;
  }
  for (const [parent, values] of data.totals) found.totals.set(parent, values);
}

/** The shares of the values of a level, by hashes that are seeded. */
export type Shares = Pick<SharesSpec, 'count' | 'others' | 'seed' | 'memoryBytesMax'>;

/** Searches the shares that it can claim, from the one at `first` on. */
export function* searchClaimed(
  scan: BlockScan,
  task: LevelTask,
  { count, seed, memoryBytesMax }: Shares,
  claims: Claims,
  first: number,
  found: FoundBuckets,
): Generator<Progress, ScanOutcome> {
  const { groupBy } = task;
  assert(groupBy.type === 'field', 'shares of the values of an attribute');
  for (let index = first; index >= 0; index = claims.next(index)) {
    const share = { index, count };
    const level = new FieldLevel(groupBy.path, new ValueTable(seed, partOf(share)));
    const units = searchShare(scan, task, share, level, found, memoryBytesMax);
    let step = units.next();
    for (; step.done !== true && claims.has(index); step = units.next()) yield step.value;
    if (step.done !== true) return 'full';
    if (step.value !== 'done') return step.value;
  }
  return 'done';
}

/** Claims of shares in place of blocks. */
export function shareClaims(count: number, self?: number, cells?: Claims['cells']): Claims {
  const places = Array.from({ length: count }, (_, segment) => ({ segment }));
  return new Claims(places, self, cells);
}

/**
 * Searches all shares of a level's values with other threads that take some of them: each scans all blocks for each of
 * its shares. No level before it grows.
 */
export function* searchTogether(
  scan: BlockScan,
  task: LevelTask,
  shares: Shares,
  found: FoundBuckets,
): Generator<Progress, ScanOutcome> {
  const { groupBy, stages, secret, ...about } = task;
  assert(groupBy.type === 'field', 'shares of the values of an attribute');
  const claims = shareClaims(shares.count);
  const specs = must(new Nesting(stages).specs, 'levels that do not grow');
  const offered = scan.offerShares(
    { type: 'shares', ...about, ...shares, groupBy, stages: specs },
    claims,
  );
  const take = function* (part: JoinedPart): Generator<Progress, boolean> {
    yield* telling(() => scan.progress, takeBuckets(found, part.data));
    return offered?.agrees(part) === true;
  };
  return yield* sharedVisits({
    claims,
    offer: () => offered?.offer,
    progress: () => scan.progress,
    visit: () => searchClaimed(scan, task, shares, claims, claims.next(-1), found),
    take,
  });
}
