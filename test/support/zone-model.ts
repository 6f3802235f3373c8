import { clock } from './clock.ts';

/**
 * Time as clocks show it, in its plainest form: what Intl says of an instant, and searches over quarter hours. The
 * oracle of zones, of time buckets and of date math. For instants from 1973 on, where all clocks change at whole
 * quarter hours.
 */

export type ModelUnit = 's' | 'm' | 'h' | 'd' | 'w' | 'M' | 'y';

export interface ModelInterval {
  count: number;
  unit: ModelUnit;
}

/** A step of date math: so many units later (or earlier), or the start of a unit. */
export type ModelTerm =
  | { type: 'add'; count: number; unit: ModelUnit }
  | { type: 'round'; unit: ModelUnit };

const QUARTER_MS = 900_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Clocks differ from UTC, and jump, by a day at most. */
const NEAR_MS = 26 * HOUR_MS;
const CLOCK_MS: Partial<Record<ModelUnit, number>> = { s: 1_000, m: 60_000, h: HOUR_MS };

/** Offsets from UTC by zone and quarter hour. */
const offsets = new Map<string, Map<number, number>>();

/** The time that clocks of a zone (an IANA name, `UTC`, or `+hh:mm`) show at an instant, as if that were UTC. */
export function wallOf(zone: string, ms: number): number {
  if (zone === 'UTC') return ms;
  let ofZone = offsets.get(zone);
  if (ofZone === undefined) {
    ofZone = new Map();
    offsets.set(zone, ofZone);
  }
  const quarter = Math.floor(ms / QUARTER_MS) * QUARTER_MS;
  let offset = ofZone.get(quarter);
  if (offset === undefined) {
    offset =
      fixedOffset(zone) ?? Date.parse(`${clock(zone, quarter).replace(' ', 'T')}Z`) - quarter;
    ofZone.set(quarter, offset);
  }
  return ms + offset;
}

/** The offset that a name such as `+05:30` says. */
function fixedOffset(zone: string): number | undefined {
  const fixed = /^([+-])(\d\d):(\d\d)$/.exec(zone);
  if (fixed === null) return undefined;
  const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
  return (fixed[1] === '-' ? -minutes : minutes) * 60_000;
}

/** ISO 8601 text of an instant on the clock of a zone, with its offset. */
export function isoOf(zone: string, ms: number): string {
  const wall = wallOf(zone, ms);
  const minutes = (wall - ms) / 60_000;
  const text = new Date(wall).toISOString();
  if (zone === 'UTC') return text;
  const size = Math.abs(minutes);
  const two = (number: number) => String(number).padStart(2, '0');
  const sign = minutes < 0 ? '-' : '+';
  return `${text.slice(0, -1)}${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** The instants at which clocks of a zone show `wall`, ascending: none, one or two. */
export function instantsOf(zone: string, wall: number): number[] {
  const found: number[] = [];
  const first = Math.floor((wall - NEAR_MS) / QUARTER_MS) * QUARTER_MS;
  const into = wall - Math.floor(wall / QUARTER_MS) * QUARTER_MS;
  for (let at = first; at <= wall + NEAR_MS; at += QUARTER_MS) {
    if (wallOf(zone, at + into) === wall) found.push(at + into);
  }
  return found;
}

/** The day of a wall clock, or the week, month or year, as a number that rises. */
function ordinalOf(wall: number, { count, unit }: ModelInterval): number {
  const days = Math.floor(wall / DAY_MS);
  if (unit === 'd') return Math.floor(days / count);
  // 1969-12-29 was the Monday before 1970.
  if (unit === 'w') return Math.floor((days + 3) / (7 * count));
  const date = new Date(wall);
  if (unit === 'y') return Math.floor(date.getUTCFullYear() / count);
  return Math.floor((date.getUTCFullYear() * 12 + date.getUTCMonth()) / count);
}

/** The first instants of the days that clocks of a zone show from `fromMs` to `toMs`, and their wall clocks. */
function dayStarts(zone: string, fromMs: number, toMs: number): { ms: number; wall: number }[] {
  const starts: { ms: number; wall: number }[] = [];
  const last = Math.floor(wallOf(zone, toMs) / DAY_MS) + 1;
  for (let day = Math.floor(wallOf(zone, fromMs) / DAY_MS); day <= last; day++) {
    const midnight = day * DAY_MS;
    const guess = midnight - (wallOf(zone, midnight) - midnight);
    if (wallOf(zone, guess) === midnight && wallOf(zone, guess - 1) < midnight) {
      starts.push({ ms: guess, wall: midnight });
      continue;
    }
    const around = Math.floor((midnight - NEAR_MS) / QUARTER_MS) * QUARTER_MS;
    for (let at = around; at <= midnight + NEAR_MS; at += QUARTER_MS) {
      if (Math.floor(wallOf(zone, at) / DAY_MS) < day) continue;
      // A day that clocks skip never begins.
      const shown = wallOf(zone, at);
      if (Math.floor(shown / DAY_MS) === day) starts.push({ ms: at, wall: midnight });
      break;
    }
  }
  return starts;
}

/** Days that an interval of days or more may reach back. */
function reachOf({ count, unit }: ModelInterval): number {
  const days = { s: 0, m: 0, h: 0, d: 1, w: 7, M: 31, y: 366 }[unit];
  return (days * count + 3) * DAY_MS;
}

/**
 * Where the buckets of a range begin, and where the last one ends: of seconds, minutes and hours at all instants at
 * which the clock shows a multiple, or jumps into another step; of days and more at the first instants of days that
 * begin another bucket.
 */
export function stepsOf(
  zone: string,
  interval: ModelInterval,
  fromMs: number,
  toMs: number,
): number[] {
  const unitMs = CLOCK_MS[interval.unit];
  const starts =
    unitMs === undefined
      ? calendarStarts(zone, interval, fromMs, toMs)
      : clockStarts(zone, unitMs * interval.count, fromMs, toMs);
  const first = starts.findLastIndex((start) => start <= fromMs);
  const end = starts.findIndex((start, place) => start >= toMs && place >= first);
  if (first < 0 || end < 0) throw new Error('the model looked at too few days');
  return starts.slice(first, end + 1);
}

function clockStarts(zone: string, stepMs: number, fromMs: number, toMs: number): number[] {
  const lookMs = stepMs + 2 * DAY_MS;
  const starts: number[] = [];
  // Within a quarter hour no clock jumps.
  const first = Math.floor((fromMs - Math.min(lookMs, 2 * stepMs + DAY_MS)) / QUARTER_MS);
  for (let at = first * QUARTER_MS; at < toMs + lookMs; at += QUARTER_MS) {
    const wall = wallOf(zone, at);
    const next = Math.ceil(wall / stepMs) * stepMs;
    const before = wallOf(zone, at - 1);
    const isJump = wall !== before + 1 && next !== wall;
    // A jump into another step begins it.
    if (isJump && Math.floor(wall / stepMs) !== Math.floor(before / stepMs)) starts.push(at);
    for (let shown = next; shown < wall + QUARTER_MS; shown += stepMs) {
      starts.push(at + shown - wall);
      if (starts[starts.length - 1] >= toMs && starts[0] <= fromMs) return starts;
    }
  }
  return starts;
}

function calendarStarts(
  zone: string,
  interval: ModelInterval,
  fromMs: number,
  toMs: number,
): number[] {
  const reach = reachOf(interval);
  const days = dayStarts(zone, fromMs - 2 * reach, toMs + 2 * reach);
  const starts: number[] = [];
  for (const [place, { ms, wall }] of days.entries()) {
    const before = days[place - 1];
    if (before === undefined) continue;
    if (ordinalOf(before.wall, interval) !== ordinalOf(wall, interval)) starts.push(ms);
  }
  return starts;
}

/** The instant that date math denotes, its terms applied from left to right. */
export function mathOf(zone: string, nowMs: number, terms: readonly ModelTerm[]): number {
  return terms.reduce((ms, term) => {
    if (term.type === 'round') {
      return stepsOf(zone, { count: 1, unit: term.unit }, ms, ms + 1)[0];
    }
    const unitMs = CLOCK_MS[term.unit];
    return unitMs === undefined ? movedBy(zone, ms, term) : ms + term.count * unitMs;
  }, nowMs);
}

/** As many days, weeks, months or years later, at the same time of the clock. */
function movedBy(
  zone: string,
  ms: number,
  { count, unit }: Extract<ModelTerm, { type: 'add' }>,
): number {
  const wall = wallOf(zone, ms);
  const wanted = shifted(wall, count, unit);
  const instants = instantsOf(zone, wanted);
  const same = instants.find((instant) => wallOf(zone, instant) - instant === wall - ms);
  if (same !== undefined) return same;
  if (instants.length > 0) return instants[0];
  // Clocks skip it: as much later as they skip.
  const before = wanted - DAY_MS;
  return wanted - (wallOf(zone, before) - before);
}

function shifted(wall: number, count: number, unit: ModelUnit): number {
  if (unit === 'd') return wall + count * DAY_MS;
  if (unit === 'w') return wall + count * 7 * DAY_MS;
  const from = new Date(wall);
  const months = from.getUTCFullYear() * 12 + from.getUTCMonth() + count * (unit === 'y' ? 12 : 1);
  const [year, month] = [Math.floor(months / 12), ((months % 12) + 12) % 12];
  const days = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(from.getUTCDate(), days);
  return Date.UTC(year, month, day) + (((wall % DAY_MS) + DAY_MS) % DAY_MS);
}
