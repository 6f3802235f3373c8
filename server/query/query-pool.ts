import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { Histogram } from '../../engine/base/histogram.ts';
import { openPool, type Pool, type Port } from '../../engine/base/pool.ts';
import { Restarts, type RestartTimes } from '../../engine/base/restart.ts';
import type { Snapshot } from '../../engine/engine.ts';
import { Admission, type Ticket } from './admission.ts';
import type { JobAnswer, QueryJob } from './job.ts';
import type { FromQuery, QueryData, ToQuery } from './protocol.ts';
import { type QueryRefusalReason, QueryRefused } from './refusal.ts';

/** What the query pool needs of the rest of the front thread. */
export interface QueryPoolOptions extends QueryData {
  workers: number;
  /** Queries of one key that run at once; more wait. */
  perKey: number;
  /** Time that a query may take, waiting included. */
  seconds: number;
  /** The committed blocks of this moment: the same object until something changes. */
  snapshot: () => Snapshot;
  /** A worker is gone: what waited for it has been failed. Another takes its place `delayMs` later, or some time after. */
  died: (error: Error, worker: number, delayMs: number) => void;
  /** The module with the worker's `start`, and the times of restarts; others in tests. */
  entry?: URL;
  restartTimes?: RestartTimes;
  /** Time in which a worker has to leave a query that was stopped; then it is ended itself. */
  leaveMs?: number;
}

/** What queries came to since the start. */
export interface QueryCounts {
  /** Seconds of the queries that were answered, by kind. */
  readonly seconds: Readonly<Record<QueryJob['type'], Histogram>>;
  readonly refused: Readonly<Record<QueryRefusalReason, number>>;
  readonly cancelled: number;
}

/** What is going on now. */
export interface QueryGauges {
  workersUp: number;
  running: number;
  waiting: number;
}

const CLOSE_GRACE_MS = 2_000;
/** Many times what a unit of a query takes. */
const LEAVE_MS = 10_000;
/** Objects of a worker, in 2^20 bytes: one that takes more ends alone, and not the process. */
const HEAP_MB_MAX = 2_048;
/** Queries that wait: of one key, and of all. */
const WAITING_PER_KEY_MAX = 64;
const WAITING_MAX = 1_024;
const SECONDS_BOUNDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];

/** A query that has no answer yet. */
interface Asked {
  query: number;
  key: string;
  job: QueryJob;
  /** Where it runs, once it does. */
  thread: QueryThread | undefined;
  resolve: (answer: JobAnswer) => void;
  reject: (error: Error) => void;
}

/** The front thread's side of one query worker. */
interface QueryThread {
  port: Port<ToQuery, FromQuery>;
  running: Map<number, Asked>;
  /** Queries that were stopped and that it has not left. */
  leaving: Map<number, NodeJS.Timeout>;
  snapshot: Snapshot | undefined;
  dead: boolean;
}

/** Runs queries in worker threads, several at a time in each. */
export class QueryPool {
  readonly counts = {
    seconds: {
      list: new Histogram(SECONDS_BOUNDS),
      fetch: new Histogram(SECONDS_BOUNDS),
      aggregate: new Histogram(SECONDS_BOUNDS),
    },
    refused: { queue_full: 0, deadline: 0, worker_died: 0, stopping: 0 },
    cancelled: 0,
  } satisfies QueryCounts;
  readonly #options: QueryPoolOptions;
  readonly #pool: Pool<ToQuery, FromQuery>;
  readonly #restarts: Restarts;
  readonly #threads: QueryThread[] = [];
  readonly #admission: Admission;
  readonly #started = Promise.withResolvers<void>();
  #readyCount = 0;
  #nextQuery = 0;
  #closed = false;

  constructor(options: QueryPoolOptions) {
    this.#options = options;
    this.#admission = new Admission({
      perKey: options.perKey,
      waitingPerKey: WAITING_PER_KEY_MAX,
      waiting: WAITING_MAX,
    });
    this.#restarts = new Restarts({
      prepare: async () => {},
      start: (number) => this.#begin(number, this.#pool.restart(number)),
      failed: () => {},
      ...(options.restartTimes === undefined ? {} : { times: options.restartTimes }),
    });
    // Whoever does not wait for the start hears of a death by `died`.
    this.#started.promise.catch(() => {});
    const { root, secret, behind } = options;
    this.#pool = openPool<QueryData, ToQuery, FromQuery>(
      options.entry ?? new URL('./query-worker.ts', import.meta.url),
      options.workers,
      () => ({ root, secret, behind }),
      (number, error) => this.#died(number, error),
      HEAP_MB_MAX,
    );
    for (const [number, port] of this.#pool.ports.entries()) {
      this.#threads.push({
        port,
        running: new Map(),
        leaving: new Map(),
        snapshot: undefined,
        dead: false,
      });
      this.#begin(number, port);
    }
  }

  /** Resolves when all workers take queries; rejects when one could not start. */
  ready(): Promise<void> {
    return this.#started.promise;
  }

  /**
   * Runs `job` of `key` over what is committed when its turn comes, in the worker with the fewest queries.
   * Rejects with what the engine says, with CANCELLED when `signal` is aborted, with QueryRefused when too many queries
   * wait, when the time is over, and when the worker is gone.
   */
  run(job: QueryJob, signal: AbortSignal, key: string): Promise<JobAnswer> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw cancelled();
      const startedMs = performance.now();
      let ticket: Ticket | undefined;
      const over = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', gone);
        ticket?.leave();
      };
      const asked: Asked = {
        query: this.#nextQuery++,
        key,
        job,
        thread: undefined,
        resolve: (answer) => {
          over();
          this.counts.seconds[job.type].add((performance.now() - startedMs) / 1_000);
          resolve(answer);
        },
        reject: (error) => {
          over();
          this.#countFailure(error);
          reject(error);
        },
      };
      const gone = (): void => this.#cancel(asked, cancelled());
      const { seconds } = this.#options;
      const late = (): void => this.#cancel(asked, overdue(seconds));
      const timer = setTimeout(late, seconds * 1_000);
      signal.addEventListener('abort', gone);
      try {
        ticket = this.#admission.enter(key, () => this.#start(asked));
      } catch (error) {
        asked.reject(error as Error);
      }
    });
  }

  /** Has the workers let go of segments that are gone: their room on the disk is free only then. */
  forget(segments: readonly number[]): void {
    for (const { port } of this.#threads) port.post({ type: 'forget', segments });
  }

  /** What is going on now. */
  gauges(): QueryGauges {
    let workersUp = 0;
    let running = 0;
    for (const thread of this.#threads) {
      if (!thread.dead) workersUp++;
      running += thread.running.size;
    }
    return { workersUp, running, waiting: this.#admission.waitingCount };
  }

  /** Workers that were put in the place of dead ones. */
  get restartCount(): number {
    return this.#restarts.count;
  }

  /** Refuses what is running and what comes, and ends the workers. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#restarts.close();
    for (const thread of this.#threads) {
      thread.port.post({ type: 'close' });
      forgetLeaving(thread);
      failAll(thread, stopping());
    }
    await this.#pool.close(CLOSE_GRACE_MS);
  }

  #start(asked: Asked): void {
    const thread = this.#leastBusy();
    if (thread === undefined) {
      // Later, as whoever asks has no ticket yet that could be given back.
      const refusal = this.#closed ? stopping() : workerDied('no query worker is there now');
      queueMicrotask(() => asked.reject(refusal));
      return;
    }
    const { query, key, job } = asked;
    asked.thread = thread;
    thread.running.set(query, asked);
    const snapshot = this.#options.snapshot();
    const known = thread.snapshot === snapshot;
    thread.snapshot = snapshot;
    thread.port.post({ type: 'run', query, key, job, ...(known ? {} : { snapshot }) });
  }

  #cancel(asked: Asked, error: Error): void {
    const { thread, query } = asked;
    if (thread?.running.delete(query) === true) {
      thread.port.post({ type: 'cancel', query });
      const kill = (): void => this.#pool.kill(this.#threads.indexOf(thread));
      thread.leaving.set(query, setTimeout(kill, this.#options.leaveMs ?? LEAVE_MS));
    }
    asked.reject(error);
  }

  #countFailure(error: Error): void {
    if (error instanceof QueryRefused) this.counts.refused[error.reason]++;
    else if (error instanceof EngineError && error.code === 'CANCELLED') this.counts.cancelled++;
  }

  /** Listens to a worker that was started, for the first time or in the place of a dead one. */
  #begin(number: number, port: Port<ToQuery, FromQuery>): void {
    const thread = must(this.#threads[number], 'query thread');
    port.listen((message) => {
      if (message.type !== 'ready') {
        take(thread, message);
      } else if (thread.dead) {
        thread.port = port;
        thread.dead = false;
      } else if (++this.#readyCount === this.#options.workers) {
        this.#started.resolve();
      }
    });
  }

  #died(number: number, error: Error): void {
    this.#started.reject(error);
    const thread = must(this.#threads[number], 'query thread');
    thread.dead = true;
    thread.snapshot = undefined;
    forgetLeaving(thread);
    failAll(thread, workerDied('the query worker died'));
    this.#options.died(error, number, this.#restarts.died(number));
  }

  #leastBusy(): QueryThread | undefined {
    let best: QueryThread | undefined;
    for (const thread of this.#threads) {
      if (thread.dead || this.#closed) continue;
      if (best === undefined || thread.running.size < best.running.size) best = thread;
    }
    return best;
  }
}

function take(thread: QueryThread, message: Exclude<FromQuery, { type: 'ready' }>): void {
  const asked = thread.running.get(message.query);
  if (asked === undefined) {
    // It was stopped meanwhile, and this says that the worker has left it.
    clearTimeout(thread.leaving.get(message.query));
    thread.leaving.delete(message.query);
    return;
  }
  thread.running.delete(message.query);
  if (message.type === 'answer') asked.resolve(message.answer);
  else if (message.code === undefined) asked.reject(new Error(message.message));
  else asked.reject(new EngineError(message.code, message.message));
}

function forgetLeaving({ leaving }: QueryThread): void {
  for (const timer of leaving.values()) clearTimeout(timer);
  leaving.clear();
}

function failAll(thread: QueryThread, error: Error): void {
  const failed = [...thread.running.values()];
  thread.running.clear();
  for (const asked of failed) asked.reject(error);
}

function cancelled(): EngineError {
  return new EngineError('CANCELLED', 'the query was cancelled');
}

function overdue(seconds: number): QueryRefused {
  const message = `the query took longer than query_seconds allows: ${seconds}`;
  return new QueryRefused(503, 'deadline', message);
}

function workerDied(what: string): QueryRefused {
  return new QueryRefused(503, 'worker_died', `${what}, try again`);
}

function stopping(): QueryRefused {
  return new QueryRefused(503, 'stopping', 'the service is stopping');
}
