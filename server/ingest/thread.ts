import { assert } from '../../engine/base/assert.ts';
import type { Port } from '../../engine/base/pool.ts';
import type { FromIngest, IngestTask, LinesTask, TaskOutcome, ToIngest } from './protocol.ts';
import { NOT_STORED } from './refusal.ts';
import { SLOT_PADDING_BYTES, SLOT_UNIT_BYTES, type Slot, type Slots } from './slots.ts';

/** A slot for lines is filled up to here before it is handed over within one turn of the event loop. */
const LINES_SLOT_BYTES = 4 * SLOT_UNIT_BYTES - SLOT_PADDING_BYTES;
const LINE_FEED = 10;

/** Who brought lines: told when the worker has read them, and when they are durable or lost. */
export interface LineSource {
  /** `bytes` of its lines were read out of their slot: there is room for as many. */
  read(bytes: number): void;
  /** `bytes` of its lines are over: durable and in the catalog, or lost. */
  settled(bytes: number, stored: boolean): void;
}

/** A slot that lines are being written to. */
interface OpenLines {
  slot: Slot;
  filledBytes: number;
  shares: Share[];
}

/** What one source has in a slot. */
interface Share {
  source: LineSource;
  bytes: number;
}

/** A task the worker has not reported the end of. */
interface Pending {
  slot: Slot | undefined;
  shares: Share[];
  done: (outcome: TaskOutcome) => void;
}

/**
 * The front thread's side of one ingest worker: its slots, the tasks it was given, and what they wait for.
 * Tasks are handed over in one message a turn of the event loop.
 */
export class IngestThread {
  readonly slots: Slots;
  readonly #port: Port<ToIngest, FromIngest>;
  readonly #nowMs: () => number;
  readonly #pending = new Map<number, Pending>();
  #tasks: IngestTask[] = [];
  #nextTask = 0;
  #lines: OpenLines | undefined;
  #scheduled = false;
  #dead = false;

  constructor(slots: Slots, port: Port<ToIngest, FromIngest>, nowMs: () => number) {
    this.slots = slots;
    this.#port = port;
    this.#nowMs = nowMs;
  }

  /** Tasks that are not over. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** Whether the worker is gone: nothing that it is given will be done. */
  get dead(): boolean {
    return this.#dead;
  }

  /**
   * Hands a whole body over; the slot is the worker's from now on and is given back by itself.
   * Never rejects: a worker that dies gives 503.
   */
  body(
    slot: Slot,
    task: Omit<IngestTask & { type: 'body' }, 'task' | 'start'>,
  ): Promise<TaskOutcome> {
    return new Promise((resolve) => {
      const number = this.#await({ slot, shares: [], done: resolve });
      if (this.#dead) this.#outcome(lost(number));
      else this.#give({ ...task, task: number, start: slot.start });
    });
  }

  /** Makes sure that `bytes` of lines can be added without a refusal; false when there is no room for them now. */
  roomForLines(bytes: number): boolean {
    const open = this.#lines;
    if (open !== undefined) {
      if (open.filledBytes + bytes <= open.slot.capacityBytes) return true;
      this.#closeLines();
    }
    const slot = this.slots.reserve(Math.max(bytes, LINES_SLOT_BYTES));
    if (slot === undefined) return false;
    this.#lines = { slot, filledBytes: 0, shares: [] };
    this.#schedule();
    return true;
  }

  /**
   * Adds lines of `source`: `head` then `rest`, with their line feeds; when `cut`, the beginning of one line, without.
   * Copies the bytes and returns how many it counts. There has to be room (`roomForLines`).
   */
  lines(head: Uint8Array, rest: Uint8Array, cut: boolean, source: LineSource): number {
    const open = this.#lines;
    const bytes = head.length + rest.length + (cut ? 1 : 0);
    assert(
      open !== undefined && open.filledBytes + bytes <= open.slot.capacityBytes,
      `room for ${bytes} bytes of lines`,
    );
    const start = open.slot.start + open.filledBytes;
    this.slots.bytes.set(head, start);
    this.slots.bytes.set(rest, start + head.length);
    if (cut) this.slots.bytes[start + bytes - 1] = LINE_FEED;
    open.filledBytes += bytes;
    const last = open.shares.at(-1);
    if (last?.source === source) last.bytes += bytes;
    else open.shares.push({ source, bytes });
    return bytes;
  }

  /** Takes the worker's report of tasks whose slots are free and tasks that are over. */
  report(freed: readonly number[], outcomes: readonly TaskOutcome[]): void {
    for (const task of freed) this.#free(task);
    for (const outcome of outcomes) this.#outcome(outcome);
  }

  /** Hands over what was collected in this turn. */
  flush(): void {
    this.#scheduled = false;
    this.#closeLines();
    if (this.#tasks.length === 0) return;
    this.#port.post({ type: 'tasks', tasks: this.#tasks });
    this.#tasks = [];
  }

  /** The worker is gone: everything that waits for it is lost. */
  die(): void {
    this.#closeLines();
    this.#dead = true;
    this.#tasks = [];
    for (const task of [...this.#pending.keys()]) this.#outcome(lost(task));
  }

  #await(pending: Pending): number {
    const task = this.#nextTask++;
    this.#pending.set(task, pending);
    return task;
  }

  #give(task: IngestTask): void {
    this.#tasks.push(task);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.flush());
  }

  #closeLines(): void {
    const open = this.#lines;
    if (open === undefined) return;
    this.#lines = undefined;
    if (open.filledBytes === 0) {
      this.slots.release(open.slot);
      return;
    }
    const { slot, shares } = open;
    const done = (outcome: TaskOutcome): void => {
      for (const share of shares) share.source.settled(share.bytes, outcome.status === 200);
    };
    const task = this.#await({ slot, shares, done });
    const given: LinesTask = {
      type: 'lines',
      task,
      start: slot.start,
      bytes: open.filledBytes,
      receivedMs: this.#nowMs(),
    };
    if (this.#dead) this.#outcome(lost(task));
    else this.#give(given);
  }

  #free(task: number): void {
    const pending = this.#pending.get(task);
    if (pending?.slot === undefined) return;
    this.slots.release(pending.slot);
    pending.slot = undefined;
    for (const share of pending.shares) share.source.read(share.bytes);
  }

  #outcome(outcome: TaskOutcome): void {
    const pending = this.#pending.get(outcome.task);
    assert(pending !== undefined, `task ${outcome.task} is pending`);
    this.#free(outcome.task);
    this.#pending.delete(outcome.task);
    pending.done(outcome);
  }
}

function lost(task: number): TaskOutcome {
  return { task, ...NOT_STORED, events: 0, linesDropped: 0 };
}
