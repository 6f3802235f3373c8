import { assert, must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { openPool, type Pool } from '../../engine/base/pool.ts';
import type { LoopWatch } from '../../engine/base/thread/loop-watch.ts';
import type { MergeJob, SealResult } from '../../engine/engine.ts';
import type { FromMerge, MergeData, ToMerge } from './protocol.ts';

/** Time that a merge may take to stop. */
const STOP_GRACE_MS = 3_000;
/**
 * Time that a thread waits for the next merge, in which it has some 30 MB: a new one takes one to two CPU seconds more,
 * as nothing is compiled.
 */
const KEPT_MS = 30 * 60_000;
/** Objects of the thread; columns lie outside. */
const HEAP = { oldMb: 512 };

/** Dependencies of a merge thread on the front thread. */
export interface MergeThreadOptions {
  /** The data folder. */
  root: string;
  /** Id of the data folder, which stands in its files. */
  folderId: Uint8Array;
  /** Of the hashes that its files have. */
  seed: number;
  /** The module with the worker's `start`; another one in tests. */
  entry?: URL;
}

/** The merge that runs. */
interface Work {
  allocate: () => number;
  settled: PromiseWithResolvers<SealResult>;
}

/**
 * Runs merges, one at a time, in a thread of low priority unless they are urgent. The thread is there while there is
 * something to merge: it begins with a merge, ends half an hour after the last one, and one that dies is begun anew
 * with the next.
 */
export class MergeThread {
  readonly #options: MergeThreadOptions;
  #pool: Pool<ToMerge, FromMerge> | undefined;
  /** Set when the thread has lowered its priority, which is for good. */
  #isLow = false;
  #work: Work | undefined;
  #keeping: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: MergeThreadOptions) {
    this.#options = options;
  }

  /** Is set while a merge runs. */
  get isBusy(): boolean {
    return this.#work !== undefined;
  }

  /** Lag of its event loop; `undefined` while it is not there. */
  get loop(): LoopWatch | undefined {
    return this.#pool?.loops[0];
  }

  /** Reports whether the thread is up, with a priority that an urgent merge may have. */
  isReady({ isUrgent }: MergeJob): boolean {
    return this.#pool !== undefined && !(isUrgent && this.#isLow);
  }

  /**
   * Rewrites blocks as sealed segments; `allocate` gives their numbers. Rejects with what the engine says, with
   * CLOSED when it was stopped, and with what the thread died of. Nothing else may be running.
   */
  async run(job: MergeJob, allocate: () => number): Promise<SealResult> {
    assert(this.#work === undefined, 'one merge at a time');
    clearTimeout(this.#keeping);
    const work = { allocate, settled: Promise.withResolvers<SealResult>() };
    this.#work = work;
    try {
      if (job.isUrgent && this.#isLow) await this.#end();
      if (this.#closed) throw new EngineError('CLOSED', 'merging has ended');
      this.#pool ??= this.#begin();
      this.#isLow = !job.isUrgent || this.#isLow;
      must(this.#pool.ports[0], 'merge port').post({ type: 'run', job });
      return await work.settled.promise;
    } catch (error) {
      // Whatever the thread was doing, it is not left at it.
      await this.#end();
      throw error;
    } finally {
      this.#work = undefined;
      this.#keeping = setTimeout(() => void this.#end(), KEPT_MS).unref();
    }
  }

  /** Stops what is running, which rejects, and takes nothing more; resolves when the thread is gone. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
    // A thread that did not stop in time was ended in the midst of it, and has not said so.
    this.#work?.settled.reject(new EngineError('CLOSED', 'merging has ended'));
  }

  #begin(): Pool<ToMerge, FromMerge> {
    const { root, folderId, seed, entry } = this.#options;
    const pool = openPool<MergeData, ToMerge, FromMerge>(
      entry ?? new URL('./merge-worker.ts', import.meta.url),
      1,
      () => ({ root, folderId, seed }),
      (_, error) => {
        if (this.#work === undefined) void this.#end();
        else this.#work.settled.reject(error);
      },
      { heap: HEAP },
    );
    must(pool.ports[0], 'merge port').listen((message) => this.#take(message));
    return pool;
  }

  /** Ends the thread, when there is one, and what it does. */
  async #end(): Promise<void> {
    clearTimeout(this.#keeping);
    const pool = this.#pool;
    this.#pool = undefined;
    this.#isLow = false;
    pool?.ports[0]?.post({ type: 'stop' });
    await pool?.close(STOP_GRACE_MS);
  }

  #take(message: FromMerge): void {
    const { allocate, settled } = must(this.#work, 'the merge that a thread tells of');
    if (message.type === 'done') settled.resolve(message.result);
    else if (message.type === 'failed') settled.reject(errorOf(message));
    else {
      try {
        const segment = allocate();
        this.#pool?.ports[0]?.post({ type: 'granted', segment });
      } catch (error) {
        settled.reject(error);
      }
    }
  }
}

function errorOf({ code, systemCode, message }: Extract<FromMerge, { type: 'failed' }>): Error {
  if (code === undefined) return new Error(message);
  // The cause does not cross threads but for its code, which says whether it lay at the files.
  return new EngineError(code, message, { cause: { code: systemCode } });
}
