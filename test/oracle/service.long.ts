import t from 'tap';
import { proven } from './prove.ts';
import { proveService } from './prove-service.ts';

/** Random seeds; each is printed, and FC_SEED runs it again in `service.test.ts`. */
const SEEDS = 5;
const REQUESTS = 1_020;
const SEED_MS = 300_000;
const QUERY_WORKERS = [2, 4];

t.test(
  'over HTTP the model agrees on thousands of requests',
  { timeout: SEEDS * SEED_MS },
  async (t) => {
    for (let round = 0; round < SEEDS; round++) {
      const seed = (Math.random() * 2 ** 31) | 0;
      t.comment(`FC_SEED=${seed}`);
      await proveService(seed, REQUESTS, QUERY_WORKERS[round % 2]);
    }
    t.equal(proven.requests, SEEDS * REQUESTS);
    t.comment(`${proven.requests} requests agree, ${proven.answers} answers stayed as they were`);
  },
);
