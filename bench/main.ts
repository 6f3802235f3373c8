import { parseArgs } from 'node:util';
import { runWorkloads } from './harness.ts';
import { cancelWorkload } from './workload/cancel.ts';
import { decodeWorkload } from './workload/decode.ts';
import { ingestWorkloads } from './workload/ingest.ts';
import { queryLargeWorkload, queryWorkload } from './workload/query.ts';
import { restartWorkload } from './workload/restart.ts';
import { smallWorkload } from './workload/small.ts';
import { besideWorkload, sustainedWorkload } from './workload/sustained.ts';
import { trickleWorkload } from './workload/trickle.ts';

/** `make bench`, or `node bench/main.ts [--scale 0.1] [--runs 3] [name ...]`. */

const WORKLOADS = [
  decodeWorkload,
  ...ingestWorkloads,
  sustainedWorkload,
  besideWorkload,
  restartWorkload,
  smallWorkload,
  queryWorkload,
  queryLargeWorkload,
  cancelWorkload,
  trickleWorkload,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scale: { type: 'string', default: '1' },
    runs: { type: 'string', default: '3' },
    list: { type: 'boolean', default: false },
  },
});
if (values.list) {
  for (const { name, what } of WORKLOADS) console.log(`${name.padEnd(18)}${what}`);
} else {
  const unknown = positionals.filter((name) => !WORKLOADS.some((entry) => entry.name === name));
  if (unknown.length > 0) {
    const known = WORKLOADS.map(({ name }) => name).join(', ');
    console.error(`unknown workload ${unknown.join(', ')}; there are ${known}`);
    process.exit(2);
  }
  const wanted = WORKLOADS.filter(
    ({ name }) => positionals.length === 0 || positionals.includes(name),
  );
  await runWorkloads(wanted, { scale: Number(values.scale), runs: Number(values.runs) });
}
