import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import type { NumberColumn } from '../../engine/column/column.ts';
import { plainValues } from '../../engine/packed/cells.ts';
import { tallyRows } from '../../engine/packed/packed.ts';
import {
  isNumberText,
  mantissaAt,
  NumberReader,
  parseDecimal,
} from '../../engine/query/filter/decimal.ts';
import { encodeText } from '../../engine/query/filter/text.ts';
import { Cardinalities } from '../../engine/query/metric/cardinality.ts';
import { DistinctNumbers } from '../../engine/query/metric/distinct-numbers.ts';
import { Quantiles } from '../../engine/query/metric/quantile.ts';
import { CODES, codeAtRank, placesOf } from '../../engine/query/metric/quantile-code.ts';
import { Sums } from '../../engine/query/metric/sum.ts';
import { Pairs } from '../../engine/query/value/pairs.ts';
import { ValueHash } from '../../engine/query/value/value-hash.ts';

t.test('texts of numbers are told from others', async (t) => {
  const numbers = [
    '0',
    '-1',
    '+1',
    '1.',
    '.5',
    '007',
    '1e5',
    '1.5E-3',
    '12345678901234567890',
    '0.610',
  ];
  const others = [
    '',
    '-',
    '.',
    'e5',
    '1e',
    '1e+',
    '1 ',
    ' 1',
    '1,5',
    '0x10',
    'NaN',
    'Infinity',
    '1.2.3',
    '--1',
  ];
  const reader = new NumberReader();
  for (const text of [...numbers, ...others]) {
    const bytes = encodeText(text);
    const isNumber = numbers.includes(text);
    t.equal(isNumberText(bytes, 0, bytes.length), isNumber, text);
    t.equal(reader.read(bytes, 0, bytes.length), isNumber, text);
    t.equal(parseDecimal(text) !== undefined, isNumber, text);
    if (isNumber) t.equal(reader.value, Number(text), text);
  }
  const huge = encodeText('1e999');
  t.notOk(reader.read(huge, 0, huge.length), 'a number beyond all doubles');
});

t.test('a number is one mantissa at each scale, or none', async (t) => {
  const decimal = (text: string) =>
    parseDecimal(text) ?? { negative: false, digits: '', exponent: 0 };
  t.equal(mantissaAt(decimal('2.50'), 1), 25);
  t.equal(mantissaAt(decimal('2.50'), 2), 250);
  t.equal(mantissaAt(decimal('2.50'), 0), undefined);
  t.equal(mantissaAt(decimal('-0.0'), 3), 0);
  t.equal(mantissaAt(decimal('-9007199254740991'), 0), -Number.MAX_SAFE_INTEGER);
  t.equal(mantissaAt(decimal('9007199254740993'), 0), undefined);
  t.equal(mantissaAt(decimal('1e40'), 0), undefined);
});

/** Makes group 1 of a merged part group 0. */
const ONTO_FIRST = Uint32Array.of(0, 0);

t.test('decimals of all scales are summed exactly, each group for itself', async (t) => {
  const part = fc.tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 22 }), fc.nat(1));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.nat(30), (parts, cut) => {
      const [whole, left, right] = [new Sums(), new Sums(), new Sums()];
      for (const sums of [whole, left, right]) sums.ensure(2);
      const exact = [0n, 0n];
      for (const [index, [mantissa, scale, group]] of parts.entries()) {
        whole.addDecimal(group, mantissa, scale);
        (index < cut ? left : right).addDecimal(group, mantissa, scale);
        exact[group] += BigInt(mantissa) * 10n ** BigInt(22 - scale);
      }
      finished(left.merge(right, Uint32Array.of(0, 1)));
      const both = new Sums();
      both.ensure(1);
      finished(both.merge(whole, ONTO_FIRST));
      const wanted = (value: bigint) => Number(`${value}e-22`);
      return (
        both.result(0) === wanted(exact[0] + exact[1]) &&
        [0, 1].every(
          (group) =>
            whole.result(group) === wanted(exact[group]) &&
            left.result(group) === wanted(exact[group]),
        )
      );
    }),
  );
  const sum = new Sums();
  sum.ensure(1);
  for (let index = 0; index < 10; index++) sum.addDecimal(0, 1, 1);
  t.equal(sum.result(0), 1);
  sum.addText(0, '12345678901234567890');
  sum.addText(0, '-12345678901234567891e0');
  sum.addText(0, '5e-324');
  t.equal(sum.result(0), 5e-324);
});

t.test('doubles are summed with compensation', async (t) => {
  const sum = new Sums();
  sum.ensure(3);
  for (const value of [1e100, 1, -1e100, 1]) sum.addDouble(2, value);
  t.equal(sum.result(2), 2);
  t.equal(sum.result(1), 0);
});

t.test('quantiles of up to 100 values are exact, of more within 0.1 %, merged or not', async () => {
  const value = fc.oneof(
    fc
      .double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 })
      .filter((number) => number === 0 || Math.abs(number) > 1e-9),
    fc.integer({ min: -2000, max: 2000 }),
  );
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 140, size: 'max' }),
      fc.nat(140),
      (values, cut) => {
        const whole = new Quantiles();
        const left = new Quantiles();
        const right = new Quantiles();
        for (const [index, number] of values.entries()) {
          whole.add(7, number);
          (index < cut ? left : right).add(index < cut ? 7 : 1, number);
        }
        finished(left.merge(right.data, Uint32Array.of(0, 7)));
        const sorted = [...values].sort((a, b) => a - b);
        return [1, 50, 75, 90, 95, 98, 99, 100].every((percent) => {
          const rank = Math.max(Math.ceil((percent * sorted.length) / 100), 1);
          const isBetween = percent === 50 && sorted.length % 2 === 0;
          const ends = [sorted[rank - 1], sorted[isBetween ? rank : rank - 1]];
          const found = whole.at(7, percent) ?? Number.NaN;
          const error = Math.abs(found - (ends[0] + ends[1]) / 2);
          const isExact = sorted.length <= 100;
          const greatest = Math.max(...ends.map(Math.abs));
          const allowed = isExact ? (isBetween ? greatest * 2 ** -52 : 0) : greatest * 0.001;
          return found === left.at(7, percent) && error <= allowed;
        });
      },
    ),
  );
});

t.test('quantiles are the same whether groups come in turns or one after the other', async (t) => {
  const count = 30_000;
  const groupCount = 7;
  const mantissas = Float64Array.from({ length: count }, (_, row) => (row * 7_919) % 100_003);
  const inTurns = new Pairs();
  const inOrder = new Pairs();
  for (let row = 0; row < count; row++) inTurns.add(row, row % groupCount);
  for (let group = 0; group < groupCount; group++) {
    for (let row = group; row < count; row += groupCount) inOrder.add(row, group);
  }
  const turning = new Quantiles();
  const ordered = new Quantiles();
  const single = new Quantiles();
  for (let time = 0; time < 3; time++) {
    turning.addNumbers(inTurns, mantissas, 1_000);
    for (let row = 0; row < count; row++) single.add(row % groupCount, mantissas[row] / 1_000);
  }
  ordered.addNumbers(inOrder, mantissas, 1_000);
  const valuesOf = (quantiles: Quantiles): (number | undefined)[] =>
    Array.from({ length: groupCount * 100 }, (_, at) => quantiles.at(at % groupCount, at / 7 + 1));
  t.same(valuesOf(turning), valuesOf(ordered));
  t.same(valuesOf(single), valuesOf(ordered));
});

t.test(
  'tallied numbers have the quantiles of the numbers, whatever else a group has, merged or not',
  async (t) => {
    let state = 5;
    const next = (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const groupCount = 5;
    const percents = [1, 50, 75, 95, 99, 100];
    for (let round = 0; round < 40; round++) {
      const parts = [new Quantiles(), new Quantiles(), new Quantiles()];
      const plain = new Quantiles();
      for (let step = 0; step < 24; step++) {
        const part = parts[next(parts.length)];
        const group = next(groupCount);
        if (next(6) === 0) {
          const value = [-5.5, 1e9, 0.25, 12, 70_000][next(round % 2 === 0 ? 3 : 5)];
          part.add(group, value);
          plain.add(group, value);
          continue;
        }
        const divisor = next(round % 4 === 0 ? 3 : 12) === 0 ? 10 : 1_000;
        const width = [40, 700, 3_000, 65_536][next(4)];
        const count = 1 + next([60, 400, 3_000][next(3)]);
        const codes = Uint32Array.from({ length: count }, () => 1 + next(width));
        const rows = new Uint32Array(Math.ceil(count / 32)).fill(0xffffffff);
        const { tally, spread } = tallyRows(plainValues(codes), rows, () => codes);
        const counted = next(2) === 0 && spread?.(0, count, placesOf(divisor).ranks);
        const isTaken = counted && part.addSpread(group, counted, divisor);
        if (isTaken !== true) part.addTally(group, tally(0, count), divisor);
        for (const code of codes) plain.add(group, (code - 1) / divisor);
        if (next(30) === 0) part.at(group, 50);
      }
      const [whole, ...others] = parts;
      const groups = Uint32Array.from({ length: groupCount }, (_, group) => group);
      for (const other of others) finished(whole.merge(other.data, groups));
      const valuesOf = (quantiles: Quantiles) =>
        Array.from(groups, (group) => percents.map((percent) => quantiles.at(group, percent)));
      t.same(valuesOf(whole), valuesOf(plain));
    }
  },
);

t.test('the code at a rank is the one that sorting finds', async () => {
  const code = fc.oneof(fc.integer({ min: 1, max: CODES - 1 }), fc.integer({ min: 1, max: 300 }));
  const entry = fc.tuple(code, fc.integer({ min: 1, max: 4 }));
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 80 }), (entries) => {
      const codes = Uint32Array.from(entries, ([code]) => code);
      const counts = Float64Array.from(entries, ([, times]) => times);
      const sorted = entries.flatMap(([code, times]) => new Array<number>(times).fill(code));
      sorted.sort((a, b) => a - b);
      return sorted.every(
        (code, at) => codeAtRank(codes, counts, 0, codes.length, at + 1) === code,
      );
    }),
  );
});

t.test('quantiles of small whole numbers and short decimals are those numbers', async (t) => {
  const quantiles = new Quantiles();
  for (let value = 1; value <= 100; value++) quantiles.add(0, value);
  t.equal(quantiles.at(0, 50), 50.5);
  t.equal(quantiles.at(0, 95), 95);
  const seconds = new Quantiles();
  for (const value of [0.61, 0.2, 1.25]) seconds.add(0, value);
  t.equal(seconds.at(0, 50), 0.61);
  t.equal(seconds.at(0, 99), 1.25);
  t.equal(new Quantiles().at(0, 50), undefined);
  const pair = new Quantiles();
  for (const value of [0.2, 0.1]) pair.add(0, value);
  t.equal(pair.at(0, 50), 0.15);
  t.equal(pair.at(0, 75), 0.2);
  const huge = new Quantiles();
  for (const value of [1e308, 1.2e308]) huge.add(0, value);
  t.equal(huge.at(0, 50), 1.1e308);
  const wide = new Quantiles();
  for (const value of [-1e300, -1e-300, 0, 1e-300, 1e300]) wide.add(0, value);
  t.same(
    [1, 21, 41, 61, 81].map((percent) => wide.at(0, percent)),
    [-1e300, -1e-300, 0, 1e-300, 1e300],
  );
});

const secret = Uint8Array.from({ length: 32 }, (_, index) => 200 - index);

function addTexts(cardinality: Cardinalities, group: number, from: number, to: number): void {
  cardinality.ensure(2);
  const hash = new ValueHash(secret);
  for (let number = from; number < to; number++) {
    const bytes = encodeText(`10.0.${number >> 8}.${number & 255}`);
    hash.string(bytes, 0, bytes.length);
    cardinality.add(group, hash.low, hash.high);
  }
}

t.test('cardinality is exact up to 10,000 and within 1 % above, merged or not', async (t) => {
  for (const distinct of [0, 1, 10_000, 10_001, 50_000, 300_000]) {
    const whole = new Cardinalities();
    addTexts(whole, 1, 0, distinct);
    addTexts(whole, 1, 0, Math.min(distinct, 5_000));
    const left = new Cardinalities();
    const right = new Cardinalities();
    addTexts(whole, 0, 0, 3);
    addTexts(left, 0, 0, distinct * 0.75);
    addTexts(right, 1, distinct >> 1, distinct);
    finished(left.merge(right.data, ONTO_FIRST));
    const error = Math.abs(whole.result(1) - distinct);
    t.ok(error <= (distinct <= 10_000 ? 0 : distinct * 0.01), `${whole.result(1)} of ${distinct}`);
    t.equal(left.result(0), whole.result(1));
    const small = new Cardinalities();
    addTexts(small, 0, 0, distinct);
    const { memoryBytes } = small;
    small.compact();
    if (distinct > 10_000) t.ok(small.memoryBytes < memoryBytes / 2);
    const merged = new Cardinalities();
    addTexts(merged, 1, distinct >> 2, distinct >> 1);
    finished(merged.merge(small.data, Uint32Array.of(1)));
    t.equal(merged.result(1), whole.result(1));
    t.equal(whole.result(0), 3);
  }
});

t.test(
  'numbers of columns count once in a group, whatever they are and whenever they come',
  async (t) => {
    const number = fc.oneof(
      fc.integer({ min: 0, max: 40 }),
      fc.constantFrom(-1, -16_385, 65_536, 65_537, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, 2 ** 40),
    );
    const column = fc.record({
      scale: fc.constantFrom(0, 1),
      mantissas: fc.array(number, { minLength: 1, maxLength: 60 }),
    });
    fc.assert(
      fc.property(fc.array(column, { maxLength: 5 }), (columns) => {
        const numbers = new DistinctNumbers(new ValueHash(secret));
        const found = new Cardinalities();
        found.ensure(2);
        const wanted = [new Set<number>(), new Set<number>()];
        for (const { scale, mantissas } of columns) {
          const pairs = new Pairs();
          pairs.count = mantissas.length;
          for (const [row, mantissa] of mantissas.entries()) {
            pairs.rows[row] = row;
            pairs.groups[row] = row % 3 === 0 ? 1 : 0;
            wanted[pairs.groups[row]].add(mantissa / 10 ** scale);
          }
          const values = { mantissas: Float64Array.from(mantissas), scale };
          numbers.add(values as unknown as NumberColumn, pairs, found);
        }
        t.strictSame([found.result(0), found.result(1)], [wanted[0].size, wanted[1].size]);
      }),
      { numRuns: 60 },
    );
  },
);

t.test('equal values have equal hashes, others have others', async (t) => {
  const hash = new ValueHash(secret);
  const taken = (add: () => void): string => {
    add();
    return `${hash.low} ${hash.high}`;
  };
  const string = (text: string): string => {
    const bytes = encodeText(text);
    return taken(() => hash.string(bytes, 0, bytes.length));
  };
  const number = taken(() => hash.decimal(200, 0));
  t.equal(
    taken(() => hash.decimal(20_000, 2)),
    number,
  );
  for (const text of ['200', '200.0', '2e2', '0.2e3'])
    t.equal(
      taken(() => hash.numberText(text)),
      number,
      text,
    );
  t.equal(
    taken(() => hash.decimal(-0, 3)),
    taken(() => hash.numberText('-0.0')),
  );
  const long = taken(() => hash.numberText('12345678901234567891'));
  t.equal(
    taken(() => hash.numberText('1234567890123456789.10e1')),
    long,
  );
  const date = taken(() => hash.date(1_451_606_400_000, (128 << 8) | 8));
  t.equal(string('2016-01-01T00:00:00Z'), date);
  const all = [
    number,
    long,
    date,
    string('200'),
    string(''),
    string('\0'),
    string('\0\0\0\0'),
    string('true'),
    taken(() => hash.boolean(true)),
    taken(() => hash.boolean(false)),
    taken(() => hash.decimal(-200, 0)),
    taken(() => hash.decimal(2, 1)),
    taken(() => hash.numberText('12345678901234567890')),
    string('2016-01-01T00:00:00.000Z'),
  ];
  t.equal(new Set(all).size, all.length);
});
