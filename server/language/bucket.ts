import type { DateUnit } from './date-math.ts';
import { instantOf, type Zone } from './zone.ts';

/** Time buckets of a reply. Source: INTERFACE.md 4.8. */
export const TIME_BUCKETS_MAX = 10_000;

/** Lengths of units; those of months and years are means. */
const UNIT_MS: Record<DateUnit, number> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  M: 2_629_746_000,
  y: 31_556_952_000,
};
const DAY_MS = UNIT_MS.d;
/** Longer intervals would begin before all dates that can be written. */
const INTERVAL_MS_MAX = 30 * UNIT_MS.y;
/** Less than what lies between two changes of any zone: seven days, in Recife in 2000. */
const CHANGES_APART_MS = 6 * UNIT_MS.d;
/** 1970-01-01 was a Thursday: days from a Monday to it. */
const MONDAY_BIAS_DAYS = 3;

/** A length of time buckets: so many units of the calendar. */
export interface Interval {
  count: number;
  unit: DateUnit;
}

/** Reads `1s`, `15m`, `6h`, `1d`, `1w`, `1M`, `1y`; `undefined` when it is none, or longer than 30 years. */
export function parseInterval(text: string): Interval | undefined {
  const parts = /^([1-9]\d{0,9})([smhdwMy])$/.exec(text);
  if (parts === null) return undefined;
  const count = Number(parts[1]);
  const unit = parts[2] as DateUnit;
  return count * UNIT_MS[unit] <= INTERVAL_MS_MAX ? { count, unit } : undefined;
}

/** Buckets that a range has about; exact for hours and less. */
export function bucketCount({ count, unit }: Interval, fromMs: number, toMs: number): number {
  return Math.ceil((toMs - fromMs) / (count * UNIT_MS[unit]));
}

/**
 * Where the time buckets of `fromMs <= date < toMs` begin, and where the last one ends, in the calendar of `zone`:
 * hours, minutes and seconds at multiples of the interval on the clock, so that a day of 23 hours has a shorter bucket;
 * days at midnight, weeks on Monday. Several days, weeks, months and years are counted from 1970 or the year 0. A
 * bucket whose begin clocks skip begins where they go on, and one that they skip as a whole is left out. An hour that
 * clocks show twice has a bucket each time. `undefined` when there are more than TIME_BUCKETS_MAX. Source: INTERFACE.md
 * 4.8.
 */
export function boundariesOf(
  interval: Interval,
  fromMs: number,
  toMs: number,
  zone: Zone,
): number[] | undefined {
  if (bucketCount(interval, fromMs, toMs) > TIME_BUCKETS_MAX * 2) return undefined;
  const ofClock = interval.unit === 's' || interval.unit === 'm' || interval.unit === 'h';
  const calendar = ofClock ? clock(interval, zone) : days(interval, zone);
  let at = calendar.start(fromMs);
  // Where clocks show midnight twice, a later bucket may have begun.
  for (let next = calendar.next(at); next <= fromMs; next = calendar.next(at)) at = next;
  const boundaries = [at];
  while (at < toMs) {
    at = calendar.next(at);
    boundaries.push(at);
    if (boundaries.length > TIME_BUCKETS_MAX + 1) return undefined;
  }
  return boundaries;
}

/** Begins of buckets: the last one not after an instant, and the one after a begin. */
interface Calendar {
  start(ms: number): number;
  next(ms: number): number;
}

/**
 * Buckets that begin at multiples of the interval on the clock, and where a change of the clock leads into another one.
 */
function clock({ count, unit }: Interval, zone: Zone): Calendar {
  const stepMs = count * UNIT_MS[unit];
  const numberOf = (wallMs: number) => Math.floor(wallMs / stepMs);
  const begins = (change: number): boolean => {
    const wall = change + zone.offsetAt(change);
    return (
      wall % stepMs === 0 || numberOf(wall) !== numberOf(change - 1 + zone.offsetAt(change - 1))
    );
  };
  return {
    start(ms) {
      for (let at = ms; ; ) {
        const offset = zone.offsetAt(at);
        const start = numberOf(at + offset) * stepMs - offset;
        const change = lastChange(zone, start, at);
        if (change === undefined) return start;
        if (begins(change)) return change;
        at = change - 1;
      }
    },
    next(ms) {
      for (let at = ms; ; ) {
        const offset = zone.offsetAt(at);
        const next = (numberOf(at + offset) + 1) * stepMs - offset;
        const change = firstChange(zone, at, next);
        if (change === undefined) return next;
        if (begins(change)) return change;
        at = change;
      }
    },
  };
}

/** The first change of a zone's offset in `fromMs < change <= toMs`. */
function firstChange(zone: Zone, fromMs: number, toMs: number): number | undefined {
  for (let at = fromMs; at < toMs; at += CHANGES_APART_MS) {
    const end = Math.min(at + CHANGES_APART_MS, toMs);
    if (zone.offsetAt(at) !== zone.offsetAt(end)) return changeBetween(zone, at, end);
  }
  return undefined;
}

/** The last change of a zone's offset in `fromMs < change <= toMs`. */
function lastChange(zone: Zone, fromMs: number, toMs: number): number | undefined {
  for (let end = toMs; end > fromMs; end -= CHANGES_APART_MS) {
    const at = Math.max(end - CHANGES_APART_MS, fromMs);
    if (zone.offsetAt(at) !== zone.offsetAt(end)) return changeBetween(zone, at, end);
  }
  return undefined;
}

/** The change of a zone's offset between two instants that have different ones. */
function changeBetween(zone: Zone, fromMs: number, toMs: number): number {
  const offset = zone.offsetAt(fromMs);
  let low = fromMs;
  let high = toMs;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (zone.offsetAt(middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}

/** Buckets that begin with days. */
function days({ count, unit }: Interval, zone: Zone): Calendar {
  const dayOf = (ms: number) => Math.floor((ms + zone.offsetAt(ms)) / DAY_MS);
  const isOfMonths = unit === 'M' || unit === 'y';
  const length = unit === 'w' ? count * 7 : unit === 'y' ? count * 12 : count;
  const bias = unit === 'w' ? MONDAY_BIAS_DAYS : 0;
  /** The bucket that an instant is in, counted from that of day 0 or month 0. */
  const numberOf = (ms: number): number =>
    Math.floor((isOfMonths ? monthOf(dayOf(ms)) : dayOf(ms) + bias) / length);
  const begin = (number: number): number =>
    firstInstant(zone, isOfMonths ? daysOfMonth(number * length) : number * length - bias);
  return {
    start: (ms) => begin(numberOf(ms)),
    next(ms) {
      let number = numberOf(ms) + 1;
      while (begin(number) <= ms) number++;
      return begin(number);
    },
  };
}

/** The first instant of a day, or of what follows it where clocks skip it; `day` counts from 1970-01-01. */
function firstInstant(zone: Zone, day: number): number {
  const begin = instantOf(zone, day * DAY_MS);
  if (begin + zone.offsetAt(begin) === day * DAY_MS) return begin;
  return lastChange(zone, begin - DAY_MS, begin) ?? begin;
}

/** The month of a day from 1970-01-01, counted from that of the year 0. */
function monthOf(day: number): number {
  const date = new Date(day * DAY_MS);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Days from 1970-01-01 to the first of a month, which is counted from that of the year 0. */
function daysOfMonth(months: number): number {
  const date = new Date(0);
  const year = Math.floor(months / 12);
  date.setUTCFullYear(year, months - year * 12, 1);
  return date.getTime() / DAY_MS;
}
