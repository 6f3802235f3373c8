import { Worker } from 'node:worker_threads';
import t from 'tap';
import { LoopWatch } from '../../engine/base/thread/loop-watch.ts';

t.test('lateness is told while it lasts and for a while after', async (t) => {
  let nowMs = 1_000;
  const watched = new LoopWatch(undefined, () => nowMs);
  const reader = new LoopWatch(watched.shared, () => nowMs);
  const state = (): [number, number] => [reader.stalledMs, reader.lagMs];
  t.same(state(), [0, 0], 'a thread that has not begun is not late');
  const turn = (afterMs: number): void => {
    nowMs += afterMs;
    watched.beat();
  };
  turn(0);
  turn(100);
  t.same(state(), [0, 0]);
  turn(350);
  t.same(state(), [0, 250]);
  nowMs += 5_100;
  t.same(state(), [5_000, 5_000], 'it is late now');
  turn(0);
  t.same(state(), [0, 5_000]);
  for (let turns = 0; turns < 155; turns++) turn(100);
  t.same(state(), [0, 5_000], 'that was in the window before');
  for (let turns = 0; turns < 155; turns++) turn(100);
  t.same(state(), [0, 0], 'that is forgotten');
});

t.test('another thread is watched by the same clock', async (t) => {
  const watch = new LoopWatch();
  const code = `import(${JSON.stringify(import.meta.resolve('../../engine/base/thread/loop-watch.ts'))})
    .then(({ LoopWatch }) => {
      new LoopWatch(require('node:worker_threads').workerData).begin();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const worker = new Worker(code, { eval: true, workerData: watch.shared });
  t.teardown(() => worker.terminate());
  while (watch.stalledMs < 200) await new Promise(setImmediate);
  t.ok(watch.stalledMs < 60_000);
});
