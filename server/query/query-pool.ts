import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { openPool, type Pool, type Port } from '../../engine/base/pool.ts';
import type { Snapshot } from '../../engine/engine.ts';
import type { JobAnswer, QueryJob } from './job.ts';
import type { FromQuery, QueryData, ToQuery } from './protocol.ts';

/** What the query pool needs of the rest of the front thread. */
export interface QueryPoolOptions extends QueryData {
  workers: number;
  /** The committed blocks of this moment: the same object until something changes. */
  snapshot: () => Snapshot;
  /** A worker is gone: what waited for it has been failed. */
  died: (error: Error) => void;
  /** The module with the worker's `start`; another one in tests. */
  entry?: URL;
}

const CLOSE_GRACE_MS = 2_000;

/** A query that has no answer yet. */
interface Waiting {
  resolve: (answer: JobAnswer) => void;
  reject: (error: Error) => void;
}

/** The front thread's side of one query worker. */
interface QueryThread {
  port: Port<ToQuery, FromQuery>;
  waiting: Map<number, Waiting>;
  snapshot: Snapshot | undefined;
  dead: boolean;
}

/** Runs queries in worker threads, several at a time in each. */
export class QueryPool {
  readonly #snapshot: () => Snapshot;
  readonly #pool: Pool<ToQuery, FromQuery>;
  readonly #threads: QueryThread[];
  readonly #started = Promise.withResolvers<void>();
  #nextQuery = 0;
  #closed = false;

  constructor(options: QueryPoolOptions) {
    this.#snapshot = options.snapshot;
    const { root, secret } = options;
    this.#pool = openPool<QueryData, ToQuery, FromQuery>(
      options.entry ?? new URL('./query-worker.ts', import.meta.url),
      options.workers,
      () => ({ root, secret }),
      (number, error) => {
        const thread = must(this.#threads[number], 'query thread');
        thread.dead = true;
        this.#started.reject(error);
        failAll(thread, 'a query worker died');
        options.died(error);
      },
    );
    // Whoever does not wait for the start hears of a death by `died`.
    this.#started.promise.catch(() => {});
    let readyCount = 0;
    this.#threads = this.#pool.ports.map((port) => {
      const thread: QueryThread = { port, waiting: new Map(), snapshot: undefined, dead: false };
      port.listen((message) => {
        if (message.type !== 'ready') take(thread, message);
        else if (++readyCount === options.workers) this.#started.resolve();
      });
      return thread;
    });
  }

  /** Resolves when all workers take queries; rejects when one could not start. */
  ready(): Promise<void> {
    return this.#started.promise;
  }

  /**
   * Runs `job` over what is committed now, in the worker with the fewest queries.
   * Rejects with what the engine says, with CANCELLED when `signal` is aborted, with CLOSED when the worker is gone.
   */
  run(job: QueryJob, signal: AbortSignal): Promise<JobAnswer> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw new EngineError('CANCELLED', 'the query was cancelled');
      const thread = this.#leastBusy();
      const query = this.#nextQuery++;
      const cancel = (): void => {
        thread.port.post({ type: 'cancel', query });
        end(thread, query)?.reject(new EngineError('CANCELLED', 'the query was cancelled'));
      };
      thread.waiting.set(query, {
        resolve: (answer) => {
          signal.removeEventListener('abort', cancel);
          resolve(answer);
        },
        reject: (error) => {
          signal.removeEventListener('abort', cancel);
          reject(error);
        },
      });
      signal.addEventListener('abort', cancel);
      const snapshot = this.#snapshot();
      const known = thread.snapshot === snapshot;
      thread.snapshot = snapshot;
      thread.port.post({ type: 'run', query, job, ...(known ? {} : { snapshot }) });
    });
  }

  /** Fails what is running with CLOSED and ends the workers. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const thread of this.#threads) {
      thread.port.post({ type: 'close' });
      failAll(thread, 'the service is stopping');
    }
    await this.#pool.close(CLOSE_GRACE_MS);
  }

  #leastBusy(): QueryThread {
    const living = this.#threads.filter((thread) => !thread.dead);
    if (this.#closed || living.length === 0) {
      throw new EngineError('CLOSED', 'no query worker is running');
    }
    return living.reduce((best, thread) =>
      thread.waiting.size < best.waiting.size ? thread : best,
    );
  }
}

/** Takes a query off the waiting ones; `undefined` when it was cancelled meanwhile. */
function end(thread: QueryThread, query: number): Waiting | undefined {
  const waiting = thread.waiting.get(query);
  thread.waiting.delete(query);
  return waiting;
}

function take(thread: QueryThread, message: Exclude<FromQuery, { type: 'ready' }>): void {
  const waiting = end(thread, message.query);
  if (waiting === undefined) return;
  if (message.type === 'answer') waiting.resolve(message.answer);
  else if (message.code === undefined) waiting.reject(new Error(message.message));
  else waiting.reject(new EngineError(message.code, message.message));
}

function failAll(thread: QueryThread, why: string): void {
  for (const query of [...thread.waiting.keys()]) {
    end(thread, query)?.reject(new EngineError('CLOSED', why));
  }
}
