import type { CommittedGroup } from '../../engine/engine.ts';
import type { Enrichment } from '../decode/enrichment.ts';
import type { KeyTable } from '../registry/key-table.ts';

/**
 * How a body is read. `auto` is for content types that say nothing: JSON when it begins like JSON and is valid,
 * lines otherwise. `frames`: octet-counted frames, `<bytes> <frame>`, as Heroku's log drains send them.
 * Source: decisions.md 1.3.
 */
export type BodyForm = 'json' | 'lines' | 'frames' | 'auto';

/** A write key as a request brought it. */
export interface WriteKey {
  id: string;
  /** Cell of its usage. */
  cell: number;
}

/** A whole body in a slot: `memory[start, start + bytes)`. */
export interface BodyTask {
  type: 'body';
  /** Number by which the worker's reports name it. */
  task: number;
  start: number;
  bytes: number;
  form: BodyForm;
  key: WriteKey;
  receivedMs: number;
  enrichment: Enrichment | undefined;
}

/** Whole lines in a slot, `<key> <content>` and a line feed each, of one connection or of several. */
export interface LinesTask {
  type: 'lines';
  task: number;
  start: number;
  bytes: number;
  receivedMs: number;
}

/** What an ingest worker is given to do. */
export type IngestTask = BodyTask | LinesTask;

/** A log segment that a writer may begin, and the first sequence that it may use. */
export interface SegmentGrant {
  segment: number;
  sequence: number;
}

/** What the front thread says to an ingest worker. */
export type ToIngest =
  | { type: 'tasks'; tasks: IngestTask[] }
  | { type: 'keys'; table: KeyTable }
  /** Answers to `allocate` and `closed`, in their order; `error` when the manifest could not be written. */
  | { type: 'allocated'; grant: SegmentGrant }
  | { type: 'recorded' }
  | { type: 'failed'; of: 'allocate' | 'closed'; message: string }
  /** No task comes any more: do the rest, make it durable, end. */
  | { type: 'close' };

/** What became of a task. A status other than 200 means that nothing of it was stored. */
export interface TaskOutcome {
  task: number;
  /** As of HTTP: 200 durable and in the catalog, 400, 401, 413, 429, 503. */
  status: number;
  message: string;
  events: number;
  /** Lines without a valid key, or whose key is off or spent. */
  linesDropped: number;
}

/**
 * What an ingest worker says to the front thread. A group's `committed` comes before the outcomes of what it holds,
 * so an outcome is answered after the catalog has taken the group.
 */
export type FromIngest =
  | { type: 'ready' }
  | { type: 'committed'; group: CommittedGroup }
  /** `freed`: tasks whose slots are not read any more. */
  | { type: 'report'; freed: number[]; outcomes: TaskOutcome[] }
  /** Asks for a segment; `floor` is the first sequence that is not durable. */
  | { type: 'allocate'; floor: number }
  | { type: 'closed'; segment: number; bytes: number; sequence: number }
  /** A bug showed: the task it was met in has failed, the rest goes on. */
  | { type: 'fault'; error: Error };

/** What an ingest worker starts with. */
export interface IngestData {
  memory: WebAssembly.Memory;
  cells: SharedArrayBuffer;
  keys: KeyTable;
  /** The data folder, and the bytes by which its files know it. */
  root: string;
  folderId: Uint8Array;
  /** Number of its writer, 0 to 255. */
  writer: number;
}
