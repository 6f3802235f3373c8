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

/** The queries of all keys that have no answer yet. Owned by the front thread. */
export class RunningQueries {
  readonly #pool: Pick<QueryPool, 'run'>;
  readonly #queries = new Map<number, RunningQuery & { cancel(): void }>();
  #next = 1;

  constructor(pool: Pick<QueryPool, 'run'>) {
    this.#pool = pool;
  }

  /** Runs a query as the pool does, listed until it ends. Rejects with QueryRefused too when it is cancelled here. */
  async run(
    job: QueryJob,
    signal: AbortSignal,
    key: string,
    progress: QueryProgress = noProgress(),
    held?: HeldAnswer,
  ): Promise<JobAnswer> {
    const id = this.#next++;
    // AbortSignal.any takes 14 us a query, and memory until both signals are collected.
    const ending = new AbortController();
    const gone = (): void => ending.abort(signal.reason);
    if (signal.aborted) gone();
    signal.addEventListener('abort', gone);
    this.#queries.set(id, {
      ...{ id, key, kind: job.type, progress, startedMs: performance.now() },
      cancel: () =>
        ending.abort(
          new QueryRefused(503, 'cancelled', 'the query was cancelled by an administrator'),
        ),
    });
    try {
      return await this.#pool.run(job, ending.signal, key, progress, held);
    } finally {
      signal.removeEventListener('abort', gone);
      this.#queries.delete(id);
    }
  }

  /** The queries, the oldest first. */
  list(): readonly RunningQuery[] {
    return [...this.#queries.values()];
  }

  /** Cancels a query; false when it is unknown or answered. */
  cancel(id: number): boolean {
    const query = this.#queries.get(id);
    query?.cancel();
    return query !== undefined;
  }
}
