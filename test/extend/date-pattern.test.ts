import fc from 'fast-check';
import t from 'tap';
import {
  checkDatePattern,
  DatePattern,
  DatePatternError,
  DatePatterns,
} from '../../server/extend/date-pattern.ts';

const DAY_MS = 86_400_000;
/** 0001-01-01: a day later it is the year 1 in every zone. */
const YEAR_ONE_MS = -62_135_596_800_000;
const NOW_MS = Date.UTC(2016, 10, 21, 12);

function iso(pattern: string, text: string, timezone?: string): string {
  const ms = new DatePattern(pattern, timezone).parse(text, NOW_MS);
  return ms === undefined ? 'none' : new Date(ms).toISOString();
}

t.test('each pattern reads its dates', async (t) => {
  const table: [string, string, string][] = [
    ['dd/MMM/yyyy:HH:mm:ss Z', '06/Mar/2013:01:36:30 +0900', '2013-03-05T16:36:30.000Z'],
    ['MM/dd/yyyy', '11/08/2017', '2017-11-08T00:00:00.000Z'],
    ['yyyy-MM-dd HH:mm:ss', '2016-11-21 09:05:06', '2016-11-21T09:05:06.000Z'],
    ['EEE MMM dd HH:mm:ss yyyy', 'Thu Jun 16 08:29:03 2016', '2016-06-16T08:29:03.000Z'],
    ['EEE MMM d HH:mm:ss yyyy', 'Tue Nov 1 08:29:03 2016', '2016-11-01T08:29:03.000Z'],
    ['EEE MMM dd HH:mm:ss yyyy', 'Sun Nov  6 04:02:13 2005', '2005-11-06T04:02:13.000Z'],
    ["yyyy-MM-dd'T'HH:mm:ss.SSSZZ", '2016-11-29T16:21:36.431+00:00', '2016-11-29T16:21:36.431Z'],
    ["yyyy-MM-dd'T'HH:mm:ss.SSSZ", '2016-11-29T16:21:36.431+0100', '2016-11-29T15:21:36.431Z'],
    ["yyyy-MM-dd'T'HH:mm:ssZ", '2016-11-29T16:21:36Z', '2016-11-29T16:21:36.000Z'],
    ["yyyy-MM-dd'T'HH:mm:ssZ", '2016-11-29T16:21:36-05', '2016-11-29T21:21:36.000Z'],
    ['dd-MM-yyyy HH:mm:ss,SSS', '08-11-2017 10:00:00,5', '2017-11-08T10:00:00.500Z'],
    ['yyyyMMddHHmmssSSS', '20161121092803042', '2016-11-21T09:28:03.042Z'],
    ['yy/MM/dd', '69/01/02', '1969-01-02T00:00:00.000Z'],
    ['yy/MM/dd', '68/01/02', '2068-01-02T00:00:00.000Z'],
    ['MMMM d, yyyy h:mm a', 'September 3, 2016 12:05 AM', '2016-09-03T00:05:00.000Z'],
    ['MMM d, yyyy hh:mm:ss a', 'Sept 3, 2016 12:05:01 pm', '2016-09-03T12:05:01.000Z'],
    ['EEEE, dd-MMM-yy HH:mm:ss z', 'Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['yyyy-MM-dd HH:mm:ss z', '2016-07-01 12:00:00 CEST', '2016-07-01T10:00:00.000Z'],
    ['yyyy-MM-dd HH:mm:ss z', '2016-07-01 12:00:00 PST', '2016-07-01T20:00:00.000Z'],
    ["h 'o''clock' dd.MM.yyyy", "7 o'clock 24.12.2016", '2016-12-24T07:00:00.000Z'],
    ['HH:mm:ss', '23:59:60', '2016-11-21T00:00:00.000Z'],
    ['yyyy-MM', '2016-07', '2016-07-01T00:00:00.000Z'],
  ];
  for (const [pattern, text, expected] of table) t.equal(iso(pattern, text), expected, text);
});

t.test('a text that is no date of the pattern gives nothing', async (t) => {
  const table: [string, string][] = [
    ['yyyy-MM-dd', '2016-02-30'],
    ['yyyy-MM-dd', '2016-13-01'],
    ['yyyy-MM-dd', '2016-12-01 '],
    ['yyyy-MM-dd', '16-12-01'],
    ['HH:mm', '24:00'],
    ['hh:mm a', '13:00 pm'],
    ['hh:mm a', '11:00 xm'],
    ['MMM', 'Fob'],
    ['MMM', 'Janu'],
    ['yyyy Z', '2016 +2500'],
    ['yyyy z', '2016 XYZ'],
    ['yyyy', ''],
    ['yyyy', '2'.repeat(100_000)],
  ];
  for (const [pattern, text] of table) t.equal(iso(pattern, text), 'none', `${pattern}: ${text}`);
});

t.test('the zone is that of the argument unless the text has one', async (t) => {
  const pattern = 'yyyy-MM-dd HH:mm';
  t.equal(iso(pattern, '2016-07-01 12:00', 'Europe/Paris'), '2016-07-01T10:00:00.000Z');
  t.equal(iso(pattern, '2016-12-01 12:00', 'Europe/Paris'), '2016-12-01T11:00:00.000Z');
  t.equal(iso(pattern, '2016-12-01 12:00', 'UTC+05:30'), '2016-12-01T06:30:00.000Z');
  t.equal(iso(`${pattern} Z`, '2016-12-01 12:00 +0100', 'Asia/Tokyo'), '2016-12-01T11:00:00.000Z');
});

t.test('a year that is missing is the nearest one', async (t) => {
  t.equal(iso('MMM dd HH:mm:ss', 'Nov 20 01:02:03'), '2016-11-20T01:02:03.000Z');
  t.equal(iso('MMM dd HH:mm:ss', 'Jan  2 01:02:03'), '2017-01-02T01:02:03.000Z');
  t.equal(iso('MMM dd', 'Feb 29'), '2016-02-29T00:00:00.000Z');
  const december = new DatePattern('MMM dd').parse('Dec 31', Date.UTC(2016, 0, 1));
  t.equal(december, Date.UTC(2015, 11, 31));
});

t.test('patterns, zones and locales that mean nothing are refused by name', async (t) => {
  const refusals: [() => unknown, RegExp][] = [
    [() => checkDatePattern('yyyy-QQ'), /unknown letter "Q" at character 6 .* allowed are y, M, d/],
    [() => checkDatePattern('yyy'), /"yyy" at character 1/],
    [() => checkDatePattern('MMMMM'), /"MMMMM" at character 1/],
    [() => checkDatePattern("yyyy'T"), /quote at character 5 .* is not closed/],
    [() => checkDatePattern(''), /has 0 characters, allowed are 1 to 100/],
    [() => checkDatePattern('y'.repeat(101)), /has 101 characters/],
    [() => checkDatePattern("'T'-"), /has none of the letters/],
    [() => checkDatePattern('yyyy', 'Mars/Olympus'), /unknown time zone "Mars\/Olympus"/],
    [() => new DatePattern('MMM', 'UTC', 'fr'), /unknown locale "fr".*English/],
  ];
  for (const [make, expected] of refusals) {
    t.throws(make, { name: 'DatePatternError', message: expected });
  }
  t.doesNotThrow(() => new DatePattern('MMM', 'UTC', 'en-US'));
});

t.test('the first of several patterns that fits counts', async (t) => {
  const patterns = new DatePatterns(['yyyy-MM-dd', 'dd/MM/yyyy'], 'Europe/Paris');
  t.equal(patterns.parse('01/07/2016', NOW_MS), Date.UTC(2016, 5, 30, 22));
  t.equal(patterns.parse('2016-07-01', NOW_MS), Date.UTC(2016, 5, 30, 22));
  t.equal(patterns.parse('1.7.2016', NOW_MS), undefined);
});

t.test('a date that was printed comes back, and its text has the form of the source', async (t) => {
  const names = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
  const pad = (value: number, width = 2): string => String(value).padStart(width, '0');
  const pattern = new DatePattern('dd/MMM/yyyy:HH:mm:ss.SSS Z');
  const form = new RegExp(`^(?:${pattern.source})$`, 'u');
  fc.assert(
    fc.property(
      fc.integer({ min: YEAR_ONE_MS + DAY_MS, max: 140_000_000_000_000 }),
      fc.integer({ min: -56, max: 56 }),
      (ms, quarters) => {
        const date = new Date(ms + quarters * 900_000);
        const size = Math.abs(quarters) * 15;
        const offset = `${quarters < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}${pad(size % 60)}`;
        const day = `${pad(date.getUTCDate())}/${names[date.getUTCMonth()]}/${pad(date.getUTCFullYear(), 4)}`;
        const time = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())}`;
        const text = `${day}:${time}.${pad(date.getUTCMilliseconds(), 3)} ${offset}`;
        t.match(text, form);
        t.equal(pattern.parse(text, NOW_MS), ms, text);
      },
    ),
    { numRuns: 300 },
  );
});

t.test('any pattern is read or refused, and any text gives a date or nothing', async () => {
  const pattern = fc.string({
    unit: fc.constantFrom(...'yMdHhmsSaEZz', ...'yMdHms', ' ', '-', ':', "'", '.', 'é', '\\', 'Q'),
    maxLength: 24,
  });
  const text = fc.string({ unit: fc.constantFrom(...'0123456789 -:.+ZapmJanéT'), maxLength: 40 });
  fc.assert(
    fc.property(pattern, fc.array(text, { maxLength: 5 }), (format, texts) => {
      try {
        const dates = new DatePattern(format);
        new RegExp(dates.source, 'u');
        for (const each of texts) {
          const ms = dates.parse(each, NOW_MS);
          if (ms !== undefined && !new RegExp(`^(?:${dates.source})$`, 'u').test(each)) {
            throw new Error(`${format} reads ${each}, its source does not`);
          }
        }
      } catch (error) {
        if (!(error instanceof DatePatternError)) throw error;
      }
    }),
    { numRuns: 3_000 },
  );
});
