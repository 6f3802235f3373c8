import { ByteReader, copyBytes } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { TEXT_PIECE_ROWS } from '../base/limits.ts';
import { readPacked } from '../column/compress.ts';
import type { StringPlace } from '../column/entries.ts';
import { IntegerStream } from '../column/integer-stream.ts';
import { type ReadyPart, readyTemplates } from './ready-template.ts';
import type { ColumnTexts } from './row-texts.ts';
import { PartKind, readTemplates, type TextTemplate } from './template.ts';

/** Regions of a derived text, those of its pieces last. The first has the lengths of the values. FORMAT.md 4.4. */
export const DerivedRegion = { TEMPLATES: 1, NUMBERS: 2, PIECES: 3 } as const;

/** Regions and columns of which a derived text is read. Methods throw CORRUPTION. */
export interface DerivedSource {
  region(number: number): Uint8Array;
  /** Row of each value; `undefined` when value i is that of row i. */
  rows(): Uint32Array | undefined;
  columns: ColumnTexts;
}

/** Texts that are made again of templates, of values of other columns in their rows, and of bytes of their own. */
export class DerivedText {
  readonly #source: DerivedSource;
  readonly #valueCount: number;
  #templates: TextTemplate[] | undefined;
  #numbers: IntegerStream | undefined;
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
    const templates = this.#readyTemplates();
    const rows = this.#source.rows();
    const first = number * TEXT_PIECE_ROWS;
    const own = this.#own(number);
    const chosen = this.#numberStream().part(first, offsets.length - 1);
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
    const templates = this.#readTemplates();
    const numbers = this.#numberStream();
    const rows = this.#source.rows();
    const number = Math.floor(rank / TEXT_PIECE_ROWS);
    const own = this.#own(number);
    const templateOf = (value: number): TextTemplate =>
      templates[numbers.at(value)] ?? damaged(`no template ${numbers.at(value)}`);
    for (let before = number * TEXT_PIECE_ROWS; before < rank; before++) {
      for (const { kind } of templateOf(before)) {
        if (kind === PartKind.OWN) own.reader.skip(own.reader.varint());
      }
    }
    const row = rows === undefined ? rank : rows[rank];
    const parts = templateOf(rank).map(({ kind, column, bytes }) => {
      if (kind === PartKind.LITERAL) return bytes;
      if (kind === PartKind.OWN) return own.reader.raw(own.reader.varint());
      const place = this.#source.columns.place(column, row);
      if (place === undefined) damaged(`row ${row} has no value of column ${column}`);
      return place.bytes.subarray(place.start, place.end);
    });
    const bytes = Buffer.concat(parts);
    if (bytes.length !== length) damaged(`a derived text of ${bytes.length} bytes, not ${length}`);
    return { bytes, start: 0, end: length };
  }

  #readTemplates(): TextTemplate[] {
    this.#templates ??= readTemplates(
      new ByteReader(readPacked(new ByteReader(this.#source.region(DerivedRegion.TEMPLATES)))),
    );
    return this.#templates;
  }

  #readyTemplates(): ReadyPart[][] {
    this.#ready ??= readyTemplates(this.#readTemplates(), this.#source.columns);
    return this.#ready;
  }

  #numberStream(): IntegerStream {
    this.#numbers ??= new IntegerStream(
      new ByteReader(this.#source.region(DerivedRegion.NUMBERS)),
      this.#valueCount,
    );
    return this.#numbers;
  }

  #own(number: number): { bytes: Uint8Array; reader: ByteReader } {
    const region = this.#source.region(DerivedRegion.PIECES + number);
    const bytes = readPacked(new ByteReader(region));
    return { bytes, reader: new ByteReader(bytes) };
  }
}
