import { ASTERISK, BLANK, digitsEnd, PLUS } from '../../engine/base/ascii.ts';
import { DAY_MS } from '../../engine/base/durations.ts';
import type { DateFormResult } from '../../engine/column/date-form.ts';
import {
  daysFromCivil,
  daysInMonth,
  digitsAt,
  parseDateForm,
} from '../../engine/column/date-form.ts';
import { NUMBER_AS_TEXT } from '../../engine/column/rows.ts';
import { type IsoDate, scanIsoDate } from '../date/iso-date.ts';
import type { NumberResult } from './number.ts';
import { scanNumber } from './number.ts';
import { BsdDate } from './syslog/bsd-date.ts';
import { DOT, MINUS } from './text.ts';

/** Event dates lie in [-2^47, 2^47) milliseconds. Source: FORMAT.md 8. */
const DATE_LIMIT_MS = 2 ** 47;
/** Numbers in [SECONDS_MIN, SECONDS_END) are seconds since the epoch. Source: INTERFACE.md 1.2. */
const SECONDS_MIN = 1e8;
const SECONDS_END = 1e11;

/** Bytes of `2016-05`. */
const ISO_BYTES_MIN = 7;

const LETTER_T = 0x74;
const LETTER_W = 0x77;
const LOWER = 0x20;

const number: NumberResult = { value: 0, detail: 0 };
const iso: IsoDate = { wallMs: 0, offsetMs: 0 };
const bsd = new BsdDate();

/**
 * Reads `bytes[from, to)`, blanks around it left aside, as a date text; NaN when it is none, or lies beyond 2^47 ms
 * from the epoch. ISO 8601 as `scanIsoDate` reads it, UTC without an offset; eight digits that are a day; digits of
 * epoch milliseconds or seconds; RFC 3164 as BsdDate reads it. The result is whole milliseconds. Source: INTERFACE.md
 * 1.2.
 */
export function parseDate(bytes: Uint8Array, from: number, to: number, nowMs: number): number {
  let start = from;
  let end = to;
  while (start < end && bytes[start] === BLANK) start++;
  while (start < end && bytes[end - 1] === BLANK) end--;
  const length = end - start;
  if (length < ISO_BYTES_MIN) return digitsDate(bytes, start, end);
  const first = bytes[start];
  if (bytes[start + 4] === MINUS || (bytes[start + 4] | LOWER) === LETTER_W) {
    return isoDate(bytes, start, end);
  }
  if (first > 0x40 || first === ASTERISK || first === DOT || bytes[start + 4] === BLANK) {
    return bsd.scanWhole(bytes, start, end, nowMs) ? boundedDate(bsd.timeMs()) : Number.NaN;
  }
  // Days without separators have a time behind them; years of six digits have separators.
  const isTimed = hasLetterT(bytes, start + 7, end) || hasLetterT(bytes, start + 8, end);
  const isLong = (first === PLUS || first === MINUS) && bytes[start + 7] === MINUS;
  if (isTimed || isLong) return isoDate(bytes, start, end);
  const day = length === 8 ? dayOfDigits(bytes, start) : Number.NaN;
  if (!Number.isNaN(day)) return day;
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

/** Returns an event date unchanged; NaN when it lies out of bounds. */
export function boundedDate(ms: number): number {
  return ms >= -DATE_LIMIT_MS && ms < DATE_LIMIT_MS ? ms : Number.NaN;
}

function hasLetterT(bytes: Uint8Array, at: number, end: number): boolean {
  return at < end && (bytes[at] | LOWER) === LETTER_T;
}

function digitsDate(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte > 0x39 || (byte < 0x30 && byte !== DOT && byte !== MINUS)) return Number.NaN;
  }
  if (start === end || scanNumber(bytes, start, end, number) !== end) return Number.NaN;
  return numberDate(number.value, number.detail);
}

function isoDate(bytes: Uint8Array, start: number, end: number): number {
  if (!scanIsoDate(bytes, start, end, iso)) return Number.NaN;
  return boundedDate(iso.wallMs - (Number.isNaN(iso.offsetMs) ? 0 : iso.offsetMs));
}

/** The day that eight digits are, NaN when they are none. */
function dayOfDigits(bytes: Uint8Array, start: number): number {
  const month = digitsAt(bytes, start + 4, 2);
  const day = digitsAt(bytes, start + 6, 2);
  const year = digitsAt(bytes, start, 4);
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  return isDay && year >= 0 ? daysFromCivil(year, month, day) * DAY_MS : Number.NaN;
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
  #knownForm = 0;
  #fractionDigits = 0;
  /** Milliseconds of the beginning of the remembered minute. */
  #minuteMs = 0;

  /** Reads a date of a known form from `bytes[start, end)`; false when there is none. */
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
    // A text that turned out to be none of the forms may have left another one.
    this.form = this.#knownForm;
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
    this.#knownForm = this.form;
    this.#known.set(bytes.subarray(start, end));
    const second = digitsAt(bytes, start + MINUTE_PREFIX_BYTES, 2);
    const wholeSecondMs = Math.floor(this.timeMs / 1000) * 1000;
    this.#minuteMs = wholeSecondMs - second * 1000;
  }
}
