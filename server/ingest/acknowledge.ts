import type { CommittedGroup } from '../../engine/engine.ts';
import {
  type Channel,
  type FromIngest,
  plainGroup,
  type ReportRest,
  type TaskOutcome,
} from './protocol.ts';

/** A smaller slot is freed when its task is over: a message of its own would cost more than the slot. */
const FREE_BYTES_MIN = 65_536;

/** Callers that wait for the ends of tasks. */
export interface TaskEnds {
  /** The slot of a task of `bytes` is not read any more. */
  free(task: number, bytes: number): void;
  /** The task, a body, is over: its events are stored. */
  stored(task: number, events: number, bytes: number): void;
  /** The task is over. */
  done(outcome: TaskOutcome): void;
}

/**
 * Collects the reports of an ingest worker on its tasks and sends them in one message a turn of the event loop,
 * because one commit group ends many tasks at once; the group itself goes with them. Bodies that are stored are told
 * as soon as all of the group are: their senders wait.
 */
export class Acknowledger implements TaskEnds {
  readonly #post: (message: FromIngest) => void;
  #group: CommittedGroup | undefined;
  #freed: number[] = [];
  #stored: number[] = [];
  #outcomes: TaskOutcome[] = [];
  #own: [Channel, TaskOutcome][] = [];
  #asking: (() => void)[] = [];
  /** Callers of each message that is not answered, the oldest first. */
  readonly #asked: (() => void)[][] = [];
  #scheduled = false;

  constructor(post: (message: FromIngest) => void) {
    this.#post = post;
  }

  free(task: number, bytes: number): void {
    if (bytes < FREE_BYTES_MIN) return;
    this.#freed.push(task);
    this.#schedule();
  }

  stored(task: number, events: number, bytes: number): void {
    if (this.#stored.length === 0) process.nextTick(() => this.flush());
    this.#stored.push(task, events, bytes);
  }

  done(outcome: TaskOutcome): void {
    this.#outcomes.push(outcome);
    this.#schedule();
  }

  /** A group is durable, before the tasks that it ends. What is posted otherwise has to wait for `flush`. */
  committed(group: CommittedGroup): void {
    if (this.#group !== undefined) this.flush();
    this.#group = group;
    this.#schedule();
  }

  /** A task that the worker gave itself is over: the front counts it. */
  count(channel: Channel, outcome: TaskOutcome): void {
    this.#own.push([channel, outcome]);
    this.#schedule();
  }

  /** Calls `resume` when all groups that are durable by now are in the catalog, with all that go before them. */
  whenVisible(resume: () => void): void {
    this.#asking.push(resume);
    this.#schedule();
  }

  /** The front has taken the oldest message that asks. */
  visible(): void {
    for (const resume of this.#asked.shift() ?? []) resume();
  }

  /** Says at once what was collected. */
  flush(): void {
    this.#scheduled = false;
    const rest = this.#takeRest();
    if (this.#group === undefined && this.#stored.length === 0 && rest === undefined) return;
    const group = this.#group && plainGroup(this.#group);
    this.#post({ type: 'report', group, stored: this.#stored, rest });
    this.#group = undefined;
    this.#stored = [];
  }

  #takeRest(): ReportRest | undefined {
    const asks = this.#asking.length > 0;
    const count = this.#freed.length + this.#outcomes.length + this.#own.length;
    if (count === 0 && !asks) return undefined;
    if (asks) this.#asked.push(this.#asking);
    const rest = { freed: this.#freed, outcomes: this.#outcomes, own: this.#own, asks };
    this.#freed = [];
    this.#outcomes = [];
    this.#own = [];
    this.#asking = [];
    return rest;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.flush());
  }
}
