import fc from 'fast-check';
import type { ModelPattern, ModelPredicate } from '../support/model.ts';

/** Random values of attributes, and random filters that often meet them. */

/** Paths of the attributes of random events, of objects around them, and one that no event has. */
export const PATHS = [
  'message',
  'syslog.appname',
  'custom.a',
  'custom.b',
  'custom.n',
  'custom.o.x',
  'custom.o.y.z',
  'custom.d.ot',
  'custom.@m',
  'custom.k..e',
  'custom.o',
  'custom.o.y',
  'custom.no',
];

const TEXTS = [
  ...[
    '',
    ' ',
    'GET',
    'get it',
    'Über öl',
    'Straße 東京',
    'a_1 b-2',
    'true',
    'null',
    '*',
    'a*b?',
    '-x',
  ],
  ...[
    'say "x"',
    'a:b',
    'back\\slash\n',
    'AND',
    'NOT',
    '(x)',
    '[1 TO 2]',
    '>5',
    '😀 ok',
    'custom.a:1',
  ],
];
const NUMERIC_TEXTS = [
  ...['200', '200.0', '1e2', '.5', '+5', '007', '0.610', '-0', '12345678901234567890', '1e400'],
  ...['Infinity', '0x10', '5.'],
];
const DATES = [
  '2016-01-01T00:00:00Z',
  '2016-01-01T01:00:00.000+01:00',
  '2016-01-01 00:00:00.000250',
  '2016-02-30T00:00:00Z',
  '2300-12-31T23:59:59.999999Z',
];
const NUMBERS = [
  ...['0', '-0', '200', '200.0', '2e2', '0.1', '0.610', '-1.5', '5', '100', '7'],
  ...['12345678901234567890', '1e400', '-1e400', '9007199254740993', '1E-7'],
];

const numberText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 2, arbitrary: fc.integer({ min: -20, max: 300 }).map(String) },
  fc.integer({ min: -500, max: 500 }).map((n) => (n / 100).toFixed(2)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => String(n === 0 ? 0 : n)),
);
const wordsText = fc
  .array(fc.constantFrom('get', 'PUT', 'İx', 'ΟΔΟΣ', 'k', 'index.html', '-', 'öl', 'it'), {
    maxLength: 5,
  })
  .map((words) => words.join(' '));
const stringText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.constantFrom(...NUMERIC_TEXTS, ...DATES) },
  // Surrogates alone are kept as escapes, which the model does not know.
  fc.string({ unit: 'binary', maxLength: 6 }),
  wordsText,
);
const element = fc.oneof(
  numberText,
  stringText.map((text) => JSON.stringify(text)),
  fc.constantFrom('true', 'false', 'null', '[200]', '{"a":"GET"}'),
);
const plainNumber = fc.oneof(
  fc.integer({ min: -20, max: 300 }).map(String),
  fc.integer({ min: -500, max: 500 }).map((n) => (n / 100).toFixed(2)),
  fc.constantFrom('0.610', '-0', '"12.50"', '"7"', '"-3"', 'null', '"none"', '[1,2.5,"3",null]'),
);

/** JSON texts of values of all kinds. */
export const valueText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: numberText },
  { weight: 4, arbitrary: stringText.map((text) => JSON.stringify(text)) },
  {
    weight: 2,
    arbitrary: fc.array(element, { maxLength: 4 }).map((elements) => `[${elements.join(',')}]`),
  },
  { weight: 1, arbitrary: fc.constantFrom('true', 'false', 'null', '{}') },
);

/** JSON texts of a message. */
export const messageText = fc.oneof(wordsText, stringText).map((text) => JSON.stringify(text));

/** JSON texts of which the numbers are decimals of few digits. */
export const plainText = plainNumber;

/** Texts of values, as a filter says them. */
export const filterText = fc.oneof(numberText, stringText);

const path = fc.constantFrom(...PATHS);
/** One path, or those that a name with `@` may mean. */
const paths = fc.oneof(
  { weight: 6, arbitrary: path.map((one) => [one]) },
  fc.constantFrom('m', 'a').map((name) => [`custom.@${name}`, `custom.${name}`]),
  fc.array(path, { minLength: 1, maxLength: 2 }),
);

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const rangeEnd = fc.tuple(filterText, fc.boolean()).map(([text, inclusive]) => {
  const number = NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? { text, number, inclusive } : { text, inclusive };
});

const wildcard = fc.constantFrom({ wildcard: '*' as const }, { wildcard: '?' as const });
const pieces = (...literals: string[]) =>
  fc
    .array(
      fc.oneof(
        wildcard,
        fc.constantFrom(...literals).map((literal) => ({ literal })),
      ),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .map(joined);

/** A pattern as a text says it: literals that touch are one, and so are stars. */
function joined(pattern: ModelPattern): ModelPattern {
  const whole: ModelPattern = [];
  for (const piece of pattern) {
    const last = whole.at(-1);
    if (last !== undefined && 'literal' in last && 'literal' in piece) {
      whole[whole.length - 1] = { literal: last.literal + piece.literal };
    } else if (!(isStar(last) && isStar(piece))) {
      whole.push(piece);
    }
  }
  return whole;
}

function isStar(piece: ModelPattern[number] | undefined): boolean {
  return piece !== undefined && 'wildcard' in piece && piece.wildcard === '*';
}

/** Regular expressions that mean the same in the syntax of RE2 and in that of ECMAScript. */
export const regex = fc
  .constantFrom(
    '.*',
    '.+e.*',
    '[0-9]+',
    '-?[0-9]+([.][0-9]+)?',
    '(?:GET|get it|true)',
    '2(0{1,3}|1)',
    '[^a-zA-Z ]*',
    'a.b|x',
    '(a|b|c)*d?',
    '.*/x',
    '(.*t)?.* (x|y|ok|öl).*',
    '\\d{4}-.*Z',
  )
  .map((source) => ({ type: 'regex' as const, source }));

/** Predicates that a search can say: the pattern of one literal is that text. */
const match = fc.oneof(
  { weight: 1, arbitrary: regex },
  { weight: 3, arbitrary: filterText.map((text) => ({ type: 'text' as const, text })) },
  {
    weight: 1,
    arbitrary: pieces('2', '0', 'GET', 'e', 'ü', '.', '-', 't', 'a', '*', ':').map((pattern) => {
      const [piece] = pattern;
      return pattern.length === 1 && 'literal' in piece
        ? { type: 'text' as const, text: piece.literal }
        : { type: 'pattern' as const, pattern };
    }),
  },
);

const word = pieces('get', 'it', 'öl', 'über', 'index', 'html', 'k', 'οδος', 'a_1', 'x', 'straße');
/** A star alone at an end says nothing: then the star is a question mark. */
const words = fc
  .array(word, { minLength: 1, maxLength: 2 })
  .map((words) =>
    words.map(
      (pattern): ModelPattern =>
        pattern.length === 1 && isStar(pattern[0]) ? [{ wildcard: '?' }] : pattern,
    ),
  );

/** Words of values that are no messages. */
const shortWords = fc
  .constantFrom('200', '1', 'true', 'null', '2016', '610')
  .map((literal) => [[{ literal }]]);

const leaf: fc.Arbitrary<ModelPredicate> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom({ type: 'all' as const }, { type: 'none' as const }) },
  { weight: 3, arbitrary: words.map((words) => ({ type: 'words' as const, words })) },
  {
    weight: 1,
    arbitrary: fc
      .oneof(
        fc.oneof(words, shortWords).map((words) => ({ type: 'words' as const, words })),
        regex,
      )
      .map((match) => ({ type: 'anywhere' as const, match })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(paths, match)
      .map(([paths, match]) => ({ type: 'value' as const, paths, match })),
  },
  { weight: 2, arbitrary: paths.map((paths) => ({ type: 'exists' as const, paths })) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(paths, rangeEnd, rangeEnd, fc.constantFrom('from', 'to', 'both'))
      .map(([paths, from, to, ends]) => ({
        type: 'range' as const,
        paths,
        ...(ends === 'to' ? {} : { from }),
        ...(ends === 'from' ? {} : { to }),
      })),
  },
);

/** Random filters that are made of `leaf`. */
export function filtersOf(leaf: fc.Arbitrary<ModelPredicate>): fc.Arbitrary<ModelPredicate> {
  return fc.letrec<{ tree: ModelPredicate }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc
        .tuple(
          fc.constantFrom('and' as const, 'or' as const),
          fc.array(tie('tree'), { maxLength: 3 }),
        )
        .map(([type, children]) => ({ type, children })),
      tie('tree').map((child) => ({ type: 'not' as const, child })),
    ),
  })).tree;
}

/** Random filters that a search can say. */
export const predicate = filtersOf(leaf);
