import type { ByteReader, ByteWriter } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { BLOCK_ROWS_MAX, SPARSE_RATIO } from '../base/limits.ts';
import { free } from '../packed/growth.ts';
import { IntegerStream } from '../packed/integer-stream.ts';
import { writeIntegers } from '../packed/integers.ts';
import { firstFrom } from '../packed/patches.ts';
import { readWords } from '../packed/stored-words.ts';
import type { Presence } from './column.ts';

/** Stored form of the rows that have a value. The numbers are on disk. Source: FORMAT.md 4.3. */
export const PresenceLayout = { BITMAP: 1, POSITIONS: 2 } as const;
/** One of the values of `PresenceLayout`. */
export type PresenceLayout = (typeof PresenceLayout)[keyof typeof PresenceLayout];

/** The layout for `presentCount` of `rowCount` rows, which are not all. */
export function presenceLayout(presentCount: number, rowCount: number): PresenceLayout {
  return presentCount * SPARSE_RATIO < rowCount ? PresenceLayout.POSITIONS : PresenceLayout.BITMAP;
}

/** Words of a bitmap of `rowCount` rows. */
export function bitmapWords(rowCount: number): number {
  return Math.ceil(rowCount / 32);
}

/** The bitmap that is being written. */
const bitmap = new Uint32Array(bitmapWords(BLOCK_ROWS_MAX));
/** The positions that are being written: of columns of few rows, so most of it is never touched. */
const positions = new Float64Array(BLOCK_ROWS_MAX);
/** Words of a bitmap whose values are counted to find the number of one. */
const RANK_WORDS = 16;

/** Writes ascending `rows[from, to)`, counted from `firstRow`, of a block of `rowCount` rows. */
export function writePresence(
  writer: ByteWriter,
  layout: PresenceLayout,
  rows: Uint16Array,
  from: number,
  to: number,
  firstRow: number,
  rowCount: number,
): void {
  if (layout === PresenceLayout.POSITIONS) {
    for (let index = from; index < to; index++) positions[index - from] = rows[index] - firstRow;
    writeIntegers(writer, positions, to - from, 'values');
    return;
  }
  const wordCount = bitmapWords(rowCount);
  bitmap.fill(0, 0, wordCount);
  for (let index = from; index < to; index++) {
    const row = rows[index] - firstRow;
    bitmap[row >>> 5] |= 1 << (row & 31);
  }
  writer.words(bitmap, wordCount);
}

function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Bits of words that are set. */
export function countBits(words: Uint32Array): number {
  let count = 0;
  for (let word = 0; word < words.length; word++) count += bitCount(words[word]);
  return count;
}

/** A bit a row, set for each of `rows`. */
function bitsOfRows(rows: Uint32Array, rowCount: number): Uint32Array {
  const bits = new Uint32Array(bitmapWords(rowCount));
  for (let index = 0; index < rows.length; index++)
    bits[rows[index] >>> 5] |= 1 << (rows[index] & 31);
  return bits;
}

/** The rows of a block that have a value in some columns, decoded. Its arrays must not be written. */
export class PresentRows {
  readonly count: number;
  readonly #rowCount: number;
  #bitmap: Uint32Array | undefined;
  #rows: Uint32Array | undefined;
  /** By RANK_WORDS words of the bitmap, the number of values before them. */
  #ranks: Uint16Array | undefined;

  private constructor(
    count: number,
    rowCount: number,
    bitmap: Uint32Array | undefined,
    rows: Uint32Array | undefined,
  ) {
    this.count = count;
    this.#rowCount = rowCount;
    this.#bitmap = bitmap;
    this.#rows = rows;
  }

  /** Those of `rowCount` rows that `rows` numbers; throws CORRUPTION when they do not ascend. */
  static of(rows: Uint32Array, rowCount: number): PresentRows {
    for (let index = 1; index < rows.length; index++) {
      if (rows[index] <= rows[index - 1]) damaged('positions are not in order');
    }
    return new PresentRows(rows.length, rowCount, undefined, rows);
  }

  /** Reads `count` of `rowCount` rows. Throws CORRUPTION when they are not that, in range and in order. */
  static read(
    reader: ByteReader,
    layout: PresenceLayout,
    count: number,
    rowCount: number,
  ): PresentRows {
    if (layout === PresenceLayout.POSITIONS) {
      return PresentRows.of(new IntegerStream(reader, count).ids(rowCount - 1), rowCount);
    }
    const bitmap = readWords(reader, bitmapWords(rowCount));
    const present = countBits(bitmap);
    const excess = rowCount % 32 === 0 ? 0 : bitmap[bitmap.length - 1] >>> (rowCount % 32);
    if (present !== count || excess !== 0) damaged(`bitmap of ${present} rows, not ${count}`);
    return new PresentRows(count, rowCount, bitmap, undefined);
  }

  /** Bit per row, as in column.ts. */
  get bitmap(): Uint32Array {
    this.#bitmap ??= bitsOfRows(this.#rows ?? new Uint32Array(0), this.#rowCount);
    return this.#bitmap;
  }

  /** Row of each value, ascending. */
  rows(): Uint32Array {
    if (this.#rows !== undefined) return this.#rows;
    const rows = new Uint32Array(this.count);
    let at = 0;
    for (let word = 0; word < this.bitmap.length; word++) {
      for (let bits = this.bitmap[word]; bits !== 0; bits &= bits - 1) {
        rows[at++] = word * 32 + 31 - Math.clz32(bits & -bits);
      }
    }
    this.#rows = rows;
    return rows;
  }

  /** A bit a row, of the rows whose values are set in `values`, a bit each. */
  bitsOf(values: Uint32Array): Uint32Array {
    const rows = this.rows();
    const bits = new Uint32Array(bitmapWords(this.#rowCount));
    for (let word = 0; word < values.length; word++) {
      for (let left = values[word]; left !== 0; left &= left - 1) {
        const row = rows[word * 32 + 31 - Math.clz32(left & -left)];
        bits[row >>> 5] |= 1 << (row & 31);
      }
    }
    return bits;
  }

  /** Lets go of what the bitmap tells; the bytes that it still holds. */
  rest(): number {
    if (this.#bitmap !== undefined) this.#rows = undefined;
    const bytes = (this.#bitmap?.byteLength ?? 0) + (this.#rows?.byteLength ?? 0);
    return bytes + (this.#ranks?.byteLength ?? 0);
  }

  /** Ends it, and frees what `rows` gave. */
  free(): void {
    free(this.#rows);
  }

  /** Number of the value that `row` has; -1 when it has none. */
  rank(row: number): number {
    const bitmap = this.#bitmap;
    if (bitmap === undefined) {
      const rows = this.rows();
      const rank = firstFrom(rows, row);
      return rows[rank] === row ? rank : -1;
    }
    const word = row >>> 5;
    const bit = 1 << (row & 31);
    if ((bitmap[word] & bit) === 0) return -1;
    this.#ranks ??= ranksOf(bitmap);
    const part = Math.floor(word / RANK_WORDS);
    let rank = this.#ranks[part] + bitCount(bitmap[word] & (bit - 1));
    for (let before = part * RANK_WORDS; before < word; before++) rank += bitCount(bitmap[before]);
    return rank;
  }
}

function ranksOf(bitmap: Uint32Array): Uint16Array {
  const ranks = new Uint16Array(Math.ceil(bitmap.length / RANK_WORDS));
  let rank = 0;
  for (let word = 0; word < bitmap.length; word++) {
    if (word % RANK_WORDS === 0) ranks[word / RANK_WORDS] = rank;
    rank += bitCount(bitmap[word]);
  }
  return ranks;
}

/** The bitmap of `present`, in the form of column.ts. */
export function presenceOf(present: PresentRows | undefined): Presence {
  return present?.bitmap;
}

/** Puts the values of the present rows to their rows; the other rows are 0. All rows: `values` itself. */
export function spread(
  values: Float64Array,
  present: PresentRows | undefined,
  rowCount: number,
): Float64Array {
  if (present === undefined) return values;
  const spreadValues = new Float64Array(rowCount);
  const rows = present.rows();
  for (let index = 0; index < rows.length; index++) spreadValues[rows[index]] = values[index];
  return spreadValues;
}
