import fc from 'fast-check';
import t from 'tap';
import { PatternTest, WordsTest } from '../../engine/query/filter/printed-test.ts';
import { encodeText } from '../../engine/query/filter/text.ts';
import { WordSequence } from '../../engine/query/filter/word.ts';

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
