import fc from 'fast-check';
import t from 'tap';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { type PartValues, type PartWords, PlainWords } from '../../engine/word/part-words.ts';
import { WordCounts } from '../../engine/word/word-counts.ts';
import { hashOfWord } from '../../engine/word/word-hash.ts';
import { KernelWords } from '../../engine/word/word-kernel.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);
useKernels('checked');

const encoder = new TextEncoder();
const kernel = KernelWords.make();
const plain = new PlainWords();

/** The hashes of a part, ascending, and the counts of the words `counted`. */
function found(
  words: PartWords | undefined,
  values: PartValues,
  counted: readonly string[],
): number[][] {
  const encoded = counted.map((word) => encoder.encode(word));
  const counts = new WordCounts({ words: encoded, hashes: encoded.map(hashOfWord) });
  const hashes = [...(words?.hashes(values, counts) ?? [])].sort((one, other) => one - other);
  return [hashes, [...counts.counts]];
}

/** Throws unless kernel and reference find the same. */
function compare(values: PartValues, counted: readonly string[]): void {
  const [hashes, counts] = found(kernel, values, counted);
  const [wanted, wantedCounts] = found(plain, values, counted);
  if (hashes.join() !== wanted.join()) throw new Error(`${hashes}, not ${wanted}`);
  if (counts.join() !== wantedCounts.join()) throw new Error(`${counts}, not ${wantedCounts}`);
}

function entriesOf(texts: readonly Uint8Array[]): PartValues['entries'] {
  const offsets = new Uint32Array(texts.length + 1);
  for (const [at, { length }] of texts.entries()) offsets[at + 1] = offsets[at] + length;
  return { offsets, bytes: new Uint8Array(Buffer.concat(texts)) };
}

const letters = fc.constantFrom(...'aAzZ059_ /-.\u00e9\u00c9\u0130\u{1f600}\u4e2d\ud800-"\t\x00');
const word = fc.oneof(
  fc.constantFrom('GET', 'get', '\u00dcber', 'x1', '0123456', 'i\u0307'),
  fc.array(letters, { maxLength: 12 }).map((all) => all.join('')),
  fc.nat(1_000).map((number) => `id${number * 7_919}`),
);
const text = fc.oneof(
  fc.array(word, { maxLength: 8 }).map((words) => encoder.encode(words.join(' '))),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => encoder.encode(text)),
);

t.test('the kernel finds the words that the reference finds', async (t) => {
  t.ok(kernel !== undefined);
  const counted = fc.uniqueArray(
    fc.constantFrom('get', '\u00fcber', '\u00dcber', 'x1', 'id0', 'a'),
  );
  const parts = fc.array(
    fc.tuple(fc.array(text, { minLength: 1, maxLength: 60 }), counted, fc.nat(3), fc.boolean()),
    { minLength: 1, maxLength: 6 },
  );
  fc.assert(
    fc.property(parts, (parts) => {
      for (const [texts, counted, form, hasValues] of parts) {
        const entries = entriesOf(texts);
        const { length } = texts;
        const entryOf =
          form === 0 ? undefined : texts.map((_, value) => (value * form * 7) % length);
        const rowsOf = form === 2 ? undefined : texts.map((_, entry) => (entry % 5) + 1);
        const from = length > 9 ? form : 0;
        compare({ entries, entryOf, rowsOf, from, to: length, hasValues }, counted);
      }
    }),
    { numRuns: 300 },
  );
});

t.test('words at the ends of windows, and longer ones, are those of the reference', async () => {
  const words = fc.array(
    fc.tuple(fc.constantFrom('a', 'Z', '_', 'b7', 'Cd_9'), fc.integer({ min: 0, max: 140 })),
    { minLength: 1, maxLength: 5 },
  );
  const texts = words.map((all) =>
    encoder.encode(all.map(([unit, length]) => unit.repeat(140).slice(0, length)).join('-')),
  );
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 30 }), fc.boolean(), (all, hasValues) =>
      compare({ entries: entriesOf(all), from: 0, to: all.length, hasValues }, [
        'a'.repeat(64),
        'z'.repeat(9),
        'b7b7',
      ]),
    ),
    { numRuns: 300 },
  );
});

t.test('parts that are larger than the memory of the kernel are read', async () => {
  const long = `${'word '.repeat(250_000)}\u00e9 ${'x'.repeat(900_000)}`;
  const many = Array.from({ length: 20_000 }, (_, value) => `v${value} ${'y'.repeat(value % 90)}`);
  for (const texts of [[long, 'GET', long], many, [...many, long]]) {
    const entries = entriesOf(texts.map((text) => encoder.encode(text)));
    compare({ entries, from: 0, to: texts.length, hasValues: true }, ['word', 'get', 'y']);
  }
});

t.test(
  'parts that have more words than the kernel has room for are left to the reference',
  async () => {
    const texts = Array.from({ length: 300_000 }, (_, value) => encoder.encode(`w${value}`));
    const values = { entries: entriesOf(texts), from: 0, to: texts.length, hasValues: false };
    compare(values, ['w7']);
    compare({ ...values, to: 5 }, ['w7', 'w1']);
  },
);
