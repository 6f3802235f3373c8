import t from 'tap';
import { proveService } from './prove-service.ts';

const asked = Number(process.env['FC_SEED'] ?? '');
const SEED = asked !== 0 ? asked : 11;
const REQUESTS = 60;

t.test(`over HTTP the model agrees, whatever is sealed, FC_SEED=${SEED}`, async (t) => {
  await proveService(SEED, REQUESTS);
  t.pass(`${REQUESTS} requests agree, and no answer has changed`);
});
