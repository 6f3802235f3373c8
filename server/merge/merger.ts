import { must } from '../../engine/base/assert.ts';
import type { LoopWatch } from '../../engine/base/thread/loop-watch.ts';
import type { MergeJob, SealResult } from '../../engine/engine.ts';
import { MergeThread, type MergeThreadOptions } from './merge-thread.ts';

/** Runs merges in threads, each alive while it has something to do. */
export class Merger {
  readonly #threads: readonly MergeThread[];

  /** Makes a merger that runs up to `count` merges at once. */
  constructor(count: number, options: MergeThreadOptions) {
    this.#threads = Array.from({ length: count }, () => new MergeThread(options));
  }

  /** Rewrites blocks in a thread that is idle, which there has to be; see `MergeThread`. */
  run(job: MergeJob, allocate: () => number): Promise<SealResult> {
    const idle = this.#threads.filter(({ isBusy }) => !isBusy);
    const thread = idle.find((each) => each.isReady(job)) ?? must(idle[0], 'an idle merge thread');
    return thread.run(job, allocate);
  }

  /** Lag of the threads' event loops, by number; `undefined` for those that are not there. */
  get loops(): readonly (LoopWatch | undefined)[] {
    return this.#threads.map(({ loop }) => loop);
  }

  /** Stops what is running, which rejects, and takes nothing more; resolves when all threads are gone. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}
