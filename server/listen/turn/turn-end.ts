import { Pace, threadPace } from './pace.ts';

/** Giver of something at the end of a turn of the event loop. */
export interface Giver {
  /** Gives it, unless it is gone; then false. */
  give(): boolean;
}

/** Requests whose bodies are whole, which give them at the end of this turn of the event loop, in one message. */
export class TurnEnd {
  readonly #pace = new Pace(threadPace());
  #requests: Giver[] = [];
  /** Requests that have given their bodies and are not answered. */
  #waiting = 0;

  /** Has a request give its body at the end of this turn. */
  add(request: Giver): void {
    this.#requests.push(request);
    if (this.#requests.length === 1) setImmediate(this.#run);
  }

  /** A request that gave its body is over. */
  answered(): void {
    this.#waiting--;
  }

  readonly #run = (): void => {
    const requests = this.#requests;
    this.#requests = [];
    for (const request of requests) if (request.give()) this.#waiting++;
    // Behind the message to the ingest thread.
    process.nextTick(() => this.#pace.turned(requests.length, this.#waiting));
  };
}
