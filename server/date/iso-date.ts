import { BLANK, digitsEnd, MINUS, PLUS } from '../../engine/base/ascii.ts';
import { DAY_MS } from '../../engine/base/durations.ts';
import { daysFromCivil, daysInMonth, digitsAt } from '../../engine/column/date-form.ts';
import { scanOffset, scanTime } from './time-of-day.ts';

const LOWER = 0x20;
const LETTER_T = 0x74;
const LETTER_W = 0x77;
/** Digits of a year with a sign. */
const LONG_YEAR_DIGITS = 6;
/** 1970-01-01 was a Thursday: days from a Monday to it. */
const MONDAY_BIAS_DAYS = 3;

/** A date as it is written. */
export interface IsoDate {
  /** The clock that it shows, as milliseconds as if it were UTC. */
  wallMs: number;
  /** Milliseconds east of UTC; NaN without an offset. */
  offsetMs: number;
}

/**
 * Reads `bytes[start, end)` as a date of ISO 8601 into `date`; false when it is none. Dates are months, days, weeks
 * (`2016-W19`, `2016-W19-2`) and days of the year (`2016-131`), with separators or, before a time, without. Years have
 * four digits, or six with a sign. A time of day stands behind `T` or a blank: hours at least, 24:00 as the end of a
 * day, 1 to 9 digits of a fraction, an offset. Source: ISO 8601, INTERFACE.md 1.2.
 */
export function scanIsoDate(bytes: Uint8Array, start: number, end: number, date: IsoDate): boolean {
  const hasSign = bytes[start] === PLUS || bytes[start] === MINUS;
  const yearDigits = hasSign ? LONG_YEAR_DIGITS : 4;
  const behindYear = start + (hasSign ? 1 : 0) + yearDigits;
  if (behindYear >= end) return false;
  const digits = digitsAt(bytes, behindYear - yearDigits, yearDigits);
  if (digits < 0 || (digits === 0 && bytes[start] === MINUS)) return false;
  const year = bytes[start] === MINUS ? -digits : digits;
  let dayEnd = behindYear;
  while (dayEnd < end && isOfDay(bytes[dayEnd])) dayEnd++;
  const day = dayOf(bytes, behindYear, dayEnd, year);
  if (Number.isNaN(day)) return false;
  date.wallMs = day * DAY_MS;
  date.offsetMs = Number.NaN;
  // Digits alone are a number.
  if (dayEnd === end) return bytes[behindYear] === MINUS;
  const behind = scanTime(bytes, dayEnd + 1, end, date);
  if (behind < 0) return false;
  if (behind === end) return true;
  date.offsetMs = scanOffset(bytes, behind, end);
  return !Number.isNaN(date.offsetMs);
}

function isOfDay(byte: number): boolean {
  return byte !== BLANK && (byte | LOWER) !== LETTER_T;
}

/** Days from 1970-01-01 to the day that `bytes[start, end)` names in its year; NaN when it names none. */
function dayOf(bytes: Uint8Array, start: number, end: number, year: number): number {
  const gap = bytes[start] === MINUS ? 1 : 0;
  const from = start + gap;
  const length = end - from;
  if ((bytes[from] | LOWER) === LETTER_W) return weekDay(bytes, from + 1, end, year, gap);
  if (digitsEnd(bytes, from, end) - from === 3 && length === 3) {
    const day = digitsAt(bytes, from, 3);
    const first = daysFromCivil(year, 1, 1);
    return day >= 1 && day <= daysFromCivil(year + 1, 1, 1) - first ? first + day - 1 : Number.NaN;
  }
  const month = length >= 2 ? digitsAt(bytes, from, 2) : -1;
  if (month < 1 || month > 12) return Number.NaN;
  if (gap === 1 && length === 2) return daysFromCivil(year, month, 1);
  const isWhole = length === 4 + gap && (gap === 0 || bytes[from + 2] === MINUS);
  const day = isWhole ? digitsAt(bytes, from + 2 + gap, 2) : -1;
  return day >= 1 && day <= daysInMonth(year, month) ? daysFromCivil(year, month, day) : Number.NaN;
}

/** Reads a day as `dayOf` does, behind the letter of a week. */
function weekDay(bytes: Uint8Array, start: number, end: number, year: number, gap: number): number {
  const week = end - start >= 2 ? digitsAt(bytes, start, 2) : -1;
  const hasDay = end - start === 3 + gap && (gap === 0 || bytes[start + 2] === MINUS);
  if (week < 1 || !(hasDay || end - start === 2)) return Number.NaN;
  const weekday = hasDay ? digitsAt(bytes, start + 2 + gap, 1) : 1;
  if (weekday < 1 || weekday > 7) return Number.NaN;
  const monday = firstMonday(year) + (week - 1) * 7;
  return monday < firstMonday(year + 1) ? monday + weekday - 1 : Number.NaN;
}

/** The Monday of the first week of a year, which is the one with January 4. */
function firstMonday(year: number): number {
  const fourth = daysFromCivil(year, 1, 4);
  return fourth - ((((fourth + MONDAY_BIAS_DAYS) % 7) + 7) % 7);
}
