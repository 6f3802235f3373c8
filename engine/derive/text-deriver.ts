import { ByteWriter } from '../base/bytes.ts';
import { sameBytes } from '../base/hash.ts';
import { COMPRESSION_GAIN_MIN, TEXT_PIECE_ROWS } from '../base/limits.ts';
import { coldCompressor } from '../column/compress.ts';
import type { Entries } from '../column/entries.ts';
import { type ReadyPart, readyTemplates } from './ready-template.ts';
import type { ColumnTexts } from './row-texts.ts';
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

/** Where `wanted[start, start + length)` stands in `text[from, end)`; -1 when it does not, or is nothing. */
function find(
  text: Uint8Array,
  from: number,
  end: number,
  wanted: Uint8Array,
  start: number,
  length: number,
): number {
  const first = wanted[start];
  for (let at = length === 0 ? end : from; at + length <= end; at++) {
    if (text[at] === first && sameBytes(text, at, wanted, start, length)) return at;
  }
  return -1;
}

/** A template that texts are compared with. */
interface Candidate {
  parts: readonly ReadyPart[];
  /** True when its texts have something of their own. */
  isOpen: boolean;
  /** Of its literals. */
  bytes: number;
}

/** Finds for each text the template of which it is made. */
class Matcher {
  readonly #candidates: readonly Candidate[];
  readonly #all: RowsText;
  /** Where the parts of its own begin and end that the text has that was matched. */
  readonly #own: Uint32Array;
  #ownCount = 0;

  constructor(templates: readonly ReadyPart[][], all: RowsText) {
    this.#candidates = templates.map((parts) => ({
      parts,
      isOpen: parts.some(({ kind }) => kind === PartKind.OWN),
      bytes: parts.reduce(
        (sum, { kind, bytes }) => sum + (kind === PartKind.LITERAL ? bytes.length : 0),
        0,
      ),
    }));
    this.#all = all;
    this.#own = new Uint32Array(2 * Math.max(...templates.map(({ length }) => length)));
  }

  /** Adds what the text number `value` has of its own to `own`; returns the number of its template. */
  match(value: number, own: ByteWriter): number {
    const { bytes, offsets } = this.#all;
    const candidates = this.#candidates;
    for (let number = 0; number < candidates.length; number++) {
      if (!this.#is(candidates[number], value)) continue;
      for (let at = 0; at < this.#ownCount; at += 2) {
        own.part(bytes, this.#own[at], this.#own[at + 1]);
      }
      return number;
    }
    own.part(bytes, offsets[value], offsets[value + 1]);
    return candidates.length;
  }

  #is(candidate: Candidate, value: number): boolean {
    const { bytes: text, offsets, rows } = this.#all;
    const { parts, isOpen } = candidate;
    const row = rows[value];
    const end = offsets[value + 1];
    let at = offsets[value];
    if (!isOpen && !this.#fits(candidate, row, end - at)) return false;
    const last = parts[parts.length - 1];
    if (last.kind === PartKind.LITERAL) {
      const { length } = last.bytes;
      if (at + length > end || !sameBytes(text, end - length, last.bytes, 0, length)) return false;
    }
    let ownFrom = -1;
    let ownCount = 0;
    for (let part = 0; part < parts.length; part++) {
      const ready = parts[part];
      const { kind, bytes } = ready;
      if (kind === PartKind.OWN) {
        ownFrom = at;
        continue;
      }
      let start = 0;
      let { length } = bytes;
      if (kind === PartKind.VALUE) {
        const id = ready.ids[row];
        if (id === 0) return false;
        start = ready.offsets[id - 1];
        length = ready.offsets[id] - start;
      }
      if (ownFrom >= 0) {
        at = find(text, at, end, bytes, start, length);
        if (at < 0) return false;
        this.#own[ownCount++] = ownFrom;
        this.#own[ownCount++] = at;
        ownFrom = -1;
      } else if (at + length > end || !sameBytes(text, at, bytes, start, length)) return false;
      at += length;
    }
    if (ownFrom >= 0) {
      this.#own[ownCount++] = ownFrom;
      this.#own[ownCount++] = end;
    }
    this.#ownCount = ownCount;
    return ownFrom >= 0 || at === end;
  }

  /** Reports that texts of the template have `length` bytes in a row; most templates fail here. */
  #fits({ parts, bytes }: Candidate, row: number, length: number): boolean {
    let sum = bytes;
    for (let part = 0; part < parts.length; part++) {
      const { kind, ids, offsets } = parts[part];
      if (kind !== PartKind.VALUE) continue;
      const id = ids[row];
      if (id === 0) return false;
      sum += offsets[id] - offsets[id - 1];
    }
    return sum === length;
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
  const matcher = new Matcher(readyTemplates(templates, columns), text);
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
