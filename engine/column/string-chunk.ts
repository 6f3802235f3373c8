import { must } from '../base/assert.ts';
import { ByteReader, type FarBytes } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { BLOCK_ROWS_MAX, TEXT_PIECE_ROWS } from '../base/limits.ts';
import type { PackedValues } from '../packed/cells.ts';
import { decompress, readPacked } from '../packed/compress.ts';
import { free } from '../packed/growth.ts';
import { IntegerStream } from '../packed/integer-stream.ts';
import { packedPart } from '../packed/packed.ts';
import { STRETCH_ROWS, type StringColumn } from './column.ts';
import {
  type DerivedValues,
  type Entries,
  type EntrySource,
  offsetsOf,
  type PieceRoom,
  type Scratch,
  type StoredPieces,
  type StringPlace,
  type SumKeeper,
  type TextPiece,
} from './entries.ts';
import {
  DictionaryColumn,
  SharedStringColumn,
  TextColumn,
  type TextReads,
} from './lazy-strings.ts';
import { bitmapWords, type PresentRows } from './presence.ts';
import { StringEncoding, singleOfDictionary, singleOfPiece, textOfPieces } from './text.ts';

/** Regions that `StringChunk` reads on demand. Reads throw CORRUPTION. */
export interface StringSource {
  /** True of a sealed block, whose strings are decompressed together or not at all. */
  isSealed?: boolean;
  /** Bytes of a region, checked; in `scratch` when it is given and they fit. */
  region(number: number, scratch?: Uint8Array): Uint8Array;
  /**
   * Bytes of the region `first` and of others behind it, those before `end` at most, as many as are read together; in
   * `scratch`.
   */
  together?(first: number, end: number, scratch: Scratch): Uint8Array[];
  /** Bytes of a region of numbers, of which no more are read than needed; as `region` gives them unless it is there. */
  numbers?(number: number): Uint8Array | FarBytes;
  /** The dictionary of the segment that a shared chunk has its entries in; only those need it. */
  dictionary?(): EntrySource;
  /** Makes the values of a derived chunk; only those need it. */
  derived?(): DerivedValues;
}

/** More than an id is. */
const ID_MAX = 2 ** 32 - 1;
/** More bytes than a value of a text has. */
const WEIGHT_MAX = 2 ** 31 - 1;

/** Bytes of the entries of a dictionary that stay decoded at rest, and memory beside them. */
const ENTRIES_RESTING_MAX = 4_096;
const ENTRIES_BYTES = 256;

/** Bytes from which a string that rows share counts as if each row had its own. */
const LONG_BYTES = 256;

/** Ids of the texts of the largest block, once some were asked for. */
let textIds = new Uint32Array(0);

/** The ids of rows that each have a text of their own, which all columns of those share. */
function idsOfTexts(rowCount: number): Uint32Array {
  if (textIds.length === 0)
    textIds = Uint32Array.from({ length: BLOCK_ROWS_MAX }, (_, row) => row + 1);
  return textIds.subarray(0, rowCount);
}

/** A chunk of strings that is open for reading: one value, for which no more is read than needed, or the column. */
export class StringChunk {
  readonly #encoding: StringEncoding;
  readonly #source: StringSource;
  readonly #valueCount: number;
  readonly #entryCount: number;
  #entries: Entries | undefined;
  #ids: IntegerStream | undefined;
  #list: Uint32Array | undefined;
  #lengths: IntegerStream | undefined;
  #piece: TextPiece | undefined;
  #derived: DerivedValues | undefined;
  /** The piece, or 0 for the dictionary, of which a value was read alone: who asks for another one reads all of it. */
  #asked = -1;
  /** The value that was read last, of which texts are derived in the same row. */
  #lastRank = -1;
  #last: StringPlace | undefined;

  /**
   * `valueCount`: values or, with an id a row, rows. `entryCount`: of a dictionary; of a shared chunk the entries in
   * its own list, 0 when it has none.
   */
  constructor(
    encoding: StringEncoding,
    source: StringSource,
    valueCount: number,
    entryCount: number,
  ) {
    this.#encoding = encoding;
    this.#source = source;
    this.#valueCount = valueCount;
    this.#entryCount = { 0: 1, 1: entryCount, 2: valueCount, 3: entryCount, 4: valueCount }[
      encoding
    ];
  }

  /** True when each value is an entry of its own. */
  get #isText(): boolean {
    return this.#encoding === StringEncoding.TEXT || this.#encoding === StringEncoding.DERIVED;
  }

  /** The value number `rank` (or of row `rank`, with an id a row); `undefined` when that row has none. */
  value(rank: number): StringPlace | undefined {
    if (this.#lastRank !== rank) {
      this.#last = this.#value(rank);
      this.#lastRank = rank;
    }
    return this.#last;
  }

  #value(rank: number): StringPlace | undefined {
    if (this.#isText) return this.#textValue(rank);
    const id = this.#encoding === StringEncoding.CONSTANT ? 1 : this.#idStream().at(rank);
    if (id === 0) return undefined;
    if (this.#encoding === StringEncoding.SHARED) return this.#sharedPlace(id);
    if (!(id <= this.#entryCount)) damaged(`id ${id} of ${this.#entryCount}`);
    const single = this.#singleEntry(id - 1);
    if (single !== undefined) return { bytes: single, start: 0, end: single.length };
    const { offsets, bytes } = this.#readEntries();
    return { bytes, start: offsets[id - 1], end: offsets[id] };
  }

  /** The dictionary of the segment in which a shared chunk has its entries; `undefined` of others. */
  get shared(): EntrySource | undefined {
    return this.#encoding === StringEncoding.SHARED ? this.#dictionary() : undefined;
  }

  /** True when row `rank` has a value, with an id a row. */
  hasId(rank: number): boolean {
    return this.#idStream().at(rank) !== 0;
  }

  #dictionary(): EntrySource {
    return this.#source.dictionary?.() ?? damaged('shared ids outside a sealed segment');
  }

  #sharedPlace(id: number): StringPlace {
    const dictionary = this.#dictionary();
    const list = this.#sharedList(dictionary);
    const entry = list === undefined ? id : list[id - 1];
    if (!(entry > 0 && entry <= dictionary.entryCount)) damaged(`id ${id} of a shared dictionary`);
    return dictionary.place(entry - 1);
  }

  /** The entries + 1 that ids are numbers of; `undefined` when ids are entries + 1 themselves. */
  #sharedList(dictionary: EntrySource): Uint32Array | undefined {
    if (this.#entryCount === 0) return undefined;
    this.#list ??= new IntegerStream(new ByteReader(this.#source.region(0)), this.#entryCount).ids(
      dictionary.entryCount,
    );
    return this.#list;
  }

  #sharedIds(): Uint32Array {
    const dictionary = this.#dictionary();
    const list = this.#sharedList(dictionary);
    if (list === undefined) return this.#idStream().ids(dictionary.entryCount);
    const ids = this.#idStream().ids(list.length);
    for (let at = 0; at < ids.length; at++) if (ids[at] !== 0) ids[at] = list[ids[at] - 1];
    return ids;
  }

  /**
   * A bit for each value (with an id a row, for each row), set when it is the entry `id` - 1 of the segment's
   * dictionary: found without its id being decoded. `undefined` when that is not possible. Throws CORRUPTION.
   */
  bitsOf(id: number): Uint32Array | undefined {
    if (this.#encoding !== StringEncoding.SHARED) return undefined;
    const list = this.#sharedList(this.#dictionary());
    const own = list === undefined ? id : list.indexOf(id) + 1;
    return own === 0
      ? new Uint32Array(bitmapWords(this.#valueCount))
      : this.#idStream().bitsWithin(own, own);
  }

  /** A bit for each row, with an id a row, set when it has a value. Throws CORRUPTION. */
  bitsOfIds(): Uint32Array {
    const found = this.#idStream().bitsWithin(1, ID_MAX);
    if (found !== undefined) return found;
    const ids = this.denseIds();
    const bits = new Uint32Array(bitmapWords(ids.length));
    for (let row = 0; row < ids.length; row++) {
      bits[row >>> 5] |= Number(ids[row] !== 0) << (row & 31);
    }
    free(ids);
    return bits;
  }

  /** The ids as they are stored, when they are entries + 1 themselves. */
  #packedIds(): PackedValues | undefined {
    if (this.#encoding === StringEncoding.CONSTANT) {
      return { words: new Uint32Array(0), count: this.#valueCount, width: 0, base: 1 };
    }
    const isShared = this.#encoding === StringEncoding.SHARED;
    if (isShared && this.#sharedList(this.#dictionary()) !== undefined) return undefined;
    return this.#idStream().packed(0);
  }

  /** The ids of a stretch of values of a shared chunk that are entries + 1 themselves. */
  #idsFrom(from: number): Uint32Array | undefined {
    const dictionary = this.#dictionary();
    if (this.#sharedList(dictionary) !== undefined) return undefined;
    const count = Math.min(STRETCH_ROWS, this.#valueCount - from);
    return this.#idStream().some(from, count, dictionary.entryCount);
  }

  /** Entry + 1 of each value, or 0; with an id a row, of each row. A new array. Throws CORRUPTION. */
  denseIds(): Uint32Array {
    if (this.#encoding === StringEncoding.SHARED) return this.#sharedIds();
    if (this.#encoding === StringEncoding.DICTIONARY) {
      return this.#idStream().ids(this.#entryCount);
    }
    const ids = new Uint32Array(this.#valueCount);
    if (this.#encoding === StringEncoding.CONSTANT) return ids.fill(1);
    for (let index = 0; index < ids.length; index++) ids[index] = index + 1;
    return ids;
  }

  /**
   * The column of a block of `rowCount` rows; `present` is undefined when each row has a value or an id. Over a
   * dictionary of the segment, and of a text, nothing is read yet, and entries never are: later what `guard` makes of a
   * failure is thrown. `partsWith`: as the column has it; `keeper` keeps sums of the entries.
   */
  column(
    kind: StringColumn['kind'],
    present: PresentRows | undefined,
    rowCount: number,
    guard: <T>(read: () => T) => T,
    partsWith?: StringColumn['partsWith'],
    keeper?: SumKeeper,
  ): StringColumn {
    const readIds = (): Uint32Array => this.#idsByRow(present, rowCount);
    const entries = (): Entries => guard(() => this.entries());
    const packed = (): PackedValues | undefined =>
      present === undefined ? guard(() => this.#packedIds()) : undefined;
    if (this.#encoding === StringEncoding.SHARED) {
      return new SharedStringColumn(kind, this.#dictionary(), {
        ids: () => guard(readIds),
        packed,
        rowsOf: (id) => (present === undefined ? guard(() => this.bitsOf(id)) : undefined),
        idsFrom: (from) => (present === undefined ? guard(() => this.#idsFrom(from)) : undefined),
        partsWith,
      });
    }
    if (this.#isText) {
      const reads: TextReads = {
        ids: () => guard(readIds),
        entries,
        piece: (first, scratch) => guard(() => this.piece(first / TEXT_PIECE_ROWS, scratch)),
        stored: present === undefined ? this.#storedPieces(guard) : undefined,
        partsWith,
      };
      return new TextColumn(kind, this.#valueCount, reads, keeper);
    }
    const reads = { ids: () => guard(readIds), entries, packed };
    return new DictionaryColumn(kind, this.#entryCount, reads, keeper);
  }

  #idsByRow(present: PresentRows | undefined, rowCount: number): Uint32Array {
    if (present === undefined && this.#isText) return idsOfTexts(rowCount);
    const dense = this.denseIds();
    if (present === undefined) return dense;
    const rows = present.rows();
    const ids = new Uint32Array(rowCount);
    for (let index = 0; index < dense.length; index++) ids[rows[index]] = dense[index];
    return ids;
  }

  /** All entries that ids count. Throws CORRUPTION. */
  entries(): Entries {
    if (this.#encoding === StringEncoding.SHARED) return this.#dictionary().entries();
    return this.#readEntries();
  }

  /**
   * Bytes that each value (with an id a row: each row) adds to a block that takes it: all bytes of a text, of other
   * strings those of long ones; `undefined` when there are none. A new array. Throws CORRUPTION.
   */
  weights(): Uint32Array | undefined {
    if (this.#isText) return this.#lengthStream().ids(WEIGHT_MAX);
    const lengths = this.entryLengths();
    let longest = 0;
    for (let at = 0; at < lengths.length; at++) longest = Math.max(longest, lengths[at]);
    if (longest < LONG_BYTES) return undefined;
    const weights = this.denseIds();
    for (let index = 0; index < weights.length; index++) {
      const bytes = weights[index] === 0 ? 0 : lengths[weights[index] - 1];
      weights[index] = bytes < LONG_BYTES ? 0 : bytes;
    }
    return weights;
  }

  /** Bytes of each entry that ids count; of a text of each value. Not to be written. Throws CORRUPTION. */
  entryLengths(): ArrayLike<number> {
    if (this.#isText) return this.#lengthStream().values();
    if (this.#encoding === StringEncoding.SHARED) return this.#dictionary().lengths();
    const reader = new ByteReader(this.#source.region(0));
    if (this.#encoding === StringEncoding.CONSTANT) return [reader.varint()];
    return new IntegerStream(reader, this.#entryCount).values();
  }

  /** Pieces of a text, of TEXT_PIECE_ROWS values but for the last; 0 when values share entries. */
  get pieceCount(): number {
    return this.#isText ? Math.ceil(this.#valueCount / TEXT_PIECE_ROWS) : 0;
  }

  /** The values of a piece of a text. */
  #valuesOf(piece: number): { first: number; count: number } {
    const first = piece * TEXT_PIECE_ROWS;
    return { first, count: Math.min(TEXT_PIECE_ROWS, this.#valueCount - first) };
  }

  /**
   * The piece number `number` of a text, alone: its lengths are summed up from its own start. With `scratch`, for those
   * who read all pieces, it is good until that is used again. Throws CORRUPTION.
   */
  piece(number: number, scratch?: PieceRoom): TextPiece {
    const { first, count } = this.#valuesOf(number);
    const offsets = offsetsOf(this.#lengthStream().part(first, count), scratch?.offsets(count + 1));
    const bytes = this.#pieceBytes(number, offsets, scratch);
    return { first, offsets, bytes };
  }

  /** The pieces of a text as they are stored; `undefined` of a derived one, and of one whose values were read. */
  #storedPieces(guard: <T>(read: () => T) => T): StoredPieces | undefined {
    const source = this.#source;
    if (this.#encoding !== StringEncoding.TEXT || source.together === undefined) return undefined;
    return {
      lengths: (piece) => {
        const { first, count } = this.#valuesOf(piece);
        const all = guard(() => this.#lengthStream().packed(0));
        return all && packedPart(all, first, count);
      },
      bytes: (first, end, scratch) =>
        guard(() => must(source.together, 'reads').call(source, 1 + first, 1 + end, scratch)),
    };
  }

  /** Bytes of the strings that it has decoded, which may be any number of times those that are stored. */
  get textBytes(): number {
    return (this.#entries?.bytes.length ?? 0) + (this.#piece?.bytes.length ?? 0);
  }

  /** Lets go of what can be read again, but of entries that take little; the bytes that it still holds. */
  rest(): number {
    const entryBytes = this.#restEntries();
    this.#list = undefined;
    this.#piece = undefined;
    this.#asked = -1;
    this.#derived = undefined;
    this.#forgetLast();
    return entryBytes + (this.#ids?.rest() ?? 0) + (this.#lengths?.rest() ?? 0);
  }

  /** Lets go of entries but of those of a small dictionary, which take longer to read than to keep; their bytes. */
  #restEntries(): number {
    if (this.#entries === undefined) return 0;
    const { offsets, bytes } = this.#entries;
    const byteCount = offsets.byteLength + bytes.length;
    if (this.#isText || byteCount > ENTRIES_RESTING_MAX) {
      this.#entries = undefined;
      return 0;
    }
    // Those that are stored plain are a view of what was read.
    if (bytes.byteLength < bytes.buffer.byteLength)
      this.#entries = { offsets, bytes: bytes.slice() };
    return byteCount + ENTRIES_BYTES;
  }

  /** Ends it, and frees the lengths and entries that it gave. */
  free(): void {
    this.#lengths?.free();
    this.#forgetLast();
    if (this.#entries === undefined) return;
    const { offsets, bytes } = this.#entries;
    free(offsets);
    // Those that are stored plain are a view of what was read.
    if (bytes.byteLength === bytes.buffer.byteLength) free(bytes);
  }

  #forgetLast(): void {
    this.#lastRank = -1;
    this.#last = undefined;
  }

  #numbers(number: number): ByteReader {
    return new ByteReader(this.#source.numbers?.(number) ?? this.#source.region(number));
  }

  #idStream(): IntegerStream {
    this.#ids ??= new IntegerStream(this.#numbers(1), this.#valueCount);
    return this.#ids;
  }

  /** Offsets and bytes of all entries. */
  #readEntries(): Entries {
    this.#entries ??= this.#isText ? this.#readText() : this.#readDictionary();
    return this.#entries;
  }

  #readDictionary(): Entries {
    const reader = new ByteReader(this.#source.region(0));
    if (this.#encoding === StringEncoding.CONSTANT) {
      const bytes = readPacked(reader);
      return { offsets: Uint32Array.of(0, bytes.length), bytes };
    }
    const lengths = new IntegerStream(reader, this.#entryCount);
    const offsets = offsetsOf(lengths.values());
    lengths.free();
    const bytes = readPacked(reader);
    if (offsets[this.#entryCount] !== bytes.length) {
      damaged(`entries of ${offsets[this.#entryCount]} bytes in ${bytes.length}`);
    }
    return { offsets, bytes };
  }

  #lengthStream(): IntegerStream {
    this.#lengths ??= new IntegerStream(this.#numbers(0), this.#valueCount);
    return this.#lengths;
  }

  #readText(): Entries {
    const lengths = this.#lengthStream();
    return textOfPieces(this.#valueCount, lengths, (number, room) => this.piece(number, room));
  }

  #pieceBytes(number: number, offsets: Uint32Array, scratch?: PieceRoom): Uint8Array {
    const rawBytes = offsets[offsets.length - 1];
    if (this.#encoding === StringEncoding.DERIVED) {
      const bytes = scratch?.bytes(rawBytes).subarray(0, rawBytes) ?? new Uint8Array(rawBytes);
      this.#derivedValues().piece(number, offsets, bytes);
      return bytes;
    }
    const stored = this.#source.region(1 + number, scratch?.stored(rawBytes));
    if (stored.length === rawBytes) return stored;
    const inflated = decompress(stored, rawBytes, scratch && ((bytes) => scratch.bytes(bytes)));
    scratch?.hold(inflated);
    return inflated;
  }

  #derivedValues(): DerivedValues {
    this.#derived ??= this.#source.derived?.() ?? damaged('a derived text outside a block');
    return this.#derived;
  }

  #textValue(rank: number): StringPlace {
    if (this.#entries !== undefined) {
      const { offsets, bytes } = this.#entries;
      return { bytes, start: offsets[rank], end: offsets[rank + 1] };
    }
    if (this.#encoding === StringEncoding.DERIVED) {
      return this.#derivedValues().value(rank, this.#lengthStream().at(rank));
    }
    const number = Math.floor(rank / TEXT_PIECE_ROWS);
    const first = number * TEXT_PIECE_ROWS;
    if (this.#piece?.first !== first) {
      const single = this.#singleText(number, rank - first);
      if (single !== undefined) return { bytes: single, start: 0, end: single.length };
      this.#piece = this.piece(number);
    }
    const { offsets, bytes } = this.#piece;
    return { bytes, start: offsets[rank - first], end: offsets[rank - first + 1] };
  }

  /** The first value that is read of a piece of a text, alone. */
  #singleText(number: number, at: number): Uint8Array | undefined {
    if (this.#source.isSealed === true || this.#asked === number) return undefined;
    this.#asked = number;
    const { first, count } = this.#valuesOf(number);
    const lengths = this.#lengthStream().part(first, count);
    return singleOfPiece(lengths, at, (scratch) => this.#source.region(1 + number, scratch));
  }

  /** The first entry that is read of a dictionary of the block, alone. */
  #singleEntry(at: number): Uint8Array | undefined {
    const isDictionary = this.#encoding === StringEncoding.DICTIONARY;
    const isThere = this.#entries !== undefined || this.#asked === 0;
    if (!isDictionary || isThere || this.#source.isSealed === true) return undefined;
    this.#asked = 0;
    const read = (scratch: Uint8Array): Uint8Array => this.#source.region(0, scratch);
    return singleOfDictionary(this.#entryCount, at, ENTRIES_RESTING_MAX, read);
  }
}
