import { DAY_MS } from '../../engine/base/day.ts';
import type { DateFormResult } from '../../engine/column/date-form.ts';
import {
  daysFromCivil,
  daysInMonth,
  digitsAt,
  parseDateForm,
} from '../../engine/column/date-form.ts';
import { NUMBER_AS_TEXT } from '../../engine/column/rows.ts';
import type { NumberResult } from './number.ts';
import { scanNumber } from './number.ts';
import { COLON, COMMA, DOT, MINUS } from './text.ts';

/** Event dates lie in [-2^47, 2^47) milliseconds. Source: FORMAT.md 8. */
const DATE_LIMIT_MS = 2 ** 47;
/** Numbers in [SECONDS_MIN, SECONDS_END) are seconds since the epoch. Source: decisions.md 3.3. */
const SECONDS_MIN = 1e8;
const SECONDS_END = 1e11;

const BLANK = 0x20;
const PLUS = 0x2b;
const LETTER_T = 0x74;
const LETTER_Z = 0x7a;
const LOWER = 0x20;
const FRACTION_DIGITS_MAX = 9;
/** The three letters of each month from 1 on, as one number. */
const MONTHS = Int32Array.from(
  ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  (name) => (name === '' ? 0 : Buffer.from(name).readUIntBE(0, 3)),
);
/** Years between two leap days, at most. */
const LEAP_GAP_YEARS = 8;

const number: NumberResult = { value: 0, detail: 0 };

/**
 * Reads `bytes[start, end)` as a date text; NaN when it is none, or lies beyond 2^47 ms from the epoch.
 * ISO 8601 with a blank for `T`, 0 to 9 fraction digits, any usual form of the offset, UTC without one; digits of epoch
 * milliseconds or seconds; RFC 3164 in the year that brings it nearest to `nowMs`. The result is whole milliseconds.
 * Source: decisions.md 3.3.
 */
export function parseDate(bytes: Uint8Array, start: number, end: number, nowMs: number): number {
  if (end - start < 8) return digitsDate(bytes, start, end);
  if (bytes[start] > 0x40) return boundedDate(parseSyslogDate(bytes, start, end, nowMs));
  if (bytes[start + 4] === MINUS) return boundedDate(parseIsoDate(bytes, start, end));
  return digitsDate(bytes, start, end);
}

/** Date that a number means, given as `value` and `detail` of Rows; NaN when it is out of bounds. */
export function numberDate(value: number, detail: number): number {
  if (detail === NUMBER_AS_TEXT) {
    const isSeconds = value >= SECONDS_MIN && value < SECONDS_END;
    return boundedDate(Math.floor(isSeconds ? Math.round(value * 1e6) / 1e3 : value));
  }
  const whole = value / 10 ** detail;
  const isSeconds = whole >= SECONDS_MIN && whole < SECONDS_END;
  const digitsOver = isSeconds ? detail - 3 : detail;
  const ms = digitsOver > 0 ? Math.floor(value / 10 ** digitsOver) : value * 10 ** -digitsOver;
  return boundedDate(ms);
}

/** Returns an event date as it is, NaN for one that lies out of bounds. */
export function boundedDate(ms: number): number {
  return ms >= -DATE_LIMIT_MS && ms < DATE_LIMIT_MS ? ms : Number.NaN;
}

function digitsDate(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte > 0x39 || (byte < 0x30 && byte !== DOT && byte !== MINUS)) return Number.NaN;
  }
  if (start === end || scanNumber(bytes, start, end, number) !== end) return Number.NaN;
  return numberDate(number.value, number.detail);
}

function parseIsoDate(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < 10 || bytes[start + 7] !== MINUS) return Number.NaN;
  const year = digitsAt(bytes, start, 4);
  const month = digitsAt(bytes, start + 5, 2);
  const day = digitsAt(bytes, start + 8, 2);
  if (year < 0 || month < 1 || month > 12) return Number.NaN;
  if (day < 1 || day > daysInMonth(year, month)) return Number.NaN;
  const dayMs = daysFromCivil(year, month, day) * DAY_MS;
  if (end - start === 10) return dayMs;
  const separator = bytes[start + 10];
  if (separator !== BLANK && (separator | LOWER) !== LETTER_T) return Number.NaN;
  return dayMs + parseTime(bytes, start + 11, end, true);
}

/** Milliseconds of the time of day at `at`, less the offset behind it where one may be. */
function parseTime(bytes: Uint8Array, start: number, end: number, hasZone: boolean): number {
  if (end - start < 5 || bytes[start + 2] !== COLON) return Number.NaN;
  const hour = digitsAt(bytes, start, 2);
  const minute = digitsAt(bytes, start + 3, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return Number.NaN;
  let ms = hour * 3_600_000 + minute * 60_000;
  let at = start + 5;
  if (at < end && bytes[at] === COLON) {
    const second = end - at >= 3 ? digitsAt(bytes, at + 1, 2) : -1;
    // 60 is a leap second; it counts as the first of the next minute.
    if (second < 0 || second > 60) return Number.NaN;
    ms += second * 1000;
    at += 3;
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

function digitsEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] >= 0x30 && bytes[at] <= 0x39) at++;
  return at;
}

/** Offset east of UTC in milliseconds that `bytes[start, end)` says; 0 when it is empty. */
function parseOffset(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  if (at + 1 < end && bytes[at] === BLANK) at++;
  if (at < end && (bytes[at] | LOWER) === LETTER_Z) at++;
  if (at === end) return 0;
  const sign = bytes[at] === PLUS ? 1 : bytes[at] === MINUS ? -1 : 0;
  const hasColon = end - at === 6 && bytes[at + 3] === COLON;
  if (sign === 0 || !(hasColon || end - at === 5 || end - at === 3)) return Number.NaN;
  const hours = digitsAt(bytes, at + 1, 2);
  const minutes = end - at === 3 ? 0 : digitsAt(bytes, at + (hasColon ? 4 : 3), 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return Number.NaN;
  return sign * (hours * 3_600_000 + minutes * 60_000);
}

/** `Mmm dd hh:mm:ss`, the day filled by a blank or a zero. Source: RFC 3164 section 4.1.2. */
function parseSyslogDate(bytes: Uint8Array, start: number, end: number, nowMs: number): number {
  const year = syslogYear(bytes, start, end, nowMs);
  if (year < 0) return Number.NaN;
  const days = daysFromCivil(year, monthAt(bytes, start), syslogDay(bytes, start));
  return days * DAY_MS + parseTime(bytes, start + 7, end, false);
}

/** The year that brings the date `Mmm dd hh:mm:ss` of RFC 3164 nearest to `nowMs`; -1 when it is no such date. */
export function syslogYear(bytes: Uint8Array, start: number, end: number, nowMs: number): number {
  if (end - start < 15 || bytes[start + 3] !== BLANK || bytes[start + 6] !== BLANK) return -1;
  const month = monthAt(bytes, start);
  const day = syslogDay(bytes, start);
  const timeMs = parseTime(bytes, start + 7, end, false);
  if (month === 0 || day < 1 || Number.isNaN(timeMs)) return -1;
  const thisYear = new Date(nowMs).getUTCFullYear();
  let nearest = -1;
  let distanceMs = Number.POSITIVE_INFINITY;
  for (let year = thisYear - LEAP_GAP_YEARS; year <= thisYear + LEAP_GAP_YEARS; year++) {
    if (day > daysInMonth(year, month)) continue;
    const ms = Math.abs(daysFromCivil(year, month, day) * DAY_MS + timeMs - nowMs);
    if (ms >= distanceMs) continue;
    nearest = year;
    distanceMs = ms;
  }
  return nearest;
}

/** The month, 1 to 12, whose three letters begin at `at`; 0 when there is none. */
export function monthAt(bytes: Uint8Array, at: number): number {
  const letters =
    ((bytes[at] | LOWER) << 16) | ((bytes[at + 1] | LOWER) << 8) | (bytes[at + 2] | LOWER);
  for (let month = 1; month <= 12; month++) if (MONTHS[month] === letters) return month;
  return 0;
}

/** The day of a date of RFC 3164, which is filled by a blank or a zero; -1 when there is none. */
export function syslogDay(bytes: Uint8Array, start: number): number {
  const isPadded = bytes[start + 4] === BLANK;
  return isPadded ? digitsAt(bytes, start + 5, 1) : digitsAt(bytes, start + 4, 2);
}

/** Length of `2016-11-21T12:28:`, which dates of one minute share. */
const MINUTE_PREFIX_BYTES = 17;
const SECONDS_END_BYTES = 19;
const TEXT_BYTES_MAX = 40;

/**
 * Recognises date texts as forms (date-form.ts), remembering the minute and the zone of the last one, which the
 * next one mostly shares. The result of `read` is in `form`, `value` and `timeMs`.
 */
export class DateFormReader implements DateFormResult {
  form = 0;
  value = 0;
  timeMs = 0;

  #known = new Uint8Array(TEXT_BYTES_MAX);
  #knownBytes = -1;
  #fractionDigits = 0;
  /** Milliseconds of the beginning of the remembered minute. */
  #minuteMs = 0;

  /** Whether `bytes[start, end)` is one of the forms. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#readKnown(bytes, start, end)) return true;
    if (!parseDateForm(bytes, start, end, this)) return false;
    this.#learn(bytes, start, end);
    return true;
  }

  #readKnown(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start !== this.#knownBytes) return false;
    const known = this.#known;
    for (let index = 0; index < MINUTE_PREFIX_BYTES; index++) {
      if (bytes[start + index] !== known[index]) return false;
    }
    const digitCount = this.#fractionDigits;
    const zoneStart = SECONDS_END_BYTES + (digitCount === 0 ? 0 : digitCount + 1);
    for (let index = zoneStart; index < this.#knownBytes; index++) {
      if (bytes[start + index] !== known[index]) return false;
    }
    const second = digitsAt(bytes, start + MINUTE_PREFIX_BYTES, 2);
    if (second < 0 || second > 59) return false;
    const ms = this.#minuteMs + second * 1000;
    let fraction = 0;
    if (digitCount > 0) {
      if (bytes[start + SECONDS_END_BYTES] !== DOT) return false;
      fraction = digitsAt(bytes, start + SECONDS_END_BYTES + 1, digitCount);
      if (fraction < 0) return false;
    }
    this.value = digitCount === 6 ? ms * 1000 + fraction : ms + fraction;
    this.timeMs = digitCount === 6 ? ms + Math.floor(fraction / 1000) : this.value;
    return true;
  }

  #learn(bytes: Uint8Array, start: number, end: number): void {
    const behindFraction =
      bytes[start + SECONDS_END_BYTES] === DOT && end - start > SECONDS_END_BYTES
        ? digitsEnd(bytes, start + SECONDS_END_BYTES + 1, end)
        : start + SECONDS_END_BYTES;
    this.#fractionDigits = Math.max(0, behindFraction - start - SECONDS_END_BYTES - 1);
    this.#knownBytes = end - start;
    this.#known.set(bytes.subarray(start, end));
    const second = digitsAt(bytes, start + MINUTE_PREFIX_BYTES, 2);
    const wholeSecondMs = Math.floor(this.timeMs / 1000) * 1000;
    this.#minuteMs = wholeSecondMs - second * 1000;
  }
}
