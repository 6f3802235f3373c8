import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import type { StringColumn } from '../../engine/column/column.ts';
import { type Entries, PIECE_ENTRIES } from '../../engine/column/entries.ts';
import { Kind } from '../../engine/column/kind.ts';
import { TextColumn } from '../../engine/column/lazy-strings.ts';
import { WordsTest } from '../../engine/query/filter/printed-test.ts';
import { WordSequence } from '../../engine/query/filter/word.ts';
import { allRows, hasRow } from '../../engine/query/model/bitmap.ts';
import { rowsThatPass } from '../../engine/query/scan/column-rows.ts';
import { SumCache } from '../../engine/query/sum-cache.ts';

/** Searches of a text before its words are kept. */
const SEARCHES = 4;

function entriesOf(texts: readonly string[]): Entries {
  const all = texts.map((text) => Buffer.from(text));
  const offsets = new Uint32Array(texts.length + 1);
  for (const [at, { length }] of all.entries()) offsets[at + 1] = offsets[at] + length;
  return { offsets, bytes: Buffer.concat(all) };
}

/** A text of a log block, opened again; `read` is told when a piece is. */
function opened(
  texts: readonly string[],
  cache: SumCache | undefined,
  read = (): void => {},
): StringColumn {
  const reads = {
    ids: () => Uint32Array.from(texts, (_, at) => at + 1),
    entries: () => entriesOf(texts),
    piece: (first: number) => {
      read();
      return entriesOf(texts.slice(first, first + PIECE_ENTRIES));
    },
    partsWith: undefined,
  };
  return new TextColumn(Kind.STRING, texts.length, reads, cache?.keeper(1, '64 0'));
}

function found(column: StringColumn, words: readonly string[], rowCount: number): number[] {
  const test = new WordsTest(new WordSequence(words.map((literal) => [{ literal }])));
  const passed = finished(rowsThatPass(column, test, allRows(rowCount)));
  return Array.from({ length: rowCount }, (_, row) => row).filter((row) => hasRow(passed, row));
}

const word = fc.oneof(
  fc.constantFrom('a', 'bc', 'd1', '\u0130x', '\u212a', 'k', '\u00e4', '\ud83d\ude00'),
  fc.stringMatching(/^[a-f]{1,3}$/),
);
const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(' '));
const asked = fc
  .array(word, { minLength: 1, maxLength: 2 })
  .map((words) => words.map((one) => one.toLowerCase()));

t.test('rows with words are the same, however often a text was searched', async () => {
  const some = fc.array(text, { minLength: 1, maxLength: 30 });
  const room = fc.constantFrom(1_000, 100_000);
  fc.assert(
    fc.property(some, fc.array(asked, { minLength: 8, maxLength: 12 }), room, (few, all, bytes) => {
      const rowCount = 2 * PIECE_ENTRIES + 20;
      const texts = Array.from({ length: rowCount }, (_, row) => few[(row * row) % few.length]);
      const cache = new SumCache(bytes);
      for (const words of all) {
        const expected = found(opened(texts, undefined), words, rowCount);
        const passed = found(opened(texts, cache), words, rowCount);
        if (String(passed) !== String(expected)) throw new Error(`${words}: ${passed}`);
      }
    }),
    { numRuns: 25 },
  );
});

t.test('of a text that was searched often no piece is read that lacks the word', async (t) => {
  const rowCount = 3 * PIECE_ENTRIES;
  const texts = Array.from({ length: rowCount }, (_, row) => `of piece${row >>> 10}`);
  const readCounts = (cache: SumCache, word: string): number => {
    let count = 0;
    const column = opened(texts, cache, () => count++);
    t.equal(found(column, [word], rowCount).length, word === 'absent' ? 0 : PIECE_ENTRIES);
    return count;
  };
  const cache = new SumCache();
  for (let search = 0; search < SEARCHES; search++) t.equal(readCounts(cache, 'absent'), 3);
  t.equal(readCounts(cache, 'piece1'), 3 + 1, 'words are made');
  t.equal(readCounts(cache, 'absent'), 0);
  t.equal(readCounts(cache, 'piece2'), 1);
  const small = new SumCache(1_000);
  for (let search = 0; search < 2 * SEARCHES; search++) t.equal(readCounts(small, 'absent'), 3);
});
