import fc from 'fast-check';
import t from 'tap';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { withPages } from '../../engine/word/page-kernel.ts';
import { type PageRule, PlainPages, type WordPages } from '../../engine/word/word-pages.ts';
import type { Pairs } from '../../engine/word/word-pairs.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);
useKernels('checked');

/** Pairs that the kernel has room for at most. */
const KERNEL_PAIRS = 3 * 2 ** 18;

/** All that is written of pairs: the count of hashes, then of each page its words and bits. */
function written(pages: WordPages, rule: PageRule): string {
  const found = [`${pages.hashCount}`];
  for (let page = 0; page < 2 ** (32 - rule.shift - rule.pageShift); page++) {
    const { wordCount, bits } = pages.page(page, rule);
    found.push(`${wordCount} ${Buffer.from(bits).toString('hex')}`);
  }
  return found.join('\n');
}

/** Throws unless kernel and reference write the same. */
function compare(pairs: Pairs, rule: PageRule): void {
  const wanted = written(new PlainPages(pairs), rule);
  let found = '';
  withPages(pairs, (pages) => {
    found = written(pages, rule);
  });
  if (found !== wanted) throw new Error(`kernel:\n${found}\nreference:\n${wanted}`);
}

/** Pairs as parts have them: part after part, the hashes of each distinct and in no order. */
function pairsOf(parts: readonly (readonly number[])[]): Pairs {
  const distinct = parts.map((hashes) => [...new Set(hashes)]);
  return {
    count: distinct.reduce((sum, { length }) => sum + length, 0),
    hashes: Uint32Array.from(distinct.flat()),
    parts: Uint16Array.from(distinct.flatMap((hashes, part) => hashes.map(() => part))),
  };
}

t.test('the kernel writes the pages that the reference writes', async (t) => {
  const hash = fc.oneof(
    fc.nat(2 ** 32 - 1),
    fc.nat(40).map((low) => 0xabcdef00 + low),
    fc.nat(6).map((high) => high * 2 ** 29 + 7),
    fc.constantFrom(0, 1, 2 ** 32 - 1),
  );
  const parts = fc.array(fc.array(hash, { maxLength: 40 }), { minLength: 1, maxLength: 130 });
  const rules = fc.tuple(fc.integer({ min: 3, max: 32 }), fc.nat(6));
  fc.assert(
    fc.property(parts, rules, (hashes, [hashBits, pages]) => {
      const pageBits = Math.min(pages, hashBits);
      const partCount = hashes.length;
      compare(pairsOf(hashes), { shift: 32 - hashBits, pageShift: hashBits - pageBits, partCount });
    }),
    {
      numRuns: 150,
      examples: [
        [[[]], [3, 0]],
        [
          [[5], [5], [5]],
          [32, 0],
        ],
      ],
    },
  );
  t.pass();
});

t.test(
  'a page without room in the kernel, and pairs without, are written by the reference',
  async (t) => {
    // The only gap of a page is that of all hashes: half a gigabit of zeros is no page that comes in practice.
    const parts = Array.from({ length: 4 }, (_, part) => [2 ** 28 + part]);
    compare(pairsOf(parts), { shift: 0, pageShift: 32, partCount: 4 });
    const many = Array.from(
      { length: KERNEL_PAIRS + 1 },
      (_, at) => Math.imul(at, 0x9e3779b1) >>> 0,
    );
    compare(pairsOf([many]), { shift: 9, pageShift: 13, partCount: 1 });
    compare(pairsOf([many.slice(1)]), { shift: 9, pageShift: 13, partCount: 1 });
    t.pass();
  },
);

t.test('without kernels pages are the same', async (t) => {
  useKernels('off');
  compare(pairsOf([[3, 1, 2], [2, 9], [2 ** 31]]), { shift: 4, pageShift: 26, partCount: 3 });
  useKernels('checked');
  t.pass();
});
