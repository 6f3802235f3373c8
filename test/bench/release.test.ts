import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { historyPanels, releaseLines } from '../../bench/report/history.ts';
import { type FigureRow, parseRun } from '../../bench/report/row.ts';
import { rowOf, sampleRun } from './figures.ts';

const RELEASE = new URL('../../bench/release.ts', import.meta.url).pathname;

function release(name: string, figures: FigureRow[]) {
  return { name, run: { figures, remarks: [] } };
}

t.test('medians, their spread and remarks of a run are kept', async (t) => {
  const run = sampleRun();
  const kept = parseRun(releaseLines(run));
  t.same(kept.remarks, run.remarks);
  t.match(kept.figures[0], { name: 'count of all', samples: [2], min: 1, median: 2, max: 3 });
  t.equal(kept.figures.length, run.figures.length);
});

t.test('a point of the history is the geometric mean of what all releases have', async (t) => {
  const panels = historyPanels([
    release('v1', [rowOf('a', 'logseam', [4]), rowOf('b', 'logseam', [9])]),
    release('v2', [
      rowOf('a', 'logseam', [1]),
      rowOf('b', 'logseam', [9]),
      rowOf('new', 'logseam', [1000]),
      rowOf('a', 'duckdb', [7]),
    ]),
  ]);
  t.match(panels, [
    {
      title: 'ms',
      lines: [{ name: 'peers, access-plain, 1M, 2 x test, 4 GiB', points: [[0], [1]] }],
    },
  ]);
  t.same(
    panels[0].lines[0].points.map(([x, y]) => [x, Number(y.toFixed(9))]),
    [
      [0, 6],
      [1, 3],
    ],
  );
});

t.test('figures of another size or machine are another line', async (t) => {
  const row = rowOf('a', 'logseam', [4]);
  const others = [
    { ...row, machine: 'larger' },
    { ...row, scale: 0.1 },
    { ...row, events: 5 },
  ];
  const [panel] = historyPanels([release('v1', [row, ...others])]);
  t.equal(panel.lines.length, 4);
});

t.test('the command keeps a run and draws all that are kept', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'logseam-release-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const results = join(folder, 'results');
  const file = join(folder, 'run.jsonl');
  for (const commit of ['abc1234', 'def5678']) {
    const rows = [rowOf('a', 'logseam', [4], { commit }), rowOf('b', 'logseam', [9], { commit })];
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    execFileSync(process.execPath, ['--no-warnings', RELEASE, file, '--results', results]);
  }
  t.same(readdirSync(results).sort(), ['abc1234.jsonl', 'def5678.jsonl', 'history.svg']);
  const chart = readFileSync(join(results, 'history.svg'), 'utf8');
  for (const name of ['abc1234', 'def5678']) t.match(chart, `>${name}<`);
});

t.test('the command refuses a run of changed files', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'logseam-release-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'run.jsonl');
  writeFileSync(file, JSON.stringify(rowOf('a', 'logseam', [4], { commit: 'abc1234+' })));
  const ended = spawnSync(
    process.execPath,
    ['--no-warnings', RELEASE, file, '--results', join(folder, 'results')],
    { encoding: 'utf8' },
  );
  t.equal(ended.status, 2);
  t.match(ended.stderr, 'without changes');
  t.same(readdirSync(folder), ['run.jsonl']);
});
