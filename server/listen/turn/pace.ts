/** Bodies a millisecond from which on they are let gather, and for how long that is measured. */
const BODIES_A_MS_MIN = 6;
const MEASURED_MS = 10;
/** A turn of the event loop that brought so many is worth its cost. */
const BODIES_ENOUGH = 16;
/** Share of the time in which each sender has sent a body that a rest may take, and bounds of it. */
const REST_SHARE = 1 / 16;
const REST_MS_MIN = 0.1;
const REST_MS_MAX = 0.25;

/** Dependencies of a pace on its thread. */
export interface PaceOptions {
  /** Milliseconds of a clock that is never set. */
  monotonicMs: () => number;
  /** Has the thread do nothing for so long. */
  rest: (ms: number) => void;
}

/** Makes the dependencies for the thread that calls it. */
export function threadPace(): PaceOptions {
  const cell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return {
    monotonicMs: () => performance.now(),
    rest: (ms) => void Atomics.wait(cell, 0, 0, ms),
  };
}

/**
 * Pace of the event loop while small bodies come by the thousand a second, but few a turn. A turn, a message and the
 * waking of an ingest thread cost as much as the bodies themselves; after a short rest several come in one.
 */
export class Pace {
  readonly #options: PaceOptions;
  #bodies = 0;
  #sinceMs = 0;
  #bodiesAMs = 0;
  /** The most requests that waited for their answers at a time, since it was measured last and in the time before. */
  #most = 0;
  #mostBefore = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /**
   * A turn has brought so many bodies, which were handed over, and so many requests now wait for their answers: rests
   * when more come soon. Nobody comes while all who came lately wait.
   */
  turned(bodies: number, waiting: number): void {
    const nowMs = this.#options.monotonicMs();
    const elapsedMs = nowMs - this.#sinceMs;
    this.#bodies += bodies;
    this.#most = Math.max(this.#most, waiting);
    if (elapsedMs > MEASURED_MS) {
      this.#bodiesAMs = this.#bodies / elapsedMs;
      this.#bodies = 0;
      this.#sinceMs = nowMs;
      this.#mostBefore = this.#most;
      this.#most = waiting;
    }
    const most = Math.max(this.#most, this.#mostBefore);
    const isSlow = this.#bodiesAMs < BODIES_A_MS_MIN;
    if (isSlow || bodies >= BODIES_ENOUGH || waiting >= most) return;
    const restMs = (most / this.#bodiesAMs) * REST_SHARE;
    if (restMs >= REST_MS_MIN) this.#options.rest(Math.min(restMs, REST_MS_MAX));
  }
}
