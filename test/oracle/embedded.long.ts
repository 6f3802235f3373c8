import t from 'tap';
import { proven, proveWorlds } from './prove.ts';

/** Random seeds for ten minutes; each is printed, and FC_SEED runs it again in `embedded.test.ts`. */
const LONG_MS = 600_000;
const WORLDS = 8;

t.test('the model agrees on many more worlds', { timeout: LONG_MS * 1.4 }, async (t) => {
  const untilMs = performance.now() + LONG_MS;
  while (performance.now() < untilMs) {
    const seed = (Math.random() * 2 ** 31) | 0;
    t.comment(`FC_SEED=${seed}`);
    await proveWorlds(seed, WORLDS);
  }
  t.comment(`${proven.requests} requests agree, ${proven.answers} answers stayed as they were`);
});
