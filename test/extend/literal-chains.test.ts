import fc from 'fast-check';
import t from 'tap';
import { hasLiterals } from '../../engine/base/pattern-text.ts';
import { LiteralChains } from '../../server/extend/found/literal-chains.ts';

const text = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', ':', 'é', '€', '😀'),
  maxLength: 12,
});
const literal = fc.string({
  unit: fc.constantFrom('a', 'b', ':', 'é', '😀'),
  minLength: 1,
  maxLength: 2,
});

t.test('chains of literals are in the bytes of a text when they are in the text', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(literal, { maxLength: 4 }), { maxLength: 6 }),
      fc.array(text, { maxLength: 4 }),
      (lists, texts) => {
        const chains = new LiteralChains();
        const all = lists.map((list) => chains.of(list));
        for (const each of texts) {
          const bytes = Buffer.from(`:${each}:`);
          chains.begin(bytes, 1, bytes.length - 1);
          for (const [number, list] of lists.entries()) {
            if (chains.has(all[number]) !== hasLiterals(each, list))
              throw new Error(JSON.stringify({ each, list }));
          }
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

t.test('half of a pair rules no text out', async (t) => {
  const chains = new LiteralChains();
  const chain = chains.of(['x', '\ud83d']);
  const bytes = Buffer.from('😀');
  chains.begin(bytes, 0, bytes.length);
  t.ok(chains.has(chain));
});
