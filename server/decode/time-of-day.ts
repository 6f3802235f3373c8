import { digitsAt } from '../../engine/column/date-form.ts';
import { COLON, COMMA, DOT, MINUS, ZERO } from './text.ts';

const BLANK = 0x20;
const PLUS = 0x2b;
const LETTER_Z = 0x7a;
const LOWER = 0x20;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const FRACTION_DIGITS_MAX = 9;

/**
 * Milliseconds of the time of day `bytes[start, end)`, `hh:mm`, `hh:mm:ss` or `hh:mm:ss.f` with 1 to 9 digits; `hhmm` and
 * so on when it `isBasic`. Less the offset behind it where one may be. NaN when it is none.
 * Source: ISO 8601, decisions.md 3.3.
 */
export function parseTime(
  bytes: Uint8Array,
  start: number,
  end: number,
  hasZone: boolean,
  isBasic = false,
): number {
  const gap = isBasic ? 0 : 1;
  if (end - start < 4 + gap || (!isBasic && bytes[start + 2] !== COLON)) return Number.NaN;
  const hour = digitsAt(bytes, start, 2);
  const minute = digitsAt(bytes, start + 2 + gap, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return Number.NaN;
  let ms = hour * HOUR_MS + minute * MINUTE_MS;
  let at = start + 4 + gap;
  if (at < end && (isBasic ? isDigit(bytes[at]) : bytes[at] === COLON)) {
    const second = end - at >= 2 + gap ? digitsAt(bytes, at + gap, 2) : -1;
    // 60 is a leap second; it counts as the first of the next minute.
    if (second < 0 || second > 60) return Number.NaN;
    ms += second * 1000;
    at += 2 + gap;
    if (at < end && (bytes[at] === DOT || bytes[at] === COMMA)) {
      const fractionStart = at + 1;
      at = digitsEnd(bytes, fractionStart, end);
      const digitCount = at - fractionStart;
      if (digitCount < 1 || digitCount > FRACTION_DIGITS_MAX) return Number.NaN;
      const fraction = digitsAt(bytes, fractionStart, digitCount);
      ms += Math.floor((fraction * 1000) / 10 ** digitCount);
    }
  }
  if (!hasZone) return at === end ? ms : Number.NaN;
  return ms - parseOffset(bytes, at, end);
}

/** Offset of the first byte from `start` on that is no digit. */
export function digitsEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(bytes[at])) at++;
  return at;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}

/** Whether `bytes[start, end)` is `UTC` or `GMT`, as databases write it. */
function isUniversal(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== 3) return false;
  const letters = (bytes[start] << 16) | (bytes[start + 1] << 8) | bytes[start + 2];
  return letters === 0x555443 || letters === 0x474d54;
}

/** Offset east of UTC in milliseconds that `bytes[start, end)` says; 0 when it is empty. */
function parseOffset(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  if (at + 1 < end && bytes[at] === BLANK) at++;
  if (at < end && (bytes[at] | LOWER) === LETTER_Z) at++;
  if (at === end || isUniversal(bytes, at, end)) return 0;
  const sign = bytes[at] === PLUS ? 1 : bytes[at] === MINUS ? -1 : 0;
  const hasColon = end - at === 6 && bytes[at + 3] === COLON;
  if (sign === 0 || !(hasColon || end - at === 5 || end - at === 3)) return Number.NaN;
  const hours = digitsAt(bytes, at + 1, 2);
  const minutes = end - at === 3 ? 0 : digitsAt(bytes, at + (hasColon ? 4 : 3), 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return Number.NaN;
  return sign * (hours * HOUR_MS + minutes * MINUTE_MS);
}
