import { parseArgs } from 'node:util';
import { runWorkloads } from '../harness.ts';
import { PEERS } from './peers.ts';
import { peersWorkload } from './workload.ts';

/** `node bench/peer/main.ts [--corpus access-plain] [--events 1000000,3000000] [peer ...]`: asks at each count. */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    corpus: { type: 'string', default: 'access-plain' },
    events: { type: 'string', default: '1000000' },
  },
});
const known = PEERS.map(({ name }) => name);
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`unknown peer ${unknown.join(', ')}; there are ${known.join(', ')}`);
  process.exit(2);
}
const names = positionals.length > 0 ? positionals : known;
const stages = values.events.split(',').map(Number);
const workload = peersWorkload(values.corpus, stages, { peers: names });
await runWorkloads([workload], { scale: 1, runs: 1 });
