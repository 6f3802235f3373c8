import type { Disk } from './base/file.ts';
import type { Rows } from './column/rows.ts';
import { aggregateUnits } from './query/aggregate.ts';
import { fetchUnits } from './query/fetch.ts';
import { listUnits } from './query/list.ts';
import type {
  AggregateQuery,
  AggregateResult,
  FetchQuery,
  ListedEvent,
  ListQuery,
  ListResult,
  Snapshot,
} from './query/query.ts';
import { Reader } from './query/reader.ts';
import { type SealOptions, type SealResult, sealBlocks } from './segment/seal.ts';
import { pathOfSegment } from './store/filename.ts';
import type { CommittedGroup as StoreGroup } from './store/log-file.ts';
import type { KeyUsage } from './store/usage.ts';
import { Writer, type WriterOptions } from './store/writer.ts';

/** Queries and their results, as the server writes and reads them. */
export type {
  AggregateBucket,
  AggregateQuery,
  AggregateResult,
  Aggregation,
  Boundaries,
  BucketKey,
  BucketOrder,
  Compute,
  FetchQuery,
  GroupBy,
  ListColumn,
  ListedEvent,
  ListQuery,
  ListResult,
  Metric,
  MetricExpression,
  QueryStats,
  Selection,
  SimpleMetric,
  Snapshot,
  TagRule,
} from './query/query.ts';

/** What comes of sealing and merging. Plain data that crosses threads. */
export type { SealResult } from './segment/seal.ts';
/** What sealing and merging are asked to do. Plain data that crosses threads. */
export type { MergeJob } from './store/upkeep.ts';

/** What a write key brought in on a day. */
export type { KeyUsage } from './store/usage.ts';

/**
 * What the server needs of a place that keeps events. The embedded engine is one; a cluster may be another.
 * It takes batches of row records, never single events.
 */
export interface Store {
  /**
   * Takes all rows or none; resolves when they are durable and the next query sees them.
   * Reads `rows` before it returns, keeps no reference. Rejects with IO or CLOSED: then none of them will appear.
   */
  append(rows: Rows, usage: readonly KeyUsage[]): Promise<void>;
  list(query: ListQuery): Promise<ListResult>;
  fetch(query: FetchQuery): Promise<ListedEvent | undefined>;
  aggregate(query: AggregateQuery): Promise<AggregateResult>;
  /** Makes everything durable and lets go of the folder. */
  close(): Promise<void>;
}

/** A group that a writer made durable, as the catalog takes it. Plain data that crosses threads. */
export type CommittedGroup = StoreGroup;

/** What an ingest thread needs of its writer: makes row records durable, in commit groups. */
export type RowWriter = Pick<Writer, 'append' | 'tick' | 'replacePaths' | 'close' | 'pendingBytes'>;

/** Opens the writer of one ingest thread. It takes its first segment with the first rows. */
export function openWriter(options: WriterOptions): RowWriter {
  return new Writer(options);
}

/** What a query thread needs of the engine: queries in units of a few milliseconds, which it may stop between. */
export interface UnitReader {
  list(snapshot: Snapshot, query: ListQuery): Generator<unknown, ListResult, void>;
  fetch(snapshot: Snapshot, query: FetchQuery): Generator<unknown, ListedEvent | undefined, void>;
  aggregate(snapshot: Snapshot, query: AggregateQuery): Generator<unknown, AggregateResult, void>;
  /** Lets go of the files and blocks of segments that are gone; no query that runs reads them. */
  forget(segments: readonly number[]): void;
  close(): void;
}

/** Opens the reader of one query thread. `secret` is the manifest's. Its units throw EngineError. */
export function openReader(disk: Disk, secret: Uint8Array): UnitReader {
  const reader = new Reader(disk, secret);
  return {
    list: (snapshot, query) => listUnits(reader, snapshot, query),
    fetch: (snapshot, query) => fetchUnits(reader, snapshot, query),
    aggregate: (snapshot, query) => aggregateUnits(reader, snapshot, query),
    forget: (segments) => reader.forget(segments),
    close: () => reader.close(),
  };
}

/** Rewrites the blocks of whole segments as sealed segments; see `sealBlocks`. For a thread of its own. */
export function rewriteBlocks(options: Omit<SealOptions, 'pathOf'>): Promise<SealResult> {
  return sealBlocks({ ...options, pathOf: pathOfSegment });
}
