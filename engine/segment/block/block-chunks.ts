import { ByteReader } from '../../base/bytes.ts';
import { damaged } from '../../base/errors.ts';
import { DateChunk } from '../../column/dates.ts';
import { NumberChunk } from '../../column/number-chunk.ts';
import { PresentRows } from '../../column/presence.ts';
import { StringChunk, type StringSource } from '../../column/string-chunk.ts';
import { StringEncoding } from '../../column/text.ts';
import type { DeriveKernel } from '../../derive/derive-kernel.ts';
import { DerivedRegion, DerivedText } from '../../derive/derived-text.ts';
import type { ColumnTexts } from '../../derive/row-texts.ts';
import type { TextTemplate } from '../../derive/template.ts';
import type { BlockHead } from './block-head.ts';
import { type BlockRegions, bytesOf } from './block-regions.ts';
import type { DictionarySource } from './block-sources.ts';
import { BlockTexts } from './block-texts.ts';
import type { ColumnEntry } from './column-entry.ts';
import { OpenChunks } from './open-chunks.ts';

function freeChunk(chunk: { free(): void }): void {
  chunk.free();
}

/** Chunks of the columns of a block, each opened once. Throws CORRUPTION. */
export class BlockChunks {
  readonly #head: BlockHead;
  readonly #regions: BlockRegions;
  readonly #dictionaries: DictionarySource | undefined;
  readonly #entryOf: (column: number) => ColumnEntry;
  readonly #presences = new OpenChunks<PresentRows>();
  readonly #strings = new OpenChunks<StringChunk>();
  readonly #numbers = new OpenChunks<NumberChunk>();
  readonly #dates = new OpenChunks<DateChunk>();
  readonly #derived = new OpenChunks<DerivedText>();
  readonly #all = [this.#presences, this.#derived, this.#strings, this.#numbers, this.#dates];
  #kernel: DeriveKernel | undefined;
  #texts: BlockTexts | undefined;

  /**
   * Of the block of a head, whose regions are read by `regions` and whose columns are those of `entryOf`.
   * `dictionaries`: of its sealed segment.
   */
  constructor(
    head: BlockHead,
    regions: BlockRegions,
    entryOf: (column: number) => ColumnEntry,
    dictionaries: DictionarySource | undefined,
  ) {
    this.#entryOf = entryOf;
    this.#head = head;
    this.#regions = regions;
    this.#dictionaries = dictionaries;
  }

  /** Has derived texts made by a kernel from now on. */
  deriveBy(kernel: DeriveKernel | undefined): void {
    this.#kernel = kernel;
  }

  /** Rows that have a value in a column; `undefined` when all do. */
  present(entry: ColumnEntry): PresentRows | undefined {
    const { presence } = entry;
    if (presence < 0) return entry.own;
    const known = this.#presences.get(presence);
    if (known !== undefined) return known;
    const { layout, presentCount, region } = this.#head.directory.columns.list(presence);
    const reader = new ByteReader(this.#regions.region(region));
    const present = PresentRows.read(reader, layout, presentCount, this.#rowCount);
    return this.#presences.keep(presence, present);
  }

  /** The chunk of a column of strings or arrays. */
  strings(index: number, entry: ColumnEntry): StringChunk {
    const known = this.#strings.get(index);
    if (known !== undefined) return known;
    const source: StringSource = {
      isSealed: this.#head.ref.sealed,
      region: (number, scratch) => this.#regions.region(entry.regions[number], scratch),
      together: (first, end, scratch) =>
        this.#regions.together(entry.regions.slice(first, end), scratch),
      numbers: (number) =>
        number === 1 && entry.encoding === StringEncoding.SHARED
          ? this.#regions.chunk(index, entry.regions[number])
          : this.#regions.far(entry.regions[number]),
      dictionary: () =>
        this.#dictionaries?.dictionary(entry.dictionary) ?? damaged('no dictionaries here'),
      derived: () => this.derived(index, entry),
    };
    const chunk = new StringChunk(
      entry.encoding as StringEncoding,
      source,
      entry.hasSlots ? this.#rowCount : entry.presentCount,
      entry.entryCount,
    );
    return this.#strings.keep(index, chunk);
  }

  /** Texts of a column of derived strings. */
  derived(index: number, entry: ColumnEntry): DerivedText {
    const known = this.#derived.get(index);
    if (known !== undefined) return known;
    const { regions, presentCount } = entry;
    const kernel = (): DeriveKernel | undefined => this.#kernel;
    const source = {
      region: (number: number) => this.#regions.region(regions[number]),
      numbers: () => this.#regions.far(regions[DerivedRegion.NUMBERS]),
      templates: (read: () => readonly TextTemplate[]) => this.#head.templates(index, read),
      bytesOf: (number: number) => bytesOf(regions[number]),
      rows: () => this.present(entry)?.rows(),
      columns: this.texts,
      kernel,
    };
    const text = new DerivedText(source, presentCount);
    return this.#derived.keep(index, text);
  }

  /** The chunk of a column of numbers. */
  numbers(index: number, entry: ColumnEntry): NumberChunk {
    const known = this.#numbers.get(index);
    if (known !== undefined) return known;
    const bytes = this.#regions.chunk(index, entry.regions[0]);
    const chunk = new NumberChunk(bytes, entry.presentCount, this.#head.sumsOf(index));
    return this.#numbers.keep(index, chunk);
  }

  /** The chunk of a column of dates. */
  dates(index: number, entry: ColumnEntry): DateChunk {
    const known = this.#dates.get(index);
    if (known !== undefined) return known;
    const bytes = this.#regions.far(entry.regions[0]);
    const chunk = new DateChunk(bytes, entry.presentCount, this.#head.sumsOf(index));
    return this.#dates.keep(index, chunk);
  }

  /** Texts of the columns, by their numbers. */
  get texts(): ColumnTexts {
    this.#texts ??= new BlockTexts({
      rowCount: this.#rowCount,
      entry: (column) =>
        column < this.#head.directory.columns.length ? this.#entryOf(column) : undefined,
      present: (entry) => this.present(entry),
      strings: (index, entry) => this.strings(index, entry),
      numbers: (index, entry) => this.numbers(index, entry),
    });
    return this.#texts;
  }

  /** Bytes of the strings that were decoded. */
  get textBytes(): number {
    return this.#strings.sum((chunk) => chunk.textBytes);
  }

  /** Lets go of what was decoded of columns; arrays that it gave are empty then. */
  forgetValues(): void {
    this.#strings.clearPlaces(freeChunk);
    this.#numbers.clearPlaces(freeChunk);
    this.#dates.clearPlaces(freeChunk);
    this.#derived.clear();
    this.#texts?.free();
    this.#texts = undefined;
  }

  /** Lets go of what was decoded of columns; what it gave stays good. */
  letGo(): void {
    for (const chunks of this.#all) chunks.clear();
    this.#texts?.rest();
  }

  /** Lets go of the rows that have values. */
  forgetRows(): void {
    this.#presences.clearPlaces(freeChunk);
  }

  /**
   * Lets go of what can be read again of what was read since the last time, or of `all`, so that what is left is small;
   * the bytes of that, about.
   */
  rest(all: boolean): number {
    this.#texts?.rest();
    let bytes = 0;
    for (const chunks of this.#all) bytes += chunks.rest(all);
    return bytes;
  }

  get #rowCount(): number {
    return this.#head.ref.rowCount;
  }
}
