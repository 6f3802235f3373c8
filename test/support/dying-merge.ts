import { appendFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ThreadTask } from '../../engine/base/pool.ts';
import { start as startWorker } from '../../server/merge/merge-worker.ts';
import type { MergeData, ToMerge } from '../../server/merge/protocol.ts';

/**
 * The merge worker, for merger.test.ts, but while the folder has a file `die`, one that dies in the midst of its work:
 * as soon as the segment that it writes has a file. Each that begins adds a line to the folder's file `begun`.
 */
export async function start(task: ThreadTask<MergeData>): Promise<void> {
  const { root } = task.data;
  appendFileSync(join(root, 'begun'), 'begun\n');
  const look = (): void => {
    const names = readdirSync(join(root, 'sealed'));
    if (names.some((name) => name.endsWith('.new'))) process.exit(1);
    setImmediate(look);
  };
  task.port.on('message', (message: ToMerge) => {
    if (message.type === 'granted' && existsSync(join(root, 'die'))) setImmediate(look);
  });
  await startWorker(task);
}
