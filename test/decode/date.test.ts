import t from 'tap';
import { parseDateForm } from '../../engine/column/date-form.ts';
import { NUMBER_AS_TEXT } from '../../engine/column/rows.ts';
import { DateFormReader, numberDate, parseDate } from '../../server/decode/date.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);

function parse(text: string, nowMs = NOW_MS): number {
  const padded = Buffer.from(`#${text}5`);
  return parseDate(padded, 1, padded.length - 1, nowMs);
}

t.test('date texts of all forms are read', async (t) => {
  const table: [string, string][] = [
    ['2016-05-10T15:48:47+02:00', '2016-05-10T13:48:47.000Z'],
    ['2016-05-10T15:48:47.123+0000', '2016-05-10T15:48:47.123Z'],
    ['2016-05-10T15:48:47.1234567+01:00', '2016-05-10T14:48:47.123Z'],
    ['2017-02-10T08:21:11.308113714Z', '2017-02-10T08:21:11.308Z'],
    ['2016-05-10T15:48:47.5Z', '2016-05-10T15:48:47.500Z'],
    ['2016-05-10T15:48:47,125', '2016-05-10T15:48:47.125Z'],
    ['2016-05-10 15:48:47', '2016-05-10T15:48:47.000Z'],
    ['2016-05-10 15:48:47 +0200', '2016-05-10T13:48:47.000Z'],
    ['2016-05-10T15:48-0330', '2016-05-10T19:18:00.000Z'],
    ['2016-05-10T15:48:47+02', '2016-05-10T13:48:47.000Z'],
    ['2016-05-10', '2016-05-10T00:00:00.000Z'],
    ['2026-11-21T12:15:08Z+0900', '2026-11-21T03:15:08.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2016-05-10t15:48:47z', '2016-05-10T15:48:47.000Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
    ['1480436496431', '2016-11-29T16:21:36.431Z'],
    ['1480436496431.123', '2016-11-29T16:21:36.431Z'],
    ['1480436496', '2016-11-29T16:21:36.000Z'],
    ['0', '1970-01-01T00:00:00.000Z'],
    [' 2016-05-10 15:48:47.5 UTC ', '2016-05-10T15:48:47.500Z'],
    ['2016-05-10T24:00:00Z', '2016-05-11T00:00:00.000Z'],
    ['2016-05-10T15', '2016-05-10T15:00:00.000Z'],
    ['2016-05', '2016-05-01T00:00:00.000Z'],
    ['2016-131', '2016-05-10T00:00:00.000Z'],
    ['2016-366T12:00Z', '2016-12-31T12:00:00.000Z'],
    ['2016131T154847Z', '2016-05-10T15:48:47.000Z'],
    ['2016-W19', '2016-05-09T00:00:00.000Z'],
    ['2016-W19-2T15:48:47+02', '2016-05-10T13:48:47.000Z'],
    ['2016W192T154847Z', '2016-05-10T15:48:47.000Z'],
    ['2020-W53-7', '2021-01-03T00:00:00.000Z'],
    ['2021-W01-1', '2021-01-04T00:00:00.000Z'],
    ['20160510', '2016-05-10T00:00:00.000Z'],
    ['20161399', '1970-01-01T05:36:01.399Z'],
    ['+002016-05-10T15:48:47Z', '2016-05-10T15:48:47.000Z'],
    ['-000001-01-01T00:00:00Z', '-000001-01-01T00:00:00.000Z'],
    ['20160510T15', '2016-05-10T15:00:00.000Z'],
    ['20160510T1548Z', '2016-05-10T15:48:00.000Z'],
    ['20160510t154847,25-0330', '2016-05-10T19:18:47.250Z'],
  ];
  for (const [text, want] of table) {
    const ms = parse(text);
    t.equal(Number.isNaN(ms) ? 'none' : new Date(ms).toISOString(), want, text);
  }
});

t.test('a date of RFC 3164 lies in the year that is nearest', async (t) => {
  const table: [string, string, string][] = [
    ['Nov 21 12:28:51', '2026-11-21T12:00:00Z', '2026-11-21T12:28:51.000Z'],
    ['Nov  1 02:03:04', '2026-11-21T12:00:00Z', '2026-11-01T02:03:04.000Z'],
    ['Nov 1 02:03:04', '2026-11-21T12:00:00Z', '2026-11-01T02:03:04.000Z'],
    ['nov 01 02:03:04', '2026-11-21T12:00:00Z', '2026-11-01T02:03:04.000Z'],
    ['Dec 31 23:59:59', '2027-01-01T00:00:05Z', '2026-12-31T23:59:59.000Z'],
    ['Jan  1 00:00:10', '2026-12-31T23:59:59Z', '2027-01-01T00:00:10.000Z'],
    ['Feb 29 10:00:00', '2026-11-21T12:00:00Z', '2028-02-29T10:00:00.000Z'],
    ['Feb 29 10:00:00', '2101-01-01T00:00:00Z', '2104-02-29T10:00:00.000Z'],
    ['Nov 21 12:28:51.250', '2026-11-21T12:00:00Z', '2026-11-21T12:28:51.250Z'],
    ['Nov 21 2019 12:28:51', '2026-11-21T12:00:00Z', '2019-11-21T12:28:51.000Z'],
    ['2019 Nov 21 12:28:51', '2026-11-21T12:00:00Z', '2019-11-21T12:28:51.000Z'],
    ['Nov 21 12:28:51 2019', '2026-11-21T12:00:00Z', '2019-11-21T12:28:51.000Z'],
    ['Feb 29 2024 12:28:51', '2026-11-21T12:00:00Z', '2024-02-29T12:28:51.000Z'],
    ['*Mar  1 18:46:11.123 UTC', '2026-03-21T12:00:00Z', '2026-03-01T18:46:11.123Z'],
    ['.Nov 21 12:28:51 PDT', '2026-11-21T12:00:00Z', '2026-11-21T19:28:51.000Z'],
  ];
  for (const [text, now, want] of table) {
    const ms = parse(text, Date.parse(now));
    t.equal(Number.isNaN(ms) ? 'none' : new Date(ms).toISOString(), want, `${text} at ${now}`);
  }
});

t.test('what is no date is none', async (t) => {
  const texts = [
    ...['', ' ', 'now', 'yesterday', '2016-', '2016-13-01', '2016-02-30', '2016-5-10'],
    ...[
      '2016-05-10T',
      '2016-05-10T24:00:01',
      '2016-05-10T25:00',
      '2016-05-10T12:60:00',
      '2016-05-10T12:00:61',
    ],
    ...['2016-05-10T12:00:00.', '2016-05-10T12:00:00.1234567890', '2016-05-10T12:00:00 CET'],
    ...[
      '2016-05-10T12:00:00+2:00',
      '2016-05-10T12:00:00+24:00',
      '2016-05-10T12:00:00+',
      '2016-05-10x12:00',
    ],
    ...[
      'Nov 31 12:28:51',
      'Now 21 12:28:51',
      'Nov 21 12:28',
      'Nov 21 12:28:51Z',
      'ovd 21 12:28:51',
      'Nov 21 12:28:51:',
      'Nov 21 12:28:51 UTC:',
      'Nov 21 12:28:51 XYZ',
      'Nov 21 12:28:51 UTCX',
      'Nov 21 12:28:51 1899',
      'Feb 29 2023 12:28:51',
      '*2026-11-21T12:28:51Z',
      '** Nov 21 12:28:51',
      '20161310T154847Z',
      ...['2016-W00', '2016-W53', '2016-W19-0', '2016-W19-8', '2016W19-2', '2016-W192', '2016-W'],
      ...['2015-366', '2016-000', '2016-1', '2016-05-', '2016-0510', '-000000-01-01', '2016-05Z'],
      '20160510T',
      '20160510T154',
      '2016-05-10T12:00:00 UTCX',
    ],
    ...[
      '1e12',
      '12a',
      '0x10',
      '--1',
      '999999999999999999999',
      '140737488355328',
      '-140737488355329',
    ],
  ];
  for (const text of texts) t.ok(Number.isNaN(parse(text)), text);
  t.equal(parse('140737488355327'), 2 ** 47 - 1);
  t.equal(parse('-140737488355328'), -(2 ** 47));
});

t.test('numbers are milliseconds, or seconds from 1e8 to 1e11', async (t) => {
  const table: [number, number, number][] = [
    [1480436496431, 0, 1480436496431],
    [1480436496431123, 3, 1480436496431],
    [1480436496, 0, 1480436496000],
    [1480436496431, 3, 1480436496431],
    [1480436496431999, 6, 1480436496431],
    [14804364965, 1, 1480436496500],
    [1e8, 0, 1e11],
    [1e8 - 1, 0, 1e8 - 1],
    [1e11, 0, 1e11],
    [1e11 - 1, 0, 99999999999000],
    [-5, 1, -1],
    [1.5e12, NUMBER_AS_TEXT, 1.5e12],
    [1480436496.431, NUMBER_AS_TEXT, 1480436496431],
  ];
  for (const [value, detail, want] of table) t.equal(numberDate(value, detail), want, `${value}`);
  t.ok(Number.isNaN(numberDate(2 ** 47, 0)));
  t.ok(Number.isNaN(numberDate(1e300, NUMBER_AS_TEXT)));
});

t.test('a reader of forms that remembers says what the parser of forms says', async (t) => {
  const reader = new DateFormReader();
  const result = { form: 0, value: 0, timeMs: 0 };
  const zones = ['', 'Z', '+02:00', '-0330', '+0000', '+01:07'];
  const fractions = ['', '.123', '.000', '.123456', '.999999', '.1', '.12x'];
  const beginnings = [
    '2016-05-10T15:48:',
    '2016-05-10T15:49:',
    '2016-05-10 15:49:',
    '0000-01-01T00:00:',
    '2400-01-01T00:00:',
  ];
  for (const beginning of beginnings) {
    for (const zone of zones) {
      for (const fraction of fractions) {
        for (const seconds of ['00', '07', '59', '60', '7']) {
          const text = `${beginning}${seconds}${fraction}${zone}`;
          const bytes = Buffer.from(`${text}000000`);
          const expected = parseDateForm(bytes, 0, text.length, result);
          t.equal(reader.read(bytes, 0, text.length), expected, text);
          if (expected) {
            t.same(
              [reader.form, reader.value, reader.timeMs],
              [result.form, result.value, result.timeMs],
              text,
            );
          }
        }
      }
    }
  }
  t.notOk(new DateFormReader().read(new Uint8Array(40), 0, 0), 'nothing is none');
});

t.test(
  'a date that is beyond the safe numbers leaves nothing behind for the next one',
  async (t) => {
    const reader = new DateFormReader();
    const read = (text: string): boolean => reader.read(Buffer.from(text), 0, text.length);
    t.ok(read('2026-11-23T10:00:00.123Z'));
    const { form } = reader;
    t.notOk(read('9999-12-31T23:59:59.999999+05:45'));
    t.ok(read('2026-11-23T10:00:00.123Z'));
    t.equal(reader.form, form);
  },
);
