import { ByteWriter } from '../base/bytes.ts';
import { sameBytes } from '../base/hash.ts';
import { COMPRESSION_GAIN_MIN, TEXT_PIECE_ROWS } from '../base/limits.ts';
import { coldCompressor } from '../column/compress.ts';
import type { Entries } from '../column/entries.ts';
import type { ColumnTexts, RowTexts } from './row-texts.ts';
import { OWN_TEXT, PartKind, type TextTemplate } from './template.ts';
import { findTemplates, type Sample, type SampleValue } from './template-finder.ts';

/** Texts by which templates are found. */
const SAMPLES = 192;

/** Texts of which templates are to be found: one for each of `rows`, one after the other. */
export interface RowsText extends Entries {
  rows: Uint16Array;
}

/** Texts as templates, and bytes that each has of its own. */
export interface DerivedParts {
  templates: readonly TextTemplate[];
  /** The template of each text. */
  numbers: Uint8Array;
  /** By piece of TEXT_PIECE_ROWS texts, their own bytes: a length before those of each part. */
  own: Uint8Array[];
}

/** Where `wanted[start, start + length)` stands in `text[from, end)`; -1 when it does not. */
function find(
  text: Uint8Array,
  from: number,
  end: number,
  wanted: { bytes: Uint8Array; start: number; length: number },
): number {
  const { bytes, start, length } = wanted;
  if (length === 0) return -1;
  const first = bytes[start];
  for (let at = from; at + length <= end; at++) {
    if (text[at] === first && sameBytes(text, at, bytes, start, length)) return at;
  }
  return -1;
}

/** Finds for each text the template of which it is made. */
class Matcher {
  readonly #templates: readonly TextTemplate[];
  readonly #texts: readonly RowTexts[];
  readonly #all: RowsText;
  /** Where the parts of its own begin and end that the text has that was matched. */
  readonly #own: number[] = [];

  /** `texts` is by column. */
  constructor(templates: readonly TextTemplate[], texts: readonly RowTexts[], all: RowsText) {
    this.#templates = templates;
    this.#texts = texts;
    this.#all = all;
  }

  /** Adds what the text number `value` has of its own to `own`; returns the number of its template. */
  match(value: number, own: ByteWriter): number {
    const { bytes, offsets } = this.#all;
    for (let number = 0; number < this.#templates.length; number++) {
      if (!this.#is(this.#templates[number], value)) continue;
      for (let at = 0; at < this.#own.length; at += 2) {
        own.blob(bytes.subarray(this.#own[at], this.#own[at + 1]));
      }
      return number;
    }
    own.blob(bytes.subarray(offsets[value], offsets[value + 1]));
    return this.#templates.length;
  }

  #is(template: TextTemplate, value: number): boolean {
    const { bytes: text, offsets, rows } = this.#all;
    const row = rows[value];
    const end = offsets[value + 1];
    let at = offsets[value];
    let ownFrom = -1;
    this.#own.length = 0;
    if (!this.#fits(template, row, end - at)) return false;
    const last = template[template.length - 1].bytes;
    if (last.length > end - at || !sameBytes(text, end - last.length, last, 0, last.length)) {
      return false;
    }
    for (let part = 0; part < template.length; part++) {
      const { kind, column, bytes: literal } = template[part];
      if (kind === PartKind.OWN) {
        ownFrom = at;
        continue;
      }
      let bytes = literal;
      let start = 0;
      let { length } = literal;
      if (kind === PartKind.VALUE) {
        const { ids, offsets: places, bytes: all } = this.#texts[column];
        const id = ids[row];
        bytes = all;
        start = places[id - 1];
        length = places[id] - start;
      }
      if (ownFrom >= 0) {
        at = find(text, at, end, { bytes, start, length });
        if (at < 0) return false;
        this.#own.push(ownFrom, at);
        ownFrom = -1;
      } else if (at + length > end || !sameBytes(text, at, bytes, start, length)) return false;
      at += length;
    }
    if (ownFrom >= 0) this.#own.push(ownFrom, end);
    return ownFrom >= 0 || at === end;
  }

  /** Reports that a text of the template has `length` bytes in a row, or may have; most templates fail here. */
  #fits(template: TextTemplate, row: number, length: number): boolean {
    let sum = 0;
    let isOpen = false;
    for (let part = 0; part < template.length; part++) {
      const { kind, column, bytes } = template[part];
      sum += bytes.length;
      if (kind === PartKind.VALUE) {
        const { ids, offsets } = this.#texts[column];
        const id = ids[row];
        if (id === 0) return false;
        sum += offsets[id] - offsets[id - 1];
      } else if (kind === PartKind.OWN) isOpen = true;
    }
    return sum === length || (isOpen && sum < length);
  }
}

/**
 * Finds out of which values of the columns `columnNumbers` in their rows texts are made; `undefined` when that makes
 * them no smaller. Throws CORRUPTION.
 */
export function deriveText(
  text: RowsText,
  columns: ColumnTexts,
  columnNumbers: readonly number[],
): DerivedParts | undefined {
  const templates = findTemplates(samplesOf(text, columns, columnNumbers));
  if (templates.length === 0) return undefined;
  const texts: RowTexts[] = [];
  for (const template of templates) {
    for (const { kind, column } of template) {
      if (kind === PartKind.VALUE) texts[column] ??= columns.texts(column);
    }
  }
  const matcher = new Matcher(templates, texts, text);
  const numbers = new Uint8Array(text.rows.length);
  const writer = new ByteWriter(2 ** 16);
  const own: Uint8Array[] = [];
  for (let first = 0; first < numbers.length; first += TEXT_PIECE_ROWS) {
    const end = Math.min(first + TEXT_PIECE_ROWS, numbers.length);
    writer.reset();
    for (let value = first; value < end; value++) numbers[value] = matcher.match(value, writer);
    const piece = writer.bytes().slice();
    if (first === 0 && !gains(text, end, piece)) return undefined;
    own.push(piece);
  }
  return { templates: [...templates, OWN_TEXT], numbers, own };
}

/** Reports that `own` is smaller than the first `count` texts, with a byte for the template of each. */
function gains({ offsets, bytes }: RowsText, count: number, own: Uint8Array): boolean {
  const sizeOf = (piece: Uint8Array): number => (coldCompressor()(piece) ?? piece).length;
  const whole = sizeOf(bytes.subarray(0, offsets[count]));
  return sizeOf(own) + count <= whole * (1 - COMPRESSION_GAIN_MIN);
}

function samplesOf(
  { rows, offsets, bytes }: RowsText,
  columns: ColumnTexts,
  columnNumbers: readonly number[],
): Sample[] {
  const count = Math.min(SAMPLES, rows.length);
  return Array.from({ length: count }, (_, number) => {
    const value = Math.floor((number * rows.length) / count);
    const values = columnNumbers.flatMap((column): SampleValue[] => {
      const place = columns.place(column, rows[value]);
      if (place === undefined) return [];
      return [{ column, bytes: place.bytes.subarray(place.start, place.end) }];
    });
    return { text: bytes.subarray(offsets[value], offsets[value + 1]), values };
  });
}
