import fc from 'fast-check';
import t from 'tap';
import { Decoding } from '../support/decoding.ts';
import { seedOf } from '../support/seed.ts';
import {
  type SyslogPair,
  type SyslogParts,
  type SyslogText,
  syslogEvent,
  syslogLine,
} from '../support/syslog-model.ts';

seedOf(t);

const characters = (from: string): fc.Arbitrary<string> => fc.constantFrom(...from);
const token = fc
  .string({ unit: characters('abzAZ059.-_:/[]"=\\@é'), minLength: 1, maxLength: 8 })
  .filter((text) => text !== '-');
const name = fc.string({ unit: characters('abAZ09_-@.:é\\['), minLength: 1, maxLength: 5 });
const id = fc
  .string({ unit: characters('abcAZ09_-\\['), minLength: 1, maxLength: 3 })
  .map((text) => `${text}@1`);
const anyText = fc.string({ unit: characters('ab 019"\\]=[,;<>\'é\t'), maxLength: 10 });
const timestamp = fc.constantFrom(
  '2003-10-11T22:14:15.003Z',
  '2003-08-24T05:14:15.000003-07:00',
  '2026-11-21T12:00:00+01:00',
  '2026-11-21T12:00:00.1234567Z',
  '9999-12-31T23:59:59Z',
  '2026-99-99T00:00:00Z',
);

const word = fc
  .string({ unit: characters('ab01.:/()"\'<>-é&?'), minLength: 1, maxLength: 6 })
  .map((text) => ({ word: text }));
const pair: fc.Arbitrary<SyslogPair> = fc.oneof(
  fc.record({
    name: fc.string({ unit: characters('abcA0_-.@é'), minLength: 1, maxLength: 3 }),
    value: fc.oneof(
      fc.string({ unit: characters('ab01.-+:/()"\'>=é&?'), maxLength: 8 }),
      fc.constantFrom('null', '0', '-1', '007', '1e5', '0.610', '12345678901234567890', '1.'),
    ),
    quote: fc.constant('' as const),
  }),
  fc.record({
    name: fc.string({ unit: characters('abc.'), minLength: 1, maxLength: 3 }),
    value: anyText.map((text) => text.replaceAll(/[>']/g, '')),
    quote: fc.constantFrom('""' as const, "''" as const, '<>' as const),
  }),
);
const namedInQuotes: fc.Arbitrary<SyslogPair> = fc.record({
  name: fc.string({ unit: characters("ab .,;:'<é"), minLength: 1, maxLength: 4 }),
  namedInQuotes: fc.constant(true),
  value: fc.string({ unit: characters('ab01'), maxLength: 4 }),
  quote: fc.constantFrom('' as const, "''" as const),
});
const isWhole = (piece: { word: string } | SyslogPair): boolean =>
  'word' in piece || piece.quote !== '' || !/^["'<=]/.test(piece.value);
const pairs: fc.Arbitrary<SyslogText> = fc.record({
  pieces: fc.array(fc.oneof(word, pair, namedInQuotes).filter(isWhole), {
    minLength: 1,
    maxLength: 8,
  }),
  separator: fc.constantFrom(' ', ', ', ';', ','),
});
const around = fc.constantFrom('', '', 'words', 'a: b', 'n=1', '{x} [y]', "it's");
const members = fc.array(
  fc.tuple(
    fc.constantFrom('a', 'a.b', 'message', 'syslog', 'syslog.x', 'b', 'date'),
    fc.constantFrom('1', '"x"', 'null', '{"y":2}', '{}', '[1,"z"]', '{"prival":"mine","y":{}}'),
  ),
  { maxLength: 5 },
);
const json: fc.Arbitrary<SyslogText> = fc
  .tuple(members, around, around)
  .filter(([its, before, behind]) => its.length > 0 || before + behind === '')
  .map(([its, before, behind]) => ({
    json: `{${its.map(([key, value]) => `"${key}":${value}`).join(',')}}`,
    before,
    behind,
  }));

const parts: fc.Arbitrary<SyslogParts> = fc.record(
  {
    prival: fc.nat(191),
    version: fc.constantFrom(0, 1),
    timestamp,
    hostname: token,
    appname: token,
    procid: token,
    msgid: token,
    elements: fc.array(fc.tuple(id, fc.array(fc.tuple(name, anyText), { maxLength: 3 })), {
      maxLength: 3,
    }),
    before: fc.constantFrom('', ' ', '\ufeff', '  \ufeff '),
    text: fc.oneof(pairs, json),
  },
  { requiredKeys: ['prival', 'version', 'elements', 'before'] },
);

/** Elements of one name are one object here and two in the line; what both have is tried by the table. */
const isUnrepeated = ({ elements }: SyslogParts): boolean =>
  new Set(elements.map(([its]) => its)).size === elements.length;

t.test('a line that was written from parts comes back as these parts', async () => {
  let decoding = new Decoding();
  let runs = 0;
  fc.assert(
    fc.property(parts.filter(isUnrepeated), fc.boolean(), (its, inBody) => {
      if (runs++ % 1000 === 0) decoding = new Decoding();
      const line = syslogLine(its);
      const [event] = inBody ? decoding.json(JSON.stringify([line])) : decoding.lines(line);
      const want = syslogEvent(its);
      if (event !== want) throw new Error(`${line}\n${event}\n${want}`);
    }),
    { numRuns: 4000 },
  );
});

const SEEDS = [
  '<34>1 2003-10-11T22:14:15.003Z host su 12 ID47 [a@1 b="c\\"d" e="f"][g@2] \ufefftext k=v n=1',
  '<13>0 2026-11-21T12:00:00Z h a - - - {"a":1,"message":"m","syslog":{"x":null},"a.b":2}',
  "<34>Oct 11 22:14:15 mymachine su[9]: 'su root' failed for lonvick a=\"b c\" d=<e f>, g='h' i=;",
  'Nov 21 12:28:51 host app[1]: text a=1 a=2 a.b=3 message=x syslog=y syslog.hostname=z',
];
const BEFORE = '{"first":"\\n","a.b":1}';
const BEHIND = '{"last":[1, 2],"a.b":3}';
const BEFORE_EVENT = '{"custom":{"first":"\\n","a":{"b":1}}}';
const BEHIND_EVENT = '{"custom":{"last":[1,2],"a":{"b":3}}}';

/** Lines of syslog in which some bytes were changed, cut out or put in. */
const mutated = fc
  .tuple(
    fc.constantFrom(...SEEDS),
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.nat(4),
        fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('<>[]{}"=\\ :-\']10'))),
      ),
      { maxLength: 6 },
    ),
  )
  .map(([seed, edits]) => {
    const bytes = [...Buffer.from(seed)];
    for (const [place, count, byte] of edits) bytes.splice(place % bytes.length, count, byte);
    return Uint8Array.from(bytes, (byte) => (byte === 0x0a ? 0x20 : byte));
  });

t.test('no line throws, nothing is lost, and its neighbours come back untouched', async () => {
  let decoding = new Decoding();
  let runs = 0;
  fc.assert(
    fc.property(mutated, fc.boolean(), (bytes, unquotes) => {
      if (runs++ % 1000 === 0) decoding = new Decoding();
      decoding.decoder.unquotes = unquotes;
      decoding.line(bytes);
      const body = Buffer.concat([Buffer.from(`${BEFORE}\n`), bytes, Buffer.from(`\n${BEHIND}`)]);
      const events = decoding.lines(body);
      return events[0] === BEFORE_EVENT && events.at(-1) === BEHIND_EVENT && events.length <= 3;
    }),
    { numRuns: 5000 },
  );
});

t.test('the fast way and the tree say the same', async () => {
  const long = 'n'.repeat(257);
  // A name that is too long is for the tree, which puts it into the excess.
  const forTree = { attributes: [{ names: [long], value: 'v', replaces: false }] };
  const excess = `"_excess":${JSON.stringify(`{"${long}":"v"}`)}`;
  let decoding = new Decoding();
  let runs = 0;
  fc.assert(
    fc.property(mutated, (bytes) => {
      if (runs++ % 1000 === 0) decoding = new Decoding();
      const fast = decoding.line(bytes);
      const fastDates = decoding.dates();
      const [slow] = decoding.line(bytes, forTree);
      const event = slow?.replace(`,${excess}`, '').replace(excess, '');
      const slowDates = decoding.dates();
      if (event !== fast[0]) throw new Error(`${fast[0]}\n${event}`);
      return fastDates[0] === slowDates[0];
    }),
    { numRuns: 3000 },
  );
});
