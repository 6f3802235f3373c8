import { LINE_FEED } from '../../engine/base/ascii.ts';
import { assert } from '../../engine/base/assert.ts';
import { NO_CELL } from '../registry/key-table.ts';
import {
  type BodyTask,
  type Channel,
  type IngestTask,
  type LinesTask,
  PlainBodies,
  type Span,
  type TaskOutcome,
  type ToIngest,
} from './protocol.ts';
import { NOT_STORED } from './refusal.ts';
import { SLOT_PADDING_BYTES, SLOT_UNIT_BYTES, type Slot, type Slots } from './slots.ts';
import { Numbered } from './turns/numbered.ts';

/** A slot for lines is filled up to here before it is handed over within one turn of the event loop. */
export const LINES_SLOT_BYTES = 4 * SLOT_UNIT_BYTES - SLOT_PADDING_BYTES;

/** Bytes of tasks that wait for others: more are handed over at the end of the turn. */
const WAITING_BYTES_MAX = 2 * 1024 * 1024;

/** Bodies of up to so many bytes come by the thousand a second. */
const SMALL_BODY_BYTES = SLOT_UNIT_BYTES;

/** Common facts of sources whose lines may lie in one slot: a listener has one for all of its connections. */
export interface LineOrigin {
  readonly channel: Channel;
  /** The cell of the write key that the listener is bound to, asked once a task; NO_CELL while there is no such key. */
  readonly cell?: () => number;
  /** Milliseconds that full slots may wait for others, to be handed over in one message; 0 unless given. */
  readonly patienceMs?: number;
}

/** Source of lines, which learns when the worker has read them, and when they are durable or lost. */
export interface LineSource {
  readonly origin: LineOrigin;
  /** `bytes` of its lines were read out of their slot: there is room for as many. */
  read(bytes: number): void;
  /**
   * Tells that `bytes` of its lines are done: durable and in the catalog, or lost. `hasKey`: they brought events, and
   * no line among them lacked a valid key.
   */
  settled(bytes: number, stored: boolean, hasKey: boolean): void;
}

/** Receiver of lines, which has room for some of them, or not now. */
export interface LineSink {
  /** Makes sure that `bytes` of lines can be added without a refusal; false when there is no room for them now. */
  roomForLines(bytes: number, origin: LineOrigin): boolean;
  /**
   * Adds lines of `source`: `head` then `rest`, with their line feeds; when `bare`, a line or a span without the one
   * that ends it. Copies the bytes and returns how many it counts. There has to be room (`roomForLines`).
   */
  appendLines(
    head: Uint8Array,
    rest: Uint8Array,
    bare: boolean,
    source: LineSource,
    form?: Span['form'],
  ): number;
}

/** A slot that lines are being written to. */
interface OpenLines {
  slot: Slot;
  filledBytes: number;
  sources: SourceBytes[];
  spans: Span[];
}

/** Lines of one source in a slot. */
interface SourceBytes {
  source: LineSource;
  bytes: number;
}

/** One who waits for the end of a task. */
export interface Waiter {
  done(outcome: TaskOutcome): void;
}

/** A task the worker has not reported the end of. */
interface Pending {
  channel: Channel;
  slot: Slot | undefined;
  bytes: number;
  sources: readonly SourceBytes[];
  /** Id of the write key of a body. */
  key: string | undefined;
  /** Set for a body whose events share a commit group with those of others. */
  isSmall: boolean;
  /** Set for a dry run, which stores nothing and counts nowhere. */
  isDry: boolean;
  waiter: Waiter;
}

const NOBODY: readonly SourceBytes[] = [];

/** Receives the outcome of a task before those who wait for it. */
export type OutcomeObserver = (channel: Channel, outcome: TaskOutcome) => void;

/** The way of tasks to an ingest worker. */
export interface TaskPort {
  post(message: Extract<ToIngest, { type: 'tasks' }>): void;
}

/**
 * The giving side of one ingest worker: slots, the tasks it was given, and what they wait for. The front thread has one
 * for each worker, and each worker one for what it reads itself. Tasks are handed over in one message a turn of the
 * event loop, and those that may wait with others.
 */
export class IngestWorkerHandle implements LineSink {
  readonly slots: Slots;
  readonly #nowMs: () => number;
  readonly #observe: OutcomeObserver;
  readonly #pending = new Numbered<Pending>();
  readonly #lines = new Map<LineOrigin, OpenLines>();
  #port: TaskPort;
  #tasks: IngestTask[] = [];
  #bodies = new PlainBodies();
  #unreadBytes = 0;
  /** Pending tasks that are small bodies. */
  #senderCount = 0;
  #scheduled = false;
  /** Set while nothing is handed over but what may wait. */
  #timer: NodeJS.Timeout | undefined;
  #waitingBytes = 0;
  #dead = false;
  #takesLines = true;

  constructor(
    slots: Slots,
    port: TaskPort,
    nowMs: () => number,
    observe: OutcomeObserver = () => {},
  ) {
    this.slots = slots;
    this.#port = port;
    this.#nowMs = nowMs;
    this.#observe = observe;
  }

  /** Tasks that are not over. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** Bytes that the worker was given and has not read. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  /** Is set once the worker is gone: it does nothing that it is given. */
  get dead(): boolean {
    return this.#dead;
  }

  /** Set while lines may be taken; while no worker is there, those who have lines wait. */
  set takesLines(takes: boolean) {
    this.#takesLines = takes;
  }

  /**
   * Hands a whole body over; the slot is the worker's from now on and is given back by itself. Its end is told to
   * `waiter` once: a worker that dies gives 503.
   */
  give(slot: Slot, body: Omit<BodyTask, 'task' | 'start'>, waiter: Waiter): void {
    const { channel, bytes, key, dry } = body;
    const isSmall = bytes <= SMALL_BODY_BYTES && dry === undefined;
    const isDry = dry !== undefined;
    const task = this.#await({
      channel,
      slot,
      bytes,
      sources: NOBODY,
      key: key.id,
      isSmall,
      isDry,
      waiter,
    });
    if (this.#dead) this.#outcome(lost(task));
    else if (body.enrichment ?? body.compression ?? body.decoding ?? dry) {
      this.#give({ ...body, task, start: slot.start });
    } else {
      this.#bodies.add(task, slot.start, body);
      this.#scheduleNow();
    }
  }

  /** As `give`; resolves with the outcome and never rejects. */
  body(slot: Slot, body: Omit<BodyTask, 'task' | 'start'>): Promise<TaskOutcome> {
    return new Promise((resolve) => this.give(slot, body, { done: resolve }));
  }

  roomForLines(bytes: number, origin: LineOrigin): boolean {
    if (!this.#takesLines) return false;
    const open = this.#lines.get(origin);
    if (open !== undefined) {
      if (open.filledBytes + bytes <= open.slot.capacityBytes) return true;
      this.#closeLines(origin, open);
    }
    const slot = this.slots.reserve(Math.max(bytes, LINES_SLOT_BYTES));
    if (slot === undefined) {
      if (this.#timer !== undefined) this.flush();
      return false;
    }
    this.#lines.set(origin, { slot, filledBytes: 0, sources: [], spans: [] });
    this.#schedule(origin.patienceMs);
    return true;
  }

  appendLines(
    head: Uint8Array,
    rest: Uint8Array,
    bare: boolean,
    source: LineSource,
    form?: Span['form'],
  ): number {
    const open = this.#lines.get(source.origin);
    const bytes = head.length + rest.length + (bare ? 1 : 0);
    assert(
      open !== undefined && open.filledBytes + bytes <= open.slot.capacityBytes,
      `room for ${bytes} bytes of lines`,
    );
    const start = open.slot.start + open.filledBytes;
    this.slots.write(head, start);
    this.slots.write(rest, start + head.length);
    if (bare) this.slots.bytes[start + bytes - 1] = LINE_FEED;
    if (form !== undefined) {
      open.spans.push({ form, start: open.filledBytes, end: open.filledBytes + bytes - 1 });
    }
    open.filledBytes += bytes;
    const last = open.sources.at(-1);
    if (last?.source === source) last.bytes += bytes;
    else open.sources.push({ source, bytes });
    return bytes;
  }

  /** Takes the worker's report of tasks whose slots are free and tasks that are over; `stored` as in its message. */
  report(
    freed: readonly number[],
    outcomes: readonly TaskOutcome[],
    stored: readonly number[] = [],
  ): void {
    for (const task of freed) this.#free(task);
    for (let at = 0; at < stored.length; at += 3) {
      this.#stored(stored[at], stored[at + 1], stored[at + 2]);
    }
    for (const outcome of outcomes) this.#outcome(outcome);
  }

  /** Hands over what was collected. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waitingBytes = 0;
    this.#scheduled = false;
    this.#closeAllLines();
    const { numbers, keys } = this.#bodies;
    if (this.#tasks.length + numbers.length === 0) return;
    const senders = this.#senderCount;
    this.#port.post({ type: 'tasks', tasks: this.#tasks, numbers, keys, senders });
    this.#tasks = [];
    this.#bodies = new PlainBodies();
  }

  /** The worker is gone: everything that waits for it is lost. Slots that are being filled stay as they are. */
  die(): void {
    this.#closeAllLines();
    this.#dead = true;
    this.#tasks = [];
    this.#bodies = new PlainBodies();
    for (const task of [...this.#pending.numbers()]) this.#outcome(lost(task));
  }

  /** Another worker has taken the place of the one that died, on the same memory. */
  revive(port: TaskPort): void {
    this.#port = port;
    this.#dead = false;
  }

  /** Awaits the end of a task; returns its number. */
  #await(pending: Pending): number {
    this.#unreadBytes += pending.bytes;
    if (pending.isSmall) this.#senderCount++;
    return this.#pending.add(pending);
  }

  #give(task: IngestTask, patienceMs?: number): void {
    this.#tasks.push(task);
    this.#waitingBytes += task.bytes;
    this.#schedule(this.#waitingBytes < WAITING_BYTES_MAX ? patienceMs : 0);
  }

  /** Hands over at the end of this turn, or after a while what may wait. */
  #schedule(patienceMs = 0): void {
    if (this.#scheduled) return;
    if (patienceMs > 0) {
      this.#timer ??= setTimeout(() => this.flush(), patienceMs);
      return;
    }
    this.#scheduled = true;
    setImmediate(() => this.flush());
  }

  /** Hands over when what runs is done. */
  #scheduleNow(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(() => this.flush());
  }

  #closeAllLines(): void {
    for (const [origin, open] of this.#lines) this.#closeLines(origin, open);
  }

  #closeLines(origin: LineOrigin, open: OpenLines): void {
    this.#lines.delete(origin);
    if (open.filledBytes === 0) {
      this.slots.release(open.slot);
      return;
    }
    const { slot, sources, spans } = open;
    const done = (outcome: TaskOutcome): void => {
      const { status, events, linesDropped } = outcome;
      const hasKey = events > 0 && linesDropped === 0;
      for (const { source, bytes } of sources) source.settled(bytes, status === 200, hasKey);
    };
    const { channel } = origin;
    const { filledBytes: bytes } = open;
    const none = { key: undefined, isSmall: false, isDry: false };
    const task = this.#await({ channel, slot, bytes, sources, ...none, waiter: { done } });
    const given: LinesTask = {
      type: 'lines',
      channel,
      task,
      start: slot.start,
      bytes: open.filledBytes,
      receivedMs: this.#nowMs(),
      cell: origin.cell?.() ?? NO_CELL,
      spans,
    };
    if (this.#dead) this.#outcome(lost(task));
    else this.#give(given, origin.patienceMs);
  }

  #free(task: number): void {
    const pending = this.#pending.get(task);
    if (pending?.slot === undefined) return;
    this.slots.release(pending.slot);
    pending.slot = undefined;
    this.#unreadBytes -= pending.bytes;
    for (const each of pending.sources) each.source.read(each.bytes);
  }

  #stored(task: number, events: number, bytes: number): void {
    const key = this.#pending.get(task)?.key ?? '';
    const usage = events === 0 ? [] : [{ key, events, bytes }];
    this.#outcome({ task, status: 200, message: '', events, linesDropped: 0, usage });
  }

  #outcome(outcome: TaskOutcome): void {
    const pending = this.#pending.get(outcome.task);
    assert(pending !== undefined, 'a task that ends is pending');
    this.#free(outcome.task);
    this.#pending.delete(outcome.task);
    if (pending.isSmall) this.#senderCount--;
    if (!pending.isDry) this.#observe(pending.channel, outcome);
    pending.waiter.done(outcome);
  }
}

function lost(task: number): TaskOutcome {
  return { task, ...NOT_STORED, events: 0, linesDropped: 0, usage: [] };
}
