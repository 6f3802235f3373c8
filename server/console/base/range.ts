import { addUnits, instantOf, startOf } from './zone.ts';

/** A range of time in epoch milliseconds, its end excluded. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A range that is offered by name. */
export interface Preset {
  readonly from: string;
  readonly to: string;
  readonly name: string;
}

/** Ranges that are offered, the shortest first. */
export const PRESETS: readonly Preset[] = [
  { from: 'now-5m', to: 'now', name: 'Last 5 minutes' },
  { from: 'now-15m', to: 'now', name: 'Last 15 minutes' },
  { from: 'now-1h', to: 'now', name: 'Last hour' },
  { from: 'now-6h', to: 'now', name: 'Last 6 hours' },
  { from: 'now-24h', to: 'now', name: 'Last 24 hours' },
  { from: 'now-7d', to: 'now', name: 'Last 7 days' },
  { from: 'now-30d', to: 'now', name: 'Last 30 days' },
  { from: 'now/d', to: 'now', name: 'Today' },
  { from: 'now-1d/d', to: 'now/d', name: 'Yesterday' },
  { from: 'now/w', to: 'now', name: 'This week' },
];

const MATH = /^now((?:\s*(?:[+-]\s*\d{1,9}\s*[smhdwMy]|\/\s*[smhdwMy]))*)$/;
const TERM = /([+-]|\/)\s*(\d*)\s*([smhdwMy])/g;
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,3}))?)?)?\s*(Z|[+-]\d\d:?\d\d)?$/;
/** Clocks before 1973 as epoch milliseconds are years, days or seconds. */
const EPOCH_MS_MIN = 1e11;
/** Greatest instant of a date. Source: ECMA-262, 21.4.1.1. */
const DATE_MS_MAX = 8.64e15;
const NICE_STEPS = [
  ...['1s', '2s', '5s', '10s', '15s', '30s', '1m', '2m', '5m', '10m', '15m', '30m'],
  ...['1h', '2h', '3h', '6h', '12h', '1d', '1w', '1M', '3M', '1y', '5y', '10y', '30y'],
];
const UNIT_MS: Record<string, number> = {
  ...{ s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, M: 2_629_746_000 },
  ...{ y: 31_556_952_000 },
};

/** The instant that a point of a range says; `undefined` when it says none. Dates without an offset are of `zone`. */
export function instantIn(text: string, zone: string, nowMs: number): number | undefined {
  try {
    const ms = instantOfPoint(text, zone, nowMs);
    return ms !== undefined && Math.abs(ms) <= DATE_MS_MAX ? ms : undefined;
  } catch (error) {
    // The platform's word on instants before or behind all dates.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function instantOfPoint(text: string, zone: string, nowMs: number): number | undefined {
  const math = MATH.exec(text.trim());
  if (math !== null) {
    let ms = nowMs;
    for (const [, sign, count, unit] of (math[1] ?? '').matchAll(TERM)) {
      if (sign === '/') ms = startOf(ms, unit ?? '', zone);
      else ms = addUnits(ms, sign === '-' ? -Number(count) : Number(count), unit ?? '', zone);
    }
    return ms;
  }
  const iso = ISO.exec(text.trim());
  if (iso !== null) return isoInstant(iso, zone);
  const digits = /^\d{9,14}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (Number.isNaN(digits)) return undefined;
  return digits < EPOCH_MS_MIN ? digits * 1_000 : digits;
}

function isoInstant(parts: RegExpExecArray, zone: string): number | undefined {
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', offset] =
    parts;
  const wallMs =
    Date.UTC(
      Number(year),
      Number(month) - 1,
      Number(day),
      Number(hour),
      Number(minute),
      Number(second),
    ) + Number(fraction.padEnd(3, '0'));
  if (Number.isNaN(wallMs) || new Date(wallMs).getUTCDate() % 32 === 0) return undefined;
  if (offset === undefined) return instantOf(wallMs, zone);
  if (offset === 'Z') return wallMs;
  const sign = offset.startsWith('-') ? -1 : 1;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2));
  return wallMs - sign * minutes * 60_000;
}

/** The range of two points; `undefined` when one says nothing or the end is not behind the begin. */
export function rangeOf(from: string, to: string, zone: string, nowMs: number): Range | undefined {
  const fromMs = instantIn(from, zone, nowMs);
  const toMs = instantIn(to, zone, nowMs);
  if (fromMs === undefined || toMs === undefined || fromMs >= toMs) return undefined;
  return { fromMs, toMs };
}

const NAMED: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['today', ['now/d', 'now']],
  ['yesterday', ['now-1d/d', 'now/d']],
  ['this week', ['now/w', 'now']],
  ['last week', ['now-1w/w', 'now/w']],
  ['this month', ['now/M', 'now']],
]);

/** Points of a range that people write: `15m`, `last 2 days`, `yesterday`, `a to b`. */
export function pointsIn(text: string): { from: string; to: string } | undefined {
  const plain = text.trim();
  const name = NAMED.get(plain.toLowerCase());
  if (name !== undefined) return { from: name[0], to: name[1] };
  const last = /^(?:last|past)?\s*(\d{1,6})\s*([a-z]+)$/i.exec(plain);
  const unit = last === null ? undefined : unitOf(last[2] ?? '');
  if (last !== null && unit !== undefined) return { from: `now-${last[1]}${unit}`, to: 'now' };
  const [from, to, ...rest] = plain.split(/\s+(?:to|until|–|-)\s+|\.\./i);
  if (from === undefined || rest.length > 0) return undefined;
  if (to !== undefined) return { from, to };
  return /^\d{4}-\d\d-\d\d$/.test(from)
    ? { from, to: `${from} 23:59:59.999` }
    : { from, to: 'now' };
}

function unitOf(word: string): string | undefined {
  if (/^M$|^mo/.test(word)) return 'M';
  const letter = word.toLowerCase()[0] ?? '';
  const words = [
    's',
    'sec',
    'second',
    'm',
    'min',
    'minute',
    'h',
    'hour',
    'd',
    'day',
    'w',
    'week',
    'y',
    'year',
  ];
  return words.includes(word.toLowerCase().replace(/s$/, '') || 's') ? letter : undefined;
}

/** The step of a histogram with at most so many bars, as intervals are written; the longest one that there is. */
export function stepFor({ fromMs, toMs }: Range, barsMax: number): string {
  return NICE_STEPS.find((step) => (toMs - fromMs) / stepMs(step) <= barsMax) ?? '30y';
}

/** Milliseconds of a step, a month's about. */
export function stepMs(step: string): number {
  return Number.parseInt(step, 10) * (UNIT_MS[step.slice(-1)] ?? 1);
}
