import { sameBytes } from '../base/hash.ts';
import { parseDateForm, printDate } from '../column/date-form.ts';
import { grow } from '../column/growth.ts';
import { decodeText } from '../segment/rebuild.ts';
import { compareDecimals, decimalKey, decimalText, parseDecimal } from './decimal.ts';
import type { BucketKey } from './query.ts';
import { compareText, encodeText } from './text.ts';

/** What a value is. Numbers of up to 15 digits are doubles, others the text of their digits and exponent. */
const NUMBER = 0;
const LONG_NUMBER = 1;
const STRING = 2;
const DATE = 3;
const BOOLEAN = 4;
const KIND_BITS = 3;
const KIND_MASK = (1 << KIND_BITS) - 1;

/** Decimals of as many digits are told apart by their doubles. */
const DIGITS_EXACT = 15;
const MANTISSA_EXACT_MAX = 1e15;
/** Doubles below have fewer digits than DIGITS_EXACT. */
const DOUBLE_EXACT_MIN = 1e-290;

const CAPACITY_MIN = 64;
const NO_BYTES = new Uint8Array(0);

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);
const dateForm = { form: 0, value: 0, timeMs: 0 };
const formBytes = new Uint8Array(2);

/**
 * Numbers distinct values from 0 on, whatever block and column they are in. 200 and 200.0 are one value; 200, "200" and true
 * are three; a date text is one value in a column of dates and in one of strings. Equality is that of the bytes; the hash is
 * seeded. With `shares` above 1 only the values of hash share `share` get a number. Owned by one thread.
 */
export class ValueTable {
  readonly #seed: number;
  readonly #share: number;
  #shares: number;
  #count = 0;
  /** Hashes, with the kind in the low KIND_BITS. */
  #hashes = new Int32Array(CAPACITY_MIN);
  #numbers = new Float64Array(CAPACITY_MIN);
  /** Bytes of value v are `#bytes[#ends[v - 1], #ends[v])`. */
  #ends = new Uint32Array(CAPACITY_MIN);
  #bytes = new Uint8Array(1024);
  /** Pairs of value + 1 and its hash; 0 is free. Pairs are a power of two, at most half full. */
  #slots = new Int32Array(CAPACITY_MIN * 4);
  #frozen = false;

  constructor(seed: number, share = 0, shares = 1) {
    this.#seed = seed;
    this.#share = share;
    this.#shares = shares;
  }

  /** Values that it has. */
  get count(): number {
    return this.#count;
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#hashes.length * 16 + this.#bytes.length + this.#slots.length * 4;
  }

  /** From now on new values get no number. */
  freeze(): void {
    this.#frozen = true;
  }

  /** The number of a string value, WTF-8; -1 when it has none. So do the other methods of this kind. */
  string(bytes: Uint8Array, start: number, end: number): number {
    if (parseDateForm(bytes, start, end, dateForm)) return this.date(dateForm.value, dateForm.form);
    const hash = hashText(bytes, start, end, this.#seed);
    return this.#number(STRING, 0, bytes, start, end, hash);
  }

  /** A date as a column of dates has it. */
  date(value: number, form: number): number {
    formBytes[0] = form;
    formBytes[1] = form >>> 8;
    const hash = mixed(this.#seed ^ form, value);
    return this.#number(DATE, value, formBytes, 0, 2, hash);
  }

  /** The number `mantissa / divisor`, the divisor a power of ten up to 10^22. */
  decimal(mantissa: number, divisor: number): number {
    if (mantissa > -MANTISSA_EXACT_MAX && mantissa < MANTISSA_EXACT_MAX) {
      return this.#double(mantissa / divisor);
    }
    return this.numberText(`${mantissa}e-${Math.round(Math.log10(divisor))}`);
  }

  /** A number that a column holds as a double. */
  double(value: number): number {
    if (Number.isInteger(value) && Math.abs(value) < MANTISSA_EXACT_MAX) return this.#double(value);
    return this.numberText(String(value));
  }

  /** The number that `text` says. */
  numberText(text: string): number {
    const decimal = parseDecimal(text);
    if (decimal === undefined) return -1;
    const value = Number(text);
    const normal = Number.isFinite(value) && Math.abs(value) >= DOUBLE_EXACT_MIN;
    if (decimal.digits === '') return this.#double(0);
    if (normal && decimal.digits.length <= DIGITS_EXACT) return this.#double(value);
    const key = encodeText(decimalKey(decimal));
    return this.#number(
      LONG_NUMBER,
      value,
      key,
      0,
      key.length,
      hashText(key, 0, key.length, ~this.#seed),
    );
  }

  /** A boolean. */
  boolean(value: boolean): number {
    const number = value ? 1 : 0;
    return this.#number(BOOLEAN, number, NO_BYTES, 0, 0, mixed(~this.#seed, number));
  }

  /** The number of a bucket's key, also one of another share; -1 when it is no value. */
  addKey(key: BucketKey): number {
    const shares = this.#shares;
    this.#shares = 1;
    const number = this.#numberOf(key);
    this.#shares = shares;
    return number;
  }

  /** The number of what is `value` in `other`, a table of the same seed. */
  take(other: ValueTable, value: number): number {
    return this.#number(
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

  /** Negative when `left` comes first: numbers, strings by code points, false, true. */
  compare(left: number, right: number): number {
    const rank = rankOf(this.#kind(left)) - rankOf(this.#kind(right));
    if (rank !== 0) return rank;
    if (this.#kind(left) === STRING && this.#kind(right) === STRING) {
      const wanted = this.#bytes.subarray(this.#start(right), this.#ends[right]);
      return compareText(this.#bytes, this.#start(left), this.#ends[left], wanted);
    }
    if (this.#kind(left) === STRING || this.#kind(left) === DATE) {
      const text = encodeText(this.#text(left));
      return compareText(text, 0, text.length, encodeText(this.#text(right)));
    }
    const [a, b] = [this.#numbers[left], this.#numbers[right]];
    if (a !== b) return a < b ? -1 : 1;
    return left === right ? 0 : compareDecimals(this.#numberText(left), this.#numberText(right));
  }

  #numberOf(key: BucketKey): number {
    if (key.type === 'number') return this.numberText(key.text);
    if (key.type === 'boolean') return this.boolean(key.value);
    if (key.type !== 'string') return -1;
    const bytes = encodeText(key.text);
    return this.string(bytes, 0, bytes.length);
  }

  #double(value: number): number {
    const number = value + 0;
    return this.#number(NUMBER, number, NO_BYTES, 0, 0, mixed(this.#seed, number));
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

  #number(
    kind: number,
    number: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    anyHash: number,
  ): number {
    if (this.#shares > 1 && (anyHash >>> 24) % this.#shares !== this.#share) return -1;
    const hash = (anyHash & ~KIND_MASK) | kind;
    const slots = this.#slots;
    const ends = this.#ends;
    const mask = slots.length - 2;
    let slot = (hash >>> (KIND_BITS - 1)) & mask;
    for (let found = slots[slot]; found !== 0; found = slots[slot]) {
      if (slots[slot + 1] === hash) {
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
      slot = (slot + 2) & mask;
    }
    if (this.#frozen) return -1;
    slots[slot] = this.#count + 1;
    slots[slot + 1] = hash;
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
    if (this.#count * 4 > this.#slots.length) this.#spread();
    return value;
  }

  /** Doubles the slots. */
  #spread(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const hashes = this.#hashes;
    const mask = slots.length - 2;
    for (let value = 0; value < this.#count; value++) {
      let slot = (hashes[value] >>> (KIND_BITS - 1)) & mask;
      while (slots[slot] !== 0) slot = (slot + 2) & mask;
      slots[slot] = value + 1;
      slots[slot + 1] = hashes[value];
    }
    this.#slots = slots;
  }
}

function rankOf(kind: number): number {
  if (kind === BOOLEAN) return 2;
  return kind === STRING || kind === DATE ? 1 : 0;
}

/** A hash of `bytes[start, end)`, never negative: four bytes at a time, as MurmurHash3 does it. */
function hashText(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    const mixedWord = Math.imul(word, 0xcc9e2d51);
    hash ^= Math.imul((mixedWord << 15) | (mixedWord >>> 17), 0x1b873593);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ bytes[at], 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 1;
}

/** A hash of a double, never negative. */
function mixed(seed: number, value: number): number {
  double[0] = value;
  let hash = Math.imul(words[0] ^ seed, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15) ^ words[1], 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 13), 0x9e3779b1);
  return (hash ^ (hash >>> 16)) >>> 1;
}
