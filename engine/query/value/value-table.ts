import { sameBytes } from '../../base/hash.ts';
import { printDate } from '../../column/date-form.ts';
import { grow } from '../../packed/growth.ts';
import { decodeText } from '../../segment/block/rebuild.ts';
import { compareDecimals, decimalText, NumberReader } from '../filter/decimal.ts';
import { compareText, encodeText } from '../filter/text.ts';
import type { BucketKey } from '../model/query.ts';
import { firstSlot, HashPages, NUMBER_SLOTS, nextSlot } from './hash-pages.ts';
import { HASH_BITS, KIND_BITS, TEXT_NEEDED, ValueKind, ValueNumbers } from './value-numbers.ts';

const { NUMBER, LONG_NUMBER, STRING, DATE, BOOLEAN } = ValueKind;
const reader = new NumberReader();
const KIND_MASK = (1 << KIND_BITS) - 1;
const CAPACITY_MIN = 64;
const FROZEN_BITS = 16;
const FROZEN_SHIFT = HASH_BITS - FROZEN_BITS;

/** A part of all values. */
export interface ValuePart {
  /** True when values of a hash of `ValueNumbers` are in it. */
  has(hash: number): boolean;
}

/** Distinct values as plain data, by their numbers. */
export interface ValueTableData {
  seed: number;
  count: number;
  hashes: Int32Array<ArrayBuffer>;
  numbers: Float64Array<ArrayBuffer>;
  ends: Uint32Array<ArrayBuffer>;
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Numbers distinct values from 0 on, whatever block and column they are in. Equality is that of the bytes. With a
 * `part` only the values in it get a number. Owned by one thread.
 */
export class ValueTable extends ValueNumbers {
  #part: ValuePart | undefined;
  #count = 0;
  /** Hashes, with the kind in the low KIND_BITS. */
  #hashes = new Int32Array(CAPACITY_MIN);
  #numbers = new Float64Array(CAPACITY_MIN);
  /** Bytes of value v are `#bytes[#ends[v - 1], #ends[v])`. */
  #ends = new Uint32Array(CAPACITY_MIN);
  #bytes = new Uint8Array(1024);
  readonly #slots = new HashPages(NUMBER_SLOTS);
  #frozen = false;
  /** 1 at the first bits of the hashes that there are, once there will be no others. */
  #frozenHashes = new Uint8Array(0);

  constructor(seed: number, part?: ValuePart) {
    super(seed);
    this.#part = part;
  }

  /** Takes `data` over: its values can be read, and none can be looked up. */
  static of({ seed, count, hashes, numbers, ends, bytes }: ValueTableData): ValueTable {
    const table = new ValueTable(seed);
    table.#count = count;
    table.#hashes = hashes;
    table.#numbers = numbers;
    table.#ends = ends;
    table.#bytes = bytes;
    return table;
  }

  /** Its parts; it is not to be changed any more. */
  get data(): ValueTableData {
    return {
      seed: this.seed,
      count: this.#count,
      hashes: this.#hashes,
      numbers: this.#numbers,
      ends: this.#ends,
      bytes: this.#bytes,
    };
  }

  /** True when it has a part of the values only. */
  get isPart(): boolean {
    return this.#part !== undefined;
  }

  /** Values that it has. */
  get count(): number {
    return this.#count;
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#hashes.length * 16 + this.#bytes.length + this.#slots.memoryBytes;
  }

  get usesHashes(): boolean {
    return this.#frozen || this.#part !== undefined;
  }

  ofHash(hash: number): number {
    if (this.#frozen && this.#frozenHashes[hash >>> FROZEN_SHIFT] === 0) return -1;
    return this.#part === undefined || this.#part.has(hash) ? TEXT_NEEDED : -1;
  }

  /** From now on new values get no number. */
  freeze(): void {
    this.#frozen = true;
    this.#frozenHashes = new Uint8Array(1 << FROZEN_BITS);
    for (let value = 0; value < this.#count; value++) {
      this.#frozenHashes[this.#hashes[value] >>> FROZEN_SHIFT] = 1;
    }
  }

  /** The number of a bucket's key, also one of another part; -1 when it is no value. */
  addKey(key: BucketKey): number {
    const part = this.#part;
    this.#part = undefined;
    const number = this.#numberOf(key);
    this.#part = part;
    return number;
  }

  /** The number of what is `value` in `other`, a table of the same seed. */
  take(other: ValueTable, value: number): number {
    return this.number(
      other.#kind(value),
      other.#numbers[value],
      other.#bytes,
      other.#start(value),
      other.#ends[value],
      other.#hashes[value],
    );
  }

  /** What `value` is. */
  key(value: number): BucketKey {
    const number = this.#numbers[value];
    switch (this.#kind(value)) {
      case NUMBER:
        return { type: 'number', text: String(number) };
      case BOOLEAN:
        return { type: 'boolean', value: number === 1 };
      case LONG_NUMBER:
        return { type: 'number', text: decimalText(this.#text(value)) };
      default:
        return { type: 'string', text: this.#text(value) };
    }
  }

  /**
   * Natural order, negative when `left` comes first: numbers and numeric strings, other strings by code points, false,
   * true.
   */
  compare(left: number, right: number): number {
    if (left === right) return 0;
    const [a, b] = [this.#numericOf(left), this.#numericOf(right)];
    if (a !== undefined && b !== undefined) {
      if (a !== b) return a < b ? -1 : 1;
      const order = compareDecimals(this.#numberText(left), this.#numberText(right));
      if (order !== 0) return order;
    } else if (a !== undefined || b !== undefined) {
      return a === undefined ? 1 : -1;
    }
    const rank = rankOf(this.#kind(left)) - rankOf(this.#kind(right));
    if (rank !== 0) return rank;
    if (this.#kind(left) === BOOLEAN) return this.#numbers[left] - this.#numbers[right];
    if (this.#kind(left) === STRING && this.#kind(right) === STRING) {
      const wanted = this.#bytes.subarray(this.#start(right), this.#ends[right]);
      return compareText(this.#bytes, this.#start(left), this.#ends[left], wanted);
    }
    const text = encodeText(this.#text(left));
    return compareText(text, 0, text.length, encodeText(this.#text(right)));
  }

  /** The nearest double of a number or a numeric string; `undefined` when the value is neither. */
  #numericOf(value: number): number | undefined {
    const kind = this.#kind(value);
    if (kind === NUMBER || kind === LONG_NUMBER) return this.#numbers[value];
    if (kind !== STRING) return undefined;
    return reader.read(this.#bytes, this.#start(value), this.#ends[value])
      ? reader.value
      : undefined;
  }

  #numberOf(key: BucketKey): number {
    if (key.type === 'number') return this.numberText(key.text);
    if (key.type === 'boolean') return this.boolean(key.value);
    if (key.type !== 'string') return -1;
    const bytes = encodeText(key.text);
    return this.string(bytes, 0, bytes.length);
  }

  #numberText(value: number): string {
    return this.#kind(value) === NUMBER ? String(this.#numbers[value]) : this.#text(value);
  }

  #start(value: number): number {
    return value === 0 ? 0 : this.#ends[value - 1];
  }

  /** The text of a string, a date or a long number. */
  #text(value: number): string {
    const start = this.#start(value);
    if (this.#kind(value) === DATE) {
      return printDate(this.#numbers[value], this.#bytes[start] | (this.#bytes[start + 1] << 8));
    }
    return decodeText(this.#bytes, start, this.#ends[value]);
  }

  #kind(value: number): number {
    return this.#hashes[value] & KIND_MASK;
  }

  protected number(
    kind: number,
    number: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    anyHash: number,
  ): number {
    if (this.#part !== undefined && !this.#part.has(anyHash)) return -1;
    const hash = (anyHash & ~KIND_MASK) | kind;
    const page = this.#slots.pageOf(hash);
    const ends = this.#ends;
    let slot = firstSlot(page, hash, 2);
    for (let found = page[slot]; found !== 0; found = page[slot]) {
      if (page[slot + 1] === hash) {
        const value = found - 1;
        const from = value === 0 ? 0 : ends[value - 1];
        if (
          ends[value] - from === end - start &&
          sameBytes(this.#bytes, from, bytes, start, end - start) &&
          (kind === STRING || this.#numbers[value] === number)
        ) {
          return value;
        }
      }
      slot = nextSlot(page, slot, 2);
    }
    if (this.#frozen) return -1;
    page[slot] = this.#count + 1;
    page[slot + 1] = hash;
    this.#slots.took(hash);
    return this.#append(number, bytes, start, end, hash);
  }

  #append(number: number, bytes: Uint8Array, start: number, end: number, hash: number): number {
    const value = this.#count++;
    if (value === this.#hashes.length) {
      this.#hashes = grow(this.#hashes, value + 1);
      this.#numbers = grow(this.#numbers, value + 1);
      this.#ends = grow(this.#ends, value + 1);
    }
    const from = this.#start(value);
    const to = from + end - start;
    if (to > this.#bytes.length) this.#bytes = grow(this.#bytes, to);
    const own = this.#bytes;
    for (let at = from; at < to; at++) own[at] = bytes[start + at - from];
    this.#hashes[value] = hash;
    this.#numbers[value] = number;
    this.#ends[value] = to;
    return value;
  }
}

function rankOf(kind: number): number {
  if (kind === BOOLEAN) return 2;
  return kind === STRING || kind === DATE ? 1 : 0;
}
