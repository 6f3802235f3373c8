import fc from 'fast-check';
import t from 'tap';
import { LeastTexts } from '../../engine/query/value/least-texts.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);

const text = fc.oneof(
  fc.nat(60).map((number) => `v${number}`),
  fc.nat(30).map((number) => `${number}`),
  fc.constantFrom('', '-1e3', '7.50', '7.5', '75e-1', 'é', '\u{10ffff}', 'v', '1e400'),
);

/** Some texts, of which each thread is offered one after the other. */
const offers = fc.array(fc.tuple(fc.nat(2), text), { maxLength: 150 });

function offer(into: LeastTexts, word: string): void {
  const bytes = Buffer.from(word);
  into.offer(bytes, 0, bytes.length);
}

t.test('texts that are offered once are found as far as they reach', async (t) => {
  fc.assert(
    fc.property(offers, fc.integer({ min: 1, max: 12 }), (offers, countMax) => {
      const threads = Array.from({ length: 3 }, () => new LeastTexts(countMax));
      const times = new Map<string, number>();
      for (const [thread, word] of offers) {
        offer(threads[thread], word);
        times.set(word, (times.get(word) ?? 0) + 1);
      }
      const [all, ...others] = threads;
      for (const { data } of others) all.merge(structuredClone(data));
      const found = new Set(Array.from(all.bytes(), (bytes) => Buffer.from(bytes).toString()));
      t.ok(found.size <= countMax);
      for (const word of found) t.ok(times.has(word));
      for (const [word, count] of times) {
        if (count === 1 && all.reaches(word)) t.ok(found.has(word), `${word} is found`);
        if (count === 1 && all.hasAll) t.ok(found.has(word), `${word} is one of all`);
      }
    }),
    { numRuns: 500 },
  );
});

t.test('numeric texts come first, by their numbers', async (t) => {
  const texts = new LeastTexts(3);
  for (const word of ['b', '10', 'a', '9', '-2', 'c', '1e1']) offer(texts, word);
  t.same(
    Array.from(texts.bytes(), (bytes) => Buffer.from(bytes).toString()),
    ['-2', '9', '10'],
  );
  t.notOk(texts.hasAll);
  t.ok(texts.reaches('9'));
  t.notOk(texts.reaches('10'), 'which of two texts of one number comes first is not known');
  t.notOk(texts.reaches('a'));
});

t.test('a text that is offered twice is left out', async (t) => {
  const texts = new LeastTexts(4);
  for (const word of ['b', 'a', 'b']) offer(texts, word);
  t.same(
    Array.from(texts.bytes(), (bytes) => Buffer.from(bytes).toString()),
    ['a'],
  );
  t.ok(texts.hasAll);
});
