import fc from 'fast-check';
import t from 'tap';
import type { NumberColumn } from '../../engine/column/column.ts';
import { Kind } from '../../engine/column/kind.ts';
import { PrintRule, printNumber } from '../../engine/column/number-text.ts';
import { PatternTest, WordsTest } from '../../engine/query/filter/printed-test.ts';
import { encodeText } from '../../engine/query/filter/text.ts';
import { WordSequence } from '../../engine/query/filter/word.ts';
import { addRow, allRows, noRows } from '../../engine/query/model/bitmap.ts';

t.test('a pattern that ignores case takes ASCII letters of both cases for the same', async () => {
  const text = fc.string({ unit: fc.constantFrom(...'aAzZ@[`{é1'), maxLength: 4 });
  fc.assert(
    fc.property(text, text, fc.boolean(), (literal, value, ignoresCase) => {
      const bytes = encodeText(value);
      const test = new PatternTest([{ literal }, { wildcard: '*' }], ignoresCase);
      const [wanted, found] = ignoresCase
        ? [literal.toLowerCase(), value.toLowerCase()]
        : [literal, value];
      return test.text(bytes, 0, bytes.length) === found.startsWith(wanted);
    }),
  );
});

t.test('numbers in which words are found are possible', async (t) => {
  const text = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.constantFrom('-0', '1e400', '1E5', '-1.5e+10', '200.00'),
  );
  const word = fc.string({ unit: fc.constantFrom(...'0125eEt.'), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(text, word, (text, word) => {
      const test = new WordsTest(
        new WordSequence([[{ literal: word.toLowerCase() }, { wildcard: '*' }]]),
      );
      return !test.numberText(text) || test.possible();
    }),
  );
  t.equal(new WordsTest(new WordSequence([[{ literal: 'get' }]])).possible(), false);
});

t.test('numbers that have a word of digits are likely to have it', async () => {
  const mantissa = fc.oneof(
    fc.integer({ min: -2_000, max: 2_000 }),
    fc.maxSafeInteger(),
    fc.constantFrom(-0, 0, 286, 286_000, 1_286, 50),
  );
  const rule = fc.constantFrom(PrintRule.FIXED, PrintRule.SHORTEST, PrintRule.POINT);
  const numbers = fc.array(mantissa, { minLength: 1, maxLength: 70 });
  const word = fc.oneof(fc.nat(3_000).map(String), fc.constantFrom('0', '00', '050', '286', '5'));
  fc.assert(
    fc.property(
      numbers,
      fc.integer({ min: -1, max: 6 }),
      rule,
      word,
      (values, scale, rule, word) => {
        const mantissas = Float64Array.from(values);
        const rows = allRows(values.length);
        const column: NumberColumn = {
          kind: Kind.NUMBER,
          presence: undefined,
          scale,
          mantissas,
          exceptions: [],
          small: () => undefined,
          packed: () => undefined,
          coded: () => undefined,
          text: (row) => printNumber(mantissas[row], scale, rule),
          span: () => undefined,
          rowsWithin: (low, high) => {
            const found = noRows(values.length);
            for (const [row, value] of values.entries()) {
              if (value >= low && value <= high) addRow(found, row);
            }
            return found;
          },
        };
        const test = new WordsTest(new WordSequence([[{ literal: word }]]));
        const wanted = test.numbers(column, rows);
        const found = test.numbers(column, test.likelyNumbers(column, rows));
        return Buffer.compare(Buffer.from(found.buffer), Buffer.from(wanted.buffer)) === 0;
      },
    ),
    { numRuns: 2_000 },
  );
});
