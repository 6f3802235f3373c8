import fc from 'fast-check';
import t from 'tap';
import { PatternTest } from '../../engine/query/filter/printed-test.ts';
import { encodeText } from '../../engine/query/filter/text.ts';

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
