// biome-ignore format: a name a line would be a page.
import {
  BLANK, DIGITS_MAX, DOT, dateSlot, KIND_DATE, KIND_NULL, KIND_NUMBER, KIND_OBJECT,
  KIND_STRING, lineNode, MINUS, NODE_RANK, nodeField, SLOT_DETAIL, SLOT_KIND, SLOT_LENGTH,
  SLOT_START, setSlot, setSlotValue, slotField, slotValue, sourceByte, sourceWord, ZERO,
} from './memory.as.ts';
import { dateCount } from './slots.as.ts';

/**
 * Dates of rows, as engine/column/date-form.ts reads their texts, and with a fraction of another length, which stay
 * texts; others are for TypeScript.
 */

const DATE_BYTES_MIN: u32 = 19;
const UPPER_Z: u32 = 0x5a;
const UPPER_T: u32 = 0x54;
const COLON: u32 = 0x3a;
const PLUS: u32 = 0x2b;
const NO_DIGITS: u32 = 0xffffffff;
/** Forms are those of date-form.ts. */
const FORM_BLANK: u32 = 1 << 2;
const FORM_MILLIS: u32 = 1;
const FORM_MICROS: u32 = 2;
const FORM_UTC: u32 = 128 << 8;
const FORM_Z: u32 = 1 << 3;
const FORM_COLON: u32 = 2 << 3;
const FORM_PLAIN: u32 = 3 << 3;
const FRACTION_DIGITS_MAX: u32 = 9;
const QUARTER_MINUTES: u32 = 15;
const MINUTE_MS: i64 = 60_000;
const SAFE_MAX: i64 = 9_007_199_254_740_991;
/** Dates of events lie in [-2^47, 2^47) milliseconds. */
const LIMIT_MS: i64 = (<i64>1) << 47;
/** Numbers in [SECONDS_MIN, SECONDS_END) are seconds. */
const SECONDS_MIN: f64 = 100_000_000;
const SECONDS_END: f64 = 100_000_000_000;
const RANK_NONE: u32 = 0xffffffff;

/** Set when the date that was read last is of one of the forms. */
let isForm: bool = false;
/** The form, the value in its unit and the milliseconds of the date that was read last. */
let form: u32 = 0;
let formValue: i64 = 0;
let readMs: i64 = 0;
/** Minutes that its zone is ahead of UTC. */
let zoneMinutes: i32 = 0;

/** The minute that was read last, `yyyy-mm-ddThh:mm`, which the next date mostly shares: its bytes, what they mean. */
let knownDay: u64 = 0;
let knownTime: u64 = 0;
let knownForm: u32 = 0;
let knownMinutes: i64 = 0;

/** Two digits as a number, NO_DIGITS when they are none. */
function twoDigits(at: u32): u32 {
  const tens = sourceByte(at) - ZERO;
  const ones = sourceByte(at + 1) - ZERO;
  return tens <= 9 && ones <= 9 ? tens * 10 + ones : NO_DIGITS;
}

function threeDigits(at: u32): u32 {
  const hundreds = sourceByte(at) - ZERO;
  const rest = twoDigits(at + 1);
  return hundreds <= 9 && rest !== NO_DIGITS ? hundreds * 100 + rest : NO_DIGITS;
}

/** Days from 1970-01-01 to a date of the Gregorian calendar. */
function daysOf(year: i32, month: i32, day: i32): i32 {
  // Years before 0 do not come: January of year 0 is of the era before it.
  const y = (month <= 2 ? year - 1 : year) + 400;
  const era = y / 400;
  const yearOfEra = y - era * 400;
  const dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return (era - 1) * 146_097 + dayOfEra - 719_468;
}

function monthDays(year: u32, month: u32): u32 {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Reads a zone into `zoneMinutes` and `form`; false when it is none of the forms. */
function zone(at: u32, end: u32): bool {
  zoneMinutes = 0;
  form |= FORM_UTC;
  if (at === end) return true;
  const sign = sourceByte(at);
  if (sign === UPPER_Z && end - at === 1) {
    form |= FORM_Z;
    return true;
  }
  const hasColon = end - at === 6 && sourceByte(at + 3) === COLON;
  if ((sign !== PLUS && sign !== MINUS) || (!hasColon && end - at !== 5)) return false;
  const hours = twoDigits(at + 1);
  const minutes = twoDigits(at + (hasColon ? 4 : 3));
  if (hours > 23 || minutes > 59 || minutes % QUARTER_MINUTES !== 0) return false;
  zoneMinutes = <i32>(hours * 60 + minutes);
  if (sign === MINUS) {
    if (zoneMinutes === 0) return false;
    zoneMinutes = -zoneMinutes;
  }
  form = (form & 0xff) | ((<u32>(zoneMinutes / QUARTER_MINUTES + 128)) << 8);
  form |= hasColon ? FORM_COLON : FORM_PLAIN;
  return true;
}

/** Reads `yyyy-mm-ddThh:mm` at `start` into the known minute; false when it is none. */
function minuteText(start: u32): bool {
  const century = twoDigits(start);
  const yearOfCentury = twoDigits(start + 2);
  const month = twoDigits(start + 5);
  const day = twoDigits(start + 8);
  const hour = twoDigits(start + 11);
  const minute = twoDigits(start + 14);
  const between = sourceByte(start + 10);
  if (sourceByte(start + 4) !== MINUS || sourceByte(start + 7) !== MINUS) return false;
  if (sourceByte(start + 13) !== COLON) return false;
  if (between !== UPPER_T && between !== BLANK) return false;
  if (century === NO_DIGITS || yearOfCentury === NO_DIGITS || month - 1 > 11 || day === 0)
    return false;
  const year = century * 100 + yearOfCentury;
  if (day > monthDays(year, month) || hour > 23 || minute > 59) return false;
  knownDay = sourceWord(start);
  knownTime = sourceWord(start + 8);
  knownForm = between === BLANK ? FORM_BLANK : 0;
  const days = <i64>daysOf(<i32>year, <i32>month, <i32>day);
  knownMinutes = days * 1440 + <i64>(hour * 60 + minute);
  return true;
}

/** Reads `[start, end)` of the source as a date, of one of the forms but for its fraction; false when it is none. */
function dateText(start: u32, end: u32): bool {
  if (end - start < DATE_BYTES_MIN) return false;
  const isKnown = sourceWord(start) === knownDay && sourceWord(start + 8) === knownTime;
  if (!isKnown && !minuteText(start)) return false;
  const second = twoDigits(start + 17);
  if (sourceByte(start + 16) !== COLON || second > 59) return false;
  form = knownForm;
  isForm = true;
  let at = start + DATE_BYTES_MIN;
  let micros: u32 = 0;
  if (at < end && sourceByte(at) === DOT) {
    let digits: u32 = 0;
    while (at + 1 + digits < end && sourceByte(at + 1 + digits) - ZERO <= 9) digits++;
    if (digits === 0 || digits > FRACTION_DIGITS_MAX) return false;
    isForm = digits === 3 || digits === 6;
    for (let digit: u32 = 1; digit <= 3; digit++) {
      micros = micros * 10 + (digit <= digits ? sourceByte(at + digit) - ZERO : 0);
    }
    micros *= 1000;
    if (digits === 6) micros += threeDigits(at + 4);
    form |= digits === 6 ? FORM_MICROS : FORM_MILLIS;
    at += 1 + digits;
  }
  if (!zone(at, end)) return false;
  const baseMs = (knownMinutes - <i64>zoneMinutes) * MINUTE_MS + <i64>(second * 1000);
  const isMicros = (form & 3) === FORM_MICROS;
  readMs = baseMs + <i64>(micros / 1000);
  formValue = isMicros ? baseMs * 1000 + <i64>micros : readMs;
  return (
    formValue >= -SAFE_MAX && formValue <= SAFE_MAX && readMs >= -LIMIT_MS && readMs < LIMIT_MS
  );
}

/** Milliseconds of a number with `detail` fraction digits, as numberDate of date.ts has them. */
function millis(value: f64, detail: u32): f64 {
  const whole = value / power(detail);
  const isSeconds = whole >= SECONDS_MIN && whole < SECONDS_END;
  if (!isSeconds) return floor(value / power(detail));
  return detail > 3 ? floor(value / power(detail - 3)) : value * power(3 - detail);
}

/** A power of ten, which is exact: there are no more digits than DIGITS_MAX. */
function power(exponent: u32): f64 {
  let product: f64 = 1;
  for (let left = exponent; left > 0; left--) product *= 10;
  return product;
}

/** Reads a slot as a date, and makes it one when it is a text; false when that is for TypeScript. */
function slotDate(slot: u32): bool {
  const kind = slotField(slot, SLOT_KIND);
  if (kind === KIND_STRING) {
    const start = slotField(slot, SLOT_START);
    if (<i32>start < 0 || !dateText(start, start + slotField(slot, SLOT_LENGTH))) return false;
    if (!isForm) return true;
    setSlot(slot, SLOT_KIND, KIND_DATE);
    setSlot(slot, SLOT_DETAIL, form);
    setSlotValue(slot, <f64>formValue);
    return true;
  }
  if (kind === KIND_DATE) {
    // One without a fraction, of a syslog header.
    readMs = <i64>slotValue(slot);
    return true;
  }
  if (kind !== KIND_NUMBER || slotField(slot, SLOT_DETAIL) > DIGITS_MAX) return false;
  const ms = millis(slotValue(slot), slotField(slot, SLOT_DETAIL));
  if (!(ms >= -(<f64>LIMIT_MS) && ms < <f64>LIMIT_MS)) return false;
  readMs = <i64>ms;
  return true;
}

/**
 * The date of the row of the slots, `receivedMs` when it has none; those that are texts become dates. NaN when one of
 * them is for TypeScript: then all are texts still.
 */
export function rowDate(receivedMs: f64): f64 {
  let bestRank = RANK_NONE;
  let ms = receivedMs;
  for (let number: u32 = 0; number < dateCount; number++) {
    const slot = dateSlot(number);
    const rank = nodeField(lineNode(slot), NODE_RANK);
    const kind = slotField(slot, SLOT_KIND);
    if (kind === KIND_NULL || kind === KIND_OBJECT) continue;
    if (!slotDate(slot)) {
      undoDates(number);
      return NaN;
    }
    if (rank < bestRank) {
      bestRank = rank;
      ms = <f64>readMs;
    }
  }
  return ms;
}

/** Makes the first `count` values that may be dates texts again. */
function undoDates(count: u32): void {
  for (let number: u32 = 0; number < count; number++) {
    const slot = dateSlot(number);
    if (slotField(slot, SLOT_KIND) !== KIND_DATE) continue;
    setSlot(slot, SLOT_KIND, KIND_STRING);
    setSlot(slot, SLOT_DETAIL, 0);
    setSlotValue(slot, 0);
  }
}

export { daysOf, FORM_UTC, FORM_Z, monthDays, twoDigits };
