import { wallDate } from './zone.ts';

/** Numbers and dates as they are shown. The locale is explicit: a POSIX one must not break the page. */

const LOCALE = 'en-US';
const WHOLE = new Intl.NumberFormat(LOCALE);
const SHORT = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });
const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A number with its thousands apart. */
export function whole(value: number): string {
  return WHOLE.format(value);
}

/** A number in a few characters. */
export function short(value: number): string {
  return SHORT.format(value);
}

/** Bytes in a unit of thousands. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 999.5 && unit < BYTE_UNITS.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

/** A part of a whole in percent. */
export function percent(part: number, all: number): string {
  if (all === 0) return '0\u00a0%';
  const value = (100 * part) / all;
  if (value > 0 && value < 0.1) return '<\u00a00.1\u00a0%';
  return `${value >= 10 || value === 0 ? Math.round(value) : value.toFixed(1)}\u00a0%`;
}

/** Milliseconds as people say them. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} days`;
}

/** How long ago an instant was. */
export function ago(ms: number, nowMs = Date.now()): string {
  const past = nowMs - ms;
  if (past < 5_000) return 'just now';
  return `${duration(past)} ago`;
}

/** The date and time of a row: `Nov 23 13:02:11.123`. */
export function rowTime(ms: number, zone: string): string {
  return `${shortDay(ms, zone)} ${clock(ms, zone, true)}`;
}

/** A day without its year: `Nov 23`. */
export function shortDay(ms: number, zone: string): string {
  const { month, day } = wallDate(ms, zone);
  return `${MONTHS[month - 1]} ${two(day)}`;
}

/** A date in full: `2026-11-23 13:02:11.123`. */
export function fullTime(ms: number, zone: string): string {
  return `${isoDay(ms, zone)} ${clock(ms, zone, true)}`;
}

/** A date without what is not needed to tell it: `2026-11-23 13:02`. */
export function pointTime(ms: number, zone: string): string {
  const hasSeconds = ms % 60_000 !== 0;
  const text = clock(ms, zone, ms % 1_000 !== 0);
  return `${isoDay(ms, zone)} ${hasSeconds ? text : text.slice(0, 5)}`;
}

/** The day of an instant: `2026-11-23`. */
export function isoDay(ms: number, zone: string): string {
  const { year, month, day } = wallDate(ms, zone);
  return `${year}-${two(month)}-${two(day)}`;
}

/** The time of day: `13:02:11`. */
export function clock(ms: number, zone: string, hasFraction = false): string {
  const { hour, minute, second, ms: fraction } = wallDate(ms, zone);
  const text = `${two(hour)}:${two(minute)}:${two(second)}`;
  return hasFraction ? `${text}.${String(fraction).padStart(3, '0')}` : text;
}

/** `1 event`, `2 events`. */
export function counted(count: number, noun: string): string {
  return `${whole(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
