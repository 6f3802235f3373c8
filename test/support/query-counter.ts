import { openPort, type ThreadTask } from '../../engine/base/pool.ts';
import type { FromQuery, QueryData, ToQuery } from '../../server/query/protocol.ts';
import { type QueryUnits, Scheduler } from '../../server/query/scheduler.ts';

/** Units of a turn: each takes 1 ms by the worker's clock, and a turn is 2 ms. */
export const UNITS_A_TURN = 2;

/**
 * A query worker whose queries have no end, for cancel.test.ts. `behind` counts their units, and is 1 behind that once
 * one was left.
 */
export async function start({ data, port: end }: ThreadTask<QueryData>): Promise<void> {
  const port = openPort<FromQuery, ToQuery>(end);
  const counts = new Int32Array(data.behind);
  let nowMs = 0;
  const scheduler = new Scheduler({ nowMs: () => nowMs });
  const over = Promise.withResolvers<void>();
  function* units(): QueryUnits<never> {
    for (;;) {
      nowMs++;
      Atomics.add(counts, 0, 1);
      yield;
    }
  }
  port.listen((message) => {
    if (message.type === 'run') {
      const { query, key } = message;
      scheduler.run(query, key, units()).catch(() => {
        port.post({ type: 'failed', query, code: 'CANCELLED', message: '' });
        Atomics.store(counts, 1, 1);
      });
    } else if (message.type === 'cancel') {
      scheduler.cancel(message.query);
    } else if (message.type === 'close') {
      over.resolve();
    }
  });
  port.post({ type: 'ready' });
  await over.promise;
  port.close();
}
