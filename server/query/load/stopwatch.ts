/** Calls back when a time has gone by in which it was running. Owned by one query. */
export class Stopwatch {
  readonly #over: () => void;
  #leftMs: number;
  #runsSinceMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** It stands at first. */
  constructor(ms: number, over: () => void) {
    this.#leftMs = ms;
    this.#over = over;
  }

  /** Goes on. */
  start(): void {
    this.#runsSinceMs = performance.now();
    this.#timer ??= setTimeout(this.#over, Math.max(0, this.#leftMs));
  }

  /** Stands until `start`. */
  stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs -= performance.now() - this.#runsSinceMs;
  }
}
