import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { Parse } from 'glossy';
import parseLine from 'nsyslog-parser';
import t from 'tap';
import { Decoding } from '../support/decoding.ts';
import { seedOf } from '../support/seed.ts';

/**
 * Two other parsers of syslog as oracles. Where they are wrong, by the RFCs or by what devices mean, is listed here:
 * nsyslog-parser takes quotes with escapes, elements without parameters and what begins with `[` for others, and no
 * part with `@` or `:`; glossy knows no tag of RFC 3164 and takes it for the text, or for the host where there is none.
 */
seedOf(t);

interface Parts {
  prival: number | undefined;
  hostname: string | undefined;
  appname: string | undefined;
  procid: string | undefined;
  msgid: string | undefined;
  message: string;
}

function present(text: string | null | undefined): string | undefined {
  return text === null || text === '-' || text === '' ? undefined : text;
}

function byGlossy(line: string): Parts {
  const { prival, host, appName, pid, msgID, message } = Parse.parse(line);
  return {
    prival,
    hostname: present(host),
    appname: present(appName),
    procid: present(pid),
    msgid: present(msgID),
    message: (message ?? '').trim(),
  };
}

function byNsyslog(line: string): Parts {
  const { prival, host, appName, pid, messageid, message } = parseLine(line);
  return {
    prival,
    hostname: present(host),
    appname: present(appName),
    procid: present(pid),
    msgid: present(messageid),
    message: (message ?? '').trim(),
  };
}

const decoding = new Decoding();

/** The parts of a line, and the rest of its `syslog`. */
function ours(line: string): { parts: Parts; syslog: Record<string, unknown> } {
  const { syslog, message } = JSON.parse(decoding.line(line)[0] ?? '');
  const { prival, hostname, appname, procid, msgid } = syslog ?? {};
  const text: string = message ?? '';
  return {
    parts: { prival, hostname, appname, procid, msgid, message: text.trim() },
    syslog: syslog ?? {},
  };
}

/** Neither oracle understands these, by the beginnings of their sources in the corpus. */
const NEITHER_IS_RIGHT = [
  ...['RFC 5424 section 6.3.5 example 3', 'RFC 5424 section 6.3.5 example 4'],
  ...['Heroku drain: app output', 'RFC 3164 section 5.4 example 4'],
  ...['rsyslog, RSYSLOG_ForwardFormat', 'syslog-ng, ISO dates', 'VMware ESXi 6'],
  ...['logger to /dev/log', 'logger -i', 'Docker syslog driver, default', 'pfSense 2.4'],
  ...['Cisco', 'Juniper Junos, time-format', 'Juniper Junos, year', 'MikroTik', 'Ubiquiti'],
  ...['rule: the month in any case', 'rule: an IPv6 host'],
  // What we make of JSON is ours.
  ...['rule: JSON behind the header', 'rule: a date in the JSON', 'CEE cookie', 'JSON behind'],
  ...['rule: text behind JSON', 'rule: text around JSON', 'rule: text before JSON'],
  'rule: an object that is broken',
  // What is no header behind a PRI is text for us.
  ...['rule: VERSION 2', 'rule: two blanks', 'rule: a part is', 'rule: a timestamp that'],
  ...[
    'rule: a date with a blank',
    'rule: two hosts',
    'rule: day 32',
    'rule: hour 24',
    'rule: month F',
  ],
];

t.test('each part of a line of the corpus is what one of the oracles says', async (t) => {
  let count = 0;
  for (const file of ['rfc5424', 'rfc3164']) {
    const folder = new URL('../fixture/corpus/', import.meta.url);
    const lines = readFileSync(new URL(`${file}.jsonl`, folder), 'utf8')
      .trimEnd()
      .split('\n');
    for (const line of lines) {
      const { source, input } = JSON.parse(line);
      if (NEITHER_IS_RIGHT.some((beginning) => source.startsWith(beginning))) continue;
      const { parts } = ours(input);
      if (parts.prival === undefined || !input.startsWith('<')) continue;
      const [one, other] = [byGlossy(input), byNsyslog(input)];
      const names = Object.keys(parts) as (keyof Parts)[];
      const alone = names.filter(
        (name) => parts[name] !== one[name] && parts[name] !== other[name],
      );
      t.same(alone, [], source);
      count++;
    }
  }
  t.ok(count >= 85, `${count} lines`);
});

const part = fc.stringMatching(/^[A-Za-z][\w.-]{0,10}$/);
const word = fc.stringMatching(/^[A-Za-z][\w.-]{0,8}$/);
const value = fc.stringMatching(/^[\w ./:-]{1,8}$/);

t.test('a line of RFC 5424 has the parts that both oracles find', async () => {
  const line = fc.record({
    prival: fc.nat(191),
    day: fc.date({ min: new Date(0), max: new Date('2099-01-01'), noInvalidDate: true }),
    parts: fc.tuple(...Array.from({ length: 4 }, () => fc.oneof(part, fc.constant('-')))),
    words: fc.array(word, { minLength: 1, maxLength: 5 }),
  });
  fc.assert(
    fc.property(line, ({ prival, day, parts, words }) => {
      const text = `<${prival}>1 ${day.toISOString()} ${parts.join(' ')} - ${words.join(' ')}`;
      const found = JSON.stringify(ours(text).parts);
      const [one, other] = [byGlossy(text), byNsyslog(text)];
      if (found !== JSON.stringify(one)) throw new Error(`${found} is ${JSON.stringify(one)}`);
      if (found !== JSON.stringify(other)) throw new Error(`${found} is ${JSON.stringify(other)}`);
      const times = [Parse.parse(text).time, parseLine(text).ts].map((time) => time?.getTime());
      return times.every((ms) => ms === day.getTime()) && decoding.dates()[0] === day.toISOString();
    }),
    { numRuns: 1000 },
  );
});

t.test('structured data is what glossy finds', async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,5}$/);
  const parameters = fc.uniqueArray(fc.tuple(name, value), {
    minLength: 1,
    maxLength: 4,
    selector: ([key]) => key,
  });
  const elements = fc.uniqueArray(fc.tuple(name, parameters), {
    minLength: 1,
    maxLength: 3,
    selector: ([id]) => id,
  });
  fc.assert(
    fc.property(elements, (data) => {
      const written = data
        .map(([id, its]) => `[${id}@1 ${its.map(([key, text]) => `${key}="${text}"`).join(' ')}]`)
        .join('');
      const line = `<13>1 2026-11-21T12:00:00Z h a - - ${written} x`;
      const { syslog } = ours(line);
      const wanted = Parse.parse(line).structuredData ?? {};
      return Object.entries(wanted).every(
        ([id, its]) => JSON.stringify(syslog[id]) === JSON.stringify(its),
      );
    }),
    { numRuns: 1000 },
  );
});

t.test('a line of RFC 3164 has the parts that nsyslog-parser finds', async () => {
  const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
  const tag = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
  const line = fc.record({
    prival: fc.nat(191),
    month: fc.constantFrom(...months),
    day: fc.integer({ min: 1, max: 28 }),
    host: fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/),
    tag,
    pid: fc.option(fc.nat(99_999), { nil: undefined }),
    words: fc.array(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 4 }),
  });
  fc.assert(
    fc.property(line, ({ prival, month, day, host, tag: app, pid, words }) => {
      const date = `${month} ${String(day).padStart(2, ' ')} 11:12:13`;
      const program = pid === undefined ? app : `${app}[${pid}]`;
      const text = `<${prival}>${date} ${host} ${program}: ${words.join(' ')}`;
      const found = JSON.stringify(ours(text).parts);
      const wanted = JSON.stringify(byNsyslog(text));
      if (found !== wanted) throw new Error(`${found} is ${wanted} of ${text}`);
      return true;
    }),
    { numRuns: 1000 },
  );
});
