import { ByteReader } from '../../base/bytes.ts';
import { damaged } from '../../base/errors.ts';
import type { DiskFile } from '../../base/file.ts';
import { readBooleans } from '../../column/booleans.ts';
import type { Region } from '../../column/chunk.ts';
import type { Column, StringColumn } from '../../column/column.ts';
import { DateChunk } from '../../column/dates.ts';
import type { PossibleParts, Scratch, StringPlace, Terms } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { NumberChunk } from '../../column/number-chunk.ts';
import { countBits, PresentRows } from '../../column/presence.ts';
import { type Shapes, weighShapes } from '../../column/shape.ts';
import { StringChunk, type StringSource } from '../../column/string-chunk.ts';
import { StringEncoding } from '../../column/text.ts';
import type { DeriveKernel } from '../../derive/derive-kernel.ts';
import {
  DerivedRegion,
  DerivedText,
  type DerivedView,
  guardedView,
} from '../../derive/derived-text.ts';
import type { ColumnTexts } from '../../derive/row-texts.ts';
import type { TextTemplate } from '../../derive/template.ts';
import { free } from '../../packed/growth.ts';
import { IntegerStream } from '../../packed/integer-stream.ts';
import { type BlockRef, placed } from '../frame.ts';
import { FrameSource } from '../frame-source.ts';
import { BlockColumns, type ColumnOutline } from './block-columns.ts';
import { BlockHead, type ColumnInfo } from './block-head.ts';
import { BlockKeys, type RowKeyReader } from './block-keys.ts';
import type { OverflowString } from './block-overflow.ts';
import { BlockRegions, bytesOf } from './block-regions.ts';
import { BlockShapes } from './block-shapes.ts';
import type { ChunkSource, DictionarySource } from './block-sources.ts';
import { BlockTexts } from './block-texts.ts';
import { type DenseColumn, denseTexts, presentIds } from './dense-column.ts';
import { type ColumnEntry, type Directory, type DirectoryPaths, regionsOf } from './directory.ts';
import { decodeText, escapeSurrogates } from './rebuild.ts';
import type { RowKeys } from './row-keys.ts';

/**
 * A block that is open for reading. Reads and decodes what is asked for, once, and keeps it; everything it hands
 * out is its own and must not be written. Methods throw CORRUPTION naming the place, and what the source throws.
 */
export class Block {
  #kernel: DeriveKernel | undefined;
  readonly ref: BlockRef;
  /** With which it can be opened again. */
  readonly head: BlockHead;
  readonly #regions: BlockRegions;
  readonly #directory: Directory;
  readonly #dictionaries: DictionarySource | undefined;
  readonly #newKeys: () => BlockKeys;
  #keys: BlockKeys;
  readonly #shapes: BlockShapes;
  #presences: (PresentRows | undefined)[] = [];
  #strings: (StringChunk | undefined)[] = [];
  #numbers: (NumberChunk | undefined)[] = [];
  #dates: (DateChunk | undefined)[] = [];
  #columns: (Column | undefined)[] = [];
  #derivedTexts: (DerivedText | undefined)[] = [];
  readonly #all: BlockColumns;
  #given: (ArrayBufferView | undefined)[] = [];
  /** Chunks that are decoded: of very many columns few are, so they are not looked for. */
  #decoded: { free(): void }[] = [];
  /** Parts of rows that are decoded, for all columns. */
  #decodedRows: { free(): void }[] = [];
  #texts: BlockTexts | undefined;

  /** Opens the block of a head. `dictionaries`: of its sealed segment; `chunks`: where its chunks are kept. */
  constructor(head: BlockHead, dictionaries?: DictionarySource, chunks?: ChunkSource) {
    const { ref, source, directory } = head;
    this.ref = ref;
    this.head = head;
    this.#regions = new BlockRegions(ref, source, chunks);
    this.#directory = directory;
    this.#dictionaries = dictionaries;
    this.#newKeys = () => new BlockKeys(head, (region) => this.#regions.far(region));
    this.#keys = this.#newKeys();
    const region = (place: Region): Uint8Array => this.#regions.region(place);
    this.#all = new BlockColumns(head, region);
    this.#shapes = new BlockShapes(directory, {
      pathNames: (path) => head.pathNames(path),
      region,
      stream: (place) => this.#stream(place),
      stored: (read) => head.shapes(read),
      presentBits: (column) => this.presentBits(column),
      hasValue: (column, row) => this.#hasValue(column, row),
      overflowColumn: (key) => this.#all.findOverflowed(key),
    });
  }

  /** For one who reads all of it: `kernel` makes derived texts, and what was read of the file is freed by `forget`. */
  readWhole(kernel: DeriveKernel | undefined): void {
    this.#kernel = kernel;
    this.#regions.collect();
  }

  get rowCount(): number {
    return this.ref.rowCount;
  }

  /** What the block has, in no particular order; of an overflow map without bounds. Throws CORRUPTION. */
  get columns(): readonly ColumnInfo[] {
    return this.#all.infos;
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

  /**
   * Adds to `weights`, by row, the bytes of text by which a row makes a block larger that it is put into. Shapes count
   * as text where rows hardly share them.
   */
  weigh(weights: Uint32Array): void {
    placed(this.ref, () => {
      weighShapes(this.shapes(), weights);
      const { columns } = this.#directory;
      for (const [index, entry] of columns.entries()) this.#weigh(index, entry, weights);
      this.#all.overflow?.weigh(weights);
    });
  }

  /**
   * Reads all bytes, and the dictionaries of its columns, against their checksums; nothing of them is kept. Throws
   * CORRUPTION.
   */
  verify(scratch: Scratch): void {
    placed(this.ref, () => {
      for (const region of regionsOf(this.#directory)) {
        if (region.inline === undefined) this.#regions.region(region, scratch.bytes(region.bytes));
      }
      for (const { encoding, dictionary } of this.#directory.columns) {
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
      if (!entry.hasSlots) return this.#present(entry)?.bitmap;
      const bits = this.#stringChunk(index, entry).bitsOfIds();
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
    this.#presences = [];
    this.forgetValues();
    this.#all.overflow?.forget();
    for (const decoded of this.#decodedRows.splice(0)) decoded.free();
    this.#regions.free();
  }

  /** Lets go of what was decoded of columns; arrays of `dense` are empty then. */
  forgetValues(): void {
    free(...this.#given);
    this.#given = [];
    for (const chunk of this.#decoded) chunk.free();
    this.#decoded = [];
    this.#strings = [];
    this.#numbers = [];
    this.#dates = [];
    this.#columns = [];
    this.#derivedTexts = [];
    this.#all.overflow?.forgetColumns();
    this.#texts?.free();
    this.#texts = undefined;
  }

  /** Texts of the columns, by their numbers. */
  get texts(): ColumnTexts {
    this.#texts ??= new BlockTexts({
      rowCount: this.rowCount,
      entries: this.#directory.columns,
      present: (entry) => this.#present(entry),
      strings: (index, entry) => this.#stringChunk(index, entry),
      numbers: (index, entry) => this.#numberChunk(index, entry),
    });
    return this.#texts;
  }

  /** The column number `index` of `columns`, decoded. */
  column(index: number): Column {
    const known = this.#columns[index];
    if (known !== undefined) return known;
    const column = placed(this.ref, () => this.#readColumn(index));
    this.#columns[index] = column;
    return column;
  }

  /** The column number `index` as it is stored, when its texts are derived. */
  derived(index: number): DerivedView | undefined {
    const entry = this.#directory.columns[index];
    if (entry?.kind !== Kind.STRING || entry.encoding !== StringEncoding.DERIVED) return undefined;
    return guardedView(this.#derived(index, entry), (read) => placed(this.ref, read));
  }

  /** The string that `row` has in the column number `index`, made alone; `undefined` when it has none. */
  string(index: number, row: number): StringPlace | undefined {
    return placed(this.ref, () => {
      const entry = this.#all.entry(index);
      const rank = this.#rankOf(entry, row);
      return rank < 0 ? undefined : this.#stringChunk(index, entry).value(rank);
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
      let text = texts[0];
      for (let at = 0; at < columns.length; at++) {
        const value = this.#valueText(columns[at], row);
        if (value === undefined) damaged(`row ${row} has no value in column ${columns[at]}`);
        text += value + texts[at + 1];
      }
      return text;
    });
  }

  #stream(region: Region): IntegerStream {
    return new IntegerStream(new ByteReader(this.#regions.far(region)), this.rowCount);
  }

  #present(entry: ColumnEntry): PresentRows | undefined {
    if (entry.presence < 0) return entry.own;
    const known = this.#presences[entry.presence];
    if (known !== undefined) return known;
    const { layout, presentCount, region } = this.#directory.presences[entry.presence];
    const reader = new ByteReader(this.#regions.region(region));
    const present = PresentRows.read(reader, layout, presentCount, this.rowCount);
    this.#presences[entry.presence] = present;
    this.#decodedRows.push(present);
    return present;
  }

  #stringChunk(index: number, entry: ColumnEntry): StringChunk {
    const known = this.#strings[index];
    if (known !== undefined) return known;
    const source: StringSource = {
      region: (number, scratch) => this.#regions.region(entry.regions[number], scratch),
      numbers: (number) =>
        number === 1 && entry.encoding === StringEncoding.SHARED
          ? this.#regions.chunk(index, entry.regions[number])
          : this.#regions.far(entry.regions[number]),
      dictionary: () =>
        this.#dictionaries?.dictionary(entry.dictionary) ?? damaged('no dictionaries here'),
      derived: () => this.#derived(index, entry),
    };
    const chunk = new StringChunk(
      entry.encoding as StringEncoding,
      source,
      entry.hasSlots ? this.rowCount : entry.presentCount,
      entry.entryCount,
    );
    this.#strings[index] = chunk;
    this.#decoded.push(chunk);
    return chunk;
  }

  #derived(index: number, entry: ColumnEntry): DerivedText {
    const { regions, presentCount } = entry;
    const source = {
      region: (number: number) => this.#regions.region(regions[number]),
      numbers: () => this.#regions.far(regions[DerivedRegion.NUMBERS]),
      templates: (read: () => readonly TextTemplate[]) => this.head.templates(index, read),
      bytesOf: (number: number) => bytesOf(regions[number]),
      rows: () => this.#present(entry)?.rows(),
      columns: this.texts,
      kernel: this.#kernel,
    };
    this.#derivedTexts[index] ??= new DerivedText(source, presentCount);
    return this.#derivedTexts[index];
  }

  #numberChunk(index: number, entry: ColumnEntry): NumberChunk {
    const known = this.#numbers[index];
    if (known !== undefined) return known;
    const chunk = new NumberChunk(
      this.#regions.chunk(index, entry.regions[0]),
      entry.presentCount,
      this.head.sumsOf(index),
    );
    this.#numbers[index] = chunk;
    this.#decoded.push(chunk);
    return chunk;
  }

  #dateChunk(index: number, entry: ColumnEntry): DateChunk {
    const known = this.#dates[index];
    if (known !== undefined) return known;
    const chunk = new DateChunk(
      this.#regions.far(entry.regions[0]),
      entry.presentCount,
      this.head.sumsOf(index),
    );
    this.#dates[index] = chunk;
    this.#decoded.push(chunk);
    return chunk;
  }

  #dense(index: number): DenseColumn {
    const entry = this.#all.entry(index);
    const rows = this.#present(entry)?.rows();
    const { kind, presentCount, regions } = entry;
    if (kind === Kind.NUMBER) return { kind, rows, chunk: this.#numberChunk(index, entry) };
    if (kind === Kind.DATE) return { kind, rows, chunk: this.#dateChunk(index, entry) };
    if (kind === Kind.BOOLEAN) {
      const reader = new ByteReader(this.#regions.region(regions[0]));
      return { kind, rows, values: new IntegerStream(reader, presentCount).ids(1) };
    }
    const chunk = this.#stringChunk(index, entry);
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
      const { at, texts } = this.#numberChunk(index, entry).exceptions;
      const rows = at.length === 0 ? undefined : this.#present(entry)?.rows();
      for (let number = 0; number < at.length; number++) {
        weights[rows === undefined ? at[number] : rows[at[number]]] += texts[number].length;
      }
    }
    if (kind !== Kind.STRING && kind !== Kind.ARRAY) return;
    const bytes = this.#stringChunk(index, entry).weights();
    if (bytes === undefined) return;
    const rows = hasSlots ? undefined : this.#present(entry)?.rows();
    for (let at = 0; at < bytes.length; at++) {
      weights[rows === undefined ? at : rows[at]] += bytes[at];
    }
    free(bytes);
  }

  #readColumn(index: number): Column {
    const entry = this.#all.entry(index);
    const present = this.#present(entry);
    const { kind, presentCount, regions } = entry;
    if (kind === Kind.NUMBER) {
      return this.#numberChunk(index, entry).column(present, this.rowCount);
    }
    if (kind === Kind.DATE) {
      return this.#dateChunk(index, entry).column(present, this.rowCount, this.#keys.timeMs());
    }
    if (kind === Kind.BOOLEAN) {
      return readBooleans(this.#regions.region(regions[0]), presentCount, present, this.rowCount);
    }
    const stringKind = kind as StringColumn['kind'];
    const chunk = this.#stringChunk(index, entry);
    const guard = <T>(read: () => T): T => placed(this.ref, read);
    if (kind === Kind.ARRAY) return chunk.column(kind, present, this.rowCount, guard);
    const partsWith = (terms: Terms): PossibleParts | undefined =>
      this.#dictionaries?.partsWith(this.ref, this.columns[index].path, terms);
    return chunk.column(stringKind, present, this.rowCount, guard, partsWith);
  }

  #hasValue(index: number, row: number): boolean {
    const overflowed = this.#all.overflowed(index);
    if (overflowed !== undefined) return overflowed.map.placeOf(overflowed.number, row) >= 0;
    const entry = this.#all.entry(index);
    if (this.#rankOf(entry, row) < 0) return false;
    return !entry.hasSlots || this.#stringChunk(index, entry).hasId(row);
  }

  #rankOf(entry: ColumnEntry, row: number): number {
    return this.#present(entry)?.rank(row) ?? row;
  }

  #valueText(index: number, row: number): string | undefined {
    const overflowed = this.#all.overflowed(index);
    if (overflowed !== undefined) return overflowed.map.valueText(overflowed.number, row);
    const entry = this.#all.entry(index);
    const rank = this.#rankOf(entry, row);
    if (rank < 0) return undefined;
    const { kind } = entry;
    if (kind === Kind.NUMBER) return this.#numberChunk(index, entry).text(rank);
    if (kind === Kind.STRING || kind === Kind.ARRAY) {
      const place = this.#stringChunk(index, entry).value(rank);
      if (place === undefined) return undefined;
      const text = decodeText(place.bytes, place.start, place.end);
      return kind === Kind.STRING ? JSON.stringify(text) : escapeSurrogates(text);
    }
    if (kind === Kind.DATE) {
      return `"${this.#dateChunk(index, entry).text(rank, this.#keys.timeAt(row))}"`;
    }
    const column = this.column(index);
    if (column.kind !== Kind.BOOLEAN) damaged(`a column of kind ${column.kind}`);
    return (column.values[row >>> 5] >>> (row & 31)) & 1 ? 'true' : 'false';
  }
}

/** Reads header and meta of the block at `ref`. Throws as `openBlock`. `checked`: of its file, see `FrameSource`. */
export function readHead(
  source: Pick<DiskFile, 'read'>,
  ref: BlockRef,
  checked?: Set<number>,
): BlockHead {
  return placed(ref, () => new BlockHead(ref, new FrameSource(source, ref, checked)));
}

/**
 * Opens the block at `ref`: reads its header and meta; the rest when it is asked for. Throws CORRUPTION naming the
 * place when they are not what was written there, and what `source` throws.
 */
export function openBlock(source: Pick<DiskFile, 'read'>, ref: BlockRef): Block {
  return new Block(readHead(source, ref));
}
