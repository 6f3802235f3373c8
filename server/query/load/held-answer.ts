import type { JobAnswer, TailAnswer } from '../job.ts';
import type { Ticket } from './admission.ts';

/**
 * Memory of a request's last answer, which counts until the client has taken it. Owned by the request, which has one
 * query at a time.
 */
export class HeldAnswer {
  #release: (() => void) | undefined;

  /** Lets go of the answer before, and keeps another one until `release`. */
  keep(release: () => void): void {
    this.release();
    this.#release = release;
  }

  /** Lets go of what is kept; calling it again does nothing. */
  release(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

/** Counts an answer until its request lets it go. */
export function settle(
  ticket: Ticket | undefined,
  answer: JobAnswer | TailAnswer,
  held: HeldAnswer | undefined,
): void {
  if (ticket === undefined) return;
  if (held === undefined || !Array.isArray(answer)) {
    ticket.leave();
    return;
  }
  ticket.answered(answer.reduce((sum, { length }) => sum + length, 0));
  held.keep(() => ticket.leave());
}
