import fc from 'fast-check';
import t from 'tap';
import { instantOf, isoIn, parseZone, UTC, zoneOfOffset } from '../../server/language/zone.ts';
import { clock, ZONES, zone } from '../support/clock.ts';

const HOUR_MS = 3_600_000;
const QUARTER_MS = 900_000;

const times = fc.integer({ min: Date.UTC(1975, 0, 1), max: Date.UTC(2037, 0, 1) });
/** Times around clock changes, found by comparing neighbouring days. */
const changes = ZONES.flatMap((name) => {
  const found: [string, number][] = [];
  const { offsetAt } = zone(name);
  for (let ms = Date.UTC(2010, 0, 1); ms < Date.UTC(2024, 0, 1); ms += 24 * HOUR_MS) {
    if (offsetAt(ms) !== offsetAt(ms + 24 * HOUR_MS)) found.push([name, ms]);
  }
  return found;
});
const moments = fc.oneof(
  fc.tuple(fc.constantFrom(...ZONES), times),
  fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -3 * HOUR_MS, max: 27 * HOUR_MS }))
    .map(([[name, ms], shift]): [string, number] => [name, ms + shift]),
);

t.test('zones are IANA names, UTC, GMT and offsets', async (t) => {
  const names: [string, string | undefined][] = [
    ['UTC', 'UTC'],
    ['utc', 'UTC'],
    ['GMT', 'UTC'],
    ['Etc/UTC', 'UTC'],
    ['Europe/Paris', 'Europe/Paris'],
    ['europe/paris', 'Europe/Paris'],
    ['UTC+1', '+01:00'],
    ['UTC+01:00', '+01:00'],
    ['UTC-5', '-05:00'],
    ['UTC+0530', '+05:30'],
    ['GMT+2', '+02:00'],
    ['+05:45', '+05:45'],
    ['-03:00', '-03:00'],
    ['UTC+0', 'UTC'],
    ['UTC-00:00', 'UTC'],
    ['UTC+14', '+14:00'],
    ['UTC+14:01', undefined],
    ['UTC+15', undefined],
    ['UTC+1:60', undefined],
    ['UTC+', undefined],
    ['', undefined],
    ['Mars/Olympus', undefined],
    ['__proto__', undefined],
    [' UTC', undefined],
  ];
  for (const [text, name] of names) t.equal(parseZone(text)?.name, name, text);
});

t.test('a zone is read back from its name', async (t) => {
  for (const text of ['UTC', 'GMT', 'UTC+5:30', '-03:00', 'Australia/Lord_Howe']) {
    const { name, offsetAt } = zone(text);
    t.equal(parseZone(name)?.name, name);
    t.equal(parseZone(name)?.offsetAt(0), offsetAt(0));
  }
});

t.test('an offset is seconds up to 50,400 and milliseconds above', async (t) => {
  const offsets: [number, string | undefined][] = [
    [0, 'UTC'],
    [-0, 'UTC'],
    [3600, '+01:00'],
    [-18_000, '-05:00'],
    [50_400, '+14:00'],
    [-50_400, '-14:00'],
    [60_000, '+00:01'],
    [3_600_000, '+01:00'],
    [-12_600_000, '-03:30'],
    [50_400_000, '+14:00'],
    [50_400_001, undefined],
    [-50_400_001, undefined],
    [Number.NaN, undefined],
    [3_659, '+01:00'],
    [50_401, 'UTC'],
  ];
  for (const [offset, name] of offsets) t.equal(zoneOfOffset(offset)?.name, name, String(offset));
});

t.test('ISO text has milliseconds and the offset of its zone', async (t) => {
  const texts: [string, number, string][] = [
    ['UTC', 0, '1970-01-01T00:00:00.000Z'],
    ['GMT', 1, '1970-01-01T00:00:00.001Z'],
    ['Europe/Paris', Date.UTC(2021, 6, 1), '2021-07-01T02:00:00.000+02:00'],
    ['Europe/London', Date.UTC(2021, 0, 1), '2021-01-01T00:00:00.000+00:00'],
    ['America/New_York', Date.UTC(2021, 0, 1, 0, 0, 0, 7), '2020-12-31T19:00:00.007-05:00'],
    ['-03:30', 0, '1969-12-31T20:30:00.000-03:30'],
    ['UTC', Date.UTC(12_021, 0, 1), '+012021-01-01T00:00:00.000Z'],
    ['Europe/Paris', Date.UTC(9999, 11, 31, 23, 30), '+010000-01-01T00:30:00.000+01:00'],
    ['Asia/Kolkata', -62_167_219_200_001, '0000-01-01T05:52:59.999+05:53'],
    ['UTC', -62_167_219_200_001, '-000001-12-31T23:59:59.999Z'],
    ['Europe/Paris', Date.UTC(1900, 0, 1), '1900-01-01T00:09:00.000+00:09'],
  ];
  for (const [name, ms, text] of texts) {
    t.equal(isoIn(zone(name), ms), text);
    t.equal(Date.parse(text), ms, `${text} is the instant`);
  }
});

t.test('offsets are those that Intl shows', async () => {
  fc.assert(
    fc.property(moments, ([name, ms]) => {
      const wall = new Date(ms + zone(name).offsetAt(ms)).toISOString();
      return wall.slice(0, 19).replace('T', ' ') === clock(name, ms);
    }),
    { numRuns: 500 },
  );
});

t.test('ISO text denotes its instant and shows the clock of its zone', async () => {
  fc.assert(
    fc.property(moments, ([name, ms]) => {
      const text = isoIn(zone(name), ms);
      return Date.parse(text) === ms && text.slice(0, 19).replace('T', ' ') === clock(name, ms);
    }),
    { numRuns: 500 },
  );
});

t.test('text of UTC is that of Date, to the ends of its range', async (t) => {
  const edges = [0, -1, 8.64e15, -8.64e15, 59_999, 60_000, 86_399_999].map((ms) => fc.constant(ms));
  const any = fc.integer({ min: -8.64e15, max: 8.64e15 });
  fc.assert(
    fc.property(fc.oneof(any, ...edges), (ms) => isoIn(UTC, ms) === new Date(ms).toISOString()),
    { numRuns: 2_000 },
  );
  t.throws(() => isoIn(UTC, 8.64e15 + 86_400_000), RangeError);
});

t.test('the instant of a wall clock is the first of those that show it', async () => {
  fc.assert(
    fc.property(moments, ([name, wallMs]) => {
      const wanted = new Date(wallMs).toISOString().slice(0, 19).replace('T', ' ');
      const showing: number[] = [];
      for (let offset = 14 * HOUR_MS; offset >= -12 * HOUR_MS; offset -= QUARTER_MS) {
        if (clock(name, wallMs - offset) === wanted) showing.push(wallMs - offset);
      }
      const instant = instantOf(zone(name), wallMs);
      if (showing.length > 0) return instant === showing[0];
      const skippedMs = instant + zone(name).offsetAt(instant) - wallMs;
      return skippedMs > 0 && skippedMs <= HOUR_MS && clock(name, instant) > wanted;
    }),
    { numRuns: 500 },
  );
});

t.test('a wall clock that is shown twice prefers the asked offset', async (t) => {
  const paris = zone('Europe/Paris');
  const wallMs = Date.UTC(2021, 9, 31, 2, 30);
  t.equal(instantOf(paris, wallMs), Date.UTC(2021, 9, 31, 0, 30));
  t.equal(instantOf(paris, wallMs, 2 * HOUR_MS), Date.UTC(2021, 9, 31, 0, 30));
  t.equal(instantOf(paris, wallMs, HOUR_MS), Date.UTC(2021, 9, 31, 1, 30));
  t.equal(instantOf(paris, wallMs, 5 * HOUR_MS), Date.UTC(2021, 9, 31, 0, 30));
  t.equal(instantOf(UTC, wallMs), wallMs);
});

t.test('a skipped wall clock is as much later', async (t) => {
  const paris = zone('Europe/Paris');
  t.equal(instantOf(paris, Date.UTC(2021, 2, 28, 2, 30)), Date.UTC(2021, 2, 28, 1, 30));
  const saoPaulo = zone('America/Sao_Paulo');
  t.equal(
    isoIn(saoPaulo, instantOf(saoPaulo, Date.UTC(2017, 9, 15))),
    '2017-10-15T01:00:00.000-02:00',
  );
  const apia = zone('Pacific/Apia');
  t.equal(
    isoIn(apia, instantOf(apia, Date.UTC(2011, 11, 30, 12))),
    '2011-12-31T12:00:00.000+14:00',
  );
});
