import fc from 'fast-check';
import t from 'tap';
import { resolveTime, TimeError, type TimeRequest } from '../../server/language/time.ts';

const NOW = Date.UTC(2021, 2, 31, 12, 34, 56, 789);

/** The instant of `from` in a zone. */
function from(value: string | number, timezone?: string): number {
  const zone = timezone === undefined ? {} : { timezone };
  return resolveTime({ from: value, to: '+200000-01-01', ...zone }, NOW).fromMs;
}

t.test('instants are ISO 8601, epoch milliseconds or date math', async (t) => {
  const values: [string | number, number][] = [
    [0, 0],
    [-1, -1],
    [1480436496431.9, 1480436496431],
    ['1480436496431', 1480436496431],
    ['-5', -5],
    ['1480436496431.123', 1480436496431],
    ['2020', 2020],
    ['now', NOW],
    [' now - 1h ', NOW - 3_600_000],
    ['2021-01-02', Date.UTC(2021, 0, 2)],
    ['2021-02', Date.UTC(2021, 1, 1)],
    ['2021-01-02T03', Date.UTC(2021, 0, 2, 3)],
    ['2021-01-02T03:04', Date.UTC(2021, 0, 2, 3, 4)],
    ['2021-01-02 03:04:05', Date.UTC(2021, 0, 2, 3, 4, 5)],
    ['2021-01-02t03:04:05z', Date.UTC(2021, 0, 2, 3, 4, 5)],
    ['2021-01-02T03:04:05.6Z', Date.UTC(2021, 0, 2, 3, 4, 5, 600)],
    ['2021-01-02T03:04:05,678Z', Date.UTC(2021, 0, 2, 3, 4, 5, 678)],
    ['2021-01-02T03:04:05.123999999Z', Date.UTC(2021, 0, 2, 3, 4, 5, 123)],
    ['2021-01-02T03:04:05+02:00', Date.UTC(2021, 0, 2, 1, 4, 5)],
    ['2021-01-02T03:04:05-0530', Date.UTC(2021, 0, 2, 8, 34, 5)],
    ['2021-01-02T03:04:05+01', Date.UTC(2021, 0, 2, 2, 4, 5)],
    ['2021-01-02T03:04:05 +01:00', Date.UTC(2021, 0, 2, 2, 4, 5)],
    ['2021-W01-2', Date.UTC(2021, 0, 5)],
    ['2021-032T01', Date.UTC(2021, 1, 1, 1)],
    ['20210102T030405Z', Date.UTC(2021, 0, 2, 3, 4, 5)],
    ['2021-01-02T24:00:00Z', Date.UTC(2021, 0, 3)],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ['2020-02-29', Date.UTC(2020, 1, 29)],
    ['0000-01-01', -62_167_219_200_000],
    ['-000001-01-01T00:00:00Z', Date.parse('-000001-01-01T00:00:00Z')],
    ['+012021-01-01T00:00:00Z', Date.parse('+012021-01-01T00:00:00Z')],
  ];
  for (const [value, ms] of values) t.equal(from(value), ms, String(value));
});

t.test('without an offset the zone counts, also for rounding', async (t) => {
  t.equal(from('2021-07-01', 'Europe/Paris'), Date.UTC(2021, 5, 30, 22));
  t.equal(from('2021-07-01T00:00:00Z', 'Europe/Paris'), Date.UTC(2021, 6, 1));
  t.equal(from('2021-07-01T00:00', 'UTC-3'), Date.UTC(2021, 6, 1, 3));
  t.equal(from('now/d', 'Europe/Paris'), Date.UTC(2021, 2, 30, 22));
  t.equal(from('2021-03-28T02:30', 'Europe/Paris'), Date.UTC(2021, 2, 28, 1, 30), 'skipped');
  t.equal(from('2021-10-31T02:30', 'Europe/Paris'), Date.UTC(2021, 9, 31, 0, 30), 'twice');
});

t.test('a zone wins over an offset', async (t) => {
  const zoneOf = (time: Omit<TimeRequest, 'from' | 'to'>) =>
    resolveTime({ from: 0, to: 1, ...time }, NOW).zone.name;
  t.equal(zoneOf({}), 'UTC');
  t.equal(zoneOf({ offset: 7200 }), '+02:00');
  t.equal(zoneOf({ offset: 7_200_000 }), '+02:00');
  t.equal(zoneOf({ timezone: 'Asia/Tokyo', offset: 7200 }), 'Asia/Tokyo');
  t.equal(zoneOf({ timezone: 'GMT' }), 'UTC');
});

t.test('what is malformed is refused by its name, value and what is allowed', async (t) => {
  const times: [TimeRequest, RegExp][] = [
    [{ from: 'soon', to: 0 }, /^time\.from "soon" is not a time; allowed: .*now-15m/],
    [{ from: 0, to: '' }, /^time\.to "" is not a time/],
    [{ from: 0, to: '2021-13-01' }, /^time\.to "2021-13-01"/],
    [{ from: 0, to: '2021-02-29' }, /is not a time/],
    [{ from: 0, to: '2021-00-01' }, /is not a time/],
    [{ from: 0, to: '2021-01-01T25:00' }, /is not a time/],
    [{ from: 0, to: '2021-01-01T24:01' }, /is not a time/],
    [{ from: 0, to: '2021-01-01T00:60' }, /is not a time/],
    [{ from: 0, to: '2021-01-01T00:00:61' }, /is not a time/],
    [{ from: 0, to: '2021-01-01T00:00+24:00' }, /is not a time/],
    [{ from: 0, to: '2021-01-01T00:00:00.Z' }, /is not a time/],
    [{ from: 0, to: '-000000-01-01' }, /is not a time/],
    [{ from: 0, to: '2021-1-1' }, /is not a time/],
    [{ from: 0, to: 'x'.repeat(1000) }, /^time\.to "x{60}\.\.\."/],
    [{ from: 0, to: `now${'+1d'.repeat(1000)}` }, /is not a time/],
    [{ from: 0, to: 9e15 }, /^time\.to 9000000000000000 is out of range/],
    [{ from: '-9e15', to: 0 }, /is not a time/],
    [{ from: 0, to: '99999999999999999999' }, /out of range/],
    [{ from: 0, to: 'now+999999999y' }, /out of range/],
    [{ from: 'now+999999999y/M+1M', to: 0 }, /^time\.from .* out of range/],
    [{ from: 2, to: 1 }, /^time\.from 2 is after time\.to 1; allowed: from <= to/],
    [{ from: 0, to: 1, timezone: 'Mars' }, /^time\.timezone "Mars" is unknown; allowed: .*UTC\+1/],
    [{ from: 0, to: 1, timezone: 'UTC+15' }, /^time\.timezone "UTC\+15"/],
    [{ from: 0, to: 1, offset: 50_400_001 }, /^time\.offset 50400001 is out of range; allowed/],
    [{ from: 0, to: 1, timezone: 'UTC', offset: 1e9 }, /^time\.offset/],
  ];
  for (const [time, message] of times) {
    t.throws(() => resolveTime(time, NOW), { name: 'TimeError', message }, JSON.stringify(time));
  }
});

t.test('an empty range is a range', async (t) => {
  t.match(resolveTime({ from: 5, to: 5 }, NOW), { fromMs: 5, toMs: 5 });
});

t.test('ISO texts that Date prints are read as Date reads them', async () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true, max: new Date('+100000-01-01') }), (date) => {
      try {
        return from(date.toISOString(), 'Asia/Kolkata') === date.getTime();
      } catch (error) {
        return Math.abs(date.getTime()) > 8.639e15 && error instanceof TimeError;
      }
    }),
  );
});

t.test('any text is a time or refused', async () => {
  const parts = fc.array(
    fc.constantFrom('now', '-', '+', '/', '1', '20', 'd', 'M', ':', 'T', 'Z', ' ', '.'),
  );
  fc.assert(
    fc.property(parts, (parts) => {
      try {
        return Number.isInteger(from(parts.join(''), 'America/New_York'));
      } catch (error) {
        return error instanceof TimeError;
      }
    }),
    { numRuns: 2_000 },
  );
});
