import { type IsoDate, scanIsoDate } from '../date/iso-date.ts';
import { evaluateDateMath } from './date-math.ts';
import { shown } from './shown.ts';
import { instantOf, parseZone, UTC, type Zone, zoneOfOffset } from './zone.ts';

/** Instants are within this of 1970: a little less than a `Date` holds, so that every zone can write them. */
const INSTANT_MS_MAX = 8_639_000_000_000_000;
/** Longer texts are no times: every term of date math costs. */
const POINT_CHARACTERS_MAX = 200;
const POINT_ALLOWED =
  'an ISO 8601 date, epoch milliseconds, or date math such as now, now-15m, now - 3h, now-1d/d';

const iso: IsoDate = { wallMs: 0, offsetMs: 0 };

/** The `time` object of a request. Source: INTERFACE.md 4.2. */
export interface TimeRequest {
  from: string | number;
  to: string | number;
  timezone?: string;
  offset?: number;
}

/** Instants with `fromMs <= date < toMs`, and the zone in which the reply writes its dates. */
export interface TimeRange {
  fromMs: number;
  toMs: number;
  zone: Zone;
}

/** A `time` object that means nothing; the message names the parameter, its value and what is allowed. */
export class TimeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TimeError';
  }
}

/**
 * The range that `time` means at `nowMs`, which is read once a request. A zone wins over an offset; without either
 * it is UTC. Throws TimeError, also when `from` is after `to`. Source: INTERFACE.md 4.2.
 */
export function resolveTime(time: TimeRequest, nowMs: number): TimeRange {
  const zone = resolveZone(time.timezone, time.offset);
  const fromMs = instant('time.from', time.from, zone, nowMs);
  const toMs = instant('time.to', time.to, zone, nowMs);
  if (fromMs > toMs) {
    throw new TimeError(
      `time.from ${shown(time.from)} is after time.to ${shown(time.to)}; allowed: from <= to`,
    );
  }
  return { fromMs, toMs, zone };
}

/** The zone of `time.timezone`, else of `time.offset`, else UTC. Throws TimeError when one of them is none. */
export function resolveZone(timezone: string | undefined, offset: number | undefined): Zone {
  const byOffset = offset === undefined ? UTC : zoneOfOffset(offset);
  if (byOffset === undefined) {
    throw new TimeError(
      `time.offset ${offset} is out of range; allowed: seconds from -50400 to 50400, or milliseconds ` +
        'from -50400000 to 50400000',
    );
  }
  if (timezone === undefined) return byOffset;
  return zoneNamed('time.timezone', timezone);
}

/** The zone that `parameter` names. Throws TimeError when it names none. */
export function zoneNamed(parameter: string, timezone: string): Zone {
  const zone = parseZone(timezone);
  if (zone !== undefined) return zone;
  throw new TimeError(
    `${parameter} ${shown(timezone)} is unknown; allowed: a zone name such as Europe/Paris, UTC, GMT, ` +
      'UTC+1 or UTC+01:00 up to 14 hours',
  );
}

/**
 * The instant that `value` denotes in epoch milliseconds, parts of milliseconds cut towards the past as they are in
 * event dates; `undefined` when it denotes none. Digits alone are epoch milliseconds; ISO text without offset is in
 * `zone`.
 */
export function parseInstant(
  value: string | number,
  zone: Zone,
  nowMs: number,
): number | undefined {
  if (typeof value === 'number') return Math.floor(value);
  const text = value.trim();
  if (text.length > POINT_CHARACTERS_MAX) return undefined;
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Math.floor(Number(text));
  return evaluateDateMath(text, zone, nowMs) ?? parseIso(text, zone);
}

function instant(name: string, value: string | number, zone: Zone, nowMs: number): number {
  const ms = parseInstant(value, zone, nowMs);
  if (ms === undefined) {
    throw new TimeError(`${name} ${shown(value)} is not a time; allowed: ${POINT_ALLOWED}`);
  }
  if (!(Math.abs(ms) <= INSTANT_MS_MAX)) {
    throw new TimeError(
      `${name} ${shown(value)} is out of range; allowed: within ${INSTANT_MS_MAX} milliseconds of 1970`,
    );
  }
  return ms;
}

function parseIso(text: string, zone: Zone): number | undefined {
  const bytes = Buffer.from(text);
  if (!scanIsoDate(bytes, 0, bytes.length, iso)) return undefined;
  return Number.isNaN(iso.offsetMs) ? instantOf(zone, iso.wallMs) : iso.wallMs - iso.offsetMs;
}
