import { BLOCK_ROWS_MAX, SPARSE_RATIO } from '../base/limits.ts';
import { type Source, SourceFinder } from './source-rows.ts';

/** A row that is in no block of the new segment. */
const NOWHERE = 0xffffffff;
/** Numbers of positions and of values fit in this many together: 2^31 rows, 2^22 values of a sparse column. */
const PAIR_RANGE = 2 ** 24;

/** The values that a block has of a column: value `at[i]`, as a placement counts them, is that of row `rows[i]`. */
export interface Selection {
  rows: Uint16Array;
  at: Uint32Array;
}

/**
 * The rows of a new segment. Those of the sources that have any in it are numbered anew, source after source, so that
 * what is kept by row is no larger than the segment's sources: `order[position]` is such a number.
 */
export class SegmentRows {
  readonly order: Uint32Array;
  /** Rows of the sources in use. */
  readonly sourceRows: number;
  readonly blockCount: number;
  /** By source, the number of its first row; -1 when it has none in the segment. */
  readonly #bases: Float64Array;
  #positions: Uint32Array | undefined;

  /** `batchOrder` counts rows as `sources` do. */
  constructor(batchOrder: Uint32Array, sources: readonly Source[]) {
    this.#bases = new Float64Array(sources.length).fill(-1);
    this.order = new Uint32Array(batchOrder.length);
    this.blockCount = Math.ceil(batchOrder.length / BLOCK_ROWS_MAX);
    const find = new SourceFinder(sources);
    for (let at = 0; at < batchOrder.length; at++) this.#bases[find.source(batchOrder[at])] = 0;
    let rowCount = 0;
    for (const [source, { block }] of sources.entries()) {
      if (this.#bases[source] < 0) continue;
      this.#bases[source] = rowCount;
      rowCount += block.rowCount;
    }
    this.sourceRows = rowCount;
    for (let at = 0; at < batchOrder.length; at++) {
      const source = find.source(batchOrder[at]);
      this.order[at] = batchOrder[at] - sources[source].base + this.#bases[source];
    }
  }

  /** The number of the first row of a source; -1 when it has none in the segment. */
  base(source: number): number {
    return this.#bases[source];
  }

  /** The rows of a block, in its order. */
  ofBlock(block: number): Uint32Array {
    return this.order.subarray(block * BLOCK_ROWS_MAX, (block + 1) * BLOCK_ROWS_MAX);
  }

  /** The position of each row of the sources in use, or NOWHERE. */
  positions(): Uint32Array {
    if (this.#positions === undefined) {
      this.#positions = new Uint32Array(this.sourceRows).fill(NOWHERE);
      for (let at = 0; at < this.order.length; at++) this.#positions[this.order[at]] = at;
    }
    return this.#positions;
  }
}

/**
 * Where the values of a column are kept while it is put in order. A column that many rows have is kept by row of the
 * sources; one that few have is kept value after value as they come, with their positions, which are then sorted.
 */
export class Placement {
  /** Length of the arrays that values are kept in. */
  readonly capacity: number;
  readonly #rows: SegmentRows;
  readonly #isFull: boolean;
  readonly #present: Uint8Array | undefined;
  readonly #positionOf: Uint32Array | undefined;
  #count = 0;

  /** For a column that has `valueCount` values in the sources in use. */
  constructor(rows: SegmentRows, valueCount: number) {
    this.#rows = rows;
    const { sourceRows } = rows;
    const isSparse = valueCount * SPARSE_RATIO < sourceRows && valueCount < PAIR_RANGE;
    this.#isFull = valueCount === sourceRows;
    this.capacity = isSparse ? valueCount : sourceRows;
    this.#positionOf = isSparse ? new Uint32Array(valueCount) : undefined;
    this.#present = isSparse || this.#isFull ? undefined : new Uint8Array(sourceRows);
  }

  /** Where the next `count` values are kept, those of `rows` (all: the first `count`) of the source at `base`. */
  targets(rows: Uint32Array | undefined, base: number, count: number): Uint32Array {
    const targets = new Uint32Array(count);
    if (rows === undefined)
      for (let index = 0; index < count; index++) targets[index] = base + index;
    else for (let index = 0; index < count; index++) targets[index] = base + rows[index];
    if (this.#present !== undefined) {
      for (let index = 0; index < count; index++) this.#present[targets[index]] = 1;
    }
    if (this.#positionOf === undefined) return targets;
    const positions = this.#rows.positions();
    for (let index = 0; index < count; index++) {
      this.#positionOf[this.#count + index] = positions[targets[index]];
      targets[index] = this.#count + index;
    }
    this.#count += count;
    return targets;
  }

  /** What each block has of the column. */
  selections(): Selection[] {
    if (this.#positionOf !== undefined) return this.#sparseSelections(this.#positionOf);
    return Array.from({ length: this.#rows.blockCount }, (_, block) => this.#denseSelection(block));
  }

  #denseSelection(block: number): Selection {
    const order = this.#rows.ofBlock(block);
    const present = this.#present;
    const rows = new Uint16Array(order.length);
    if (present === undefined) {
      for (let row = 0; row < rows.length; row++) rows[row] = row;
      return { rows, at: order };
    }
    const at = new Uint32Array(order.length);
    let count = 0;
    for (let row = 0; row < order.length; row++) {
      if (present[order[row]] === 0) continue;
      rows[count] = row;
      at[count++] = order[row];
    }
    return { rows: rows.slice(0, count), at: at.slice(0, count) };
  }

  #sparseSelections(positionOf: Uint32Array): Selection[] {
    const pairs = new Float64Array(this.#count);
    let pairCount = 0;
    for (let value = 0; value < this.#count; value++) {
      if (positionOf[value] === NOWHERE) continue;
      pairs[pairCount++] = positionOf[value] * PAIR_RANGE + value;
    }
    const sorted = pairs.subarray(0, pairCount).sort();
    const selections: Selection[] = [];
    let from = 0;
    for (let block = 0; block < this.#rows.blockCount; block++) {
      const end = (block + 1) * BLOCK_ROWS_MAX * PAIR_RANGE;
      let to = from;
      while (to < pairCount && sorted[to] < end) to++;
      const rows = new Uint16Array(to - from);
      const at = new Uint32Array(to - from);
      for (let index = from; index < to; index++) {
        const position = Math.floor(sorted[index] / PAIR_RANGE);
        rows[index - from] = position - block * BLOCK_ROWS_MAX;
        at[index - from] = sorted[index] - position * PAIR_RANGE;
      }
      selections.push({ rows, at });
      from = to;
    }
    return selections;
  }
}
