import { type BlockRef, isHole } from '../../segment/frame.ts';
import type { RowCountsQuery, RowCountsResult, Snapshot } from '../model/query.ts';
import { type BlockSource, isDamage, noStats, type Progress } from '../model/source.ts';

/**
 * Counts the rows that are stored by their sequences, a block a unit: between each cut and the next one. Blocks are
 * opened where their refs and footers do not tell. Damaged ones are left out and counted. Throws what the source throws
 * but CORRUPTION.
 */
export function* rowCountsUnits(
  source: BlockSource,
  { blocks }: Snapshot,
  { cuts }: RowCountsQuery,
): Generator<Progress, RowCountsResult> {
  const stats = noStats(blocks.length);
  const counts = new Array<number>(cuts.length - 1).fill(0);
  for (const [at, ref] of blocks.entries()) {
    const { firstSequence, endSequence, rowCount } = ref;
    const place = placeOf(cuts, firstSequence);
    try {
      if (isHole(ref)) stats.blocksDamaged++;
      else if (endSequence - firstSequence === rowCount && endSequence <= (cuts[place + 1] ?? 0)) {
        if (place >= 0) counts[place] += rowCount;
      } else if (mayHaveRows(source, ref, cuts[0])) {
        stats.blocksOpened++;
        stats.rowsScanned += rowCount;
        addRows(source.open(ref).keys().sequences, cuts, counts);
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      stats.blocksDamaged++;
    }
    yield { unitsDone: at + 1, unitsTotal: blocks.length };
  }
  return { counts, stats };
}

/** True when a block may have rows from a sequence on. Throws CORRUPTION. */
function mayHaveRows(source: BlockSource, ref: BlockRef, from: number): boolean {
  if (!ref.sealed) return ref.endSequence > from;
  const sequences = source.footer?.(ref)?.sequences;
  return sequences?.every(({ sequence }) => sequence < from) !== true;
}

function addRows(sequences: Float64Array, cuts: readonly number[], counts: number[]): void {
  for (let row = 0; row < sequences.length; ) {
    const place = placeOf(cuts, sequences[row]);
    const from = cuts[place] ?? Number.NEGATIVE_INFINITY;
    const to = cuts[place + 1] ?? Number.POSITIVE_INFINITY;
    const first = row;
    // Neighbours mostly came within the same cuts.
    while (row < sequences.length && sequences[row] >= from && sequences[row] < to) row++;
    if (place >= 0 && place < counts.length) counts[place] += row - first;
  }
}

/** Number of the last cut that is not above a sequence; -1 below the first one. */
function placeOf(cuts: readonly number[], sequence: number): number {
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (cuts[middle] <= sequence) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
