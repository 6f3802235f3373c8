import { ASTERISK, BLANK, PLUS } from '../../../engine/base/ascii.ts';
import { DAY_MS } from '../../../engine/base/durations.ts';
import { daysFromCivil, daysInMonth, digitsAt } from '../../../engine/column/date-form.ts';
import { parseTime } from '../../date/time-of-day.ts';
import { COLON, COMMA, DOT, latin1, MINUS, ZERO } from '../text.ts';

const LETTER_A = 0x41;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
const LOWER = 0x20;
/** `Nov 1 `. */
const DAY_BYTES_MIN = 6;
/** `hh:mm:ss`. */
const TIME_BYTES_MIN = 8;
/** `yyyy-mm-ddT`. */
const ISO_DAY_BYTES = 11;
/** Years between two leap days, at most. */
const LEAP_GAP_YEARS = 8;
const ZONE_LETTERS_MAX = 4;

/** The three letters of each month from 1 on, as one number. */
const MONTHS = Int32Array.from(
  ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  (name) => (name === '' ? 0 : Buffer.from(name).readUIntBE(0, 3)),
);

/** Minutes east of UTC of the zones that devices name; a name of several zones has the meaning of RFC 822. */
const ZONES = new Map([
  ['UTC', 0],
  ['GMT', 0],
  ['EST', -300],
  ['EDT', -240],
  ['CST', -360],
  ['CDT', -300],
  ['MST', -420],
  ['MDT', -360],
  ['PST', -480],
  ['PDT', -420],
  ['BST', 60],
  ['CET', 60],
  ['CEST', 120],
  ['EET', 120],
  ['EEST', 180],
  ['MSK', 180],
  ['JST', 540],
]);

/**
 * A date as RFC 3164 has it, `Mmm dd hh:mm:ss`, and as devices write it: with a fraction, with the year before the
 * month, behind the day or behind the time, with the marks `*` and `.` of clocks that are not set before it, with the
 * name of a zone and a colon behind it. Holds the last one; made once and used again. Source: RFC 3164 section 4.1.2,
 * INTERFACE.md 1.2.
 */
export class BsdDate {
  /** Set when a colon ends the date, so that no host can follow. */
  isClosed = false;

  #year = 0;
  #month = 0;
  #day = 0;
  #timeStart = 0;
  #timeEnd = 0;
  #timeMs = 0;
  #zoneMinutes = 0;
  /** The year of the last `nowMs`. */
  #nowMs = Number.NaN;
  #nowYear = 0;

  /**
   * Reads the date at `start`; returns the offset behind it and its colon, -1 when there is none. A date without a year
   * lies in the one that brings it nearest to `nowMs`.
   */
  scan(bytes: Uint8Array, start: number, end: number, nowMs: number): number {
    let at = bytes[start] === ASTERISK || bytes[start] === DOT ? start + 1 : start;
    let year = -1;
    if (bytes[at] < LETTER_A) {
      year = yearAt(bytes, at, end);
      if (year < 0) return -1;
      at += 5;
    }
    if (end - at < DAY_BYTES_MIN + TIME_BYTES_MIN || bytes[at + 3] !== BLANK) return -1;
    this.#month = monthAt(bytes, at);
    if (this.#month === 0) return -1;
    // A day of one digit stands behind two blanks, or one where programs do not fill up.
    at += bytes[at + 4] === BLANK ? 5 : 4;
    const isShort = bytes[at + 1] === BLANK;
    this.#day = digitsAt(bytes, at, isShort ? 1 : 2);
    at += isShort ? 2 : 3;
    if (bytes[at - 1] !== BLANK) return -1;
    if (year < 0 && bytes[at + 4] === BLANK) {
      year = yearAt(bytes, at, end);
      if (year < 0) return -1;
      at += 5;
    }
    at = this.#scanTime(bytes, at, end);
    if (at < 0) return -1;
    if (year < 0) {
      year = yearBehind(bytes, at, end);
      if (year >= 0) at += 5;
    }
    const isDay = this.#day > 0 && (year < 0 || this.#day <= daysInMonth(year, this.#month));
    if (!isDay) return -1;
    this.#year = year < 0 ? this.#nearestYear(nowMs) : year;
    if (this.#year < 0) return -1;
    return this.isClosed ? at : this.#scanZone(bytes, at, end);
  }

  /** Scans a text that has to be a date as a whole, as `scan` does; the colon behind a zone may be missing. */
  scanWhole(bytes: Uint8Array, start: number, end: number, nowMs: number): boolean {
    const at = this.scan(bytes, start, end, nowMs);
    if (at < 0 || at === end) return at === end && !this.isClosed;
    if (this.isClosed || bytes[at] !== BLANK) return false;
    const zone = ZONES.get(latin1(bytes, at + 1, Math.min(end, at + 2 + ZONE_LETTERS_MAX)));
    this.#zoneMinutes = zone ?? 0;
    return zone !== undefined;
  }

  /** Milliseconds since the epoch of the last date. */
  timeMs(): number {
    const days = daysFromCivil(this.#year, this.#month, this.#day);
    return days * DAY_MS + this.#timeMs - this.#zoneMinutes * 60_000;
  }

  /** Bytes that `writeIso` writes. */
  get isoBytes(): number {
    const zoneBytes = this.#zoneMinutes === 0 ? 1 : 6;
    return ISO_DAY_BYTES + this.#timeEnd - this.#timeStart + zoneBytes;
  }

  /** Writes the last date, which was found in `bytes`, as ISO 8601 to `target` from `at` on: isoBytes many bytes. */
  writeIso(bytes: Uint8Array, target: Uint8Array, at: number): void {
    digits(target, at, 4, this.#year);
    target[at + 4] = MINUS;
    digits(target, at + 5, 2, this.#month);
    target[at + 7] = MINUS;
    digits(target, at + 8, 2, this.#day);
    target[at + 10] = LETTER_T;
    let to = at + ISO_DAY_BYTES;
    for (let from = this.#timeStart; from < this.#timeEnd; from++) target[to++] = bytes[from];
    if (this.#zoneMinutes === 0) {
      target[to] = LETTER_Z;
      return;
    }
    const minutes = Math.abs(this.#zoneMinutes);
    target[to] = this.#zoneMinutes < 0 ? MINUS : PLUS;
    digits(target, to + 1, 2, Math.floor(minutes / 60));
    target[to + 3] = COLON;
    digits(target, to + 4, 2, minutes % 60);
  }

  /** Reads the time of day at `start`; returns the offset behind it and a colon that ends it, -1 when there is none. */
  #scanTime(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end && isOfTime(bytes[at])) at++;
    this.isClosed = at > start && bytes[at - 1] === COLON;
    this.#timeStart = start;
    this.#timeEnd = this.isClosed ? at - 1 : at;
    this.#zoneMinutes = 0;
    if (this.#timeEnd - start < TIME_BYTES_MIN) return -1;
    this.#timeMs = parseTime(bytes, start, this.#timeEnd);
    return Number.isNaN(this.#timeMs) ? -1 : at;
  }

  /** Reads a blank, the name of a zone and a colon at `start`, or nothing. */
  #scanZone(bytes: Uint8Array, start: number, end: number): number {
    if (start < end && bytes[start] === COLON) {
      this.isClosed = true;
      return start + 1;
    }
    if (start >= end || bytes[start] !== BLANK) return start;
    let at = start + 1;
    while (at < end && bytes[at] >= LETTER_A && bytes[at] <= LETTER_Z) at++;
    const letterCount = at - start - 1;
    if (at >= end || bytes[at] !== COLON || letterCount > ZONE_LETTERS_MAX) return start;
    const zone = ZONES.get(latin1(bytes, start + 1, at));
    if (zone === undefined) return start;
    this.#zoneMinutes = zone;
    this.isClosed = true;
    return at + 1;
  }

  /** The year that brings the month, day and time nearest to `nowMs`; -1 when the month has no such day. */
  #nearestYear(nowMs: number): number {
    if (nowMs !== this.#nowMs) {
      this.#nowMs = nowMs;
      this.#nowYear = new Date(nowMs).getUTCFullYear();
    }
    const reach = this.#month === 2 && this.#day === 29 ? LEAP_GAP_YEARS : 1;
    let nearest = -1;
    let distanceMs = Number.POSITIVE_INFINITY;
    for (let year = this.#nowYear - reach; year <= this.#nowYear + reach; year++) {
      if (this.#day > daysInMonth(year, this.#month)) continue;
      const dayMs = daysFromCivil(year, this.#month, this.#day) * DAY_MS;
      const ms = Math.abs(dayMs + this.#timeMs - nowMs);
      if (ms >= distanceMs) continue;
      nearest = year;
      distanceMs = ms;
    }
    return nearest;
  }
}

/** The month, 1 to 12, whose three letters begin at `at`, in any case; 0 when there is none. */
function monthAt(bytes: Uint8Array, at: number): number {
  const letters =
    ((bytes[at] | LOWER) << 16) | ((bytes[at + 1] | LOWER) << 8) | (bytes[at + 2] | LOWER);
  for (let month = 1; month <= 12; month++) if (MONTHS[month] === letters) return month;
  return 0;
}

/** The year at `at`, four digits and a blank; -1 when there is none. */
function yearAt(bytes: Uint8Array, at: number, end: number): number {
  return end - at > 5 && bytes[at + 4] === BLANK ? digitsAt(bytes, at, 4) : -1;
}

/** The year 1900 to 2099 that stands alone behind a time which ends at `at`; -1 when there is none. */
function yearBehind(bytes: Uint8Array, at: number, end: number): number {
  if (at + 5 > end || bytes[at] !== BLANK) return -1;
  const behind = at + 5 < end && bytes[at + 5] === COLON ? at + 6 : at + 5;
  if (behind < end && bytes[behind] !== BLANK) return -1;
  const year = digitsAt(bytes, at + 1, 4);
  return year >= 1900 && year < 2100 ? year : -1;
}

function isOfTime(byte: number): boolean {
  return (byte >= ZERO && byte <= COLON) || byte === DOT || byte === COMMA;
}

function digits(target: Uint8Array, at: number, count: number, value: number): void {
  let rest = value;
  for (let index = at + count - 1; index >= at; index--) {
    target[index] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}
