/**
 * Date texts that are stored as (form, value) and printed back byte for byte.
 *
 * A form is 16 bits: bits 0-1 the fraction (0 none, 1 three digits, 2 six digits), bit 2 a blank instead of `T`,
 * bits 3-4 the zone (0 none, 1 `Z`, 2 `+hh:mm`, 3 `+hhmm`), bits 8-15 the zone's offset in quarter hours plus 128.
 * The value counts milliseconds since the epoch (UTC), microseconds when the fraction has six digits.
 * Source: FORMAT.md 4, INTERFACE.md 1.2.
 */

const FRACTION_NONE = 0;
const FRACTION_MILLIS = 1;
const FRACTION_MICROS = 2;
const BLANK = 1 << 2;
const ZONE_SHIFT = 3;
const ZONE_NONE = 0;
const ZONE_Z = 1;
const ZONE_COLON = 2;
const ZONE_PLAIN = 3;
const OFFSET_SHIFT = 8;
const OFFSET_BIAS = 128;
const QUARTER_MS = 900_000;

/** Result of `parseDateForm`. Each caller has one, so that nothing is allocated per event. */
export interface DateFormResult {
  form: number;
  value: number;
  /** Milliseconds since the epoch, whatever the unit of `value` (microseconds are cut, towards the past). */
  timeMs: number;
}

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** Days of a month of the Gregorian calendar. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** `count` decimal digits at `at` as a number; -1 when one of them is not a digit. */
export function digitsAt(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let index = at; index < at + count; index++) {
    const digit = bytes[index] - 0x30;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * Recognises `bytes[start, end)` as one of the forms; false when it is none, or would not print back the same.
 * Fills `result`. Years are 0000 to 9999; second 60 is none of the forms.
 */
export function parseDateForm(
  bytes: Uint8Array,
  start: number,
  end: number,
  result: DateFormResult,
): boolean {
  if (end - start < 19 || bytes[start + 4] !== 0x2d || bytes[start + 7] !== 0x2d) return false;
  const year = digitsAt(bytes, start, 4);
  const month = digitsAt(bytes, start + 5, 2);
  const day = digitsAt(bytes, start + 8, 2);
  const hour = digitsAt(bytes, start + 11, 2);
  const minute = digitsAt(bytes, start + 14, 2);
  const second = digitsAt(bytes, start + 17, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month))
    return false;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false;
  if (bytes[start + 13] !== 0x3a || bytes[start + 16] !== 0x3a) return false;
  const separator = bytes[start + 10];
  if (separator !== 0x54 && separator !== 0x20) return false;

  let at = start + 19;
  let form = separator === 0x20 ? BLANK : 0;
  let micros = 0;
  if (at < end && bytes[at] === 0x2e) {
    let digits = 0;
    while (at + 1 + digits < end && (bytes[at + 1 + digits] - 0x30) >>> 0 <= 9) digits++;
    if (digits === 3) micros = digitsAt(bytes, at + 1, 3) * 1000;
    else if (digits === 6) micros = digitsAt(bytes, at + 1, 6);
    else return false;
    form |= digits === 3 ? FRACTION_MILLIS : FRACTION_MICROS;
    at += 1 + digits;
  }
  const zone = parseZone(bytes, at, end);
  if (zone < 0) return false;
  form |= zone;
  const quarters = (zone >>> OFFSET_SHIFT) - OFFSET_BIAS;
  const seconds = daysFromCivil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
  const baseMs = seconds * 1000 - quarters * QUARTER_MS;
  result.form = form;
  result.value = (form & 3) === FRACTION_MICROS ? baseMs * 1000 + micros : baseMs + micros / 1000;
  result.timeMs = baseMs + Math.floor(micros / 1000);
  return Number.isSafeInteger(result.value);
}

/** The zone's bits of a form from the text `bytes[at, end)`; -1 when it is not one that prints back. */
function parseZone(bytes: Uint8Array, at: number, end: number): number {
  const none = OFFSET_BIAS << OFFSET_SHIFT;
  if (at === end) return none | (ZONE_NONE << ZONE_SHIFT);
  if (end - at === 1 && bytes[at] === 0x5a) return none | (ZONE_Z << ZONE_SHIFT);
  const negative = bytes[at] === 0x2d;
  if (!negative && bytes[at] !== 0x2b) return -1;
  const colon = end - at === 6 && bytes[at + 3] === 0x3a;
  if (!colon && end - at !== 5) return -1;
  const hours = digitsAt(bytes, at + 1, 2);
  const minutes = digitsAt(bytes, at + (colon ? 4 : 3), 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || minutes % 15 !== 0) return -1;
  const quarters = hours * 4 + minutes / 15;
  if (negative && quarters === 0) return -1;
  const biased = (negative ? -quarters : quarters) + OFFSET_BIAS;
  return (biased << OFFSET_SHIFT) | ((colon ? ZONE_COLON : ZONE_PLAIN) << ZONE_SHIFT);
}

/** A whole number from 0 on, with zeros before it up to `width` digits. */
export function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

/** Prints a date as it was written. The inverse of `parseDateForm`. */
export function printDate(value: number, form: number): string {
  const micros = (form & 3) === FRACTION_MICROS;
  const ms = micros ? Math.floor(value / 1000) : value;
  const quarters = (form >>> OFFSET_SHIFT) - OFFSET_BIAS;
  const local = new Date(ms + quarters * QUARTER_MS);
  const date = `${pad(local.getUTCFullYear(), 4)}-${pad(local.getUTCMonth() + 1, 2)}-${pad(local.getUTCDate(), 2)}`;
  const time = `${pad(local.getUTCHours(), 2)}:${pad(local.getUTCMinutes(), 2)}:${pad(local.getUTCSeconds(), 2)}`;
  const milliseconds = pad(local.getUTCMilliseconds(), 3);
  let fraction = '';
  if (micros) fraction = `.${milliseconds}${pad(value - ms * 1000, 3)}`;
  else if ((form & 3) !== FRACTION_NONE) fraction = `.${milliseconds}`;
  return `${date}${form & BLANK ? ' ' : 'T'}${time}${fraction}${printZone((form >>> ZONE_SHIFT) & 3, quarters)}`;
}

function printZone(zone: number, quarters: number): string {
  if (zone === ZONE_NONE) return '';
  if (zone === ZONE_Z) return 'Z';
  const minutes = Math.abs(quarters) * 15;
  const sign = quarters < 0 ? '-' : '+';
  const colon = zone === ZONE_COLON ? ':' : '';
  return `${sign}${pad(Math.floor(minutes / 60), 2)}${colon}${pad(minutes % 60, 2)}`;
}

/** Milliseconds since the epoch of a stored date value. */
export function dateMillis(value: number, form: number): number {
  return (form & 3) === FRACTION_MICROS ? Math.floor(value / 1000) : value;
}
