import { ByteReader, type ByteWriter } from '../base/bytes.ts';
import { EngineError } from '../base/errors.ts';
import { TEXT_PIECE_ROWS } from '../base/limits.ts';
import type { RegionWriter } from './chunk.ts';
import type { StringColumn } from './column.ts';
import { compress, decompress, readPacked, writePacked } from './compress.ts';
import type { Dictionary } from './dictionary.ts';
import { IntegerStream, writeIntegers } from './integers.ts';
import type { PresentRows } from './presence.ts';
import type { StringBuilder } from './strings.ts';

/** How a chunk of strings is stored. The numbers are on disk. Source: FORMAT.md 4.4. */
export const StringEncoding = { CONSTANT: 0, DICTIONARY: 1, TEXT: 2 } as const;
/** One of the values of `StringEncoding`. */
export type StringEncoding = (typeof StringEncoding)[keyof typeof StringEncoding];

/** A dictionary is used when there are at least this many values an entry. */
const VALUES_PER_ENTRY_MIN = 2;
/** Bytes that the strings of a chunk have at most. */
const STRING_BYTES_MAX = 2 ** 32 - 1;

/** Which entries of a builder some of its values use, in the order of their first use. */
export interface UsedEntries {
  /** Builder's entries, `count` of them. */
  entries: Uint16Array;
  count: number;
  /** Number + 1 of each of the builder's entries, 0 when it is not used. */
  numbers: Uint16Array;
}

/** The entries that the values `[from, to)` use. */
export function usedEntries(builder: StringBuilder, from: number, to: number): UsedEntries {
  const { entryCount } = builder.dictionary;
  const numbers = new Uint16Array(entryCount);
  const entries = new Uint16Array(Math.min(entryCount, to - from));
  let count = 0;
  for (let index = from; index < to; index++) {
    const entry = builder.entries[index];
    if (numbers[entry] !== 0) continue;
    entries[count++] = entry;
    numbers[entry] = count;
  }
  return { entries, count, numbers };
}

/** The encoding for `valueCount` values that use `used`. */
export function stringEncoding(
  builder: StringBuilder,
  used: UsedEntries,
  valueCount: number,
): StringEncoding {
  if (used.count === 1) return StringEncoding.CONSTANT;
  const repeats = valueCount >= used.count * VALUES_PER_ENTRY_MIN;
  return repeats && !builder.plain ? StringEncoding.DICTIONARY : StringEncoding.TEXT;
}

/** Bytes of `entries[from, to)` of a dictionary, one after the other: a view when they lie so, else a copy. */
function gather(
  dictionary: Dictionary,
  entries: Uint16Array,
  from: number,
  to: number,
): Uint8Array {
  const { offsets, bytes } = dictionary;
  let contiguous = true;
  let byteCount = 0;
  for (let index = from; index < to; index++) {
    const entry = entries[index];
    byteCount += offsets[entry + 1] - offsets[entry];
    if (index > from && entry !== entries[index - 1] + 1) contiguous = false;
  }
  const start = offsets[entries[from]];
  if (contiguous) return bytes.subarray(start, start + byteCount);
  const gathered = new Uint8Array(byteCount);
  let at = 0;
  for (let index = from; index < to; index++) {
    const entry = entries[index];
    const end = offsets[entry + 1];
    for (let byte = offsets[entry]; byte < end; byte++) gathered[at++] = bytes[byte];
  }
  return gathered;
}

function writeLengths(
  writer: ByteWriter,
  dictionary: Dictionary,
  entries: Uint16Array,
  from: number,
  to: number,
): void {
  const { offsets } = dictionary;
  const lengths = new Float64Array(to - from);
  for (let index = from; index < to; index++) {
    lengths[index - from] = offsets[entries[index] + 1] - offsets[entries[index]];
  }
  writeIntegers(writer, lengths, lengths.length, 'ids');
}

/** Writes the one entry that all values share. */
export function writeConstantString(
  out: RegionWriter,
  builder: StringBuilder,
  entry: number,
): void {
  const { offsets, bytes } = builder.dictionary;
  writePacked(out.region, bytes.subarray(offsets[entry], offsets[entry + 1]));
  out.end();
}

/**
 * Writes entries and ids of the values `[from, to)`. With `slots` there is an id for each row of the block, 0 where
 * it has no value; `firstRow` is the builder's row that is row 0 of the block.
 */
export function writeDictionary(
  out: RegionWriter,
  builder: StringBuilder,
  used: UsedEntries,
  from: number,
  to: number,
  slots: { firstRow: number; rowCount: number } | undefined,
): void {
  out.meta.varint(used.count);
  writeLengths(out.region, builder.dictionary, used.entries, 0, used.count);
  writePacked(out.region, gather(builder.dictionary, used.entries, 0, used.count));
  out.end();
  const { rows, entries } = builder;
  const ids = new Float64Array(slots === undefined ? to - from : slots.rowCount);
  for (let index = from; index < to; index++) {
    const at = slots === undefined ? index - from : rows[index] - slots.firstRow;
    ids[at] = used.numbers[entries[index]];
  }
  writeIntegers(out.region, ids, ids.length, 'ids');
  out.end();
}

/** Writes the values `[from, to)` as text: their lengths, then pieces of TEXT_PIECE_ROWS values. */
export function writeText(
  out: RegionWriter,
  builder: StringBuilder,
  from: number,
  to: number,
): void {
  const { dictionary, entries } = builder;
  writeLengths(out.region, dictionary, entries, from, to);
  out.end();
  for (let first = from; first < to; first += TEXT_PIECE_ROWS) {
    const bytes = gather(dictionary, entries, first, Math.min(first + TEXT_PIECE_ROWS, to));
    out.add(compress(bytes) ?? bytes);
  }
}

function damaged(what: string): never {
  throw new EngineError('CORRUPTION', what);
}

/** Where `count` strings begin that lie one after the other, and the last one's end. Throws CORRUPTION. */
function offsetsOf(count: number, lengthOf: (index: number) => number): Uint32Array {
  const offsets = new Uint32Array(count + 1);
  let end = 0;
  for (let index = 0; index < count; index++) {
    const length = lengthOf(index);
    end += length;
    offsets[index + 1] = end;
    if (!(length >= 0 && end <= STRING_BYTES_MAX && offsets[index + 1] === end)) {
      damaged(`string of ${length} bytes`);
    }
  }
  return offsets;
}

/** A piece of a text: `offsets` count from its own start, `first` is the number of its first value. */
interface Piece {
  first: number;
  offsets: Uint32Array;
  bytes: Uint8Array;
}

/** What `StringChunk` reads of its regions, each when it is needed. Throws CORRUPTION. */
export interface StringSource {
  /** Bytes of a region, checked. */
  region(number: number): Uint8Array;
}

/** Some bytes in which a string lies. */
export interface StringPlace {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** A chunk of strings that is open for reading: one value, for which no more is read than needed, or the column. */
export class StringChunk {
  readonly #encoding: StringEncoding;
  readonly #source: StringSource;
  readonly #valueCount: number;
  readonly #entryCount: number;
  #entries: { offsets: Uint32Array; bytes: Uint8Array } | undefined;
  #ids: IntegerStream | undefined;
  #lengths: IntegerStream | undefined;
  #piece: Piece | undefined;

  /** `valueCount`: values or, of a dictionary with an id a row, rows. `entryCount`: of a dictionary. */
  constructor(
    encoding: StringEncoding,
    source: StringSource,
    valueCount: number,
    entryCount: number,
  ) {
    this.#encoding = encoding;
    this.#source = source;
    this.#valueCount = valueCount;
    this.#entryCount = { 0: 1, 1: entryCount, 2: valueCount }[encoding];
  }

  /** The value number `rank` (or of row `rank`, with an id a row); `undefined` when that row has none. */
  value(rank: number): StringPlace | undefined {
    if (this.#encoding === StringEncoding.TEXT) return this.#pieceValue(rank);
    const id = this.#encoding === StringEncoding.CONSTANT ? 1 : this.#idStream().at(rank);
    if (id === 0) return undefined;
    if (!(id <= this.#entryCount)) damaged(`id ${id} of ${this.#entryCount}`);
    const { offsets, bytes } = this.#readEntries();
    return { bytes, start: offsets[id - 1], end: offsets[id] };
  }

  /** The ids of the column's rows before they are spread over rows: entry + 1, or 0. A new array. */
  #denseIds(): Uint32Array {
    if (this.#encoding === StringEncoding.DICTIONARY) {
      return this.#idStream().ids(this.#entryCount);
    }
    const ids = new Uint32Array(this.#valueCount);
    if (this.#encoding === StringEncoding.CONSTANT) return ids.fill(1);
    for (let index = 0; index < ids.length; index++) ids[index] = index + 1;
    return ids;
  }

  /** The column of a block of `rowCount` rows; `present` is undefined when each row has a value or an id. */
  column(
    kind: StringColumn['kind'],
    present: PresentRows | undefined,
    rowCount: number,
  ): StringColumn {
    let ids = this.#denseIds();
    if (present !== undefined) {
      const dense = ids;
      const rows = present.rows();
      ids = new Uint32Array(rowCount);
      for (let index = 0; index < dense.length; index++) ids[rows[index]] = dense[index];
    }
    const { offsets, bytes } = this.#readEntries();
    return { kind, ids, entryCount: this.#entryCount, offsets, bytes };
  }

  #idStream(): IntegerStream {
    this.#ids ??= new IntegerStream(new ByteReader(this.#source.region(1)), this.#valueCount);
    return this.#ids;
  }

  /** Offsets and bytes of all entries. */
  #readEntries(): { offsets: Uint32Array; bytes: Uint8Array } {
    this.#entries ??=
      this.#encoding === StringEncoding.TEXT ? this.#readText() : this.#readDictionary();
    return this.#entries;
  }

  #readDictionary(): { offsets: Uint32Array; bytes: Uint8Array } {
    const reader = new ByteReader(this.#source.region(0));
    if (this.#encoding === StringEncoding.CONSTANT) {
      const bytes = readPacked(reader);
      return { offsets: Uint32Array.of(0, bytes.length), bytes };
    }
    const lengths = new IntegerStream(reader, this.#entryCount).values();
    const offsets = offsetsOf(this.#entryCount, (index) => lengths[index]);
    const bytes = readPacked(reader);
    if (offsets[this.#entryCount] !== bytes.length) {
      damaged(`entries of ${offsets[this.#entryCount]} bytes in ${bytes.length}`);
    }
    return { offsets, bytes };
  }

  #lengthStream(): IntegerStream {
    this.#lengths ??= new IntegerStream(new ByteReader(this.#source.region(0)), this.#valueCount);
    return this.#lengths;
  }

  /** The piece number `piece` of a text, alone: its lengths are summed up from its own start. */
  #readPiece(piece: number): Piece {
    const lengths = this.#lengthStream();
    const first = piece * TEXT_PIECE_ROWS;
    const count = Math.min(TEXT_PIECE_ROWS, this.#valueCount - first);
    const offsets = offsetsOf(count, (index) => lengths.at(first + index));
    const stored = this.#source.region(1 + piece);
    const rawBytes = offsets[count];
    const bytes = stored.length === rawBytes ? stored : decompress(stored, rawBytes);
    return { first, offsets, bytes };
  }

  #readText(): { offsets: Uint32Array; bytes: Uint8Array } {
    const pieceCount = Math.ceil(this.#valueCount / TEXT_PIECE_ROWS);
    const pieces: Piece[] = [];
    let byteCount = 0;
    for (let number = 0; number < pieceCount; number++) {
      const piece = this.#readPiece(number);
      pieces.push(piece);
      byteCount += piece.bytes.length;
    }
    if (byteCount > STRING_BYTES_MAX) damaged(`strings of ${byteCount} bytes`);
    const bytes = new Uint8Array(byteCount);
    const offsets = new Uint32Array(this.#valueCount + 1);
    let base = 0;
    for (const piece of pieces) {
      bytes.set(piece.bytes, base);
      const count = piece.offsets.length;
      for (let index = 0; index < count; index++) {
        offsets[piece.first + index] = base + piece.offsets[index];
      }
      base += piece.bytes.length;
    }
    return { offsets, bytes };
  }

  #pieceValue(rank: number): StringPlace {
    if (this.#entries !== undefined) {
      const { offsets, bytes } = this.#entries;
      return { bytes, start: offsets[rank], end: offsets[rank + 1] };
    }
    const number = Math.floor(rank / TEXT_PIECE_ROWS);
    const first = number * TEXT_PIECE_ROWS;
    if (this.#piece?.first !== first) this.#piece = this.#readPiece(number);
    const { offsets, bytes } = this.#piece;
    return { bytes, start: offsets[rank - first], end: offsets[rank - first + 1] };
  }
}
