import { ByteReader, copyBytes, type FarBytes, unfilled } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { TEXT_PIECE_ROWS } from '../base/limits.ts';
import { STRETCH_ROWS } from '../column/column.ts';
import type { Entries, StringPlace } from '../column/entries.ts';
import { bitmapWords } from '../column/presence.ts';
import { readPacked } from '../packed/compress.ts';
import { IntegerStream } from '../packed/integer-stream.ts';
import { chooseValues } from '../packed/packed.ts';
import type { DeriveKernel } from './derive-kernel.ts';
import { type ReadyPart, readyTemplates } from './ready-template.ts';
import type { ColumnTexts } from './row-texts.ts';
import { PartKind, readTemplates, type TextTemplate } from './template.ts';

/** Regions of a derived text, those of its pieces last. The first has the lengths of the values. FORMAT.md 4.4. */
export const DerivedRegion = { TEMPLATES: 1, NUMBERS: 2, PIECES: 3 } as const;

/** Regions and columns of which a derived text is read. Methods throw CORRUPTION. */
export interface DerivedSource {
  region(number: number): Uint8Array;
  /** Bytes of the region of numbers, of which no more are read than needed; as `region` gives them otherwise. */
  numbers?(): Uint8Array | FarBytes;
  /** The templates, which `read` reads when they are not kept; without it they are read. */
  templates?(read: () => readonly TextTemplate[]): readonly TextTemplate[];
  /** Bytes that a region takes; without it all are taken for long. */
  bytesOf?(number: number): number;
  /** Row of each value; `undefined` when value i is that of row i. */
  rows(): Uint32Array | undefined;
  columns: ColumnTexts;
  /** For those who read most of the texts; it does not matter for the result. */
  kernel?(): DeriveKernel | undefined;
}

/** Values are kept of choices among so many templates, and of so many choices; of more they are found each time. */
const KEPT_TEMPLATES_MAX = 32;
const KEPT_CHOICES_MAX = 8;
/** Bytes of own parts that are kept, about: a search comes back to all of a block, a page of events to one piece. */
const KEPT_OWN_BYTES_MAX = 512 * 1024;

/** Bytes that are left of none when these are packed. */
const PACKED_NOTHING_BYTES = 2;

/** Own parts of the values of a piece, a text each: text e is of the value `values[e]`. */
export interface OwnTexts extends Entries {
  /** By text, the number of its value in the block; ascending. */
  values: Uint32Array;
}

/** A derived text as it is stored, to be read without its values being made. Methods throw CORRUPTION. */
export interface DerivedView {
  templates(): readonly TextTemplate[];
  /** The values of the templates that have a 1 in `chosen`, a bit for each value. Not to be written. */
  valuesOf(chosen: Uint8Array): Uint32Array;
  /**
   * The templates of STRETCH_ROWS values, at the end fewer, from `from` on, a multiple of it; `undefined` when they
   * are not read without the others. Good until other numbers are read.
   */
  numbersFrom(from: number): Uint32Array | undefined;
  /** The template of a value alone. */
  numberAt(value: number): number;
  /** Row of each value, ascending; `undefined` when value i is that of row i. */
  rows(): Uint32Array | undefined;
  /** By piece 1 when some of its values may have own parts with bytes, else 0. */
  ownPieces(): Uint8Array;
  /** Own parts of the values of the piece number `piece`. */
  ownTexts(piece: number): OwnTexts;
}

/** The same view, whose failures are what `guard` makes of them. */
export function guardedView(view: DerivedView, guard: <T>(read: () => T) => T): DerivedView {
  return {
    templates: () => guard(() => view.templates()),
    valuesOf: (chosen) => guard(() => view.valuesOf(chosen)),
    numbersFrom: (from) => guard(() => view.numbersFrom(from)),
    numberAt: (value) => guard(() => view.numberAt(value)),
    rows: () => guard(() => view.rows()),
    ownPieces: () => guard(() => view.ownPieces()),
    ownTexts: (piece) => guard(() => view.ownTexts(piece)),
  };
}

/** Texts that are made again of templates, of values of other columns in their rows, and of bytes of their own. */
export class DerivedText implements DerivedView {
  readonly #source: DerivedSource;
  readonly #valueCount: number;
  #templates: readonly TextTemplate[] | undefined;
  #numbers: IntegerStream | undefined;
  /** By the templates that were chosen. */
  readonly #values = new Map<string, Uint32Array>();
  /** By piece; no more than are small. */
  readonly #own = new Map<number, OwnTexts>();
  #ownBytes = 0;
  #ready: ReadyPart[][] | undefined;

  /** Of `valueCount` values. */
  constructor(source: DerivedSource, valueCount: number) {
    this.#source = source;
    this.#valueCount = valueCount;
  }

  /**
   * Makes the piece number `number` of TEXT_PIECE_ROWS values, which lie at `offsets`, into `bytes`, which is as long.
   * Throws CORRUPTION when they are not as long as that.
   */
  piece(number: number, offsets: Uint32Array, bytes: Uint8Array): void {
    const { columns } = this.#source;
    const kernel = this.#source.kernel?.();
    const rows = this.#source.rows();
    const first = number * TEXT_PIECE_ROWS;
    const count = offsets.length - 1;
    const own = this.#packedOwn(number);
    // Numbers are good until another stream is read, as columns may be that templates name.
    if (kernel?.load(this, this.templates(), columns) === true) {
      const chosen = this.#numberStream().part(first, count);
      const rowsMade = rowsOfPiece(rows, first, count);
      if (kernel.make(rowsMade, chosen, own.bytes, { offsets, bytes })) return;
    }
    const templates = this.#readyTemplates();
    const chosen = this.#numberStream().part(first, count);
    let at = 0;
    for (let index = 0; index < chosen.length; index++) {
      const template = templates[chosen[index]] ?? damaged(`no template ${chosen[index]}`);
      const row = rows === undefined ? first + index : rows[first + index];
      const end = offsets[index + 1];
      for (let part = 0; part < template.length; part++) {
        const ready = template[part];
        const { kind } = ready;
        let source = ready.bytes;
        let start = 0;
        let { length } = source;
        if (kind === PartKind.VALUE) {
          const id = ready.ids[row];
          if (id === 0) damaged(`row ${row} has no value of column ${ready.column}`);
          start = ready.offsets[id - 1];
          length = ready.offsets[id] - start;
        } else if (kind === PartKind.OWN) {
          source = own.bytes;
          length = own.reader.varint();
          start = own.bytes.length - own.reader.remaining;
          own.reader.skip(length);
        }
        if (at + length > end) damaged(`a derived text is longer than ${end} bytes`);
        copyBytes(source, start, start + length, bytes, at);
        at += length;
      }
      if (at !== end) damaged(`a derived text ends at ${at}, not at ${end}`);
    }
    if (own.reader.remaining !== 0) damaged(`${own.reader.remaining} bytes after own texts`);
  }

  /** The value number `rank`, which has `length` bytes; other columns are read in its row alone. Throws CORRUPTION. */
  value(rank: number, length: number): StringPlace {
    const template = this.templates()[this.#numberStream().at(rank)] ?? damaged('no such template');
    const rows = this.#source.rows();
    const row = rows === undefined ? rank : rows[rank];
    const places = this.#placesOf(template, rank, row);
    let total = 0;
    for (const { start, end } of places) total += end - start;
    if (total !== length) damaged(`a derived text of ${total} bytes, not ${length}`);
    const bytes = unfilled(length);
    let at = 0;
    for (const { bytes: source, start, end } of places) {
      copyBytes(source, start, end, bytes, at);
      at += end - start;
    }
    return { bytes, start: 0, end: length };
  }

  /** Where the parts of a value lie. */
  #placesOf(template: TextTemplate, rank: number, row: number): StringPlace[] {
    const places: StringPlace[] = [];
    let own: OwnTexts | undefined;
    let ownNext = 0;
    for (const { kind, column, bytes } of template) {
      if (kind === PartKind.LITERAL) places.push({ bytes, start: 0, end: bytes.length });
      else if (kind === PartKind.VALUE) {
        const place = this.#source.columns.place(column, row);
        places.push(place ?? damaged(`row ${row} has no value of column ${column}`));
      } else {
        if (own === undefined) {
          own = this.ownTexts(Math.floor(rank / TEXT_PIECE_ROWS));
          ownNext = firstAt(own.values, rank);
        }
        const start = own.offsets[ownNext++];
        places.push({ bytes: own.bytes, start, end: own.offsets[ownNext] });
      }
    }
    return places;
  }

  /** Lets go of what can be read again; the bytes that it still holds. */
  rest(): number {
    this.#templates = undefined;
    this.#values.clear();
    this.#own.clear();
    this.#ownBytes = 0;
    this.#ready = undefined;
    return this.#numbers?.rest() ?? 0;
  }

  templates(): readonly TextTemplate[] {
    const read = (): readonly TextTemplate[] => this.#readTemplates();
    this.#templates ??= this.#source.templates?.(read) ?? read();
    return this.#templates;
  }

  #readTemplates(): readonly TextTemplate[] {
    const region = this.#source.region(DerivedRegion.TEMPLATES);
    return readTemplates(new ByteReader(readPacked(new ByteReader(region))));
  }

  rows(): Uint32Array | undefined {
    return this.#source.rows();
  }

  numbersFrom(from: number): Uint32Array | undefined {
    const count = Math.min(STRETCH_ROWS, this.#valueCount - from);
    return this.#numberStream().some(from, count, this.templates().length - 1);
  }

  numberAt(value: number): number {
    const number = this.#numberStream().at(value);
    if (!(number < this.templates().length)) damaged(`value ${value} of template ${number}`);
    return number;
  }

  valuesOf(chosen: Uint8Array): Uint32Array {
    const name = chosen.length <= KEPT_TEMPLATES_MAX ? chosen.join('') : undefined;
    const known = name === undefined ? undefined : this.#values.get(name);
    if (known !== undefined) return known;
    const values = this.#chooseValues(chosen);
    if (name !== undefined && this.#values.size < KEPT_CHOICES_MAX) this.#values.set(name, values);
    return values;
  }

  #chooseValues(chosen: Uint8Array): Uint32Array {
    const stream = this.#numberStream();
    const packed = stream.packed(0);
    const found = packed && chooseValues(packed, chosen);
    if (found !== undefined) return found;
    const numbers = stream.ids(this.templates().length - 1);
    const values = new Uint32Array(bitmapWords(numbers.length));
    for (let value = 0; value < numbers.length; value++) {
      values[value >>> 5] |= chosen[numbers[value]] << (value & 31);
    }
    return values;
  }

  ownPieces(): Uint8Array {
    const { bytesOf } = this.#source;
    const pieces = new Uint8Array(Math.ceil(this.#valueCount / TEXT_PIECE_ROWS)).fill(1);
    if (bytesOf === undefined) return pieces;
    for (let piece = 0; piece < pieces.length; piece++) {
      if (bytesOf(DerivedRegion.PIECES + piece) <= PACKED_NOTHING_BYTES) pieces[piece] = 0;
    }
    // So a block with damaged numbers is told from others by whichever of its rows are looked at.
    if (pieces.includes(1)) this.#numberStream();
    return pieces;
  }

  ownTexts(piece: number): OwnTexts {
    const known = this.#own.get(piece);
    if (known !== undefined) return known;
    const own = this.#readOwn(piece);
    this.#ownBytes += own.bytes.length;
    if (this.#ownBytes > KEPT_OWN_BYTES_MAX) {
      this.#own.clear();
      this.#ownBytes = own.bytes.length;
    }
    this.#own.set(piece, own);
    return own;
  }

  #readOwn(piece: number): OwnTexts {
    const first = piece * TEXT_PIECE_ROWS;
    const count = Math.min(TEXT_PIECE_ROWS, this.#valueCount - first);
    const counts = this.templates().map(
      (template) => template.filter(({ kind }) => kind === PartKind.OWN).length,
    );
    const numbers = this.#numberStream().part(first, count);
    const values: number[] = [];
    for (let value = 0; value < count; value++) {
      for (let part = counts[numbers[value]]; part > 0; part--) values.push(first + value);
    }
    const { bytes: packed, reader } = this.#packedOwn(piece);
    const bytes = new Uint8Array(packed.length);
    const offsets = new Uint32Array(values.length + 1);
    for (let text = 0; text < values.length; text++) {
      const own = reader.raw(reader.varint());
      bytes.set(own, offsets[text]);
      offsets[text + 1] = offsets[text] + own.length;
    }
    if (reader.remaining !== 0) damaged(`${reader.remaining} bytes after own texts`);
    return { values: Uint32Array.from(values), offsets, bytes };
  }

  #readyTemplates(): ReadyPart[][] {
    this.#ready ??= readyTemplates(this.templates(), this.#source.columns);
    return this.#ready;
  }

  #numberStream(): IntegerStream {
    this.#numbers ??= new IntegerStream(
      new ByteReader(this.#source.numbers?.() ?? this.#source.region(DerivedRegion.NUMBERS)),
      this.#valueCount,
    );
    return this.#numbers;
  }

  #packedOwn(number: number): { bytes: Uint8Array; reader: ByteReader } {
    const region = this.#source.region(DerivedRegion.PIECES + number);
    const bytes = readPacked(new ByteReader(region));
    return { bytes, reader: new ByteReader(bytes) };
  }
}

/** The first place in ascending numbers that is not below `wanted`. */
function firstAt(numbers: Uint32Array, wanted: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Row of each of `count` values from number `first` on. */
function rowsOfPiece(rows: Uint32Array | undefined, first: number, count: number): Uint32Array {
  if (rows !== undefined) return rows.subarray(first, first + count);
  const all = new Uint32Array(count);
  for (let index = 0; index < count; index++) all[index] = first + index;
  return all;
}
