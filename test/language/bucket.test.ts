import fc from 'fast-check';
import t from 'tap';
import {
  boundariesOf,
  bucketCount,
  type Interval,
  parseInterval,
  TIME_BUCKETS_MAX,
} from '../../server/language/bucket.ts';
import { isoIn, parseZone, UTC, type Zone } from '../../server/language/zone.ts';

const HOUR_MS = 3_600_000;

const zone = (name: string): Zone => parseZone(name) ?? UTC;
const interval = (text: string): Interval => parseInterval(text) ?? { count: 0, unit: 's' };

function isoBoundaries(text: string, from: string, to: string, name: string): string[] {
  const found = boundariesOf(interval(text), Date.parse(from), Date.parse(to), zone(name)) ?? [];
  return found.map((ms) => isoIn(zone(name), ms).replace(':00.000', ''));
}

t.test('intervals are a number and a unit, at most 30 years', async (t) => {
  for (const text of ['1s', '5s', '1m', '15m', '1h', '6h', '1d', '1w', '1M', '1y', '90m', '30y']) {
    t.ok(parseInterval(text), text);
  }
  for (const text of [
    '',
    '1',
    's',
    '0s',
    '-1s',
    '1.5h',
    '1 h',
    '1ms',
    '1H',
    '31y',
    '01d',
    '9e9s',
  ]) {
    t.notOk(parseInterval(text), text);
  }
});

t.test('buckets begin at multiples of the interval on the clock of the zone', async (t) => {
  t.same(isoBoundaries('15m', '2024-05-01T10:07:00Z', '2024-05-01T10:31:00Z', 'Europe/Paris'), [
    '2024-05-01T12:00+02:00',
    '2024-05-01T12:15+02:00',
    '2024-05-01T12:30+02:00',
    '2024-05-01T12:45+02:00',
  ]);
  t.same(isoBoundaries('1h', '2024-05-01T10:07:00Z', '2024-05-01T11:00:00Z', 'Asia/Kolkata'), [
    '2024-05-01T15:00+05:30',
    '2024-05-01T16:00+05:30',
    '2024-05-01T17:00+05:30',
  ]);
  t.same(isoBoundaries('1w', '2024-05-01T10:07:00Z', '2024-05-06T00:00:00Z', 'UTC'), [
    '2024-04-29T00:00Z',
    '2024-05-06T00:00Z',
  ]);
  t.same(isoBoundaries('1M', '2024-01-31T10:07:00Z', '2024-03-01T00:00:00Z', 'UTC'), [
    '2024-01-01T00:00Z',
    '2024-02-01T00:00Z',
    '2024-03-01T00:00Z',
  ]);
  t.same(isoBoundaries('1y', '2023-12-31T23:30:00Z', '2024-01-01T00:00:00Z', 'Europe/Paris'), [
    '2024-01-01T00:00+01:00',
    '2025-01-01T00:00+01:00',
  ]);
});

t.test('buckets follow the clock where it changes', async (t) => {
  t.same(isoBoundaries('1h', '2024-03-31T00:30:00Z', '2024-03-31T02:00:00Z', 'Europe/Paris'), [
    '2024-03-31T01:00+01:00',
    '2024-03-31T03:00+02:00',
    '2024-03-31T04:00+02:00',
  ]);
  t.same(isoBoundaries('1h', '2024-10-27T00:00:00Z', '2024-10-27T02:30:00Z', 'Europe/Paris'), [
    '2024-10-27T02:00+02:00',
    '2024-10-27T02:00+01:00',
    '2024-10-27T03:00+01:00',
    '2024-10-27T04:00+01:00',
  ]);
  t.same(isoBoundaries('6h', '2024-03-30T23:30:00Z', '2024-03-31T08:00:00Z', 'Europe/Paris'), [
    '2024-03-31T00:00+01:00',
    '2024-03-31T06:00+02:00',
    '2024-03-31T12:00+02:00',
  ]);
  const days = boundariesOf(
    interval('1d'),
    Date.parse('2024-03-30T12:00:00Z'),
    Date.parse('2024-04-01T12:00:00Z'),
    zone('Europe/Paris'),
  );
  t.same(
    days?.slice(1).map((ms, at) => (ms - (days[at] ?? 0)) / HOUR_MS),
    [24, 23, 24],
  );
  t.same(
    isoBoundaries('1h', '2024-10-05T14:00:00Z', '2024-10-05T17:00:00Z', 'Australia/Lord_Howe'),
    [
      '2024-10-06T00:00+10:30',
      '2024-10-06T01:00+10:30',
      '2024-10-06T02:30+11:00',
      '2024-10-06T03:00+11:00',
      '2024-10-06T04:00+11:00',
    ],
  );
  t.same(isoBoundaries('1d', '2018-11-03T12:00:00Z', '2018-11-05T12:00:00Z', 'America/Sao_Paulo'), [
    '2018-11-03T00:00-03:00',
    '2018-11-04T01:00-02:00',
    '2018-11-05T00:00-02:00',
    '2018-11-06T00:00-02:00',
  ]);
  t.same(isoBoundaries('1d', '2011-12-29T12:00:00Z', '2011-12-31T12:00:00Z', 'Pacific/Apia'), [
    '2011-12-29T00:00-10:00',
    '2011-12-31T00:00+14:00',
    '2012-01-01T00:00+14:00',
    '2012-01-02T00:00+14:00',
  ]);
});

t.test('a bucket whose begin the clock skips begins where the clock goes on', async (t) => {
  t.same(isoBoundaries('2h', '2024-03-30T23:00:00Z', '2024-03-31T04:00:00Z', 'Europe/Paris'), [
    '2024-03-31T00:00+01:00',
    '2024-03-31T03:00+02:00',
    '2024-03-31T04:00+02:00',
    '2024-03-31T06:00+02:00',
  ]);
  t.same(isoBoundaries('6h', '2024-04-25T17:00:00Z', '2024-04-26T04:00:00Z', 'Africa/Cairo'), [
    '2024-04-25T18:00+02:00',
    '2024-04-26T01:00+03:00',
    '2024-04-26T06:00+03:00',
    '2024-04-26T12:00+03:00',
  ]);
  t.same(isoBoundaries('3h', '2024-09-08T01:00:00Z', '2024-09-08T08:00:00Z', 'America/Santiago'), [
    '2024-09-07T21:00-04:00',
    '2024-09-08T01:00-03:00',
    '2024-09-08T03:00-03:00',
    '2024-09-08T06:00-03:00',
  ]);
  t.same(
    isoBoundaries('1h', '2024-10-05T14:30:00Z', '2024-10-05T16:30:00Z', 'Australia/Lord_Howe'),
    [
      '2024-10-06T01:00+10:30',
      '2024-10-06T02:30+11:00',
      '2024-10-06T03:00+11:00',
      '2024-10-06T04:00+11:00',
    ],
  );
});

const MINUTE_MS = 60_000;
const CHANGE_MS = Date.UTC(2024, 2, 10, 7, 30);

/** A zone whose clock is moved once, by so many minutes. */
function changedZone(beforeMinutes: number, movedMinutes: number): Zone {
  return {
    name: 'changed',
    offsetAt: (ms) => (beforeMinutes + (ms < CHANGE_MS ? 0 : movedMinutes)) * MINUTE_MS,
  };
}

t.test('buckets are the runs of minutes that have one number on the clock', async () => {
  const steps = fc.oneof(
    fc.record({ count: fc.integer({ min: 1, max: 3000 }), unit: fc.constant('m' as const) }),
    fc.record({ count: fc.integer({ min: 1, max: 60 }), unit: fc.constant('h' as const) }),
    fc.record({ count: fc.integer({ min: 1, max: 3 }), unit: fc.constant('d' as const) }),
  );
  const moved = fc.oneof(
    fc.integer({ min: 1, max: 96 }).map((quarters) => quarters * 15),
    fc.constantFrom(-15, -20, -30, -60, -120),
  );
  fc.assert(
    fc.property(
      steps,
      fc.integer({ min: -48, max: 48 }),
      moved,
      fc.integer({ min: -3_000, max: 200 }),
      (step, quarters, movedMinutes, fromMinutes) => {
        const zone = changedZone(quarters * 15, movedMinutes);
        const stepMs = step.count * { m: 1, h: 60, d: 1_440 }[step.unit] * MINUTE_MS;
        const fromMs = CHANGE_MS + fromMinutes * MINUTE_MS;
        const toMs = fromMs + Math.max(stepMs * 3, 2_000 * MINUTE_MS);
        const found = boundariesOf(step, fromMs, toMs, zone) ?? [];
        const wall = (ms: number) => ms + zone.offsetAt(ms);
        const number = (wallMs: number) => Math.floor(wallMs / stepMs);
        const begins = (ms: number): boolean => {
          const now = wall(ms);
          const before = wall(ms - 1);
          if (step.unit !== 'd') {
            return number(now) !== number(before) || (ms === CHANGE_MS && now % stepMs === 0);
          }
          // A day whose midnight is shown twice begins at the first.
          const last = ms < CHANGE_MS ? before : Math.max(before, wall(CHANGE_MS - 1));
          return number(now) > number(last);
        };
        for (let ms = fromMs + MINUTE_MS; ms < toMs; ms += MINUTE_MS) {
          if (found.includes(ms) !== begins(ms)) return false;
        }
        return (found[0] ?? Infinity) <= fromMs && (found[1] ?? 0) > fromMs;
      },
    ),
    { numRuns: 300 },
  );
});

/** The clock of a zone by Intl, as if it were UTC. */
function wallOf(name: string, ms: number): Date {
  const text = new Date(ms).toLocaleString('sv-SE', { timeZone: name });
  return new Date(`${text.replace(' ', 'T')}Z`);
}

t.test('boundaries ascend around the range, and each is a begin by the clock of Intl', async () => {
  const names = ['UTC', 'Europe/Paris', 'America/New_York', 'Asia/Kathmandu', 'America/Havana'];
  const units = fc.constantFrom('s', 'm', 'h', 'd', 'w', 'M', 'y');
  const counts = fc.constantFrom(1, 2, 5, 6, 12, 15, 90);
  const start = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2030, 0) });
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      counts,
      units,
      start,
      fc.integer({ min: 1, max: 40 }),
      (name, count, unit, fromMs, length) => {
        const step = parseInterval(`${count}${unit}`);
        if (step === undefined) return true;
        const perBucket = (1 / bucketCount(step, 0, 1e12)) * 1e12;
        const toMs = fromMs + Math.ceil(perBucket * length);
        const found = boundariesOf(step, fromMs, toMs, zone(name)) ?? [];
        const last = found.at(-1) ?? 0;
        const ascends = found.every((ms, at) => at === 0 || ms > (found[at - 1] ?? 0));
        const around = (found[0] ?? 0) <= fromMs && last >= toMs && (found.at(-2) ?? 0) < toMs;
        const begins = found.every((ms) => {
          const wall = wallOf(name, ms);
          if (unit === 's') return ms % 1000 === 0;
          if (wall.getUTCSeconds() !== 0) return false;
          if (unit === 'm' || unit === 'h') return true;
          // Where clocks skip midnight, as in Havana and once in Kathmandu, a day begins later.
          const begin = wallOf(name, ms - 1).getUTCDate() !== wall.getUTCDate();
          const day =
            unit === 'd' || (unit === 'w' ? wall.getUTCDay() === 1 : wall.getUTCDate() === 1);
          return begin && day && (unit !== 'y' || wall.getUTCMonth() === 0);
        });
        return ascends && around && begins;
      },
    ),
    { numRuns: 400 },
  );
});

t.test('there are at most 10,000 buckets', async (t) => {
  const of = (count: number) => boundariesOf(interval('1s'), 0, count * 1000, UTC);
  t.equal(of(TIME_BUCKETS_MAX)?.length, TIME_BUCKETS_MAX + 1);
  t.equal(of(TIME_BUCKETS_MAX + 1), undefined);
  t.equal(boundariesOf(interval('1s'), -8.639e15, 8.639e15, UTC), undefined);
  t.same(boundariesOf(interval('1m'), 90_000, 90_000, UTC), [60_000, 120_000]);
  const wide = boundariesOf(interval('30y'), -8.639e15, 8.639e15, zone('America/New_York'));
  t.ok(wide === undefined || wide.every((ms) => Number.isFinite(ms)));
  const early = boundariesOf(interval('30y'), -8.639e15, -8.638e15, zone('America/New_York')) ?? [];
  t.ok(early.every((ms) => !Number.isNaN(new Date(ms).getTime())));
});
