import { BLOCK_ROWS_MAX, SPARSE_RATIO } from '../base/limits.ts';
import type { Source } from './source-rows.ts';

/** Numbers of positions and of values fit in this many together: 2^29 rows, 2^24 values of a sparse column. */
const PAIR_RANGE = 2 ** 24;

/** The values that a block has of a column: value `at[i]`, as a placement counts them, is that of row `rows[i]`. */
export interface Selection {
  rows: Uint16Array;
  at: Uint32Array;
  /** Whether all rows of the block have a value, so that `at` counts on from its first. */
  isFull: boolean;
}

/** Where the rows of the sources go in a new segment. Takes 4 bytes a row of the sources that have any in it. */
export class SegmentRows {
  readonly rowCount: number;
  readonly sources: readonly Source[];
  /** By source, the position of each of its rows, `rowCount` of those that are not in the segment. */
  readonly #positions: (Uint32Array | undefined)[];
  /** By source, the first and the last position of its rows. */
  readonly #first: Uint32Array;
  readonly #last: Uint32Array;

  constructor(sources: readonly Source[], rowCount: number) {
    this.sources = sources;
    this.rowCount = rowCount;
    this.#positions = new Array<Uint32Array | undefined>(sources.length).fill(undefined);
    this.#first = new Uint32Array(sources.length);
    this.#last = new Uint32Array(sources.length);
  }

  get blockCount(): number {
    return Math.ceil(this.rowCount / BLOCK_ROWS_MAX);
  }

  /** Puts a row of a source at a position, which is above those before. */
  place(source: number, row: number, position: number): void {
    let positions = this.#positions[source];
    if (positions === undefined) {
      positions = new Uint32Array(this.sources[source].block.rowCount).fill(this.rowCount);
      this.#positions[source] = positions;
      this.#first[source] = position;
    }
    positions[row] = position;
    this.#last[source] = position;
  }

  /** The positions of a source's rows; undefined when none is in the segment. */
  positions(source: number): Uint32Array | undefined {
    return this.#positions[source];
  }

  /** Whether a source has rows from `from` up to `to`, which may be missing in between. */
  reaches(source: number, from: number, to: number): boolean {
    return (
      this.#positions[source] !== undefined &&
      this.#first[source] < to &&
      this.#last[source] >= from
    );
  }
}

/** Some neighbouring blocks of a new segment: what is in memory at a time while it is built. */
export class RowWindow {
  /** Number of its first block in the segment. */
  readonly firstBlock: number;
  readonly rowCount: number;
  readonly blockCount: number;
  /** Numbers of the sources that may have rows in it, and how many rows these have. */
  readonly sources: readonly number[];
  readonly sourceRows: number;
  readonly #rows: SegmentRows;
  readonly #from: number;
  readonly #has: Uint8Array;
  readonly #targetsOf = new Map<number, Uint32Array>();
  readonly #full: Selection[] = [];
  #order: Uint32Array | undefined;

  constructor(rows: SegmentRows, firstBlock: number, blockCount: number) {
    this.#rows = rows;
    this.firstBlock = firstBlock;
    this.blockCount = blockCount;
    this.#from = firstBlock * BLOCK_ROWS_MAX;
    const to = Math.min(this.#from + blockCount * BLOCK_ROWS_MAX, rows.rowCount);
    this.rowCount = to - this.#from;
    this.#has = new Uint8Array(rows.sources.length);
    const sources: number[] = [];
    let sourceRows = 0;
    for (const [source, { block }] of rows.sources.entries()) {
      if (!rows.reaches(source, this.#from, to)) continue;
      sources.push(source);
      this.#has[source] = 1;
      sourceRows += block.rowCount;
    }
    this.sources = sources;
    this.sourceRows = sourceRows;
  }

  /** Whether a source may have rows in it. */
  has(source: number): boolean {
    return this.#has[source] === 1;
  }

  /**
   * Where in the window each row of a source is: `rowCount`, a place that nobody reads, for those that are elsewhere.
   * Made once; not to be written.
   */
  targetsOf(source: number): Uint32Array {
    const known = this.#targetsOf.get(source);
    if (known !== undefined) return known;
    const positions = this.#rows.positions(source) ?? new Uint32Array(0);
    const targets = new Uint32Array(positions.length);
    for (let row = 0; row < targets.length; row++) {
      const position = positions[row] - this.#from;
      targets[row] = position >= 0 && position < this.rowCount ? position : this.rowCount;
    }
    this.#targetsOf.set(source, targets);
    return targets;
  }

  /** What a block of the window, by its number in it, has of a column that all rows have. Not to be written. */
  fullSelection(block: number): Selection {
    const known = this.#full[block];
    if (known !== undefined) return known;
    const { from, to } = this.bounds(block);
    const rows = new Uint16Array(to - from);
    const at = new Uint32Array(to - from);
    for (let row = 0; row < rows.length; row++) {
      rows[row] = row;
      at[row] = from + row;
    }
    const selection = { rows, at, isFull: true };
    this.#full[block] = selection;
    return selection;
  }

  /** The row of the batch at each position. Made once. */
  order(): Uint32Array {
    if (this.#order !== undefined) return this.#order;
    const order = new Uint32Array(this.rowCount + 1);
    for (const source of this.sources) {
      const targets = this.targetsOf(source);
      const { base } = this.#rows.sources[source];
      for (let row = 0; row < targets.length; row++) order[targets[row]] = base + row;
    }
    this.#order = order;
    return order;
  }

  /** Positions of the rows of a block, by its number in the window. */
  bounds(block: number): { from: number; to: number } {
    const from = block * BLOCK_ROWS_MAX;
    return { from, to: Math.min(from + BLOCK_ROWS_MAX, this.rowCount) };
  }
}

/**
 * Where the values of a column are kept while it is put in order. Those of a column that many rows have are kept by
 * position; those of one that few have value after value as they come, with their positions, which are then sorted.
 */
export class Placement {
  /** Length of the arrays that values are kept in; the last place is for those that are not in the window. */
  readonly capacity: number;
  readonly #window: RowWindow;
  readonly #present: Uint8Array | undefined;
  readonly #positionOf: Uint32Array | undefined;
  #count = 0;

  /** For a column that has `valueCount` values in the sources of the window. */
  constructor(window: RowWindow, valueCount: number) {
    this.#window = window;
    const { sourceRows, rowCount } = window;
    const isSparse = valueCount * SPARSE_RATIO < sourceRows && valueCount < PAIR_RANGE;
    const isFull = valueCount === sourceRows;
    this.capacity = isSparse ? valueCount : rowCount + 1;
    this.#positionOf = isSparse ? new Uint32Array(valueCount) : undefined;
    this.#present = isSparse || isFull ? undefined : new Uint8Array(rowCount + 1);
  }

  /** Where the values of `rows` (all, when they are not given) of a source are kept. Not to be written. */
  targets(source: number, rows: Uint32Array | undefined): Uint32Array {
    const all = this.#window.targetsOf(source);
    if (rows === undefined && this.#positionOf === undefined && this.#present === undefined) {
      return all;
    }
    const count = rows === undefined ? all.length : rows.length;
    const targets = new Uint32Array(count);
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

  /** What each block of the window has of the column. */
  selections(): Selection[] {
    if (this.#positionOf !== undefined) return this.#sparseSelections(this.#positionOf);
    const { blockCount } = this.#window;
    return Array.from({ length: blockCount }, (_, block) => this.#denseSelection(block));
  }

  #denseSelection(block: number): Selection {
    const full = this.#window.fullSelection(block);
    const present = this.#present;
    if (present === undefined) return full;
    const { from, to } = this.#window.bounds(block);
    const rows = new Uint16Array(to - from);
    const at = new Uint32Array(to - from);
    let count = 0;
    for (let position = from; position < to; position++) {
      if (present[position] === 0) continue;
      rows[count] = position - from;
      at[count++] = position;
    }
    if (count === rows.length) return full;
    return { rows: rows.slice(0, count), at: at.slice(0, count), isFull: false };
  }

  #sparseSelections(positionOf: Uint32Array): Selection[] {
    const pairs = new Float64Array(this.#count);
    let pairCount = 0;
    for (let value = 0; value < this.#count; value++) {
      if (positionOf[value] === this.#window.rowCount) continue;
      pairs[pairCount++] = positionOf[value] * PAIR_RANGE + value;
    }
    const sorted = pairs.subarray(0, pairCount).sort();
    const selections: Selection[] = [];
    let from = 0;
    for (let block = 0; block < this.#window.blockCount; block++) {
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
      selections.push({ rows, at, isFull: false });
      from = to;
    }
    return selections;
  }
}
