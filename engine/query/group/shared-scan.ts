import type { BlockRef } from '../../segment/frame.ts';
import type { Bounds } from '../metric/entry-bounds.ts';
import type { PartedOrder } from '../metric/group-keys.ts';
import type { MetricTableData } from '../metric/metric-table.ts';
import type { RankBound } from '../metric/rank-bound.ts';
import type { EventKey } from '../model/event-id.ts';
import type { Predicate } from '../model/predicate.ts';
import type {
  Boundaries,
  BucketKey,
  GroupBy,
  ListColumn,
  ListedEvent,
  Metric,
  MetricValue,
  TagRule,
} from '../model/query.ts';
import type { Reach } from '../model/source.ts';
import type { HashCountsData } from '../value/hash-counts.ts';
import type { LeastTextsData } from '../value/least-texts.ts';
import type { TupleTableData } from '../value/tuple-table.ts';
import type { HeadsSpec } from '../value/value-part.ts';
import type { ValueTableData } from '../value/value-table.ts';

/**
 * Of what a level is made. `values`: those that it may have, when there will be no others; `part`: of which it may have
 * some.
 */
export type LevelSpec =
  | { type: 'time'; boundaries: Boundaries; afterMs: number }
  | { type: 'tagset'; tags: readonly TagRule[] }
  | {
      type: 'field';
      path: string;
      seed: number;
      smallOnly: boolean;
      values?: ValueTableData;
      part?: HeadsSpec;
    };

/** Of what a level of buckets is made, with the buckets that it has. */
export interface StageSpec {
  level: LevelSpec;
  tuples: TupleTableData;
  grows: boolean;
  total: boolean;
}

/** Of what a table of metrics is made. */
export interface TableSpec {
  metrics: readonly Metric[];
  steps?: LevelSpec;
}

/** The parts of its events that a reply shows. */
export interface EventView {
  /** True when the whole event is wanted. */
  event: boolean;
  columns: readonly ListColumn[];
}

/**
 * Rows of a page that are looked for: the first `rowsMax` ones after `after`. `found`: by place of a block, how many
 * selected rows were found in it, and last how many in all; it stays shared. `view`: of events that are rebuilt as
 * they are found.
 */
export interface PageSpec {
  type: 'page';
  order: 'asc' | 'desc';
  rowsMax: number;
  after: EventKey | undefined;
  found: Int32Array<SharedArrayBuffer>;
  /** True when a page is reckoned to take so many rows that each thread searches segments of its own. */
  bySegment: boolean;
  view: EventView | undefined;
}

/** Rows whose events are rebuilt, in chunks that the cells have in place of blocks. */
export interface EventsSpec extends EventView {
  type: 'events';
  rows: readonly number[][];
}

/** Strings that one event may have, of which the first `countMax` are looked for. */
export interface LeastSpec {
  type: 'least';
  path: string;
  countMax: number;
}

/**
 * Values of an attribute, of whose events `metrics` are computed. `headsMax`: how many of each dictionary are told, the
 * first ones in `order`.
 */
export interface MeasuresSpec {
  type: 'measures';
  path: string;
  seed: number;
  metrics: readonly Metric[];
  order: PartedOrder;
  headsMax: number;
  /** Of which values all are told instead, and no others; one of the metrics counts events then. */
  part?: HeadsSpec;
  memoryBytesMax: number;
}

/** A value that events are ordered by, made ready to be compared. */
export interface OrderKey {
  /** Place of its kind: numbers, strings, false, true. */
  rank: number;
  /** Of a number the nearest double, else 0. */
  number: number;
  /** Of a number its digits, of a string the string, else empty. */
  text: string;
  /** True when it is a string, which may be a numeric one. */
  isString: boolean;
}

/** An event and the value that it is ordered by; `undefined`: it has none. */
export interface OrderedEvent extends EventKey {
  value: OrderKey | undefined;
  /** The caller's number of a block. */
  block: number;
  row: number;
}

/** Order by an attribute of which the first `rowsMax` events are looked for, after `after`. */
export interface OrderedSpec {
  type: 'ordered';
  order: 'asc' | 'desc';
  orderBy: string;
  rowsMax: number;
  after: Omit<OrderedEvent, 'block' | 'row'> | undefined;
}

/** Of what a visitor of blocks is made. Plain data that crosses threads. */
export type VisitorSpec =
  | { type: 'cube'; levels: LevelSpec[]; cellsMax: number; memoryBytesMax: number }
  | { type: 'entries'; stages: StageSpec[]; path: string; seed: number; memoryBytesMax: number }
  | {
      type: 'pass';
      stages: StageSpec[];
      tables: TableSpec[];
      final: boolean;
      memoryBytesMax: number;
    }
  | { type: 'sketch'; stages: StageSpec[]; path: string; seed: number; bound: RankBound }
  | LeastSpec
  | MeasuresSpec
  | OrderedSpec
  | { type: 'total' };

/**
 * A level whose values are looked for in `count` shares, as the cells have it in place of blocks: of each a scan of all
 * blocks. So many `others` may take some. `memoryBytesMax`: memory of a share.
 */
export interface SharesSpec {
  type: 'shares';
  stages: StageSpec[];
  groupBy: Extract<GroupBy, { type: 'field' }>;
  place: number;
  metrics: readonly Metric[];
  after: BucketKey | undefined;
  seed: number;
  count: number;
  others: number;
  memoryBytesMax: number;
}

/** A bucket that may be among the first of its parent. */
export interface Candidate {
  /** Its value in its level. */
  value: number;
  /** Value that it is ordered by; `undefined` in natural order, `null` where there is nothing to compute it from. */
  rank: MetricValue | undefined;
  /** The metrics that were computed, in the order in which they were asked for. */
  values: MetricValue[];
}

/** A bucket of a level: its value is one of those that are found with it. */
export interface SharedBucket extends Candidate {
  parent: number;
}

/** Parts of a level of buckets that grow. */
export interface StageData {
  values: ValueTableData | undefined;
  tuples: TupleTableData;
}

/** Counts of a dictionary's first `end` entries as plain data; `ref` is a block with a column over it. */
export interface DictionaryData {
  ref: BlockRef;
  end: number;
  wide: Uint32Array;
  narrow: Uint8Array<ArrayBuffer>;
}

/**
 * Entries of a dictionary, those with the greatest keys in an order, with their hashes and what was computed of some
 * events. Plain data that crosses threads; `ref` is a block with a column over it.
 */
export interface HeadData {
  ref: BlockRef;
  entries: readonly number[];
  hashes: Int32Array<ArrayBuffer>;
  keys: Float64Array<ArrayBuffer>;
  /** Group i is of `entries[i]`. */
  table: MetricTableData;
  /** The greatest key of the others; NO_KEY when none of these has one. */
  tail: number;
  /** True when all entries of events have keys. */
  isKeyed: boolean;
}

/** Rows of blocks, whose numbers are places, with their keys. */
export interface RowsData {
  times: Float64Array;
  writers: Uint8Array;
  sequences: Float64Array;
  blocks: Uint32Array;
  rows: Uint32Array;
}

/** Findings of a visitor of blocks. Plain data that crosses threads. */
export type VisitorData =
  | {
      type: 'cube';
      values: (ValueTableData | undefined)[];
      sizes: number[];
      cells: Float64Array<ArrayBuffer>;
    }
  | {
      type: 'entries';
      dictionaries: DictionaryData[];
      values: ValueTableData;
      valueCounts: Uint32Array;
      hashed: HashCountsData | undefined;
    }
  | { type: 'pass'; stages: (StageData | undefined)[]; tables: MetricTableData[] }
  | { type: 'sketch'; bounds: Bounds }
  | { type: 'least'; texts: LeastTextsData }
  | { type: 'measures'; heads: HeadData[]; rest: VisitorData }
  | {
      type: 'shares';
      values: ValueTableData | undefined;
      buckets: SharedBucket[];
      totals: [parent: number, MetricValue[]][];
    }
  | { type: 'page'; rows: RowsData; events: readonly (ListedEvent | undefined)[] }
  | { type: 'events'; events: ListedEvent[][] }
  | { type: 'ordered'; refs: BlockRef[]; events: readonly OrderedEvent[]; total: number }
  | { type: 'total'; total: number };

/** A scan in which other threads join. Plain data that crosses threads; `refs` and `cells` stay shared. */
export interface SharedScan {
  refs: Float64Array<SharedArrayBuffer>;
  cells: Int32Array<SharedArrayBuffer>;
  reach: Reach;
  predicate: Predicate;
  spec: VisitorSpec | PageSpec | EventsSpec | SharesSpec;
}

/** Who joins in a scan: a number above that of the owner, and how many others do. */
export interface Joining {
  member: number;
  count: number;
}

/**
 * Findings of one who joined. Without `data` the owner visits those blocks itself. Plain data that crosses threads.
 */
export interface JoinedPart {
  member: number;
  data?: VisitorData;
  /** Places of the blocks that were opened, ruled out by words, and found unreadable. */
  opened: number[];
  refuted: number[];
  damaged: number[];
}

/** An offer to join in a scan. */
export interface Offer {
  /** Findings of one of those who joined, each once; `undefined` while nothing came. */
  take(): JoinedPart | undefined;
  /** Nothing is awaited any more. */
  close(): void;
}

/** Means to ask other threads to join in a query's scans. */
export interface Sharing {
  /** Rows of a scan from which on it is worth it. */
  rowsMin: number;
  /** How many may join at most. */
  others: number;
  offer(scan: SharedScan): Offer;
}

const FIELDS = 11;

/** Packs refs, so that all threads read them in one place. */
export function packRefs(refs: readonly BlockRef[]): Float64Array<SharedArrayBuffer> {
  const packed = new Float64Array(new SharedArrayBuffer(refs.length * FIELDS * 8));
  for (const [place, ref] of refs.entries()) {
    const fields = [ref.sealed ? 1 : 0, ref.segment, ref.writer, ref.offset, ref.bytes];
    fields.push(ref.ordinal, ref.rowCount, ref.firstSequence, ref.endSequence);
    fields.push(ref.minTimeMs, ref.maxTimeMs);
    packed.set(fields, place * FIELDS);
  }
  return packed;
}

/** The blocks that `packRefs` was given. */
export function unpackRefs(packed: Float64Array): BlockRef[] {
  return Array.from({ length: packed.length / FIELDS }, (_, place) => {
    const at = place * FIELDS;
    return {
      sealed: packed[at] === 1,
      segment: packed[at + 1],
      writer: packed[at + 2],
      offset: packed[at + 3],
      bytes: packed[at + 4],
      ordinal: packed[at + 5],
      rowCount: packed[at + 6],
      firstSequence: packed[at + 7],
      endSequence: packed[at + 8],
      minTimeMs: packed[at + 9],
      maxTimeMs: packed[at + 10],
    };
  });
}
