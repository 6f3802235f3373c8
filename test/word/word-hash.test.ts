import fc from 'fast-check';
import t from 'tap';
import { encodeText } from '../../engine/query/filter/text.ts';
import { keepsLetters, WordSequence } from '../../engine/query/filter/word.ts';
import { hashWords } from '../../engine/word/word-hash.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);

const WORDS = /[\p{L}\p{N}\p{M}_]+/gu;

/** Hashes of the words of a text. */
function hashesOf(text: string): Set<number> {
  const bytes = encodeText(`##${text}##`);
  const hashes = new Set<number>();
  hashWords(bytes, 2, bytes.length - 2, hashes);
  return hashes;
}

const character = fc.oneof(
  fc.constantFrom(...'aAbzZ019_ -./Éß\u0130\u212aΣς日\u0301٣😀𝒳\ud800\udfff'),
  fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
);
const text = fc.array(character, { maxLength: 30 }).map((characters) => characters.join(''));

t.test('a text in which words are found has their hashes', async () => {
  fc.assert(
    fc.property(text, text, (text, other) => {
      const wanted = [...`${text} ${other}`.matchAll(WORDS)].map(([word]) => word.toLowerCase());
      const bytes = encodeText(text);
      const hashes = hashesOf(text);
      for (const word of wanted) {
        const sequence = new WordSequence([[{ literal: word }]]);
        if (!sequence.matches(bytes, 0, bytes.length, keepsLetters(bytes))) continue;
        for (const hash of sequence.terms.words) {
          if (!hashes.has(hash)) throw new Error(`${JSON.stringify(word)} is missed`);
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

t.test('words have the hashes of their small letters, and others have others', async (t) => {
  t.same(hashesOf('GET /Index.HTML'), hashesOf('html index get'));
  t.ok(hashesOf('über').isSubsetOf(hashesOf('ÜBER')));
  t.same(hashesOf('\u212a'), new Set([...hashesOf('k'), ...hashesOf('\u212a')]));
  t.equal(hashesOf('a b c').size, 3);
  t.equal(hashesOf('--').size, 0);
});
