// biome-ignore format: a name a line would be a page.

import { daysOf, FORM_UTC, FORM_Z, monthDays, twoDigits } from '../template/date.as.ts';
// biome-ignore format: a name a line would be a page.
import {
  BLANK, KIND_DATE, setSideWord, sourceByte, sourceWord, ZERO,
} from '../template/memory.as.ts';
import { addSlot, setSideBytes, sideBytes, sideStart } from '../template/slots.as.ts';
import { isDigit } from '../template/text.as.ts';

/**
 * Dates `Mmm dd hh:mm:ss` of RFC 3164, as `BsdDate` reads them; its other forms are for it. They go to the side as ISO
 * 8601. The last one is remembered, as many lines have the same.
 */

const COLON: u32 = 0x3a;
const LETTER_A: u32 = 0x41;
const LETTER_T: u32 = 0x54;
const LETTER_Z: u32 = 0x5a;
/** Those of `yyyy-mm-`. */
const MINUSES: u64 = 0x2d00_002d_0000_0000;
/** `Mmm dd hh:mm:ss`, and where its last eight bytes begin. */
const DATE_BYTES: u32 = 15;
const LAST_WORD: u32 = 7;
/** `yyyy-mm-ddThh:mm:ssZ`. */
const ISO_BYTES: u32 = 20;
const ZONE_LETTERS_MAX: u32 = 4;
const DAY_MS: i64 = 86_400_000;
const DAYS_OF_1970: i64 = 719_528;
const FEBRUARY: u32 = 2;

/** The date that was read last, when its line came, and what it means. */
let knownFirst: u64 = 0;
let knownLast: u64 = 0;
let knownReceivedMs: f64 = -1;
let isoFirst: u64 = 0;
let isoMiddle: u64 = 0;
let isoLast: u64 = 0;
let knownMs: f64 = 0;

/** The letters of a month at `at`, in lower case, as one number. */
// @inline
function lettersAt(at: u32): u32 {
  return (
    ((sourceByte(at) | BLANK) << 16) |
    ((sourceByte(at + 1) | BLANK) << 8) |
    sourceByte(at + 2) |
    BLANK
  );
}

/** The month of three letters, 1 to 12; 0 when there is none. */
function monthOf(letters: u32): u32 {
  switch (letters) {
    case 0x6a616e:
      return 1;
    case 0x666562:
      return 2;
    case 0x6d6172:
      return 3;
    case 0x617072:
      return 4;
    case 0x6d6179:
      return 5;
    case 0x6a756e:
      return 6;
    case 0x6a756c:
      return 7;
    case 0x617567:
      return 8;
    case 0x736570:
      return 9;
    case 0x6f6374:
      return 10;
    case 0x6e6f76:
      return 11;
    case 0x646563:
      return 12;
    default:
      return 0;
  }
}

/** The year of a time in milliseconds. */
function yearOf(ms: f64): i32 {
  const days = <i64>floor(ms / <f64>DAY_MS);
  let year = <i32>(((days + DAYS_OF_1970) * 400) / 146_097);
  while (<i64>daysOf(year + 1, 1, 1) <= days) year++;
  while (<i64>daysOf(year, 1, 1) > days) year--;
  return year;
}

/** Milliseconds of a day and time. */
function timeOf(year: i32, month: u32, day: u32, timeMs: i64): f64 {
  return <f64>(<i64>daysOf(year, <i32>month, <i32>day) * DAY_MS + timeMs);
}

/** The year that brings a day and time nearest to `nowMs`, the earlier of two. */
function nearestYear(month: u32, day: u32, timeMs: i64, nowMs: f64): i32 {
  const nowYear = yearOf(nowMs);
  let nearest = nowYear;
  let distanceMs: f64 = Infinity;
  for (let year = nowYear - 1; year <= nowYear + 1; year++) {
    const distance = abs<f64>(timeOf(year, month, day, timeMs) - nowMs);
    if (distance >= distanceMs) continue;
    nearest = year;
    distanceMs = distance;
  }
  return nearest;
}

/** Reports whether what stands behind a date at `at` may be a part of it: a year, or a zone with a colon. */
function isContinued(at: u32): bool {
  let letters: u32 = 0;
  while (sourceByte(at + letters) - LETTER_A <= LETTER_Z - LETTER_A) letters++;
  if (letters <= ZONE_LETTERS_MAX && sourceByte(at + letters) === COLON) return true;
  let digits: u32 = 0;
  while (digits < 4 && isDigit(sourceByte(at + digits))) digits++;
  return digits === 4;
}

/** Reads the date at `from`, which is not the last one; false when it is none that is plain. */
function readDate(from: u32, receivedMs: f64): bool {
  const month = monthOf(lettersAt(from));
  const tens = sourceByte(from + 4);
  const ones = sourceByte(from + 5) - ZERO;
  const hour = twoDigits(from + 7);
  const minute = twoDigits(from + 10);
  const second = twoDigits(from + 13);
  if (month === 0 || ones > 9 || (tens !== BLANK && !isDigit(tens))) return false;
  if (sourceByte(from + 3) !== BLANK || sourceByte(from + 6) !== BLANK) return false;
  if (sourceByte(from + 9) !== COLON || sourceByte(from + 12) !== COLON) return false;
  const day = tens === BLANK ? ones : (tens - ZERO) * 10 + ones;
  // The 29th of February is not there in each year.
  const days: u32 = month === FEBRUARY ? 28 : monthDays(1970, month);
  if (day === 0 || day > days || hour > 23 || minute > 59 || second > 59) return false;
  const timeMs = <i64>((hour * 60 + minute) * 60 + second) * 1000;
  const year = nearestYear(month, day, timeMs, receivedMs);
  if (year < 0 || year > 9999) return false;
  knownFirst = sourceWord(from);
  knownLast = sourceWord(from + LAST_WORD);
  knownReceivedMs = receivedMs;
  knownMs = timeOf(year, month, day, timeMs);
  const century = digits(<u32>year / 100);
  isoFirst = century | (digits(<u32>year % 100) << 16) | (digits(month) << 40) | MINUSES;
  isoMiddle = digits(day) | ((<u64>LETTER_T) << 16) | (knownLast << 24);
  isoLast = (knownLast >>> 40) | ((<u64>LETTER_Z) << 24);
  return true;
}

/** Two digits of a number as they stand in memory. */
// @inline
function digits(value: u32): u64 {
  return <u64>((ZERO + value / 10) | ((ZERO + (value % 10)) << 8));
}

/**
 * Reads the date at `from` and adds it as the value of `node`; the offset of the blank behind it, 0 when it is for the
 * reference.
 */
export function bsdDateEnd(node: u32, from: u32, receivedMs: f64): u32 {
  const behind = from + DATE_BYTES;
  if (sourceByte(behind) !== BLANK || isContinued(behind + 1)) return 0;
  const isKnown =
    sourceWord(from) === knownFirst &&
    sourceWord(from + LAST_WORD) === knownLast &&
    receivedMs === knownReceivedMs;
  if (!isKnown && !readDate(from, receivedMs)) return 0;
  const at = sideBytes;
  setSideWord(at, isoFirst);
  setSideWord(at + 8, isoMiddle);
  setSideWord(at + 16, isoLast);
  setSideBytes(at + ISO_BYTES);
  addSlot(node, KIND_DATE, sideStart(at), ISO_BYTES, knownMs, FORM_UTC | FORM_Z);
  return behind;
}
