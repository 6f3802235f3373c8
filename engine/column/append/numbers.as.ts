import { fromRow } from './lists.as.ts';
import { blockTime } from './memory.as.ts';
// biome-ignore format: a name a line would be longer.
import {
  byte, endRegion, metaByte, metaNumber, putStream, SAFE_MAX, streamGreatest, streamLeast, valueAt,
  varint,
} from './region.as.ts';

/**
 * Numbers and dates of a column, and their zones, as BlockEncoder writes them. Memory: see memory.as.ts.
 */

// Forms and rules of rows.ts, number-text.ts, dates.ts and directory.ts.
const NUMBER_AS_TEXT: u32 = 0xffff;
const RULE_FIXED: u32 = 0;
const RULE_SHORTEST: u32 = 1;
const RULE_POINT: u32 = 2;
const FORM_FRACTION: u32 = 3;
const FORM_MICROS: u32 = 2;
const FROM_EPOCH: u32 = 0;
const FROM_EVENT: u32 = 1;
const ZONE_POINT: u32 = 1;
const ZONE_RANGE: u32 = 2;

/** Writes the zone of numbers or dates, and ends their region. */
function endZoned(least: f64, greatest: f64): void {
  metaByte(least === greatest ? ZONE_POINT : ZONE_RANGE);
  metaNumber(least);
  if (least !== greatest) metaNumber(greatest);
  endRegion();
}

function powerOfTen(exponent: u32): f64 {
  let power: f64 = 1;
  for (let at: u32 = 0; at < exponent; at++) power *= 10;
  return power;
}

/** Reports whether all numbers have the same count of fraction digits, and none is a text. */
function isUniform(details: u32, count: u32): bool {
  const first = load<u16>(details);
  if (first === NUMBER_AS_TEXT) return false;
  for (let index: u32 = 1; index < count; index++) {
    if (load<u16>(details + 2 * index) !== first) return false;
  }
  return true;
}

/** Writes numbers as `writeNumbers` does; false when some are texts, exceptions or stored as doubles. */
function putNumbers(details: u32, values: u32, count: u32): bool {
  if (!isUniform(details, count)) return putMixedNumbers(details, values, count);
  const scale = <u32>load<u16>(details);
  byte(RULE_FIXED);
  byte(scale);
  varint(0);
  memory.copy(valueAt(0), values, 8 * count);
  if (!putStream(count, false)) return false;
  const unit = powerOfTen(scale);
  endZoned(streamLeast / unit, streamGreatest / unit);
  return true;
}

/** Does that with numbers of several counts of fraction digits. */
function putMixedNumbers(details: u32, values: u32, count: u32): bool {
  let isShortest = true;
  let isPoint = true;
  let scale: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    const digits = <u32>load<u16>(details + 2 * index);
    if (digits === NUMBER_AS_TEXT) return false;
    const isTrimmed = digits === 0 || <i64>load<f64>(values + 8 * index) % 10 !== 0;
    if (!isTrimmed) isShortest = false;
    if (digits !== 1 && (digits === 0 || !isTrimmed)) isPoint = false;
    scale = max(scale, digits);
  }
  if (!isShortest && !isPoint) return false;
  let least: f64 = Infinity;
  let greatest: f64 = -Infinity;
  for (let index: u32 = 0; index < count; index++) {
    const mantissa = load<f64>(values + 8 * index);
    const digits = <u32>load<u16>(details + 2 * index);
    const number = mantissa / powerOfTen(digits);
    if (number < least) least = number;
    if (number > greatest) greatest = number;
    const stored = mantissa * powerOfTen(scale - digits);
    if (abs(stored) > SAFE_MAX) return false;
    store<f64>(valueAt(index), stored);
  }
  byte(isShortest ? RULE_SHORTEST : RULE_POINT);
  byte(scale);
  varint(0);
  if (!putStream(count, false)) return false;
  endZoned(least, greatest);
  return true;
}

/** The time of a row in the unit of a form of dates. */
function eventValue(row: u32, form: u32): f64 {
  const time = blockTime(row - fromRow);
  return (form & FORM_FRACTION) === FORM_MICROS ? time * 1_000 : time;
}

function isSafe(value: f64): bool {
  return Math.floor(value) === value && abs(value) <= SAFE_MAX;
}

/** Writes dates as `writeDates` does; false when some are stored as doubles. */
function putDates(rows: u32, forms: u32, values: u32, count: u32): bool {
  let isExact = true;
  let least: f64 = Infinity;
  let greatest: f64 = -Infinity;
  for (let index: u32 = 0; index < count; index++) {
    const form = <u32>load<u16>(forms + 2 * index);
    const value = load<f64>(values + 8 * index);
    const event = eventValue(<u32>load<u16>(rows + 2 * index), form);
    if (!isSafe(event) || !isSafe(value - event)) isExact = false;
    const isMicros = (form & FORM_FRACTION) === FORM_MICROS;
    const time = isMicros ? Math.floor(value / 1_000) : value;
    const end = time === value || time * 1_000 === value ? time : time + 1;
    if (time < least) least = time;
    if (end > greatest) greatest = end;
    store<f64>(valueAt(index), <f64>form);
  }
  byte(isExact ? FROM_EVENT : FROM_EPOCH);
  if (!putStream(count, true)) return false;
  for (let index: u32 = 0; index < count; index++) {
    const form = <u32>load<u16>(forms + 2 * index);
    const event = isExact ? eventValue(<u32>load<u16>(rows + 2 * index), form) : 0;
    store<f64>(valueAt(index), load<f64>(values + 8 * index) - event);
  }
  if (!putStream(count, false)) return false;
  endZoned(least, greatest);
  return true;
}

export { putDates, putNumbers };
