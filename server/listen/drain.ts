/** Limits of the rest of a body that is dropped: bytes, time, and a pause without bytes, as a busy client makes one. */
const BYTES_MAX = 64 * 1024 * 1024;
const MS_MAX = 30_000;
const PAUSE_MS = 5_000;

/**
 * Tells when enough of a body was dropped that is refused: it ended, or pauses, or goes on for long. What a client has
 * sent and nobody read resets the connection when it is closed, and the answer is lost with it.
 */
export class Drain {
  readonly #over: () => void;
  readonly #untilMs = performance.now() + MS_MAX;
  #leftBytes = BYTES_MAX;
  #pause: NodeJS.Timeout | undefined;

  /** Calls `over` once. */
  constructor(over: () => void) {
    this.#over = over;
    this.#wait(PAUSE_MS);
  }

  /** Counts what was dropped. */
  take(bytes: number, isLast: boolean): void {
    if (this.#leftBytes <= 0) return;
    this.#leftBytes = isLast ? 0 : this.#leftBytes - bytes;
    this.#wait(this.#leftBytes <= 0 ? 0 : PAUSE_MS);
  }

  #wait(ms: number): void {
    clearTimeout(this.#pause);
    const leftMs = Math.max(0, this.#untilMs - performance.now());
    this.#pause = setTimeout(this.#over, Math.min(ms, leftMs));
  }
}
