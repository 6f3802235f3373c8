// biome-ignore format: a name a line would be a page.
import {
  BLANK, DIGITS_MAX, DOT, LETTER_E, MANTISSA_MAX, MINUS, sourceByte, sourceWord, ZERO,
} from '../template/memory.as.ts';
import { isDigit } from '../template/text.as.ts';

/** Words of a text as numbers, as `scanNumber` reads them. */

/** Readings of a value as a number: none, one, one that is for the reference. */
const NOT_NUMBER: u32 = 0;
const NUMBER: u32 = 1;
const ODD_NUMBER: u32 = 2;
const WORD_BYTES: u32 = 8;
/** Eight bytes `0`, what brings all above `9` to another half, and the upper halves of bytes. */
const ZEROS: u64 = ((<u64>0x30303030) << 32) | 0x30303030;
const SIXES: u64 = ((<u64>0x06060606) << 32) | 0x06060606;
const HIGH_HALVES: u64 = ((<u64>0xf0f0f0f0) << 32) | 0xf0f0f0f0;
/** The lower bytes of pairs, and pairs of fours. */
const LOW_BYTES: u64 = ((<u64>0x00ff00ff) << 32) | 0x00ff00ff;
const LOW_PAIRS: u64 = ((<u64>0x0000ffff) << 32) | 0x0000ffff;
/** Whole numbers of as many digits fit in 64 bits. */
const WHOLE_DIGITS_MAX: u32 = 19;
/** Detail of a number whose value is the nearest double: engine/column/rows.ts. */
const NUMBER_AS_TEXT: u32 = 0xffff;

/** Value and detail of the number that was read last. */
let numberValue: f64 = 0;
let numberDetail: u32 = 0;

/** Reads a word of up to eight digits at once; false when it is none. */
// @inline
function readDigits(start: u32, length: u32): bool {
  // The first digit is the lowest byte; zeros stand before it.
  const word =
    (sourceWord(start) << (<u64>(8 * (WORD_BYTES - length)))) |
    ((ZEROS >>> 8) >>> <u64>(8 * (length - 1)));
  if ((word & HIGH_HALVES) !== ZEROS || ((word + SIXES) & HIGH_HALVES) !== ZEROS) return false;
  if (length > 1 && sourceByte(start) === ZERO) return false;
  const pairs = ((word & ~HIGH_HALVES) * (10 * 256 + 1)) >>> 8;
  const fours = ((pairs & LOW_BYTES) * (100 * 65_536 + 1)) >>> 16;
  const eight = ((fours & LOW_PAIRS) * (((<u64>10_000) << 32) + 1)) >>> 32;
  numberValue = <f64>eight;
  numberDetail = 0;
  return true;
}

/** Reads a word of any length as a number. */
function longNumber(start: u32, end: u32): u32 {
  const isNegative = sourceByte(start) === MINUS;
  const wholeStart = isNegative ? start + 1 : start;
  let at = wholeStart;
  let mantissa: u64 = 0;
  while (at < end && isDigit(sourceByte(at))) {
    mantissa = mantissa * 10 + <u64>(sourceByte(at++) - ZERO);
  }
  let digits = at - wholeStart;
  if (digits === 0 || (digits > 1 && sourceByte(wholeStart) === ZERO)) return NOT_NUMBER;
  numberDetail = 0;
  if (at < end && sourceByte(at) === DOT) {
    const fractionStart = ++at;
    while (at < end && isDigit(sourceByte(at))) {
      mantissa = mantissa * 10 + <u64>(sourceByte(at++) - ZERO);
    }
    numberDetail = at - fractionStart;
    digits += numberDetail;
    if (numberDetail === 0) return NOT_NUMBER;
  }
  if (at < end) return isExponent(at, end) ? ODD_NUMBER : NOT_NUMBER;
  if (isNegative && mantissa === 0) return ODD_NUMBER;
  if (digits > DIGITS_MAX || mantissa > MANTISSA_MAX) {
    if (numberDetail > 0 || digits > WHOLE_DIGITS_MAX) return ODD_NUMBER;
    numberDetail = NUMBER_AS_TEXT;
  }
  numberValue = isNegative ? -(<f64>mantissa) : <f64>mantissa;
  return NUMBER;
}

/** Reports whether a word goes on to its end as an exponent. */
function isExponent(from: u32, end: u32): bool {
  if ((sourceByte(from) | BLANK) !== LETTER_E) return false;
  const sign = from + 1 < end ? sourceByte(from + 1) : 0;
  const start = sign === 0x2b || sign === MINUS ? from + 2 : from + 1;
  let at = start;
  while (at < end && isDigit(sourceByte(at))) at++;
  return at === end && at > start;
}

/** Reads the word `[start, end)` as a number. */
// @inline
function numberAt(start: u32, end: u32): u32 {
  const length = end - start;
  return length <= WORD_BYTES && readDigits(start, length) ? NUMBER : longNumber(start, end);
}

export { NUMBER, numberAt, numberDetail, numberValue, ODD_NUMBER };
