import { assert } from '../../base/assert.ts';
import { copyBytes } from '../../base/bytes.ts';
import { TEXT_PIECE_ROWS } from '../../base/limits.ts';
import type { Entries } from '../../column/entries.ts';
import { Scratch } from '../../column/entries.ts';
import { free } from '../../packed/growth.ts';
import type { DenseStrings } from '../block/dense-column.ts';
import type { SegmentRows } from './segment-rows.ts';
import type { ColumnPart, SourceColumn, SourceRows } from './source-rows.ts';

const OFFSET_MAX = 2 ** 32 - 1;
/** Bytes beyond which values that stay together are copied by a call. */
const LOOP_BYTES_MAX = 512;

/**
 * The values of a column in a block: one for each of `rows`, one after the other. Good until the next ones are read.
 */
export interface BlockText extends Entries {
  rows: Uint16Array;
}

/** A source of a block. */
interface Part {
  strings: DenseStrings;
  /** Row of the block that has each value; of those in other blocks the number of rows, a place that nobody reads. */
  targets: Uint32Array;
}

/**
 * Reads columns of long or distinct strings block by block of a new segment, as rows in order are mostly of few
 * sources: first the lengths, which say where each value goes, then the sources one after the other, a piece of each in
 * memory.
 */
export class TextSources {
  readonly #source: SourceRows;
  readonly #rows: SegmentRows;
  readonly #partsOf = new Map<SourceColumn, (ColumnPart | undefined)[]>();
  #bytes = new Uint8Array(0);
  #places = new Float64Array(0);
  #offsets = new Uint32Array(0);
  readonly #scratch = new Scratch();

  constructor(source: SourceRows, rows: SegmentRows) {
    this.#source = source;
    this.#rows = rows;
  }

  /** The values of a column in the block number `number`, which may be none. Throws CORRUPTION. */
  read(column: SourceColumn, number: number): BlockText {
    const { from, to } = this.#rows.bounds(number);
    const rowCount = to - from;
    const parts = this.#parts(column, number);
    // By row of the block: first the length of its value, then the place of the value; -1 when it has none.
    if (this.#places.length <= rowCount) this.#reserve(rowCount + 1);
    const places = this.#places.subarray(0, rowCount + 1).fill(-1);
    for (const { strings, targets } of parts) {
      const lengths = strings.entryLengths();
      const { ids } = strings;
      for (let value = 0; value < ids.length; value++) {
        places[targets[value]] = lengths[ids[value] - 1];
      }
    }
    places[rowCount] = -1;
    const text = this.#place(places, number);
    for (const part of parts) {
      this.#copy(part, places);
      free(part.targets);
      this.#source.forget(true);
    }
    for (const source of this.#rows.sourcesOf(number)) this.#source.sources[source].block.forget();
    return text;
  }

  #parts(column: SourceColumn, number: number): Part[] {
    const { from, to } = this.#rows.bounds(number);
    let partOf = this.#partsOf.get(column);
    if (partOf === undefined) {
      partOf = new Array<ColumnPart | undefined>(this.#rows.sources.length).fill(undefined);
      for (const part of column.parts) partOf[part.source] = part;
      this.#partsOf.set(column, partOf);
    }
    const parts: Part[] = [];
    for (const source of this.#rows.sourcesOf(number)) {
      const part = partOf[source];
      if (part === undefined) continue;
      const strings = this.#source.sources[source].sum.dense(part.index);
      assert('ids' in strings, 'a column of strings');
      const positions = this.#rows.positions(source);
      const { rows } = strings;
      const targets = new Uint32Array(strings.ids.length);
      for (let value = 0; value < targets.length; value++) {
        const position = positions[rows === undefined ? value : rows[value]];
        targets[value] = position >= from && position < to ? position - from : to - from;
      }
      parts.push({ strings, targets });
    }
    return parts;
  }

  /** Turns lengths into places, one value after the other; the bytes are still to be copied. */
  #place(places: Float64Array, number: number): BlockText {
    const isFull = places.indexOf(-1) === places.length - 1;
    // Lists of rows are kept until their block is written.
    const rows = isFull ? this.#rows.everyRow(number) : new Uint16Array(places.length);
    const offsets = this.#offsets;
    let count = 0;
    let end = 0;
    for (let row = 0; row < places.length; row++) {
      const length = places[row];
      if (length < 0) continue;
      if (!isFull) rows[count] = row;
      count++;
      places[row] = end;
      end += length;
      offsets[count] = end;
    }
    assert(end <= OFFSET_MAX, `text of ${end} bytes in a block`);
    if (end > this.#bytes.length) {
      free(this.#bytes);
      this.#bytes = new Uint8Array(end);
    }
    const bytes = this.#bytes.subarray(0, end);
    return { rows: rows.subarray(0, count), offsets: offsets.subarray(0, count + 1), bytes };
  }

  /** Makes room for so many rows. */
  #reserve(count: number): void {
    free(this.#places, this.#offsets);
    this.#places = new Float64Array(count);
    this.#offsets = new Uint32Array(count + 1);
  }

  /** Ends it. */
  free(): void {
    free(this.#bytes, this.#places, this.#offsets);
  }

  /** Copies the values of a piece, those together that stay one after the other. */
  #copyPiece({ offsets, bytes }: Entries, values: Uint32Array, places: Float64Array): void {
    const target = this.#bytes;
    const from = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const to = new DataView(target.buffer, target.byteOffset, target.length);
    for (let value = 0; value < values.length; ) {
      const first = value++;
      let place = places[values[first]];
      if (place < 0) continue;
      let at = offsets[first];
      const shift = place - at;
      while (value < values.length && places[values[value]] === offsets[value] + shift) value++;
      const end = offsets[value];
      if (end - at > LOOP_BYTES_MAX) {
        target.set(bytes.subarray(at, end), place);
        continue;
      }
      // Word by word, as most values are short and lie alone: a call of `set` takes longer, and so do single bytes.
      for (; at + 4 <= end; at += 4, place += 4)
        to.setUint32(place, from.getUint32(at, true), true);
      for (; at < end; at++, place++) target[place] = bytes[at];
    }
  }

  #copy({ strings, targets }: Part, places: Float64Array): void {
    const { ids, pieceCount, piece, entries } = strings;
    for (let number = 0; number < pieceCount; number++) {
      const first = number * TEXT_PIECE_ROWS;
      const values = targets.subarray(first, first + TEXT_PIECE_ROWS);
      if (!values.some((target) => places[target] >= 0)) continue;
      this.#copyPiece(piece(number, this.#scratch), values, places);
    }
    if (pieceCount > 0 || !targets.some((target) => places[target] >= 0)) return;
    const { offsets, bytes } = entries();
    for (let value = 0; value < ids.length; value++) {
      const place = places[targets[value]];
      const entry = ids[value] - 1;
      if (place >= 0) copyBytes(bytes, offsets[entry], offsets[entry + 1], this.#bytes, place);
    }
  }
}
