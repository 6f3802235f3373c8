import { QueryRefused } from './refusal.ts';

/** Progress of a query; the query pool writes it while the query waits and runs. */
export interface QueryProgress {
  state: 'waiting' | 'running';
  /** Units that are done, and units that are known of; the second grows when the blocks are gone through again. */
  unitsDone: number;
  unitsTotal: number;
}

/** A request whose queries can be asked for by an id that the client chose. */
export interface LiveQuery {
  readonly progress: QueryProgress;
  /** Aborted when the client goes away, and when the query is cancelled: then with QueryRefused. */
  readonly signal: AbortSignal;
  /** When the request came, by `performance.now()`. */
  readonly startedMs: number;
  cancel(): void;
  /** Forgets the id; to be called when the request is answered. */
  close(): void;
}

/** The progress of a query that has not begun. */
export function noProgress(): QueryProgress {
  return { state: 'waiting', unitsDone: 0, unitsTotal: 0 };
}

/**
 * The requests that run queries under ids of their own, by key: no more than there are requests. Owned by the front
 * thread.
 */
export class LiveQueries {
  readonly #byKey = new Map<string, Map<string, LiveQuery>>();

  /** Makes a request of `key` known as `id`; `undefined` when another one of the key is. */
  open(key: string, id: string, signal: AbortSignal): LiveQuery | undefined {
    const queries = this.#byKey.get(key) ?? new Map<string, LiveQuery>();
    if (queries.has(id)) return undefined;
    const cancelled = new AbortController();
    const query: LiveQuery = {
      progress: noProgress(),
      signal: AbortSignal.any([signal, cancelled.signal]),
      startedMs: performance.now(),
      cancel: () =>
        cancelled.abort(new QueryRefused(503, 'cancelled', `the query "${id}" was cancelled`)),
      close: () => {
        if (queries.get(id) !== query) return;
        queries.delete(id);
        if (queries.size === 0) this.#byKey.delete(key);
      },
    };
    // A reply in parts may never be written when the client is gone.
    query.signal.addEventListener('abort', query.close);
    queries.set(id, query);
    this.#byKey.set(key, queries);
    return query;
  }

  /** The request of `key` that is known as `id`. */
  find(key: string, id: string): LiveQuery | undefined {
    return this.#byKey.get(key)?.get(id);
  }
}
