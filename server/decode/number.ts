import { PLUS } from '../../engine/base/ascii.ts';
import { NUMBER_AS_TEXT } from '../../engine/column/rows.ts';
import { DOT, latin1, MINUS, ZERO } from './text.ts';

/** Result of `scanNumber`, in the terms of Rows: `value` and `detail` of a NUMBER. */
export interface NumberResult {
  value: number;
  detail: number;
}

/** Powers of ten up to this one are exact doubles, so a mantissa divided by one is rounded once. */
const FRACTION_DIGITS_MAX = 22;

const LETTER_E = 0x65;

/**
 * Reads the JSON number that begins at `start`; returns the offset behind it, -1 when there is none.
 * Fills `result`: mantissa and fraction digits, or the nearest double and NUMBER_AS_TEXT for a text that these
 * two would not print back. Source: RFC 8259 section 6, rows.ts.
 */
export function scanNumber(
  bytes: Uint8Array,
  start: number,
  end: number,
  result: NumberResult,
): number {
  const isNegative = bytes[start] === MINUS;
  const wholeStart = isNegative ? start + 1 : start;
  let at = wholeStart;
  let mantissa = 0;
  while (at < end) {
    const digit = bytes[at] - ZERO;
    if (digit < 0 || digit > 9) break;
    mantissa = mantissa * 10 + digit;
    at++;
  }
  if (at === wholeStart || (bytes[wholeStart] === ZERO && at > wholeStart + 1)) return -1;

  let fractionDigits = 0;
  if (at < end && bytes[at] === DOT) {
    const fractionStart = ++at;
    while (at < end) {
      const digit = bytes[at] - ZERO;
      if (digit < 0 || digit > 9) break;
      mantissa = mantissa * 10 + digit;
      at++;
    }
    fractionDigits = at - fractionStart;
    if (fractionDigits === 0) return -1;
  }
  const behindDigits = at;
  if (at < end && (bytes[at] | 0x20) === LETTER_E) {
    at = exponentEnd(bytes, at + 1, end);
    if (at < 0) return -1;
  }
  const isPlain =
    at === behindDigits &&
    mantissa <= Number.MAX_SAFE_INTEGER &&
    fractionDigits <= FRACTION_DIGITS_MAX &&
    !(isNegative && mantissa === 0);
  result.value = isPlain ? (isNegative ? -mantissa : mantissa) : nearest(bytes, start, at);
  result.detail = isPlain ? fractionDigits : NUMBER_AS_TEXT;
  return at;
}

function exponentEnd(bytes: Uint8Array, at: number, end: number): number {
  const isSigned = at < end && (bytes[at] === PLUS || bytes[at] === MINUS);
  const digitsStart = isSigned ? at + 1 : at;
  let offset = digitsStart;
  while (offset < end && bytes[offset] >= ZERO && bytes[offset] <= ZERO + 9) offset++;
  return offset > digitsStart ? offset : -1;
}

/** The nearest finite double; a negative zero becomes 0, since only its text tells them apart. */
function nearest(bytes: Uint8Array, start: number, end: number): number {
  const number = Number(latin1(bytes, start, end));
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, number)) + 0;
}
