import { geometricMean } from './number.ts';
import { type FigureRow, OWN } from './row.ts';

/** A figure of ours beside the best one of a peer in the same run. */
export interface Ratio {
  own: FigureRow;
  best: FigureRow;
  /**
   * How many times worse ours is: of a cost ours by the peer's, of a rate the peer's by ours. Above 1 it is a loss,
   * below 1 a win.
   */
  ratio: number;
}

/** What two figures have in common that can be set against each other. */
export function questionOf({ workload, corpus, events, name, unit }: FigureRow): string {
  return JSON.stringify([workload, corpus, events, name, unit]);
}

/** Sets each figure of ours against the best peer that was measured in the same way: the greatest loss first. */
export function ratios(figures: readonly FigureRow[]): Ratio[] {
  const found: Ratio[] = [];
  for (const rows of Map.groupBy(figures, questionOf).values()) {
    const own = rows.find(({ system }) => system === OWN);
    const [best] = rows
      .filter(({ system }) => system !== OWN)
      .sort((left, right) => worse(left, right) - 1);
    if (own !== undefined && best !== undefined) found.push({ own, best, ratio: worse(own, best) });
  }
  return found.sort((left, right) => right.ratio - left.ratio);
}

/** How many times worse the left one is. Two that are 0 are even. */
function worse(left: FigureRow, right: FigureRow): number {
  const [upper, lower] = left.lowerIsBetter ? [left, right] : [right, left];
  return upper.median === lower.median ? 1 : upper.median / lower.median;
}

/** Whether ours is behind. */
export function isLoss({ ratio }: Ratio): boolean {
  return ratio > 1;
}

/** One sentence: how many were lost, and the geometric mean of all. */
export function summary(all: readonly Ratio[]): string {
  if (all.length === 0) return 'No peer was measured.';
  const lost = all.filter(isLoss).length;
  const finite = all.map(({ ratio }) => ratio).filter((ratio) => ratio > 0 && ratio < Infinity);
  const mean = finite.length === 0 ? '' : `; geometric mean ${geometricMean(finite).toFixed(2)}`;
  return `Behind the best peer in ${lost} of ${all.length} figures${mean}.`;
}
