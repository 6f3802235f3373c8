import type { TaskEnds } from './acknowledge.ts';
import type { IngestTask, TaskOutcome } from './protocol.ts';
import { SLOT_UNIT_BYTES, Slots } from './slots.ts';
import type { OwnGauges } from './stats.ts';
import { IngestWorkerHandle, type LineSink, type OutcomeObserver } from './worker-handle.ts';

/** Lines are taken again when this share of the memory is free. */
const ROOM_SHARE = 0.5;

/** Dependencies of the lines that an ingest worker reads itself. */
export interface OwnLinesOptions {
  /** Bytes of a memory for the lines, a multiple of 65,536. */
  bytes: number;
  nowMs: () => number;
  /** Takes tasks, whose ends are told to the lines. */
  give: (tasks: IngestTask[]) => void;
  /** Receives the outcome of a task. */
  observe: OutcomeObserver;
}

/**
 * The lines that an ingest worker reads from sockets of its own: tasks that it gives itself, without a message. They
 * lie in memory that is not shared, which is copied faster.
 */
export class OwnLines implements TaskEnds {
  readonly #thread: IngestWorkerHandle;
  #takes = true;
  #waiting: (() => void)[] = [];

  constructor({ bytes, nowMs, give, observe }: OwnLinesOptions) {
    const pages = bytes / SLOT_UNIT_BYTES;
    const slots = new Slots(new WebAssembly.Memory({ initial: pages, maximum: pages }), 0);
    const post = ({ tasks }: { tasks: IngestTask[] }): void => {
      give(tasks.map((task) => ({ ...task, own: slots.bytes })));
    };
    this.#thread = new IngestWorkerHandle(slots, { post }, nowMs, observe);
  }

  /** Load of these lines. */
  get gauges(): OwnGauges {
    const { unreadBytes, pendingCount, slots } = this.#thread;
    return { unreadBytes, pendingCount, takenBytes: slots.totalBytes - slots.freeBytes };
  }

  /** Set while lines may be taken. */
  set takesLines(takes: boolean) {
    this.#takes = takes;
    this.#thread.takesLines = takes;
    this.#resume();
  }

  /** Takes lines. */
  get sink(): LineSink {
    return this.#thread;
  }

  /** Calls `resume` once, when there is room again: `sink` has said that there is none. */
  whenRoom(resume: () => void): void {
    this.#waiting.push(resume);
  }

  free(task: number): void {
    this.#thread.report([task], []);
    this.#resume();
  }

  stored(task: number, events: number, bytes: number): void {
    this.#thread.report([], [], [task, events, bytes]);
    this.#resume();
  }

  done(outcome: TaskOutcome): void {
    this.#thread.report([], [outcome]);
    this.#resume();
  }

  #resume(): void {
    const { freeBytes, totalBytes } = this.#thread.slots;
    if (this.#waiting.length === 0 || !this.#takes || freeBytes < totalBytes * ROOM_SHARE) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
