import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { CORPORA } from '../../bench/corpus/index.ts';
import { AccessLogExtractor } from '../../server/extend/access-log/access-log.ts';
import { accessLineOf, requestLineOf } from '../../server/extend/access-log/access-log-line.ts';
import { compileStep } from '../../server/extend/compile.ts';
import { Extender } from '../../server/extend/extender.ts';
import { type Attributes, NumberText } from '../../server/extend/extraction.ts';
import { Decoding } from '../support/decoding.ts';

const FIXTURE = new URL('../fixture/extend/access-lines.txt', import.meta.url);
const CORPUS = new URL('../fixture/corpus/', import.meta.url);
const LINES = readFileSync(FIXTURE, 'utf8')
  .split('\n\n')
  .filter((part) => part !== '')
  .map((part) => part.split('\n')[1]);

/** Decodes events with the extension, or without it. */
class Extending extends Decoding {
  constructor(isOn: boolean) {
    super();
    if (!isOn) return;
    const step = compileStep({
      ...{ id: 'access_log', action: { kind: 'access_log' }, predicate: { type: 'all' } },
      ...{ sources: ['message', 'custom.log'], target: undefined },
    });
    const extender = new Extender([step], this.paths, this.rows, this.decoder.counters, {
      failed: (id, error) => t.fail(`${id}: ${error}`),
    });
    this.decoder.extension = (hasDate) => extender.extendRow(hasDate);
  }
}

interface Shown {
  custom: Record<string, unknown>;
  message?: string;
}

const extending = new Extending(true);
const plain = new Extending(false);
const shownOf = (decoding: Decoding, line: string): Shown | undefined =>
  decoding.lines(line).map((text): Shown => JSON.parse(text, withNumberTexts))[0];

/** Keeps numbers as they are written. */
function withNumberTexts(_: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source ? new NumberText(context.source) : value;
}

/** Attributes by their dotted names. */
function flat(object: object, prefix = '', attributes: Attributes = new Map()): Attributes {
  for (const [name, value] of Object.entries(object)) {
    const isObject = value instanceof Object && !Array.isArray(value);
    if (isObject && !(value instanceof NumberText)) flat(value, `${prefix}${name}.`, attributes);
    else attributes.set(prefix + name, value);
  }
  return attributes;
}

/** Says what became of a line's message; throws when it lost a character. */
function kept(line: string): 'whole' | 'rebuilt' {
  const before = shownOf(plain, line);
  const after = shownOf(extending, line);
  if (before?.message === after?.message) return 'whole';
  const text = before?.message ?? String(before?.custom['log']);
  const attributes = flat(after?.custom ?? {});
  if (accessLineOf(attributes) !== text) throw new Error(`${text} became ${after?.message}`);
  if (requestLineOf(attributes) !== after?.message) throw new Error(`${after?.message}: request`);
  return 'rebuilt';
}

t.test('a line whose message is the request line can be rebuilt from its attributes', async (t) => {
  const rebuilt = LINES.filter((line) => kept(line) === 'rebuilt');
  t.ok(rebuilt.length > 40, `${rebuilt.length} of ${LINES.length} lines`);
  const message = shownOf(extending, rebuilt[0])?.message;
  t.equal(message, 'GET /apache_pb.gif HTTP/1.0');
});

t.test('no line of a corpus loses a character', async (t) => {
  for (const { name, make } of CORPORA) {
    const next = make(1);
    for (let at = 0; at < 100; at++) kept(next());
    t.pass(name);
  }
  for (const name of ['bodies', 'dates', 'json-loggers', 'key-value', 'rfc3164', 'rfc5424']) {
    const entries = readFileSync(new URL(`${name}.jsonl`, CORPUS), 'utf8')
      .trim()
      .split('\n');
    const inputs = entries.map((entry) => JSON.parse(entry).input ?? '').join('\n');
    for (const line of inputs.split('\n')) kept(line);
  }
});

t.test('what no attribute tells keeps the line whole', async (t) => {
  const DATE = '[10/Oct/2000:13:55:36 -0700]';
  const whole = [
    `h - - ${DATE} "GET / HTTP/1.1" 200 1 "-" "-"`,
    `h - - ${DATE} "GET / HTTP/1.1" 200 1 "-" "a" "-"`,
    `h - - ${DATE} "GET / HTTP/1.1" 200 1 `,
    `h  - - ${DATE} "GET / HTTP/1.1" 200 1`,
    `h - - ${DATE} "GET  / HTTP/1.1" 200 1`,
    `h - - ${DATE} "GET / HTTP/1.1" 200 007`,
    `h - - ${DATE} "GET / HTTP/1.1" 200`,
    `h - - ${DATE} "-" 408 -`,
    `h - - ${DATE} "GET /\\x41 HTTP/1.1" 200 1`,
    `h - "john" ${DATE} "GET / HTTP/1.1" 200 1`,
    `h - - ${DATE} "GET / HTTP/1.1" 200 1 3ms`,
    `h - - ${DATE} "GET / HTTP/1.1" 200 1 10 20`,
    `h - - ${DATE} "GET / HTTP/1.1" 200 1 rt=0.1`,
    `h - - ${DATE} "GET / HTTP/1.1" 200 1 "-" "a" word`,
    `192.0.2.7, 10.0.0.1 - - ${DATE} "GET / HTTP/1.1" 200 1`,
    `h - - [10/oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1`,
    `h - - [10/Oct/2000:13:55:36 -0000] "GET / HTTP/1.1" 200 1`,
    `h - - [10/Oct/2000:13:55:36 +00:00] "GET / HTTP/1.1" 200 1`,
    `h - - [10/Oct/2000:13:55:36,5 -0700] "GET / HTTP/1.1" 200 1`,
    `h - - [2000-10-10T13:55:36Z] "GET / HTTP/1.1" 200 1`,
  ];
  for (const line of whole) {
    t.equal(kept(line), 'whole', line);
    t.type(new AccessLogExtractor().extract(line), Object, 'it is an access line');
  }
  const rebuilt = [
    `h - - ${DATE} "GET / HTTP/1.1" 200 -`,
    `h - a\\"b ${DATE} "GET /\\"\\\\ HTTP/1.1" - 1 "\\"" "-"`,
    `h - - [10/Oct/2000:13:55:36.25 +0000] "GET / HTTP/1.1" 200 1`,
    `h - - [10/Oct/2000:13:55:36] "GET / HTTP/1.1" 200 1`,
    `a.example:80 192.0.2.7 - - ${DATE} "GET / HTTP/1.1" 200 1`,
    `[::1]:4711 i u ${DATE} "CONNECT a.example:443 HTTP/1.1" 200 12345678901234567890`,
    `h - - ${DATE} "GET /" 200 1 "-" "a" "10.0.0.1, 10.0.0.2" 0.610`,
    `h - - ${DATE} "PRI * SPDY/3" 200 1 17`,
  ];
  for (const line of rebuilt) t.equal(kept(line), 'rebuilt', line);
});

t.test('attributes that the event has of its own keep the line whole', async (t) => {
  const message = LINES[0];
  const shown = (own: object): string | undefined =>
    shownOf(extending, JSON.stringify({ ...own, message }))?.message;
  t.equal(shown({ '@marker': ['web'] }), 'GET /apache_pb.gif HTTP/1.0');
  t.equal(shown({ http: { other: 1 } }), 'GET /apache_pb.gif HTTP/1.0');
  t.equal(shown({ http: 'x' }), 'GET /apache_pb.gif HTTP/1.0');
  for (const own of [
    { http: { verb: 'PUT' } },
    { 'http.verb': null },
    { date_access: '2000-10-10T13:55:36Z' },
    { network: { bytes_write: {} } },
  ]) {
    t.equal(shown(own), message, JSON.stringify(own));
  }
  const other = shownOf(extending, JSON.stringify({ message: 'mine', log: message }));
  t.equal(other?.message, 'mine');
});

const SEEDS = [
  ...LINES,
  'h - - [10/Oct/2000:13:55:36 -0700] "GET /a?b=c HTTP/1.1" 200 1 "r" "a" "10.0.0.1" 0.5',
];
const PIECES = [
  ...['"', '\\', '\\"', '\\\\', ' ', '  ', '[', ']', '=', '-', '\t', ',', ':', '0', '\\x41'],
  ...['"-"', '""', 'JAN', 'jan', '+0000', '-0000', 'Z', '.5', ',5', '/', 'é', '\u0000', 'HTTP/'],
];
const hostile = fc
  .tuple(
    fc.constantFrom(...SEEDS),
    fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom('', ...PIECES)), { maxLength: 3 }),
  )
  .map(([line, edits]) => {
    let text = line;
    for (const [place, count, put] of edits) {
      const at = place % (text.length + 1);
      text = text.slice(0, at) + put + text.slice(at + count);
    }
    return text.replaceAll('\n', '');
  });

t.test('a hostile line is rebuilt to the character, or stays whole', async (t) => {
  let rebuilt = 0;
  fc.assert(
    fc.property(hostile, (line) => {
      if (kept(line) === 'rebuilt') rebuilt++;
    }),
    { numRuns: 8000 },
  );
  t.ok(rebuilt > 800, `${rebuilt} rebuilt`);
});
