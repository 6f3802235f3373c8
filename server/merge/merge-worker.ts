import { constants, setPriority } from 'node:os';
import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { openDisk, systemCodeOf } from '../../engine/base/file.ts';
import { openPort, type ThreadTask } from '../../engine/base/pool.ts';
import { LoopWatch } from '../../engine/base/thread/loop-watch.ts';
import type { MergeJob } from '../../engine/engine.ts';
import { rewriteBlocks } from '../../engine/store/rewrite.ts';
import type { FromMerge, MergeData, ToMerge } from './protocol.ts';

/** The task of a merge thread; see `openPool`. Does one job after the other, and resolves when it is told to stop. */
export async function start({ data, port: end, loop }: ThreadTask<MergeData>): Promise<void> {
  new LoopWatch(loop).begin();
  const port = openPort<FromMerge, ToMerge>(end);
  const abort = new AbortController();
  const stopped = Promise.withResolvers<void>();
  const askers: PromiseWithResolvers<number>[] = [];
  let work: Promise<void> | undefined;
  const merge = async (job: MergeJob): Promise<void> => {
    if (!job.isUrgent) lowerPriority();
    try {
      const result = await rewriteBlocks({
        disk: openDisk(data.root),
        folderId: data.folderId,
        seed: data.seed,
        nowMs: Date.now(),
        ...job,
        allocate: () => {
          const asker = Promise.withResolvers<number>();
          askers.push(asker);
          port.post({ type: 'allocate' });
          return asker.promise;
        },
        signal: abort.signal,
      });
      port.post({ type: 'done', result });
    } catch (error) {
      port.post(failure(error));
    }
  };
  port.listen((message) => {
    if (message.type === 'run') work = merge(message.job);
    else if (message.type === 'granted') {
      must(askers.shift(), 'asker for a segment').resolve(message.segment);
    } else {
      abort.abort();
      for (const asker of askers) asker.reject(new EngineError('CLOSED', 'sealing was stopped'));
      stopped.resolve();
    }
  });
  await stopped.promise;
  await work;
}

/**
 * Lowers the priority of the calling thread, which Linux does for that thread alone: input and queries go before
 * compaction. It is not the lowest priority, with which nothing would be sealed while others take all processors.
 */
function lowerPriority(): void {
  try {
    setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Where it is not allowed, a merge takes its share of the processor as others do.
  }
}

function failure(error: unknown): FromMerge {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof EngineError ? { code: error.code } : {};
  const systemCode = systemCodeOf(error);
  return { type: 'failed', ...code, systemCode, message };
}
