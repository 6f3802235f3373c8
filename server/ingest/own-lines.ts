import type { TaskEnds } from './acknowledge.ts';
import type { IngestTask, TaskOutcome } from './protocol.ts';
import { Slots } from './slots.ts';
import type { OwnGauges } from './stats.ts';
import { IngestWorkerHandle, type LineSink, type OutcomeObserver } from './worker-handle.ts';

/** Lines are taken again when this share of the memory is free. */
const ROOM_SHARE = 0.5;

/** Dependencies of the lines that an ingest worker reads itself. */
export interface OwnLinesOptions {
  memory: WebAssembly.Memory;
  /** Bytes of the memory, the first ones, for the lines. */
  bytes: number;
  nowMs: () => number;
  /** Takes tasks, whose ends are told to the lines. */
  give: (tasks: IngestTask[]) => void;
  /** Receives the outcome of a task. */
  observe: OutcomeObserver;
}

/** The lines that an ingest worker reads from sockets of its own: tasks that it gives itself, without a message. */
export class OwnLines implements TaskEnds {
  readonly #thread: IngestWorkerHandle;
  #takes = true;
  #waiting: (() => void)[] = [];

  constructor({ memory, bytes, nowMs, give, observe }: OwnLinesOptions) {
    const slots = new Slots(memory, 0, bytes);
    this.#thread = new IngestWorkerHandle(
      slots,
      { post: ({ tasks }) => give(tasks) },
      nowMs,
      observe,
    );
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
