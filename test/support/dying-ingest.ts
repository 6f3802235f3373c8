import type { ThreadTask } from '../../engine/base/pool.ts';
import { start as startWorker } from '../../server/ingest/ingest-worker.ts';
import type { IngestData, ToIngest } from '../../server/ingest/protocol.ts';

/**
 * The ingest worker, for restart.test.ts, but one that dies `<ms>` after a task came in whose content has `die:<ms>`; with
 * `die:now` before it reads it.
 */
export async function start(task: ThreadTask<IngestData>): Promise<void> {
  const memory = new Uint8Array(task.data.memory.buffer);
  task.port.on('message', (message: ToIngest) => {
    if (message.type !== 'tasks') return;
    for (const each of message.tasks) {
      const content = Buffer.from(memory.slice(each.start, each.start + each.bytes)).toString();
      const mark = /die:(\d+|now)/.exec(content);
      if (mark?.[1] === 'now') process.exit(1);
      if (mark !== null) setTimeout(() => process.exit(1), Number(mark[1]));
    }
  });
  await startWorker(task);
}
