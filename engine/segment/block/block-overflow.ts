import { ByteReader } from '../../base/bytes.ts';
import { damaged } from '../../base/errors.ts';
import { TEXT_PIECE_ROWS } from '../../base/limits.ts';
import type { Region } from '../../column/chunk.ts';
import { type Entries, offsetsOf, type StringPlace } from '../../column/entries.ts';
import { KIND_COLUMN_MIN, Kind } from '../../column/kind.ts';
import { PresentRows } from '../../column/presence.ts';
import { leafKind, leafPath } from '../../column/shape.ts';
import { decompress } from '../../packed/compress.ts';
import { IntegerStream } from '../../packed/integer-stream.ts';
import { firstFrom } from '../../packed/patches.ts';
import type { ColumnEntry } from './column-entry.ts';
import type { OverflowEntry } from './directory.ts';
import { encodeColumn, isTrue } from './overflow-column.ts';
import { decodeText, escapeSurrogates } from './rebuild.ts';

/** Kind and path of leaf keys, in 32 bits. */
const KEY_MAX = 2 ** 31 - 1;
/** Values up to which their rows are kept. */
const KEPT_VALUES_MAX = 2 ** 17;
/** Bytes of pieces of texts that are kept. */
const PIECES_BYTES_MAX = 4 * 1024 * 1024;
/** Bytes of a string that count where a block is to be filled. */
const LONG_BYTES = 256;

/** A string of an overflow map, and the row that has it. */
export interface OverflowString extends StringPlace {
  row: number;
}

/** The columns that a block has in its overflow map, numbered from 0 there. Methods throw CORRUPTION. */
export class BlockOverflow {
  readonly count: number;
  readonly #entry: OverflowEntry;
  readonly #rowCount: number;
  readonly #pathCount: number;
  readonly #region: (region: Region) => Uint8Array;
  #columns: { keys: Uint32Array; starts: Uint32Array } | undefined;
  #rows: Uint32Array | undefined;
  #lengths: IntegerStream | undefined;
  /** Pieces of texts that were read, by number: the values of a row lie in many of them. */
  readonly #pieces = new Map<number, Entries>();
  #pieceBytes = 0;
  /** Columns that were asked for, as a block has others. */
  readonly #entries = new Map<number, ColumnEntry>();

  /** `region` reads one of the block. */
  constructor(
    entry: OverflowEntry,
    rowCount: number,
    pathCount: number,
    region: (region: Region) => Uint8Array,
  ) {
    this.count = entry.columnCount;
    this.#entry = entry;
    this.#rowCount = rowCount;
    this.#pathCount = pathCount;
    this.#region = region;
  }

  /** Path, kind and count of values of each column. */
  outlines(): Pick<ColumnEntry, 'path' | 'kind' | 'presentCount'>[] {
    const { keys, starts } = this.#read();
    return Array.from(keys, (key, number) => ({
      ...{ path: leafPath(key), kind: leafKind(key) },
      presentCount: starts[number + 1] - starts[number],
    }));
  }

  /** The number of the column with a leaf key; -1 when there is none. */
  find(key: number): number {
    const { keys } = this.#read();
    const number = firstFrom(keys, key);
    return keys[number] === key ? number : -1;
  }

  /** A column as the directory has others; it is made when it is asked for. */
  entry(number: number): ColumnEntry {
    const known = this.#entries.get(number);
    if (known !== undefined) return known;
    const { keys, starts } = this.#read();
    const kind = leafKind(keys[number]);
    const count = starts[number + 1] - starts[number];
    const entry: ColumnEntry = {
      ...{ path: leafPath(keys[number]), kind, presentCount: count },
      ...{ presence: -1, hasSlots: false, entryCount: 0, dictionary: -1, zone: undefined },
      ...encodeColumn(kind, this.#texts(starts[number], count)),
      own: this.#presentRows(number),
    };
    this.#entries.set(number, entry);
    return entry;
  }

  /** Rows that have a value of a column; `undefined` when all have. */
  #presentRows(number: number): PresentRows | undefined {
    const { starts } = this.#read();
    const present = PresentRows.of(
      this.#allRows().subarray(starts[number], starts[number + 1]),
      this.#rowCount,
    );
    return present.count === this.#rowCount ? undefined : present;
  }

  /** A bit for each row that has a value of a column; `undefined` when all have. */
  presentBits(number: number): Uint32Array | undefined {
    return this.#presentRows(number)?.bitmap;
  }

  /** The place of the value that a row has of a column, among all values; -1 when it has none. */
  placeOf(number: number, row: number): number {
    const { starts } = this.#read();
    const rows = this.#allRows();
    const [begin, end] = starts.subarray(number, number + 2);
    const place = firstFrom(rows, row, begin, end);
    return place < end && rows[place] === row ? place : -1;
  }

  /** JSON text of what a row has of a column; `undefined` when it has nothing. */
  valueText(number: number, row: number): string | undefined {
    const place = this.placeOf(number, row);
    if (place < 0) return undefined;
    const kind = leafKind(this.#read().keys[number]);
    const { bytes, start, end } = this.#textAt(place);
    if (kind === Kind.BOOLEAN) return String(isTrue(bytes, start));
    const text = decodeText(bytes, start, end);
    if (kind === Kind.STRING) return JSON.stringify(text);
    if (kind === Kind.DATE) return `"${text}"`;
    return kind === Kind.ARRAY ? escapeSurrogates(text) : text;
  }

  /** The strings of all columns, column after column. */
  *strings(): Generator<OverflowString> {
    const { keys, starts } = this.#read();
    const rows = this.#allRows();
    for (let number = 0; number < keys.length; number++) {
      if (leafKind(keys[number]) !== Kind.STRING) continue;
      for (let place = starts[number]; place < starts[number + 1]; place++) {
        yield { row: rows[place], ...this.#textAt(place) };
      }
    }
  }

  /** Adds to `weights`, by row, the bytes of long texts. */
  weigh(weights: Uint32Array): void {
    const lengths = this.#lengthStream().values();
    const rows = this.#allRows();
    for (let place = 0; place < rows.length; place++) {
      if (lengths[place] >= LONG_BYTES) weights[rows[place]] += lengths[place];
    }
  }

  /** Lets go of columns that were asked for. */
  forgetColumns(): void {
    this.#entries.clear();
  }

  /** Lets go of all that was read, but of what is small and needed for each column. */
  forget(): void {
    this.forgetColumns();
    this.#forgetPieces();
    this.#lengths = undefined;
    if (this.#entry.valueCount > KEPT_VALUES_MAX) this.#rows = undefined;
  }

  #read(): { keys: Uint32Array; starts: Uint32Array } {
    if (this.#columns !== undefined) return this.#columns;
    const { columnCount, valueCount, columns } = this.#entry;
    const reader = new ByteReader(this.#region(columns));
    const keys = new IntegerStream(reader, columnCount).ids(KEY_MAX);
    const counts = new IntegerStream(reader, columnCount).ids(valueCount);
    const starts = new Uint32Array(columnCount + 1);
    for (let number = 0; number < columnCount; number++) {
      const kind = leafKind(keys[number]);
      const isColumn = kind >= KIND_COLUMN_MIN && kind <= Kind.DATE;
      const isInOrder = number === 0 || keys[number] > keys[number - 1];
      if (!isColumn || !isInOrder || leafPath(keys[number]) >= this.#pathCount) {
        damaged(`column ${keys[number]} of a map`);
      }
      if (counts[number] < 1 || counts[number] > this.#rowCount)
        damaged(`${counts[number]} values`);
      starts[number + 1] = starts[number] + counts[number];
    }
    if (starts[columnCount] !== valueCount) damaged(`${valueCount} values of a map`);
    this.#columns = { keys, starts };
    return this.#columns;
  }

  /** Rows of all values. */
  #allRows(): Uint32Array {
    const { rows, valueCount } = this.#entry;
    this.#rows ??= new IntegerStream(new ByteReader(this.#region(rows)), valueCount).ids(
      this.#rowCount - 1,
    );
    return this.#rows;
  }

  #lengthStream(): IntegerStream {
    const { lengths, valueCount } = this.#entry;
    this.#lengths ??= new IntegerStream(new ByteReader(this.#region(lengths)), valueCount);
    return this.#lengths;
  }

  #pieceOf(number: number): Entries {
    const known = this.#pieces.get(number);
    if (known !== undefined) return known;
    const { valueCount, texts } = this.#entry;
    const first = number * TEXT_PIECE_ROWS;
    const count = Math.min(TEXT_PIECE_ROWS, valueCount - first);
    const offsets = offsetsOf(this.#lengthStream().part(first, count));
    const stored = this.#region(texts[number]);
    const bytes = stored.length === offsets[count] ? stored : decompress(stored, offsets[count]);
    const piece = { offsets, bytes };
    if (this.#pieceBytes > PIECES_BYTES_MAX) this.#forgetPieces();
    this.#pieces.set(number, piece);
    this.#pieceBytes += bytes.length + offsets.byteLength;
    return piece;
  }

  #forgetPieces(): void {
    this.#pieces.clear();
    this.#pieceBytes = 0;
  }

  #textAt(place: number): StringPlace {
    const { offsets, bytes } = this.#pieceOf(Math.floor(place / TEXT_PIECE_ROWS));
    const at = place % TEXT_PIECE_ROWS;
    return { bytes, start: offsets[at], end: offsets[at + 1] };
  }

  /** Texts of `count` values from a place on. */
  #texts(from: number, count: number): Entries {
    const first = from % TEXT_PIECE_ROWS;
    if (first + count <= TEXT_PIECE_ROWS) {
      const { offsets, bytes } = this.#pieceOf(Math.floor(from / TEXT_PIECE_ROWS));
      return { offsets: offsets.subarray(first, first + count + 1), bytes };
    }
    const parts: Uint8Array[] = [];
    const offsets = new Uint32Array(count + 1);
    for (let at = 0; at < count; at++) {
      const { bytes, start, end } = this.#textAt(from + at);
      parts.push(bytes.subarray(start, end));
      offsets[at + 1] = offsets[at] + end - start;
    }
    return { offsets, bytes: Buffer.concat(parts) };
  }
}
