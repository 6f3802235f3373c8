import type { JobAnswer, QueryJob } from './job.ts';
import { noProgress, type QueryProgress } from './live-queries.ts';
import type { HeldAnswer } from './load/held-answer.ts';
import type { QueryPool } from './query-pool.ts';
import { QueryRefused } from './refusal.ts';

/** A query that has no answer yet. */
export interface RunningQuery {
  readonly id: number;
  /** Id of the read key or user. */
  readonly key: string;
  readonly kind: QueryJob['type'];
  readonly progress: Readonly<QueryProgress>;
  /** When it was asked, by `performance.now()`. */
  readonly startedMs: number;
}

/** The one who asks a query. */
export interface Asker {
  /** Id of the read key or user. */
  readonly key: string;
  /** Gives the request when the query was slow. */
  readonly textOf?: () => string;
}

/** A query that took long, and is over. */
export interface SlowQuery extends Pick<RunningQuery, 'key' | 'kind'> {
  readonly ms: number;
  readonly endedMs: number;
  readonly state: 'answered' | 'stopped';
  /** The beginning of its request. */
  readonly text: string;
}

/** The date, and the time that passes. */
interface Clock {
  nowMs(): number;
  monotonicMs(): number;
}

const CLOCK: Clock = { nowMs: Date.now, monotonicMs: () => performance.now() };
/** Milliseconds above which a query is slow, and the slow ones that are remembered. */
const SLOW_MS = 1_000;
const SLOW_KEPT = 50;
const TEXT_MAX = 2_048;

/** The queries of all keys that have no answer yet, and the last slow ones. Owned by the front thread. */
export class RunningQueries {
  readonly #pool: Pick<QueryPool, 'run'>;
  readonly #queries = new Map<number, RunningQuery & { cancel(): void }>();
  readonly #slow: SlowQuery[] = [];
  readonly #clock: Clock;
  #next = 1;

  constructor(pool: Pick<QueryPool, 'run'>, clock = CLOCK) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /**
   * Runs a query as the pool does, listed until it ends. Rejects with QueryRefused too when it is cancelled here.
   */
  async run(
    job: QueryJob,
    signal: AbortSignal,
    { key, textOf = () => '' }: Asker,
    progress: QueryProgress = noProgress(),
    held?: HeldAnswer,
  ): Promise<JobAnswer> {
    const id = this.#next++;
    // AbortSignal.any takes 14 us a query, and memory until both signals are collected.
    const ending = new AbortController();
    const gone = (): void => ending.abort(signal.reason);
    if (signal.aborted) gone();
    signal.addEventListener('abort', gone);
    const startedMs = this.#clock.monotonicMs();
    let state: SlowQuery['state'] = 'stopped';
    this.#queries.set(id, {
      ...{ id, key, kind: job.type, progress, startedMs },
      cancel: () =>
        ending.abort(
          new QueryRefused(503, 'cancelled', 'the query was cancelled by an administrator'),
        ),
    });
    try {
      const answer = await this.#pool.run(job, ending.signal, key, progress, held);
      state = 'answered';
      return answer;
    } finally {
      signal.removeEventListener('abort', gone);
      this.#queries.delete(id);
      const ms = Math.round(this.#clock.monotonicMs() - startedMs);
      if (ms >= SLOW_MS) {
        const text = textOf().slice(0, TEXT_MAX);
        this.#slow.unshift({ key, kind: job.type, ms, endedMs: this.#clock.nowMs(), state, text });
        if (this.#slow.length > SLOW_KEPT) this.#slow.pop();
      }
    }
  }

  /** The queries, the oldest first. */
  list(): readonly RunningQuery[] {
    return [...this.#queries.values()];
  }

  /** The last slow queries, the newest first. */
  slow(): readonly SlowQuery[] {
    return this.#slow;
  }

  /** Cancels a query; false when it is unknown or answered. */
  cancel(id: number): boolean {
    const query = this.#queries.get(id);
    query?.cancel();
    return query !== undefined;
  }
}
