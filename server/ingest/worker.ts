import { must } from '../../engine/base/assert.ts';
import { watchDisk } from '../../engine/base/disk-watch.ts';
import { openDisk } from '../../engine/base/file.ts';
import type { ThreadPort } from '../../engine/base/pool.ts';
import { openWriter, type RowWriter } from '../../engine/engine.ts';
import { Sequences } from '../../engine/store/sequences.ts';
import { type DecodeCounters, noDecodeCounters } from '../decode/counters.ts';
import type { TemplateCounts } from '../decode/template/templates.ts';
import type { WriteKeyTest } from '../decode/write-key.ts';
import { PatternBudget } from '../extend/pattern-budget.ts';
import { KeyLookup, NO_CELL } from '../registry/key-table.ts';
import type { Sender } from '../registry/senders.ts';
import { dayOf, UsageCells } from '../registry/usage.ts';
import { Acknowledger, type TaskEnds } from './acknowledge.ts';
import { ManifestClient } from './manifest-client.ts';
import { NameBudget } from './name-budget.ts';
import { NameCounts } from './name-counts.ts';
import { OwnLines } from './own-lines.ts';
import {
  type BodyTask,
  bodyTasks,
  type FromIngest,
  type IngestData,
  type IngestTask,
  type ToIngest,
} from './protocol.ts';
import { RawDecoder } from './raw.ts';
import type { SocketOrder, SocketReport } from './socket-order.ts';
import { StatCells } from './stats.ts';
import { TroubleNotes } from './trouble.ts';
import { Decodings } from './turns/decodings.ts';
import { Lanes } from './turns/lanes.ts';
import { type TaskRun, Work } from './turns/work.ts';

/** Encoded and not yet durable: beyond this, no task is begun until a group is on the disk. */
const PENDING_BYTES_MAX = 32 * 1024 * 1024;
/** Pieces are decoded for so long in a turn of the event loop: small bodies that came together share a group. */
const TURN_MS = 1;
/** Time between two senders of a key that the front is told of. */
const MET_MS = 50;
const TICK_MS = 1_000;
/** A turn of a large body that took longer, as it was inflated, is followed by a rest as long. */
const LONG_MS = 20;
/** Room behind small groups in a log segment: the write that makes it takes a millisecond or two. */
const ROOM_BYTES = 1024 * 1024;
/** Senders that were answered send their next body within so long, or are not waited for, for a while. */
const LINGER_MS = 2;
const LINGER_PAUSE_MS = 100;
/** The event loop turns at least so often. */
const LOOP_MS = 20;
/** Lanes beside those of bodies, which have the cells of their write keys. */
const OWN_LANE = -1;
const LINES_LANE = -2;
const LARGE_LANE = -3;

/** A task, who waits for its end, and how far it is. */
interface Job {
  task: IngestTask;
  ends: TaskEnds;
  run: TaskRun | undefined;
  tookMs: number;
}

/** Takes an order for the sockets of a thread. */
type SocketTaker = (order: SocketOrder) => void;

/**
 * Decodes the content of its slots, a piece of a task a turn of the event loop, and makes it durable. Senders over
 * sockets of its own, over UDP and with each write key take turns. Bodies of several pieces take turns too, one of
 * them in progress at a time.
 */
export class IngestWorker {
  /** Lines from sockets of this thread. */
  readonly lines: OwnLines;
  readonly #port: ThreadPort<FromIngest, ToIngest>;
  readonly #cells: UsageCells;
  readonly #stats: StatCells;
  readonly #keys = new KeyLookup();
  readonly #manifest: ManifestClient;
  readonly #acknowledger: Acknowledger;
  readonly #troubles = new TroubleNotes();
  readonly #decodings: Decodings;
  readonly #writer: RowWriter;
  readonly #work: Work;
  readonly #sockets: SocketTaker;
  readonly #lanes = new Lanes<Job>();
  /** Bodies of several pieces that wait for the one in progress to end, by the cells of their keys. */
  readonly #waiting = new Lanes<Job>();
  #large: Job | undefined;
  /** Counts of the decoders when they were last read. */
  readonly #counted: DecodeCounters = noDecodeCounters();
  readonly #known: TemplateCounts = { rows: 0, faults: 0 };
  /** When a sender was last told of a key, by its cell. */
  readonly #metMs = new Map<number, number>();
  #busy = false;
  /** Set while no task is begun until something becomes durable. */
  #isHeld = false;
  /** When the event loop turned last, as far as is known, and when nobody came who was waited for. */
  #turnedMs = 0;
  #missedMs = Number.NEGATIVE_INFINITY;
  #closing = false;
  readonly #over = Promise.withResolvers<void>();

  /** `sockets` takes what the front says to the sockets of this thread. */
  constructor(data: IngestData, port: ThreadPort<FromIngest, ToIngest>, sockets: SocketTaker) {
    this.#sockets = sockets;
    this.#port = port;
    const memory = new Uint8Array(data.memory.buffer);
    const cells = new UsageCells(data.cells);
    const stats = new StatCells(data.stats);
    const names = new NameBudget(new NameCounts(data.nameCounts, data.writer), data.namesPerKeyDay);
    const keys = this.#keys;
    const troubles = this.#troubles;
    const budget = new PatternBudget();
    keys.update(data.keys);
    this.#cells = cells;
    this.#stats = stats;
    const acknowledger = new Acknowledger((message) => {
      port.post(message);
      if (message.type === 'report' && message.stored.length > 0)
        process.nextTick(() => this.#linger());
    });
    this.#acknowledger = acknowledger;
    this.#manifest = new ManifestClient((question) => {
      // It may be about a segment whose last group was not told yet.
      acknowledger.flush();
      port.post(question);
    });
    this.lines = new OwnLines({
      bytes: data.ownBytes,
      nowMs: Date.now,
      give: (tasks) => this.#queue(tasks, this.lines),
      observe: (channel, outcome) => acknowledger.count(channel, outcome),
    });
    const fault = (error: Error): void => port.post({ type: 'fault', error });
    const idOf = (cell: number): string => keys.id(cell);
    const isWriteKey: WriteKeyTest = (...text) => keys.find(...text) !== NO_CELL;
    const decodings = new Decodings(
      {
        ...{ names, troubles, budget, idOf, isWriteKey, failed: fault },
        raw: (decoder, rows) =>
          new RawDecoder(decoder, rows, { keys, cells, memory, troubles, names, budget }),
      },
      data.extensions,
    );
    this.#decodings = decodings;
    const sequences = new Sequences(data.sequences);
    this.#writer = openWriter({
      disk: watchDisk(openDisk(data.root), (failure) => port.post({ type: 'disk', failure })),
      writer: data.writer,
      folderId: data.folderId,
      paths: decodings.current.paths,
      sequences: {
        claim: (...claim) => {
          // When the thread dies, the front knows of a group that was not told by the last claim alone.
          acknowledger.flush();
          return sequences.claim(...claim);
        },
      },
      allocate: () => this.#manifest.allocate(),
      begun: (segment) => this.#manifest.begun(segment),
      closed: (...closing) => this.#manifest.closed(...closing),
      // The front thread applies it before it sees any outcome that is told after it.
      committed: async (group) => acknowledger.committed(group),
      nowMs: Date.now,
      monotonicMs: () => performance.now(),
      waitFor: (ms) => this.#waitFor(ms),
      roomBytes: ROOM_BYTES,
      ...(data.segments === undefined
        ? {}
        : {
            segmentRowsMax: data.segments.rowsMax,
            segmentIdleMs: data.segments.idleMs,
          }),
    });
    const stored = (): void => {
      this.#stats.own = this.lines.gauges;
      if (this.#isHeld || this.#closing) this.#wake();
    };
    const writer = this.#writer;
    this.#work = new Work({
      ...{ memory, cells, stats, troubles, names, budget, decodings, writer, idOf, fault, stored },
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

  /** Recognises `bytes[start, end)` as a write key that is on and has quota left. */
  isKey(bytes: Uint8Array, start: number, end: number): boolean {
    const cell = this.#keys.find(bytes, start, end);
    return cell !== NO_CELL && this.#cells.reserve(cell, 0, dayOf(Date.now())) === 'ok';
  }

  /** Tells the front who brought a valid key, given as its text or by its cell, unless somebody else just did. */
  met(sender: Sender, key: Uint8Array | number): void {
    const cell = typeof key === 'number' ? key : this.#keys.find(key, 0, key.length);
    const nowMs = performance.now();
    if (cell === NO_CELL || nowMs - (this.#metMs.get(cell) ?? Number.NEGATIVE_INFINITY) < MET_MS)
      return;
    this.#metMs.set(cell, nowMs);
    this.#port.post({ type: 'sender', key: this.#keys.id(cell), sender });
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
      this.#writer.told(message.senders);
      this.#queue(message.tasks, this.#acknowledger);
      this.#queue(bodyTasks(message.numbers, message.keys), this.#acknowledger);
    } else if (message.type === 'keys') {
      this.#keys.update(message.table);
    } else if (message.type === 'extensions') {
      this.#decodings.setSteps(message.steps);
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
      this.#manifest.take(message);
    }
  }

  #queue(tasks: readonly IngestTask[], ends: TaskEnds): void {
    for (const task of tasks) {
      const linesLane = ends === this.lines ? OWN_LANE : LINES_LANE;
      this.#lanes.add(task.type === 'lines' ? linesLane : task.key.cell, {
        task,
        ends,
        run: undefined,
        tookMs: 0,
      });
    }
    this.#wake();
  }

  /** Goes on with the next turn of the event loop, so that what came in and what was written is seen in between. */
  #wake(): void {
    if (this.#busy) return;
    this.#busy = true;
    setImmediate(() => {
      this.#busy = false;
      this.#turnedMs = performance.now();
      this.#step();
    });
  }

  /** Waits for the next bodies of senders that were just answered. */
  #linger(): void {
    if (!this.#writer.isIdle || performance.now() - this.#missedMs < LINGER_PAUSE_MS) return;
    if (this.#waitFor(LINGER_MS) === false) this.#missedMs = performance.now();
  }

  /**
   * Waits for messages for up to `ms` and begins what they bring, without a turn of the event loop, which costs more
   * than a small body; false when none came, `undefined` when there are other things to do.
   */
  #waitFor(ms: number): boolean | undefined {
    const isFree =
      this.#lanes.next() === undefined &&
      this.#large === undefined &&
      this.lines.gauges.pendingCount === 0 &&
      performance.now() - this.#turnedMs < LOOP_MS;
    if (!isFree || this.#closing) return undefined;
    // Whoever is waited for has to be answered first.
    this.#acknowledger.flush();
    if (!this.#port.wait(Math.max(0, ms))) return false;
    this.#step();
    return true;
  }

  #step(): void {
    this.#stats.own = this.lines.gauges;
    const endMs = performance.now() + TURN_MS;
    do {
      // Whatever becomes durable wakes the worker again.
      this.#isHeld = this.#writer.pendingBytes > PENDING_BYTES_MAX;
      if (this.#isHeld) return;
      const lane = this.#lanes.next();
      if (lane === undefined) {
        if (this.#closing && this.#large === undefined) this.#over.resolve();
        return;
      }
      const job = must(this.#lanes.first(lane), 'job');
      if (!this.#goTogether(lane, job)) this.#go(lane, job);
      this.#stats.addRepairs(this.#decodings.counters, this.#counted);
      this.#stats.addKernel(this.#decodings.known, this.#known);
    } while (performance.now() < endMs);
    this.#wake();
  }

  /** Does a job of a lane with those behind it that are alike; false when there are none. */
  #goTogether(lane: number, { task, ends, run }: Job): boolean {
    const joins = run === undefined ? this.#work.joining(task) : undefined;
    const jobs = joins === undefined ? [] : this.#lanes.leading(lane, (job) => joins(job.task));
    if (jobs.length < 2) return false;
    const begunMs = performance.now();
    this.#work.bodies(
      jobs.map((job) => job.task as BodyTask),
      ends,
    );
    this.#lanes.tookAll(lane, performance.now() - begunMs, jobs.length);
    return true;
  }

  /** Does a piece of a job of a lane. */
  #go(lane: number, job: Job): void {
    const begunMs = performance.now();
    job.run ??= this.#work.begin(job.task, job.ends);
    const { done, value } = job.run?.next() ?? { done: true, value: undefined };
    const isMoved = value === 'large' && lane !== LARGE_LANE;
    if (isMoved && this.#large !== undefined) job.run?.next(false);
    const ms = performance.now() - begunMs;
    job.tookMs += ms;
    const rests = lane === LARGE_LANE && ms > LONG_MS;
    this.#lanes.took(lane, ms, done === true || isMoved || rests);
    if (isMoved && this.#large !== undefined) {
      this.#waiting.add(cellOf(job), { ...job, run: undefined });
      return;
    }
    if (isMoved) this.#large = job;
    else if (done === true && lane === LARGE_LANE) this.#large = this.#largeAfter(job);
    else if (!rests) return;
    this.#addLarge(rests ? ms : 0);
  }

  /** Goes on with the large body, after a while in which what waits for the disk is seen to. */
  #addLarge(afterMs: number): void {
    const job = this.#large;
    if (job === undefined) return;
    if (afterMs === 0) {
      this.#lanes.add(LARGE_LANE, job);
      return;
    }
    setTimeout(() => {
      this.#lanes.add(LARGE_LANE, job);
      this.#wake();
    }, afterMs);
  }

  /** The next body of several pieces when one is over. */
  #largeAfter(over: Job): Job | undefined {
    const cell = cellOf(over);
    if (this.#waiting.first(cell) === over) this.#waiting.took(cell, over.tookMs, true);
    const next = this.#waiting.next();
    return next === undefined ? undefined : this.#waiting.first(next);
  }
}

function cellOf({ task }: Job): number {
  return task.type === 'body' ? task.key.cell : LINES_LANE;
}
