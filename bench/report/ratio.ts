import { geometricMean } from './number.ts';
import { type FigureRow, OWN } from './row.ts';

/** A figure of ours beside the best one of a peer in the same run. */
export interface Ratio {
  own: FigureRow;
  best: FigureRow;
  /**
   * How many times worse ours is: of a cost ours by the peer's, of a rate the peer's by ours. Above 1 it is a loss,
   * below 1 a win. Undefined when one of them is 0: that is less than was measured, not nothing.
   */
  ratio: number | undefined;
}

/** Key of the figures that can be set against each other. */
export function questionOf({ workload, corpus, events, name, unit }: FigureRow): string {
  return JSON.stringify([workload, corpus, events, name, unit]);
}

/**
 * Sets each figure of ours against the best peer that was measured in the same way: the greatest loss first, what has
 * no ratio last.
 */
export function ratios(figures: readonly FigureRow[]): Ratio[] {
  const found: Ratio[] = [];
  for (const rows of Map.groupBy(figures, questionOf).values()) {
    const own = rows.find(({ system }) => system === OWN);
    const [best] = rows
      .filter(({ system }) => system !== OWN)
      .sort((left, right) => (left.median - right.median) * (left.lowerIsBetter ? 1 : -1));
    if (own !== undefined && best !== undefined) found.push({ own, best, ratio: worse(own, best) });
  }
  return found.sort((left, right) => (right.ratio ?? 0) - (left.ratio ?? 0));
}

/** How many times worse the left one is. Two that are 0 are even. */
function worse(left: FigureRow, right: FigureRow): number | undefined {
  const [upper, lower] = left.lowerIsBetter ? [left, right] : [right, left];
  if (upper.median === lower.median) return 1;
  return upper.median === 0 || lower.median === 0 ? undefined : upper.median / lower.median;
}

/** True when ours is behind. */
export function isLoss({ ratio }: Ratio): boolean {
  return ratio !== undefined && ratio > 1;
}

/** A ratio as tables show it. */
export function printRatio(ratio: number | undefined): string {
  return ratio === undefined ? '-' : ratio.toFixed(2);
}

/** Units of what is measured of each question. Other units are of loading. */
const UNITS = { ms: 'time', 'ms first': 'first time', 'ms CPU': 'processor time' } as const;

/** Subjects of ratios, in the order in which tables have them. */
export const MEASURES = [...Object.values(UNITS), 'loading'] as const;

/** Subject of a ratio. */
export type Measure = (typeof MEASURES)[number];

/** Subject of a ratio, by the unit of its figures. */
export function measureOf({ own }: Ratio): Measure {
  return own.unit in UNITS ? UNITS[own.unit as keyof typeof UNITS] : 'loading';
}

/** How ours stands over the same events by one measure. */
export interface Standing {
  corpus: string | undefined;
  events: number | undefined;
  measure: Measure;
  behind: number;
  figures: number;
  /**
   * The geometric mean of the ratios; undefined of loading, whose figures have several units, and where there are none.
   */
  mean: number | undefined;
}

/** Counts ratios by the events that they are about, fewer events first, and by what they measure. */
export function standings(all: readonly Ratio[]): Standing[] {
  const keyOf = (entry: Ratio): string =>
    JSON.stringify([entry.own.corpus, entry.own.events, measureOf(entry)]);
  const found = [...Map.groupBy(all, keyOf).values()].map((same): Standing => {
    const [{ own }] = same;
    const measure = measureOf(same[0]);
    const known = same.map(({ ratio }) => ratio).filter((ratio) => ratio !== undefined);
    return {
      ...{ corpus: own.corpus, events: own.events, measure },
      behind: same.filter(isLoss).length,
      figures: same.length,
      mean: measure === 'loading' || known.length === 0 ? undefined : geometricMean(known),
    };
  });
  return found.sort(
    (left, right) =>
      (left.corpus ?? '').localeCompare(right.corpus ?? '') ||
      (left.events ?? 0) - (right.events ?? 0) ||
      MEASURES.indexOf(left.measure) - MEASURES.indexOf(right.measure),
  );
}
