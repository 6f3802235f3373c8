import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { openPool, type Pool } from '../../engine/base/pool.ts';
import type { MergeJob, SealResult } from '../../engine/engine.ts';
import type { FromMerge, MergeData, ToMerge } from './protocol.ts';

/** How long a merge may take to stop. */
const STOP_GRACE_MS = 3_000;
/** Objects of the thread, in 2^20 bytes; columns lie outside. */
const HEAP_MB_MAX = 512;

/** What the merger needs of the rest of the front thread. */
export interface MergerOptions {
  /** The data folder. */
  root: string;
  /** The bytes by which the folder's files know it. */
  folderId: Uint8Array;
  /** The module with the worker's `start`; another one in tests. */
  entry?: URL;
}

/**
 * Runs merges, one at a time, each in a thread that lives for it alone, of low priority unless it is urgent: between merges it takes no
 * memory, and one that dies is begun anew with the next.
 */
export class Merger {
  readonly #options: MergerOptions;
  #pool: Pool<ToMerge, FromMerge> | undefined;
  #closed = false;

  constructor(options: MergerOptions) {
    this.#options = options;
  }

  /**
   * Rewrites blocks as sealed segments; `allocate` gives their numbers. Rejects with what the engine says, with
   * CLOSED when it was stopped, and with what the thread died of. Nothing else may be running.
   */
  async run(job: MergeJob, allocate: () => number): Promise<SealResult> {
    if (this.#closed) throw new EngineError('CLOSED', 'merging has ended');
    const { root, folderId } = this.#options;
    const settled = Promise.withResolvers<SealResult>();
    const pool = openPool<MergeData, ToMerge, FromMerge>(
      this.#options.entry ?? new URL('./merge-worker.ts', import.meta.url),
      1,
      () => ({ root, folderId, job }),
      (_, error) => settled.reject(error),
      HEAP_MB_MAX,
    );
    this.#pool = pool;
    const port = must(pool.ports[0], 'merge port');
    port.listen((message) => {
      if (message.type === 'done') settled.resolve(message.result);
      else if (message.type === 'failed') settled.reject(errorOf(message));
      else {
        try {
          port.post({ type: 'granted', segment: allocate() });
        } catch (error) {
          settled.reject(error);
        }
      }
    });
    try {
      return await settled.promise;
    } finally {
      this.#pool = undefined;
      await pool.close(STOP_GRACE_MS);
    }
  }

  /** Stops what is running, which rejects, and takes nothing more. */
  close(): void {
    this.#closed = true;
    this.#pool?.ports[0]?.post({ type: 'stop' });
  }
}

function errorOf({ code, diskFull, message }: Extract<FromMerge, { type: 'failed' }>): Error {
  if (code === undefined) return new Error(message);
  // The cause does not cross threads; what is asked of it is whether the disk was full.
  return new EngineError(code, message, diskFull ? { cause: { code: 'ENOSPC' } } : undefined);
}
