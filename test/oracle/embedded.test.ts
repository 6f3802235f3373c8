import t from 'tap';
import { proven, proveWorlds } from './prove.ts';

/** A fixed set of seeds, and one more: that of FC_SEED, or a random one. */
const SEEDS = [1, 2, 3, 4];
const WORLDS = 24;
const asked = Number(process.env['FC_SEED'] ?? '');
const seeds = [...SEEDS, asked !== 0 ? asked : (Math.random() * 2 ** 31) | 0];

for (const seed of seeds) {
  t.test(`the model agrees before and after sealing and merging, FC_SEED=${seed}`, async (t) => {
    await proveWorlds(seed, WORLDS);
    t.comment(`${proven.requests} requests agree, ${proven.answers} answers stayed as they were`);
  });
}
