import t from 'tap';
import { EVENT_BYTES_MAX } from '../../engine/base/limits.ts';
import { BadBody, EventTooLarge } from '../../server/decode/body.ts';
import { Decoding } from '../support/decoding.ts';

const text = (message: string): string => `{"custom":{},"message":${JSON.stringify(message)}}`;
const object = (members: string): string => `{"custom":{${members}}}`;

t.test('lines end with a line feed, maybe after a return, or with the body', async (t) => {
  const decoding = new Decoding();
  const table: [string, string[]][] = [
    ['', []],
    ['\n\r\n \t\r\n', []],
    ['one', [text('one')]],
    ['one\n', [text('one')]],
    ['one\r\ntwo\n\nthree', [text('one'), text('two'), text('three')]],
    [' a \n\tb', [text(' a '), text('\tb')]],
    ['a\r\r\nb\rc\r', [text('a\r'), text('b\rc\r')]],
    ['a\u0000b\u0007', [text('a\u0000b\u0007')]],
    ['\ufeffone', [text('one')]],
    ['{"a":1}\r\n {"a":2} \nx', [object('"a":1'), object('"a":2'), text('x')]],
  ];
  for (const [body, want] of table) t.same(decoding.lines(body), want, JSON.stringify(body));
});

t.test('a line that is not a whole JSON object is text', async (t) => {
  const decoding = new Decoding();
  const lines = [
    ...['{', '{}x', '{"a":1', '{"a":1}{"b":2}', '{"a":1},', '{a:1}', '{"a":01}', '{"a":"\u0001"}'],
    ...['{"a":1,}', '{"a" 1}', '{"a":1 "b":2}', '{"a":[1}', '{"a":tru}', '{"a.b":1,"c":2,"a.d":}'],
    ...['[1]', '[{"a":1}]', '5', 'null', '"quoted"', '{"a":"\\x"}', '{"a\\x":1}', '{"a":1,"a":[}'],
  ];
  for (const line of lines) t.same(decoding.lines(line), [text(line)], line);
  t.same(decoding.lines(`{"a":1}\n${lines.join('\n')}\n{"b":2}`).length, lines.length + 2);
});

t.test('a JSON string is its content on raw channels only', async (t) => {
  const decoding = new Decoding();
  decoding.decoder.unquotes = true;
  t.same(decoding.line('"a \\"word\\""'), [text('a "word"')]);
  t.same(decoding.line(' "plain" '), [text('plain')]);
  t.same(decoding.line('"{\\"a\\":\\"\\\\u00e9\\",\\"b\\":[ 1]}"'), [object('"a":"é","b":[1]')]);
  t.same(decoding.line('"\\"twice\\""'), [text('"twice"')], 'once');
  t.same(decoding.line('"open'), [text('"open')]);
  t.same(decoding.line('"a" b'), [text('"a" b')]);
  t.same(decoding.line('"a\\n" b'), [text('"a\\n" b')]);
  t.same(decoding.line('" "'), [], 'blank');
});

t.test('a JSON body is an object, an array or several of them', async (t) => {
  const decoding = new Decoding();
  const table: [string, string[]][] = [
    ['', []],
    [' \n', []],
    ['[]', []],
    [' [ ] ', []],
    ['{"a":1}', [object('"a":1')]],
    ['\ufeff{"a":1}', [object('"a":1')]],
    ['[{"a":1},{"a":2}]', [object('"a":1'), object('"a":2')]],
    ['[ {"a":1} , {} ]', [object('"a":1'), object('')]],
    ['{"a":1}{"b":2}\n{"c":3}', [object('"a":1'), object('"b":2'), object('"c":3')]],
    ['[{"a":1}]\n[{"b":2}]', [object('"a":1'), object('"b":2')]],
    ['["one","{\\"a\\":1}",""," "]', [text('one'), object('"a":1')]],
    ['["a\\nb\\u0000"]', [text('a\nb\u0000')]],
    ['["{\\"a\\":1"]', [text('{"a":1')]],
    [
      '[1,-2.50,true,null,[1, [2]]]',
      [text('1'), text('-2.50'), text('true'), text('null'), text('[1,[2]]')],
    ],
    ['"one"', [text('one')]],
    ['5', [text('5')]],
  ];
  for (const [body, want] of table) t.same(decoding.json(body), want, body);
});

t.test('a JSON body with an error anywhere is refused whole and leaves no rows', async (t) => {
  const decoding = new Decoding();
  const table: [string, number][] = [
    ['{"a":1', 6],
    ['[{"a":1}', 8],
    ['[{"a":1},]', 9],
    ['[{"a":1},{"a":x}]', 14],
    ['[{"a":1} {"a":2}]', 9],
    ['{"a":1},{"a":2}', 7],
    ['{"a":1}]', 7],
    ['[1,2', 4],
    ['[1,tru]', 3],
    ['["a', 1],
    ['[[1,]]', 4],
    ['1 2', 2],
    ['{"a":1} "x"', 8],
    ['{"b.c":1,"d":2,"b.e":}', 21],
    ['text', 0],
  ];
  for (const [body, offset] of table) {
    t.throws(() => decoding.json(body), BadBody, body);
    try {
      decoding.json(body);
    } catch (error) {
      t.equal(error instanceof BadBody && error.offset, offset, body);
    }
    t.equal(decoding.rows.rowCount, 0);
    t.equal(decoding.rows.entryCount, 0);
    t.equal(decoding.rows.sideBytes, 0);
  }
});

t.test('only the given range is read', async (t) => {
  const decoding = new Decoding();
  const source = Buffer.from('xx{"a":12}34"]}\n');
  decoding.decoder.begin(source, 0, undefined, 2, 10);
  decoding.decoder.line(2, 10);
  decoding.decoder.line(2, 9);
  decoding.decoder.line(2, 8);
  t.same(decoding.events(), [object('"a":12'), text('{"a":12'), text('{"a":1')]);
});

t.test('an event over 1 MiB in a body is refused, and one of 1 MiB is not', async (t) => {
  const decoding = new Decoding();
  const long = 'x'.repeat(EVENT_BYTES_MAX - 8);
  t.equal(decoding.json(`{"a":"${long}"}`).length, 1);
  t.equal(decoding.json(`[{"a":"${long}"},{}]`).length, 2);
  t.throws(() => decoding.json(`[{},{"a":"x${long}"}]`), EventTooLarge);
  t.throws(() => decoding.json(`["123456x${long}"]`), EventTooLarge);
  t.equal(decoding.rows.rowCount, 0);
  t.equal(decoding.lines(`${long}12345678\n`).length, 1);
  t.throws(() => decoding.lines(`a\n${long}123456789\n`), EventTooLarge);
  t.equal(decoding.rows.rowCount, 0);
});

t.test('bytes that are not UTF-8 become U+FFFD, in their event only', async (t) => {
  const decoding = new Decoding();
  const bad = Buffer.from(
    'one\ntw\xffo\n{"a":"\xc3","b":"\xe9"}\n{"a":"\\n"}\nlast\xe2\x82',
    'latin1',
  );
  t.same(decoding.lines(bad), [
    text('one'),
    text('tw\ufffdo'),
    object('"a":"\ufffd","b":"\ufffd"'),
    object('"a":"\\n"'),
    text('last\ufffd'),
  ]);
  t.equal(decoding.decoder.counters.textsRepaired, 3);
  const body = Buffer.from('[{"a":"\xff"},"x\xfe\\n",{"b":"\\n"},"y",["\xfd"],5]', 'latin1');
  t.same(decoding.json(body), [
    object('"a":"\ufffd"'),
    text('x\ufffd\n'),
    object('"b":"\\n"'),
    text('y'),
    text('["\ufffd"]'),
    text('5'),
  ]);
  t.equal(decoding.decoder.counters.textsRepaired, 6);
  t.same(decoding.lines('é€😀\n'), [text('é€😀')]);
  t.equal(decoding.decoder.counters.textsRepaired, 6);
});

t.test('a byte order mark inside of a line stays', async (t) => {
  const decoding = new Decoding();
  t.same(decoding.lines(Buffer.concat([Buffer.from('a\n\ufeffb'), Buffer.from([0xff])])), [
    text('a'),
    text('\ufeffb\ufffd'),
  ]);
});

t.test('the attribute logmaticKey is taken out when it is a write key', async (t) => {
  const decoding = new Decoding();
  const key = (): string | undefined => {
    const bytes = decoding.decoder.writeKey();
    return bytes === undefined ? undefined : Buffer.from(bytes).toString();
  };
  t.same(decoding.line('{"logmaticKey":"k","a":1}'), [object('"logmaticKey":"k","a":1')]);
  t.equal(key(), undefined);
  decoding.decoder.isWriteKey = (bytes, start, end) => bytes[start] !== 0x6e && end > start;
  const table: [string, string | undefined, string[]][] = [
    ['{"logmaticKey":"k-_1","a":1}', 'k-_1', [object('"a":1')]],
    ['{"a":"\\n","logmaticKey":"k\\u0031"}', 'k1', [object('"a":"\\n"')]],
    ['{"logmaticKey":"k"}', 'k', [object('')]],
    ['{"logmaticKey":"k","logmaticKey":"l"}', 'l', [object('')]],
    ['{"a.b":1,"logmaticKey":"k","c":1,"a.d":2}', 'k', [object('"a":{"b":1,"d":2},"c":1')]],
    ['{"logmaticKey":"nope"}', undefined, [object('"logmaticKey":"nope"')]],
    ['{"logmaticKey":5}', undefined, [object('"logmaticKey":5')]],
    ['{"a":{"logmaticKey":"k"}}', undefined, [object('"a":{"logmaticKey":"k"}')]],
    ['{"logmaticKey":"k"} x', undefined, [text('{"logmaticKey":"k"} x')]],
    ['text', undefined, [text('text')]],
  ];
  for (const [line, want, events] of table) {
    t.same(decoding.line(line), events, line);
    t.equal(key(), want, line);
  }
});

t.test('the last line can be taken back', async (t) => {
  const decoding = new Decoding();
  const source = Buffer.from('{"a":1}{"b":2} ');
  decoding.decoder.begin(source, 0, undefined);
  decoding.decoder.line(0, 7);
  decoding.decoder.line(7, 14);
  decoding.decoder.dropLine();
  t.same(decoding.events(), [object('"a":1')]);
  decoding.decoder.line(14, 15);
  decoding.decoder.dropLine();
  t.same(decoding.events(), [object('"a":1')], 'a blank line had no event');
  decoding.decoder.line(7, 14);
  t.same(decoding.events(), [object('"a":1'), object('"b":2')]);
});
