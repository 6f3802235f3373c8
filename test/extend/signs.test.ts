import fc from 'fast-check';
import t from 'tap';
import { bitsOf, signsOf } from '../../server/extend/signs.ts';

t.test('a text has the signs of each part of it', async (t) => {
  const text = fc.string({ unit: fc.constantFrom(...'a[]{}": =,-é'), maxLength: 40 });
  fc.assert(
    fc.property(text, text, text, (before, part, behind) => {
      const signs = bitsOf(part);
      t.equal(signsOf(`${before}${part}${behind}`) & signs, signs);
    }),
  );
});

t.test('one without a sign lacks it, unless it is long', async (t) => {
  t.equal(signsOf('client: 10.0.0.1') & bitsOf(','), 0);
  t.equal(signsOf('client, 10.0.0.1') & bitsOf(':'), 0);
  t.not(bitsOf(','), bitsOf(':'));
  t.equal(signsOf('x'.repeat(1_025)) & bitsOf(','), bitsOf(','));
  t.equal(bitsOf('xé 1'), 0);
});
