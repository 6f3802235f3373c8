import t from 'tap';
import { Batch } from '../../engine/column/batch.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { Decoder } from '../../server/decode/decoder.ts';
import { frameOf, open } from '../segment/block-maker.ts';
import { decodeBody } from '../support/decode-body.ts';
import { RECEIVED_MS } from '../support/decoding.ts';
import { expectedEvent } from '../support/event-model.ts';

const BEFORE = '{"before":[1, 2]}';
const BEHIND = '<13>1 - - app - - - behind n=1';
const BEFORE_EVENT = '{"custom":{"before":[1,2]}}';
const BEHIND_EVENT =
  '{"custom":{"n":1},"syslog":{"prival":13,"severity":5,"facility":1,"version":1,"appname":"app"},"message":"behind n=1"}';

const list = (count: number, text: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => text(at)).join(',');

interface Stored {
  event: string;
  counters: Decoder['counters'];
}

/** The text that a block has of the event of `line`, whose neighbours have to be untouched. */
function stored(line: string | Uint8Array): Stored {
  const between = typeof line === 'string' ? Buffer.from(line) : line;
  const source = Buffer.concat([Buffer.from(`${BEFORE}\n`), between, Buffer.from(`\r\n${BEHIND}`)]);
  const paths = new PathTable();
  const rows = new Rows();
  const decoder = new Decoder(paths, rows);
  decoder.begin(source, RECEIVED_MS, undefined);
  decodeBody(decoder, source, 'lines');
  const batch = new Batch(paths);
  batch.append(rows, 0);
  const block = open(frameOf(batch, 0, rows.rowCount));
  const [first, event, last] = [0, 1, 2].map((row) => block.eventText(row));
  if (first !== BEFORE_EVENT) throw new Error(`before it is ${first}`);
  if (last !== BEHIND_EVENT) throw new Error(`behind it is ${last}`);
  return { event: event ?? '', counters: decoder.counters };
}

t.test(
  'objects of hostile shapes come back by the rules, and neighbours are untouched',
  async (t) => {
    const digits = '1234567890'.repeat(40);
    const table: [string, string][] = [
      ['10,000 attributes', `{${list(10_000, (at) => `"n${at}":${at}`)}}`],
      ['10,000 times one name', `{${list(10_000, (at) => `"n":${at}`)},"m":1}`],
      ['10,000 objects of one name', `{${list(10_000, (at) => `"n":{"a":${at}}`)}}`],
      ['10,000 collisions', `{"n":1,${list(10_000, (at) => `"n.a${at}":1,"n":${at}`)}}`],
      ['names of 100 KB', `{"a":1,${list(5, (at) => `"${at}${'n'.repeat(100_000)}":${at}`)}}`],
      ['a dotted name of 100 KB', `{"${'a.'.repeat(50_000)}b":1}`],
      [
        'names of the prototype',
        '{"__proto__":{"__proto__":[]},"constructor":{"prototype":{}},"a":1}',
      ],
      [
        'the prototype by dots',
        '{"__proto__.polluted":1,"constructor.prototype.x":2,"toString":3}',
      ],
      [
        'huge numbers',
        `{"a":1e400,"b":-1e400,"c":${digits},"d":0.${digits},"e":1e-400,"f":[1e400]}`,
      ],
      ['huge numbers as dates', `{"timestamp":1e400,"date":${digits},"eventTime":-0}`],
      ['lone surrogates', '{"a":"\\ud800","b":"\\udc00\\ud800","\\udfff":["\\ud800"]}'],
      ['escaped NULs', '{"a":"\\u0000","\\u0000":"x\\u0000y","message":"\\u0000"}'],
      ['an attribute of 1 MB', `{"a":"${'x'.repeat(1_000_000)}","b":1}`],
      ['an array of 100,000', `{"a":[${list(100_000, (at) => String(at))}]}`],
      [
        '_excess of its own and too many',
        `{"_excess":{"a":1},${list(1_200, (at) => `"n${at}":1`)}}`,
      ],
    ];
    for (const [title, line] of table) t.ok(stored(line).event === expectedEvent(line), title);
    t.notOk('polluted' in {}, 'no prototype was touched');
  },
);

t.test('a million brackets are text, or a string, and never a crash', async (t) => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ]) {
    const count = Math.floor(1_000_000 / (open.length + close.length));
    const closed = `{"d":${open.repeat(count)}1${close.repeat(count)}}`;
    const { event, counters } = stored(closed);
    t.equal(counters.subtreesTooDeep, 1);
    t.ok(event.length >= closed.length, 'all of it is there');
    const broken = open.repeat(Math.floor(1_000_000 / open.length));
    t.ok(stored(broken).event === `{"custom":{},"message":${JSON.stringify(broken)}}`, 'text');
  }
});

t.test('bytes that are no text come back as U+FFFD, NUL as itself', async (t) => {
  const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
  const table: [string, Uint8Array, string][] = [
    ['all bytes but line ends', Uint8Array.from({ length: 245 }, (_, at) => at + 11), 'message'],
    ['NUL', bytes('a\0b'), '{"custom":{},"message":"a\\u0000b"}'],
    ['NUL in JSON', bytes('{"a":"\0"}'), '{"custom":{},"message":"{\\"a\\":\\"\\u0000\\"}"}'],
    ['an overlong form', bytes('\xc0\x80'), '{"custom":{},"message":"\ufffd\ufffd"}'],
    ['a surrogate in UTF-8', bytes('\xed\xa0\x80'), '{"custom":{},"message":"\ufffd\ufffd\ufffd"}'],
    ['beyond Unicode', bytes('\xf5\x80'), '{"custom":{},"message":"\ufffd\ufffd"}'],
    ['a name', bytes('{"\xff":1}'), '{"custom":{"\ufffd":1}}'],
    ['a header', bytes('<13>1 - h\xff - - - - x'), '"hostname":"h\ufffd"'],
    ['UTF-16', bytes('\xff\xfeh\0i\0'), '{"custom":{},"message":"\ufffd\ufffdh\\u0000i\\u0000"}'],
  ];
  for (const [title, line, part] of table) t.ok(stored(line).event.includes(part), title);
});

t.test('each limit and each repair has its counter', async (t) => {
  const table: [keyof Decoder['counters'], string | Uint8Array][] = [
    ['subtreesTooDeep', `{"a":${'['.repeat(21)}${']'.repeat(21)}}`],
    ['eventsTooWide', `{${list(1_001, (at) => `"n${at}":1`)}}`],
    ['eventsTooWide', `<13>1 - - - - - - ${list(1_001, (at) => `n${at}=1`)}`],
    ['namesRefused', `{"${'n'.repeat(257)}":1}`],
    ['namesRefused', `<13>1 - - - - - - ${'n'.repeat(257)}=1`],
    ['namesRefused', `<13>1 - - - - - [a@1 ${'n'.repeat(257)}="1"] x`],
    ['datesUnread', '{"timestamp":"soon"}'],
    ['textsRepaired', Uint8Array.of(0xff)],
  ];
  for (const [name, line] of table) {
    const { counters } = stored(line);
    const counted = Object.entries(counters).filter(([, count]) => count > 0);
    t.same(counted, [[name, 1]], name);
  }
  t.same(
    Object.values(stored('{"a":1,"timestamp":5}').counters).filter((count) => count > 0),
    [],
    'what is within them counts nothing',
  );
});

t.test('headers and pairs of hostile shapes keep the line', async (t) => {
  const head = '<13>1 - - - - - ';
  const fill = (text: string): string => text.repeat(Math.floor(500_000 / text.length));
  const lines = [
    ...['[', '[a@1 b="', '[a@1 b="1"]x', '] '].map((text) => head + fill(text)),
    ...['a=', 'a="', "a='", 'a=<', '"a ', '"a"=', 'a=1 ', '=', '@cee:{'].map(
      (text) => `${head}- ${fill(text)}`,
    ),
    ...['1:', 'Nov ', ' ', 'h ', '['].map((text) => `<13>Nov 21 ${fill(text)}x`),
    ...[`<13>${fill('1')}`, `<13>1: ${fill('h')}: x`, `<${fill('1')}>`, fill('<')],
  ];
  for (const line of lines) {
    const { event } = stored(line);
    t.ok(event.length >= 100_000, line.slice(0, 40));
    JSON.parse(event);
  }
});
