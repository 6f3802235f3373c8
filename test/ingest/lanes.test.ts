import t from 'tap';
import { Lanes } from '../../server/ingest/turns/lanes.ts';

/**
 * Runs all jobs, each of the milliseconds that it is, in pieces of `pieceMs`; the lanes in the order of their turns.
 */
function run(lanes: Lanes<number>, pieceMs: number): number[] {
  const order: number[] = [];
  const done = new Map<number, number>();
  for (let lane = lanes.next(); lane !== undefined; lane = lanes.next()) {
    const job = lanes.first(lane) ?? 0;
    const tookMs = Math.min(pieceMs, job - (done.get(lane) ?? 0));
    const isOver = (done.get(lane) ?? 0) + tookMs === job;
    done.set(lane, isOver ? 0 : (done.get(lane) ?? 0) + tookMs);
    lanes.took(lane, tookMs, isOver);
    order.push(lane);
  }
  return order;
}

t.test('a lane with long jobs leaves the others their turns', async (t) => {
  const lanes = new Lanes<number>();
  lanes.add(1, 100);
  for (let count = 0; count < 10; count++) lanes.add(2, 1);
  const order = run(lanes, 10);
  t.same(
    order.filter((lane) => lane === 1),
    Array(10).fill(1),
  );
  t.ok(order.lastIndexOf(2) < order.length - 4, `${order}`);
});

t.test('a lane keeps the order of its jobs, however many there are', async (t) => {
  const lanes = new Lanes<number>();
  const seen: number[] = [];
  for (let job = 0; job < 5_000; job++) lanes.add(7, job);
  for (let lane = lanes.next(); lane !== undefined; lane = lanes.next()) {
    seen.push(lanes.first(lane) ?? -1);
    lanes.took(lane, 1, true);
  }
  t.same(
    seen,
    Array.from({ length: 5_000 }, (_, job) => job),
  );
});

t.test('the first jobs of a lane are taken together as far as they are alike', async (t) => {
  const lanes = new Lanes<number>();
  for (const job of [1, 3, 5, 6, 7]) lanes.add(7, job);
  lanes.add(8, 9);
  const leading = (): number[] => lanes.leading(7, (job) => job % 2 === 1);
  t.same(leading(), [1, 3, 5]);
  lanes.tookAll(7, 1, 2);
  t.same(leading(), [5]);
  lanes.tookAll(7, 1, 1);
  t.same(leading(), [6, 7], 'the first one is taken whatever it is');
  lanes.tookAll(7, 8, 2);
  t.same(leading(), []);
  t.equal(lanes.next(), 8);
});
