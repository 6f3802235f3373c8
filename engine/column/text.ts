import { ByteReader, type ByteWriter } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { TEXT_PIECE_ROWS } from '../base/limits.ts';
import { decompressPart, writePacked } from '../packed/compress.ts';
import { IntegerStream } from '../packed/integer-stream.ts';
import { idsToWrite, writeIds } from '../packed/integers.ts';
import { askStream, type RowSlots } from '../packed/stream-kernel.ts';
import type { RegionWriter } from './chunk.ts';
import type { Dictionary } from './dictionary.ts';
import { type Entries, offsetsOf, type PieceRoom, Scratch, type TextPiece } from './entries.ts';
import type { StringBuilder } from './strings.ts';

/** Stored form of a chunk of strings. The numbers are on disk. Source: FORMAT.md 4.4. */
export const StringEncoding = {
  CONSTANT: 0,
  DICTIONARY: 1,
  TEXT: 2,
  SHARED: 3,
  DERIVED: 4,
} as const;
/** One of the values of `StringEncoding`. */
export type StringEncoding = (typeof StringEncoding)[keyof typeof StringEncoding];

/** Bytes of strings up to which one of them is read alone, so that the memory for that stays small. */
const STRINGS_BYTES_MAX = 256 * 1024;
/** Memory of the strings among which one is read: as they are stored, and all of them where that is needed. */
const scratch = new Scratch();
/** A dictionary is used when there are at least this many values an entry. */
const VALUES_PER_ENTRY_MIN = 2;

/** Entries of a builder that some of its values use, in the order of their first use. */
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
  const values = builder.entries.subarray(from, to);
  const used = askStream(to - from, (kernel) => kernel.use(values, entryCount));
  return used ?? plainUsed(values, entryCount);
}

function plainUsed(values: Uint16Array, entryCount: number): UsedEntries {
  const numbers = new Uint16Array(entryCount);
  const entries = new Uint16Array(Math.min(entryCount, values.length));
  let count = 0;
  for (let index = 0; index < values.length; index++) {
    const entry = values[index];
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

function writeLengths(
  writer: ByteWriter,
  dictionary: Dictionary,
  entries: Uint16Array,
  from: number,
  to: number,
): void {
  const { offsets } = dictionary;
  const lengths = idsToWrite(to - from);
  for (let index = from; index < to; index++) {
    const entry = entries[index];
    lengths[index - from] = offsets[entry + 1] - offsets[entry];
  }
  writeIds(writer, to - from);
}

/** Writes the one entry that all values share. */
export function writeConstantString(
  out: RegionWriter,
  builder: StringBuilder,
  entry: number,
): void {
  const { offsets, bytes } = builder.dictionary;
  writePacked(out.region, bytes.subarray(offsets[entry], offsets[entry + 1]), out.compressor());
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
  const bytes = builder.dictionary.gather(used.entries, 0, used.count);
  writePacked(out.region, bytes, out.compressor());
  out.end();
  const count = slots === undefined ? to - from : slots.rowCount;
  const entries = builder.entries.subarray(from, to);
  const places = slots && { ...slots, rows: builder.rows.subarray(from, to) };
  const ids = idsToWrite(count);
  const isDone = askStream(count, (kernel) => kernel.number(entries, used.numbers, places));
  if (isDone !== true) numberPlain(entries, used.numbers, places, ids.fill(0, 0, count));
  writeIds(out.region, count);
  out.end();
}

/** Puts the number of the entry of each value to `ids`, or to the place of its row there. */
function numberPlain(
  entries: Uint16Array,
  numbers: Uint16Array,
  slots: RowSlots | undefined,
  ids: Uint32Array,
): void {
  for (let index = 0; index < entries.length; index++) {
    const at = slots === undefined ? index : slots.rows[index] - slots.firstRow;
    ids[at] = numbers[entries[index]];
  }
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
  const compress = out.textCompressor();
  const { offsets } = dictionary;
  for (let first = from; first < to; first += TEXT_PIECE_ROWS) {
    const end = Math.min(first + TEXT_PIECE_ROWS, to);
    const bytes = dictionary.gather(entries, first, end);
    const lengthOf = (text: number): number => {
      const entry = entries[first + text];
      return offsets[entry + 1] - offsets[entry];
    };
    out.add(compress(bytes, end - first, lengthOf) ?? bytes);
  }
}

/** Writes the lengths of strings that lie one after the other. */
export function writeLengthsOf(out: RegionWriter, { offsets }: Entries): void {
  const count = offsets.length - 1;
  const lengths = idsToWrite(count);
  for (let index = 0; index < count; index++) lengths[index] = offsets[index + 1] - offsets[index];
  writeIds(out.region, count);
  out.end();
}

/** Writes strings that lie one after the other, from the first byte on, as text. */
export function writeTextOf(out: RegionWriter, text: Entries): void {
  const { offsets, bytes } = text;
  const count = offsets.length - 1;
  writeLengthsOf(out, text);
  const compress = out.textCompressor();
  for (let first = 0; first < count; first += TEXT_PIECE_ROWS) {
    const end = Math.min(first + TEXT_PIECE_ROWS, count);
    const piece = bytes.subarray(offsets[first], offsets[end]);
    const lengthOf = (text: number): number => offsets[first + text + 1] - offsets[first + text];
    out.add(compress(piece, end - first, lengthOf) ?? piece);
  }
}

/**
 * All values of a text of `count` values of these `lengths`. `read` reads a piece of it, in the room that it is given
 * as far as that goes: what is decompressed needs no memory of its own. Throws CORRUPTION.
 */
export function textOfPieces(
  count: number,
  lengths: IntegerStream,
  read: (piece: number, room: PieceRoom) => TextPiece,
): Entries {
  const offsets = new Uint32Array(count + 1);
  for (let first = 0; first < count; first += TEXT_PIECE_ROWS) {
    const some = lengths.part(first, Math.min(TEXT_PIECE_ROWS, count - first));
    offsetsOf(some, offsets.subarray(first, first + some.length + 1), offsets[first]);
  }
  const bytes = new Uint8Array(offsets[count]);
  const own = new Uint32Array(TEXT_PIECE_ROWS + 1);
  for (let first = 0; first < count; first += TEXT_PIECE_ROWS) {
    const start = offsets[first];
    const piece = read(first / TEXT_PIECE_ROWS, {
      offsets: (places) => own.subarray(0, places),
      bytes: () => bytes.subarray(start),
      stored: () => undefined,
      hold: () => {},
    });
    if (piece.bytes.buffer !== bytes.buffer) bytes.set(piece.bytes, start);
  }
  return { offsets, bytes };
}

/** Where one of adjacent strings lies, and where all end. */
interface Span {
  start: number;
  end: number;
  all: number;
}

/** Finds the string number `at` of these `lengths`. Throws CORRUPTION when one is no length. */
function spanOf(lengths: Float64Array, at: number): Span {
  let start = 0;
  let all = 0;
  for (let index = 0; index < lengths.length; index++) {
    const length = lengths[index];
    if (index === at) start = all;
    all += length;
    if (!(length >= 0 && all >>> 0 === all)) damaged(`string of ${length} bytes`);
  }
  return { start, end: start + lengths[at], all };
}

/** Copies the string of a span from what is stored of all. Throws CORRUPTION. */
function copied(stored: Uint8Array, { start, end, all }: Span): Uint8Array {
  if (stored.length === all) return stored.slice(start, end);
  return decompressPart(stored, all, start, end, (count) => scratch.bytes(count));
}

/**
 * The bytes of the value number `at` of a piece of a text, of the values' `lengths` and bytes that `read` gives: alone,
 * so that no more than needed is decompressed and nothing copied but this one. `undefined` when the piece is large.
 * Throws CORRUPTION.
 */
export function singleOfPiece(
  lengths: Float64Array,
  at: number,
  read: (room: Uint8Array) => Uint8Array,
): Uint8Array | undefined {
  const span = spanOf(lengths, at);
  if (span.all > STRINGS_BYTES_MAX) return undefined;
  return copied(read(scratch.stored(span.all)), span);
}

/**
 * Those of the entry number `at` of the dictionary of a block with `entryCount` entries, whose region `read` gives, in
 * the same way. `undefined` when it is large, or so small, of up to `bytesMin` bytes with its offsets, that it is kept
 * whole. Throws CORRUPTION.
 */
export function singleOfDictionary(
  entryCount: number,
  at: number,
  bytesMin: number,
  read: (room: Uint8Array) => Uint8Array,
): Uint8Array | undefined {
  const reader = new ByteReader(read(scratch.stored(STRINGS_BYTES_MAX)));
  const span = spanOf(new IntegerStream(reader, entryCount).part(0, entryCount), at);
  const bytes = span.all + (entryCount + 1) * Uint32Array.BYTES_PER_ELEMENT;
  if (bytes <= bytesMin || span.all > STRINGS_BYTES_MAX) return undefined;
  const rawBytes = reader.varint();
  if (rawBytes !== span.all) damaged(`entries of ${span.all} bytes in ${rawBytes}`);
  return copied(reader.raw(reader.varint()), span);
}
