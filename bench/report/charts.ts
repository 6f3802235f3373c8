import { groupedBars, growthPanels, ratioBars } from './chart.ts';
import { growths } from './growth.ts';
import { printCount } from './number.ts';
import { ratios } from './ratio.ts';
import type { FigureRow } from './row.ts';

/** A chart of a run. */
export interface Chart {
  /** The end of the file's name, without `.svg`. */
  id: string;
  title: string;
  svg: string;
}

/** What ingestion is charted by. */
const INGESTION: [id: string, title: string, unit: string][] = [
  ['cpu', 'Ingestion: CPU seconds per million events', 's/M events'],
  ['disk', 'Ingestion: bytes on disk an event', 'bytes/event'],
];

/** Draws what a run has figures for: ratios to the best peer, growth with the number of events, ingestion. */
export function charts(figures: readonly FigureRow[]): Chart[] {
  const drawn: Chart[] = [];
  const bars = ratios(figures)
    .filter(({ ratio }) => ratio > 0 && Number.isFinite(ratio))
    .map(({ own, best, ratio }) => ({ name: `${labelOf(own)} : ${best.system}`, ratio }));
  const ratioTitle = 'Our cost by that of the best peer: above 1 is a loss';
  if (bars.length > 0)
    drawn.push({ id: 'ratios', title: ratioTitle, svg: ratioBars(ratioTitle, bars) });
  drawn.push(...growthCharts(figures));
  for (const [id, title, unit] of INGESTION) {
    const rows = figures.filter((row) => row.unit === unit);
    if (rows.length > 0) drawn.push({ id, title, svg: bySystem(`${title}`, rows) });
  }
  return drawn;
}

/** A chart a workload; a panel a figure, with the exponents in its title. */
function growthCharts(figures: readonly FigureRow[]): Chart[] {
  return [...Map.groupBy(growths(figures), ({ workload }) => workload)].map(([workload, all]) => {
    const same = Map.groupBy(all, ({ corpus, name, unit }) =>
      [corpus, name, unit].filter((part) => part !== undefined).join(', '),
    );
    const panels = [...same].map(([name, lines]) => ({
      title: `${name}\n${lines.map((line) => `${line.system} ~ n^${line.exponent.toFixed(2)}`).join(', ')}`,
      lines: lines.map(({ system, points }) => ({ name: system, points })),
    }));
    const title = `${workload}: growth with the number of events n`;
    return { id: `growth-${workload}`, title, svg: growthPanels(title, panels) };
  });
}

function labelOf({ workload, corpus, events, name }: FigureRow): string {
  const count = events === undefined ? undefined : printCount(events);
  return [workload, corpus, count, name].filter((part) => part !== undefined).join(', ');
}

function bySystem(title: string, rows: readonly FigureRow[]): string {
  const names = [...new Set(rows.map(labelOf))];
  const series = [...Map.groupBy(rows, ({ system }) => system)].map(([name, own]) => {
    const medians = new Map(own.map((row) => [labelOf(row), row.median]));
    return { name, values: names.map((label) => medians.get(label)) };
  });
  return groupedBars(title, names, series);
}
