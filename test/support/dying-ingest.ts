import type { ThreadTask } from '../../engine/base/pool.ts';
import { type Claim, Sequences } from '../../engine/store/sequences.ts';
import { bodyTasks, type IngestData, type ToIngest } from '../../server/ingest/protocol.ts';
import { start as startWorker } from '../../server/listen/ingest-worker.ts';

/**
 * The ingest worker, for restart.test.ts, but one that dies `<ms>` after a task came in whose content has `die:<ms>`;
 * with `die:now` before it reads it; with `die:claim` when its next group has its sequences, with `die:locked` while it
 * takes them.
 */
export async function start(task: ThreadTask<IngestData>): Promise<void> {
  const memory = new Uint8Array(task.data.memory.buffer);
  task.port.on('message', (message: ToIngest) => {
    if (message.type !== 'tasks') return;
    for (const each of [...message.tasks, ...bodyTasks(message.numbers, message.keys)]) {
      const content = Buffer.from(memory.slice(each.start, each.start + each.bytes)).toString();
      const mark = /die:(\d+|now|claim|locked)/.exec(content);
      if (mark?.[1] === 'now') process.exit(1);
      if (mark?.[1] === 'claim' || mark?.[1] === 'locked') dieAtClaim(task.data, mark[1]);
      else if (mark !== null) setTimeout(() => process.exit(1), Number(mark[1]));
    }
  });
  await startWorker(task);
}

function dieAtClaim({ sequences, writer }: IngestData, place: 'claim' | 'locked'): void {
  const { claim } = Sequences.prototype;
  Sequences.prototype.claim = function (...args): Claim {
    if (place === 'locked') Atomics.store(new Int32Array(sequences, 0, 1), 0, writer + 1);
    else claim.apply(this, args);
    process.exit(1);
  };
}
