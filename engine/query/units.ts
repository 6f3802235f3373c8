import type { Progress } from './source.ts';

/** Where a query is that is made of several parts. */
export interface PartsProgress {
  /** Units of the parts so far. */
  unitsDone: number;
}

/** The units of a part of a query, counted on from those of the parts before it. */
export function* following<T>(
  parts: PartsProgress,
  units: Generator<Progress, T>,
): Generator<Progress, T> {
  const { unitsDone: before } = parts;
  for (;;) {
    const step = units.next();
    if (step.done === true) return step.value;
    parts.unitsDone = before + step.value.unitsDone;
    yield { unitsDone: parts.unitsDone, unitsTotal: before + step.value.unitsTotal };
  }
}
