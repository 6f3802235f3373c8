import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { historyChart, releaseLines } from './report/history.ts';
import { git } from './report/origin.ts';
import { parseRun } from './report/row.ts';

/**
 * `node bench/release.ts <file of bench/out> [--results bench/results]`: keeps the medians of a run as
 * `bench/results/<version or commit>.jsonl` and draws `bench/results/history.svg` anew. The version is the tag of the
 * commit; a run of a working tree that differs from its commit is not kept.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    results: { type: 'string', default: new URL('results', import.meta.url).pathname },
  },
});
const [file] = positionals;
const run = file === undefined ? undefined : parseRun(readFileSync(file, 'utf8'));
const commit = run?.figures[0]?.commit;
if (run === undefined || commit === undefined || commit.endsWith('+')) {
  console.error('usage: release.ts FILE.jsonl, of a run of a commit without changes');
  process.exit(2);
}
const tag = git('describe', '--tags', '--exact-match', commit);
const name = tag === 'unknown' ? commit : tag;
mkdirSync(values.results, { recursive: true });
const kept = join(values.results, `${name}.jsonl`);
writeFileSync(kept, releaseLines(run));
const releases = globSync('*.jsonl', { cwd: values.results }).map((entry) => ({
  name: basename(entry, '.jsonl'),
  run: parseRun(readFileSync(join(values.results, entry), 'utf8')),
}));
const chart = join(values.results, 'history.svg');
writeFileSync(chart, historyChart(releases));
console.log(`${kept}\n${chart}`);
