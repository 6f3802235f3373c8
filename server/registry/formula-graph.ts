import { EngineError } from '../../engine/base/errors.ts';
import type { MetricDefinition } from './definition.ts';

/** Metrics that are not formulas in a formula, once all formulas in it are written out. */
export const FORMULA_METRICS_MAX = 100;

/**
 * Throws USAGE when a formula reaches itself, or is longer than FORMULA_METRICS_MAX once written out, for `metric` as
 * it is to be and for all that use it. `formulaMetrics` gives the metric ids in a formula's text.
 */
export function checkFormulas(
  metric: MetricDefinition,
  others: Iterable<MetricDefinition>,
  formulaMetrics: (formula: string) => Iterable<string>,
): void {
  const formulas = new Map<string, string>();
  for (const other of [...others, metric]) {
    formulas.delete(other.id);
    if (other.type === 'formula') formulas.set(other.id, other.formula);
  }
  const counts = new Map<string, number>();
  const trail: string[] = [];
  const countOf = (id: string): number => {
    const formula = formulas.get(id);
    if (formula === undefined) return 1;
    if (trail.includes(id)) {
      const cycle = [...trail.slice(trail.indexOf(id)), id].join(' > ');
      throw new EngineError('USAGE', `formula of the metric "${id}" reaches itself: ${cycle}`);
    }
    const known = counts.get(id);
    if (known !== undefined) return known;
    trail.push(id);
    let count = 0;
    for (const inner of formulaMetrics(formula)) count += countOf(inner);
    trail.pop();
    if (count > FORMULA_METRICS_MAX) {
      throw new EngineError(
        'USAGE',
        `formula of the metric "${id}" has ${count} metrics once the formulas in it are written out; ` +
          `allowed: ${FORMULA_METRICS_MAX}`,
      );
    }
    counts.set(id, count);
    return count;
  };
  for (const id of formulas.keys()) countOf(id);
}
