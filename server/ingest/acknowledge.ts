import type { FromIngest, TaskOutcome } from './protocol.ts';

/**
 * Collects what an ingest worker has to say of its tasks and says it in one message a turn of the event loop, as one
 * commit group ends many tasks at once.
 */
export class Acknowledger {
  readonly #post: (message: FromIngest) => void;
  #freed: number[] = [];
  #outcomes: TaskOutcome[] = [];
  #scheduled = false;

  constructor(post: (message: FromIngest) => void) {
    this.#post = post;
  }

  /** The task's slot is not read any more. */
  free(task: number): void {
    this.#freed.push(task);
    this.#schedule();
  }

  /** The task is over. */
  done(outcome: TaskOutcome): void {
    this.#outcomes.push(outcome);
    this.#schedule();
  }

  /** Says at once what was collected. */
  flush(): void {
    this.#scheduled = false;
    if (this.#freed.length === 0 && this.#outcomes.length === 0) return;
    this.#post({ type: 'report', freed: this.#freed, outcomes: this.#outcomes });
    this.#freed = [];
    this.#outcomes = [];
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.flush());
  }
}
