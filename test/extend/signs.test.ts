import fc from 'fast-check';
import t from 'tap';
import { bitsOf, MAY_BE_BROKEN, signsOf } from '../../server/extend/signs.ts';

function signsOfText(text: string): number {
  const bytes = Buffer.from(`[${text}]`);
  return signsOf(bytes, 1, bytes.length - 1);
}

t.test('a text has the signs of each part of it', async (t) => {
  const text = fc.string({ unit: fc.constantFrom(...'a[]{}": =,-é'), maxLength: 40 });
  fc.assert(
    fc.property(text, text, text, (before, part, behind) => {
      const signs = bitsOf(part);
      t.equal(signsOfText(`${before}${part}${behind}`) & signs, signs);
    }),
  );
});

t.test('one without a sign lacks it, unless it is long', async (t) => {
  t.equal(signsOfText('client: 10.0.0.1') & bitsOf(','), 0);
  t.equal(signsOfText('client, 10.0.0.1') & bitsOf(':'), 0);
  t.not(bitsOf(','), bitsOf(':'));
  t.equal(signsOfText('x'.repeat(1_025)) & bitsOf(','), bitsOf(','));
  t.equal(bitsOf('xé 1'), 0);
});

t.test('a text that may have halves of a pair is told', async (t) => {
  const half = Uint8Array.of(0x61, 0xed, 0xa0, 0x80);
  t.equal(signsOf(half, 0, 4), MAY_BE_BROKEN);
  t.equal(signsOf(half, 0, 1), 0);
  t.equal(signsOfText('né'), 0);
});
