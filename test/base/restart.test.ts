import t from 'tap';
import { Restarts } from '../../engine/base/thread/restart.ts';

const TIMES = { firstMs: 1, mostMs: 8, longLifeMs: 60_000 };

t.test('quick deaths are waited for longer and longer, up to a limit', async (t) => {
  const delays: number[] = [];
  let starts = 0;
  await new Promise<void>((resolve) => {
    const restarts = new Restarts({
      prepare: async () => {},
      start: (number) => {
        t.equal(number, 3);
        starts++;
        if (starts === 6) resolve();
        else delays.push(restarts.died(number));
      },
      failed: () => t.fail('nothing failed'),
      times: TIMES,
    });
    delays.push(restarts.died(3));
  });
  t.same(delays, [1, 2, 4, 8, 8, 8]);
});

t.test('after a long life the wait is the first one again', async (t) => {
  const delays: number[] = [];
  await new Promise<void>((resolve) => {
    const restarts = new Restarts({
      prepare: async () => {},
      start: (number) => {
        if (delays.length === 3) resolve();
        else delays.push(restarts.died(number));
      },
      failed: () => t.fail('nothing failed'),
      times: { ...TIMES, longLifeMs: 0 },
    });
    delays.push(restarts.died(0));
  });
  t.same(delays, [1, 1, 1]);
});

t.test('what cannot be put in order is tried again before anything is started', async (t) => {
  const failures: unknown[] = [];
  let attempts = 0;
  let restarts: Restarts | undefined;
  await new Promise<void>((resolve) => {
    restarts = new Restarts({
      prepare: async () => {
        attempts++;
        if (attempts < 3) throw new Error('not yet');
      },
      start: () => resolve(),
      failed: (_, error) => failures.push(error),
      times: TIMES,
    });
    restarts.died(0);
  });
  t.equal(attempts, 3);
  t.equal(failures.length, 2);
  t.equal(restarts?.count, 1);
});

t.test('closed, it waits for what it prepares and starts nothing', async (t) => {
  const preparing = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const restarts = new Restarts({
    prepare: () => {
      reached.resolve();
      return preparing.promise;
    },
    start: () => t.fail('started'),
    failed: () => t.fail('failed'),
    times: TIMES,
  });
  restarts.died(0);
  await reached.promise;
  restarts.died(1);
  let closed = false;
  const closing = restarts.close().then(() => {
    closed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(closed);
  preparing.resolve();
  await closing;
  t.equal(restarts.count, 0);
});
