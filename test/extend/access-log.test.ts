import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { AccessLogExtractor } from '../../server/extend/access-log/access-log.ts';
import { attributesText } from '../support/attributes-text.ts';

const FIXTURE = new URL('../fixture/extend/access-lines.txt', import.meta.url);

const shared = new AccessLogExtractor();
const textOf = (line: string, extractor = shared): string =>
  attributesText(extractor.extract(line)?.attributes);
const found = (line: string, name: string): unknown => shared.extract(line)?.attributes.get(name);

/** Sources, lines and their attributes as JSON, three lines each and a blank one. */
const cases = readFileSync(FIXTURE, 'utf8')
  .split('\n\n')
  .filter((part) => part !== '')
  .map((part) => part.replace(/^# /, '').split('\n'));

t.test('real lines give their attributes, in the order of the convention', async (t) => {
  t.ok(cases.length > 100, `${cases.length} lines`);
  for (const [source, line, expected] of cases) {
    t.equal(textOf(line), expected, source);
    t.equal(textOf(line, new AccessLogExtractor()), expected, 'whatever was read before');
    t.equal(textOf(`${line}\r\n`), textOf(line), 'whatever ends the line');
  }
});

const token = fc.stringMatching(/^[A-Za-z0-9_.:/;()+é-]{1,12}$/).filter((text) => text !== '-');
const phrase = fc
  .array(fc.oneof(token, fc.constantFrom('"', '\\', '[', ']', 'a=b', '日本')), {
    minLength: 1,
    maxLength: 6,
  })
  .map((words) => words.join(' '))
  .filter((text) => text !== '-');
const nothing = fc.constant(undefined);
const address = fc.oneof(fc.ipV4(), fc.ipV6());
const parts = fc.record({
  client: fc.oneof(address, fc.domain()),
  ident: fc.oneof(fc.stringMatching(/^[a-z]{1,8}$/), nothing),
  auth: fc.oneof(fc.stringMatching(/^[a-z]{1,8}( [a-z]{1,8})?$/), nothing),
  date: fc.date({
    min: new Date('1970-01-01T00:00:00Z'),
    max: new Date('2100-01-01T00:00:00Z'),
    noInvalidDate: true,
  }),
  verb: fc.constantFrom('GET', 'POST', 'HEAD', 'PROPFIND', 'x-y'),
  path: fc.webPath(),
  query: fc.array(fc.tuple(fc.stringMatching(/^[a-z]{1,4}$/), fc.string({ unit: 'grapheme' })), {
    maxLength: 4,
  }),
  version: fc.constantFrom('1.0', '1.1', '2.0', '3'),
  status: fc.integer({ min: 100, max: 599 }),
  bytes: fc.oneof(fc.maxSafeNat(), nothing),
  referer: fc.oneof(phrase, nothing),
  agent: fc.oneof(phrase, nothing),
  forwarded: fc.oneof(fc.array(address, { minLength: 1, maxLength: 3 }), nothing),
  time: fc.oneof(fc.stringMatching(/^(0|[1-9]\d{0,3})\.\d{3}$/), nothing),
});

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const escaped = (text: string): string => text.replace(/["\\]/g, '\\$&');
const pad = (value: number): string => String(value).padStart(2, '0');

function commonDate(date: Date): string {
  const month = MONTHS.slice(date.getUTCMonth() * 3, date.getUTCMonth() * 3 + 3);
  const day = `${pad(date.getUTCDate())}/${month}/${date.getUTCFullYear()}`;
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(pad).join(':');
  return `${day}:${time} +0000`;
}

t.test('a line that is written from parts comes back as these parts', async () => {
  fc.assert(
    fc.property(parts, (part) => {
      const query = part.query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
      const path = part.path === '' ? '/' : part.path;
      const request = query.length === 0 ? path : `${path}?${query.join('&')}`;
      const line = [
        part.client,
        part.ident ?? '-',
        part.auth ?? '-',
        `[${commonDate(part.date)}]`,
        `"${part.verb} ${request} HTTP/${part.version}"`,
        part.status,
        part.bytes ?? '-',
        `"${escaped(part.referer ?? '-')}"`,
        `"${escaped(part.agent ?? '-')}"`,
        `"${part.forwarded?.join(', ') ?? '-'}"`,
        part.time ?? '-',
      ].join(' ');
      const parameters = new Map<string, string[]>();
      for (const [name, value] of part.query)
        parameters.set(name, [...(parameters.get(name) ?? []), value]);
      const expected = [
        ['@marker', ['accesslog']],
        ['date_access', `${part.date.toISOString().slice(0, 19)}Z`],
        ['network.client_ip', part.client],
        ['network.bytes_write', part.bytes],
        ['http.ident', part.ident],
        ['http.response_time', part.time === undefined ? undefined : { text: part.time }],
        ['http.status_code', part.status],
        ['http.request', request],
        ['http.verb', part.verb],
        ['http.referer', part.referer],
        ['http.useragent', part.agent],
        ['http.version', part.version],
        ['http.auth', part.auth],
        ['http.request_details.path', path],
        [
          'http.request_details.queryString',
          parameters.size === 0
            ? undefined
            : new Map([...parameters].map(([n, v]) => [n, v.length === 1 ? v[0] : v])),
        ],
        ['network.forwarded_ip', part.forwarded?.join(', ')],
      ].filter(([, value]) => value !== undefined);
      const attributes = shared.extract(line)?.attributes;
      return attributesText(attributes) === expectedText(expected);
    }),
    { numRuns: 2000 },
  );
});

function expectedText(entries: unknown[][]): string {
  const members = entries.map(([name, value]) => {
    const isTime = name === 'http.response_time';
    const text = isTime
      ? (value as { text: string }).text
      : JSON.stringify(value, (_, inner) =>
          inner instanceof Map ? Object.fromEntries(inner) : inner,
        );
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.join(',')}}`;
}

t.test('any text gives attributes or none, of well formed strings, and never throws', async () => {
  const lines = cases.map(([, line]) => line);
  const edited = fc
    .tuple(
      fc.constantFrom(...lines),
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.nat(4),
          fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', ' ', '[', ']', '=')),
        ),
        { maxLength: 5 },
      ),
    )
    .map(([line, edits]) => {
      let text = line;
      for (const [place, count, put] of edits) {
        const at = place % (text.length + 1);
        text = text.slice(0, at) + put + text.slice(at + count);
      }
      return text;
    });
  fc.assert(
    fc.property(fc.oneof(edited, fc.string({ unit: 'binary' })), (text) => {
      const attributes = shared.extract(text.toWellFormed())?.attributes;
      return attributes === undefined || attributesText(attributes).isWellFormed();
    }),
    { numRuns: 4000 },
  );
});

t.test('a quoted part that is text gets its escapes undone, another one stays', async (t) => {
  const agent = (text: string): unknown =>
    found(
      `h - - [15/Dec/2015:17:36:50 +0000] "GET / HTTP/1.1" 200 1 "-" "${text}"`,
      'http.useragent',
    );
  t.equal(agent('\\x41'), 'A');
  t.equal(agent('\\xe6\\x97\\xa5'), '日');
  t.equal(agent('\\xe6\\x97'), '\\xe6\\x97', 'bytes that are not UTF-8');
  t.equal(agent('\\x00a'), '\\x00a', 'control characters');
  t.equal(agent('a\\qb\\x4'), 'a\\qb\\x4', 'what is no escape');
  t.equal(agent('a\\\\'), 'a\\');
  t.equal(agent('日本 \\"x\\"'), '日本 "x"');
});

t.test('long hostile texts are read to their end', async (t) => {
  const date = ' [15/Dec/2015:17:36:50 +0000] ';
  const head = `h - -${date}"`;
  for (const text of [
    ' ['.repeat(50_000),
    date.repeat(4_000),
    `h - -${`${date}"x`.repeat(4_000)}`,
    `${head}${'" 200x'.repeat(20_000)}`,
    `${head}${'\\'.repeat(100_000)}" 200 1`,
    `${head}GET /?${'a&'.repeat(50_000)} HTTP/1.1" 200 1`,
    `${head}GET / HTTP/1.1" 200 1 ${'"'.repeat(100_000)}`,
    `${head}GET / HTTP/1.1" 200 1 ${'a="'.repeat(30_000)}`,
    `${head}GET / HTTP/1.1" 200 1 ${'1 '.repeat(50_000)}`,
    `${'1.1.1.1, '.repeat(10_000)} - -${date}"-" 200 1`,
  ]) {
    shared.extract(text);
  }
  t.pass('ten texts of 100 KB');
});
