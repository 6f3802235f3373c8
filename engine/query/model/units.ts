import type { Units } from '../../base/pause.ts';
import type { Bitmap } from './bitmap.ts';
import type { Progress } from './source.ts';

/** Words of a bitmap whose rows are grouped and measured in a unit. */
const UNIT_WORDS = 256;

/** Where a query is that is made of several parts. */
export interface PartsProgress {
  /** Units of the parts so far. */
  unitsDone: number;
}

/** The units of a part of a query, counted on from those of the parts before it. Who ends them ends the part. */
export function* following<T>(
  parts: PartsProgress,
  units: Generator<Progress, T>,
): Generator<Progress, T> {
  const { unitsDone: before } = parts;
  return yield* shownAs(units, (progress) => {
    parts.unitsDone = before + progress.unitsDone;
    const { unitsDone } = parts;
    return { ...progress, unitsDone, unitsTotal: before + progress.unitsTotal };
  });
}

/** Does units of a block's work; after each it tells how far the query is. Who ends them ends the work. */
export function telling<T>(progress: () => Progress, units: Units<T>): Generator<Progress, T> {
  return shownAs(units, progress);
}

/** Gives what `shown` makes of what each unit gives. */
function* shownAs<Y, T>(
  units: Generator<Y, T>,
  shown: (given: Y) => Progress,
): Generator<Progress, T> {
  try {
    for (;;) {
      const step = units.next();
      if (step.done === true) return step.value;
      yield shown(step.value);
    }
  } finally {
    units.return(undefined as T);
  }
}

/**
 * Cuts the rows of a large block into parts that are worked on in a unit, of `words` words of the bitmap each,
 * ascending; `rows` itself of a small one.
 */
export function partsOfRows(rows: Bitmap, words = UNIT_WORDS): Bitmap[] {
  if (rows.length <= words) return [rows];
  const parts: Bitmap[] = [];
  for (let from = 0; from < rows.length; from += words) {
    const part = new Uint32Array(rows.length);
    part.set(rows.subarray(from, from + words), from);
    parts.push(part);
  }
  return parts;
}
