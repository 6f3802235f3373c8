import { BLOCK_ROWS_MAX, SPARSE_RATIO } from '../../base/limits.ts';
import { free } from '../../packed/growth.ts';
import type { SegmentRows, Selection } from './segment-rows.ts';

/** Numbers of positions and of values fit in this many together: 2^29 rows, 2^24 values of a sparse column. */
const PAIR_RANGE = 2 ** 24;

/** Places of the values of a source, or of a block and one more. */
const scratch = new Uint32Array(BLOCK_ROWS_MAX + 1);

/**
 * Where the values of a column are kept while it is put in order. Those of a column that many rows have are kept by
 * position; those of one that few have value after value as they come, with their positions, which are then sorted.
 */
export class Placement {
  /** Length of the arrays that values are kept in; the last place is for those that are not in the segment. */
  readonly capacity: number;
  readonly #segment: SegmentRows;
  readonly #present: Uint8Array | undefined;
  readonly #positionOf: Uint32Array | undefined;
  #count = 0;

  /** For a column that has `valueCount` values in the sources of the segment. */
  constructor(segment: SegmentRows, valueCount: number) {
    this.#segment = segment;
    const { sourceRows, rowCount } = segment;
    const isSparse = valueCount * SPARSE_RATIO < sourceRows && valueCount < PAIR_RANGE;
    const isFull = valueCount === sourceRows;
    this.capacity = isSparse ? valueCount : rowCount + 1;
    this.#positionOf = isSparse ? new Uint32Array(valueCount) : undefined;
    this.#present = isSparse || isFull ? undefined : new Uint8Array(rowCount + 1);
  }

  /**
   * Places of the values of `rows` (all, when they are not given) of a source. Good until the next call, and not to be
   * written.
   */
  targets(source: number, rows: Uint32Array | undefined): Uint32Array {
    const all = this.#segment.positions(source);
    if (rows === undefined && this.#positionOf === undefined && this.#present === undefined) {
      return all;
    }
    const count = rows === undefined ? all.length : rows.length;
    const targets = scratch.subarray(0, count);
    for (let index = 0; index < count; index++) {
      targets[index] = all[rows === undefined ? index : rows[index]];
    }
    if (this.#present !== undefined) {
      for (let index = 0; index < count; index++) this.#present[targets[index]] = 1;
    }
    if (this.#positionOf === undefined) return targets;
    for (let index = 0; index < count; index++) {
      this.#positionOf[this.#count] = targets[index];
      targets[index] = this.#count++;
    }
    return targets;
  }

  /** Parts of the column by block, which ends it. */
  selections(): Selection[] {
    if (this.#positionOf !== undefined) return this.#sparseSelections(this.#positionOf);
    const { blockCount } = this.#segment;
    const all = Array.from({ length: blockCount }, (_, block) => this.#denseSelection(block));
    free(this.#present);
    return all;
  }

  #denseSelection(block: number): Selection {
    const full = this.#segment.fullSelection(block);
    const present = this.#present;
    if (present === undefined) return full;
    const { from, to } = this.#segment.bounds(block);
    let count = 0;
    for (let position = from; position < to; position++) {
      scratch[count] = position;
      count += present[position];
    }
    if (count === to - from) return full;
    const at = scratch.slice(0, count);
    const rows = new Uint16Array(count);
    for (let index = 0; index < count; index++) rows[index] = at[index] - from;
    return { rows, from: 0, at };
  }

  #sparseSelections(positionOf: Uint32Array): Selection[] {
    const pairs = new Float64Array(this.#count);
    let pairCount = 0;
    for (let value = 0; value < this.#count; value++) {
      if (positionOf[value] === this.#segment.rowCount) continue;
      pairs[pairCount++] = positionOf[value] * PAIR_RANGE + value;
    }
    const sorted = pairs.subarray(0, pairCount).sort();
    free(positionOf);
    const selections: Selection[] = [];
    let from = 0;
    for (let block = 0; block < this.#segment.blockCount; block++) {
      const bounds = this.#segment.bounds(block);
      const end = bounds.to * PAIR_RANGE;
      let to = from;
      while (to < pairCount && sorted[to] < end) to++;
      const rows = new Uint16Array(to - from);
      const at = new Uint32Array(to - from);
      for (let index = from; index < to; index++) {
        const position = Math.floor(sorted[index] / PAIR_RANGE);
        rows[index - from] = position - bounds.from;
        at[index - from] = sorted[index] - position * PAIR_RANGE;
      }
      selections.push({ rows, from: 0, at });
      from = to;
    }
    free(pairs);
    return selections;
  }
}
