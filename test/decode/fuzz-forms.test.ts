import fc from 'fast-check';
import t from 'tap';
import { parseDate } from '../../server/decode/date.ts';
import { PairScanner } from '../../server/decode/keyvalue.ts';
import { Note, Pairs } from '../../server/decode/pairs.ts';
import { scanStructuredData } from '../../server/decode/syslog/structured-data.ts';
import {
  addedAttributes,
  bodyEncoding,
  bodyForm,
  keyCandidates,
} from '../../server/listen/header.ts';
import { decodeBody } from '../support/decode-body.ts';
import { Decoding, RECEIVED_MS } from '../support/decoding.ts';
import { seedOf } from '../support/seed.ts';

/** Random and spoilt input for each parser of what comes in: none throws, and what it finds is well formed. */
seedOf(t);

const RUNS = 3000;

/** One of `seeds` in which bytes were changed, cut out or put in, mostly some that mean something. */
function spoilt(seeds: readonly string[], marks: string): fc.Arbitrary<Buffer> {
  const edit = fc.tuple(
    fc.nat(),
    fc.nat(3),
    fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from(marks))),
  );
  return fc
    .tuple(fc.constantFrom(...seeds), fc.array(edit, { maxLength: 5 }))
    .map(([seed, edits]) => {
      const bytes = [...Buffer.from(seed)];
      for (const [place, count, byte] of edits) {
        bytes.splice(place % (bytes.length + 1), count, byte);
      }
      return Buffer.from(bytes.map((byte) => (byte === 0x0a ? 0x20 : byte)));
    });
}

const HEADERS = [
  '<34>1 2003-10-11T22:14:15.003Z host su 12 ID47 [a@1 b="c\\"]" d="e"][f g="h"] \ufeffuser=x n=1 "q r"=\'s\' <t>',
  '<13>0 - - - - - - {"a.b":1,"message":"x","syslog":{"c":[1]}}',
  '<40>1 2026-11-21T12:00:00+01:00 h app web.1 - @cee: {"a":1}',
  '<34>Oct 11 22:14:15 mymachine su[77]: failed to=<a@b>, x="y',
  '<189>42: router1: *Mar  1 18:46:11.123 UTC: %SYS-5-CONFIG_I: Configured a=1',
  '<164>Nov 21 2026 12:28:51 asa1 : %ASA-6-1: Built n==2',
  '<189>: 2026 Nov 21 12:28:51 CEST: %X-1-Y: up',
  'Aug 21 12:36:30.401 2006 router1 chassisd[3]: done',
];

t.test('a line of syslog keeps its text, whatever was spoilt', async () => {
  let decoding = new Decoding();
  let runs = 0;
  fc.assert(
    fc.property(spoilt(HEADERS, '<>[]"\\=: .*1@-{}'), (bytes) => {
      if (runs++ % 500 === 0) decoding = new Decoding();
      const text = bytes.toString();
      const [event] = decoding.line(bytes);
      if (text.trim() === '' && event === undefined) return true;
      const { syslog, message, custom } = JSON.parse(event ?? '');
      if (syslog === undefined) return text.startsWith('{') || message === text;
      if (message === undefined || custom === undefined) return custom !== undefined;
      // Of JSON behind a header the message is what it says, or the text around it.
      return text.endsWith(message) || Object.keys(custom).length > 0 || text.includes('"message"');
    }),
    { numRuns: 2 * RUNS },
  );
});

t.test('structured data is found whole or not at all', async () => {
  const pairs = new Pairs();
  const seeds = [
    '[a@1 b="c\\"]" d="e"][f g="h"][i@2] x',
    '[x@1.2.3 a.b="c"]',
    '[timeQuality tz="1"] y',
  ];
  fc.assert(
    fc.property(spoilt(seeds, '[]"\\= @'), (bytes) => {
      pairs.count = 0;
      const end = scanStructuredData(bytes, 0, bytes.length, pairs);
      if (end < 0) return pairs.count === 0;
      const isWhole = bytes[end - 1] === 0x5d && (end === bytes.length || bytes[end] === 0x20);
      return isWhole && pairs.note[0] === Note.ELEMENT && inOrder(pairs, end);
    }),
    { numRuns: RUNS },
  );
});

t.test('pairs lie in the text, one behind the other, and have names', async () => {
  const pairs = new Pairs();
  const scanner = new PairScanner();
  const seeds = ['a=1 b="x y" c=\'z\' d=<e>, "f g"=h;i= j=null k==l', '"a"="b" "c', 'a="\\"" b'];
  fc.assert(
    fc.property(spoilt(seeds, '"\'<>=\\,; '), (bytes) => {
      pairs.count = 0;
      scanner.scan(bytes, 0, bytes.length, pairs);
      for (let at = 0; at < pairs.count; at++) {
        const before = pairs.valueStart[at] - 1;
        const equals = pairs.note[at] === Note.PLAIN ? before : before - 1;
        if (bytes[equals] !== 0x3d) return false;
      }
      return inOrder(pairs, bytes.length);
    }),
    { numRuns: RUNS },
  );
});

function inOrder(pairs: Pairs, end: number): boolean {
  let at = 0;
  for (let place = 0; place < pairs.count; place++) {
    if (pairs.nameStart[place] < at || pairs.nameEnd[place] <= pairs.nameStart[place]) return false;
    if (pairs.valueStart[place] < pairs.nameEnd[place]) return false;
    if (pairs.valueEnd[place] < pairs.valueStart[place]) return false;
    at = pairs.valueEnd[place];
  }
  return at <= end;
}

t.test('a date is whole milliseconds within bounds, or none', async () => {
  const seeds = [
    ...['2016-05-10T15:48:47.123456789+02:00', '2016-05-10 15:48:47,5 UTC', '20160510T154847Z'],
    ...['2026-11-21T12:15:08Z+0900', '1480436496431.5', '-1480436496431', '2016-05-10'],
    ...[
      'Nov 21 12:28:51',
      '*Mar  1 2026 18:46:11.123 EST',
      '2026 Nov 21 12:28:51',
      'Nov  1 01:01:01 2026',
    ],
  ];
  fc.assert(
    fc.property(spoilt(seeds, '0123456789-:. +TZ*'), (bytes) => {
      const ms = parseDate(bytes, 0, bytes.length, RECEIVED_MS);
      const isRight = Number.isInteger(ms) && ms >= -(2 ** 47) && ms < 2 ** 47;
      return Number.isNaN(ms) || isRight;
    }),
    { numRuns: 3 * RUNS },
  );
});

t.test('a date of ISO 8601 is what Date.parse says', async () => {
  const zone = fc.constantFrom('Z', '+02:00', '-03:30', '+00:00', '+14:00');
  const digits = fc.stringMatching(/^(\.\d{1,9})?$/);
  const days = {
    min: new Date(-60_000_000_000_000),
    max: new Date(2 ** 47 - 1e8),
    noInvalidDate: true,
  };
  fc.assert(
    fc.property(fc.date(days), digits, zone, (day, fraction, offset) => {
      const text = day.toISOString().replace(/\.\d+Z$/, `${fraction}${offset}`);
      if (text.startsWith('+') || text.startsWith('-')) return true;
      const bytes = Buffer.from(text);
      return parseDate(bytes, 0, bytes.length, RECEIVED_MS) === Date.parse(text);
    }),
    { numRuns: RUNS },
  );
});

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

t.test('a date of devices is read from any of its forms', async () => {
  const days = { min: new Date('1970-01-01'), max: new Date('2099-12-31'), noInvalidDate: true };
  fc.assert(
    fc.property(fc.date(days), fc.nat(3), fc.constantFrom('', '*', '.'), (date, form, mark) => {
      const year = date.getUTCFullYear();
      const month = MONTHS[date.getUTCMonth()];
      const day = String(date.getUTCDate()).padStart(2, form === 1 ? '0' : ' ');
      const time = date.toISOString().slice(11, 23);
      const texts = [
        `${mark}${month} ${day} ${year} ${time}`,
        `${mark}${year} ${month} ${day} ${time}`,
        `${mark}${month} ${day} ${time} ${year}`,
        `${mark}${year} ${month} ${day} ${time} UTC`,
      ];
      const bytes = Buffer.from(texts[form]);
      return parseDate(bytes, 0, bytes.length, RECEIVED_MS) === date.getTime();
    }),
    { numRuns: RUNS },
  );
});

t.test('a body of any form is decoded whole, or refused whole', async () => {
  let decoding = new Decoding();
  let runs = 0;
  const seeds = [
    '15 {"a":1,"b":"c"}21 <13>1 - h a - - - x\r\n5 text ',
    '[{"a":1},"x",[2]]{"b":3}',
    'one\r\n{"a":1}\r<13>1 - - - - - -',
    '[info] up {x}',
  ];
  const form = fc.constantFrom('json', 'lines', 'frames', 'auto');
  const breaks = fc.array(fc.nat(), { maxLength: 3 });
  fc.assert(
    fc.property(spoilt(seeds, '0123456789 {}[]",:'), form, breaks, (bytes, as, places) => {
      if (runs++ % 500 === 0) decoding = new Decoding();
      for (const place of places) bytes[place % (bytes.length + 1)] = 0x0a;
      decoding.decoder.begin(bytes, RECEIVED_MS, undefined);
      try {
        decodeBody(decoding.decoder, bytes, as as 'json' | 'lines' | 'frames' | 'auto');
      } catch (error) {
        const isRefusal = error instanceof Error && error.name === 'BadBody';
        return isRefusal && (as === 'json' || as === 'frames') && decoding.rows.rowCount === 0;
      }
      return decoding.events().every((event) => typeof JSON.parse(event) === 'object');
    }),
    { numRuns: RUNS },
  );
});

t.test('types, encodings, keys and names of attributes may be any text', async () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom(
      'application/json;',
      ' TEXT/PLAIN ; charset=x',
      'a.b.c',
      '..',
      'Bearer x',
      'Basic Og==',
    ),
  );
  const decoding = new Decoding();
  fc.assert(
    fc.property(texts, texts, texts, (one, other, value) => {
      const headers = new Map([
        ['x-service-add-ip', one],
        ['x-logmatic-add-useragent', other],
        ['user-agent', value],
        ['authorization', one],
      ]);
      const attributes = addedAttributes(new URLSearchParams(value), headers, () => '192.0.2.7');
      const [event] = decoding.lines('{"a":{"b":1},"c":2}', { attributes });
      const isSound = typeof JSON.parse(event ?? '') === 'object';
      const forms = ['json', 'lines', 'frames', 'auto'];
      const encodings = ['identity', 'gzip', 'deflate', 'br', 'zstd', 'unknown'];
      return (
        isSound &&
        forms.includes(bodyForm(one)) &&
        encodings.includes(bodyEncoding(other)) &&
        keyCandidates(`/v1/input/${one}`, undefined, headers).length <= 2
      );
    }),
    { numRuns: RUNS },
  );
});
