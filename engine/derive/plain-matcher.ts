import { ByteWriter } from '../base/bytes.ts';
import { sameBytes } from '../base/hash.ts';
import type { ReadyPart } from './ready-template.ts';
import type { RowsText } from './row-texts.ts';
import { PartKind } from './template.ts';

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
  if (length === 0) return -1;
  for (let at = from; at + length <= end; at++) {
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

/** Finds for each text the template of which it is made: the reference of `DeriveKernel`. */
export class PlainMatcher {
  readonly #candidates: readonly Candidate[];
  readonly #all: RowsText;
  readonly #writer = new ByteWriter(2 ** 16);
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

  /** Finds the templates of the texts `[from, to)`, which become `numbers`; returns what they have of their own. */
  match(from: number, to: number, numbers: Uint8Array): Uint8Array {
    const writer = this.#writer;
    writer.reset();
    for (let value = from; value < to; value++) numbers[value] = this.#match(value, writer);
    return writer.bytes().slice();
  }

  #match(value: number, own: ByteWriter): number {
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
