import t from 'tap';
import { soak } from './soak.ts';

t.test('two minutes of mixed load with kills lose, change and hide nothing', async (t) => {
  const seed = Date.now() % 1_000_000;
  t.ok(await soak({ minutes: 2, rate: 1, seed }, (text) => t.comment(text)));
});
