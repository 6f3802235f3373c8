import type { StringColumn } from '../../column/column.ts';
import { Kind } from '../../column/kind.ts';
import { grow } from '../../packed/growth.ts';
import { NumberReader } from '../filter/decimal.ts';
import { ArrayCursor } from '../filter/json.ts';
import { asciiText } from '../filter/text.ts';
import type { Pairs } from './pairs.ts';
import type { ValueHash } from './value-hash.ts';

/** An element as sums take it: nothing, `mantissas / 10^scales`, or a number of many digits in `texts`. */
export const ElementType = { OTHER: 0, SMALL: 1, LONG: 2 } as const;

const cursor = new ArrayCursor();
const reader = new NumberReader();

/**
 * The scalars in some entries of one column of strings or arrays, read once an entry however many rows have it. Those
 * of the entry number n of these are elements `starts[n]` to `starts[n + 1] - 1`.
 */
export class Elements {
  readonly starts: Uint32Array;
  count = 0;
  types = new Uint8Array(64);
  /** The nearest doubles of elements that are numbers or numeric strings. */
  values = new Float64Array(64);
  mantissas = new Float64Array(64);
  scales = new Uint8Array(64);
  /** Hashes, when they are asked for. */
  lows = new Int32Array(64);
  highs = new Int32Array(64);
  /** Texts of the elements of type LONG. */
  readonly texts = new Map<number, string>();
  readonly #hash: ValueHash | undefined;

  /** `ids`: entry + 1 of each entry to read. Hashes are made when there is a `hash`. */
  constructor(column: StringColumn, ids: Uint32Array, hash: ValueHash | undefined) {
    this.#hash = hash;
    this.starts = new Uint32Array(ids.length + 1);
    for (let at = 0; at < ids.length; at++) {
      this.#addEntry(column, ids[at] - 1);
      this.starts[at + 1] = this.count;
    }
  }

  #addEntry(column: StringColumn, entry: number): void {
    const { bytes, offsets } = column;
    if (column.kind === Kind.STRING) {
      this.#addString(bytes, offsets[entry], offsets[entry + 1]);
      return;
    }
    cursor.open(bytes, offsets[entry], offsets[entry + 1]);
    while (cursor.next()) {
      if (cursor.kind === Kind.STRING) this.#addString(cursor.bytes, cursor.start, cursor.end);
      else if (cursor.kind === Kind.NUMBER) this.#addNumber();
      else {
        this.#hash?.boolean(cursor.truth);
        this.#append(ElementType.OTHER);
      }
    }
  }

  #addString(bytes: Uint8Array, start: number, end: number): void {
    this.#hash?.string(bytes, start, end);
    this.#append(this.#read(bytes, start, end));
  }

  /** Adds the number at which `cursor` is. */
  #addNumber(): void {
    const { bytes, start, end } = cursor;
    this.#hash?.numberText(asciiText(bytes, start, end));
    this.#append(this.#read(bytes, start, end));
  }

  /** Reads the number `bytes[start, end)` for the next element; its type. */
  #read(bytes: Uint8Array, start: number, end: number): number {
    if (!reader.read(bytes, start, end)) return ElementType.OTHER;
    if (reader.small) return ElementType.SMALL;
    this.texts.set(this.count, asciiText(bytes, start, end));
    return ElementType.LONG;
  }

  #append(type: number): void {
    const at = this.count++;
    if (at === this.values.length) this.#grow(at + 1);
    this.types[at] = type;
    if (type !== ElementType.OTHER) this.values[at] = reader.value;
    if (type === ElementType.SMALL) {
      this.mantissas[at] = reader.mantissa;
      this.scales[at] = reader.scale;
    }
    if (this.#hash !== undefined) {
      this.lows[at] = this.#hash.low;
      this.highs[at] = this.#hash.high;
    }
  }

  #grow(needed: number): void {
    this.types = grow(this.types, needed);
    this.values = grow(this.values, needed);
    this.mantissas = grow(this.mantissas, needed);
    this.scales = grow(this.scales, needed);
    this.lows = grow(this.lows, needed);
    this.highs = grow(this.highs, needed);
  }
}

/** The ids that rows of a column have. Reused from block to block. */
export class WantedIds {
  /** By id its number in what `of` gave last, from 1 on; 0 for others, to which whoever is done puts them back. */
  numbers = new Uint32Array(0);

  /** The ids that the rows of `pairs` have, each once. */
  of({ ids, entryCount }: StringColumn, { rows, count }: Pairs): Uint32Array {
    if (this.numbers.length <= entryCount) this.numbers = new Uint32Array(entryCount + 1);
    const { numbers } = this;
    const wanted = new Uint32Array(count);
    let wantedCount = 0;
    for (let at = 0; at < count; at++) {
      const id = ids[rows[at]];
      if (id === 0 || numbers[id] !== 0) continue;
      wanted[wantedCount++] = id;
      numbers[id] = wantedCount;
    }
    return wanted.subarray(0, wantedCount);
  }
}
