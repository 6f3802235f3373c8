import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../engine/base/durations.ts';
import { daysFromCivil, daysInMonth } from '../../engine/column/date-form.ts';
import { instantOf, type Zone } from './zone.ts';

const SECOND_MS = 1_000;
/** 1970-01-01 was a Thursday: days from a Monday to it. */
const MONDAY_BIAS_DAYS = 3;

/** Units of date math: second, minute, hour, day, week (from Monday), month, year. Source: INTERFACE.md 4.2. */
export type DateUnit = 's' | 'm' | 'h' | 'd' | 'w' | 'M' | 'y';

const WHOLE = /^now(?:\s*(?:[+-]\s*\d{1,9}\s*[smhdwMy]|\/\s*[smhdwMy]))*$/;
const TERM = /([+-]|\/)\s*(\d*)\s*([smhdwMy])/g;

/**
 * The instant that date math such as `now`, `now-15m`, `now - 1M/M + 3h` denotes, in epoch milliseconds;
 * `undefined` when `text` is not date math. Terms apply from left to right, `/` rounds down.
 * Days and longer follow the calendar of `zone`, so that a day has 23 or 25 hours where clocks change.
 */
export function evaluateDateMath(text: string, zone: Zone, nowMs: number): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  let ms = nowMs;
  for (const [, sign, count, unit] of text.slice(3).matchAll(TERM)) {
    const dateUnit = unit as DateUnit;
    if (sign === '/') ms = startOfUnit(zone, ms, dateUnit);
    else ms = addUnits(zone, ms, sign === '-' ? -Number(count) : Number(count), dateUnit);
  }
  return ms;
}

/**
 * `count` units later. Seconds to hours are exact lengths; longer ones keep the wall clock, and a day that a month
 * lacks becomes its last.
 */
export function addUnits(zone: Zone, ms: number, count: number, unit: DateUnit): number {
  if (unit === 's') return ms + count * SECOND_MS;
  if (unit === 'm') return ms + count * MINUTE_MS;
  if (unit === 'h') return ms + count * HOUR_MS;
  const offsetMs = zone.offsetAt(ms);
  const wallMs = ms + offsetMs;
  if (unit === 'd') return instantOf(zone, wallMs + count * DAY_MS, offsetMs);
  if (unit === 'w') return instantOf(zone, wallMs + count * 7 * DAY_MS, offsetMs);
  return instantOf(zone, addMonths(wallMs, unit === 'M' ? count : count * 12), offsetMs);
}

/** The last instant not after `ms` at which a second, minute, ..., year of the zone's calendar begins. */
export function startOfUnit(zone: Zone, ms: number, unit: DateUnit): number {
  const offsetMs = zone.offsetAt(ms);
  return instantOf(zone, wallStartOfUnit(ms + offsetMs, unit), offsetMs);
}

function wallStartOfUnit(wallMs: number, unit: DateUnit): number {
  if (unit === 's') return Math.floor(wallMs / SECOND_MS) * SECOND_MS;
  if (unit === 'm') return Math.floor(wallMs / MINUTE_MS) * MINUTE_MS;
  if (unit === 'h') return Math.floor(wallMs / HOUR_MS) * HOUR_MS;
  const days = Math.floor(wallMs / DAY_MS);
  if (unit === 'd') return days * DAY_MS;
  if (unit === 'w') {
    const weeks = Math.floor((days + MONDAY_BIAS_DAYS) / 7);
    return (weeks * 7 - MONDAY_BIAS_DAYS) * DAY_MS;
  }
  const date = new Date(wallMs);
  const month = unit === 'M' ? date.getUTCMonth() + 1 : 1;
  return daysFromCivil(date.getUTCFullYear(), month, 1) * DAY_MS;
}

function addMonths(wallMs: number, count: number): number {
  const date = new Date(wallMs);
  const months = date.getUTCFullYear() * 12 + date.getUTCMonth() + count;
  const year = Math.floor(months / 12);
  const month = months - year * 12 + 1;
  const day = Math.min(date.getUTCDate(), daysInMonth(year, month));
  const timeOfDayMs = wallMs - Math.floor(wallMs / DAY_MS) * DAY_MS;
  return daysFromCivil(year, month, day) * DAY_MS + timeOfDayMs;
}
