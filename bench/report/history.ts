import { type Panel, stepPanels } from './chart.ts';
import { familyOf } from './growth.ts';
import { geometricMean, printCount } from './number.ts';
import { type FigureRow, OWN, type Run } from './row.ts';

/** Figures that were kept of one release. */
export interface Release {
  /** A version or a commit. */
  name: string;
  run: Run;
}

/** The JSON lines that are kept of a run: each sample list is its median alone. */
export function releaseLines({ figures, remarks }: Run): string {
  const kept = figures.map((row) => ({ ...row, samples: [row.median] }));
  return [...kept, ...remarks].map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** One line of the history: workloads that differ in size only, by one unit, of one size, on one machine. */
function lineOf({ workload, corpus, events, scale, machine, unit }: FigureRow): string {
  return JSON.stringify([unit, familyOf(workload), corpus, events, scale, machine]);
}

/**
 * Figures of ours over the releases: a panel a unit, a line a workload; a point is the geometric mean of
 * the figures that all releases on the line have. `x` is the index of the release.
 */
export function historyPanels(releases: readonly Release[]): Panel[] {
  const rows = releases.flatMap(({ run }, release) =>
    run.figures
      .filter(({ system, median }) => system === OWN && median > 0)
      .map((row) => ({ release, row })),
  );
  const lines = [...Map.groupBy(rows, ({ row }) => lineOf(row)).values()].map((entries) => {
    const byRelease = Map.groupBy(entries, ({ release }) => release);
    const names = [...byRelease.values()].map((some) => new Set(some.map(({ row }) => row.name)));
    const common = names.reduce((left, right) => left.intersection(right));
    const points = [...byRelease].map(([release, some]): [number, number] => {
      const medians = some.filter(({ row }) => common.has(row.name)).map(({ row }) => row.median);
      return [release, geometricMean(medians)];
    });
    return { row: entries[0].row, points };
  });
  const drawn = lines.filter(({ points }) => points.every(([, value]) => value > 0));
  return [...Map.groupBy(drawn, ({ row }) => row.unit)].map(([unit, own]) => ({
    title: unit,
    lines: own.map(({ row, points }) => ({ name: nameOf(row), points })),
  }));
}

function nameOf({ workload, corpus, events, scale, machine }: FigureRow): string {
  const count = events === undefined ? undefined : printCount(events);
  const size = scale === 1 ? undefined : `x ${scale}`;
  const about = [familyOf(workload), corpus, count, size, machine];
  return about.filter((part) => part !== undefined).join(', ');
}

/** Draws the history of all releases, in the order of their runs. Gives an SVG text. */
export function historyChart(releases: readonly Release[]): string {
  const started = ({ run }: Release): string =>
    run.figures[0]?.started ?? run.remarks[0]?.started ?? '';
  const sorted = [...releases].sort((left, right) => (started(left) < started(right) ? -1 : 1));
  const names = sorted.map(({ name }) => name);
  const machines = new Set(sorted.flatMap(({ run }) => run.figures.map(({ machine }) => machine)));
  const heading = {
    text: 'Geometric means of our figures by release',
    note: [...machines].join('; '),
  };
  return stepPanels(heading, historyPanels(sorted), names);
}
