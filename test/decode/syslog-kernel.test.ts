import t from 'tap';
import { CORPORA } from '../../bench/corpus/index.ts';
import { Draw } from '../../bench/corpus/random.ts';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { linesOf, mutatedLine, Twice } from '../support/twice.ts';

// The build whose every access is checked against the bounds of its region.
useKernels('checked');

const draw = new Draw(17);

/** One of `texts`, mostly the first one. */
function mostly(...texts: readonly string[]): string {
  return draw.below(6) > 0 ? texts[0] : draw.pick(texts);
}

const DATES = [
  '2026-11-23T10:00:00.123Z',
  '2026-11-23T10:00:00Z',
  '2026-11-23T10:00:00.123456+01:00',
  '2026-11-23t10:00:00Z',
  '2026-11-23T10:00:00.1Z',
  '2026-11-23T10:00:60Z',
  '2026-13-23T10:00:00Z',
  '2026-11-23T',
  '2026-11-23',
  '-',
];

const BSD_DATES = [
  'Nov 23 10:00:00',
  'Nov 23 10:00:01',
  'Nov  3 10:00:00',
  'jan 31 23:59:59',
  'DEC 31 23:59:59',
  'May 23 11:59:59',
  'May 24 00:00:00',
  'May 25 10:00:00',
  'Feb 28 10:00:00',
  'Feb 29 10:00:00',
  'Apr 31 10:00:00',
  'Nov 3 10:00:00',
  'Nov 03 10:00:00',
  'Nov 00 10:00:00',
  'Nov 23 24:00:00',
  'Nov 23 10:60:00',
  'Nov 23 10:00:00.123',
  'Nov 23 10:00:00:',
  'Nov 23 10:00:00 UTC:',
  'Nov 23 10:00:00 2025',
  'Nov 23 2025 10:00:00',
  '2025 Nov 23 10:00:00',
  '*Nov 23 10:00:00',
  'Nov\t23 10:00:00',
  'Nox 23 10:00:00',
  '2026-11-23T10:00:00+01:00',
  '42: Nov 23 10:00:00',
  '42: router: Nov 23 10:00:00 EST:',
];

const HOSTS = ['host-1', '10.0.0.1', '-', 'a', 'fe80::1', '2025', '2025x', 'host:', 'CRON:', ''];
const TAGS = [
  'app:',
  'app[12]:',
  'app[12]',
  'app',
  'app[]:',
  'a[b',
  '[x]:',
  ':',
  'a/b[-]:',
  '-',
  '',
];

const ELEMENTS = [
  '[meta env="prod"]',
  '[meta env="prod" x="1"]',
  '[meta x="1" env="2"]',
  '[meta env="a"][other env="b" c.d="e"]',
  '[meta env="a"][other c="b"][meta y="z"]',
  '[meta env="1" env="2"]',
  '[hostname a="1"]',
  '[a@1.2 q="say \\"hi\\" \\]"]',
  '[a@1.2]',
  '[info]',
  '[meta env="]"]',
  '[meta env="a" ]',
  '[meta  env="a"]',
  '[meta env=a]',
  '[meta env="a"]x',
  '[meta env="a',
  '[severity b.c="" b="x"]',
  '[]',
];

/** A line of RFC 5424 without its text. */
function header(): string {
  const pri = mostly('14', '0', '191', '192', '007', '7x', '', '1234');
  const version = mostly('1', '0', '2', '11', '');
  const part = (): string => mostly('x1', '-', 'app.2', '', 'a\u00e9', 'a\u007f', '--', '"q"');
  const data = mostly('-', ...ELEMENTS, '', '--');
  const parts = [part(), part(), part(), mostly('-', 'ID1')].join(' ');
  const date = mostly(...DATES);
  return `<${pri}>${version} ${date} ${parts} ${data}${mostly(' ', ' ', '', '  ', ' \ufeff')}`;
}

/** A line of RFC 3164 without its text. */
function oldHeader(): string {
  const pri = mostly('14', '34', '191', '192');
  const blank = (): string => mostly(' ', '', '  ');
  const date = mostly(...BSD_DATES);
  const host = mostly(...HOSTS);
  const tag = mostly(...TAGS);
  return `<${pri}>${date}${blank()}${host}${blank()}${tag}${blank()}`;
}

const NAMES = [
  'a',
  'b',
  'src',
  'http.verb',
  'http.url',
  'a.b',
  'message',
  'message.x',
  'date',
  'timestamp',
  'syslog.severity',
  'syslog',
  'logmaticKey',
  'caf\u00e9',
  'user@host',
  'x-y_z',
  'a..b',
  '.a',
  'longer.name-than_sixteen.bytes',
];

const VALUES = [
  '1',
  '-0.50',
  '10.0.0.1',
  'deny',
  '"two words"',
  "'two words'",
  '<a@b.c>',
  '""',
  '"say \\"hi\\" \\\\"',
  '"open',
  "'open",
  '<open',
  '',
  'null',
  'null1',
  'nul',
  '=',
  '=x',
  'a=b',
  '0',
  '-0',
  '007',
  '1e3',
  '1E-3',
  '1e',
  '1.',
  '.5',
  '+1',
  '9007199254740991',
  '9007199254740993',
  '123456789012345678901',
  '0.1234567890123456789012345',
  '1793491409.212429',
  '2026-11-23T10:00:00Z',
  '2026-11-23 10:00:00',
  'soon',
  '{"a":1}',
  'x"y"',
  'a,b',
  'a;b',
  '\u00e9\u00e9',
];

const WORDS = [
  'connection',
  'from',
  '(x=1)',
  '"quoted"',
  '"quoted name"=1',
  '"q=1"',
  '"',
  '=',
  'a=',
  '{',
  '{"n":1}',
  '{"n":}',
  '{ "n"',
  '={"n":1}',
  '-',
  'dGVzdA==',
  'a+b=c',
  '\u00e9',
  '\u0001',
  '\t',
  '',
];

/** Text of words and pairs. */
function text(): string {
  const parts = Array.from({ length: draw.below(9) }, () =>
    draw.below(3) === 0 ? mostly(...WORDS) : `${draw.pick(NAMES)}=${mostly(...VALUES)}`,
  );
  return parts.map((part) => part + mostly(' ', ',', ';', ', ', '  ', '')).join('');
}

/** Texts behind a PRI where there is no header. */
const BARE = [
  'date=2026-11-23 time=10:00:00 ',
  'devname="x" ',
  'a',
  'abc ',
  'abcd-',
  'Nov ',
  '[x] ',
  '',
];

function line(): Buffer {
  const bare = (): string => `<${mostly('14', '191')}>${draw.pick(BARE)}`;
  return Buffer.from(draw.pick([header, oldHeader, bare])() + text());
}

const EASY = Buffer.from('<14>1 2026-11-23T10:00:00Z host app - - - a=1 b=x src=10.0.0.1');

/** Lines with as many known ones between them that the kernel goes on being tried. */
function withEasy(lines: readonly Buffer[]): Buffer[] {
  return lines.flatMap((line) => [line, EASY, EASY, EASY, EASY, EASY]);
}

t.test('lines of all forms, and what is nearly one, are read as by the reference', async (t) => {
  const twice = new Twice();
  for (let round = 0; round < 60; round++) {
    const lines = withEasy(Array.from({ length: 500 }, line));
    const lineEnd = round % 5 === 0 ? '\r\n' : '\n';
    t.equal(twice.difference(lines, lineEnd), undefined, `round ${round}`);
  }
  t.equal(twice.counts.faults, 0);
  // A sixth of the lines are not easy.
  t.ok(twice.counts.rows > 0.85 * twice.rowCount, `${twice.counts.rows} of ${twice.rowCount} rows`);
});

t.test('pairs in any order, of which some are missing, are read by the kernel', async (t) => {
  const names = NAMES.filter(
    (name) => /^(a|b|src|http\.|user|x-y|longer)/.test(name) && name !== 'a.b',
  );
  const values = ['1', 'deny', '-0.50', '"two words"', "'x'", '<y>', '10.0.0.1', 'null', ''];
  const twice = new Twice();
  for (let round = 0; round < 10; round++) {
    const lines = Array.from({ length: 1_000 }, () => {
      const some = names.filter(() => draw.below(4) > 0).sort(() => draw.below(3) - 1);
      const pairs = some.map(
        (name) => `${name}=${draw.pick(values)}${draw.pick([' ', ',', '; '])}`,
      );
      const data = draw.pick(['-', '[m a="1"]', '[m b="x" a="1"][n c="2"]', '[n c="2"]']);
      return Buffer.from(`<14>1 ${DATES[0]} host app - - ${data} free text ${pairs.join('')}`);
    });
    t.equal(twice.difference(lines), undefined, `round ${round}`);
  }
  t.equal(twice.counts.faults, 0);
  t.ok(twice.counts.rows >= 0.98 * twice.rowCount, `${twice.counts.rows} rows`);
});

t.test('a pair message stands beside the message, whatever the order of others', async (t) => {
  const twice = new Twice();
  const data = '[a x="1"][b x="1"][a y="2"]';
  const ordered = Buffer.from('<14>1 - - - - - - message=1 b=2');
  const mixed = Buffer.from(`<14>1 - - - - - ${data} message=1 b=2`);
  const lines = Array.from({ length: 100 }, () => [ordered, ordered, ordered, mixed]).flat();
  t.equal(twice.difference([mixed, ...lines]), undefined);
  t.equal(twice.counts.faults, 0);
  t.ok(twice.counts.rows >= 290, `${twice.counts.rows} rows of the kernel`);
});

t.test(
  'numbers of all lengths, and what is nearly one, are read as by the reference',
  async (t) => {
    const digits = (most: number): string =>
      Array.from({ length: draw.below(most + 1) }, () =>
        mostly(String(draw.below(10)), '0', 'x'),
      ).join('');
    const number = (): string =>
      `${mostly('', '-', '+')}${digits(20)}${mostly('', '.', `.${digits(20)}`, `e${digits(2)}`)}`;
    const twice = new Twice();
    for (let round = 0; round < 20; round++) {
      const lines = Array.from({ length: 1_000 }, () =>
        Buffer.from(`<14>1 - - - - - - a=${number()} b=${digits(9)},src=${digits(3)}.${digits(2)}`),
      );
      t.equal(twice.difference(lines), undefined, `round ${round}`);
    }
    t.equal(twice.counts.faults, 0);
    t.ok(
      twice.counts.rows > 0.7 * twice.rowCount,
      `${twice.counts.rows} of ${twice.rowCount} rows`,
    );
  },
);

t.test('lines with mutated bytes are read as by the reference', async (t) => {
  const bytes = Buffer.from('<>[]{}":=,;\'\\-. 0123456789\t\r\u0001\u007faeNovT');
  for (const name of ['syslog-pairs', 'syslog-3164']) {
    const corpus = CORPORA.find((found) => found.name === name);
    if (corpus === undefined) throw new Error(name);
    const lines = linesOf(corpus, 500);
    const twice = new Twice();
    twice.difference(lines);
    for (let round = 0; round < 40; round++) {
      const mutated = lines.map((line) => mutatedLine(line, bytes, draw));
      t.equal(twice.difference(withEasy(mutated)), undefined, `${name}, round ${round}`);
    }
    t.equal(twice.counts.faults, 0);
    t.ok(
      twice.counts.rows > 0.9 * twice.rowCount,
      `${twice.counts.rows} of ${twice.rowCount} rows`,
    );
  }
});

t.test('lines cut at every byte are read as by the reference', async (t) => {
  for (const name of ['syslog-pairs', 'syslog-3164']) {
    const corpus = CORPORA.find((found) => found.name === name);
    if (corpus === undefined) throw new Error(name);
    const lines = linesOf(corpus, 60);
    const twice = new Twice();
    twice.difference(lines);
    for (const line of lines) {
      const cut = Array.from(line, (_, end) => line.subarray(0, end));
      t.equal(twice.difference(withEasy([...cut, line])), undefined, line.toString());
    }
    t.equal(twice.counts.faults, 0);
  }
});
