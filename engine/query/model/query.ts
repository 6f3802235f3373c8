import type { BlockRef } from '../../segment/frame.ts';
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
  /**
   * Only so many events of the range, the newest visible ones, are reached, whatever `predicate` says of them; 1 or
   * more.
   */
  boundCount?: number;
  /** For which visible events hold: those that `boundCount` counts; all when it is left out. `predicate` implies it. */
  visible?: Predicate;
}

/** That a range has more events than are reached. */
export interface Bound {
  /** Events that are reached, the newest visible ones of the range. */
  limit: number;
  /** The date of the oldest of them. */
  oldestMs: number;
  /** Its id, with which other queries reach as far. */
  oldestId: string;
}

/**
 * The value that a list column shows: of an attribute path, the number 1 for the event count, the id of the event's
 * tag, or a formula over the event's values, in which each metric of an attribute is the event's number.
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
  /** True when all selected events are counted. */
  total?: boolean;
  /**
   * Path whose values the events are in the natural order of; equal ones are in the order of events, those without a
   * value are last. Of an array's elements the one counts that comes first in the order.
   */
  orderBy?: string;
  /** Event id; the page holds what comes strictly after it in the order. */
  after?: string;
  /** True when the whole event is wanted. */
  event: boolean;
  columns: ListColumn[];
}

/** A page of a list of any length, which ends early when it takes too much. */
export interface PageQuery extends ListQuery {
  /** Characters of its events, about, at which it ends. */
  textMax: number;
  /** Blocks that it opens before it ends. */
  blocksMax: number;
  /**
   * That of the `bound` of an earlier page, to reach as far as that did, whatever has come since; instead of
   * `boundCount`, and without `visible`.
   */
  oldestId?: string;
}

/** The events before and after one, in the order of all events. */
export interface ContextQuery {
  id: string;
  /** Most events before it, and after it. */
  before: number;
  after: number;
  /** For which the event itself must hold, else it is as one that does not exist. */
  visible: Predicate;
  /** For which those around it hold. */
  predicate: Predicate;
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

/**
 * A value of a metric: a number, as its text where no double prints it, or `null` where there is nothing to compute it
 * from.
 */
export type MetricValue = number | string | null;

/** A computation over events. */
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
 * numbers and numeric strings, other strings by code points, false, true; tags as their tagset has them.
 */
export interface BucketOrder {
  by: Metric | { type: 'natural' };
  direction: 'asc' | 'desc';
}

/**
 * A level of buckets: one for each distinct value of an attribute, for each tag of a tagset, or for each step of time
 * that has events. `total` adds one over all events of the enclosing bucket, as the last one. Without `limit` all are
 * kept.
 */
export type GroupBy =
  | { type: 'field'; path: string; limit: number; order: BucketOrder; total: boolean }
  | { type: 'tagset'; tags: TagRule[]; limit?: number; order: BucketOrder; total: boolean }
  | { type: 'time'; boundaries: Boundaries; total: boolean };

/**
 * Key of a bucket: a value (the text of a number is its shortest), a tag's id, a step's first instant, or the
 * total.
 */
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

/** Which attributes the selected events have, those that most of them have first. */
export interface AttributesQuery extends Selection {
  /** Paths to look at; all when they are left out. */
  paths?: readonly string[];
  /** Text that the paths begin with. */
  prefix?: string;
  limit: number;
  /** Values of each to tell, those of the most events first; left out: nothing is asked about values. */
  values?: number;
}

/** Kind of an attribute's values. A date is a text of a known form. */
export type AttributeKind = 'string' | 'number' | 'boolean' | 'date' | 'array';

/** A value of an attribute, or of an element of arrays there, and the events that have it. */
export interface AttributeValue {
  key: BucketKey;
  eventCount: number;
}

/** Least and greatest of an attribute's numbers, or of its dates when it has no number. */
export type AttributeBounds =
  | { type: 'number'; min: number | string; max: number | string }
  | { type: 'date'; minMs: number; maxMs: number };

/** An attribute of the selected events. What is about values is there when it was asked for. */
export interface AttributeFacts {
  path: string;
  /** Events in which something that is not null is there, an empty array too. */
  eventCount: number;
  kinds: AttributeKind[];
  distinctCount?: number;
  /** `null`: there are too many to count them. */
  values?: AttributeValue[] | null;
  bounds?: AttributeBounds;
}

/** Attributes in their order. */
export interface AttributesResult {
  attributes: AttributeFacts[];
  stats: QueryStats;
}

/** The most frequent values of some attributes of the selected events. */
export interface FacetsQuery extends Selection {
  /** Paths, each once. */
  paths: readonly string[];
  /** Values of each. */
  limit: number;
}

/** The values of an attribute, those of the most events first; equals are in natural order. */
export interface Facet {
  path: string;
  values: AttributeValue[];
  /** True when there are others. */
  more: boolean;
}

/** Facets in the order of the paths. */
export interface FacetsResult {
  facets: Facet[];
  stats: QueryStats;
  /** Left out when all events of the range are reached. */
  bound?: Bound;
}

/** Work of a query, for `explain` and for benchmarks, and what it could not read. */
export interface QueryStats {
  blocksTotal: number;
  blocksOpened: number;
  /** Blocks that were not opened because words of their segments rule them out. */
  blocksRefuted: number;
  /** Blocks that were not opened because words or a dictionary of their segments have the count that was asked for. */
  blocksCounted: number;
  rowsScanned: number;
  /** Blocks that could not be read because their checksum is wrong; the answer is partial when it is not 0. */
  blocksDamaged: number;
  /** Set when the thread has a kernel for packed values, which are counted plainly otherwise. */
  kernel?: boolean;
}

/** A page of events, newest first unless asked otherwise. */
export interface ListResult {
  events: ListedEvent[];
  stats: QueryStats;
  /** Selected events that are reached, when they were to be counted. */
  total?: number;
  /** Left out when all events of the range are reached. */
  bound?: Bound;
}

/** Events of a page, maybe none. */
export interface PageResult extends ListResult {
  /** Id after which the next page begins; left out when nothing is left. */
  resume?: string;
  /** Names of the blocks that could not be read; a block has the same one on all pages. */
  damaged: string[];
}

/** An event and those around it, all of them oldest first. */
export interface ContextResult {
  before: ListedEvent[];
  event: ListedEvent;
  after: ListedEvent[];
  stats: QueryStats;
}

/** A bucket of the innermost level. */
export interface AggregateBucket {
  /** One a level, from the outermost. */
  keys: BucketKey[];
  /** One a compute, or one for each step of time. */
  values: (MetricValue | MetricValue[])[];
}

/**
 * A way that an aggregation went, for `explain`: by the minutes in footers, a cube that counts levels together, a trial
 * pass, entries of dictionaries, a sketch and passes over its candidates, passes over all values, or the pass that
 * computes the values of buckets that were found.
 */
export interface AggregateWay {
  way: 'minutes' | 'cube' | 'trial' | 'entries' | 'sketch' | 'passes' | 'values';
  /** Of how many first levels it finds the buckets. */
  levels: number;
  /** True when it took too much, so that another way was gone. */
  full?: true;
}

/** Buckets in their order; without levels there is one, even of no events. */
export interface AggregateResult {
  buckets: AggregateBucket[];
  /** True when the first level has buckets beyond its limit. */
  more: boolean;
  /** When there are more, the last one that was looked into: perhaps without a bucket of the next level in it. */
  last?: BucketKey;
  stats: QueryStats;
  /** The ways in their order. */
  ways?: AggregateWay[];
  /** Left out when all events of the range are reached. */
  bound?: Bound;
}

/** How many rows of all that is stored have their sequences between each cut and the next one. */
export interface RowCountsQuery {
  /** Ascending, two at least. */
  cuts: readonly number[];
}

/** Rows by their sequences: a count for each cut but the last. */
export interface RowCountsResult {
  counts: number[];
  stats: QueryStats;
}

/** Bytes that the attributes of all that is stored take on the disk. */
export interface DiskBytesResult {
  /** By path, the one that takes most first. */
  attributes: { path: string; bytes: number }[];
  /** Bytes of all blocks, dictionaries and words; what no attribute has are dates, keys, shapes and facts. */
  bytes: number;
  stats: QueryStats;
}

/** The selected events of rows with `from <= sequence < to`, in the order in which they came. */
export interface TailQuery {
  from: number;
  to: number;
  /** Rows that were received before are left out, and not counted. */
  receivedFromMs: number;
  predicate: Predicate;
  /** Only the last so many are shown; those before them are counted. */
  limit: number;
  /** One answer has the first so many of these, and ends with the one that brings their texts to `charactersMax`. */
  eventsMax: number;
  charactersMax: number;
  /** True when the whole event is wanted. */
  event: boolean;
  columns: ListColumn[];
}

/** An event of a tail. They come in the order of their sequences. */
export interface TailedEvent extends ListedEvent {
  sequence: number;
}

/** The part of a tail's events that an answer has. */
export interface TailResult {
  events: TailedEvent[];
  /** Selected events that are not shown, and come before those that are. */
  droppedCount: number;
  /** Where the next answer goes on; `to` when this one has all. */
  position: number;
  isWhole: boolean;
}
