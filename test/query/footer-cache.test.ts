import t from 'tap';
import { FooterCache } from '../../engine/query/footer-cache.ts';
import { type Footer, memoryOf } from '../../engine/segment/footer.ts';

const MINUTES = 100;
const COUNT_MAX = 3;

function makeFooter(): Footer {
  const minutes = { minutes: new Float64Array(MINUTES), rowsBefore: new Float64Array(MINUTES) };
  const facts = { rowCount: 0, minTimeMs: 0, maxTimeMs: 0, sequences: [], blocks: [] };
  return { ...facts, minutes, dictionaries: [], columns: undefined, words: [] };
}

/** A cache with room for COUNT_MAX footers, and the segments whose footers were read. */
function makeCache(): { cache: FooterCache; ask: (segment: number) => Footer; read: number[] } {
  const cache = new FooterCache(COUNT_MAX * memoryOf(makeFooter()));
  const read: number[] = [];
  const ask = (segment: number): Footer =>
    cache.get(segment, () => {
      read.push(segment);
      return makeFooter();
    });
  return { cache, ask, read };
}

t.test('what was used longest ago goes when there is too much', async (t) => {
  const { cache, ask, read } = makeCache();
  for (const segment of [1, 2, 3, 1, 4, 1, 3, 4]) ask(segment);
  t.same(read, [1, 2, 3, 4]);
  ask(2);
  t.same(read, [1, 2, 3, 4, 2]);
  for (let segment = 10; segment < 1_000; segment++) ask(segment);
  t.equal(cache.bytes, COUNT_MAX * memoryOf(makeFooter()));
});

t.test(
  'a footer is the same object while it is kept, and none of a segment that is gone',
  async (t) => {
    const { cache, ask, read } = makeCache();
    t.equal(ask(1), ask(1));
    ask(2);
    cache.forget([1, 7]);
    t.equal(cache.bytes, memoryOf(makeFooter()));
    ask(1);
    t.same(read, [1, 2, 1]);
    cache.clear();
    t.equal(cache.bytes, 0);
  },
);

t.test('a footer that cannot be read is asked for again', async (t) => {
  const { cache, ask } = makeCache();
  t.throws(() =>
    cache.get(1, () => {
      throw new Error('damaged');
    }),
  );
  t.equal(cache.bytes, 0);
  t.ok(ask(1));
});
