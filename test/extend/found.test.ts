import fc from 'fast-check';
import t from 'tap';
import { CORPORA } from '../../bench/corpus/index.ts';
import { Draw } from '../../bench/corpus/random.ts';
import { stepOf } from '../../server/api/admin/extension-steps.ts';
import { NOTHING_DECLARED } from '../../server/api/resolver.ts';
import { type CompiledStep, compileSteps } from '../../server/extend/compile.ts';
import { Extender, type ExtensionMatch } from '../../server/extend/extender.ts';
import type { ExtensionAction, ExtensionStep } from '../../server/extend/extension.ts';
import type { Extractor } from '../../server/extend/extraction.ts';
import { defaultExtensions } from '../../server/registry/default-extensions.ts';
import { Decoding } from '../support/decoding.ts';
import { failed, linesOf, mutatedLine } from '../support/twice.ts';

const ALL = { type: 'all' } as const;

/** Events that are extended; without traces, as matches are told, unless it `isTraced`. */
class Extended extends Decoding {
  matches: [number, ExtensionMatch][] = [];

  constructor(steps: readonly CompiledStep[], isTraced = false) {
    super();
    const { counters } = this.decoder;
    const matched = (row: number, match: ExtensionMatch): void =>
      void this.matches.push([row, match]);
    const options = isTraced ? { failed } : { failed, matched };
    const extender = new Extender(steps, this.paths, this.rows, counters, options);
    this.decoder.extension = (hasDate) => extender.extendRow(hasDate);
  }

  read(body: string | Buffer): void {
    this.matches = [];
    this.lines(body);
  }
}

function withoutFinder(step: CompiledStep): CompiledStep {
  if (step.work.type !== 'extract') return step;
  return { ...step, work: { ...step.work, makeFinder: undefined } };
}

/**
 * Extends bodies by extractors alone, with finders, and with traces too, over path tables that know the same names, and
 * tells what differs.
 */
class Both {
  readonly #plain: Extended;
  readonly #fast: Extended;
  readonly #traced: Extended;

  constructor(steps: readonly ExtensionStep[]) {
    this.#plain = new Extended(compileSteps(steps, failed).map(withoutFinder));
    this.#fast = new Extended(compileSteps(steps, failed));
    this.#traced = new Extended(compileSteps(steps, failed), true);
  }

  difference(body: string | Buffer): string | undefined {
    const plain = this.#plain;
    const fast = this.#fast;
    plain.read(body);
    fast.read(body);
    this.#traced.read(body);
    if (JSON.stringify(plain.matches) !== JSON.stringify(fast.matches)) return 'matches';
    const other = otherThan(plain, fast);
    if (other !== undefined) return other;
    const traced = otherThan(plain, this.#traced);
    return traced === undefined ? undefined : `traced: ${traced}`;
  }
}

function otherThan(plain: Extended, fast: Extended): string | undefined {
  const expected = plain.events();
  const found = fast.events();
  const other = expected.findIndex((event, row) => event !== found[row]);
  if (other >= 0) return `${found[other]}, not ${expected[other]}`;
  if (JSON.stringify(plain.dates()) !== JSON.stringify(fast.dates())) return 'dates';
  const counts = [plain.decoder.counters, fast.decoder.counters].map((of) => JSON.stringify(of));
  return counts[0] === counts[1] ? undefined : `counters ${counts.join(', not ')}`;
}

function step(action: ExtensionAction, over: Partial<ExtensionStep> = {}): ExtensionStep {
  return {
    id: action.kind,
    action,
    predicate: ALL,
    sources: ['message'],
    target: undefined,
    ...over,
  };
}

const presets = defaultExtensions().map((definition) =>
  stepOf({ ...definition, enabled: true }, NOTHING_DECLARED),
);

t.test('finders find in the lines of each corpus what extractors find', async (t) => {
  for (const corpus of CORPORA) {
    const both = new Both(presets);
    const lines = linesOf(corpus, corpus.name === 'hostile' ? 50 : 400);
    const draw = new Draw(5);
    const bytes = Buffer.from('"\\{}[]:=,;&?%#+-/ .0123456789aZ\té');
    const mutated = lines.map((line) => mutatedLine(line, bytes, draw));
    for (const all of [lines, mutated])
      t.equal(
        both.difference(Buffer.concat(all.flatMap((line) => [line, Buffer.from('\n')]))),
        undefined,
      );
  }
});

t.test('plain texts need no extractor', async (t) => {
  const extractor: Extractor = {
    extract: () => {
      throw new Error('an extractor was asked');
    },
  };
  const plain: [ExtensionAction['kind'] & ('access_log' | 'json' | 'keyvalue' | 'url'), string][] =
    [
      [
        'access_log',
        '10.0.0.1 - - [15/Dec/2015:17:36:50 +0000] "GET /a?b=c HTTP/2.0" 200 12 "-" "A/1" 9 0.1',
      ],
      ['json', 'text {"a":{"b":[1,"x"]},"c":"\\n","d":true} behind'],
      ['keyvalue', 'a=1 b="x y" c="\\"q\\""'],
      ['url', '/a/b?c=%41&d=e+f#g'],
    ];
  for (const [kind, text] of plain) {
    const steps = compileSteps([step({ kind })], failed).map((made) => {
      if (made.work.type !== 'extract') throw new Error(kind);
      return { ...made, work: { ...made.work, extractor } };
    });
    const extended = new Extended(steps);
    extended.read(JSON.stringify({ message: text }));
    t.match(extended.matches, [[0, { extension: kind }]]);
    t.equal(extended.decoder.counters.extensionsFailed, 0);
  }
});

const word = fc.constantFrom(
  'a',
  'b',
  'a.b',
  'http',
  'http.verb',
  'message',
  'date',
  'syslog',
  '',
  'é',
  '.',
  'x'.repeat(300),
);
const scalar = fc.constantFrom(
  '1',
  '-0.50',
  '1e3',
  '"t"',
  '"é"',
  '"\\"q\\""',
  '"\\u00e9"',
  '"\\n"',
  'true',
  'null',
  '"2026-01-02T03:04:05Z"',
  '""',
  '"GET / HTTP/1.1"',
);
const { json } = fc.letrec<{ json: string; value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    scalar,
    fc.array(tie('value'), { maxLength: 3 }).map((all) => `[${all.join(',')}]`),
    fc.constantFrom('[1, 2]', '{}', '[]', '["a]b","\\"c"]', '[{"a":1}]'),
    tie('json'),
  ),
  json: fc
    .tuple(
      fc.array(fc.tuple(word, tie('value')), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(',', ' , '),
    )
    .map(([all, comma]) => `{${all.map(([name, value]) => `"${name}":${value}`).join(comma)}}`),
}));
const around = fc.constantFrom('', ' ', 'text ', '{ "x', '{', '\u00a0');
const jsonText = fc.tuple(around, json, around).map((parts) => parts.join(''));

const pair = fc
  .tuple(
    word,
    fc.constantFrom('=', '=', '=='),
    fc.constantFrom(
      '1',
      '007',
      'v',
      '"q b"',
      '"e\\"s\\\\"',
      "'s'",
      '<a>',
      'null',
      '',
      '"open',
      '\\',
    ),
  )
  .map((parts) => parts.join(''));
const pairText = fc
  .array(pair, { maxLength: 5 })
  .chain((all) => fc.constantFrom(' ', ', ', ';', '').map((by) => all.join(by)));

/** Mostly what is usual. */
function mostly<T>(usual: readonly T[], other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: other },
  );
}

const heads = fc.constantFrom(
  '10.0.0.1 - -',
  'host - bob',
  '::1 - -',
  '1.2.3.4:80 - -',
  'a.example 10.0.0.1 - -',
  '10.0.0.1, 10.0.0.2 - -',
  '- - -',
  '10.0.0.1 id "u v"',
  '10.0.0.1  - -',
  'x 1.1.1.1 -',
  'h [1] b',
  '1.1.1.1 i"d -',
  '1.1.1.1 - a\\x20b',
);
const accessDates = fc.constantFrom(
  ...[
    '15/Dec/2015:17:36:50 +0000',
    '15/Dec/2015:17:36:51 +0100',
    '15/Dec/2015:17:36:50',
    '15/Dec/2015:17:36:50.123 Z',
    '2026-01-02T03:04:05Z',
    '31/Foo/2015:17:36:50 +0000',
    '2026-01-02 03:04:05',
  ],
);
const query = fc
  .array(
    fc.constantFrom(
      'a=1',
      'b=',
      'a.b=2',
      '=x',
      'c',
      'd=%41+b',
      'e=%C3%A9',
      '%66=%zz',
      'g=é',
      'a=2',
      '&',
      'q=%',
      'm=%4',
    ),
    { maxLength: 3 },
  )
  .map((all) => (all.length === 0 ? '' : `?${all.join('&')}`));
const url = fc
  .tuple(
    fc.constantFrom('/', '/a/b', '/é', 'http://h/p', '*', '//x/y', '/a b', '-', '/#'),
    query,
    fc.constantFrom('', '', '#f', '#'),
  )
  .map((parts) => parts.join(''));
const requests = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('GET', 'G-1', '1GET', 'PRI'),
      url,
      fc.constantFrom(
        'HTTP/1.1',
        'HTTP/2',
        'HTTP/',
        'RTSP/1.0',
        'HTTP/.1',
        '',
        'HTTP/1.123456789012345',
      ),
    )
    .map((parts) => parts.join(' ')),
  fc.constantFrom(
    '-',
    '',
    '\\x16\\x03',
    'GET /"q" HTTP/1.1',
    'GET /\\"q HTTP/1.1',
    'GET  / HTTP/1.1',
  ),
);
const statuses = fc.constantFrom(
  '200 12',
  '404 -',
  '- -',
  '099 5',
  '200 012',
  '200 123456789012345678',
  '200',
  '2000 1',
  '200 x',
  '200  7',
  '200 12x',
);
const extras = fc.array(
  fc.constantFrom(
    '"-" "-"',
    '"http://r/" "Mozilla/5.0 (X11)"',
    '"-" "UA"',
    '"" "UA"',
    '"a"b" "c"',
    '"r"',
    '"10.0.0.1"',
    '"-" "-" "10.0.0.1"',
    '0.123',
    '12',
    '488',
    '0/12',
    '12ms',
    '5µs',
    '0.5s',
    '007',
    '0.',
    'abc',
    '4fd05ebe40a314b4f450dd8095671aef',
    '[x]',
    'rt=0.5',
    'a=b',
    '"e\\"s"',
    '-',
    '"open',
  ),
  { maxLength: 3 },
);
const head = mostly(['10.0.0.1 - -', 'host - bob'], heads);
const accessDate = mostly(['15/Dec/2015:17:36:50 +0000'], accessDates);
const request = mostly(['GET / HTTP/1.1', 'POST /a?b=c&d=%41 HTTP/2.0'], requests);
const status = mostly(['200 12', '404 -'], statuses);
const extra = mostly([[], ['"-" "UA"'], ['"-" "UA"', '0.123'], ['"-" "-"'], ['12']], extras);
const accessText = fc
  .tuple(
    head,
    accessDate,
    request,
    status,
    extra,
    mostly([''], fc.constantFrom(' ', '  x', '\u00a0')),
    mostly([' '], fc.constantFrom('  ', '\t')),
  )
  .map(
    ([first, date, line, numbers, all, last, by]) =>
      `${first} [${date}] "${line}" ${[numbers, ...all].join(by)}${last}`,
  );

const member = fc.tuple(
  fc.constantFrom(
    'a',
    'a.b',
    'http',
    'http.verb',
    'http.request_details.path',
    '@marker',
    'date_access',
    'date',
    'x',
    'http.request',
    'http.useragent',
    'level',
  ),
  scalar,
);
const event = fc
  .tuple(
    fc.oneof(jsonText, pairText, accessText, url),
    fc.constantFrom('message', 'message', 'log', 'http.request'),
    fc.array(member, { maxLength: 3 }),
  )
  .map(([text, name, members]) => {
    const all = [
      ...members.map(([of, value]) => `"${of}":${value}`),
      `"${name}":${JSON.stringify(text)}`,
    ];
    return `{${all.join(',')}}`;
  });

const STEPS: ExtensionStep[][] = [
  presets,
  [step({ kind: 'access_log' }), step({ kind: 'json' }), step({ kind: 'keyvalue' })],
  [step({ kind: 'access_log' }, { sources: ['custom.log', 'message'], target: 'custom.out' })],
  [step({ kind: 'access_log' }, { sources: ['custom.log', 'message'] })],
  [
    step({ kind: 'json' }, { target: 'custom.a' }),
    step({ kind: 'url' }, { target: 'custom.http' }),
  ],
  [
    step({ kind: 'keyvalue' }, { target: 'syslog.a' }),
    step({ kind: 'json' }, { sources: ['custom.log'] }),
  ],
  [
    step({ kind: 'url' }),
    step({ kind: 'user_agent' }),
    step({ kind: 'user_agent' }, { sources: ['custom.a'] }),
  ],
];

for (const [number, steps] of STEPS.entries()) {
  t.test(`finders find in any text what extractors find, steps ${number}`, async () => {
    let both = new Both(steps);
    let runs = 0;
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 6 }), (events) => {
        if (++runs % 300 === 0) both = new Both(steps);
        const other = both.difference(events.join('\n'));
        if (other !== undefined) throw new Error(other);
      }),
      { numRuns: 1_000 },
    );
  });
}
