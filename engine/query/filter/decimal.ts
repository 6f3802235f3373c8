import { DOT, MINUS, PLUS } from '../../base/ascii.ts';
import { POWERS_OF_TEN } from '../../column/number-text.ts';
import { asciiText } from './text.ts';

const LETTER_E = 0x65;

/** Whole numbers of as many digits are doubles exactly. */
const DIGITS_SAFE = 15;

const NUMBER_PARTS = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;
const FIRST_ZEROS = /^0+/;
const LAST_ZEROS = /0+$/;

/** A number as its digits say it: `digits * 10^exponent`; `digits` neither begins nor ends with 0, '' is zero. */
export interface Decimal {
  negative: boolean;
  digits: string;
  exponent: number;
}

/** True when a byte is `0` to `9`. */
function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/**
 * True when `bytes[start, end)` is a number: a sign or none, digits with a point or without, an exponent or none.
 * This is also what makes a string numeric. Source: INTERFACE.md 4.8.
 */
export function isNumberText(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  if (bytes[at] === PLUS || bytes[at] === MINUS) at++;
  const whole = at;
  while (at < end && isDigit(bytes[at])) at++;
  let digitCount = at - whole;
  if (at < end && bytes[at] === DOT) {
    const fraction = ++at;
    while (at < end && isDigit(bytes[at])) at++;
    digitCount += at - fraction;
  }
  if (digitCount === 0) return false;
  if (at === end) return true;
  if ((bytes[at] | 0x20) !== LETTER_E) return false;
  at++;
  if (at < end && (bytes[at] === PLUS || bytes[at] === MINUS)) at++;
  const exponent = at;
  while (at < end && isDigit(bytes[at])) at++;
  return at === end && at > exponent;
}

/** Reads the text of a number; `undefined` when it is none. */
export function parseDecimal(text: string): Decimal | undefined {
  const parts = NUMBER_PARTS.exec(text);
  if (parts === null || parts[2].length + parts[3].length === 0) return undefined;
  const all = (parts[2] + parts[3]).replace(FIRST_ZEROS, '');
  const digits = all.replace(LAST_ZEROS, '');
  if (digits === '') return { negative: false, digits, exponent: 0 };
  const written = parts[4] === undefined ? 0 : Number(parts[4]);
  const exponent = written - parts[3].length + all.length - digits.length;
  return { negative: parts[1] === '-', digits, exponent };
}

/** A text that is the same for equal numbers, and for them only: `200`, `200.0` and `2e2` are `2e2`. */
export function decimalKey(decimal: Decimal): string {
  return `${decimal.negative ? '-' : ''}${decimal.digits}e${decimal.exponent}`;
}

/** Zeros that `decimalText` writes rather than an exponent. */
const ZEROS_WRITTEN_MAX = 21;

/**
 * A JSON text of the number that `text` says, the same for equal numbers: digits and a point when it is not too long.
 */
export function decimalText(text: string): string {
  const decimal = parseDecimal(text);
  if (decimal === undefined || decimal.digits === '') return '0';
  const { negative, digits, exponent } = decimal;
  const sign = negative ? '-' : '';
  if (exponent > ZEROS_WRITTEN_MAX || exponent < -digits.length - ZEROS_WRITTEN_MAX) {
    return `${sign}${digits}e${exponent}`;
  }
  if (exponent >= 0) return `${sign}${digits}${'0'.repeat(exponent)}`;
  const padded = digits.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

/** Negative when the number that `left` says is the smaller one. Both are numbers. */
export function compareDecimals(left: string, right: string): number {
  const a = parseDecimal(left);
  const b = parseDecimal(right);
  if (a === undefined || b === undefined) return 0;
  const signs = signOf(a) - signOf(b);
  if (signs !== 0 || a.digits === '') return signs;
  const magnitudes = a.digits.length + a.exponent - b.digits.length - b.exponent;
  const order = magnitudes !== 0 ? magnitudes : a.digits < b.digits ? -1 : 1;
  if (magnitudes === 0 && a.digits === b.digits) return 0;
  return a.negative ? -order : order;
}

function signOf(decimal: Decimal): number {
  if (decimal.digits === '') return 0;
  return decimal.negative ? -1 : 1;
}

/** The whole number m for which `m / 10^scale` is `decimal`; `undefined` when there is none up to 2^53. */
export function mantissaAt(decimal: Decimal, scale: number): number | undefined {
  const zeros = decimal.exponent + scale;
  if (zeros < 0 || zeros > DIGITS_SAFE || decimal.digits === '') {
    return decimal.digits === '' ? 0 : undefined;
  }
  const mantissa = Number(decimal.digits) * POWERS_OF_TEN[zeros];
  if (!Number.isSafeInteger(mantissa)) return undefined;
  return decimal.negative ? -mantissa : mantissa;
}

/** Reads numbers from texts, without an object a number. The fields are valid when `read` was true. */
export class NumberReader {
  /** The nearest double, always finite. */
  value = 0;
  /** True when the number is `mantissa / 10^scale`; otherwise only its text says it exactly. */
  small = false;
  mantissa = 0;
  scale = 0;

  /** Reads `bytes[start, end)`; false when it is not a number, or one beyond all doubles. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    if (bytes[start] > 0x39 || start === end || !isNumberText(bytes, start, end)) return false;
    this.small = end - start <= DIGITS_SAFE && this.#readSmall(bytes, start, end);
    if (this.small) this.value = this.mantissa / POWERS_OF_TEN[this.scale];
    else this.value = Number(asciiText(bytes, start, end));
    return Number.isFinite(this.value);
  }

  /** Reads a number of few digits without an exponent. */
  #readSmall(bytes: Uint8Array, start: number, end: number): boolean {
    let mantissa = 0;
    let pointAt = end;
    let at = bytes[start] === PLUS || bytes[start] === MINUS ? start + 1 : start;
    for (; at < end; at++) {
      const byte = bytes[at];
      if (byte === DOT) pointAt = at;
      else if (isDigit(byte)) mantissa = mantissa * 10 + byte - 0x30;
      else return false;
    }
    this.mantissa = bytes[start] === MINUS ? -mantissa : mantissa;
    this.scale = Math.max(end - pointAt - 1, 0);
    return true;
  }
}
