import { print, printCount } from './number.ts';
import {
  isLoss,
  MEASURES,
  measureOf,
  printRatio,
  questionOf,
  type Ratio,
  ratios,
  standings,
} from './ratio.ts';
import type { FigureRow, Origin, Run } from './row.ts';

const MEANING =
  'A ratio above 1 is a loss: ours costs that many times what the peer costs, or is that many times slower. It is - where one of the two was too short to measure.';

/** A chart that lies beside the text. */
export interface ChartFile {
  title: string;
  /** The file's name, in the same folder. */
  file: string;
}

/**
 * Writes a run as Markdown: how ours stands against the best peer, ratios, the greatest loss first; what differed,
 * failed or was not measured; charts; all figures by workload.
 */
export function markdown(run: Run, charts: readonly ChartFile[]): string {
  const compared = ratios(run.figures);
  return [
    heading(run),
    '## Against the best peer',
    ...against(compared),
    ...remarks(run),
    ...charts.map(({ title, file }) => `![${title}](${file})`),
    '## Figures',
    'Medians, with the least and the most where there are several samples.',
    ...[...Map.groupBy(run.figures, ({ workload }) => workload)].flatMap(([workload, rows]) => [
      `### ${workload}`,
      figureTable(rows),
    ]),
    '',
  ].join('\n\n');
}

function against(compared: readonly Ratio[]): string[] {
  if (compared.length === 0) return ['No peer was measured.'];
  const tables = MEASURES.flatMap((measure) => {
    const rows = compared.filter((entry) => measureOf(entry) === measure);
    return rows.length === 0 ? [] : [`### By ${measure}`, ratioTable(rows)];
  });
  return [standingTable(compared), MEANING, ...tables];
}

function standingTable(compared: readonly Ratio[]): string {
  const rows = standings(compared).map((standing) => {
    const { corpus = '', measure, behind, figures, mean } = standing;
    return [
      ...[corpus, countOf(standing) ?? '', measure, `${behind} of ${figures}`],
      mean === undefined ? '' : printRatio(mean),
    ];
  });
  const names = ['corpus', 'events', '', 'behind', 'geometric mean of ratios'];
  return table(names, rows, [1, 3, 4]);
}

function heading({ figures, remarks: said }: Run): string {
  const origin = figures[0] ?? said[0];
  if (origin === undefined) return '# Nothing was measured';
  const versions: Origin['versions'] = {};
  // The last figure knows all systems that took part, and what of ours was measured.
  for (const row of [...said, ...figures]) Object.assign(versions, row.versions);
  return [
    `# Benchmarks of ${origin.commit}`,
    '',
    `- machine: ${origin.machine}`,
    `- started: ${origin.started}`,
    `- scale: ${origin.scale}`,
    ...Object.entries(versions).map(([system, version]) => `- ${system} ${version}`),
  ].join('\n');
}

function ratioTable(compared: readonly Ratio[]): string {
  const rows = compared.map((entry) => {
    const { own, best, ratio } = entry;
    const shown = isLoss(entry) ? `**${printRatio(ratio)} loss**` : printRatio(ratio);
    const what = [own.corpus ?? '', countOf(own) ?? '', own.name];
    return [...what, shown, print(own.median), print(best.median), best.system, own.unit];
  });
  const names = ['corpus', 'events', 'figure', 'ratio', 'ours', 'best peer', '', 'unit'];
  return table(names, rows, [1, 3, 4, 5]);
}

function remarks(run: Run): string[] {
  if (run.remarks.length === 0) return [];
  const rows = run.remarks.map(({ kind, system, workload, name, events, text }) => [
    `**${kind}**`,
    system,
    workload,
    countOf({ events }) ?? '',
    name ?? '',
    text,
  ]);
  return [
    '## Different, failed, not measured',
    table(['', 'system', 'workload', 'events', 'figure', 'why'], rows, [3]),
  ];
}

/** One row a figure, one column a system. */
function figureTable(figures: readonly FigureRow[]): string {
  const systems = [...new Set(figures.map(({ system }) => system))];
  const rows = [...Map.groupBy(figures, questionOf).values()].map((same) => {
    const [{ corpus, name, unit }] = same;
    const cells = systems.map((system) => {
      const row = same.find((entry) => entry.system === system);
      return row === undefined ? '' : withSpread(row);
    });
    return [corpus ?? '', countOf(same[0]) ?? '', name, ...cells, unit];
  });
  const numbers = systems.map((_, at) => at + 3);
  return table(['corpus', 'events', 'figure', ...systems, 'unit'], rows, [1, ...numbers]);
}

function countOf({ events }: { events?: number | undefined }): string | undefined {
  return events === undefined ? undefined : printCount(events);
}

function withSpread(row: FigureRow): string {
  if (row.samples.length < 2) return print(row.median);
  return `${print(row.median)} (${print(row.min)} to ${print(row.max)})`;
}

/** A table; columns in `numbers` are flush right, those that are empty throughout are left out. */
function table(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  numbers: readonly number[],
): string {
  const kept = names.map((_, at) => at).filter((at) => rows.some((row) => row[at] !== ''));
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const clean = (cell: string): string => cell.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
  return [
    line(kept.map((at) => names[at])),
    line(kept.map((at) => (numbers.includes(at) ? '---:' : '---'))),
    ...rows.map((row) => line(kept.map((at) => clean(row[at])))),
  ].join('\n');
}
