import fc from 'fast-check';
import t from 'tap';
import { Decoding, RECEIVED_MS } from '../support/decoding.ts';
import { expectedEvent } from '../support/event-model.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);

/** Events as sent, and as they come back: the rules of INTERFACE.md 2.3 by example. */
const EVENTS: [string, string, string][] = [
  ['attributes go under custom', '{"a":1}', '{"custom":{"a":1}}'],
  ['an event may be empty', '{ }', '{"custom":{}}'],
  ['a string message', '{"message":"x","a":1}', '{"custom":{"a":1},"message":"x"}'],
  ['a message that is no string', '{"message":{"x":1}}', '{"custom":{"message":{"x":1}}}'],
  ['a message inside', '{"a":{"message":"x"}}', '{"custom":{"a":{"message":"x"}}}'],
  ['syslog object', '{"syslog":{"appname":"x"}}', '{"custom":{},"syslog":{"appname":"x"}}'],
  ['dotted syslog', '{"syslog.appname":"x","a":1}', '{"custom":{"a":1},"syslog":{"appname":"x"}}'],
  ['empty syslog', '{"syslog":{}}', '{"custom":{},"syslog":{}}'],
  [
    'syslog of both kinds',
    '{"syslog":{"a":1},"b":2,"syslog.c":3}',
    '{"custom":{"b":2},"syslog":{"a":1,"c":3}}',
  ],
  ['another syslog', '{"syslog":"x"}', '{"custom":{"syslog":"x"}}'],
  ['syslog as both', '{"syslog":"x","syslog.a":1}', '{"custom":{"syslog":"x"},"syslog":{"a":1}}'],
  ['syslog inside', '{"a":{"syslog.b":1}}', '{"custom":{"a":{"syslog":{"b":1}}}}'],
  ['custom stays', '{"custom":{"a":1},"custom.b":2}', '{"custom":{"custom":{"a":1,"b":2}}}'],
  [
    'dots are objects',
    '{"http.status":200,"http.verb":"GET"}',
    '{"custom":{"http":{"status":200,"verb":"GET"}}}',
  ],
  ['at their first position', '{"a.b":1,"c":2,"a.d":3}', '{"custom":{"a":{"b":1,"d":3},"c":2}}'],
  ['dots inside', '{"a":{"b.c":1,"b.d":2}}', '{"custom":{"a":{"b":{"c":1,"d":2}}}}'],
  ['an escaped dot', '{"a\\u002eb":1}', '{"custom":{"a":{"b":1}}}'],
  [
    'empty parts',
    '{"a..b":1,".a":2,"a.":3,".":4,"":5}',
    '{"custom":{"a..b":1,".a":2,"a.":3,".":4,"":5}}',
  ],
  ['collision', '{"a":1,"a.b":2}', '{"custom":{"a":1,"a.b":2}}'],
  ['collision, longer first', '{"a.b":2,"a":1}', '{"custom":{"a.b":2,"a":1}}'],
  [
    'collision inside',
    '{"com.app":"x","com.app.project":"y"}',
    '{"custom":{"com":{"app":"x","app.project":"y"}}}',
  ],
  ['collision of three', '{"a":1,"a.b.c":2,"a.b":3}', '{"custom":{"a":1,"a.b.c":2,"a.b":3}}'],
  [
    'objects that come back',
    '{"a.x":1,"b.x":2,"a.y.p":3,"b.y":4,"c":5,"a.y.q":6,"a.z":7}',
    '{"custom":{"a":{"x":1,"y":{"p":3,"q":6},"z":7},"b":{"x":2,"y":4},"c":5}}',
  ],
  [
    'collision with names in between',
    '{"a.b":1,"z":2,"a.c.d":3,"a":4,"y":5,"a.e":6,"z.x":7}',
    '{"custom":{"a.b":1,"a.c.d":3,"z":2,"a":4,"y":5,"a.e":6,"z.x":7}}',
  ],
  [
    'a repeated key that comes back, and collides',
    '{"a.b":1,"c":2,"a.b":3,"a":4,"a.b":5,"a":6}',
    '{"custom":{"a.b":5,"c":2,"a":6}}',
  ],
  ['repeated escaped key', '{"é":1,"\\u00e9":2,"b":3,"\\u00e9":4}', '{"custom":{"é":4,"b":3}}'],
  ['repeated key', '{"a":1,"b":2,"a":3}', '{"custom":{"a":3,"b":2}}'],
  ['repeated object', '{"a":{"x":1},"b":2,"a":{"y":3}}', '{"custom":{"a":{"y":3},"b":2}}'],
  ['repeated message', '{"message":"x","b":2,"message":5}', '{"custom":{"message":5,"b":2}}'],
  [
    'dots merge into an object',
    '{"a":{"x":1},"b":2,"a.y":3}',
    '{"custom":{"a":{"x":1,"y":3},"b":2}}',
  ],
  ['an object merges into dots', '{"a.x":1,"a":{"y":2}}', '{"custom":{"a":{"x":1,"y":2}}}'],
  ['dots and object, same place', '{"a":{"x":1},"a.x":2}', '{"custom":{"a":{"x":2}}}'],
  [
    'nothing is lost',
    '{"a":null,"b":[],"c":{},"d":[{}],"e":""}',
    '{"custom":{"a":null,"b":[],"c":{},"d":[{}],"e":""}}',
  ],
  [
    'number texts',
    '{"a":0.610,"b":12345678901234567890,"c":-0,"d":1E5}',
    '{"custom":{"a":0.610,"b":12345678901234567890,"c":-0,"d":1E5}}',
  ],
  ['order of keys', '{"10":1,"9":2,"a":3,"1":4}', '{"custom":{"10":1,"9":2,"a":3,"1":4}}'],
  [
    'arrays lose blanks only',
    '{"a":[ 1, {"b.c" : "x y"} ,[ ]]}',
    '{"custom":{"a":[1,{"b.c":"x y"},[]]}}',
  ],
  ['strings', '{"a":"\\u00e9\\n\\/\\ud83d\\ude00\\ud800"}', '{"custom":{"a":"é\\n/😀\\ud800"}}'],
  [
    'the prototype',
    '{"__proto__":1,"constructor":{"x":2}}',
    '{"custom":{"__proto__":1,"constructor":{"x":2}}}',
  ],
];

t.test('an object comes back by the rules', async (t) => {
  const decoding = new Decoding();
  for (const [title, sent, want] of EVENTS) {
    t.equal(expectedEvent(sent), want, `${title}, by the model`);
    t.same(decoding.line(sent), [want], title);
    t.same(decoding.json(` [ ${sent} ] `), [want], `${title}, in an array`);
  }
});

t.test('the first date attribute that can be read is the date', async (t) => {
  const decoding = new Decoding();
  const table: [string, string][] = [
    ['{"a":1}', '2026-11-21T12:00:00.000Z'],
    ['{"date":"2016-05-10T15:48:47Z"}', '2016-05-10T15:48:47.000Z'],
    ['{"date":1480436496431}', '2016-11-29T16:21:36.431Z'],
    ['{"date":"x"}', '2026-11-21T12:00:00.000Z'],
    ['{"date":[1]}', '2026-11-21T12:00:00.000Z'],
    [
      '{"date":"2016-05-10T15:48:47Z","timestamp":"2017-01-01T00:00:00Z"}',
      '2017-01-01T00:00:00.000Z',
    ],
    ['{"date":"2016-05-10T15:48:47Z","timestamp":"x"}', '2016-05-10T15:48:47.000Z'],
    [
      '{"date_access":1480436496431,"@timestamp":"2017-01-01T00:00:00Z"}',
      '2017-01-01T00:00:00.000Z',
    ],
    [
      '{"date_access":1480436496431,"syslog.timestamp":"2018-01-01T00:00:00Z"}',
      '2018-01-01T00:00:00.000Z',
    ],
    ['{"syslog":{"timestamp":"2018-01-01T00:00:00Z"}}', '2018-01-01T00:00:00.000Z'],
    ['{"date_access":"2016-05-10 15:48:47,5"}', '2016-05-10T15:48:47.500Z'],
    ['{"a":{"date":"2016-05-10T15:48:47Z"}}', '2026-11-21T12:00:00.000Z'],
    ['{"date":"2016-05-10T15:48:47Z","date":"2017-01-01T00:00:00Z"}', '2017-01-01T00:00:00.000Z'],
    ['{"date":"2016-05-10T15:48:47Z","a.b":1,"c":2,"a.d":3}', '2016-05-10T15:48:47.000Z'],
    ['{"timestamp":"9999-01-01T00:00:00Z"}', '2026-11-21T12:00:00.000Z'],
    ['{"timestamp":"\\u0032016-05-10T15:48:47Z"}', '2016-05-10T15:48:47.000Z'],
  ];
  for (const [sent, want] of table) {
    t.same(decoding.json(sent).length, 1);
    t.same(decoding.dates(), [want], sent);
    t.equal(decoding.events()[0], expectedEvent(sent), 'the attribute stays');
  }
  t.equal(decoding.decoder.counters.datesUnread, 3);
});

t.test('date attributes in a known form are dates, others strings', async (t) => {
  const decoding = new Decoding();
  decoding.json(
    '{"date":"2016-05-10T15:48:47.5Z","timestamp":"2016-05-10T15:48:47Z","a":"2016-05-10T15:48:47Z"}',
  );
  t.same([...decoding.rows.kind.subarray(0, 3)], [4, 6, 4]);
  t.equal(decoding.rows.value[1], Date.UTC(2016, 4, 10, 15, 48, 47));
});

const NAMES = [
  ...[
    'a',
    'b',
    'c',
    'a.b',
    'a.b.c',
    'b.a',
    'c.a',
    'a.b.c.d',
    '.a',
    'a..b',
    'a.',
    '',
    'é',
    'x"y',
    '\ud800',
  ],
  ...[
    'message',
    'message.x',
    'syslog',
    'syslog.a',
    'syslog.a.b',
    'custom',
    'custom.a',
    'timestamp',
    '_excess',
  ],
];

/** JSON texts of objects whose names repeat, collide and come back, with blanks anywhere. */
const objectText: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>((tie) => {
  const blank = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r ');
  const name = fc.constantFrom(...NAMES).map((text) => JSON.stringify(text));
  const number = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,6})?([eE][-+]?\d{1,3})?$/);
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }).map((value) => JSON.stringify(value)),
    fc.constantFrom('"\\u0041\\/"', '"\\ud83d\\ude00"', '"\\ud83d"', '"2016-05-10T15:48:47.123Z"'),
  );
  const list = (open: string, close: string, member: fc.Arbitrary<string>) =>
    fc
      .tuple(
        fc.array(
          fc.tuple(blank, member, blank).map((parts) => parts.join('')),
          { maxLength: 5 },
        ),
        blank,
      )
      .map(([members, gap]) => open + (members.length > 0 ? members.join(',') : gap) + close);
  const member = fc
    .tuple(name, blank, blank, tie('value'))
    .map(([key, before, behind, value]) => `${key}${before}:${behind}${value}`);
  return {
    value: fc.oneof(
      { maxDepth: 5, depthSize: 'medium' },
      fc.constantFrom('null', 'true', 'false', '[]', '{}'),
      number,
      text,
      tie('object'),
      tie('object'),
      list('[', ']', tie('value')),
    ),
    object: list('{', '}', member),
  };
}).object;

t.test('any object comes back as the model of the rules says', async (t) => {
  let decoding = new Decoding();
  let runs = 0;
  fc.assert(
    fc.property(objectText, (sent) => {
      // Names that were met stay in the path table, which is bounded.
      if (runs++ % 500 === 0) decoding = new Decoding();
      const [event] = decoding.json(sent);
      if (event !== expectedEvent(sent))
        throw new Error(`${event}\nis not\n${expectedEvent(sent)}`);
    }),
    { numRuns: 3000 },
  );
  t.equal(decoding.rows.receivedMs, RECEIVED_MS);
});
