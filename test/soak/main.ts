import { parseArgs } from 'node:util';
import { soak } from './soak.ts';

/** `make soak`, or `node test/soak/main.ts [--minutes 60] [--rate 1] [--seed N]`. */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const isGood = await soak(
  { minutes: Number(values.minutes), rate: Number(values.rate), seed: Number(values.seed) },
  (text) => console.log(`${new Date().toISOString().slice(11, 19)} ${text}`),
);
process.exit(isGood ? 0 : 1);
