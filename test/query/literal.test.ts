import fc from 'fast-check';
import t from 'tap';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { LiteralFinder } from '../../engine/query/filter/literal.ts';
import { findInEach } from '../../engine/query/filter/search-kernel.ts';

/** Texts in which a literal is looked for, one behind the other. */

t.beforeEach(() => useKernels('checked'));
t.teardown(() => useKernels('fast'));

interface Texts {
  bytes: Uint8Array;
  offsets: Uint32Array;
}

/** Lays texts behind `gap` other bytes. */
function textsOf(texts: readonly Uint8Array[], gap = 0): Texts {
  const offsets = new Uint32Array(texts.length + 1);
  offsets[0] = gap;
  for (const [at, { length }] of texts.entries()) offsets[at + 1] = offsets[at] + length;
  return { bytes: Buffer.concat([Buffer.alloc(gap, 'a'), ...texts, Buffer.from('abab')]), offsets };
}

/** Searches in both forms. */
function bothOf(texts: Texts, literal: Uint8Array): { found: number[]; wanted: number[] } {
  const finder = new LiteralFinder(literal);
  const found = findInEach(texts, { finder });
  const wanted: number[] = [];
  for (let text = 0; text < texts.offsets.length - 1; text++) {
    const [start, end] = texts.offsets.subarray(text, text + 2);
    wanted.push(finder.find(texts.bytes, start, end) >= 0 ? 1 : 0);
  }
  return { found: [...(found?.subarray(0, wanted.length) ?? [])], wanted };
}

const letters = fc.constantFrom(...Buffer.from('aAbB@[`{zZ09'), 0, 0xc3, 0x9f, 0xff);
const text = fc.array(letters, { maxLength: 40 }).map((bytes) => Uint8Array.from(bytes));
const literal = fc
  .array(fc.constantFrom(...Buffer.from('ab@[`{z09')), { minLength: 1, maxLength: 4 })
  .map((bytes) => Uint8Array.from(bytes));

t.test('the kernel finds a literal in the texts in which the plain form does', async (t) => {
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1, maxLength: 60 }),
      literal,
      fc.nat(20),
      (texts, wantedText, gap) => {
        const { found, wanted } = bothOf(textsOf(texts, gap), wantedText);
        t.same(found, wanted);
      },
    ),
  );
});

t.test('a literal over the border of texts is in neither of them', async (t) => {
  const texts = ['xxab', 'cdxx', 'ABCD', '', 'abc', 'd'].map((each) => Buffer.from(each));
  t.same(bothOf(textsOf(texts), Buffer.from('abcd')).found, [0, 0, 1, 0, 0, 0]);
});

t.test('a long literal, and one as long as all texts, are found', async (t) => {
  const long = Buffer.from('abz9'.repeat(64));
  for (const [before, after] of [
    [0, 0],
    [1, 0],
    [700, 1],
  ]) {
    const texts = [Buffer.alloc(before, 'a'), Buffer.from(`${long.toString().toUpperCase()}`)];
    const { found, wanted } = bothOf(textsOf([...texts, Buffer.alloc(after, 'b')]), long);
    t.same(found, wanted);
    t.same(found, [0, 1, 0]);
  }
});

t.test('what the kernel has no room for it leaves to the plain form', async (t) => {
  const short = new LiteralFinder(Buffer.from('ab'));
  t.equal(findInEach(textsOf([new Uint8Array(2 ** 20 + 1)]), { finder: short }), undefined);
  t.equal(
    findInEach(textsOf(new Array(5_000).fill(new Uint8Array(1))), { finder: short }),
    undefined,
  );
  t.equal(
    findInEach(textsOf([Buffer.from('ab')]), {
      finder: new LiteralFinder(Buffer.alloc(257, 'a')),
    }),
    undefined,
  );
  useKernels('off');
  t.equal(findInEach(textsOf([Buffer.from('ab')]), { finder: short }), undefined);
});
