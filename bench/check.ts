import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { removeFolder, temporaryFolder } from '../test/support/service.ts';
import { baseCommit, checkOut } from './guard/checkout.ts';
import {
  type Comparison,
  compare,
  comparisonLines,
  exitCode,
  WORSE_MAX,
} from './guard/comparison.ts';
import { SUBJECTS } from './guard/subject.ts';
import { clearProgress, writeProgress } from './harness.ts';
import { git, machineName, outFile, workingTree } from './report/origin.ts';

/**
 * `make bench-check BASE=<commit>`, or `node bench/check.ts [--base <commit>] [--pairs 5] [--scale 1] [name ...]`: the
 * service of a commit and that of the working tree, under the same load in turn, so that what the machine does
 * meanwhile falls on both. Both are fed and measured by the bench of the working tree. Ends with 1 when a figure is
 * worse.
 */

/** With fewer the same commit is too often worse than itself in all pairs. */
const PAIRS_MIN = 5;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    base: { type: 'string' },
    pairs: { type: 'string', default: String(PAIRS_MIN) },
    scale: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const names = positionals.length === 0 ? ['ingest-tcp', 'query'] : positionals;
const subjects = SUBJECTS.filter(({ name }) => names.includes(name));
const pairs = Number(values.pairs);
const scale = Number(values.scale);
const base = baseCommit(values.base === '' ? undefined : values.base);
const isWrong =
  subjects.length < names.length || !(pairs >= PAIRS_MIN) || !(scale > 0) || base === 'unknown';
if (values.help || isWrong) {
  const say = values.help ? console.log : console.error;
  say(`usage: check.ts [--base COMMIT] [--pairs ${PAIRS_MIN} or more] [--scale S] [name ...]`);
  say(`names are ${SUBJECTS.map(({ name }) => name).join(', ')}`);
  process.exit(values.help ? 0 : 2);
}
const folder = temporaryFolder();
try {
  checkOut(base, folder);
  const file = outFile();
  const origin = { base: base.slice(0, 7), commit: workingTree(), machine: machineName(), scale };
  console.log(`base ${origin.base}: ${git('log', '-1', '--format=%s', base)}`);
  console.log(`now ${origin.commit}, on ${origin.machine}, scale ${scale}\n`);
  const all: Comparison[] = [];
  for (const subject of subjects) {
    console.log(`${subject.name}, ${pairs} pairs: ${subject.what}`);
    const measured = await subject.measure({
      command: join(folder, 'server/logseam'),
      pairs,
      scale,
      progress: writeProgress,
    });
    clearProgress();
    const compared = measured.map(compare);
    all.push(...compared);
    console.log(`${comparisonLines(compared).join('\n')}\n`);
    for (const row of compared)
      appendFileSync(file, `${JSON.stringify({ workload: subject.name, ...row, ...origin })}\n`);
  }
  const worse = all.filter((row) => row.worse).length;
  console.log(
    worse === 0
      ? `none of ${all.length} figures is worse beyond the noise`
      : `${worse} of ${all.length} figures are worse by more than ${WORSE_MAX} % and the noise, in each pair`,
  );
  console.log(`JSON lines: ${file}`);
  process.exitCode = exitCode(all);
} finally {
  removeFolder(folder);
}
