import { ByteReader } from '../../base/bytes.ts';
import { damaged } from '../../base/errors.ts';
import type { DiskFile } from '../../base/file.ts';
import { readBooleans } from '../../column/booleans.ts';
import type { Region } from '../../column/chunk.ts';
import type { Column, StringColumn } from '../../column/column.ts';
import type {
  EntrySource,
  PossibleParts,
  Scratch,
  StringPlace,
  Terms,
} from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { countBits } from '../../column/presence.ts';
import { type Shapes, weighShapes } from '../../column/shape.ts';
import { StringEncoding } from '../../column/text.ts';
import type { DeriveKernel } from '../../derive/derive-kernel.ts';
import { type DerivedView, guardedView } from '../../derive/derived-text.ts';
import type { ColumnTexts } from '../../derive/row-texts.ts';
import { free } from '../../packed/growth.ts';
import { IntegerStream } from '../../packed/integer-stream.ts';
import type { DirectoryPaths } from '../directory-paths.ts';
import { type BlockRef, placed } from '../frame.ts';
import { BlockChunks } from './block-chunks.ts';
import { BlockColumns } from './block-columns.ts';
import { type BlockHead, type ColumnInfo, readHead } from './block-head.ts';
import type { OverflowString } from './block-overflow.ts';
import { BlockRegions } from './block-regions.ts';
import { BlockShapes } from './block-shapes.ts';
import type { ChunkSource, DictionarySource, SumSource } from './block-sources.ts';
import type { ColumnEntry } from './column-entry.ts';
import type { ColumnOutline } from './column-table.ts';
import { type DenseColumn, denseTexts, presentIds } from './dense-column.ts';
import { type Directory, regionsOf } from './directory.ts';
import { BlockKeys, type RowKeyReader } from './keys/block-keys.ts';
import type { RowKeys } from './keys/present-writers.ts';
import { decodeText, escapeSurrogates } from './rebuild.ts';

/** Memory of a block at rest beside its chunks, and above which its keys do not stay. */
const RESTING_BYTES = 4_096;
const RESTING_MAX = 16 * 1024;
/** Memory of the decoded columns that a block keeps: a search may look into each of very many. */
export const COLUMNS_BYTES_MAX = 32 * 1024 * 1024;
/** Bytes that a decoded column takes a row at most, its strings aside. */
export const CELL_BYTES = 8;

/**
 * A block that is open for reading. Reads and decodes what is asked for, once, and keeps it; everything it hands
 * out is its own and must not be written. Methods throw CORRUPTION naming the place, and what the source throws.
 */
export class Block {
  readonly ref: BlockRef;
  /** With which it can be opened again. */
  readonly head: BlockHead;
  readonly #regions: BlockRegions;
  readonly #directory: Directory;
  readonly #dictionaries: DictionarySource | undefined;
  readonly #sums: SumSource | undefined;
  readonly #newKeys: () => BlockKeys;
  #keys: BlockKeys;
  readonly #shapes: BlockShapes;
  readonly #chunks: BlockChunks;
  readonly #columns = new Map<number, Column>();
  readonly #all: BlockColumns;
  #given: (ArrayBufferView | undefined)[] = [];

  /** Opens the block of a head. `dictionaries`: of its sealed segment; `chunks` and `sums`: where its own are kept. */
  constructor(
    head: BlockHead,
    dictionaries?: DictionarySource,
    chunks?: ChunkSource,
    sums?: SumSource,
  ) {
    const { ref, source, directory } = head;
    this.ref = ref;
    this.head = head;
    this.#regions = new BlockRegions(ref, source, chunks);
    this.#directory = directory;
    this.#dictionaries = dictionaries;
    this.#sums = sums;
    this.#newKeys = () => new BlockKeys(head, (region) => this.#regions.far(region));
    this.#keys = this.#newKeys();
    const region = (place: Region): Uint8Array => this.#regions.region(place);
    this.#all = new BlockColumns(head, region);
    const entryOf = (index: number): ColumnEntry => this.#all.entry(index);
    this.#chunks = new BlockChunks(head, this.#regions, entryOf, dictionaries);
    this.#shapes = new BlockShapes(directory, {
      region,
      stream: (place) => this.#stream(place),
      stored: (read) => head.shapes(read),
      presentBits: (column) => this.presentBits(column),
      hasValue: (column, row) => this.#hasValue(column, row),
      overflowColumn: (key) => this.#all.findOverflowed(key),
    });
  }

  /** For one who reads most of its derived texts: `kernel` makes them from now on. */
  deriveBy(kernel: DeriveKernel | undefined): void {
    this.#chunks.deriveBy(kernel);
  }

  /** For one who reads all of it: `kernel` makes derived texts, and what was read of the file is freed by `forget`. */
  readWhole(kernel: DeriveKernel | undefined): void {
    this.deriveBy(kernel);
    this.head.source.freeFirst();
    this.#regions.collect();
  }

  get rowCount(): number {
    return this.ref.rowCount;
  }

  /** The columns of the block, in no particular order; those of an overflow map without bounds. Throws CORRUPTION. */
  get columns(): readonly ColumnInfo[] {
    return this.#all.infos;
  }

  /** The column number `index` of them. Throws CORRUPTION when there is none. */
  info(index: number): ColumnInfo {
    return placed(this.ref, () => this.#all.info(index));
  }

  /** The kind of the column number `index`. Throws CORRUPTION when there is none. */
  kindOf(index: number): Kind {
    const { columns } = this.#directory;
    return index < columns.length ? columns.kind(index) : this.info(index).kind;
  }

  /** Numbers of the columns at `path`, one for each kind that it has. Throws CORRUPTION. */
  columnsAt(path: string): number[] {
    return this.#all.at(path);
  }

  /** Event date of each row, epoch milliseconds. */
  timeMs(): Float64Array {
    return placed(this.ref, () => this.#keys.timeMs());
  }

  /** Reception date of each row, epoch milliseconds. */
  receivedMs(): Float64Array {
    return placed(this.ref, () => this.#keys.receivedMs());
  }

  /** Writer and sequence of each row. */
  keys(): RowKeys {
    return placed(this.ref, () => this.#keys.all());
  }

  /** Dates, writers and sequences one by one, of `count` rows. */
  keysOf(count: number): RowKeyReader {
    placed(this.ref, () => this.#keys.prepare(count));
    return this.#keys;
  }

  /** Shape of each row, and the leaf keys of the shapes over the block's own paths. */
  shapes(): { shapes: Shapes; ids: Uint32Array } {
    return placed(this.ref, () => this.#shapes.all());
  }

  /** Paths that the block has, as its shapes' leaf keys and its columns count them. */
  get paths(): DirectoryPaths {
    return this.#directory;
  }

  /** Path, kind and count of values of each column, as `columns` has them. Throws CORRUPTION. */
  get outlines(): readonly ColumnOutline[] {
    return this.#all.outlines;
  }

  /** How many columns it has. */
  get columnCount(): number {
    return this.#all.count;
  }

  /** Columns that are not of an overflow map: the first ones. */
  get ownColumnCount(): number {
    return this.#directory.columns.length;
  }

  /** The strings of all columns of the overflow map. Throws CORRUPTION. */
  overflowStrings(): Generator<OverflowString> {
    return this.#all.overflowStrings();
  }

  /** Bytes of the block: its frame, and the chunks outside of it. */
  get bytes(): number {
    return this.ref.bytes + this.head.chunkBytes;
  }

  /** Bytes that the values of each column take; of columns of an overflow map about. Throws CORRUPTION. */
  columnBytes(): { path: string; bytes: number }[] {
    return this.#all.bytes();
  }

  /** Bytes that the texts of columns take. */
  get textBytes(): number {
    return this.#all.textBytes;
  }

  /** Bytes of the strings that it has decoded and keeps. */
  get decodedTextBytes(): number {
    return this.#chunks.textBytes;
  }

  /**
   * Adds to `weights`, by row, the bytes of text by which a row makes a block larger that it is put into. Shapes count
   * as text where rows hardly share them.
   */
  weigh(weights: Uint32Array): void {
    placed(this.ref, () => {
      weighShapes(this.shapes(), weights);
      const { columns } = this.#directory;
      for (let index = 0; index < columns.length; index++) {
        this.#weigh(index, columns.entry(index), weights);
      }
      this.#all.overflow?.weigh(weights);
    });
  }

  /**
   * Reads all bytes, and the dictionaries of its columns, against their checksums; nothing of them is kept. Throws
   * CORRUPTION.
   */
  verify(scratch: Scratch): void {
    placed(this.ref, () => {
      this.head.source.verify(regionsOf(this.#directory), scratch);
      for (const { encoding, dictionary } of this.#directory.columns.entries()) {
        if (encoding === StringEncoding.SHARED) this.#dictionaries?.dictionary(dictionary).verify();
      }
    });
  }

  /** The values of the column number `index`, as they are stored: nothing of it is kept after `forget`. */
  dense(index: number): DenseColumn {
    return placed(this.ref, () => this.#dense(index));
  }

  /** Rows that have a value in the column number `index`, a bit each; `undefined` when all do. Not to be written. */
  presentBits(index: number): Uint32Array | undefined {
    return placed(this.ref, () => {
      const overflowed = this.#all.overflowed(index);
      if (overflowed !== undefined) return overflowed.map.presentBits(overflowed.number);
      const entry = this.#all.entry(index);
      if (!entry.hasSlots) return this.#chunks.present(entry)?.bitmap;
      const bits = this.#chunks.strings(index, entry).bitsOfIds();
      const count = countBits(bits);
      if (count !== entry.presentCount)
        damaged(`${count} rows have an id, not ${entry.presentCount}`);
      return bits;
    });
  }

  /** Lets go of all that was decoded but names; arrays that were given are empty then. */
  forget(): void {
    this.#shapes.forget();
    this.#keys.free();
    this.#keys = this.#newKeys();
    this.forgetValues();
    this.#all.forget();
    this.#chunks.forgetRows();
    this.#regions.free();
  }

  /** Lets go of what was decoded of columns; arrays of `dense` are empty then. */
  forgetValues(): void {
    free(...this.#given);
    this.#given = [];
    this.#columns.clear();
    this.#chunks.forgetValues();
    this.#all.overflow?.forgetColumns();
  }

  /**
   * Lets go of what can be read again, but not of how, so that little is left; the bytes of that, about. What it gave
   * stays good. Of chunks those count that were asked for since the last time; all of them do when some may have been
   * read by one who had them before.
   */
  rest(all: boolean): number {
    this.#columns.clear();
    this.#all.rest();
    let bytes = this.#keys.rest();
    if (bytes > RESTING_MAX) {
      this.#keys = this.#newKeys();
      bytes = 0;
    }
    return (
      bytes + RESTING_BYTES + this.#all.restingBytes + this.#shapes.rest() + this.#chunks.rest(all)
    );
  }

  /** Texts of the columns, by their numbers. */
  get texts(): ColumnTexts {
    return this.#chunks.texts;
  }

  /** The column number `index` of `columns`, decoded. */
  column(index: number): Column {
    const known = this.#columns.get(index);
    if (known !== undefined) return known;
    const column = placed(this.ref, () => this.#readColumn(index));
    if (this.#columns.size * this.rowCount * CELL_BYTES > COLUMNS_BYTES_MAX) this.#letGo();
    this.#columns.set(index, column);
    return column;
  }

  /** The column number `index` as it is stored, when its texts are derived. */
  derived(index: number): DerivedView | undefined {
    const { columns } = this.#directory;
    if (index >= columns.length || columns.kind(index) !== Kind.STRING) return undefined;
    const entry = this.#all.entry(index);
    if (entry.encoding !== StringEncoding.DERIVED) return undefined;
    return guardedView(this.#chunks.derived(index, entry), (read) => placed(this.ref, read));
  }

  /**
   * The dictionary of its segment that all strings of the column number `index` are in; `undefined` when there is none,
   * or more is to be read before it is known which rows have some.
   */
  sharedEntries(index: number): EntrySource | undefined {
    if (index >= this.#directory.columns.length) return undefined;
    return placed(this.ref, () => {
      const { encoding, presence, dictionary } = this.#all.entry(index);
      if (encoding !== StringEncoding.SHARED || presence >= 0) return undefined;
      return this.#dictionaries?.dictionary(dictionary);
    });
  }

  /** Finds parts of the column number `index`, as `StringColumn.partsWith`. */
  partsWith(index: number, terms: Terms): PossibleParts | undefined {
    return this.#dictionaries?.partsWith(this.ref, this.info(index).path, terms);
  }

  /** The string that `row` has in the column number `index`, made alone; `undefined` when it has none. */
  string(index: number, row: number): StringPlace | undefined {
    return placed(this.ref, () => {
      const entry = this.#all.entry(index);
      const rank = this.#rankOf(entry, row);
      return rank < 0 ? undefined : this.#chunks.strings(index, entry).value(rank);
    });
  }

  /** JSON text of what `row` has in the column number `index`; `undefined` when it has nothing. */
  valueText(index: number, row: number): string | undefined {
    return placed(this.ref, () => this.#valueText(index, row));
  }

  /** JSON text of `{custom, syslog, message}`: the event of `row` as its row record was. */
  eventText(row: number): string {
    return placed(this.ref, () => {
      const { texts, columns } = this.#shapes.template(row);
      // Joined at once, it is one string that stays until the answer is written, not one of each part.
      const parts = [texts[0]];
      for (let at = 0; at < columns.length; at++) {
        const value = this.#valueText(columns[at], row);
        if (value === undefined) damaged(`row ${row} has no value in column ${columns[at]}`);
        parts.push(value, texts[at + 1]);
      }
      return parts.join('');
    });
  }

  /** Lets go of the columns that were decoded; what they gave stays good. */
  #letGo(): void {
    this.#columns.clear();
    this.#chunks.letGo();
    this.#all.overflow?.forgetColumns();
  }

  #stream(region: Region): IntegerStream {
    return new IntegerStream(new ByteReader(this.#regions.far(region)), this.rowCount);
  }

  #dense(index: number): DenseColumn {
    const entry = this.#all.entry(index);
    const rows = this.#chunks.present(entry)?.rows();
    const { kind, presentCount, regions } = entry;
    if (kind === Kind.NUMBER) return { kind, rows, chunk: this.#chunks.numbers(index, entry) };
    if (kind === Kind.DATE) return { kind, rows, chunk: this.#chunks.dates(index, entry) };
    if (kind === Kind.BOOLEAN) {
      const reader = new ByteReader(this.#regions.region(regions[0]));
      return { kind, rows, values: new IntegerStream(reader, presentCount).ids(1) };
    }
    const chunk = this.#chunks.strings(index, entry);
    const stringKind = kind as StringColumn['kind'];
    const dictionary = entry.encoding === StringEncoding.SHARED ? entry.dictionary : -1;
    const shared = dictionary < 0 ? undefined : this.#dictionaries?.dictionary(dictionary);
    const texts = denseTexts(chunk, (read) => placed(this.ref, read));
    const dense = chunk.denseIds();
    const ids = entry.hasSlots ? presentIds(dense, presentCount) : { rows, ids: dense };
    this.#given.push(dense, ids.ids, entry.hasSlots ? ids.rows : undefined);
    return { kind: stringKind, dictionary, shared, ...texts, ...ids };
  }

  #weigh(index: number, entry: ColumnEntry, weights: Uint32Array): void {
    const { kind, hasSlots } = entry;
    if (kind === Kind.NUMBER) {
      const { at, texts } = this.#chunks.numbers(index, entry).exceptions;
      const rows = at.length === 0 ? undefined : this.#chunks.present(entry)?.rows();
      for (let number = 0; number < at.length; number++) {
        weights[rows === undefined ? at[number] : rows[at[number]]] += texts[number].length;
      }
    }
    if (kind !== Kind.STRING && kind !== Kind.ARRAY) return;
    const bytes = this.#chunks.strings(index, entry).weights();
    if (bytes === undefined) return;
    const rows = hasSlots ? undefined : this.#chunks.present(entry)?.rows();
    for (let at = 0; at < bytes.length; at++) {
      weights[rows === undefined ? at : rows[at]] += bytes[at];
    }
    free(bytes);
  }

  #readColumn(index: number): Column {
    const entry = this.#all.entry(index);
    const present = this.#chunks.present(entry);
    const { kind, presentCount, regions } = entry;
    if (kind === Kind.NUMBER) {
      return this.#chunks.numbers(index, entry).column(present, this.rowCount);
    }
    if (kind === Kind.DATE) {
      return this.#chunks.dates(index, entry).column(present, this.rowCount, this.#keys.timeMs());
    }
    if (kind === Kind.BOOLEAN) {
      return readBooleans(this.#regions.region(regions[0]), presentCount, present, this.rowCount);
    }
    const stringKind = kind as StringColumn['kind'];
    const chunk = this.#chunks.strings(index, entry);
    const guard = <T>(read: () => T): T => placed(this.ref, read);
    if (kind === Kind.ARRAY) return chunk.column(kind, present, this.rowCount, guard);
    const partsWith = (terms: Terms): PossibleParts | undefined => this.partsWith(index, terms);
    const keeper = this.#sums?.keeper(this.ref.segment, `${this.ref.offset} ${index}`);
    return chunk.column(stringKind, present, this.rowCount, guard, partsWith, keeper);
  }

  #hasValue(index: number, row: number): boolean {
    const overflowed = this.#all.overflowed(index);
    if (overflowed !== undefined) return overflowed.map.placeOf(overflowed.number, row) >= 0;
    const entry = this.#all.entry(index);
    if (this.#rankOf(entry, row) < 0) return false;
    return !entry.hasSlots || this.#chunks.strings(index, entry).hasId(row);
  }

  #rankOf(entry: ColumnEntry, row: number): number {
    return this.#chunks.present(entry)?.rank(row) ?? row;
  }

  #valueText(index: number, row: number): string | undefined {
    const overflowed = this.#all.overflowed(index);
    if (overflowed !== undefined) return overflowed.map.valueText(overflowed.number, row);
    const entry = this.#all.entry(index);
    const rank = this.#rankOf(entry, row);
    if (rank < 0) return undefined;
    const { kind } = entry;
    if (kind === Kind.NUMBER) return this.#chunks.numbers(index, entry).text(rank);
    if (kind === Kind.STRING || kind === Kind.ARRAY) {
      const place = this.#chunks.strings(index, entry).value(rank);
      if (place === undefined) return undefined;
      const text = decodeText(place.bytes, place.start, place.end);
      return kind === Kind.STRING ? JSON.stringify(text) : escapeSurrogates(text);
    }
    if (kind === Kind.DATE) {
      return `"${this.#chunks.dates(index, entry).text(rank, this.#keys.timeAt(row))}"`;
    }
    const column = this.column(index);
    if (column.kind !== Kind.BOOLEAN) damaged(`a column of kind ${column.kind}`);
    return (column.values[row >>> 5] >>> (row & 31)) & 1 ? 'true' : 'false';
  }
}

/**
 * Opens the block at `ref`: reads its header and meta; the rest when it is asked for. Throws CORRUPTION naming the
 * place when they are not what was written there, and what `source` throws.
 */
export function openBlock(source: Pick<DiskFile, 'read'>, ref: BlockRef): Block {
  return new Block(readHead(source, ref));
}
