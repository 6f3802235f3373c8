import { BLOCK_ROWS_MAX, BLOCK_TEXT_BYTES_MAX, TEXT_PIECE_ROWS } from '../../base/limits.ts';
import { free } from '../../packed/growth.ts';
import type { Source } from './source-rows.ts';

/**
 * Bytes of text of a sealed block's rows: below BLOCK_TEXT_BYTES_MAX, because the text, its encoding and the frame are
 * in memory at once.
 */
const BLOCK_BYTES_MAX = BLOCK_TEXT_BYTES_MAX / 4;
/** The same of a block of few rows, which has few pieces of text that are compressed as a whole. */
const FEW_ROWS_BYTES_MAX = BLOCK_BYTES_MAX / 2;
const FEW_ROWS = 4 * TEXT_PIECE_ROWS;
/** Bytes of text of a segment's rows: its file is read in minutes, and dropped as one. */
const SEGMENT_BYTES_MAX = 256 * 1024 * 1024;
/** All rows of the largest block. */
const EVERY_ROW = Uint16Array.from({ length: BLOCK_ROWS_MAX }, (_, row) => row);
/** Position of a row that is not in the segment, until there are no more. */
const ELSEWHERE = 2 ** 32 - 1;

/**
 * The values that a block has of a column, as a placement counts them: that of row `rows[i]` is value `at[i]`, or value
 * `from + i` where all rows of the block have one.
 */
export interface Selection {
  rows: Uint16Array;
  from: number;
  at: Uint32Array | undefined;
}

/** The number of a selected value. */
export function selectedPlace({ at, from }: Selection, index: number): number {
  return at === undefined ? from + index : at[index];
}

/** The selected ones of `values`: a view of these when they lie one after the other, else of `room`. */
export function selected<
  T extends
    | Float64Array<ArrayBuffer>
    | Uint32Array<ArrayBuffer>
    | Uint16Array<ArrayBuffer>
    | Uint8Array<ArrayBuffer>,
>(values: T, room: T, { rows, from, at }: Selection): T {
  if (at === undefined) return values.subarray(from, from + rows.length) as T;
  const taken = room.subarray(0, at.length) as T;
  for (let index = 0; index < at.length; index++) taken[index] = values[at[index]];
  return taken;
}

/** Frees the places of values in selections that are not used any more. */
export function freeSelections(selections: readonly Selection[]): void {
  for (const { at } of selections) free(at);
}

/** Rows by a number of theirs: the source of each, and its number there. */
interface Places {
  sources: Uint32Array;
  rows: Uint16Array;
}

/**
 * Where the rows of the sources go in a new segment, and where its blocks begin: a block is full by rows, or by bytes
 * of text. Takes 4 bytes a row of the sources that have any in it.
 */
export class SegmentRows {
  readonly sources: readonly Source[];
  rowCount = 0;
  /**
   * By source, the position of each of its rows; `rowCount`, a place that nobody reads, of those that are elsewhere.
   */
  readonly #positions: (Uint32Array | undefined)[];
  /** By source, the first and the last position of its rows. */
  readonly #first: Uint32Array;
  readonly #last: Uint32Array;
  /** Position of each block's first row. */
  readonly #starts: number[] = [];
  /** The last one of these. */
  #start = 0;
  #blockBytes = 0;
  #segmentBytes = 0;

  constructor(sources: readonly Source[]) {
    this.sources = sources;
    this.#positions = new Array<Uint32Array | undefined>(sources.length).fill(undefined);
    this.#first = new Uint32Array(sources.length);
    this.#last = new Uint32Array(sources.length);
  }

  get blockCount(): number {
    return this.#starts.length;
  }

  /** Adds the rows that `order` numbers behind those before; returns how many the segment has room for. */
  addAll({ sources, rows }: Places, order: Uint32Array): number {
    for (let at = 0; at < order.length; at++) {
      if (!this.#add(sources[order[at]], rows[order[at]])) return at;
    }
    return order.length;
  }

  #add(source: number, row: number): boolean {
    const { weights } = this.sources[source];
    const bytes = weights === undefined ? 0 : weights[row];
    if (this.#segmentBytes + bytes > SEGMENT_BYTES_MAX && this.rowCount > 0) return false;
    const position = this.rowCount++;
    const blockRows = position - this.#start;
    const bytesMax = blockRows < FEW_ROWS ? FEW_ROWS_BYTES_MAX : BLOCK_BYTES_MAX;
    const isFull = blockRows === BLOCK_ROWS_MAX || this.#blockBytes + bytes > bytesMax;
    if (position === 0 || isFull) {
      this.#starts.push(position);
      this.#start = position;
      this.#blockBytes = 0;
    }
    this.#blockBytes += bytes;
    this.#segmentBytes += bytes;
    const positions = this.#positions[source] ?? this.#begin(source, position);
    positions[row] = position;
    this.#last[source] = position;
    return true;
  }

  /** Makes room for the positions of a source, the first of which is known. */
  #begin(source: number, first: number): Uint32Array {
    const positions = new Uint32Array(this.sources[source].block.rowCount).fill(ELSEWHERE);
    this.#positions[source] = positions;
    this.#first[source] = first;
    return positions;
  }

  /** Ends adding; all else is asked for after it. */
  end(): void {
    for (const positions of this.#positions) {
      if (positions === undefined) continue;
      for (let row = 0; row < positions.length; row++) {
        if (positions[row] === ELSEWHERE) positions[row] = this.rowCount;
      }
    }
  }

  /** The positions of a source's rows; of one that has none here, nothing. Not to be written. */
  positions(source: number): Uint32Array {
    return this.#positions[source] ?? new Uint32Array(0);
  }

  /** True when a source has rows here. */
  has(source: number): boolean {
    return this.#positions[source] !== undefined;
  }

  /** The segments of which rows are here, ascending. */
  get segments(): number[] {
    const here = this.sources.filter((_, source) => this.has(source));
    return [...new Set(here.map(({ block }) => block.ref.segment))].sort((a, b) => a - b);
  }

  /** Rows of all sources that have any here. */
  get sourceRows(): number {
    return this.#positions.reduce((sum, positions) => sum + (positions?.length ?? 0), 0);
  }

  /** Positions of the rows of a block. */
  bounds(block: number): { from: number; to: number } {
    return { from: this.#starts[block], to: this.#starts[block + 1] ?? this.rowCount };
  }

  /** Numbers of the sources that may have rows in a block. */
  sourcesOf(block: number): number[] {
    const { from, to } = this.bounds(block);
    const found: number[] = [];
    for (let source = 0; source < this.sources.length; source++) {
      const isIn = this.#first[source] < to && this.#last[source] >= from;
      if (isIn && this.has(source)) found.push(source);
    }
    return found;
  }

  /** Ends it. */
  free(): void {
    free(...this.#positions);
  }

  /** The rows of a block by their numbers in it. Not to be written. */
  everyRow(block: number): Uint16Array<ArrayBuffer> {
    const { from, to } = this.bounds(block);
    return EVERY_ROW.subarray(0, to - from);
  }

  /** The selection of a block from a column that all rows have. Not to be written. */
  fullSelection(block: number): Selection {
    return { rows: this.everyRow(block), from: this.bounds(block).from, at: undefined };
  }
}
