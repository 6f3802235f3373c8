import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { exponentOf, growths } from '../../bench/report/growth.ts';
import { markdown } from '../../bench/report/markdown.ts';
import { ratios, standings } from '../../bench/report/ratio.ts';
import { writeReport } from '../../bench/report/report.ts';
import { figureRow, parseRun } from '../../bench/report/row.ts';
import { hasColor, ratioLines, remarkLines } from '../../bench/report/terminal.ts';
import { printSeconds, secondsLeft } from '../../bench/report/time-left.ts';
import { ORIGIN, rowOf, sampleRun } from './figures.ts';

t.test(
  'ratios are to the best peer, the greatest loss first, rates the other way round',
  async (t) => {
    const found = ratios(sampleRun().figures);
    t.same(
      found.map(({ own, best, ratio }) => [own.name, best.system, ratio]),
      [
        ['top 10 URLs', 'chdb', 3],
        ['rate', 'duckdb', 2],
        ['CPU', 'duckdb', 0.75],
        ['count of all', 'duckdb', 0.5],
      ],
    );
  },
);

t.test(
  'figures of another count of events, workload or unit are not set against each other',
  async (t) => {
    const own = rowOf('count of all', 'logseam', [1]);
    for (const more of [{ events: 10_000_000 }, { workload: 'cold' }, { unit: 'ms CPU' }])
      t.same(ratios([own, rowOf('count of all', 'duckdb', [1], more)]), [], JSON.stringify(more));
  },
);

t.test(
  'two costs of 0 are even, and one of 0 has no ratio, no loss and the last place',
  async (t) => {
    const zero = rowOf('count of all', 'duckdb', [0]);
    t.equal(ratios([rowOf('count of all', 'logseam', [0]), zero])[0]?.ratio, 1);
    const figures = [rowOf('count of all', 'logseam', [1]), zero, ...sampleRun().figures.slice(2)];
    const found = ratios(figures);
    t.match(found.at(-1), { own: { name: 'count of all' }, ratio: undefined });
    t.match(
      ratioLines(found, false).at(-1),
      /^ +- +access-plain, 1M, count of all: 1.00 ms, duckdb 0$/,
    );
    t.match(standings(found)[0], { measure: 'time', behind: 1, figures: 2 });
  },
);

t.test(
  'time, the first time, processor time and loading stand apart, and each count of events',
  async (t) => {
    const rows = [
      ['a', 2, 1, {}],
      ['b', 8, 1, {}],
      ['b', 1, 2, { unit: 'ms CPU' }],
      ['b', 3, 1, { unit: 'ms first' }],
      ['a', 1, 2, { events: 3_000_000 }],
      ['disk', 3, 2, { unit: 'bytes/event' }],
    ] as const;
    const found = ratios(
      rows.flatMap(([name, own, peer, more]) => [
        rowOf(name, 'logseam', [own], more),
        rowOf(name, 'duckdb', [peer], more),
      ]),
    );
    t.same(
      standings(found).map(({ events, measure, behind, figures, mean }) => [
        ...[events, measure, behind, figures],
        mean?.toFixed(2),
      ]),
      [
        [1_000_000, 'time', 2, 2, '4.00'],
        [1_000_000, 'first time', 1, 1, '3.00'],
        [1_000_000, 'processor time', 0, 1, '0.50'],
        [1_000_000, 'loading', 1, 1, undefined],
        [3_000_000, 'time', 0, 1, '0.50'],
      ],
    );
  },
);

t.test(
  'Markdown has ratios with losses first and marked, remarks, charts and all figures',
  async (t) => {
    const text = markdown(sampleRun(), [{ title: 'Ratios', file: 'x-ratios.svg' }]);
    const lines = text.split('\n');
    const place = (part: string): number => {
      const at = lines.findIndex((line) => line.includes(part));
      t.not(at, -1, part);
      return at;
    };
    const order = [
      '# Benchmarks of abc1234',
      '- machine: 2 x test, 4 GiB',
      '- duckdb 2.0.0',
      '## Against the best peer',
      '| access-plain | 1M | time | 1 of 2 | 1.22 |',
      '| access-plain | 1M | loading | 1 of 2 |  |',
      '| access-plain | 1M | top 10 URLs | **3.00 loss** | 300 | 100 | chdb | ms |',
      '| access-plain | 1M | rate | **2.00 loss** | 50,000 | 100,000 | duckdb | events/s |',
      '| access-plain | 1M | CPU | 0.75 | 9.00 | 12 | duckdb | s/M events |',
      '## Different, failed, not measured',
      '| **not measured** | victorialogs | peers |  |  | VICTORIALOGS_BIN names no binary |',
      '| **differs** | chdb | peers | 1M | top 10 URLs | row 3: 17 \\| 18 |',
      '![Ratios](x-ratios.svg)',
      '### peers',
      '| corpus | events | figure | logseam | duckdb | chdb | unit |',
      '| access-plain | 1M | count of all | 2.00 (1.00 to 3.00) | 4.00 |  | ms |',
      '| access-plain | 1M | newest 100 | 5.00 |  |  | ms |',
    ].map(place);
    t.same(
      order,
      [...order].sort((left, right) => left - right),
      'in this order',
    );
  },
);

t.test('Markdown of a run without peers leaves out their parts and empty columns', async (t) => {
  const row = figureRow('decode', { name: 'access log', unit: 'events/s', samples: [7] }, ORIGIN);
  const text = markdown({ figures: [row], remarks: [] }, []);
  t.match(text, 'No peer was measured.');
  t.match(text, '| figure | logseam | unit |');
  t.notMatch(text, 'Different, failed');
});

t.test('a figure with a sample that is no number is refused by its name', async (t) => {
  const figure = { name: 'times a row', unit: 'times', samples: [1, 0 / 0] };
  t.throws(() => figureRow('decode', figure, ORIGIN), /times a row: a sample of 1, NaN/);
});

t.test(
  'losses and remarks are red on a terminal only, and not where NO_COLOR is set',
  async (t) => {
    const red = (line: string): boolean => line.startsWith('\x1b[31m') && line.endsWith('\x1b[39m');
    const run = sampleRun();
    const lines = ratioLines(ratios(run.figures), true).slice(2);
    t.same(lines.map(red), [true, true, false, false]);
    t.same(remarkLines(run.remarks, true).map(red), [true, true]);
    const plain = [...ratioLines(ratios(run.figures), false), ...remarkLines(run.remarks, false)];
    t.notOk(plain.some((line) => line.includes('\x1b')));
    t.match(
      plain[0],
      'access-plain, 1M, time: behind the best peer in 1 of 2, geometric mean 1.22',
    );
    t.match(plain[2], /3\.00 loss {2}access-plain, 1M, top 10 URLs: 300 ms, chdb 100/);
    const before = process.env.NO_COLOR;
    t.teardown(() => {
      if (before === undefined) delete process.env.NO_COLOR;
      else process.env.NO_COLOR = before;
    });
    delete process.env.NO_COLOR;
    t.equal(hasColor({ isTTY: true }), true);
    t.equal(hasColor({}), false);
    process.env.NO_COLOR = '1';
    t.equal(hasColor({ isTTY: true }), false);
  },
);

t.test('the exponent of a power law is found', async (t) => {
  const law = [1e6, 3e6, 1e7].map((events): [number, number] => [events, 2 * events ** 0.7]);
  t.ok(Math.abs(exponentOf(law) - 0.7) < 1e-9);
  const rows = law.map(([events, ms]) => rowOf('top 10 URLs', 'logseam', [ms], { events }));
  const [growth] = growths([...rows.reverse(), rowOf('count of all', 'logseam', [1])]);
  t.same(growth?.points, law);
  t.equal(growths(rows.slice(0, 1)).length, 0, 'one count of events is no curve');
  const sized = law.map(([events, ms]) =>
    rowOf('top 10 URLs', 'logseam', [ms], { events, workload: `peers-${events / 1e6}m` }),
  );
  t.match(growths(sized), [{ family: 'peers', points: law }], 'workloads of several sizes');
});

t.test('a report is written beside its lines, with a chart of each kind', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'logseam-report-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const run = sampleRun();
  run.figures.push(rowOf('top 10 URLs', 'logseam', [900], { events: 3_000_000 }));
  const file = join(folder, 'run.jsonl');
  const rows = [...run.figures, ...run.remarks];
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  t.same(parseRun(readFileSync(file, 'utf8')), run, 'lines come back as they were');
  t.equal(writeReport(file), join(folder, 'run.md'));
  t.same(readdirSync(folder).sort(), [
    'run-cpu.svg',
    'run-growth-peers.svg',
    'run-ratios.svg',
    'run.jsonl',
    'run.md',
  ]);
  const text = readFileSync(join(folder, 'run.md'), 'utf8');
  const note = 'abc1234, 2 x test, 4 GiB, 2026-01-02T03:04, node 22.0.0, duckdb 2.0.0';
  for (const id of ['ratios', 'growth-peers', 'cpu']) {
    t.match(text, `(run-${id}.svg)`);
    t.match(readFileSync(join(folder, `run-${id}.svg`), 'utf8'), note, 'says of what it is');
  }
});

t.test('the time left follows sizes, what is done and the pace so far', async (t) => {
  const seconds = [100, 50, 30];
  const left = (at: number, done: number, elapsedSeconds: number): number =>
    secondsLeft({ seconds, at, done, elapsedSeconds });
  t.equal(left(0, 0, 0), 180);
  t.equal(left(1, 0, 100), 80, 'at the expected pace');
  t.equal(left(1, 0.5, 260), 110, 'at half of it');
  t.equal(left(2, 1, 500), 0);
  t.same([59.2, 61, 3.1].map(printSeconds), ['1 min 00 s', '1 min 01 s', '4 s']);
});
