import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../engine/base/durations.ts';
import { daysFromCivil, pad } from '../../engine/column/date-form.ts';

/** Farthest offset from UTC in seconds: 14 hours. Source: INTERFACE.md 4.2. */
const OFFSET_SECONDS_MAX = 50_400;
const OFFSET_MS_MAX = 50_400_000;
/** Milliseconds around 1970 that a `Date` holds. */
const DATE_MS_MAX = 8_640_000_000_000_000;
/** Instant since which all clocks change at whole quarter hours (UTC); the last that did not was Monrovia's in 1972. */
const QUARTERS_SINCE_MS = Date.UTC(1973, 0, 1);
const QUARTER_MS = 900_000;
/** Days of a zone whose offsets are remembered: 11 years, 400 KB. */
const DAYS_REMEMBERED_MAX = 4_096;

/** A time zone. `offsetAt` is what is added to an instant (epoch milliseconds) to get its wall clock. */
export interface Zone {
  /** An IANA name, `UTC`, or `+hh:mm`; `parseZone` reads it back. */
  name: string;
  offsetAt(ms: number): number;
}

/** Coordinated universal time. */
export const UTC: Zone = { name: 'UTC', offsetAt: () => 0 };

/** IANA zones that were asked for, by canonical name: formatters are dear to make. */
const namedZones = new Map<string, Zone>();

/**
 * The zone that `text` names: IANA (`Europe/Paris`), `UTC`, `GMT`, or `UTC+1`, `UTC+01:00`, `+01:00` up to 14 hours,
 * all without regard to case. `undefined` when it names none. Source: INTERFACE.md 4.2.
 */
export function parseZone(text: string): Zone | undefined {
  if (/^(?:utc|gmt|z)$/i.test(text)) return UTC;
  const fixed = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?([0-5]\d))?$/i.exec(text);
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3] ?? 0);
    if (minutes * MINUTE_MS > OFFSET_MS_MAX) return undefined;
    return fixedZone((fixed[1] === '-' ? -minutes : minutes) * MINUTE_MS);
  }
  return namedZones.get(text) ?? namedZone(text);
}

/**
 * The zone `offset` east of UTC: seconds up to 50,400, milliseconds above that, `undefined` above 50,400,000 (both
 * ways). Cut to whole minutes, because ISO 8601 writes no finer ones. Source: INTERFACE.md 4.2.
 */
export function zoneOfOffset(offset: number): Zone | undefined {
  const size = Math.abs(offset);
  if (!(size <= OFFSET_MS_MAX)) return undefined;
  const ms = size <= OFFSET_SECONDS_MAX ? offset * 1000 : offset;
  return fixedZone(Math.trunc(ms / MINUTE_MS) * MINUTE_MS);
}

function fixedZone(offsetMs: number): Zone {
  return offsetMs === 0 ? UTC : { name: offsetText(offsetMs), offsetAt: () => offsetMs };
}

function namedZone(text: string): Zone | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: text,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return undefined;
  }
  const name = format.resolvedOptions().timeZone;
  if (name === 'UTC' || name === 'Etc/UTC' || name === 'Etc/GMT' || name === 'GMT') return UTC;
  let zone = namedZones.get(name);
  if (zone === undefined) {
    zone = { name, offsetAt: remembering((ms) => wallClockOf(format, ms) - ms) };
    namedZones.set(name, zone);
  }
  return zone;
}

/**
 * Remembers the offsets at which days begin (UTC): where two neighbours agree, all between has that offset too, for no
 * zone has changed its clocks there and back within a day. On other days the last quarter hour's.
 */
function remembering(offsetAt: (ms: number) => number): (ms: number) => number {
  const dayOffsets = new Map<number, number>();
  const offsetOfDay = (day: number): number => {
    let offset = dayOffsets.get(day);
    if (offset === undefined) {
      offset = offsetAt(clamped(day * DAY_MS));
      if (dayOffsets.size === DAYS_REMEMBERED_MAX) dayOffsets.clear();
      dayOffsets.set(day, offset);
    }
    return offset;
  };
  let lastQuarter = Number.NaN;
  let lastOffset = 0;
  return (anyMs) => {
    if (Number.isNaN(anyMs)) return 0;
    const ms = clamped(anyMs);
    if (ms < QUARTERS_SINCE_MS) return offsetAt(ms);
    const day = Math.floor(ms / DAY_MS);
    const offset = offsetOfDay(day);
    if (offset === offsetOfDay(day + 1)) return offset;
    const quarter = Math.floor(ms / QUARTER_MS);
    if (quarter !== lastQuarter) {
      lastOffset = offsetAt(quarter * QUARTER_MS);
      lastQuarter = quarter;
    }
    return lastOffset;
  };
}

function clamped(ms: number): number {
  return Math.floor(Math.min(Math.max(ms, -DATE_MS_MAX), DATE_MS_MAX));
}

/** Time on a clock of the formatter's zone at `ms`, as if it were UTC. */
function wallClockOf(format: Intl.DateTimeFormat, ms: number): number {
  let year = 0;
  let month = 0;
  let day = 0;
  let seconds = 0;
  let beforeChrist = false;
  for (const { type, value } of format.formatToParts(ms)) {
    if (type === 'era') beforeChrist = value === 'BC';
    else if (type === 'year') year = Number(value);
    else if (type === 'month') month = Number(value);
    else if (type === 'day') day = Number(value);
    else if (type === 'hour') seconds += Number(value) * 3600;
    else if (type === 'minute') seconds += Number(value) * 60;
    else if (type === 'second') seconds += Number(value);
  }
  const days = daysFromCivil(beforeChrist ? 1 - year : year, month, day);
  return days * DAY_MS + seconds * 1000 + (((ms % 1000) + 1000) % 1000);
}

/**
 * The instant at which clocks of `zone` show `wallMs` (a wall clock as if it were UTC).
 * When they show it twice: with the offset `preferredMs` if that is one of the two, else the earlier.
 * When they skip it: as much later as they skip, so a skipped midnight is the first instant of its day.
 */
export function instantOf(zone: Zone, wallMs: number, preferredMs?: number): number {
  if (preferredMs !== undefined && zone.offsetAt(wallMs - preferredMs) === preferredMs) {
    return wallMs - preferredMs;
  }
  const before = zone.offsetAt(wallMs - DAY_MS);
  if (zone.offsetAt(wallMs - before) === before) return wallMs - before;
  const after = zone.offsetAt(wallMs + DAY_MS);
  return zone.offsetAt(wallMs - after) === after ? wallMs - after : wallMs - before;
}

/**
 * ISO 8601 text of an instant in `zone`, with milliseconds and offset, `Z` for UTC. Years beyond 9999 and before 0
 * have a sign and six digits. Offsets with seconds (before 1972) are cut to minutes and the clock with them, so
 * that the text always denotes the instant. Source: INTERFACE.md 4.2.
 */
export function isoIn(zone: Zone, ms: number): string {
  if (zone === UTC) return `${clockText(ms)}Z`;
  const offsetMs = Math.trunc(zone.offsetAt(ms) / MINUTE_MS) * MINUTE_MS;
  return clockText(ms + offsetMs) + offsetText(offsetMs);
}

/** The day that was printed last, and its text: dates that follow each other are of few days. */
const printed = { day: Number.NaN, text: '' };
/** Texts of the minutes of a day that were printed. */
const minuteTexts: string[] = [];

/** The text of an instant on the clock of UTC, as `Date` prints it but for the `Z`. */
function clockText(instantMs: number): string {
  const ms = Math.trunc(instantMs);
  const day = Math.floor(ms / DAY_MS);
  if (day !== printed.day) {
    printed.text = new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length);
    printed.day = day;
  }
  const inDay = ms - day * DAY_MS;
  const minute = Math.floor(inDay / MINUTE_MS);
  minuteTexts[minute] ??= `${pad(Math.floor(minute / 60), 2)}:${pad(minute % 60, 2)}:`;
  const inMinute = inDay - minute * MINUTE_MS;
  const rest =
    inMinute === 0 ? '00.000' : `${pad(Math.floor(inMinute / 1000), 2)}.${pad(inMinute % 1000, 3)}`;
  return printed.text + minuteTexts[minute] + rest;
}

/** `+hh:mm` of an offset of whole minutes. */
function offsetText(offsetMs: number): string {
  const size = Math.abs(offsetMs);
  const hours = pad(Math.floor(size / HOUR_MS), 2);
  const minutes = pad((size % HOUR_MS) / MINUTE_MS, 2);
  return `${offsetMs < 0 ? '-' : '+'}${hours}:${minutes}`;
}
