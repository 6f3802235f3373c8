import { EngineError } from '../../engine/base/errors.ts';

/** A query in pieces of a few milliseconds: each `next` does one, the last one returns the result. */
export type Units<T> = Generator<unknown, T, void>;

/** How long units of one query are done before the event loop has its turn. */
const TURN_MS = 2;

/** A query that is being worked on. */
interface Active {
  query: number;
  units: Units<unknown>;
  /** Time it had, counted from what the least-served query had when it came. */
  servedMs: number;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Shares one thread between queries: the next unit is always of the query that had the least time, so short ones pass
 * by long ones and none starves. Between turns the event loop works, so that messages arrive.
 */
export class Scheduler {
  readonly #nowMs: () => number;
  readonly #active = new Map<number, Active>();
  #scheduled = false;

  /** `nowMs` is a clock that does not jump. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Queries that are not done. */
  get activeCount(): number {
    return this.#active.size;
  }

  /** Works on `units` under the number `query`; rejects with CANCELLED, or with what the units throw. */
  run<T>(query: number, units: Units<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const servedMs = this.#least()?.servedMs ?? 0;
      const active = { query, units, servedMs, resolve: resolve as Active['resolve'], reject };
      this.#active.set(query, active);
      this.#schedule();
    });
  }

  /** Stops a query between two of its units; one that is over or unknown is left alone. */
  cancel(query: number): void {
    const active = this.#active.get(query);
    if (active === undefined) return;
    this.#active.delete(query);
    const error = new EngineError('CANCELLED', 'the query was cancelled');
    try {
      active.units.return(undefined);
    } finally {
      active.reject(error);
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#turn();
      if (this.#active.size > 0) this.#schedule();
    });
  }

  /** The query that had the least time; of equals the one that came last, as it waits for its first answer. */
  #least(): Active | undefined {
    let least: Active | undefined;
    for (const active of this.#active.values()) {
      if (least === undefined || active.servedMs <= least.servedMs) least = active;
    }
    return least;
  }

  #turn(): void {
    const active = this.#least();
    if (active === undefined) return;
    const startedMs = this.#nowMs();
    try {
      for (;;) {
        const step = active.units.next();
        if (step.done === true) {
          this.#active.delete(active.query);
          active.resolve(step.value);
          return;
        }
        const tookMs = this.#nowMs() - startedMs;
        if (tookMs >= TURN_MS) {
          active.servedMs += tookMs;
          return;
        }
      }
    } catch (error) {
      this.#active.delete(active.query);
      active.reject(error);
    }
  }
}
