import { type BlockRef, isHole } from '../../segment/frame.ts';
import { type BlockSource, firstAt, isDamage, overlaps, type Progress } from '../model/source.ts';
import { MinuteRows } from './minute-rows.ts';

/**
 * Counts the rows of blocks between neighbouring cuts. The refs and the minutes in the footers of sealed segments tell
 * most of it: opened are the blocks in which a cut lies inside a minute, and those of log segments in which one lies.
 * Source: FORMAT.md 10.6.
 */
export class RowCounts {
  /** Rows of step s, from cut s to cut s + 1; one more entry: 0. */
  readonly counts: Float64Array;
  /** The blocks that had to be opened and could not be read: their rows are not counted. */
  readonly damaged: BlockRef[] = [];
  blocksOpened = 0;
  rowsScanned = 0;
  readonly #source: BlockSource;
  readonly #refs: BlockRef[];
  readonly #cuts: Float64Array;
  readonly #minutes: MinuteRows;

  /** `cuts` ascend; at least one. */
  constructor(source: BlockSource, refs: readonly BlockRef[], cuts: Float64Array) {
    const [first] = cuts;
    const last = cuts[cuts.length - 1];
    this.#source = source;
    this.#minutes = new MinuteRows(source);
    this.#refs = first < last ? refs.filter((ref) => overlaps(ref, first, last)) : [];
    this.#refs.sort((a, b) => a.segment - b.segment);
    this.#cuts = cuts;
    this.counts = new Float64Array(cuts.length);
  }

  /**
   * Counts all blocks; those that are opened are units, and footers that are read. Throws what the source throws but
   * CORRUPTION.
   */
  *run(): Generator<Progress, void> {
    const unitsTotal = this.#refs.length;
    for (const [index, ref] of this.#refs.entries()) {
      const { segment } = this.#minutes;
      try {
        if (this.#count(ref)) {
          this.blocksOpened++;
          this.rowsScanned += ref.rowCount;
        } else if (segment === this.#minutes.segment) {
          continue;
        }
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.damaged.push(ref);
      }
      yield { unitsDone: index + 1, unitsTotal };
    }
  }

  /** Adds the rows of a block; whether it had to be opened. Throws before it has added anything. */
  #count(ref: BlockRef): boolean {
    const cuts = this.#cuts;
    const step = stepOf(cuts, ref.minTimeMs);
    if (step >= 0 && ref.maxTimeMs < cuts[step + 1] && !isHole(ref)) {
      this.counts[step] += ref.rowCount;
      return false;
    }
    if (!ref.sealed) {
      this.#addTimes(this.#source.open(ref).timeMs());
      return true;
    }
    return this.#addSealed(ref);
  }

  /** Adds the times of rows in any order. */
  #addTimes(times: Float64Array): void {
    const cuts = this.#cuts;
    const last = cuts.length - 1;
    let step = 0;
    for (let row = 0; row < times.length; row++) {
      const time = times[row];
      if (time < cuts[0] || time >= cuts[last]) continue;
      if (!(time >= cuts[step] && time < cuts[step + 1])) step = stepOf(cuts, time);
      this.counts[step]++;
    }
  }

  /** Adds the rows of a sealed block, which are in the order of time; whether it had to be opened. */
  #addSealed(ref: BlockRef): boolean {
    const cuts = this.#cuts;
    const from = Math.max(stepOf(cuts, ref.minTimeMs), 0);
    let times: Float64Array | undefined;
    /** Rows of the block before cuts `from`, `from + 1`, ... */
    const rows: number[] = [];
    for (let cut = from; cut < cuts.length; cut++) {
      const timeMs = cuts[cut];
      let before = this.#minutes.before(ref, timeMs);
      if (before === undefined) {
        times ??= this.#source.open(ref).timeMs();
        before = firstAt(times, timeMs);
      }
      rows.push(before);
      if (timeMs > ref.maxTimeMs) break;
    }
    for (let at = 1; at < rows.length; at++) this.counts[from + at - 1] += rows[at] - rows[at - 1];
    return times !== undefined;
  }
}

/** The last cut at or before `time`, with which its step begins; -1 when there is none. */
export function stepOf(cuts: Float64Array, time: number): number {
  const at = firstAt(cuts, time);
  return cuts[at] === time ? at : at - 1;
}
