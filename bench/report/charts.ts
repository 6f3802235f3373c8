import { groupedBars, growthPanels, type Heading, ratioBars } from './chart.ts';
import { growths } from './growth.ts';
import { printCount } from './number.ts';
import { type Measure, measureOf, type Ratio, ratios } from './ratio.ts';
import type { FigureRow } from './row.ts';

/** A chart of a run. */
export interface Chart {
  /** The end of the file's name, without `.svg`. */
  id: string;
  title: string;
  svg: string;
}

/** Figures by which ingestion is charted. */
const INGESTION: [id: string, title: string, unit: RegExp][] = [
  ['cpu', 'Ingestion: CPU seconds per million events', /^s\/M/],
  ['disk', 'Ingestion: bytes on disk an event', /^(bytes|B)\/event$/],
];

/** A chart of ratios: the end of its file's name, and how its title begins. */
type RatioPart = readonly [id: string, what: string];
const COST: RatioPart = ['ratios', 'Our cost'];
const RATIOS: Record<Measure, RatioPart> = {
  ...{ time: COST, loading: COST },
  'first time': ['ratios-first', 'Our first time'],
  'processor time': ['ratios-cpu', 'Our processor time'],
};

/** Draws what a run has figures for: ratios to the best peer, growth with the number of events, ingestion. */
export function charts(figures: readonly FigureRow[]): Chart[] {
  const drawn: Chart[] = [];
  const compared = ratios(figures);
  const parts = Map.groupBy(compared, (entry) => RATIOS[measureOf(entry)]);
  for (const [[id, what], rows] of parts) drawn.push(...ratioCharts(id, what, figures, rows));
  drawn.push(...growthCharts(figures));
  for (const [id, title, unit] of INGESTION) {
    const rows = figures.filter((row) => unit.test(row.unit));
    if (rows.length > 0) drawn.push({ id, title, svg: bySystem(title, rows) });
  }
  return drawn;
}

/** A chart of the ratios, none where there are none. */
function ratioCharts(
  id: string,
  what: string,
  figures: readonly FigureRow[],
  compared: readonly Ratio[],
): Chart[] {
  if (compared.length === 0) return [];
  const { common, labelOf } = labelling(compared.map(({ own }) => own));
  const title = withCommon(`${what} by that of the best peer: above 1 is a loss`, common);
  const bars = compared.flatMap(({ own, best, ratio }) =>
    ratio === undefined ? [] : [{ name: `${labelOf(own)} : ${best.system}`, ratio }],
  );
  return [{ id, title, svg: ratioBars(headingOf(title, figures), bars) }];
}

/** A title with the commit, the machine, the time and the versions; settings behind a version stay out. */
function headingOf(text: string, rows: readonly FigureRow[]): Heading {
  // The last row knows all systems that took part.
  const { commit, machine, started, versions } = rows[rows.length - 1];
  const named = Object.entries(versions).map(
    ([system, version]) => `${system} ${version.replace(/ \(.*/, '')}`,
  );
  return { text, note: [commit, machine, started.slice(0, 16), ...named].join(', ') };
}

/** A chart a family of workloads; a panel a figure, with the exponents in its title. */
function growthCharts(figures: readonly FigureRow[]): Chart[] {
  return [...Map.groupBy(growths(figures), ({ family }) => family)].map(([family, all]) => {
    const same = Map.groupBy(all, ({ corpus, name, unit }) =>
      [corpus, name, unit].filter((part) => part !== undefined).join(', '),
    );
    const panels = [...same].map(([name, lines]) => ({
      title: `${name}\n${lines.map((line) => `${line.system} n^${line.exponent.toFixed(2)}`).join(', ')}`,
      lines: lines.map(({ system, points }) => ({ name: system, points })),
    }));
    const title = `${family}: growth with the number of events n`;
    return {
      id: `growth-${family}`,
      title,
      svg: growthPanels(headingOf(title, figures), panels),
    };
  });
}

/** How the figures of a chart are called: by what is not the same in all of them, which is `common`. */
function labelling(rows: readonly FigureRow[]): {
  common: string[];
  labelOf: (row: FigureRow) => string;
} {
  const partsOf = ({ workload, corpus, events }: FigureRow): (string | undefined)[] => [
    workload,
    corpus,
    events === undefined ? undefined : `${printCount(events)} events`,
  ];
  const [first] = rows.map(partsOf);
  const same = first.map((part, at) => rows.every((row) => partsOf(row)[at] === part));
  const isPart = (part: string | undefined): part is string => part !== undefined;
  return {
    common: first.filter((_, at) => same[at]).filter(isPart),
    labelOf: (row) =>
      [...partsOf(row).filter((_, at) => !same[at]), row.name].filter(isPart).join(', '),
  };
}

function withCommon(title: string, common: readonly string[]): string {
  return common.length === 0 ? title : `${title} (${common.join(', ')})`;
}

function bySystem(title: string, rows: readonly FigureRow[]): string {
  const { common, labelOf } = labelling(rows);
  const names = [...new Set(rows.map(labelOf))];
  const series = [...Map.groupBy(rows, ({ system }) => system)].map(([name, own]) => {
    const medians = new Map(own.map((row) => [labelOf(row), row.median]));
    return { name, values: names.map((label) => medians.get(label)) };
  });
  return groupedBars(headingOf(withCommon(title, common), rows), names, series);
}
