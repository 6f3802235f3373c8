import type { Entries } from '../column/entries.ts';
import type { NumberChunk } from '../column/number-chunk.ts';
import { FRACTION_DIGITS_MAX } from '../column/number-text.ts';
import { extend } from '../packed/growth.ts';

/** Bytes of a number's text beyond its decimals: a sign, 16 digits, a point. */
export const TEXT_BYTES_MAX = 18;
/** Digits behind the point at most. */
export const DECIMALS_MAX: number = FRACTION_DIGITS_MAX;
const ZERO = 0x30;
const MINUS = 0x2d;
const POINT = 0x2e;
/** Digits that are taken off a number as one of 31 bits. */
const DIGITS_TOGETHER = 1e9;

/** Texts of all numbers of a chunk, one after the other. Throws CORRUPTION. */
export function numberTexts(chunk: NumberChunk): Entries {
  const { values, details, texts } = chunk.parts();
  const offsets = new Uint32Array(values.length + 1);
  let bytes = new Uint8Array(values.length * 4 + TEXT_BYTES_MAX);
  let end = 0;
  for (let rank = 0; rank < values.length; rank++) {
    const text = texts.get(rank);
    const most = text?.length ?? TEXT_BYTES_MAX + details[rank];
    if (end + most > bytes.length) bytes = extend(bytes, end + most);
    if (text === undefined) end = print(values[rank], details[rank], bytes, end);
    else {
      bytes.set(Buffer.from(text, 'latin1'), end);
      end += text.length;
    }
    offsets[rank + 1] = end;
  }
  return { offsets, bytes };
}

/** Prints as `print`, a number from 0 to below DIGITS_TOGETHER. */
function printSmall(value: number, decimals: number, into: Uint8Array, at: number): number {
  let digits = 1;
  for (let above = 10; value >= above; above *= 10) digits++;
  if (digits <= decimals) digits = decimals + 1;
  const end = at + digits + (decimals > 0 ? 1 : 0);
  const point = decimals > 0 ? end - 1 - decimals : end;
  let left = value;
  for (let place = end - 1; place > point; place--) {
    const tenth = (left / 10) | 0;
    into[place] = ZERO + left - tenth * 10;
    left = tenth;
  }
  if (decimals > 0) into[point] = POINT;
  for (let place = point - 1; place >= at; place--) {
    const tenth = (left / 10) | 0;
    into[place] = ZERO + left - tenth * 10;
    left = tenth;
  }
  return end;
}

/** Prints a whole number with its last `decimals` digits behind a point, from `at` on; returns the end. */
function print(value: number, decimals: number, into: Uint8Array, at: number): number {
  if (value >= 0 && value < DIGITS_TOGETHER) return printSmall(value, decimals, into, at);
  let left = value;
  let start = at;
  if (left < 0) {
    into[start++] = MINUS;
    left = -left;
  }
  // From the last digit on, then turned around.
  let end = start;
  let digits = 0;
  while (left > 0 || digits <= decimals) {
    const isLong = left >= DIGITS_TOGETHER;
    let part = isLong ? left % DIGITS_TOGETHER : left;
    left = isLong ? (left - part) / DIGITS_TOGETHER : 0;
    for (let taken = 0; isLong ? taken < 9 : part > 0 || digits <= decimals; taken++) {
      if (digits === decimals && decimals > 0) into[end++] = POINT;
      const tenth = (part / 10) | 0;
      into[end++] = ZERO + part - tenth * 10;
      part = tenth;
      digits++;
    }
  }
  for (let low = start, high = end - 1; low < high; low++, high--) {
    const byte = into[low];
    into[low] = into[high];
    into[high] = byte;
  }
  return end;
}
