import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { openDisk } from '../../engine/base/file.ts';
import { openPort, type ThreadTask } from '../../engine/base/pool.ts';
import { openReader, type Snapshot, type UnitReader } from '../../engine/engine.ts';
import { answerJob } from './answer.ts';
import type { JobAnswer, QueryJob } from './job.ts';
import type { FromQuery, QueryData, ToQuery } from './protocol.ts';
import { Scheduler, type Units } from './scheduler.ts';

/** The task of a query thread; see `openPool`. Resolves when it was told to close. */
export async function start({ data, port: end }: ThreadTask<QueryData>): Promise<void> {
  const port = openPort<FromQuery, ToQuery>(end);
  const reader = openReader(openDisk(data.root), data.secret);
  const behind = new Int32Array(data.behind);
  const scheduler = new Scheduler({ isBehind: () => Atomics.load(behind, 0) === 1 });
  const over = Promise.withResolvers<void>();
  let snapshot: Snapshot | undefined;
  const run = async (message: Extract<ToQuery, { type: 'run' }>, at: Snapshot): Promise<void> => {
    const { query, key, job } = message;
    try {
      const answer = await scheduler.run(query, key, answerUnits(reader, at, job));
      port.post({ type: 'answer', query, answer });
    } catch (error) {
      port.post(failure(query, error));
    }
  };
  port.listen((message) => {
    if (message.type === 'run') {
      snapshot = message.snapshot ?? snapshot;
      void run(message, must(snapshot, 'snapshot'));
    } else if (message.type === 'cancel') {
      scheduler.cancel(message.query);
    } else if (message.type === 'forget') {
      reader.forget(message.segments);
    } else {
      over.resolve();
    }
  });
  port.post({ type: 'ready' });
  await over.promise;
  port.close();
  reader.close();
}

/** The units of a job; the last one writes the answer. */
function* answerUnits(reader: UnitReader, snapshot: Snapshot, job: QueryJob): Units<JobAnswer> {
  if (job.type === 'list') return answerJob(job, yield* reader.list(snapshot, job.query));
  if (job.type === 'fetch') return answerJob(job, yield* reader.fetch(snapshot, job.query));
  return answerJob(job, yield* reader.aggregate(snapshot, job.query));
}

function failure(query: number, error: unknown): FromQuery {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof EngineError ? { code: error.code } : {};
  return { type: 'failed', query, ...code, message };
}
