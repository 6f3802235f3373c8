import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { Histogram } from '../../engine/base/histogram.ts';
import { buffersIn } from '../../engine/base/moved.ts';
import { openPool, type Pool, type Port } from '../../engine/base/pool.ts';
import type { LoopWatch } from '../../engine/base/thread/loop-watch.ts';
import { Restarts, type RestartTimes } from '../../engine/base/thread/restart.ts';
import type { BlockChanges, JoinedPart } from '../../engine/engine.ts';
import type { JobAnswer, QueryJob, TailAnswer, TailJob } from './job.ts';
import { type Join, Joins, nothingOf } from './joins.ts';
import { noProgress, type QueryProgress } from './live-queries.ts';
import { Admission, type Ticket } from './load/admission.ts';
import { type HeldAnswer, settle } from './load/held-answer.ts';
import { Stopwatch } from './load/stopwatch.ts';
import { loadOf, type Work } from './load/work.ts';
import type { FromQuery, QueryData, ToQuery } from './protocol.ts';
import {
  cancelled,
  failureOf,
  overdue,
  type QueryRefusalReason,
  QueryRefused,
  stopping,
  workerDied,
} from './refusal.ts';
import type { Allowance } from './scheduler.ts';

/** Dependencies of the query pool on the front thread. */
export interface QueryPoolOptions extends QueryData {
  /** Queries of all keys, and of one, that run at once; more wait. */
  queries: number;
  perKey: number;
  /** Time that a query may take, what it waits for others not included. */
  seconds: number;
  /** Memory of all queries, with answers that clients have not taken, in 2^20 bytes. */
  totalMemoryMb: number;
  /** Changes from the committed blocks of number `since` to the current ones, as `Catalog.changes` tells them. */
  changes: (since: number | undefined) => BlockChanges | undefined;
  /**
   * A worker is gone: what waited for it has been failed. Another takes its place `delayMs` later, or some time after.
   */
  died: (error: Error, worker: number, delayMs: number) => void;
  /** The module with the worker's `start`, and the times of restarts; others in tests. */
  entry?: URL;
  /** The workers begin when it resolves, else at once; queries that come before wait. */
  after?: Promise<void>;
  restartTimes?: RestartTimes;
  /** Time in which a worker has to leave a query that was stopped; then it is ended itself. */
  leaveMs?: number;
}

/** Counts of queries since the start. */
export interface QueryCounts {
  /** Seconds of the queries that were answered, by kind. */
  readonly seconds: Readonly<Record<(QueryJob | TailJob)['type'], Histogram>>;
  readonly refused: Readonly<Record<QueryRefusalReason, number>>;
  readonly cancelled: number;
  /** Parts of scans that another worker did than the one whose query it was. */
  readonly joined: number;
}

/** Current values. */
export interface QueryGauges {
  workersUp: number;
  running: number;
  waiting: number;
  /** Bytes that count for queries and for answers that clients have not taken. */
  memoryBytes: number;
}

const CLOSE_GRACE_MS = 2_000;
/** Many times what a unit of a query takes. */
const LEAVE_MS = 10_000;
/**
 * Objects of a worker: one that takes more ends alone, and not the process. V8 collects a heap of this limit when it
 * has twice what lives, one of 2,048 and more when it has four times that.
 */
const HEAP = { oldMb: 2_000 };
/** Queries that wait: of one key, and of all. */
const WAITING_PER_KEY_MAX = 64;
const WAITING_MAX = 1_024;
const MEGABYTE = 2 ** 20;
const SECONDS_BOUNDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];

/** A query that has no answer yet. */
interface Asked extends Work {
  query: number;
  key: string;
  job: QueryJob | TailJob;
  progress: QueryProgress;
  /** Thread on which it runs, once it does. */
  thread: QueryThread | undefined;
  /** Missing for tails, and until it was let in. */
  ticket: Ticket | undefined;
  watch: Stopwatch;
  allowance: Allowance;
  isStanding: boolean;
  resolve: (answer: JobAnswer | TailAnswer) => void;
  reject: (error: Error) => void;
}

/** The front thread's side of one query worker. */
interface QueryThread {
  port: Port<ToQuery, FromQuery>;
  running: Map<number, Asked>;
  /** Queries that were stopped and that it has not left. */
  leaving: Map<number, NodeJS.Timeout>;
  /** Number of the blocks that it was told of; `undefined` before the first query. */
  version: number | undefined;
  dead: boolean;
}

/** Runs queries in worker threads, several at a time in each. */
export class QueryPool {
  readonly counts = {
    seconds: {
      list: new Histogram(SECONDS_BOUNDS),
      fetch: new Histogram(SECONDS_BOUNDS),
      export: new Histogram(SECONDS_BOUNDS),
      context: new Histogram(SECONDS_BOUNDS),
      aggregate: new Histogram(SECONDS_BOUNDS),
      attributes: new Histogram(SECONDS_BOUNDS),
      facets: new Histogram(SECONDS_BOUNDS),
      complete: new Histogram(SECONDS_BOUNDS),
      store: new Histogram(SECONDS_BOUNDS),
      tail: new Histogram(SECONDS_BOUNDS),
    },
    refused: { queue_full: 0, deadline: 0, memory: 0, cancelled: 0, worker_died: 0, stopping: 0 },
    cancelled: 0,
    joined: 0,
  } satisfies QueryCounts;
  readonly #options: QueryPoolOptions;
  readonly #pool: Pool<ToQuery, FromQuery>;
  readonly #restarts: Restarts;
  readonly #threads: QueryThread[] = [];
  readonly #admission: Admission;
  readonly #started = Promise.withResolvers<void>();
  readonly #joins = new Joins();
  #readyCount = 0;
  #nextQuery = 0;
  #closed = false;

  constructor(options: QueryPoolOptions) {
    this.#options = options;
    this.#admission = new Admission({
      running: options.queries,
      perKey: options.perKey,
      waitingPerKey: WAITING_PER_KEY_MAX,
      waiting: WAITING_MAX,
      heavyPerKey: options.workers,
      queryBytes: options.memoryMb * MEGABYTE,
      memoryBytes: options.totalMemoryMb * MEGABYTE,
    });
    this.#restarts = new Restarts({
      prepare: async () => {},
      start: (number) => this.#begin(number, this.#pool.restart(number)),
      failed: () => {},
      ...(options.restartTimes === undefined ? {} : { times: options.restartTimes }),
    });
    // Whoever does not wait for the start hears of a death by `died`.
    this.#started.promise.catch(() => {});
    const { root, secret, memoryMb, cacheMb, workers, files, behind } = options;
    this.#pool = openPool<QueryData, ToQuery, FromQuery>(
      options.entry ?? new URL('./query-worker.ts', import.meta.url),
      workers,
      () => ({ root, secret, memoryMb, cacheMb, workers, files, behind }),
      (number, error) => this.#died(number, error),
      { heap: HEAP, after: options.after },
    );
    for (const [number, port] of this.#pool.ports.entries()) {
      this.#threads.push({
        port,
        running: new Map(),
        leaving: new Map(),
        version: undefined,
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
   * Runs `job` of `key` over what is committed when its turn comes, in the worker with the fewest queries, and writes
   * into `progress` how far it is. The answer counts as memory until `held` lets it go. Rejects with what the engine
   * says, with CANCELLED when `signal` is aborted (or with the QueryRefused that it was aborted with), with
   * QueryRefused when too many queries wait, when the time is over, and when the worker is gone.
   */
  run(
    job: QueryJob,
    signal: AbortSignal,
    key: string,
    progress = noProgress(),
    held?: HeldAnswer,
  ): Promise<JobAnswer> {
    return this.#ask<JobAnswer>(job, signal, key, progress, held);
  }

  /** The same for a live tail, at once: it has one job at a time, of a few blocks. */
  tail(job: TailJob, signal: AbortSignal, key: string): Promise<TailAnswer> {
    return this.#ask<TailAnswer>(job, signal, key, noProgress());
  }

  /** Rejects as `run` does. `Answer` is what workers answer to such a job. */
  #ask<Answer extends JobAnswer | TailAnswer>(
    job: QueryJob | TailJob,
    signal: AbortSignal,
    key: string,
    progress: QueryProgress,
    held?: HeldAnswer,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw cancelled(signal);
      held?.release();
      Object.assign(progress, noProgress());
      const startedMs = performance.now();
      const over = (): void => {
        this.#endJoins(asked.query);
        asked.watch.stop();
        signal.removeEventListener('abort', gone);
      };
      const asked: Asked = {
        query: this.#nextQuery++,
        key,
        job,
        progress,
        thread: undefined,
        ticket: undefined,
        watch: new Stopwatch(this.#options.seconds * 1_000, () => this.#cancel(asked, late())),
        allowance: 'light',
        isStanding: false,
        resolve: (answer) => {
          over();
          settle(asked.ticket, answer, held);
          this.counts.seconds[job.type].add((performance.now() - startedMs) / 1_000);
          resolve(answer as Answer);
        },
        reject: (error) => {
          over();
          asked.ticket?.leave();
          this.#countFailure(error);
          reject(error);
        },
      };
      const gone = (): void => this.#cancel(asked, cancelled(signal));
      const late = (): QueryRefused => overdue(this.#options.seconds);
      signal.addEventListener('abort', gone);
      if (job.type === 'tail') {
        this.#start(asked);
        return;
      }
      try {
        asked.ticket = this.#admission.enter(key, () => this.#start(asked));
      } catch (error) {
        asked.reject(error as Error);
      }
    });
  }

  /** Has the workers let go of segments that are gone: their room on the disk is free only then. */
  forget(segments: readonly number[]): void {
    for (const { port } of this.#threads) port.post({ type: 'forget', segments });
  }

  /** Current values. */
  gauges(): QueryGauges {
    let workersUp = 0;
    let running = 0;
    for (const thread of this.#threads) {
      if (!thread.dead) workersUp++;
      running += thread.running.size;
    }
    const { waitingCount: waiting, bytes: memoryBytes } = this.#admission;
    return { workersUp, running, waiting, memoryBytes };
  }

  /** Workers that were put in the place of dead ones. */
  get restartCount(): number {
    return this.#restarts.count;
  }

  /** Lag of the workers' event loops; `undefined` for those that are not there. */
  get loops(): readonly (LoopWatch | undefined)[] {
    return this.#pool.loops.map((loop, number) =>
      this.#threads[number]?.dead === true ? undefined : loop,
    );
  }

  /** Refuses all queries, running and new, and ends the workers. */
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
    const { query, key, allowance, job } = asked;
    asked.thread = thread;
    asked.progress.state = 'running';
    asked.watch.start();
    thread.running.set(query, asked);
    // A tail's job has its blocks with it.
    const changes = job.type === 'tail' ? undefined : this.#options.changes(thread.version);
    thread.version = changes?.version ?? thread.version;
    const told = changes === undefined ? {} : { changes };
    thread.port.post({ type: 'run', query, key, allowance, job, ...told });
  }

  #cancel(asked: Asked, error: Error): void {
    this.#withdraw(asked);
    asked.reject(error);
  }

  /** Has its worker leave a query. */
  #withdraw({ thread, query }: Asked): void {
    if (thread?.running.delete(query) !== true) return;
    thread.port.post({ type: 'cancel', query });
    const kill = (): void => this.#pool.kill(this.#threads.indexOf(thread));
    thread.leaving.set(query, setTimeout(kill, this.#options.leaveMs ?? LEAVE_MS));
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
        this.#take(thread, message);
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
    thread.version = undefined;
    forgetLeaving(thread);
    for (const [, join] of this.#joins.closeAll(({ worker }) => worker === number)) {
      this.#give(join, nothingOf(join));
    }
    failAll(thread, workerDied('the query worker died'));
    this.#options.died(error, number, this.#restarts.died(number));
  }

  #take(thread: QueryThread, message: Exclude<FromQuery, { type: 'ready' }>): void {
    if (message.type === 'share') {
      this.#share(thread, message);
      return;
    }
    if (message.type === 'needs') {
      this.#stand(thread, message);
      return;
    }
    if (message.type !== 'joined') {
      const join = message.type === 'failed' ? this.#joins.close(message.query) : undefined;
      if (join === undefined) take(thread, message);
      else this.#give(join, nothingOf(join));
      return;
    }
    const join = this.#joins.close(message.query);
    if (join === undefined) return;
    if (message.part.opened.length > 0) this.counts.joined++;
    this.#give(join, message.part);
  }

  /**
   * Has a query that needs more stand still until it may take that. What waits for memory keeps none meanwhile: its
   * worker leaves it, and it begins anew.
   */
  #stand(thread: QueryThread, { query, allowance }: Extract<FromQuery, { type: 'needs' }>): void {
    const asked = thread.running.get(query);
    if (asked === undefined) return;
    asked.isStanding = true;
    asked.progress.state = 'waiting';
    asked.watch.stop();
    asked.ticket?.need(allowance, () => {
      asked.isStanding = false;
      asked.allowance = allowance;
      if (asked.thread === undefined) {
        this.#start(asked);
        return;
      }
      asked.progress.state = 'running';
      asked.watch.start();
      thread.port.post({ type: 'allow', query, allowance });
    });
    if (!asked.isStanding || allowance !== 'memory') return;
    this.#endJoins(query);
    this.#withdraw(asked);
    asked.thread = undefined;
    asked.query = this.#nextQuery++;
  }

  /** Has those workers join in a scan that have less to do than its own. */
  #share(owner: QueryThread, { query, share, scan }: Extract<FromQuery, { type: 'share' }>): void {
    const asked = owner.running.get(query);
    if (asked === undefined) return;
    const { allowance } = asked;
    const ownLoad = loadOf(owner.running.values(), allowance);
    const workers = [...this.#threads.keys()].filter((number) => {
      const { dead, running } = this.#threads[number];
      return !dead && loadOf(running.values(), allowance) < ownLoad;
    });
    const place = { owner: this.#threads.indexOf(owner), query, share };
    for (const { join, worker, joining } of this.#joins.open(
      place,
      workers,
      () => this.#nextQuery++,
    )) {
      const { port } = this.#threads[worker];
      port.post({ type: 'join', query: join, key: asked.key, allowance, scan, joining });
    }
  }

  /** Gives the findings of a thread that joined to the worker whose query it is. */
  #give({ owner, query, share }: Join, part: JoinedPart): void {
    const { port } = this.#threads[owner];
    port.post({ type: 'part', query, share, part }, buffersIn(part));
  }

  /** Stops those who joined in scans of a query that is over. */
  #endJoins(query: number): void {
    for (const [join, { worker }] of this.#joins.closeAll((one) => one.query === query)) {
      this.#threads[worker].port.post({ type: 'cancel', query: join });
    }
  }

  #leastBusy(): QueryThread | undefined {
    let best: QueryThread | undefined;
    for (const thread of this.#threads) {
      if (thread.dead || this.#closed) continue;
      if (best === undefined || compareLoads(thread, best) < 0) best = thread;
    }
    return best;
  }
}

function compareLoads({ running: a }: QueryThread, { running: b }: QueryThread): number {
  return loadOf(a.values(), 'light') - loadOf(b.values(), 'light') || a.size - b.size;
}

function take(
  thread: QueryThread,
  message: Extract<FromQuery, { type: 'progress' | 'answer' | 'failed' }>,
): void {
  const asked = thread.running.get(message.query);
  if (message.type === 'progress') {
    if (asked === undefined) return;
    asked.progress.unitsDone = message.unitsDone;
    asked.progress.unitsTotal = message.unitsTotal;
    return;
  }
  if (asked === undefined) {
    // It was stopped meanwhile, and this says that the worker has left it.
    clearTimeout(thread.leaving.get(message.query));
    thread.leaving.delete(message.query);
    return;
  }
  thread.running.delete(message.query);
  if (message.type === 'answer') asked.resolve(message.answer);
  else asked.reject(failureOf(message));
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
