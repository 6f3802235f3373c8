import { sameBytes } from '../../base/hash.ts';
import { printDate } from '../../column/date-form.ts';
import { grow } from '../../packed/growth.ts';
import { decodeText } from '../../segment/block/rebuild.ts';
import { compareDecimals, decimalText, NumberReader } from '../filter/decimal.ts';
import { compareText, encodeText } from '../filter/text.ts';
import type { BucketKey } from '../model/query.ts';
import { firstSlot, HashPages, NUMBER_SLOTS, nextSlot } from './hash-pages.ts';
import { KIND_MASK, TEXT_NEEDED, ValueKind, ValueNumbers } from './value-numbers.ts';
import { HashHeads, headsOf, type ValuePart } from './value-part.ts';

const { NUMBER, LONG_NUMBER, STRING, DATE, BOOLEAN } = ValueKind;
const reader = new NumberReader();
const CAPACITY_MIN = 64;
/** Values of a page, as a power of two. */
const PAGE_BITS = 13;
const PAGE_VALUES = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_VALUES - 1;
/** Bytes for which a page has room at first, and by how much more than those of the page before it. */
const BYTES_MIN = 1_024;
const BYTES_MAX = 1 << 20;
const BYTES_MORE = 1.03;

/** Values that follow each other: PAGE_VALUES of them but for the last page. */
interface ValuePage {
  /** Hashes, with the kind in the low KIND_BITS. */
  hashes: Int32Array<ArrayBuffer>;
  numbers: Float64Array<ArrayBuffer>;
  /** Bytes of value v are `bytes[ends[v - 1], ends[v])`. */
  ends: Uint32Array<ArrayBuffer>;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Distinct values as plain data, by their numbers. */
export interface ValueTableData {
  seed: number;
  count: number;
  pages: readonly ValuePage[];
}

/**
 * Numbers distinct values from 0 on, whatever block and column they are in. Equality is that of the bytes. With a
 * `part` only the values in it get a number. Owned by one thread.
 */
export class ValueTable extends ValueNumbers {
  #part: ValuePart | undefined;
  #count = 0;
  #pages: ValuePage[] = [];
  readonly #slots = new HashPages(NUMBER_SLOTS);
  /** The hashes that there are, once there will be no others. */
  #frozen: HashHeads | undefined;

  constructor(seed: number, part?: ValuePart) {
    super(seed);
    this.#part = part;
  }

  /** Takes `data` over: its values can be read, and none can be looked up. */
  static of({ seed, count, pages }: ValueTableData): ValueTable {
    const table = new ValueTable(seed);
    table.#count = count;
    table.#pages = [...pages];
    return table;
  }

  /** Its parts; it is not to be changed any more. */
  get data(): ValueTableData {
    return { seed: this.seed, count: this.#count, pages: this.#pages };
  }

  /** The part of the values that it has; `undefined` for all. */
  get part(): ValuePart | undefined {
    return this.#part;
  }

  /** Values that it has. */
  get count(): number {
    return this.#count;
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    let sum = this.#slots.memoryBytes;
    for (const { hashes, bytes } of this.#pages) sum += hashes.length * 16 + bytes.length;
    return sum;
  }

  get usesHashes(): boolean {
    return this.#frozen !== undefined || this.#part !== undefined;
  }

  ofHash(hash: number): number {
    if (this.#frozen?.has(hash) === false) return -1;
    return this.#part === undefined || this.#part.has(hash) ? TEXT_NEEDED : -1;
  }

  /** From now on new values get no number. */
  freeze(): void {
    this.#frozen = new HashHeads(headsOf(this.hashes()));
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
    const { bytes } = other.#page(value);
    const [start, end] = other.#span(value);
    const kind = other.#kind(value);
    return this.number(kind, other.#number(value), bytes, start, end, other.#hash(value));
  }

  /** The hashes of all values, in a new array. */
  hashes(): Int32Array {
    const hashes = new Int32Array(this.#count);
    for (const [place, page] of this.#pages.entries()) {
      const first = place << PAGE_BITS;
      hashes.set(page.hashes.subarray(0, this.#count - first), first);
    }
    return hashes;
  }

  /** Key of the bucket of `value`. */
  key(value: number): BucketKey {
    const number = this.#number(value);
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
    if (this.#kind(left) === BOOLEAN) return this.#number(left) - this.#number(right);
    if (this.#kind(left) === STRING && this.#kind(right) === STRING) {
      const [start, end] = this.#span(left);
      return compareText(this.#page(left).bytes, start, end, this.#bytes(right));
    }
    const text = encodeText(this.#text(left));
    return compareText(text, 0, text.length, encodeText(this.#text(right)));
  }

  /** The nearest double of a number or a numeric string; `undefined` when the value is neither. */
  #numericOf(value: number): number | undefined {
    const kind = this.#kind(value);
    if (kind === NUMBER || kind === LONG_NUMBER) return this.#number(value);
    if (kind !== STRING) return undefined;
    const [start, end] = this.#span(value);
    return reader.read(this.#page(value).bytes, start, end) ? reader.value : undefined;
  }

  #numberOf(key: BucketKey): number {
    if (key.type === 'number') return this.numberText(key.text);
    if (key.type === 'boolean') return this.boolean(key.value);
    if (key.type !== 'string') return -1;
    const bytes = encodeText(key.text);
    return this.string(bytes, 0, bytes.length);
  }

  #numberText(value: number): string {
    return this.#kind(value) === NUMBER ? String(this.#number(value)) : this.#text(value);
  }

  #page(value: number): ValuePage {
    return this.#pages[value >>> PAGE_BITS];
  }

  /** Where in its page the bytes of a value begin and end. */
  #span(value: number): [start: number, end: number] {
    const { ends } = this.#page(value);
    const at = value & PAGE_MASK;
    return [at === 0 ? 0 : ends[at - 1], ends[at]];
  }

  #bytes(value: number): Uint8Array {
    return this.#page(value).bytes.subarray(...this.#span(value));
  }

  #number(value: number): number {
    return this.#page(value).numbers[value & PAGE_MASK];
  }

  #hash(value: number): number {
    return this.#page(value).hashes[value & PAGE_MASK];
  }

  /** The text of a string, a date or a long number. */
  #text(value: number): string {
    const bytes = this.#bytes(value);
    if (this.#kind(value) === DATE) {
      return printDate(this.#number(value), bytes[0] | (bytes[1] << 8));
    }
    return decodeText(bytes, 0, bytes.length);
  }

  #kind(value: number): number {
    return this.#hash(value) & KIND_MASK;
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
    let slot = firstSlot(page, hash, 2);
    for (let found = page[slot]; found !== 0; found = page[slot]) {
      if (page[slot + 1] === hash) {
        const { ends, bytes: own, numbers } = this.#page(found - 1);
        const at = (found - 1) & PAGE_MASK;
        const from = at === 0 ? 0 : ends[at - 1];
        if (
          ends[at] - from === end - start &&
          sameBytes(own, from, bytes, start, end - start) &&
          (kind === STRING || numbers[at] === number)
        ) {
          return found - 1;
        }
      }
      slot = nextSlot(page, slot, 2);
    }
    if (this.#frozen !== undefined) return -1;
    page[slot] = this.#count + 1;
    page[slot + 1] = hash;
    this.#slots.took(hash);
    return this.#append(number, bytes, start, end, hash);
  }

  #append(number: number, bytes: Uint8Array, start: number, end: number, hash: number): number {
    const value = this.#count++;
    const at = value & PAGE_MASK;
    if (at === 0) this.#pages.push(this.#newPage());
    const page = this.#page(value);
    if (at === page.hashes.length) {
      page.hashes = grow(page.hashes, at + 1);
      page.numbers = grow(page.numbers, at + 1);
      page.ends = grow(page.ends, at + 1);
    }
    const from = at === 0 ? 0 : page.ends[at - 1];
    const to = from + end - start;
    if (to > page.bytes.length) page.bytes = grow(page.bytes, to);
    const own = page.bytes;
    for (let place = from; place < to; place++) own[place] = bytes[start + place - from];
    page.hashes[at] = hash;
    page.numbers[at] = number;
    page.ends[at] = to;
    return value;
  }

  /** A page for the next values; the first one of a table begins small. */
  #newPage(): ValuePage {
    const before = this.#pages.at(-1)?.ends[PAGE_MASK];
    const capacity = before === undefined ? CAPACITY_MIN : PAGE_VALUES;
    const byteCount = Math.min(Math.ceil((before ?? 0) * BYTES_MORE), BYTES_MAX);
    return {
      hashes: new Int32Array(capacity),
      numbers: new Float64Array(capacity),
      ends: new Uint32Array(capacity),
      bytes: new Uint8Array(Math.max(byteCount, BYTES_MIN)),
    };
  }
}

function rankOf(kind: number): number {
  if (kind === BOOLEAN) return 2;
  return kind === STRING || kind === DATE ? 1 : 0;
}
