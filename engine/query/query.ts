import type { BlockRef } from '../segment/frame.ts';
import type { Predicate } from './predicate.ts';

/** The committed blocks that one query reads: plain data that crosses threads. */
export interface Snapshot {
  blocks: readonly BlockRef[];
}

/** Events with `fromMs <= date < toMs` for which `predicate` holds. */
export interface Selection {
  fromMs: number;
  toMs: number;
  predicate: Predicate;
}

/**
 * The value that a list column shows: of an attribute path, the number 1 for the event count, the id of the event's tag,
 * or a formula over the event's values, in which each metric of an attribute is the event's number.
 */
export type ListColumn =
  | { type: 'attribute'; path: string }
  | { type: 'count' }
  | { type: 'tag'; tags: readonly TagRule[] }
  | { type: 'formula'; expression: MetricExpression };

/** A page of events. */
export interface ListQuery extends Selection {
  order: 'asc' | 'desc';
  limit: number;
  /** Events before the page that are left out. */
  skip?: number;
  /** Event id; the page holds what comes strictly after it in the order. */
  after?: string;
  /** Whether the whole event is wanted. */
  event: boolean;
  columns: ListColumn[];
}

/** One event by its id; an id that is hidden by the predicate is as one that does not exist. */
export interface FetchQuery {
  id: string;
  predicate: Predicate;
  event: boolean;
  columns: ListColumn[];
}

/** An event of a reply. */
export interface ListedEvent {
  id: string;
  timeMs: number;
  receivedMs: number;
  /** JSON text of `{custom, syslog, message}`, when it was asked for. */
  event?: string;
  /** JSON texts of the asked columns, in their order. */
  columns: string[];
}

/** Aggregations of an attribute's numeric values. `count` and `cardinality` take values of all kinds. */
export type Aggregation =
  | 'count'
  | 'cardinality'
  | 'sum'
  | 'min'
  | 'max'
  | 'avg'
  | 'median'
  | 'pc75'
  | 'pc90'
  | 'pc95'
  | 'pc98'
  | 'pc99';

/** How many events there are, or an aggregation of a path. */
export type SimpleMetric =
  | { type: 'core' }
  | { type: 'attribute'; path: string; aggregation: Aggregation };

/** Arithmetic over metrics. It is null where a part is, where the divisor is 0, and beyond all doubles. */
export type MetricExpression =
  | { type: 'number'; value: number }
  | { type: 'metric'; metric: SimpleMetric }
  | {
      type: 'operation';
      operator: '+' | '-' | '*' | '/';
      left: MetricExpression;
      right: MetricExpression;
    };

/** What is computed over events. */
export type Metric = SimpleMetric | { type: 'formula'; expression: MetricExpression };

/**
 * Steps of time: step i is `boundaries[i] <= date < boundaries[i + 1]`. Ascending epoch milliseconds; the first is not
 * after the query's `fromMs`, the last not before its `toMs`.
 */
export type Boundaries = readonly number[];

/** A metric of each bucket, or of each step of time in it. */
export type Compute =
  | { type: 'metric'; metric: Metric }
  | { type: 'timeseries'; metric: Metric; boundaries: Boundaries };

/** Tags in their order: an event has the first one whose predicate holds for it. */
export interface TagRule {
  id: string;
  predicate: Predicate;
}

/**
 * Order of the buckets of a level. Equals are in natural order, ascending; buckets without a value come last. Natural:
 * numbers, strings by code points, false, true; tags as their tagset has them.
 */
export interface BucketOrder {
  by: Metric | { type: 'natural' };
  direction: 'asc' | 'desc';
}

/**
 * A level of buckets: one for each distinct value of an attribute, for each tag of a tagset, or for each step of time that
 * has events. `total` adds one over all events of the enclosing bucket, as the last one. Without `limit` all are kept.
 */
export type GroupBy =
  | { type: 'field'; path: string; limit: number; order: BucketOrder; total: boolean }
  | { type: 'tagset'; tags: TagRule[]; limit?: number; order: BucketOrder; total: boolean }
  | { type: 'time'; boundaries: Boundaries; total: boolean };

/** What a bucket is of: a value (the text of a number is its shortest), a tag's id, a step's first instant, or the total. */
export type BucketKey =
  | { type: 'number' | 'string'; text: string }
  | { type: 'boolean'; value: boolean }
  | { type: 'tag'; id: string }
  | { type: 'time'; timeMs: number }
  | { type: 'total' };

/** Metrics over the selected events, in buckets that nest in the order of `groupBys`. */
export interface AggregateQuery extends Selection {
  computes: Compute[];
  /** At most 3. */
  groupBys: GroupBy[];
  /** The buckets of the first level come strictly after this one, in its natural order or time. */
  afterBucket?: BucketKey;
}

/** What a query did, for `explain` and for benchmarks, and what it could not read. */
export interface QueryStats {
  blocksTotal: number;
  blocksOpened: number;
  rowsScanned: number;
  /** Blocks that could not be read because their checksum is wrong; the answer is partial when it is not 0. */
  blocksDamaged: number;
}

/** A page of events, newest first unless asked otherwise. */
export interface ListResult {
  events: ListedEvent[];
  stats: QueryStats;
}

/** A bucket of the innermost level. */
export interface AggregateBucket {
  /** One a level, from the outermost. */
  keys: BucketKey[];
  /** One a compute: a number, one for each step of time, `null` where there is nothing to compute it from. */
  values: (number | null | (number | null)[])[];
}

/** Buckets in their order; without levels there is one, even of no events. */
export interface AggregateResult {
  buckets: AggregateBucket[];
  /** Whether the first level has buckets beyond its limit. */
  more: boolean;
  stats: QueryStats;
}
