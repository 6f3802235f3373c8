import fc from 'fast-check';
import { filtersOf, regex } from '../oracle/predicates.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import type { ModelPattern, ModelPredicate } from '../support/model.ts';

/** Attributes of random events: names, and the paths by which queries name them. */
const NAMES: string[][] = [
  ['message'],
  ['syslog', 'appname'],
  ['custom', 'a'],
  ['custom', 'b'],
  ['custom', 'o', 'x'],
  ['custom', 'o', 'y.z'],
  ['custom', 'd.ot'],
];
export const PATHS = [
  ...NAMES.map((names) => names.join('.')),
  'custom.o',
  'custom.o.y',
  'custom.no',
];

const TEXTS = [
  '',
  'GET',
  'get it',
  'Über öl',
  'a_1 b-2',
  '200',
  '200.0',
  '1e2',
  '.5',
  '007',
  'true',
  'x"\\\n',
];
const DATES = [
  '2016-01-01T00:00:00Z',
  '2016-01-01T01:00:00.000+01:00',
  '2016-01-01 00:00:00.000250',
  '2016-02-30T00:00:00Z',
  '2300-12-31T23:59:59.999999Z',
];
const NUMBERS = [
  '0',
  '-0',
  '200',
  '200.0',
  '2e2',
  '0.1',
  '0.10',
  '-1.5',
  '12345678901234567890',
  '1e400',
  '9007199254740993',
];

const numberText = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.integer({ min: -20, max: 300 }).map(String),
  fc.integer({ min: -500, max: 500 }).map((n) => (n / 100).toFixed(2)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => String(n === 0 ? 0 : n)),
);
const stringText = fc.oneof(
  fc.constantFrom(...TEXTS, ...DATES),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc
    .array(fc.constantFrom('get', 'PUT', 'İx', 'ΟΔΟΣ', 'k', 'index.html', '-'), { maxLength: 5 })
    .map((words) => words.join(' ')),
);

const element: fc.Arbitrary<string> = fc.oneof(
  numberText,
  stringText.map((text) => JSON.stringify(text)),
  fc.constantFrom('true', 'false', 'null', '[200]', '{"a":"GET"}', '"\\ud83d\\ude00\\/\\u0041"'),
);

const leafValue: fc.Arbitrary<TestLeaf extends infer L ? L : never> = fc.oneof(
  { weight: 4, arbitrary: numberText.map((text) => ({ kind: 'number' as const, text })) },
  { weight: 4, arbitrary: stringText.map((text) => ({ kind: 'string' as const, text })) },
  { weight: 1, arbitrary: fc.boolean().map((value) => ({ kind: 'boolean' as const, value })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...DATES).map((text) => ({ kind: 'date' as const, text })),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(element, { maxLength: 4 })
      .map((elements) => ({ kind: 'array' as const, text: `[${elements.join(',')}]` })),
  },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'null' as const }, { kind: 'object' as const }) },
) as fc.Arbitrary<TestLeaf>;

const messageValue = stringText.map((text) => ({ kind: 'string' as const, text }));

/** Events with times in [0, 12), so that many are equal, and mixed types. */
export const testRow: fc.Arbitrary<TestRow> = fc
  .tuple(
    fc.integer({ min: 0, max: 11 }),
    fc.array(fc.option(leafValue, { nil: undefined }), {
      minLength: NAMES.length,
      maxLength: NAMES.length,
    }),
    fc.option(messageValue, { nil: undefined }),
  )
  .map(([timeMs, values, message]) => {
    const leaves: TestLeaf[] = [];
    for (const [index, names] of NAMES.entries()) {
      const value = index === 0 ? message : values[index];
      if (value !== undefined) leaves.push({ ...value, names } as TestLeaf);
    }
    return { timeMs, leaves };
  });

const path = fc.constantFrom(...PATHS);
const paths = fc.array(path, { minLength: 1, maxLength: 2 });
const text = fc.oneof(numberText, stringText);

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const rangeEnd = fc.tuple(text, fc.boolean()).map(([text, inclusive]) => {
  const number = NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? { text, number, inclusive } : { text, inclusive };
});

const piece = fc.oneof(
  fc.constantFrom({ wildcard: '*' as const }, { wildcard: '?' as const }),
  fc.constantFrom('2', '0', 'GET', 'e', 'ü', '.', '-', 't').map((literal) => ({ literal })),
);
const wordPiece = fc.oneof(
  fc.constantFrom({ wildcard: '*' as const }, { wildcard: '?' as const }),
  fc
    .constantFrom('get', 'it', 'öl', 'über', 'index', 'html', 'k', 'οδος', 'a_1')
    .map((literal) => ({ literal })),
);
const pattern = fc.array(piece, { minLength: 1, maxLength: 4 }) as fc.Arbitrary<ModelPattern>;
const word = fc.array(wordPiece, { minLength: 1, maxLength: 2 }) as fc.Arbitrary<ModelPattern>;
const shortWord = fc.constantFrom('200', '1', 'true', '2016').map((literal) => [{ literal }]);

const leaf: fc.Arbitrary<ModelPredicate> = fc.oneof(
  fc.constantFrom({ type: 'all' as const }, { type: 'none' as const }),
  fc
    .array(word, { minLength: 1, maxLength: 2 })
    .map((words) => ({ type: 'words' as const, words })),
  fc
    .array(fc.oneof(word, shortWord), { minLength: 1, maxLength: 2 })
    .map((words) => ({ type: 'anywhere' as const, match: { type: 'words' as const, words } })),
  fc.tuple(paths, text).map(([paths, text]) => ({
    type: 'value' as const,
    paths,
    match: { type: 'text' as const, text },
  })),
  fc.tuple(paths, pattern).map(([paths, pattern]) => ({
    type: 'value' as const,
    paths,
    match: { type: 'pattern' as const, pattern },
  })),
  fc.tuple(paths, regex).map(([paths, match]) => ({ type: 'value' as const, paths, match })),
  paths.map((paths) => ({ type: 'exists' as const, paths })),
  fc
    .tuple(paths, fc.option(rangeEnd, { nil: undefined }), fc.option(rangeEnd, { nil: undefined }))
    .map(([paths, from, to]) => ({
      type: 'range' as const,
      paths,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    })),
);

/** Random filters. */
export const predicate = filtersOf(leaf);
