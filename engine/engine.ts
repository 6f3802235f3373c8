import type { Disk } from './base/file.ts';
import type { PathTable } from './column/path.ts';
import type { Rows } from './column/rows.ts';
import { contextUnits } from './query/events/context.ts';
import { fetchUnits } from './query/events/fetch.ts';
import { joinUnits } from './query/events/join-scan.ts';
import { listUnits, pageUnits } from './query/events/list.ts';
import { tailUnits } from './query/events/tail-scan.ts';
import { aggregateUnits } from './query/group/aggregate.ts';
import { attributesUnits } from './query/group/attributes.ts';
import { facetsUnits } from './query/group/facets.ts';
import type { JoinedPart, Joining, SharedScan, Sharing } from './query/group/shared-scan.ts';
import { aggregateLimits } from './query/model/budget.ts';
import type {
  AggregateQuery,
  AggregateResult,
  AttributesQuery,
  AttributesResult,
  ContextQuery,
  ContextResult,
  DiskBytesResult,
  FacetsQuery,
  FacetsResult,
  FetchQuery,
  ListedEvent,
  ListQuery,
  ListResult,
  PageQuery,
  PageResult,
  RowCountsQuery,
  RowCountsResult,
  Snapshot,
  TailQuery,
  TailResult,
} from './query/model/query.ts';
import type { Progress } from './query/model/source.ts';
import { Reader, type ReaderMemory } from './query/reader.ts';
import { diskBytesUnits } from './query/scan/disk-bytes.ts';
import { rowCountsUnits } from './query/scan/stored-rows.ts';
import { eventTextsOf } from './segment/block/event-texts.ts';
import { LiveBlocks } from './store/block-changes.ts';
import type { CommittedGroup as StoreGroup } from './store/log-file.ts';
import { GatheredRows } from './store/open-block.ts';
import { Writer, type WriterOptions } from './store/writer.ts';

/** Scans in which several threads join. Plain data that crosses threads, but for `Sharing`. */
export type { JoinedPart, Joining, SharedScan, Sharing } from './query/group/shared-scan.ts';
/** Queries and their results, as the server writes and reads them. */
export type {
  AggregateBucket,
  AggregateQuery,
  AggregateResult,
  Aggregation,
  AttributeFacts,
  AttributesQuery,
  AttributesResult,
  Bound,
  Boundaries,
  BucketKey,
  BucketOrder,
  Compute,
  ContextQuery,
  ContextResult,
  DiskBytesResult,
  Facet,
  FacetsQuery,
  FacetsResult,
  FetchQuery,
  GroupBy,
  ListColumn,
  ListedEvent,
  ListQuery,
  ListResult,
  Metric,
  MetricExpression,
  MetricValue,
  PageQuery,
  PageResult,
  QueryStats,
  RowCountsQuery,
  RowCountsResult,
  Selection,
  SimpleMetric,
  Snapshot,
  TagRule,
  TailedEvent,
  TailQuery,
  TailResult,
} from './query/model/query.ts';
/** Result of sealing and merging. Plain data that crosses threads. */
export type { SealResult } from './segment/seal/seal.ts';
/** The committed blocks of a moment, for a thread that is told what changes. */
export type { BlockChanges, LiveBlocks } from './store/block-changes.ts';
/** Order to seal or merge. Plain data that crosses threads. */
export type { MergeJob } from './store/compaction.ts';
/** Rows that come piece by piece, for a writer's `appendGathered`. */
export type { GatheredRows } from './store/open-block.ts';
/** The sequences that a commit group takes. Plain data that crosses threads. */
export type { Claim } from './store/sequences.ts';

/** Usage of a write key on one day. */
export type { KeyUsage } from './store/usage.ts';

/** A group that a writer made durable, as the catalog takes it. Plain data that crosses threads. */
export type CommittedGroup = StoreGroup;

/** An ingest thread's view of its writer, which makes row records durable in commit groups. */
export type RowWriter = Pick<
  Writer,
  | 'append'
  | 'appendGathered'
  | 'told'
  | 'isIdle'
  | 'tick'
  | 'replacePaths'
  | 'close'
  | 'pendingBytes'
>;

/** Opens the writer of one ingest thread. It takes its first segment with the first rows. */
export function openWriter(options: WriterOptions): RowWriter {
  return new Writer(options);
}

/** Begins rows that come piece by piece, for `appendGathered`; their paths are numbers of `paths`. */
export function gatherRows(paths: PathTable): GatheredRows {
  return new GatheredRows(paths);
}

/** A query thread's view of the engine: queries in units of a few milliseconds, between which they may be stopped. */
export interface UnitReader {
  /** Lists events; with `sharing` other threads may join in the scans. */
  list(
    snapshot: Snapshot,
    query: ListQuery,
    sharing?: Sharing,
  ): Generator<Progress, ListResult, void>;
  page(snapshot: Snapshot, query: PageQuery): Generator<Progress, PageResult, void>;
  context(
    snapshot: Snapshot,
    query: ContextQuery,
  ): Generator<Progress, ContextResult | undefined, void>;
  fetch(snapshot: Snapshot, query: FetchQuery): Generator<Progress, ListedEvent | undefined, void>;
  /** Aggregates events; with `sharing` other threads may join in the scans. */
  aggregate(
    snapshot: Snapshot,
    query: AggregateQuery,
    sharing?: Sharing,
  ): Generator<Progress, AggregateResult, void>;
  /** Does a part of a scan that another thread has offered. */
  join(scan: SharedScan, joining: Joining): Generator<undefined, JoinedPart, void>;
  /** Over the blocks of `snapshot` alone, which are those that may have rows between the positions. */
  tail(snapshot: Snapshot, query: TailQuery): Generator<Progress, TailResult, void>;
  attributes(
    snapshot: Snapshot,
    query: AttributesQuery,
  ): Generator<Progress, AttributesResult, void>;
  facets(snapshot: Snapshot, query: FacetsQuery): Generator<Progress, FacetsResult, void>;
  rowCounts(snapshot: Snapshot, query: RowCountsQuery): Generator<Progress, RowCountsResult, void>;
  diskBytes(snapshot: Snapshot): Generator<Progress, DiskBytesResult, void>;
  /** Lets go of the files and blocks of segments that are gone; no query that runs reads them. */
  forget(segments: readonly number[]): void;
  close(): void;
}

/**
 * Opens the reader of one query thread. `secret` is the manifest's. Its units throw EngineError, MEMORY among them.
 */
export function openReader(disk: Disk, secret: Uint8Array, memory?: ReaderMemory): UnitReader {
  const reader = new Reader(disk, secret, memory);
  return {
    list: (snapshot, query, sharing) => listUnits(reader, snapshot, query, sharing),
    page: (snapshot, query) => pageUnits(reader, snapshot, query),
    context: (snapshot, query) => contextUnits(reader, snapshot, query),
    fetch: (snapshot, query) => fetchUnits(reader, snapshot, query),
    aggregate: (snapshot, query, sharing) =>
      aggregateUnits(reader, snapshot, query, aggregateLimits(reader), sharing),
    join: (scan, joining) => joinUnits(reader, scan, joining),
    tail: (snapshot, query) => tailUnits(reader, snapshot, query),
    attributes: (snapshot, query) => attributesUnits(reader, snapshot, query),
    facets: (snapshot, query) => facetsUnits(reader, snapshot, query),
    rowCounts: (snapshot, query) => rowCountsUnits(reader, snapshot, query),
    diskBytes: (snapshot) => diskBytesUnits(reader, snapshot),
    forget: (segments) => reader.forget(segments),
    close: () => reader.close(),
  };
}

/** The committed blocks of a query thread, none at first. */
export function openLiveBlocks(): LiveBlocks {
  return new LiveBlocks();
}

/** JSON texts of the events of row records as a fetch would show them; see `eventTextsOf`. Stores nothing. */
export function previewEvents(rows: Rows, paths: PathTable): string[] {
  return eventTextsOf(rows, paths);
}
