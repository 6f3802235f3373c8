import { parseDateForm } from '../../column/date-form.ts';
import { decimalKey, parseDecimal } from '../filter/decimal.ts';
import { encodeText } from '../filter/text.ts';

/** Kind of the value that a hash is of, so that 200, "200" and true differ. */
const STRING_TAG = 1;
const NUMBER_TAG = 2;
const LONG_NUMBER_TAG = 3;
const BOOLEAN_TAG = 4;
const DATE_TAG = 5;

const HALF_WORD = 2 ** 32;

/**
 * Hashes values to 64 bits, `low` and `high` after each call. Equal values have equal hashes however they are
 * stored: a number by what it says (200 = 200.0), a date text as such or in a string. Keyed by the store's secret,
 * so that hashes of several threads agree and nobody outside chooses colliding values. Source: INTERFACE.md 4.8.
 */
export class ValueHash {
  low = 0;
  high = 0;
  readonly #lowSeed: number;
  readonly #highSeed: number;
  readonly #date = { form: 0, value: 0, timeMs: 0 };

  /** `secret` has at least 8 bytes. */
  constructor(secret: Uint8Array) {
    const view = new DataView(secret.buffer, secret.byteOffset, secret.byteLength);
    this.#lowSeed = view.getInt32(0, true);
    this.#highSeed = view.getInt32(4, true);
  }

  /** A string's text, WTF-8. */
  string(bytes: Uint8Array, start: number, end: number): void {
    if (parseDateForm(bytes, start, end, this.#date)) this.date(this.#date.value, this.#date.form);
    else this.#bytes(STRING_TAG, bytes, start, end);
  }

  /** A date as a column of dates has it. */
  date(value: number, form: number): void {
    this.#begin(DATE_TAG);
    this.#mix(form);
    this.#number(value);
    this.#finish();
  }

  /** The number `mantissa / 10^scale`; a whole, safe mantissa. */
  decimal(mantissa: number, scale: number): void {
    let digits = mantissa === 0 ? 0 : mantissa;
    let exponent = -scale;
    while (digits !== 0 && digits % 10 === 0) {
      digits /= 10;
      exponent++;
    }
    this.#begin(NUMBER_TAG);
    this.#mix(digits === 0 ? 0 : exponent);
    this.#number(digits);
    this.#finish();
  }

  /** The number that `text` says. */
  numberText(text: string): void {
    const decimal = parseDecimal(text);
    const sign = decimal?.negative === true ? '-' : '';
    const digits = decimal === undefined ? Number.NaN : Number(`${sign}${decimal.digits || '0'}`);
    if (decimal !== undefined && Number.isSafeInteger(digits)) {
      this.decimal(digits, -decimal.exponent);
      return;
    }
    const key = encodeText(decimal === undefined ? text : decimalKey(decimal));
    this.#bytes(LONG_NUMBER_TAG, key, 0, key.length);
  }

  /** A boolean. */
  boolean(value: boolean): void {
    this.#begin(BOOLEAN_TAG);
    this.#mix(value ? 1 : 0);
    this.#finish();
  }

  #bytes(tag: number, bytes: Uint8Array, start: number, end: number): void {
    this.#begin(tag);
    let at = start;
    for (; at + 4 <= end; at += 4) {
      this.#mix(bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24));
    }
    let rest = 0;
    for (; at < end; at++) rest = (rest << 8) | bytes[at];
    this.#mix(rest);
    this.#mix(end - start);
    this.#finish();
  }

  #begin(tag: number): void {
    this.low = this.#lowSeed ^ tag;
    this.high = this.#highSeed;
  }

  /** Mixes in a safe whole number. */
  #number(value: number): void {
    this.#mix((value % HALF_WORD) | 0);
    this.#mix(Math.floor(value / HALF_WORD) | 0);
  }

  /** Mixes in 32 bits. The lanes are those of MurmurHash3 for 128 bits, two of them, each fed by the other. */
  #mix(word: number): void {
    const first = Math.imul(word, 0x239b961b);
    this.low ^= Math.imul((first << 15) | (first >>> 17), 0xab0e9789);
    this.low = (Math.imul((this.low << 19) | (this.low >>> 13), 5) + 0x561ccd1b + this.high) | 0;
    const second = Math.imul(word, 0xa1e38b93);
    this.high ^= Math.imul((second << 17) | (second >>> 15), 0x38b34ae5);
    this.high = (Math.imul((this.high << 13) | (this.high >>> 19), 5) + 0x32ac3b17 + this.low) | 0;
  }

  #finish(): void {
    this.low = (this.low + this.high) | 0;
    this.high = (this.high + this.low) | 0;
    this.low = finalMix(this.low);
    this.high = finalMix(this.high);
    this.low = (this.low + this.high) | 0;
    this.high = (this.high + this.low) | 0;
  }
}

function finalMix(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
