import type { Units } from '../../base/pause.ts';
import type { BlockRef } from '../../segment/frame.ts';
import type { Plan } from '../filter/plan.ts';
import type { BlockSource, Progress } from '../model/source.ts';
import { RowCounts, stepOf } from './row-counts.ts';

/** The rows that count for a bound. All units throw what the source throws but CORRUPTION. */
export interface CountedRows {
  /** Holds for those that count. */
  readonly plan: Plan;
  /** Finds out how many rows of a block count, which `rowsOf` tells then. */
  learn(ref: BlockRef): Units<void>;
  /** Rows of a block that count; only after `learn`. */
  rowsOf(ref: BlockRef): number;
  /** Rows of learned blocks that count between neighbouring cuts, which ascend; one more entry: 0. */
  between(refs: readonly BlockRef[], cuts: Float64Array): Generator<Progress, Float64Array>;
}

/**
 * All rows: the refs and the footers of sealed segments tell their number. Rows that cannot be read are the newest that
 * they may be.
 */
export class StoredRows implements CountedRows {
  readonly plan: Plan = { type: 'all' };
  readonly #source: BlockSource;

  constructor(source: BlockSource) {
    this.#source = source;
  }

  *learn(): Units<void> {}

  rowsOf({ rowCount }: BlockRef): number {
    return rowCount;
  }

  *between(refs: readonly BlockRef[], cuts: Float64Array): Generator<Progress, Float64Array> {
    const rows = new RowCounts(this.#source, refs, cuts);
    yield* rows.run();
    const { counts, damaged } = rows;
    for (const ref of damaged) {
      const step = stepOf(cuts, Math.min(ref.maxTimeMs, cuts[cuts.length - 1] - 1));
      if (step >= 0 && step < cuts.length - 1) counts[step] += ref.rowCount;
    }
    return counts;
  }
}
