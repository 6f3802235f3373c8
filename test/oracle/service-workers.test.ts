import t from 'tap';
import { proven } from './prove.ts';
import { proveService } from './prove-service.ts';

const asked = Number(process.env['FC_SEED'] ?? '');
const SEED = asked !== 0 ? asked : 9;
const REQUESTS = 1_020;

t.test(
  `the model agrees with four query workers, whatever is sealed, FC_SEED=${SEED}`,
  async (t) => {
    await proveService(SEED, REQUESTS, 4);
    t.equal(proven.requests, REQUESTS);
    t.comment(`${proven.requests} requests agree, ${proven.answers} answers stayed as they were`);
  },
);
