import { getHeapStatistics } from 'node:v8';
import { openThreadPort, type ThreadTask } from '../../engine/base/pool.ts';
import { LoopWatch } from '../../engine/base/thread/loop-watch.ts';
import type { FromIngest, IngestData, ToIngest } from '../ingest/protocol.ts';
import { IngestWorker } from '../ingest/worker.ts';
import { LineCells } from './line-cells.ts';
import { WorkerSockets } from './worker-sockets.ts';

/**
 * The part of its heap at which a worker ends. At the limit V8 would end the thread and close its sockets in order. V8
 * collects at most halfway between what lives and the limit, so more than 0.6 lives by then.
 */
const HEAP_SHARE_MAX = 0.8;
const HEAP_LOOK_MS = 100;
const TICK_MS = 1_000;

/**
 * The task of an ingest thread; see `openPool`. Resolves when it was told to close and everything is durable. Whatever
 * ends the thread earlier resets its connections first, because senders take an orderly close for an acknowledgement;
 * running out of memory alone does not.
 */
export async function start(task: ThreadTask<IngestData>): Promise<void> {
  const { data, loop } = task;
  new LoopWatch(loop).begin();
  const worker = new IngestWorker(data, openThreadPort<FromIngest, ToIngest>(task), (order) => {
    void sockets.take(order);
  });
  const sockets = new WorkerSockets(worker, data.writer, new LineCells(data.lineCells));
  // It comes before the thread ends by an error that nobody caught, too.
  process.once('exit', () => sockets.lose());
  const failed = Promise.withResolvers<never>();
  const timer = setInterval(() => {
    const { used_heap_size: usedBytes, heap_size_limit: limitBytes } = getHeapStatistics();
    if (usedBytes < limitBytes * HEAP_SHARE_MAX) return;
    failed.reject(
      new Error(`the heap of an ingest worker has ${usedBytes} bytes of ${limitBytes}`),
    );
  }, HEAP_LOOK_MS);
  const ticks = setInterval(() => sockets.tick(), TICK_MS);
  try {
    await Promise.race([worker.run(), failed.promise]);
  } finally {
    clearInterval(timer);
    clearInterval(ticks);
    sockets.lose();
  }
}
