import t from 'tap';
import { Kind } from '../../engine/column/kind.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { BlockSource } from '../../engine/query/model/source.ts';
import { PredicateRows } from '../../engine/query/scan/predicate-rows.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';

/** Few rows that are reckoned by words before a block is opened. */

const REF: BlockRef = {
  ...{ sealed: true, segment: 1, writer: 0, offset: 64, bytes: 64, ordinal: 1, rowCount: 65_536 },
  ...{ firstSequence: 0, endSequence: 0, minTimeMs: 0, maxTimeMs: 1 },
};
const WORD: Predicate = { type: 'words', words: [[{ literal: 'rare' }]] };

/** A source whose words tell these parts of all columns of strings. */
function sourceOf(parts: number[] | undefined, dictionary: number): BlockSource {
  const source: Partial<BlockSource> = {
    partsWith: () => parts && { parts: Uint8Array.from(parts), pieces: 1 },
    footer: () =>
      ({ columns: { forms: () => [{ kind: Kind.STRING, dictionary }] } }) as unknown as ReturnType<
        NonNullable<BlockSource['footer']>
      >,
  };
  return source as BlockSource;
}

function areFew(parts: number[] | undefined, dictionary = -1, predicate = WORD): boolean {
  return new PredicateRows(sourceOf(parts, dictionary), predicate).areFew(REF);
}

t.test('rows are few where words are in few parts of a block', async (t) => {
  t.ok(areFew([1, 0, 0, 0, 0, 0, 0, 0]));
  t.ok(areFew([0, 0, 0]));
  t.notOk(areFew([1, 1, 0, 0, 0, 0, 0, 0]));
  t.notOk(areFew([1, 0, 0]));
});

t.test('rows of an entry in the first part of a dictionary may be many', async (t) => {
  t.notOk(areFew([1, 0, 0, 0, 0, 0, 0, 0], 3));
  t.ok(areFew([0, 1, 0, 0, 0, 0, 0, 0], 3));
});

t.test(
  'nothing is reckoned where words do not tell, or more is asked than they know',
  async (t) => {
    t.notOk(areFew(undefined));
    t.notOk(areFew([0, 0, 0], -1, { type: 'all' }));
    t.notOk(areFew([0, 0, 0], -1, { type: 'not', child: WORD }));
  },
);
