/** Dates on the clocks of a zone, by the platform's own tables. */

const LOCALE = 'en-US';
const DAY_MS = 86_400_000;

/** Parts of a date on a clock. */
export interface WallDate {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  ms: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The zone of this browser. */
export function browserZone(): string {
  return Intl.DateTimeFormat(LOCALE).resolvedOptions().timeZone || 'UTC';
}

/** Reports whether there is such a zone. */
export function isZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** The names of all zones. */
export function zoneNames(): string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];
}

/** The date that clocks of a zone show at an instant. */
export function wallDate(ms: number, zone: string): WallDate {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(ms)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return { year, month, day, hour, minute, second, ms: ((ms % 1000) + 1000) % 1000 };
}

/** The instant at which clocks of a zone show a date, given as if it were UTC; in a gap the instant behind it. */
export function instantOf(wallMs: number, zone: string): number {
  let ms = wallMs - offsetAt(wallMs, zone);
  ms = wallMs - offsetAt(ms, zone);
  return ms;
}

/** Milliseconds that the clocks of a zone are ahead of UTC. */
export function offsetAt(ms: number, zone: string): number {
  const { year, month, day, hour, minute, second } = wallDate(ms, zone);
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
}

/** The begin of the day, hour or other unit of a zone's calendar that has `ms`. */
export function startOf(ms: number, unit: string, zone: string): number {
  const { year, month, day, hour, minute, second } = wallDate(ms, zone);
  const dayMs = Date.UTC(year, month - 1, day);
  const sinceMonday = (new Date(dayMs).getUTCDay() + 6) % 7;
  const starts: Record<string, number> = {
    s: Date.UTC(year, month - 1, day, hour, minute, second),
    m: Date.UTC(year, month - 1, day, hour, minute),
    h: Date.UTC(year, month - 1, day, hour),
    d: dayMs,
    w: dayMs - sinceMonday * DAY_MS,
    M: Date.UTC(year, month - 1, 1),
    y: Date.UTC(year, 0, 1),
  };
  return instantOf(starts[unit] ?? ms, zone);
}

/** `ms` and so many units of a zone's calendar more. */
export function addUnits(ms: number, count: number, unit: string, zone: string): number {
  const lengths: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };
  const length = lengths[unit];
  if (length !== undefined) return ms + count * length;
  const wall = wallDate(ms, zone);
  const time = Date.UTC(1970, 0, 1, wall.hour, wall.minute, wall.second, wall.ms);
  if (unit === 'd' || unit === 'w') {
    const days = count * (unit === 'w' ? 7 : 1);
    return instantOf(Date.UTC(wall.year, wall.month - 1, wall.day + days) + time, zone);
  }
  const months = wall.month - 1 + count * (unit === 'y' ? 12 : 1);
  const lastDay = new Date(Date.UTC(wall.year, months + 1, 0)).getUTCDate();
  const day = Math.min(wall.day, lastDay);
  return instantOf(Date.UTC(wall.year, months, day) + time, zone);
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(LOCALE, {
      ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
    formats.set(zone, format);
  }
  return format;
}
