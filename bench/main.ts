import { parseArgs } from 'node:util';
import { planLines, runWorkloads, type Workload } from './harness.ts';
import { FOURTEEN } from './peer/questions.ts';
import { peersWorkload } from './peer/workload.ts';
import { cancelWorkload } from './workload/cancel.ts';
import { consoleWorkload } from './workload/console.ts';
import { decodeWorkload } from './workload/decode.ts';
import { fileWorkloads, ingestWorkloads } from './workload/ingest.ts';
import { latencyWorkload } from './workload/latency.ts';
import { queryHugeWorkload, queryLargeWorkload, queryWorkload } from './workload/query.ts';
import { largeQueryWorkersWorkload, queryWorkersWorkload } from './workload/query-workers.ts';
import { restartWorkload } from './workload/restart.ts';
import { smallWorkload } from './workload/small.ts';
import { steadyWorkload } from './workload/steady.ts';
import { besideWorkload, sustainedWorkload } from './workload/sustained.ts';
import { trickleWorkload } from './workload/trickle.ts';

/**
 * `make bench`, or `node bench/main.ts [--quick] [--scale 1] [--runs 3] [--file PATH] [name ...]`. Without names all
 * but the largest run; `--list` tells which these are.
 */

/** Workloads that run without names. */
const WORKLOADS: readonly Workload[] = [
  ...ingestWorkloads,
  peersWorkload('access-rough', [1_000_000, 3_000_000, 10_000_000]),
  peersWorkload('access-plain', [10_000_000], { questions: FOURTEEN }),
  queryLargeWorkload,
  queryWorkersWorkload,
  restartWorkload,
  smallWorkload,
  latencyWorkload,
  steadyWorkload,
  trickleWorkload,
  cancelWorkload,
  decodeWorkload,
  consoleWorkload,
  sustainedWorkload,
  besideWorkload,
];

/** Workloads that run only by their names: they take longer than all the others, or repeat them. */
const SEPARATE: readonly Workload[] = [
  queryWorkload,
  queryHugeWorkload,
  largeQueryWorkersWorkload,
  peersWorkload('access-rough', [1_000_000]),
  peersWorkload('access-rough', [30_000_000]),
  peersWorkload('access-rough', [50_000_000]),
];

/** Workloads of a quick run, and its size: three minutes in all. */
const QUICK = ['ingest-tcp', 'ingest-tcp-rough', 'ingest-http-rough', 'ingest-syslog'];
QUICK.push('ingest-application', 'ingest-kubernetes', 'peers-access-rough-1m', 'restart');
const QUICK_OPTIONS = { scale: 0.25, runs: 1 };

/** The workloads of these names; ends the process when there is none of a name. */
function named(names: readonly string[]): Workload[] {
  const known = [...WORKLOADS, ...SEPARATE];
  const unknown = names.filter((name) => !known.some((entry) => entry.name === name));
  if (unknown.length > 0) {
    const all = known.map(({ name }) => name).join(', ');
    console.error(`unknown workload ${unknown.join(', ')}; there are ${all}`);
    process.exit(2);
  }
  return known.filter(({ name }) => names.includes(name));
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    scale: { type: 'string' },
    runs: { type: 'string' },
    file: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const defaults = values.quick ? QUICK_OPTIONS : { scale: 1, runs: 3 };
const scale = values.scale === undefined ? defaults.scale : Number(values.scale);
const runs = values.runs === undefined ? defaults.runs : Number(values.runs);
const chosen = values.quick ? named(QUICK) : WORKLOADS;
if (values.list) {
  for (const { name, what } of WORKLOADS) console.log(`${name.padEnd(24)}${what}`);
  console.log('\nby name only:');
  for (const { name, what } of SEPARATE) console.log(`${name.padEnd(24)}${what}`);
  console.log(`\nthe plan without names:\n${planLines(chosen, { scale, runs }).join('\n')}`);
} else if (!(scale > 0 && Number.isInteger(runs) && runs > 0)) {
  console.error(`--scale ${values.scale} and --runs ${values.runs}: numbers above 0, runs whole`);
  process.exitCode = 2;
} else if (values.file !== undefined && values.file !== '') {
  await runWorkloads(fileWorkloads(values.file), { scale, runs });
} else if (positionals.length > 0) {
  await runWorkloads(named(positionals), { scale, runs });
} else {
  await runWorkloads(chosen, { scale, runs });
}
