import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { removeFolder, temporaryFolder } from '../test/support/service.ts';
import { median, print } from './report/number.ts';
import { git, machineName, outFile, workingTree } from './report/origin.ts';
import { INGEST_FIGURES, ingestions } from './workload/ingest.ts';
import { type Ingestion, type IngestSample, runIngestion } from './workload/ingestion.ts';

/**
 * `make bench-pair BASE=<commit>`, or `node bench/pair.ts --base <commit> [--pairs 5] [--scale 1] [workload ...]`: the
 * service of a commit and that of the working tree, under the same load in turn, so that what the machine does
 * meanwhile falls on both. Both are fed and measured by the bench of the working tree.
 */

const ROOT = new URL('..', import.meta.url).pathname;

/** Unpacks a commit into a folder and gives it the packages that it names. */
function checkOut(commit: string, folder: string): void {
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const needed = dependencies(folder);
  const here = dependencies(ROOT);
  if (Object.keys(needed).every((name) => needed[name] === here[name])) {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  } else {
    execFileSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: folder });
  }
}

function dependencies(folder: string): Record<string, string> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies;
}

/** Percent that `after` is more than `before`. */
function more(before: number, after: number): number {
  return before === 0 ? 0 : (100 * (after - before)) / before;
}

function signed(percent: number): string {
  return `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`;
}

/** One figure of both sides. Differences and noise are in percent. */
interface Comparison {
  before: number[];
  after: number[];
  beforeMedian: number;
  afterMedian: number;
  difference: number;
  least: number;
  most: number;
  noise: number;
}

function compare(before: number[], after: number[]): Comparison {
  const pairs = before.map((value, at) => more(value, after[at]));
  // Half of the runs of the base against its other half: a difference without a cause.
  const noise = more(
    median(before.filter((_, at) => at % 2 === 0)),
    median(before.filter((_, at) => at % 2 === 1)),
  );
  return {
    before,
    after,
    beforeMedian: median(before),
    afterMedian: median(after),
    difference: more(median(before), median(after)),
    least: Math.min(...pairs),
    most: Math.max(...pairs),
    noise: Math.abs(noise),
  };
}

const COLUMNS: [string, number][] = [
  ['', 38],
  ['before', 10],
  ['after', 10],
  ['difference', 12],
  ['of single pairs', 20],
  ['noise', 8],
];

function printRow(cells: readonly string[]): void {
  const line = cells.map((cell, at) =>
    at === 0 ? cell.padEnd(COLUMNS[at][1]) : cell.padStart(COLUMNS[at][1]),
  );
  console.log(`  ${line.join('')}`);
}

async function runPairs(
  ingestion: Ingestion,
  options: { command: string; pairs: number; scale: number },
): Promise<{ before: IngestSample[]; after: IngestSample[] }> {
  const before: IngestSample[] = [];
  const after: IngestSample[] = [];
  for (let pair = 0; pair < options.pairs; pair++) {
    const run = (side: string, command?: string): Promise<IngestSample> =>
      runIngestion(ingestion, {
        scale: options.scale,
        seed: pair + 1,
        ...(command === undefined ? {} : { command }),
        progress: (text) => {
          if (process.stderr.isTTY)
            process.stderr.write(`\r\x1b[K  ... pair ${pair + 1}, ${side}: ${text}`);
        },
      });
    const steps = [
      async () => before.push(await run('before', options.command)),
      async () => after.push(await run('after')),
    ];
    // Who is first takes turns, as the machine may be warmer or slower for the second.
    if (pair % 2 === 1) steps.reverse();
    for (const step of steps) await step();
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  return { before, after };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    base: { type: 'string', default: 'main' },
    pairs: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
  },
});
const names = positionals.length === 0 ? ['ingest-tcp'] : positionals;
const wanted = ingestions.filter(({ name }) => names.includes(name));
if (wanted.length < names.length) {
  console.error(`workloads are ${ingestions.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const folder = temporaryFolder();
try {
  checkOut(values.base, folder);
  const file = outFile();
  const facts = {
    base: git('rev-parse', '--short', values.base),
    commit: workingTree(),
    machine: machineName(),
    scale: Number(values.scale),
  };
  console.log(`${facts.base} and ${facts.commit} on ${facts.machine}, scale ${facts.scale}\n`);
  for (const ingestion of wanted) {
    console.log(`${ingestion.name}, ${values.pairs} pairs: ${ingestion.what}`);
    const { before, after } = await runPairs(ingestion, {
      command: join(folder, 'server/logseam'),
      pairs: Number(values.pairs),
      scale: facts.scale,
    });
    printRow(COLUMNS.map(([name]) => name));
    for (const [name, unit, pick] of INGEST_FIGURES) {
      const row = compare(before.map(pick), after.map(pick));
      printRow([
        `${name}, ${unit}`,
        print(row.beforeMedian),
        print(row.afterMedian),
        signed(row.difference),
        `${signed(row.least)} to ${signed(row.most)}`,
        `${row.noise.toFixed(1)} %`,
      ]);
      const line = { workload: ingestion.name, name, unit, ...row, ...facts };
      appendFileSync(file, `${JSON.stringify(line)}\n`);
    }
    console.log('');
  }
  console.log(`JSON lines: ${file}`);
} finally {
  removeFolder(folder);
}
