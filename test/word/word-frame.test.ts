import fc from 'fast-check';
import t from 'tap';
import { RegionReader, RegionWriter } from '../../engine/column/chunk.ts';
import { WordSequence } from '../../engine/query/filter/word.ts';
import { BitReader, BitWriter } from '../../engine/word/bit-stream.ts';
import { type PartValues, PlainWords } from '../../engine/word/part-words.ts';
import { WordCounts, WordSample } from '../../engine/word/word-counts.ts';
import { WordFrame, writeWords } from '../../engine/word/word-frame.ts';
import { hashOfWord } from '../../engine/word/word-hash.ts';
import { WordPairs } from '../../engine/word/word-pairs.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);

const encoder = new TextEncoder();

/** Counts these words, which are lower-cased. */
function countsOf(words: readonly string[]): WordCounts {
  const encoded = words.map((word) => encoder.encode(word));
  return new WordCounts({ words: encoded, hashes: encoded.map(hashOfWord) });
}

/** A part of a column with these values, each of which counts as `weight` of them. */
function partOf(values: readonly string[], weight = 1): PartValues {
  const encoded = values.map((value) => encoder.encode(value));
  const offsets = new Uint32Array(encoded.length + 1);
  for (const [at, { length }] of encoded.entries()) offsets[at + 1] = offsets[at] + length;
  const entries = { offsets, bytes: new Uint8Array(Buffer.concat(encoded)) };
  const rowsOf = values.map(() => weight);
  return { entries, rowsOf, from: 0, to: values.length, hasValues: false };
}

/** Values of each part, written and opened again; of the words of `counted` they are counted, each `weight` times. */
function frameOf(
  parts: readonly (readonly string[])[],
  counted: readonly string[] = [],
  weight = 1,
): WordFrame {
  const counts = countsOf(counted);
  const pairs = new WordPairs(new PlainWords(), counts);
  for (const values of parts) pairs.addPart(partOf(values, weight));
  const out = new RegionWriter();
  const { partCount } = pairs;
  pairs.take((sorted) => writeWords(out, { pieces: 2, firstPart: 3, partCount }, sorted, counts));
  const meta = out.meta.bytes().slice();
  const regions = Buffer.concat(out.regions.parts());
  return new WordFrame(meta, (region) =>
    region.inline === undefined
      ? regions.subarray(region.offset, region.offset + region.bytes)
      : region.inline,
  );
}

/** The parts in which a frame says that a word may be. */
function partsOf(frame: WordFrame, word: string): number[] {
  const parts = new Uint8Array(frame.partCount).fill(1);
  const isPossible = frame.narrow(parts, hashOfWord(encoder.encode(word)));
  if (!isPossible && parts.includes(1)) throw new Error(`${word} is possible`);
  return [...parts.keys()].filter((part) => parts[part] === 1);
}

t.test('numbers of all sizes come back from their bits', async () => {
  const number = fc.oneof(fc.nat(20), fc.nat(5_000), fc.nat(2 ** 22));
  const code = fc.oneof(
    fc.record({ low: fc.nat(14), value: number }),
    fc.record({ low: fc.constant(-1), value: number.map((value) => value + 1) }),
  );
  fc.assert(
    fc.property(fc.array(code), (codes) => {
      const writer = new BitWriter();
      for (const { low, value } of codes) {
        if (low < 0) writer.gamma(value);
        else if (value >>> low < 5_000) writer.rice(value, low);
      }
      const reader = new BitReader(writer.take().slice());
      for (const { low, value } of codes) {
        if (low >= 0 && value >>> low >= 5_000) continue;
        const found = low < 0 ? reader.gamma() : reader.rice(low);
        if (found !== value) throw new Error(`${found}, not ${value}`);
      }
    }),
  );
});

t.test('bits that end early are corruption', async (t) => {
  t.throws(() => new BitReader(new BitWriter().take().slice()).gamma(), { code: 'CORRUPTION' });
  const writer = new BitWriter();
  writer.rice(1_000_000, 3);
  const bytes = writer.take().slice(0, 20);
  t.throws(() => new BitReader(bytes).rice(3), { code: 'CORRUPTION' });
});

t.test('a word is possible in all parts that have it, and in few others', async () => {
  const word = fc.oneof(fc.nat(30), fc.nat(100_000)).map((number) => `w${number}`);
  const parts = fc.array(fc.array(word, { maxLength: 60 }), { minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(parts, fc.array(word), (parts, others) => {
      const frame = frameOf(parts);
      let wrong = 0;
      const words = new Set([...parts.flat(), ...others]);
      for (const word of words) {
        const possible = partsOf(frame, word);
        const having = [...parts.keys()].filter((part) => parts[part].includes(word));
        const isMissed = having.some((part) => !possible.includes(part));
        if (isMissed) throw new Error(`${word} is missed`);
        if (having.length * 2 <= parts.length) wrong += possible.length - having.length;
      }
      if (wrong > words.size + 8) throw new Error(`${wrong} parts too many of ${words.size}`);
    }),
  );
});

t.test('a word of more than half of the parts is possible in all of them', async (t) => {
  const parts = Array.from({ length: 100 }, (_, part) =>
    part < 51 ? ['many', `id${part}`] : ['some', `id${part}`],
  );
  const frame = frameOf(parts);
  t.equal(partsOf(frame, 'many').length, 100);
  t.same(
    partsOf(frame, 'some'),
    Array.from({ length: 49 }, (_, index) => 51 + index),
  );
  t.same(partsOf(frame, 'id70'), [70]);
});

t.test(
  'counts of words are those of the values that have them, and other words have none',
  async () => {
    const some = ['get', 'post', '\u0131', 'k', 'stra\u00dfe', '\u00fcber', 'a_b', '7'];
    const text = fc
      .array(
        fc.constantFrom(...some, 'GET', '\u212a', 'STRA\u00dfE', '\u00dcber', 'K', 'other', '-'),
      )
      .map((words) => words.join(' '));
    const parts = fc.array(fc.array(text, { maxLength: 20 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        parts,
        fc.subarray(some),
        fc.integer({ min: 1, max: 9 }),
        (parts, counted, weight) => {
          const frame = frameOf(parts, counted, weight);
          for (const word of [...some, 'other', 'absent']) {
            const bytes = encoder.encode(word);
            const sequence = new WordSequence([[{ literal: word }]]);
            const having = parts.flat().filter((value) => {
              const text = encoder.encode(value);
              return sequence.matches(text, 0, text.length, false);
            });
            const wanted = having.length * weight;
            const found = frame.rowsWith(bytes);
            if (found === undefined && !counted.includes(word)) continue;
            if (found !== wanted) throw new Error(`${word}: ${found}, not ${wanted}`);
          }
        },
      ),
    );
  },
);

t.test('words that share a hash are counted apart', async (t) => {
  const [one, other] = ['get', 'put'].map((word) => encoder.encode(word));
  const counts = new WordCounts({ words: [one], hashes: [hashOfWord(other)] });
  new WordPairs(new PlainWords(), counts).addPart(partOf(['put']));
  t.same([...counts.counts], [0]);
});

t.test('the words of a sample that come often are those of many values', async (t) => {
  const sample = new WordSample();
  for (let value = 0; value < 100; value++) {
    const bytes = encoder.encode(`GET id${value} ${value % 10} ${'x'.repeat(65)} \u00dcber`);
    sample.take(bytes, 0, bytes.length);
  }
  const { words } = sample.frequent(2_560);
  const texts = words.map((word) => new TextDecoder().decode(word));
  t.same(texts.slice(0, 3).sort(), ['get', '\u00dcber', '\u00fcber'].sort());
  t.equal(texts.length, 10);
  t.equal(sample.frequent(255).words.length, 0);
});

t.test('words of many pages are found, each on its own', async (t) => {
  const parts = Array.from({ length: 64 }, (_, part) =>
    Array.from({ length: 1_024 }, (_, index) => `x${part * 1_024 + index}`),
  );
  const frame = frameOf(parts);
  t.ok(frame.pageCount > 8, `${frame.pageCount} pages`);
  for (const [part, words] of parts.entries()) {
    for (let index = 0; index < words.length; index += 31) {
      if (!partsOf(frame, words[index]).includes(part)) t.fail(words[index]);
    }
  }
  let absentCount = 0;
  for (let index = 0; index < 1_000; index++) absentCount += partsOf(frame, `y${index}`).length;
  t.ok(absentCount < 200, `${absentCount} of 1,000 absent words are taken for others`);
});

t.test('a page that is not as written is corruption', async (t) => {
  const counts = countsOf([]);
  const pairs = new WordPairs(new PlainWords(), counts);
  pairs.addPart(partOf(Array.from({ length: 500 }, (_, word) => `z${word}`)));
  const out = new RegionWriter();
  const place = { pieces: 1, firstPart: 0, partCount: 1 };
  pairs.take((sorted) => writeWords(out, place, sorted, counts));
  const meta = out.meta.bytes().slice();
  const empty = new WordFrame(meta, () => new Uint8Array(6));
  t.equal(empty.narrow(Uint8Array.of(1), 7), false);
  const cut = new WordFrame(meta, () => Uint8Array.of(9, 0, 0, 0, 0));
  t.throws(() => cut.narrow(Uint8Array.of(1), 7), { code: 'CORRUPTION' });
  t.throws(() => new WordFrame(meta.subarray(0, 9), () => meta), { code: 'CORRUPTION' });
  t.ok(new RegionReader(meta).meta.remaining > 0);
});
