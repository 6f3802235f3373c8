import { must } from '../../engine/base/assert.ts';
import type { DiskFailure } from '../../engine/base/disk-watch.ts';
import type { Claim, CommittedGroup, KeyUsage } from '../../engine/engine.ts';
import type { Enrichment } from '../decode/enrichment.ts';
import type { ExtensionMatch } from '../extend/extender.ts';
import type { ExtensionStep } from '../extend/extension.ts';
import type { KeyTable } from '../registry/key-table.ts';
import type { Sender } from '../registry/senders.ts';
import type { SocketOrder, SocketReport } from './socket-order.ts';
import type { TroubleReport } from './trouble.ts';

/** Encodings of texts that are decoded, beside UTF-8. */
export type Charset = 'windows-1252' | 'utf-16' | 'utf-16le' | 'utf-16be';

/** Order to decode a body. */
export interface Decoding {
  charset: Charset;
  /** Bytes that the body may have as UTF-8. */
  bytesMax: number;
}

/**
 * Form of a body. `auto` is for content types that say nothing: JSON when it begins like JSON and is valid, lines
 * otherwise. `frames`: octet-counted frames, `<bytes> <frame>`, as Heroku's log drains send them. Source:
 * INTERFACE.md 4.4.
 */
export type BodyForm = 'json' | 'lines' | 'frames' | 'auto';

/** The ways in which events come. */
export type Channel = 'http' | 'https' | 'tcp' | 'tls' | 'udp';

/** Compression of a body, and the bytes that it may have after inflating. Source: INTERFACE.md 4.4. */
export interface Compression {
  encoding: CompressedEncoding;
  bytesMax: number;
}

/** Encodings of bodies that are inflated. */
export type CompressedEncoding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** A write key as a request brought it. */
export interface WriteKey {
  id: string;
  /** Cell of its usage. */
  cell: number;
}

/** A whole body in a slot: `memory[start, start + bytes)`. */
export interface BodyTask {
  type: 'body';
  channel: Channel;
  /** Number by which the worker's reports name it. */
  task: number;
  start: number;
  bytes: number;
  form: BodyForm;
  /** When it is compressed. */
  compression?: Compression | undefined;
  /** When it is not UTF-8. */
  decoding?: Decoding | undefined;
  key: WriteKey;
  receivedMs: number;
  enrichment: Enrichment | undefined;
  /** When its events are to be shown and not to be stored; the key's quota is left alone. */
  dry?: DryOptions | undefined;
}

/** Numbers of a body: task, start, bytes, reception date, number of the key, channel and form. */
const STRIDE = 6;
const CHANNELS: readonly Channel[] = ['http', 'https', 'tcp', 'tls', 'udp'];
const FORMS: readonly BodyForm[] = ['json', 'lines', 'frames', 'auto'];

/**
 * Bodies that need nothing but decoding, as they go to a worker: small ones come by the thousand a second, and an
 * object costs many times what its numbers do.
 */
export class PlainBodies {
  readonly numbers: number[] = [];
  /** The keys that bodies name by their number. */
  readonly keys: WriteKey[] = [];

  /** Adds the body in `[start, start + bytes)` of the memory. */
  add(task: number, start: number, body: Omit<BodyTask, 'task' | 'start'>): void {
    const { bytes, receivedMs, key, channel, form } = body;
    const kind = CHANNELS.indexOf(channel) * FORMS.length + FORMS.indexOf(form);
    this.numbers.push(task, start, bytes, receivedMs, this.#numberOf(key), kind);
  }

  /** The number of a key, which several bodies behind each other share. */
  #numberOf({ id, cell }: Readonly<WriteKey>): number {
    const last = this.keys.at(-1);
    if (last === undefined || last.id !== id || last.cell !== cell) this.keys.push({ id, cell });
    return this.keys.length - 1;
  }
}

/** The tasks that plain bodies are. */
export function bodyTasks(numbers: readonly number[], keys: readonly WriteKey[]): BodyTask[] {
  const tasks: BodyTask[] = [];
  for (let at = 0; at < numbers.length; at += STRIDE) {
    const kind = numbers[at + 5];
    tasks.push({
      type: 'body',
      channel: must(CHANNELS[Math.floor(kind / FORMS.length)], 'channel'),
      task: numbers[at],
      start: numbers[at + 1],
      bytes: numbers[at + 2],
      form: must(FORMS[kind % FORMS.length], 'form'),
      key: must(keys[numbers[at + 4]], 'key'),
      receivedMs: numbers[at + 3],
      enrichment: undefined,
    });
  }
  return tasks;
}

/** Options of a dry run. */
export interface DryOptions {
  /** The extensions to run; without them those in force. */
  steps?: readonly ExtensionStep[];
  /** Also tells each event as it is without them, and what they cost. */
  rehearses?: boolean;
}

/** An event of a dry run. */
export interface DryEvent {
  timeMs: number;
  /** JSON text of `{custom, syslog, message}`. */
  event: string;
  /** The extensions that found something, in their order. */
  matches: ExtensionMatch[];
  /** The event without extensions, of a rehearsal. */
  before?: Pick<DryEvent, 'timeMs' | 'event'>;
}

/** Result of a dry run. */
export interface DryRun {
  events: DryEvent[];
  /** Time of decoding and extensions. */
  tookMs: number;
  /** Time of the extensions alone; of a rehearsal for each event the least of several passes. */
  extendMs: number;
  /** Events for which an extension failed, or was left out as its patterns could cost too much. */
  failed: number;
}

/**
 * A part of a slot with lines, `[start, end)` from the task's start, followed by a line feed. `frame`: one content,
 * line feeds included. `cut`: one that lacks its end. `datagram`: lines whose key may be missing behind the first.
 */
export interface Span {
  form: 'frame' | 'cut' | 'datagram';
  start: number;
  end: number;
}

/** Whole lines in a slot, `<key> <content>` and a line feed each, of one connection or of several. */
export interface LinesTask {
  type: 'lines';
  channel: Channel;
  task: number;
  start: number;
  bytes: number;
  receivedMs: number;
  /** Cell of the key that lines without one belong to; NO_CELL when each has to bring its own. */
  cell: number;
  /** Spans in their order. */
  spans: readonly Span[];
  /** Memory of the slot, when the worker has received the lines itself. */
  own?: Uint8Array;
}

/** Task of an ingest worker. */
export type IngestTask = BodyTask | LinesTask;

/** Messages of the front thread to an ingest worker. */
export type ToIngest =
  /**
   * `numbers` and `keys` are bodies, as `PlainBodies` has them. `senders`: the number of small bodies that are not
   * answered, those of earlier messages among them.
   */
  | {
      type: 'tasks';
      tasks: IngestTask[];
      numbers: number[];
      keys: readonly WriteKey[];
      senders: number;
    }
  | { type: 'keys'; table: KeyTable }
  /** The extensions in force, for all tasks that come later. */
  | { type: 'extensions'; steps: readonly ExtensionStep[] }
  /**
   * Answers to `allocate`, and to `begun` and `closed`, in their order; `failed` when the manifest could not be
   * written.
   */
  | { type: 'allocated'; segment: number }
  | { type: 'recorded' }
  | { type: 'failed'; of: 'allocate' | 'record'; message: string }
  /** The oldest report that asks was taken, and all that goes before it. */
  | { type: 'taken' }
  /** Says whether there is room for lines at all, which the disk may deny. */
  | { type: 'room'; takesLines: boolean }
  /** Order for the sockets of the worker. */
  | { type: 'sockets'; order: SocketOrder }
  /** No task comes any more: do the rest, make it durable, end. */
  | { type: 'close' };

/** Outcome of a task. A status other than 200 means that nothing of it was stored. */
export interface TaskOutcome {
  task: number;
  /** Status of HTTP: 200 durable and in the catalog, 400, 401, 413, 429, 503. */
  status: number;
  message: string;
  events: number;
  /** Lines without a valid key, or whose key is off or spent. */
  linesDropped: number;
  /** Usage of each write key by the task; empty when nothing was stored. */
  usage: readonly Omit<KeyUsage, 'day'>[];
  /** Result of a dry run that succeeded. */
  dry?: DryRun;
}

/**
 * Parts of a report beside a group and bodies that are stored. `freed`: tasks whose slots are not read any more. `own`:
 * outcomes of tasks that the worker gave itself. When it `asks` it is answered by `taken`.
 */
export interface ReportRest {
  freed: number[];
  outcomes: TaskOutcome[];
  own: [Channel, TaskOutcome][];
  asks: boolean;
}

/**
 * A group as it goes to the front thread, for the same reason as `PlainBodies`: its numbers, and the ids of the keys of
 * its usage.
 */
export interface PlainGroup {
  numbers: number[];
  keys: string[];
}

/** The plain form of a group. */
export function plainGroup(group: CommittedGroup): PlainGroup {
  const { segment, bytes, claim, blocks, superseded, usage } = group;
  const numbers = [segment, group.group, bytes, claim.first, claim.end];
  numbers.push(blocks.length, superseded.length);
  for (const block of blocks) {
    numbers.push(block.writer, block.offset, block.bytes, block.ordinal, block.rowCount);
    numbers.push(block.firstSequence, block.endSequence, block.minTimeMs, block.maxTimeMs);
  }
  for (const ordinal of superseded) numbers.push(ordinal);
  const keys: string[] = [];
  for (const { key, day, bytes: keyBytes, events } of usage) {
    keys.push(key);
    numbers.push(day, keyBytes, events);
  }
  return { numbers, keys };
}

/** The group of a plain form; its blocks lie in its segment, a log segment. */
export function groupOf({ numbers, keys }: PlainGroup): CommittedGroup {
  let at = 0;
  const next = (): number => numbers[at++];
  const segment = next();
  const group = next();
  const bytes = next();
  const claim = { first: next(), end: next() };
  const blockCount = next();
  const supersededCount = next();
  const blocks: CommittedGroup['blocks'] = [];
  while (blocks.length < blockCount) {
    blocks.push({
      sealed: false,
      segment,
      writer: next(),
      offset: next(),
      bytes: next(),
      ordinal: next(),
      rowCount: next(),
      firstSequence: next(),
      endSequence: next(),
      minTimeMs: next(),
      maxTimeMs: next(),
    });
  }
  const superseded = numbers.slice(at, at + supersededCount);
  at += supersededCount;
  const usage = keys.map((key) => ({ key, day: next(), bytes: next(), events: next() }));
  return { segment, group, bytes, claim, blocks, superseded, usage };
}

/**
 * Messages of an ingest worker to the front thread. A group comes with or before the outcomes of its tasks, so that
 * these are answered after the catalog has taken it: see `CommitOrder`.
 */
export type FromIngest =
  | { type: 'ready' }
  /**
   * `group`: one that is durable, which goes before all else. `stored`: task, events and their bytes of each body that
   * is stored, one after the other. `rest`: what is seldom there when bodies are small.
   */
  | {
      type: 'report';
      group: PlainGroup | undefined;
      stored: number[];
      rest: ReportRest | undefined;
    }
  /** A connection of the worker has brought a valid key. */
  | { type: 'sender'; key: string; sender: Sender }
  /** Report of the worker's sockets, taken at once. */
  | { type: 'sockets'; report: SocketReport }
  /** Asks for the number of a segment. */
  | { type: 'allocate' }
  /** A segment's file is durable. */
  | { type: 'begun'; segment: number }
  /** `failed`: the sequences of a group that failed behind `bytes`. */
  | { type: 'closed'; segment: number; bytes: number; sequence: number; failed: Claim | undefined }
  /** Troubles since the last such message, at most one message a second. */
  | { type: 'troubles'; troubles: readonly TroubleReport[] }
  /** A write failed; told at once, before what waited for it. */
  | { type: 'disk'; failure: DiskFailure }
  /** A bug showed: the task it was met in has failed, the rest goes on. */
  | { type: 'fault'; error: Error };

/** When a writer closes its log segment, so that it can be sealed. */
export interface SegmentLimits {
  /** Rows, about. */
  rowsMax: number;
  /** Time without rows. */
  idleMs: number;
}

/** Data with which an ingest worker starts. */
export interface IngestData {
  memory: WebAssembly.Memory;
  /** Bytes of a memory of the worker's own for slots. */
  ownBytes: number;
  /** Counts of the sockets of all workers. */
  lineCells: SharedArrayBuffer;
  cells: SharedArrayBuffer;
  /** Memory of `Sequences`. */
  sequences: SharedArrayBuffer;
  /** Its counts, as `StatCells`. */
  stats: SharedArrayBuffer;
  /** Memory of `NameCounts`, and the number of names that each key may bring a day. */
  nameCounts: SharedArrayBuffer;
  namesPerKeyDay: number;
  keys: KeyTable;
  extensions: readonly ExtensionStep[];
  /** The data folder, and the bytes by which its files know it. */
  root: string;
  folderId: Uint8Array;
  /** Number of its writer, 0 to 255. */
  writer: number;
  /** `undefined`: those of the engine. */
  segments: SegmentLimits | undefined;
}
