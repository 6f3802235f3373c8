import fc from 'fast-check';
import t from 'tap';
import {
  addUnits,
  type DateUnit,
  evaluateDateMath,
  startOfUnit,
} from '../../server/language/date-math.ts';
import { isoIn, UTC } from '../../server/language/zone.ts';
import { clock, ZONES, zone } from '../support/clock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const QUARTER_MS = 900_000;

/** The name of the day, week, month or year that a clock shows. */
function label(name: string, ms: number, unit: DateUnit): string {
  const text = clock(name, ms);
  if (unit === 'y') return text.slice(0, 4);
  if (unit === 'M') return text.slice(0, 7);
  if (unit === 'd') return text.slice(0, 10);
  const date = Date.parse(`${text.slice(0, 10)}T00:00:00Z`);
  const weekday = (new Date(date).getUTCDay() + 6) % 7;
  return new Date(date - weekday * DAY_MS).toISOString();
}

/** Times of all kinds, half of them within hours of a clock change. */
const changes = ZONES.flatMap((name) => {
  const found: [string, number][] = [];
  const { offsetAt } = zone(name);
  for (let ms = Date.UTC(2010, 0, 1); ms < Date.UTC(2024, 0, 1); ms += DAY_MS) {
    if (offsetAt(ms) !== offsetAt(ms + DAY_MS)) found.push([name, ms]);
  }
  return found;
});
const moments = fc.oneof(
  fc.tuple(
    fc.constantFrom(...ZONES),
    fc.integer({ min: Date.UTC(1975, 0, 1), max: Date.UTC(2037, 0, 1) }),
  ),
  fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -26 * HOUR_MS, max: 50 * HOUR_MS }))
    .map(([[name, ms], shift]): [string, number] => [name, ms + shift]),
);

const NOW = Date.UTC(2021, 2, 31, 12, 34, 56, 789);

t.test('date math adds, subtracts and rounds from left to right', async (t) => {
  const texts: [string, string][] = [
    ['now', '2021-03-31T12:34:56.789Z'],
    ['now-15m', '2021-03-31T12:19:56.789Z'],
    ['now - 3h', '2021-03-31T09:34:56.789Z'],
    ['now+1s', '2021-03-31T12:34:57.789Z'],
    ['now -1d', '2021-03-30T12:34:56.789Z'],
    ['now-2w', '2021-03-17T12:34:56.789Z'],
    ['now-1M', '2021-02-28T12:34:56.789Z'],
    ['now-13M', '2020-02-29T12:34:56.789Z'],
    ['now+1M', '2021-04-30T12:34:56.789Z'],
    ['now-1y', '2020-03-31T12:34:56.789Z'],
    ['now/s', '2021-03-31T12:34:56.000Z'],
    ['now/m', '2021-03-31T12:34:00.000Z'],
    ['now/h', '2021-03-31T12:00:00.000Z'],
    ['now/d', '2021-03-31T00:00:00.000Z'],
    ['now/w', '2021-03-29T00:00:00.000Z'],
    ['now/M', '2021-03-01T00:00:00.000Z'],
    ['now/y', '2021-01-01T00:00:00.000Z'],
    ['now-1M/M', '2021-02-01T00:00:00.000Z'],
    ['now/M-1M', '2021-02-01T00:00:00.000Z'],
    ['now - 1d / d + 3h', '2021-03-30T03:00:00.000Z'],
    ['now+0d', '2021-03-31T12:34:56.789Z'],
  ];
  for (const [text, iso] of texts) {
    t.equal(isoIn(UTC, evaluateDateMath(text, UTC, NOW) ?? Number.NaN), iso, text);
  }
});

t.test('what is not date math is not understood', async (t) => {
  const texts = [
    '',
    'Now',
    'now-',
    'now-1',
    'now-d',
    'now-1.5h',
    'now-1x',
    'now1d',
    'now/',
    'now/2d',
  ];
  for (const text of [
    ...texts,
    'now-1D',
    'nowhere',
    'now-1d]',
    'now--1d',
    '-1d',
    'now-1234567890s',
  ]) {
    t.equal(evaluateDateMath(text, UTC, NOW), undefined, text);
  }
});

t.test('sums beyond what a date holds do not throw', async (t) => {
  for (const text of ['now+999999999y', 'now-999999999y/M-1d', 'now+999999999y+999999999M/w']) {
    const ms = evaluateDateMath(text, zone('Europe/Paris'), NOW);
    t.not(ms, undefined);
    t.notOk(Math.abs(Number(ms)) <= 8.64e15, text);
  }
});

t.test('days and longer follow the calendar where clocks change', async (t) => {
  const paris = zone('Europe/Paris');
  const afterSpring = Date.UTC(2021, 2, 28, 10);
  t.equal(addUnits(paris, afterSpring, -1, 'd'), afterSpring - 23 * HOUR_MS);
  t.equal(addUnits(paris, afterSpring, -1, 'w'), afterSpring - (7 * 24 - 1) * HOUR_MS);
  t.equal(addUnits(paris, afterSpring, -24, 'h'), afterSpring - 24 * HOUR_MS);
  const autumn = Date.UTC(2021, 9, 31, 12);
  t.equal(addUnits(paris, autumn, -1, 'd'), autumn - 25 * HOUR_MS);
  t.equal(startOfUnit(paris, autumn, 'd'), Date.UTC(2021, 9, 30, 22));
  const second = Date.UTC(2021, 9, 31, 1, 30);
  t.equal(addUnits(paris, second, 0, 'd'), second, 'the second 02:30 stays the second');
  t.equal(startOfUnit(paris, second, 'h'), Date.UTC(2021, 9, 31, 1));
  const lordHowe = zone('Australia/Lord_Howe');
  t.equal(
    addUnits(lordHowe, Date.UTC(2021, 9, 3, 1), -1, 'd'),
    Date.UTC(2021, 9, 3, 1) - 23.5 * HOUR_MS,
  );
});

t.test('a day, week, month or year starts where its name begins', async () => {
  fc.assert(
    fc.property(moments, fc.constantFrom<DateUnit>('d', 'w', 'M', 'y'), ([name, ms], unit) => {
      const start = startOfUnit(zone(name), ms, unit);
      return (
        start <= ms &&
        label(name, start, unit) === label(name, ms, unit) &&
        label(name, start - 1, unit) !== label(name, ms, unit)
      );
    }),
    { numRuns: 1_000 },
  );
});

t.test('an hour starts on the hour, or where clocks skipped it', async () => {
  fc.assert(
    fc.property(moments, ([name, ms]) => {
      const start = startOfUnit(zone(name), ms, 'h');
      const onTheHour = clock(name, start).slice(14) === '00:00';
      const afterSkip = zone(name).offsetAt(start - 1) < zone(name).offsetAt(start);
      return start <= ms && ms - start < 1.5 * HOUR_MS && (onTheHour || afterSkip);
    }),
    { numRuns: 1_000 },
  );
});

t.test('added days, weeks, months and years keep the clock', async () => {
  fc.assert(
    fc.property(
      moments,
      fc.integer({ min: -40, max: 40 }),
      fc.constantFrom<DateUnit>('d', 'w', 'M', 'y'),
      ([name, ms], count, unit) => {
        const result = addUnits(zone(name), ms, count, unit);
        const wallMs = Date.parse(`${clock(name, ms).replace(' ', 'T')}Z`);
        const wantedMs = naiveAdd(wallMs, count, unit);
        const wanted = new Date(wantedMs).toISOString().slice(0, 19).replace('T', ' ');
        const showing: number[] = [];
        const restMs = ((ms % 1000) + 1000) % 1000;
        for (let offset = -12 * HOUR_MS; offset <= 14 * HOUR_MS; offset += QUARTER_MS) {
          const candidate = wantedMs + restMs - offset;
          if (clock(name, candidate) === wanted) showing.push(candidate);
        }
        if (showing.length > 0) return showing.includes(result);
        const got = clock(name, result);
        return got > wanted && Date.parse(`${got.replace(' ', 'T')}Z`) - wantedMs <= HOUR_MS;
      },
    ),
    { numRuns: 500 },
  );
});

/** The wall clock `count` units later, a day at a time for days, by trial for months. */
function naiveAdd(wallMs: number, count: number, unit: DateUnit): number {
  if (unit === 'd') return wallMs + count * DAY_MS;
  if (unit === 'w') return wallMs + count * 7 * DAY_MS;
  const date = new Date(wallMs);
  const month = date.getUTCMonth() + (unit === 'M' ? count : count * 12);
  for (let day = date.getUTCDate(); ; day--) {
    const midnight = new Date(Date.UTC(date.getUTCFullYear(), month, day));
    if (midnight.getUTCDate() === day) return midnight.getTime() + (wallMs % DAY_MS);
  }
}
