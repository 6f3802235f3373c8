import { EngineError } from '../../base/errors.ts';
import type { Units } from '../../base/pause.ts';
import { entrySeed } from '../../column/entries.ts';
import { isLightMetric } from '../metric/metric-table.ts';
import type { AggregateLimits } from '../model/aggregate-limits.ts';
import type { AggregateQuery, AggregateWay, BucketKey, GroupBy, Metric } from '../model/query.ts';
import type { BlockSource, Progress } from '../model/source.ts';
import { telling } from '../model/units.ts';
import type { ValuePart } from '../value/value-part.ts';
import { ValueTable } from '../value/value-table.ts';
import type { BlockScan } from './block-scan.ts';
import { FieldLevel, type Level, TagLevel, TimeLevel } from './level.ts';
import type { Stage } from './stages.ts';

/** Parts into which the groups are cut when they do not fit, at most. */
export const SHARES_MAX = 64;
/** Bytes of a group with its value, a little more than most take, and those for each metric that takes much. */
const GROUP_BYTES = 115;
const HEAVY_BYTES = 90;
/** Groups of a whole scan are that many times what those of its begun part let expect. */
const GROWTH_EXPECTED = 1.25;

/** State that the steps of an aggregation work on. */
export class Aggregation {
  readonly source: BlockSource;
  readonly query: AggregateQuery;
  readonly limits: AggregateLimits;
  readonly scan: BlockScan;
  stages: Stage[] = [];
  /** The ways that it went, for `explain`. */
  ways: AggregateWay[] = [];
  /** Of the tables of values. */
  readonly seed: number;

  constructor(
    source: BlockSource,
    query: AggregateQuery,
    limits: AggregateLimits,
    scan: BlockScan,
  ) {
    this.source = source;
    this.query = query;
    this.limits = limits;
    this.scan = scan;
    this.seed = entrySeed(source.secret);
  }

  /** Does units of work that are not of a scan. */
  tell<T>(units: Units<T>): Generator<Progress, T> {
    return telling(() => this.scan.progress, units);
  }

  /** Notes a way that it went to find the first `levels` levels, and whether it was full. */
  went(way: AggregateWay['way'], levels: number, isFull = false): void {
    this.ways.push({ way, levels, ...(isFull ? { full: true } : {}) });
  }

  /** Makes an empty level; after a bucket only the steps of time behind it are in it. */
  levelOf(groupBy: GroupBy, after?: BucketKey): Level {
    if (groupBy.type === 'field') return this.fieldLevel(groupBy.path);
    if (groupBy.type === 'tagset') return new TagLevel(groupBy.tags);
    const afterMs = after?.type === 'time' ? after.timeMs : undefined;
    return new TimeLevel(this.source, groupBy.boundaries, afterMs);
  }

  /** Makes an empty level of an attribute. */
  fieldLevel(path: string, part?: ValuePart, smallOnly = false): FieldLevel {
    return new FieldLevel(path, new ValueTable(this.seed, part), smallOnly);
  }

  /** How many shares of the values at `path` to begin with, so that each is likely to take `bytesMax`. */
  *firstShares(
    path: string,
    metrics: readonly Metric[],
    bytesMax: number,
  ): Generator<Progress, number> {
    const { numbers } = this.fieldLevel(path);
    const values = yield* this.tell(this.scan.wholeEntries(path, numbers));
    const heavyCount = metrics.filter((metric) => !isLightMetric(metric)).length;
    const bytes = values * (GROUP_BYTES + heavyCount * HEAVY_BYTES);
    return Math.min(Math.max(Math.ceil(bytes / bytesMax), 1), SHARES_MAX);
  }

  /** How many shares to try next. Throws MEMORY when there are too many. */
  moreShares(shares: number): number {
    const needed = Math.max(shares * 2, Math.ceil((shares / this.scan.scanned) * GROWTH_EXPECTED));
    const next = shares < SHARES_MAX ? Math.min(needed, SHARES_MAX) : needed;
    if (next <= SHARES_MAX) return next;
    throw new EngineError(
      'MEMORY',
      `its groups take more than ${SHARES_MAX} times ${this.limits.memoryBytesMax} bytes; allowed: fewer distinct ` +
        'values, fewer computes or a shorter time',
    );
  }
}
