import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { bodies } from '../../bench/corpus/bodies.ts';
import { CORPUS_START_MS, CORPUS_STEP_MS } from '../../bench/corpus/clock.ts';
import { CORPORA, corpusOf } from '../../bench/corpus/index.ts';
import { Decoding } from '../support/decoding.ts';
import { expectedEvent } from '../support/event-model.ts';

/** Corpora as the service sees them: the same bytes for a seed, and events that are what the lines say. */

const LINES = 1_000;

/** SHA-256 of the first 1,000 lines of seed 1, its first 16 digits. */
const CHECKSUMS = new Map([
  ['access-plain', '9818c68531aabe85'],
  ['access-rough', '1c9b6183996108c2'],
  ['syslog-pairs', '82d828828215a68a'],
  ['syslog-3164', 'a576189147e77810'],
  ['application', '52e70ecdbdfb146f'],
  ['application-shapes', '6d45cb1985449c12'],
  ['wide', 'c04cb2e5d49b1766'],
  ['kubernetes', '0df033d19a36b0d5'],
  ['hostile', 'cdea1c8602b96a39'],
]);

function linesOf(name: string, count: number, seed = 1): string[] {
  const next = corpusOf(name).make(seed);
  return Array.from({ length: count }, next);
}

/** The events of lines in a body, and their dates in epoch milliseconds. */
function decoded(lines: readonly string[]): { events: string[]; timesMs: number[] } {
  const decoding = new Decoding();
  const events = decoding.lines(lines.join('\n'));
  return { events, timesMs: [...decoding.rows.timeMs.subarray(0, events.length)] };
}

t.test('a seed gives the same bytes on every machine, another one others', async (t) => {
  t.same(
    CORPORA.map(({ name }) => name),
    [...CHECKSUMS.keys()],
  );
  for (const [name, checksum] of CHECKSUMS) {
    const hash = createHash('sha256');
    for (const line of linesOf(name, LINES)) hash.update(`${line}\n`);
    t.equal(hash.digest('hex').slice(0, 16), checksum, name);
    t.notSame(linesOf(name, 10, 2), linesOf(name, 10, 1), `${name}, another seed`);
  }
});

t.test('a corpus that is not there is refused, and those that are there are named', async (t) => {
  t.throws(() => corpusOf('acces'), { message: /no corpus acces; .*access-plain, access-rough/ });
});

for (const { name } of CORPORA.filter(({ format }) => format === 'json')) {
  t.test(`each line of ${name} is a JSON object that comes back by the rules`, async (t) => {
    const lines = linesOf(name, LINES);
    const { events } = decoded(lines);
    const wrong = lines.filter((line, at) => events[at] !== expectedEvent(line));
    t.equal(events.length, lines.length);
    t.same(wrong, []);
  });
}

t.test('hostile lines are an event each: objects by the rules, others whole', async (t) => {
  const lines = linesOf('hostile', LINES);
  const { events } = decoded(lines);
  t.equal(events.length, lines.length);
  const objects = lines.filter(isObject);
  t.ok(objects.length > 900 && objects.length < LINES, `${objects.length} objects`);
  const wrong = lines.filter((line, at) => {
    if (isObject(line)) return events[at] !== expectedEvent(line);
    const isSyslog = line.startsWith('<34>1');
    return !isSyslog && JSON.parse(events[at] ?? '').message !== line;
  });
  t.same(wrong, []);
});

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

t.test('lines of syslog-pairs have a header and seven pairs', async (t) => {
  const lines = linesOf('syslog-pairs', LINES);
  const found = decoded(lines).events.map((event) => {
    const { custom, syslog, message } = JSON.parse(event);
    const { prival, timestamp, hostname, appname, procid } = syslog;
    const pairs = Object.entries(custom).map(([name, value]) => `${name}=${value}`);
    return [String(prival), timestamp, hostname, appname, procid, message, ...pairs];
  });
  const expected = lines.map((line) => {
    const parts = /^<(\d+)>1 (\S+) (\S+) (\S+) (\d+) - - (.*)$/.exec(line)?.slice(1) ?? [];
    const pairs = [...(parts[5] ?? '').matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)];
    return [...parts, ...pairs.map(([, name, quoted, bare]) => `${name}=${quoted ?? bare}`)];
  });
  t.same(found, expected);
  t.ok(expected.every((parts) => parts.length === 6 + 7));
});

t.test('lines of syslog-3164 have host, program, process and text', async (t) => {
  const lines = linesOf('syslog-3164', LINES);
  const { events, timesMs } = decoded(lines);
  const found = events.map((event, at) => {
    const { syslog, message } = JSON.parse(event);
    const { prival, hostname, appname, procid } = syslog;
    return [String(prival), timesMs[at], hostname, appname, procid, message];
  });
  const header = /^<(\d+)>(\w{3} [ \d]\d [\d:]{8}) (\S+) ([^:[]+)(?:\[(\d+)\])?: +(.*)$/;
  const expected = lines.map((line) => {
    const [prival, date, ...rest] = header.exec(line)?.slice(1) ?? [];
    return [prival, Date.parse(`${date} 2026 UTC`), ...rest];
  });
  t.same(found, expected);
});

t.test('the dates of events begin with the day and go on by 7 ms on average', async (t) => {
  for (const { name } of CORPORA) {
    const { timesMs } = decoded(linesOf(name, LINES));
    // Half of the hostile events have no date: they get that of their reception, much later.
    const dated = timesMs.filter((timeMs) => timeMs < CORPUS_START_MS + 86_400_000);
    const first = dated.reduce((least, timeMs) => Math.min(least, timeMs));
    const last = dated.reduce((most, timeMs) => Math.max(most, timeMs));
    const stepMs = (last - CORPUS_START_MS) / LINES;
    t.ok(first >= CORPUS_START_MS, `${name} begins at ${new Date(first).toISOString()}`);
    t.ok(stepMs > CORPUS_STEP_MS * 0.7 && stepMs < CORPUS_STEP_MS * 1.3, `${name}: ${stepMs} ms`);
    t.ok(dated.length >= (name === 'hostile' ? LINES / 3 : LINES), `${name}: ${dated.length}`);
  }
});

t.test('dates of the rough access log are those that its lines say', async (t) => {
  const lines = linesOf('access-rough', LINES);
  const { timesMs } = decoded(lines);
  const wrong = lines.filter((line, at) => {
    const text: string = JSON.parse(line).date_access;
    const zoned = /(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`;
    return Date.parse(zoned.replace(/(\.\d{3})\d+/, '$1')) !== timesMs[at];
  });
  t.same(wrong, []);
});

t.test(
  'bodies hold whole lines, no more bytes than asked for, and a long event alone',
  async (t) => {
    const lines = ['aaaa', 'ééé', 'b', 'c'.repeat(50), 'd'];
    let at = 0;
    const made = bodies(() => lines[at++ % lines.length], 6, 12, '> ');
    t.same(
      made.map(({ body, events }) => [body.toString(), events]),
      [
        ['> aaaa\n', 1],
        ['> ééé\n', 1],
        ['> b\n', 1],
        [`> ${'c'.repeat(50)}\n`, 1],
        ['> d\n> aaaa\n', 2],
      ],
    );
    t.same(
      bodies(() => 'x', 0, 12),
      [],
    );
  },
);

t.test('bench/README.md says of each corpus what the list says', async (t) => {
  const readme = readFileSync(new URL('../../bench/README.md', import.meta.url), 'utf8');
  for (const { name, what, bound } of CORPORA) {
    const row = readme.split('\n').find((line) => line.startsWith(`| \`${name}\` | ${what} | `));
    t.ok(row?.endsWith(` | ${bound} |`), name);
  }
});
