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

/** The value that a list column shows: of an attribute path, or the number 1 for the event count. */
export type ListColumn = { type: 'attribute'; path: string } | { type: 'count' };

/** A page of events. */
export interface ListQuery extends Selection {
  order: 'asc' | 'desc';
  limit: number;
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

/** What is computed over the selected events: how many there are, or an aggregation of a path. */
export type Metric =
  | { type: 'core' }
  | { type: 'attribute'; path: string; aggregation: Aggregation };

/** Metrics over the selected events. */
export interface AggregateQuery extends Selection {
  metrics: Metric[];
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

/** One value a metric, in their order; `null` where there is nothing to compute it from. */
export interface AggregateResult {
  values: (number | null)[];
  stats: QueryStats;
}
