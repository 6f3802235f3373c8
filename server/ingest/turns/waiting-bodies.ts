import type { UsageCells } from '../../registry/usage.ts';
import type { TaskEnds } from '../acknowledge.ts';
import type { BodyTask, IngestTask } from '../protocol.ts';
import { NOT_STORED, type Refusal } from '../refusal.ts';
import type { Reservation } from '../reservation.ts';
import type { StatCells } from '../stats.ts';

/** Usage of a task of which nothing is stored. */
export const NO_EVENTS = { events: 0, linesDropped: 0, usage: [] };

/** Bodies whose rows wait for the disk, with the events and bytes of each; their reservation is common. */
export interface WaitingBodies {
  tasks: readonly BodyTask[];
  ends: TaskEnds;
  events: readonly number[];
  bytes: readonly number[];
  reservation: Reservation;
}

/** The same, with the time when they were decoded. */
interface DecodedBodies extends WaitingBodies {
  decodedMs: number;
}

/** Dependencies of those who wait on their thread. */
export interface BodyWaitOptions {
  cells: UsageCells;
  stats: StatCells;
  /** Is called when something became durable or failed. */
  stored: () => void;
}

/** The bodies of an ingest thread that wait for the disk, by the groups that they are in. */
export class BodyWait {
  readonly #options: BodyWaitOptions;
  /** The bodies of the group that got one last, and its promise. */
  #last: { stored: Promise<void>; bodies: DecodedBodies[] } | undefined;

  constructor(options: BodyWaitOptions) {
    this.#options = options;
  }

  /** Ends bodies of a group, more of which may come, when it is durable or lost. Their slots are not read any more. */
  add(stored: Promise<void>, { tasks, ends, events, bytes, reservation }: WaitingBodies): void {
    for (const task of tasks) ends.free(task.task, task.bytes);
    const some = { tasks, ends, events, bytes, reservation, decodedMs: performance.now() };
    if (stored === this.#last?.stored) {
      this.#last.bodies.push(some);
      return;
    }
    const bodies = [some];
    this.#last = { stored, bodies };
    const over = (isStored: boolean): void => {
      if (this.#last?.stored === stored) this.#last = undefined;
      const nowMs = performance.now();
      for (const each of bodies) this.#end(each, isStored, nowMs);
      this.#options.stored();
    };
    stored.then(
      () => over(true),
      () => over(false),
    );
  }

  #end(
    { tasks, ends, events, bytes, reservation, decodedMs }: DecodedBodies,
    isStored: boolean,
    nowMs: number,
  ): void {
    if (isStored) {
      this.#options.stats.addCommit((nowMs - decodedMs) / 1_000, tasks.length);
      for (let at = 0; at < tasks.length; at++) ends.stored(tasks[at].task, events[at], bytes[at]);
    } else {
      reservation.release(this.#options.cells);
      for (const task of tasks) refuse(task, NOT_STORED, ends);
    }
  }
}

/** Ends a task of which nothing is stored. */
export function refuse(task: IngestTask, refusal: Refusal, ends: TaskEnds): void {
  ends.done({ task: task.task, ...refusal, ...NO_EVENTS });
}
