import { BLANK, COLON, COMMA, DOT, digitsEnd, MINUS, PLUS, ZERO } from '../../engine/base/ascii.ts';
import { HOUR_MS, MINUTE_MS } from '../../engine/base/durations.ts';
import { digitsAt } from '../../engine/column/date-form.ts';

const LETTER_Z = 0x7a;
const LOWER = 0x20;
const FRACTION_DIGITS_MAX = 9;

const clock = { wallMs: 0 };

/**
 * Milliseconds of the time of day that `bytes[start, end)` is, `hh:mm`, `hh:mm:ss` or `hh:mm:ss.f` with 1 to 9 digits.
 * NaN when it is none. Source: RFC 3164.
 */
export function parseTime(bytes: Uint8Array, start: number, end: number): number {
  clock.wallMs = 0;
  const isThere = end - start >= 5 && bytes[start + 2] === COLON;
  return isThere && scanTime(bytes, start, end, clock) === end ? clock.wallMs : Number.NaN;
}

/**
 * Adds the time of day at `start` to `date`, `hh`, `hh:mm`, `hh:mm:ss` or with 1 to 9 digits of a fraction, with the
 * colons or without; returns the offset behind it, -1 when there is none. Source: ISO 8601.
 */
export function scanTime(
  bytes: Uint8Array,
  start: number,
  end: number,
  date: { wallMs: number },
): number {
  const hour = end - start >= 2 ? digitsAt(bytes, start, 2) : -1;
  if (hour < 0 || hour > 24) return -1;
  let at = start + 2;
  let ms = hour * HOUR_MS;
  const gap = at < end && bytes[at] === COLON ? 1 : 0;
  if (gap === 1 || (at < end && isDigit(bytes[at]))) {
    const minute = end - at >= 2 + gap ? digitsAt(bytes, at + gap, 2) : -1;
    if (minute < 0 || minute > 59) return -1;
    ms += minute * MINUTE_MS;
    at += 2 + gap;
    if (at < end && (gap === 1 ? bytes[at] === COLON : isDigit(bytes[at]))) {
      const second = end - at >= 2 + gap ? digitsAt(bytes, at + gap, 2) : -1;
      // 60 is a leap second; it counts as the first of the next minute.
      if (second < 0 || second > 60) return -1;
      ms += second * 1000;
      at += 2 + gap;
      if (at < end && (bytes[at] === DOT || bytes[at] === COMMA)) {
        const fractionStart = at + 1;
        at = digitsEnd(bytes, fractionStart, end);
        const digitCount = at - fractionStart;
        if (digitCount < 1 || digitCount > FRACTION_DIGITS_MAX) return -1;
        const fraction = digitsAt(bytes, fractionStart, digitCount);
        ms += Math.floor((fraction * 1000) / 10 ** digitCount);
      }
    }
  }
  if (hour === 24 && ms > 24 * HOUR_MS) return -1;
  date.wallMs += ms;
  return at;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}

/** Recognises `bytes[start, end)` as `UTC` or `GMT`, as databases write it. */
function isUniversal(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== 3) return false;
  const letters = (bytes[start] << 16) | (bytes[start + 1] << 8) | bytes[start + 2];
  return letters === 0x555443 || letters === 0x474d54;
}

/** Milliseconds east of UTC that `bytes[start, end)` says; NaN when it is no offset. */
export function scanOffset(bytes: Uint8Array, start: number, end: number): number {
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
