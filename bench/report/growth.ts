import { geometricMean } from './number.ts';
import type { FigureRow } from './row.ts';

/** How a figure of one system grows with the number of events. */
export interface Growth {
  /** The workloads without what their names say of their size. */
  family: string;
  corpus: string | undefined;
  name: string;
  unit: string;
  system: string;
  /** (events, median), ascending. */
  points: [events: number, median: number][];
  /** Of the power law through the points: 1 is in proportion, 0 is flat. */
  exponent: number;
}

/** The slope of a straight line through the logarithms of the points, by least squares. */
export function exponentOf(points: readonly (readonly [number, number])[]): number {
  const middleX = Math.log(geometricMean(points.map(([x]) => x)));
  const middleY = Math.log(geometricMean(points.map(([, y]) => y)));
  let together = 0;
  let alone = 0;
  for (const [x, y] of points) {
    together += (Math.log(x) - middleX) * (Math.log(y) - middleY);
    alone += (Math.log(x) - middleX) ** 2;
  }
  return together / alone;
}

/** The name of a workload without its size: `query` of `query-10m`. */
export function familyOf(workload: string): string {
  return workload.replace(/-[\d.]+[km]$/, '');
}

/** The figures that were measured at two and more counts of events, in time or processor time. */
export function growths(figures: readonly FigureRow[]): Growth[] {
  const costs = figures.filter(
    ({ events, unit, median }) =>
      events !== undefined && median > 0 && /^(s|ms)( CPU)?$/.test(unit),
  );
  const found: Growth[] = [];
  const keyOf = ({ workload, corpus, name, unit, system }: FigureRow): string =>
    JSON.stringify([familyOf(workload), corpus, name, unit, system]);
  for (const rows of Map.groupBy(costs, keyOf).values()) {
    const points = rows
      .map((row): [number, number] => [row.events ?? 0, row.median])
      .sort(([left], [right]) => left - right);
    if (new Set(points.map(([events]) => events)).size < 2) continue;
    const [{ workload, corpus, name, unit, system }] = rows;
    const family = familyOf(workload);
    found.push({ family, corpus, name, unit, system, points, exponent: exponentOf(points) });
  }
  return found;
}
