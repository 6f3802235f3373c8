/** When what died is started again, in milliseconds. */
export interface RestartTimes {
  /** The wait after the first death; each quick one doubles it. */
  firstMs: number;
  mostMs: number;
  /** A life of at least this long makes the next wait the first one again. */
  longLifeMs: number;
}

/** Dependencies of `Restarts`. */
export interface RestartOptions {
  /** Puts in order what the dead one left, before another takes its place. When it rejects it is called again later. */
  prepare(number: number): Promise<void>;
  /** Starts another in the place of the dead one. */
  start(number: number): void;
  /** Receives the error with which `prepare` rejected. */
  failed(number: number, error: unknown): void;
  times?: RestartTimes;
}

const TIMES: RestartTimes = { firstMs: 100, mostMs: 30_000, longLifeMs: 60_000 };

/** State of a thread that is restarted. */
interface Life {
  startedMs: number;
  quickCount: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Restarts what died, by numbers from 0: soon at first, ever later when it dies quickly again and again, so that a
 * lasting cause costs little and the rest of the service goes on.
 */
export class Restarts {
  readonly #options: RestartOptions;
  readonly #times: RestartTimes;
  readonly #lives = new Map<number, Life>();
  readonly #createdMs = performance.now();
  #preparing = Promise.resolve();
  #count = 0;
  #closed = false;

  constructor(options: RestartOptions) {
    this.#options = options;
    this.#times = options.times ?? TIMES;
  }

  /** Starts that were made. */
  get count(): number {
    return this.#count;
  }

  /** Notes that number `number` died; returns the least time in milliseconds until it may start. */
  died(number: number): number {
    const nowMs = performance.now();
    let life = this.#lives.get(number);
    if (life === undefined) {
      life = { startedMs: this.#createdMs, quickCount: 0, timer: undefined };
      this.#lives.set(number, life);
    }
    if (nowMs - life.startedMs >= this.#times.longLifeMs) life.quickCount = 0;
    return this.#schedule(number, life);
  }

  /** Starts nothing any more; resolves when no `prepare` runs. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { timer } of this.#lives.values()) clearTimeout(timer);
    await this.#preparing;
  }

  #schedule(number: number, life: Life): number {
    const delayMs = Math.min(this.#times.firstMs * 2 ** life.quickCount, this.#times.mostMs);
    life.quickCount++;
    life.timer = setTimeout(() => {
      this.#preparing = this.#preparing.then(() => this.#start(number, life));
    }, delayMs);
    return delayMs;
  }

  async #start(number: number, life: Life): Promise<void> {
    if (this.#closed) return;
    try {
      await this.#options.prepare(number);
    } catch (error) {
      this.#options.failed(number, error);
      if (!this.#closed) this.#schedule(number, life);
      return;
    }
    if (this.#closed) return;
    this.#count++;
    life.startedMs = performance.now();
    this.#options.start(number);
  }
}
