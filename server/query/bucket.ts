import { addUnits, type DateUnit } from './date-math.ts';
import { instantOf, type Zone } from './zone.ts';

/** Time buckets of a reply. Source: decisions.md 5b.3. */
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
 * hours, minutes and seconds at multiples of the interval on the clock, so that a day of 23 hours has a shorter bucket; days
 * at midnight, weeks on Monday. Several days, weeks, months and years are counted from 1970 or the year 0. An hour that
 * clocks show twice has a bucket each time. `undefined` when there are more than TIME_BUCKETS_MAX.
 * Source: decisions.md 5.3, 5b.3.
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
  const boundaries = [calendar.start(fromMs)];
  for (let at = boundaries[0]; at < toMs; ) {
    at = calendar.next(at);
    boundaries.push(at);
    if (boundaries.length > TIME_BUCKETS_MAX + 1) return undefined;
  }
  return boundaries;
}

/** Where buckets begin: the last begin not after an instant, and the one after a begin. */
interface Calendar {
  start(ms: number): number;
  next(ms: number): number;
}

/** Buckets that begin at multiples of the interval on the clock. */
function clock({ count, unit }: Interval, zone: Zone): Calendar {
  const stepMs = count * UNIT_MS[unit];
  /** The last multiple not after `ms` on a clock that is `offsetMs` ahead of UTC. */
  const floor = (ms: number, offsetMs: number) =>
    Math.floor((ms + offsetMs) / stepMs) * stepMs - offsetMs;
  return {
    start(ms) {
      const start = floor(ms, zone.offsetAt(ms));
      const offsetBefore = zone.offsetAt(start);
      if (offsetBefore === zone.offsetAt(ms)) return start;
      return floor(changeBetween(zone, start, ms) - 1, offsetBefore);
    },
    next(ms) {
      const offset = zone.offsetAt(ms);
      const next = floor(ms, offset) + stepMs;
      if (zone.offsetAt(next) === offset) return next;
      const change = changeBetween(zone, ms, next);
      const offsetAfter = zone.offsetAt(change);
      const last = floor(change, offsetAfter);
      return last === change ? change : last + stepMs;
    },
  };
}

/** The first instant after `fromMs` at which the zone has another offset; it has one at `toMs`. */
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
  /** The first instant of a day; `day` counts from 1970-01-01. */
  const instant = (day: number) => instantOf(zone, day * DAY_MS);
  const dayOf = (ms: number) => Math.floor((ms + zone.offsetAt(ms)) / DAY_MS);
  const start = (ms: number): number => {
    const day = dayOf(ms);
    if (unit === 'd') return instant(day - modulo(day, count));
    if (unit === 'w') return instant(day - modulo(day + MONDAY_BIAS_DAYS, count * 7));
    const wall = new Date(day * DAY_MS);
    const months = wall.getUTCFullYear() * 12 + wall.getUTCMonth();
    const first = months - modulo(months, unit === 'y' ? count * 12 : count);
    return instant(daysOfMonth(first));
  };
  return {
    start,
    next(ms) {
      const after = start(addUnits(zone, ms, count, unit));
      return after > ms ? after : start(ms + count * UNIT_MS[unit] + DAY_MS);
    },
  };
}

/** Days from 1970-01-01 to the first of a month, which is counted from that of the year 0. */
function daysOfMonth(months: number): number {
  const date = new Date(0);
  date.setUTCFullYear(Math.floor(months / 12), modulo(months, 12), 1);
  return date.getTime() / DAY_MS;
}

function modulo(value: number, divisor: number): number {
  return value - Math.floor(value / divisor) * divisor;
}
