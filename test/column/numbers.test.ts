import fc from 'fast-check';
import t from 'tap';
import { ByteWriter } from '../../engine/base/bytes.ts';
import { NumberChunk, writeNumbers } from '../../engine/column/number-chunk.ts';
import { PrintRule, printNumber, SCALE_DOUBLE } from '../../engine/column/number-text.ts';
import { NumberBuilder } from '../../engine/column/numbers.ts';
import { PresentRows } from '../../engine/column/presence.ts';
import { NUMBER_AS_TEXT } from '../../engine/column/rows.ts';
import { findValues } from '../../engine/packed/packed.ts';

/** Value and detail as rows.ts defines them. */
function parts(text: string): [number, number] {
  const match = /^(-?(?:0|[1-9]\d*))(?:\.(\d{1,22}))?$/.exec(text);
  const mantissa = match === null ? Number.NaN : Number(match[1] + (match[2] ?? ''));
  return Number.isSafeInteger(mantissa) && !Object.is(mantissa, -0)
    ? [mantissa, match?.[2]?.length ?? 0]
    : [Number(text), NUMBER_AS_TEXT];
}

function build(texts: string[]): NumberBuilder {
  const builder = new NumberBuilder(5);
  for (const [row, text] of texts.entries()) {
    const bytes = Buffer.from(`..${text}`);
    const [value, detail] = parts(text);
    builder.append(row, value, detail, bytes, 2, text.length);
  }
  return builder;
}

function encode(
  texts: string[],
  from = 0,
  to = texts.length,
): { bytes: Uint8Array; min: number; max: number } {
  const writer = new ByteWriter();
  const zone = writeNumbers(writer, build(texts), from, to);
  return { bytes: writer.bytes().slice(), ...zone };
}

function fault(texts: string[]): string | undefined {
  const { bytes, min, max } = encode(texts);
  const chunk = new NumberChunk(bytes, texts.length);
  const column = chunk.column(undefined, texts.length);
  const exceptions = new Map(column.exceptions.map(({ row, text }) => [row, text]));
  for (const [row, text] of texts.entries()) {
    if (chunk.text(row) !== text) return `${text} came back as ${chunk.text(row)}`;
    if (column.text(row) !== text) return `${text} is ${column.text(row)} in the column`;
    const value = Number(text);
    if (value < min || value > max) return `${text} is not within ${min} and ${max}`;
    const exception = exceptions.get(row);
    if (exception !== undefined) {
      if (exception !== text || column.mantissas[row] !== 0) return `exception ${exception}`;
      continue;
    }
    const { scale, mantissas } = column;
    const number = scale === SCALE_DOUBLE ? mantissas[row] : mantissas[row] / 10 ** scale;
    if (number !== value) return `${text} counts as ${number}`;
  }
  return undefined;
}

const repeat = (count: number, text: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => text(index));

t.test('numbers within bounds are the same ones before and after they are decoded', async (t) => {
  const texts = [...repeat(300, (index) => ((index * 37) % 101).toFixed(1)), '1e400', '-0.5'];
  const chunk = new NumberChunk(encode(texts).bytes, texts.length);
  const column = chunk.column(undefined, texts.length);
  for (const [low, high] of [
    [200, 500],
    [-5, 0],
    [370, 370],
    [2_000, Number.POSITIVE_INFINITY],
    [500, 200],
  ]) {
    const packed = chunk.column(undefined, texts.length).rowsWithin(low, high);
    t.ok(column.mantissas.length > 0);
    const decoded = column.rowsWithin(low, high);
    for (const { row } of column.exceptions) {
      packed[row >>> 5] &= ~(1 << (row & 31));
      decoded[row >>> 5] &= ~(1 << (row & 31));
    }
    t.same(packed, decoded, `${low} to ${high}`);
  }
});

t.test('numbers within bounds are found at the rows that have them, decoded or not', async () => {
  const number = fc.oneof(fc.integer({ min: -40, max: 40 }), fc.constantFrom(1e300, 1e12));
  const values = fc.array(fc.option(number), { minLength: 1, maxLength: 400 });
  fc.assert(
    fc.property(
      values,
      fc.integer({ min: -41, max: 41 }),
      fc.nat({ max: 30 }),
      (all, low, span) => {
        const rows = [...all.keys()].filter((row) => all[row] !== null);
        const chunk = new NumberChunk(
          encode(rows.map((row) => String(all[row]))).bytes,
          rows.length,
        );
        const present = PresentRows.of(Uint32Array.from(rows), all.length);
        const column = chunk.column(present, all.length);
        const isWanted = (row: number): boolean => {
          const { mantissas } = column;
          return mantissas[row] >= low && mantissas[row] <= low + span;
        };
        const packed = chunk.column(present, all.length).rowsWithin(low, low + span);
        const has = (found: Uint32Array, row: number): boolean =>
          (found[row >>> 5] >>> row) % 2 === 1;
        const decoded = column.rowsWithin(low, low + span);
        const exceptions = new Set(column.exceptions.map(({ row }) => row));
        for (const row of rows.filter((row) => !exceptions.has(row))) {
          if (has(packed, row) !== isWanted(row)) throw new Error(`row ${row} before`);
          if (has(decoded, row) !== isWanted(row)) throw new Error(`row ${row} decoded`);
        }
      },
    ),
  );
});

t.test('numbers of all rows are found as they are stored, where that is possible', async (t) => {
  const found = (texts: string[], low: number, high: number, rows = texts.length): unknown => {
    const chunk = new NumberChunk(encode(texts).bytes, texts.length);
    const present = rows === texts.length ? undefined : PresentRows.of(firstRows(texts), rows);
    const column = chunk.column(present, rows);
    const span = column.span(low, high);
    if (span === undefined) return undefined;
    const bits = findValues(span.values, span.first, span.last);
    t.same(bits, column.rowsWithin(low, high));
    return bits.some((word) => word !== 0);
  };
  const codes = repeat(400, (index) => String([7, 304, 90_404, 1e9][index % 4]));
  t.equal(found(codes, 304, 90_404), true);
  t.equal(found(codes, 1e9, 2e9), true);
  t.equal(found(codes, 8, 303), false);
  t.equal(found(codes, 2e9, 3e9), false);
  t.equal(found(codes, 304, 303), false);
  const packed = repeat(400, (index) => String((index * 7_919) % 1_009));
  t.equal(found(packed, 17, 90), true);
  t.equal(found(packed, 2_000, 3_000), false, 'all are below');
  t.equal(found(packed, -9, -1), false);
  t.equal(found(packed, 17, 90, 500), undefined, 'not each row has one');
  t.equal(found([...packed, '1e400'], 17, 90), undefined, 'one is an exception');
});

/** As many rows as texts, from the first on. */
function firstRows(texts: readonly string[]): Uint32Array {
  return Uint32Array.from(texts.keys());
}

t.test('small whole mantissas are known by codes that are one higher', async (t) => {
  const texts = repeat(500, (index) => (0.2 + (index % 90) / 100).toFixed(2));
  const column = new NumberChunk(encode(texts).bytes, texts.length).column(undefined, texts.length);
  t.same(
    column.small(150),
    Uint32Array.from(column.mantissas, (mantissa) => mantissa + 1),
  );
  t.equal(column.small(20), undefined);
  const one = new NumberChunk(encode(['7', '7']).bytes, 2).column(undefined, 2);
  t.same(one.small(7), Uint32Array.of(8, 8));
  const odd = [...texts, '1e400'];
  const mixed = new NumberChunk(encode(odd).bytes, odd.length).column(undefined, odd.length);
  t.equal(mixed.exceptions.length, 1);
  t.equal(mixed.small(150), undefined);
});

t.test('numbers come back as written, by the rule that fits them', async (t) => {
  const table: [string, string[], number, number, number][] = [
    ['whole', repeat(500, (i) => String(i)), PrintRule.FIXED, 0, 0],
    ['three decimals', repeat(500, (i) => (i / 1000).toFixed(3)), PrintRule.FIXED, 3, 0],
    ['shortest', repeat(500, (i) => String(i / 100)), PrintRule.SHORTEST, 2, 0],
    [
      'with a decimal at least',
      repeat(500, (i) => (i % 4 === 0 ? `${i}.0` : String(i / 4))),
      PrintRule.POINT,
      2,
      0,
    ],
    ['long doubles', repeat(500, (i) => String(Math.sqrt(i + 2))), PrintRule.SHORTEST, 255, 0],
    [
      'long doubles with a decimal at least',
      repeat(500, (i) => (i % 2 === 0 ? `${i}.0` : String(Math.sqrt(i * i + 2)))),
      PrintRule.POINT,
      255,
      0,
    ],
    ['one odd among many', [...repeat(99, (i) => String(i)), '1e3'], PrintRule.FIXED, 0, 1],
    ['odd ones', ['-0', '1e400', '12345678901234567890', '007'], PrintRule.FIXED, 0, 4],
  ];
  for (const [name, texts, rule, scale, exceptions] of table) {
    t.equal(fault(texts), undefined, name);
    const { bytes } = encode(texts);
    t.same([bytes[0], bytes[1], bytes[2]], [rule, scale, exceptions], `${name}: rule and scale`);
  }
});

t.test('adversarial texts come back', async (t) => {
  const texts = [
    '0',
    '-0',
    '0.0',
    '-0.0',
    '0.610',
    '0.61',
    '-0.5',
    '-1',
    '1e400',
    '-1e400',
    '1E5',
    '1e+5',
    '1e-5',
    '12345678901234567890',
    '9007199254740991',
    '-9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '0.1234567890123456789',
    '0.30000000000000004',
    '123456789.123456789',
    '0.000000000000000000000001',
    '0.0000000000000000000001',
    '100',
    '1.50',
    '1e21',
    '1e+21',
    '1e-7',
    '5e-324',
    '1.7976931348623157e308',
    '900719925474099.1',
    '4503599627370497.5',
    '00',
    '01.5',
  ];
  t.equal(fault(texts), undefined, 'all in one column');
  for (const text of texts) {
    t.equal(fault([text]), undefined, text);
    t.equal(fault(['7', text, '8']), undefined, `${text} among whole numbers`);
    t.equal(fault(['1.25', text, '3.5', '4', text]), undefined, `${text} among decimals`);
  }
});

const numberText = fc.oneof(
  fc.integer().map(String),
  fc.maxSafeInteger().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.tuple(fc.integer(), fc.nat(8)).map(([n, d]) => (n / 1000).toFixed(d)),
  fc.bigInt().map(String),
  fc.tuple(fc.integer(), fc.integer({ min: -400, max: 400 })).map(([n, e]) => `${n}e${e}`),
);

t.test('any mixture of numbers comes back', async () => {
  fc.assert(
    fc.property(fc.array(numberText, { minLength: 1, maxLength: 60 }), (texts) => {
      const wrong = fault(texts);
      if (wrong !== undefined) throw new Error(wrong);
    }),
    { numRuns: 500 },
  );
});

t.test('part of a column comes back, texts and all', async () => {
  fc.assert(
    fc.property(
      fc.array(numberText, { minLength: 1, maxLength: 40 }),
      fc.nat(),
      fc.nat(),
      (texts, one, other) => {
        const from = one % texts.length;
        const to = from + 1 + (other % (texts.length - from));
        const chunk = new NumberChunk(encode(texts, from, to).bytes, to - from);
        return texts.slice(from, to).every((text, index) => chunk.text(index) === text);
      },
    ),
  );
});

t.test('a builder that was cleared keeps nothing', async (t) => {
  const builder = build(['1e400', '5', '2.5']);
  builder.clear();
  builder.append(0, 7, 0, Buffer.from('7'), 0, 1);
  const writer = new ByteWriter();
  t.same(writeNumbers(writer, builder, 0, 1), { min: 7, max: 7 });
  t.equal(new NumberChunk(writer.bytes(), 1).text(0), '7');
});

t.test('print rules', async (t) => {
  const table: [number, number, PrintRule, string][] = [
    [-5, 3, PrintRule.FIXED, '-0.005'],
    [1500, 2, PrintRule.FIXED, '15.00'],
    [1500, 2, PrintRule.SHORTEST, '15'],
    [1510, 2, PrintRule.SHORTEST, '15.1'],
    [1500, 2, PrintRule.POINT, '15.0'],
    [0, 2, PrintRule.POINT, '0.0'],
    [12, SCALE_DOUBLE, PrintRule.POINT, '12.0'],
    [1e21, SCALE_DOUBLE, PrintRule.POINT, '1e+21'],
  ];
  for (const [value, scale, rule, text] of table) t.equal(printNumber(value, scale, rule), text);
});

t.test('any bytes are numbers or corruption', async () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }),
      fc.integer({ min: 1, max: 500 }),
      (bytes, count) => {
        try {
          const chunk = new NumberChunk(bytes, count);
          chunk.text(count - 1);
          chunk.column(undefined, count);
        } catch (error) {
          if ((error as { code?: string }).code !== 'CORRUPTION') throw error;
        }
      },
    ),
    { numRuns: 2000 },
  );
});
