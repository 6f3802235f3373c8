import fc from 'fast-check';
import type { TestLeaf, TestRow } from './leaves.ts';

/** Names as they come: plain, dotted, empty, with quotes, lone surrogates, like those of Object.prototype. */
const name = fc.constantFrom(
  'a',
  'b',
  'c.d',
  '',
  '__proto__',
  'constructor',
  '12',
  '1',
  'quo"te\\',
  'é😀',
  '\ud800',
  'line\n',
);

const text = fc.oneof(
  fc.constantFrom(
    '',
    'GET',
    'POST',
    '200',
    'x'.repeat(500),
    '"\\\b\u0001\u2028',
    '\udc00lone\ud83d',
  ),
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 })
    .map((units) => String.fromCharCode(...units)),
);

const number = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    '-0',
    '0.610',
    '1e400',
    '12345678901234567890',
    '0.0',
    '-1.50',
    '9007199254740993',
  ),
);

const date = fc
  .tuple(fc.integer({ min: 0, max: 4e12 }), fc.constantFrom('Z', '+02:00', '', '000Z'))
  .map(([ms, zone]) => new Date(ms).toISOString().slice(0, -1) + zone);

const array = fc
  .array(fc.oneof(fc.integer(), fc.string({ unit: 'grapheme' }), fc.constant(null)), {
    maxLength: 4,
  })
  .map((values) => JSON.stringify(values));

type Value =
  | { kind: 'null' }
  | { kind: 'object' }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'number' | 'string' | 'array' | 'date'; text: string }
  | Node;

interface Node {
  kind: 'node';
  fields: [string, Value][];
}

const leaf: fc.Arbitrary<Value> = fc.oneof(
  fc.constant<Value>({ kind: 'null' }),
  fc.constant<Value>({ kind: 'object' }),
  fc.boolean().map((value): Value => ({ kind: 'boolean', value })),
  number.map((of): Value => ({ kind: 'number', text: of })),
  text.map((of): Value => ({ kind: 'string', text: of })),
  array.map((of): Value => ({ kind: 'array', text: of })),
  date.map((of): Value => ({ kind: 'date', text: of })),
);

function node(depth: number): fc.Arbitrary<Node> {
  const value: fc.Arbitrary<Value> =
    depth === 0
      ? leaf
      : fc.oneof({ weight: 3, arbitrary: leaf }, { weight: 1, arbitrary: node(depth - 1) });
  return fc
    .uniqueArray(fc.tuple(name, value), { minLength: 1, maxLength: 5, selector: ([of]) => of })
    .map((fields): Node => ({ kind: 'node', fields }));
}

function leavesOf(value: Value, names: string[]): TestLeaf[] {
  if (value.kind !== 'node') return [{ names, ...value }];
  return value.fields.flatMap(([of, field]) => leavesOf(field, [...names, of]));
}

/** A row of any event: nested, with values of all kinds under the same names. */
export const anyRow: fc.Arbitrary<TestRow> = fc
  .record({
    timeMs: fc.oneof(
      fc.integer({ min: 1_700_000_000_000, max: 1_700_000_100_000 }),
      fc.constantFrom(-(2 ** 47), 2 ** 47 - 1, 0),
    ),
    custom: fc.option(
      fc.oneof(
        { weight: 9, arbitrary: node(2) },
        { weight: 1, arbitrary: fc.constant<Value>({ kind: 'object' }) },
      ),
      { nil: undefined },
    ),
    syslog: fc.option(node(1), { nil: undefined, freq: 2 }),
    message: fc.option(text, { nil: undefined }),
    messageFirst: fc.boolean(),
  })
  .map(({ timeMs, custom, syslog, message, messageFirst }) => {
    const parts: TestLeaf[][] = [
      custom === undefined ? [] : leavesOf(custom, ['custom']),
      syslog === undefined ? [] : leavesOf(syslog, ['syslog']),
      message === undefined ? [] : [{ names: ['message'], kind: 'string', text: message }],
    ];
    return { timeMs, leaves: (messageFirst ? parts.reverse() : parts).flat() };
  });

/** Rows that repeat one another's shapes, so that columns have values in many rows. */
export const anyRows: fc.Arbitrary<TestRow[]> = fc
  .tuple(
    fc.array(anyRow, { minLength: 1, maxLength: 8 }),
    fc.array(fc.nat(7), { minLength: 1, maxLength: 60 }),
  )
  .map(([rows, picks]) =>
    picks.map((pick, index) => {
      const row = rows[pick % rows.length];
      return { ...row, timeMs: Math.min(row.timeMs + index, 2 ** 47 - 1) };
    }),
  );
