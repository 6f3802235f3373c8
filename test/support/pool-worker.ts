import { openThreadPort, type ThreadTask } from '../../engine/base/pool.ts';

/** A request of a test to the worker of pool.test.ts. */
export type ToWorker =
  | { say: string }
  | { sleepMs: number }
  | { waitMs: number }
  | 'end'
  | 'throw'
  | 'exit'
  | 'return'
  | 'hoard';

/** A task that echoes, with its thread and its data, until it is told something else. */
export async function start(task: ThreadTask<string>): Promise<void> {
  const { data, thread } = task;
  const port = openThreadPort<string, ToWorker>(task);
  const over = Promise.withResolvers<void>();
  port.listen((message) => {
    if (message === 'throw') {
      throw new Error('thrown in the worker');
    } else if (message === 'exit') {
      process.exit(3);
    } else if (message === 'hoard') {
      for (const hoard: object[] = []; ; ) hoard.push({ number: hoard.length });
    } else if (typeof message === 'string') {
      over.resolve();
    } else if ('sleepMs' in message) {
      setTimeout(() => port.post(`${thread} ${data} slept`), message.sleepMs);
    } else if ('waitMs' in message) {
      port.post(`${thread} ${data} waits`);
      while (port.wait(message.waitMs));
      port.post(`${thread} ${data} nothing`);
    } else {
      port.post(`${thread} ${data} ${message.say}`);
    }
  });
  await over.promise;
  port.close();
}
