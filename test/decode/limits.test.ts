import t from 'tap';
import { EVENT_BYTES_MAX, PATHS_MAX } from '../../engine/base/limits.ts';
import { Decoding } from '../support/decoding.ts';
import { expectedEvent } from '../support/event-model.ts';

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

type Assertions = Pick<typeof t, 'equal' | 'ok'>;

/** Compares with the model of the rules, and with a part of the event that says what is meant. */
function check(t: Assertions, sent: string, part: string): void {
  const [event] = new Decoding().json(sent);
  t.equal(event, expectedEvent(sent));
  t.ok(event?.includes(part), `${part} is in ${event?.slice(0, 200)}`);
}

t.test('what is deeper than 20 levels becomes a string of its JSON', async (t) => {
  const nested = (levels: number, inner: string): string =>
    `${'{"a":'.repeat(levels)}${inner}${'}'.repeat(levels)}`;
  check(t, nested(20, '1'), '"a":1');
  check(t, nested(20, '{ }'), '"a":{}');
  check(t, nested(20, '[ 1]'), '"a":[1]');
  check(t, nested(20, '[[1]]'), '"a":"[[1]]"');
  check(t, nested(19, '[{"b": 1}]'), '"a":[{"b":1}]');
  check(t, nested(21, ' 1'), '"a":"{\\"a\\":1}"');
  check(t, nested(30, '1'), '"a":"{\\"a\\"');
  check(t, `{"syslog":${nested(21, '1')}}`, '"a":"{\\"a\\":1}"');
  check(t, `{"syslog":${nested(20, '{}')}}`, '"a":{}');
  check(t, nested(18, '{"b.c":{"x":1},"b.d":2}'), '"b":{"c":"{\\"x\\":1}","d":2}');
  check(t, nested(19, '{"b.c":{"x":1},"b":2}'), '"b.c":"{\\"x\\":1}","b":2');
  check(t, nested(10, '{"b":1,"b.c":{"x":{"y":1}}}'), '"b.c":{"x":{"y":1}}');
});

t.test('a name with more parts than levels keeps the dots of its end', async (t) => {
  const names = range(25)
    .map((part) => `n${part}`)
    .join('.');
  check(t, `{"${names}":1}`, '"n18":{"n19.n20.n21.n22.n23.n24":1}');
  check(t, `{"x":1,"${names}":1,"x.y":{"${names}":2}}`, '"x.y":{"n0"');
});

t.test('a million nested arrays or objects are text, or a string', async (t) => {
  const decoding = new Decoding();
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ]) {
    const count = Math.floor(EVENT_BYTES_MAX / (open.length + close.length)) - 4;
    const deep = open.repeat(count) + (close === '}' ? '1' : '') + close.repeat(count);
    t.equal(decoding.lines(`{"b":${deep}}`).length, 1);
    t.equal(decoding.lines(open.repeat(count)).length, 1);
    t.throws(() => decoding.json(open.repeat(1_000_000)));
    t.equal(decoding.json(`[${deep}]`).length, 1);
  }
  t.equal(decoding.decoder.counters.subtreesTooDeep, 3);
});

t.test('attributes beyond 1,000 go to custom._excess, nested as they were', async (t) => {
  const wide = (count: number): string =>
    range(count)
      .map((name) => `"k${name}":${name}`)
      .join(',');
  check(t, `{${wide(1000)}}`, '"k999":999}}');
  check(t, `{${wide(1000)},"message":"m"}`, '"k999":999},"message":"m"}');
  check(t, `{${wide(1001)}}`, '"k999":999,"_excess":"{\\"k1000\\":1000}"');
  check(
    t,
    `{"a":{"b":{${wide(999)}},"c":{"d":1,"e":{"f":[ 2]}},"g":{}},"h":"\\n"}`,
    '"_excess":"{\\"a\\":{\\"c\\":{\\"e\\":{\\"f\\":[2]}},\\"g\\":{}},\\"h\\":\\"\\\\n\\"}"',
  );
  check(
    t,
    `{"syslog":{${wide(600)}},"a":{${wide(600)}},"message":"m"}`,
    '\\"syslog\\":{\\"k400\\"',
  );
  check(t, `{"_excess":7,${wide(1000)}}`, '"_excess":"{\\"_excess\\":7}"');
  check(t, `{"_excess":{"a":7},${wide(1001)}}`, '"_excess":"{\\"_excess\\":{\\"a\\":7},');
  check(t, '{"_excess":7}', '"_excess":7');
  check(
    t,
    `{${wide(999)},"a":1,"b":2,"a.c":3,"b.d":4}`,
    '"_excess":"{\\"b\\":2,\\"a.c\\":3,\\"b.d\\":4}"',
  );
});

t.test(
  'the date is read from an attribute beyond the number, and its key is not kept',
  async (t) => {
    const decoding = new Decoding();
    decoding.decoder.isWriteKey = () => true;
    const wide = range(1200)
      .map((name) => `"k${name}":${name}`)
      .join(',');
    const [event] = decoding.line(
      `{${wide},"date":"2016-05-10T15:48:47Z","logmaticKey":"secret","syslog":{"timestamp":1480436496431}}`,
    );
    t.same(decoding.dates(), ['2016-05-10T15:48:47.000Z']);
    t.notOk(event?.includes('secret'));
    t.equal(Buffer.from(decoding.decoder.writeKey() ?? []).toString(), 'secret');
    t.equal(decoding.decoder.counters.eventsTooWide, 1);
    t.ok(decoding.paths.count < 1100, 'names of the excess make no paths');
  },
);

t.test('attributes with names over 256 bytes go to custom._excess', async (t) => {
  const long = 'é'.repeat(128);
  check(t, `{"${long}":1}`, `"${long}":1`);
  check(t, `{"${long}x":1,"b":2}`, `{"b":2,"_excess":"{\\"${long}x\\":1}"}`);
  check(
    t,
    `{"${long}x":{"a":{"b": 1},"c":[]},"d":{"${long}y":1}}`,
    `{\\"a\\":{\\"b\\":1},\\"c\\":[]},\\"d\\":{`,
  );
  check(t, `{"a.${long}x.b":1,"a.c":2}`, '"a":{"c":2}');
  check(t, `{"syslog.${long}x":1}`, '{"custom":{"_excess":"{\\"syslog\\":{');
  check(t, `{"${long.slice(1)}":1,"${long.slice(1)}.xy":2}`, '_excess');
  check(t, `{"\\u0001\\"\\\\\\ud800${long}":"\\u0001"}`, '_excess');
});

t.test('attributes whose names the path table refuses go to custom._excess', async (t) => {
  const decoding = new Decoding();
  for (let first = 0; decoding.paths.count < PATHS_MAX; first += 900) {
    decoding.json(
      `{${range(900)
        .map((name) => `"n${first + name}":1`)
        .join(',')}}`,
    );
  }
  t.same(decoding.json('{"n1":1,"new":{"a":2},"n2":{"x":3},"date":5,"n3":4}'), [
    '{"custom":{"n1":1,"date":5,"n3":4,"_excess":"{\\"new\\":{\\"a\\":2},\\"n2\\":{\\"x\\":3}}"}}',
  ]);
  t.ok(decoding.decoder.counters.namesRefused >= 2);
  t.same(decoding.json('{"n1":1,"message":"x"}'), ['{"custom":{"n1":1},"message":"x"}']);
});

t.test('a line over 1 MiB is cut between characters and marked', async (t) => {
  const decoding = new Decoding();
  const marked = (message: string): string[] => [
    `{"custom":{"_truncated":true},"message":${JSON.stringify(message)}}`,
  ];
  const fill = 'x'.repeat(EVENT_BYTES_MAX - 2);
  t.same(decoding.line(`${fill}12`).length, 1);
  t.equal(decoding.decoder.counters.linesCut, 0);
  t.same(decoding.line(`${fill}123`), marked(`${fill}12`));
  t.same(decoding.line(`${fill}é3`), marked(`${fill}é`));
  t.same(decoding.line(`${fill}1é3`), marked(`${fill}1`));
  t.same(decoding.line(`${fill}€`), marked(fill));
  t.same(decoding.line(`${fill}1😀`), marked(`${fill}1`));
  t.same(decoding.line(`{"a":"${fill}"}`), marked(`{"a":"${fill}`.slice(0, EVENT_BYTES_MAX)));
  t.equal(decoding.decoder.counters.linesCut, 6);
  const source = Buffer.from('{"a":1}é').subarray(0, 8);
  decoding.decoder.begin(source, 0, undefined);
  decoding.decoder.line(0, source.length, true);
  t.same(decoding.events(), marked('{"a":1}'), 'one that the listener has cut');
});

t.test('the key table is emptied when it is crowded and goes on', async (t) => {
  const decoding = new Decoding();
  // The same paths by other keys: three times as many keys as paths.
  const forms = [
    (parent: number, name: number): string => `"p${parent}.q.n${name}":1`,
    (parent: number, name: number): string => `"p${parent}":{"q.n${name}":1}`,
    (parent: number, name: number): string => `"p${parent}.q":{"n${name}":1}`,
  ];
  for (const form of [...forms, ...forms]) {
    for (let name = 0; name < 60; name++) {
      const sent = `{${range(400)
        .map((parent) => form(parent, name))
        .join(',')}}`;
      const want = range(400).map((parent) => `"p${parent}":{"q":{"n${name}":1}}`);
      if (decoding.json(sent)[0] !== `{"custom":{${want.join(',')}}}`) t.fail(sent);
    }
  }
  t.ok(decoding.paths.count < PATHS_MAX / 2);
});
