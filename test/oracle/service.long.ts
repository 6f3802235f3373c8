import t from 'tap';
import { proveService } from './prove-service.ts';

/** Random seeds; each is printed, and FC_SEED runs it again in `service.test.ts`. */
const SEEDS = 5;
const REQUESTS = 500;
const SEED_MS = 300_000;

t.test(
  'over HTTP the model agrees on thousands of requests',
  { timeout: SEEDS * SEED_MS },
  async (t) => {
    for (let round = 0; round < SEEDS; round++) {
      const seed = (Math.random() * 2 ** 31) | 0;
      t.comment(`FC_SEED=${seed}`);
      await proveService(seed, REQUESTS);
      t.pass(`${REQUESTS} requests agree, and no answer has changed`);
    }
  },
);
