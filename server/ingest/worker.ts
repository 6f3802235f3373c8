import { watchDisk } from '../../engine/base/disk-watch.ts';
import { openDisk } from '../../engine/base/file.ts';
import { ATTRIBUTES_MAX, PATHS_MAX } from '../../engine/base/limits.ts';
import type { Port } from '../../engine/base/pool.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { openWriter, type RowWriter } from '../../engine/engine.ts';
import { Sequences } from '../../engine/store/sequences.ts';
import { BadBody, EventTooLarge } from '../decode/body.ts';
import { type DecodeCounters, noDecodeCounters } from '../decode/counters.ts';
import { Decoder } from '../decode/decoder.ts';
import { type CompiledStep, compileSteps } from '../extend/compile.ts';
import { Extender } from '../extend/extender.ts';
import type { ExtensionStep } from '../extend/extension.ts';
import { KeyLookup } from '../registry/key-table.ts';
import { dayOf, UsageCells } from '../registry/usage.ts';
import { Acknowledger, type TaskEnds } from './acknowledge.ts';
import { decodeBody } from './content.ts';
import { DRY_BYTES_MAX, DRY_TOO_LARGE } from './dry.ts';
import { dryRun } from './dry-run.ts';
import { BodyTooLarge, BrokenBody, inflate } from './inflate.ts';
import { Ledger } from './ledger.ts';
import { NameBudget } from './name-budget.ts';
import { NameCounts } from './name-counts.ts';
import { OwnLines } from './own-lines.ts';
import type {
  BodyTask,
  DryOptions,
  FromIngest,
  IngestData,
  IngestTask,
  LinesTask,
  ToIngest,
} from './protocol.ts';
import { RawDecoder } from './raw.ts';
import { NOT_STORED, type Refusal, refusalOf } from './refusal.ts';
import { Shares } from './share.ts';
import type { SocketOrder, SocketReport } from './socket-order.ts';
import { StatCells } from './stats.ts';
import { BODY_MALFORMED, BODY_TOO_LARGE, TroubleNotes } from './trouble.ts';

/** Encoded and not yet durable: beyond this, no task is begun until a group is on the disk. */
const PENDING_BYTES_MAX = 32 * 1024 * 1024;
const TICK_MS = 1_000;
/** The path table is begun anew when less than a few hostile events' worth of it is left. */
const PATHS_RENEW = PATHS_MAX - 4 * ATTRIBUTES_MAX;
const NOTHING = new Uint8Array(0);
const BROKEN: Refusal = { status: 500, message: 'internal error' };

/** What decodes; all of it belongs to one path table. */
interface Decoding {
  paths: PathTable;
  decoder: Decoder;
  raw: RawDecoder;
  /** What the decoder had counted when it was last looked at. */
  counted: DecodeCounters;
}

/** A task, and who waits for its end. */
interface Queued {
  task: IngestTask;
  ends: TaskEnds;
}

/** Takes an order for the sockets of a thread. */
type SocketTaker = (order: SocketOrder) => void;

/** Decodes what lies in its slots, a task a turn of the event loop, and makes it durable. */
export class IngestWorker {
  /** What sockets of this thread bring. */
  readonly lines: OwnLines;
  readonly #port: Port<FromIngest, ToIngest>;
  readonly #memory: Uint8Array;
  readonly #cells: UsageCells;
  readonly #stats: StatCells;
  readonly #keys = new KeyLookup();
  readonly #ledger: Ledger;
  readonly #acknowledger: Acknowledger;
  readonly #rows = new Rows();
  readonly #troubles = new TroubleNotes();
  readonly #names: NameBudget;
  readonly #writer: RowWriter;
  #steps: readonly CompiledStep[] = [];
  /** Extensions that have failed since they were set: each is told once. */
  readonly #failedSteps = new Set<string>();
  #decoding: Decoding;
  readonly #sockets: SocketTaker;
  #tasks: Queued[] = [];
  #taken = 0;
  #busy = false;
  #closing = false;
  readonly #over = Promise.withResolvers<void>();

  /** `sockets` takes what the front says to the sockets of this thread. */
  constructor(data: IngestData, port: Port<FromIngest, ToIngest>, sockets: SocketTaker) {
    this.#sockets = sockets;
    this.#port = port;
    this.#memory = new Uint8Array(data.memory.buffer);
    this.#cells = new UsageCells(data.cells);
    this.#stats = new StatCells(data.stats);
    const nameCounts = new NameCounts(data.nameCounts, data.writer);
    this.#names = new NameBudget(nameCounts, data.namesPerKeyDay);
    this.#keys.update(data.keys);
    this.#ledger = new Ledger(port);
    this.#acknowledger = new Acknowledger((message) => port.post(message));
    this.lines = new OwnLines({
      memory: data.memory,
      bytes: data.ownBytes,
      nowMs: Date.now,
      give: (tasks) => this.#queue(tasks, this.lines),
      observe: (channel, outcome) => this.#acknowledger.count(channel, outcome),
    });
    this.#setSteps(data.extensions);
    this.#decoding = this.#begin();
    this.#writer = openWriter({
      disk: watchDisk(openDisk(data.root), (failure) => port.post({ type: 'disk', failure })),
      writer: data.writer,
      folderId: data.folderId,
      paths: this.#decoding.paths,
      sequences: new Sequences(data.sequences),
      allocate: () => this.#ledger.allocate(),
      begun: (segment) => this.#ledger.begun(segment),
      closed: (...closing) => this.#ledger.closed(...closing),
      // The front thread applies it before it sees any outcome that is posted after it.
      committed: async (group) => port.post({ type: 'committed', group }),
      nowMs: Date.now,
      monotonicMs: () => performance.now(),
      ...(data.segments === undefined
        ? {}
        : {
            segmentRowsMax: data.segments.rowsMax,
            segmentIdleMs: data.segments.idleMs,
          }),
    });
  }

  /** Resolves when it was told to close and everything is durable. */
  async run(): Promise<void> {
    const timer = setInterval(() => this.#tick(), TICK_MS);
    this.#port.listen((message) => this.#take(message));
    this.#port.post({ type: 'ready' });
    await this.#over.promise;
    clearInterval(timer);
    await this.#writer.close();
    this.#acknowledger.flush();
    this.#port.close();
  }

  /** The cell of the write key with that name; NO_CELL when there is none. */
  cellOf(name: string): number {
    return this.#keys.named(name);
  }

  /** Calls `resume` when all that is durable by now is in the catalog, with all groups that go before it. */
  whenVisible(resume: () => void): void {
    this.#acknowledger.whenVisible(resume);
  }

  /** Tells the front of the sockets of this thread. */
  tell(report: SocketReport): void {
    this.#port.post({ type: 'sockets', report });
  }

  #tick(): void {
    this.#writer.tick();
    const troubles = this.#troubles.report();
    if (troubles !== undefined) this.#port.post({ type: 'troubles', troubles });
  }

  #take(message: ToIngest): void {
    if (message.type === 'tasks') {
      this.#queue(message.tasks, this.#acknowledger);
    } else if (message.type === 'keys') {
      this.#keys.update(message.table);
    } else if (message.type === 'extensions') {
      this.#setSteps(message.steps);
      this.#extend(this.#decoding.paths, this.#decoding.decoder);
    } else if (message.type === 'taken') {
      this.#acknowledger.visible();
    } else if (message.type === 'room') {
      this.lines.takesLines = message.takesLines;
    } else if (message.type === 'sockets') {
      this.#sockets(message.order);
    } else if (message.type === 'close') {
      this.#closing = true;
      this.#wake();
    } else {
      this.#ledger.take(message);
    }
  }

  #queue(tasks: readonly IngestTask[], ends: TaskEnds): void {
    for (const task of tasks) this.#tasks.push({ task, ends });
    this.#wake();
  }

  /** Goes on with the next turn of the event loop, so that what came in and what was written is seen in between. */
  #wake(): void {
    if (this.#busy) return;
    this.#busy = true;
    setImmediate(() => {
      this.#busy = false;
      this.#step();
    });
  }

  #step(): void {
    this.#stats.own = this.lines.gauges;
    if (this.#taken === this.#tasks.length) {
      this.#tasks = [];
      this.#taken = 0;
      if (this.#closing) this.#over.resolve();
      return;
    }
    // Whatever becomes durable wakes the worker again.
    if (this.#writer.pendingBytes > PENDING_BYTES_MAX) return;
    const { task, ends } = this.#tasks[this.#taken++];
    if (this.#decoding.paths.count > PATHS_RENEW) {
      this.#decoding = this.#begin();
      this.#writer.replacePaths(this.#decoding.paths);
    }
    if (task.type === 'lines') this.#lines(task, ends);
    else if (task.dry === undefined) this.#body(task);
    else this.#dry(task, task.dry);
    // An inflated body goes before the next one comes.
    if (task.type === 'body' && task.compression !== undefined) {
      this.#decoding.decoder.begin(NOTHING, 0, undefined);
    }
    const { decoder, counted } = this.#decoding;
    this.#stats.addRepairs(decoder.counters, counted);
    this.#wake();
  }

  #begin(): Decoding {
    const paths = new PathTable();
    const decoder = new Decoder(paths, this.#rows);
    this.#names.usePaths(paths);
    decoder.nameLimit = this.#names;
    this.#extend(paths, decoder);
    const troubles = this.#troubles;
    troubles.begin();
    decoder.watch = (counters, source, start, end) =>
      troubles.noteCounted(counters, source, start, end, Date.now(), () =>
        this.#keys.id(this.#names.cell),
      );
    const raw = new RawDecoder(
      decoder,
      this.#rows,
      this.#keys,
      this.#cells,
      this.#memory,
      troubles,
      this.#names,
    );
    return { paths, decoder, raw, counted: noDecodeCounters() };
  }

  #setSteps(steps: readonly ExtensionStep[]): void {
    this.#failedSteps.clear();
    this.#steps = compileSteps(steps, (id, error) => this.#stepFailed(id, error));
  }

  /** Has a decoder's events extended by the extensions in force. */
  #extend(paths: PathTable, decoder: Decoder): void {
    if (this.#steps.length === 0) {
      decoder.extension = undefined;
      return;
    }
    const failed = (id: string, error: unknown): void => this.#stepFailed(id, error);
    const extender = new Extender(this.#steps, paths, this.#rows, decoder.counters, { failed });
    decoder.extension = (hasDate) => extender.extendRow(hasDate);
  }

  #stepFailed(id: string, error: unknown): void {
    if (this.#failedSteps.has(id)) return;
    this.#failedSteps.add(id);
    this.#tellFault(new Error(`the extension ${id} failed`, { cause: error }));
  }

  /** Shows what would become of a body; its quota is left alone. */
  #dry(task: BodyTask, { steps }: DryOptions): void {
    try {
      const source = this.#source(task, DRY_BYTES_MAX);
      if (source.length > DRY_BYTES_MAX) {
        this.#refuse(task, DRY_TOO_LARGE);
        return;
      }
      const failed = (id: string, error: unknown): void => this.#stepFailed(id, error);
      const run = steps === undefined ? this.#steps : compileSteps(steps, failed);
      const dry = dryRun(task, source, run, failed);
      if ('status' in dry) this.#refuse(task, dry);
      else {
        const nothing = { events: 0, linesDropped: 0, usage: [] };
        this.#acknowledger.done({ task: task.task, status: 200, message: '', ...nothing, dry });
      }
    } catch (error) {
      const refused = contentRefusal(error);
      if (refused === undefined) this.#fault(task, error);
      else this.#refuse(task, refused);
    }
  }

  #body(task: BodyTask): void {
    const { cell, id } = task.key;
    const day = dayOf(task.receivedMs);
    const shares = new Shares(day);
    let source: Uint8Array = NOTHING;
    try {
      // A key that is off or spent has nothing inflated.
      const isOn = this.#cells.reserve(cell, 0, day);
      if (isOn === 'ok') source = this.#source(task);
      const granted = isOn === 'ok' ? this.#cells.reserve(cell, source.length, day) : isOn;
      const refusal = refusalOf(granted);
      if (refusal !== undefined) {
        this.#refuse(task, refusal);
        return;
      }
      shares.add(cell, source.length, 0);
      this.#decodeBody(task, source);
    } catch (error) {
      shares.release(this.#cells);
      const refused = contentRefusal(error);
      if (refused === undefined) this.#fault(task, error);
      else {
        this.#noteRefusal(task, source, refused, error);
        this.#refuse(task, refused);
      }
      return;
    }
    shares.add(cell, 0, this.#rows.rowCount);
    this.#store(task, this.#acknowledger, shares, () => id, 0);
  }

  /** The task's content, inflated to at most `bytesMax` and what the task allows. */
  #source(
    { start, bytes, compression }: BodyTask,
    bytesMax = Number.POSITIVE_INFINITY,
  ): Uint8Array {
    const sent = this.#memory.subarray(start, start + bytes);
    if (compression === undefined) return sent;
    return inflate(sent, { ...compression, bytesMax: Math.min(compression.bytesMax, bytesMax) });
  }

  #decodeBody(task: BodyTask, source: Uint8Array): void {
    const { decoder } = this.#decoding;
    decoder.unquotes = false;
    this.#names.begin(task.key.cell, dayOf(task.receivedMs));
    decoder.begin(source, task.receivedMs, task.enrichment);
    decodeBody(decoder, source, task.form);
  }

  #lines(task: LinesTask, ends: TaskEnds): void {
    const { raw } = this.#decoding;
    try {
      const { shares, droppedCount } = raw.decode(task);
      this.#store(task, ends, shares, (cell) => this.#keys.id(cell), droppedCount);
    } catch (error) {
      raw.shares.release(this.#cells);
      this.#fault(task, error, ends);
    }
  }

  /** Appends the rows; the task is over when they are durable. Its slot is not read any more from here on. */
  #store(
    task: IngestTask,
    ends: TaskEnds,
    shares: Shares,
    idOf: (cell: number) => string,
    linesDropped: number,
  ): void {
    const events = this.#rows.rowCount;
    const usage = events === 0 ? [] : shares.usage(idOf);
    if (events === 0) shares.release(this.#cells);
    this.#stats.addRows(events);
    const decodedMs = performance.now();
    const stored = this.#writer.append(this.#rows, usage, { urgent: task.type === 'body' });
    ends.free(task.task, task.bytes);
    stored.then(
      () => {
        // Lines wait for others on purpose, so their time says nothing of the disk.
        if (task.type === 'body') this.#stats.addCommit((performance.now() - decodedMs) / 1_000);
        const { task: number } = task;
        const outcome = { task: number, status: 200, message: '', events, linesDropped, usage };
        ends.done(outcome);
        this.#wake();
      },
      () => {
        shares.release(this.#cells);
        this.#refuse(task, NOT_STORED, ends);
        this.#wake();
      },
    );
  }

  #noteRefusal(task: BodyTask, source: Uint8Array, refusal: Refusal, error: unknown): void {
    const kind = refusal.status === 413 ? BODY_TOO_LARGE : BODY_MALFORMED;
    const at = error instanceof BadBody || error instanceof EventTooLarge ? error.offset : 0;
    this.#troubles.noteBody(kind, source, at, task.receivedMs, refusal.message);
  }

  #refuse(task: IngestTask, refusal: Refusal, ends: TaskEnds = this.#acknowledger): void {
    const nothing = { events: 0, linesDropped: 0, usage: [] };
    ends.done({ task: task.task, ...refusal, ...nothing });
  }

  #fault(task: IngestTask, error: unknown, ends?: TaskEnds): void {
    this.#tellFault(error instanceof Error ? error : new Error(`${error}`));
    this.#refuse(task, BROKEN, ends);
  }

  #tellFault(error: Error): void {
    this.#port.post({ type: 'fault', error });
  }
}

/** What is wrong with a body; `undefined` when it is we who are wrong. */
function contentRefusal(error: unknown): Refusal | undefined {
  if (error instanceof BadBody || error instanceof BrokenBody) {
    return { status: 400, message: error.message };
  }
  if (error instanceof EventTooLarge || error instanceof BodyTooLarge) {
    return { status: 413, message: error.message };
  }
  return undefined;
}
