import { openPort, type ThreadTask } from '../../engine/base/pool.ts';
import { openLiveBlocks, type SharedScan } from '../../engine/engine.ts';
import type { VisitorData } from '../../engine/query/group/shared-scan.ts';
import type { FromQuery, QueryData, ToQuery } from '../../server/query/protocol.ts';

const SCAN: SharedScan = {
  refs: new Float64Array(new SharedArrayBuffer(0)),
  cells: new Int32Array(new SharedArrayBuffer(0)),
  reach: { fromMs: 0, toMs: 1 },
  predicate: { type: 'all' },
  spec: { type: 'cube', levels: [], cellsMax: 1, memoryBytesMax: 1 },
};
const DATA: VisitorData = { type: 'cube', values: [], sizes: [], cells: new Float64Array(2) };

/**
 * A query worker that answers with what it was given, for query-pool.test.ts. Of a fetch the id says what to do:
 * `share` (offers a scan, and answers the part that comes), `hang`, `half` (hangs half done), `heavy` (needs memory),
 * `spin`, `refuse`, `break`, `exit`; otherwise it answers the number of blocks and of cancels, and the blocks that it
 * was sent (-1: none).
 */
export async function start({ data, port: end }: ThreadTask<QueryData>): Promise<void> {
  const port = openPort<FromQuery, ToQuery>(end);
  const over = Promise.withResolvers<void>();
  const live = openLiveBlocks();
  let cancelCount = 0;
  port.listen((message) => {
    if (message.type === 'close') over.resolve();
    else if (message.type === 'allow') {
      port.post({
        type: 'answer',
        query: message.query,
        answer: [new TextEncoder().encode('"allowed"')],
      });
    } else if (message.type === 'cancel') {
      cancelCount++;
      const { query } = message;
      port.post({ type: 'failed', query, code: 'CANCELLED', message: 'cancelled' });
    } else if (message.type === 'join') {
      const { query, key, joining } = message;
      if (key === 'exit') process.exit(1);
      if (key === 'refuse') port.post({ type: 'failed', query, message: 'no' });
      if (key !== 'key') return;
      const part = { member: joining.member, data: DATA, opened: [3], refuted: [], damaged: [] };
      port.post({ type: 'joined', query, part });
    } else if (message.type === 'part') {
      const { query, share, part } = message;
      const { member, opened, data } = part;
      const answer = JSON.stringify({ share, member, opened, cells: data?.type });
      port.post({ type: 'answer', query, answer: [new TextEncoder().encode(answer)] });
    } else if (message.type === 'run' && message.job.type === 'fetch') {
      const { query, job, changes } = message;
      if (changes !== undefined) live.apply(changes);
      const blockCount = live.snapshot().blocks.length;
      const { id } = job.query;
      if (id === 'hang') return;
      if (id === 'heavy' && message.allowance === 'light') {
        port.post({ type: 'needs', query, allowance: 'memory' });
        return;
      }
      if (id === 'half') {
        port.post({ type: 'progress', query, unitsDone: 5, unitsTotal: 10 });
        return;
      }
      if (id === 'share') {
        port.post({ type: 'share', query, share: 7, scan: SCAN });
        port.post({ type: 'progress', query, unitsDone: 1, unitsTotal: 2 });
        return;
      }
      while (id === 'spin');
      if (id === 'exit') process.exit(1);
      if (id === 'refuse') port.post({ type: 'failed', query, code: 'USAGE', message: 'no' });
      else if (id === 'break') port.post({ type: 'failed', query, message: 'bug' });
      else {
        const answer = JSON.stringify({
          root: data.root,
          blockCount,
          cancelCount,
          sent: changes?.added.length ?? -1,
        });
        port.post({ type: 'answer', query, answer: [new TextEncoder().encode(answer)] });
      }
    }
  });
  port.post({ type: 'ready' });
  await over.promise;
  port.close();
}
