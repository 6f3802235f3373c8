import { median, print } from '../report/number.ts';

/** Percent that a figure may be worse. */
export const WORSE_MAX = 10;

/** One figure of the base and of the working tree; `before[n]` and `after[n]` were taken one after the other. */
export interface Pairs {
  name: string;
  unit: string;
  lowerIsBetter: boolean;
  before: number[];
  after: number[];
}

/** Findings from the pairs of a figure. Differences and noise are in percent, of shares (`%`) in points. */
export interface Comparison extends Pairs {
  beforeMedian: number;
  afterMedian: number;
  /** Of the medians. */
  difference: number;
  /** Of single pairs. */
  least: number;
  most: number;
  /** The most that two runs of the base differ. */
  noise: number;
  /** Worse by more than WORSE_MAX and by more than the noise, and in each pair. */
  worse: boolean;
}

/** How much more `after` is than `before`, in percent; shares differ in points. */
function more(unit: string, before: number, after: number): number {
  if (unit === '%') return after - before;
  if (before === after) return 0;
  return before === 0 ? Infinity : (100 * (after - before)) / before;
}

/** Sets the runs of the working tree against those of the base. */
export function compare(pairs: Pairs): Comparison {
  const { unit, lowerIsBetter, before, after } = pairs;
  const beforeMedian = median(before);
  const afterMedian = median(after);
  const single = before.map((value, at) => more(unit, value, after[at]));
  const least = Math.min(...before);
  // Of the median, as the difference is.
  const noise = more(unit, beforeMedian, beforeMedian + Math.max(...before) - least);
  const difference = more(unit, beforeMedian, afterMedian);
  const losses = [difference, ...single].map((value) => (lowerIsBetter ? value : -value));
  return {
    ...pairs,
    beforeMedian,
    afterMedian,
    difference,
    least: Math.min(...single),
    most: Math.max(...single),
    noise,
    worse: losses[0] > WORSE_MAX && losses[0] > noise && losses.every((loss) => loss > 0),
  };
}

/** The exit code of the process: 1 when a figure is worse, otherwise 0. */
export function exitCode(compared: readonly Comparison[]): 0 | 1 {
  return compared.some(({ worse }) => worse) ? 1 : 0;
}

const COLUMNS: [name: string, width: number][] = [
  ['', 40],
  ['base', 10],
  ['now', 10],
  ['difference', 12],
  ['of single pairs', 20],
  ['noise', 9],
  ['', 7],
];

/** The table of comparisons: a head and a line each; what is worse says so. */
export function comparisonLines(compared: readonly Comparison[]): string[] {
  const rows = compared.map((row) => {
    const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(1)} %`;
    return [
      `${row.name}, ${row.unit}`,
      print(row.beforeMedian),
      print(row.afterMedian),
      signed(row.difference),
      `${signed(row.least)} to ${signed(row.most)}`,
      `${row.noise.toFixed(1)} %`,
      row.worse ? 'worse' : '',
    ];
  });
  return [COLUMNS.map(([name]) => name), ...rows].map((cells) =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(COLUMNS[at][1]) : cell.padStart(COLUMNS[at][1])))
      .join('')
      .trimEnd(),
  );
}
