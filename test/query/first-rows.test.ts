import fc from 'fast-check';
import t from 'tap';
import { listUnits } from '../../engine/query/events/list.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { ListQuery } from '../../engine/query/model/query.ts';
import type { TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { run } from './blocks.ts';

/** Rows of each block; of a block of so many some are searched before the others. */
const ROWS = 20_000;
const BLOCKS = 3;

/** Words that a row has: some are everywhere, some in a part of a block, some in a few rows. */
function wordsOf(row: number): string {
  const words = [`all`];
  if (row % 7 === 0) words.push('often');
  if (row % ROWS < 2_000) words.push('early');
  if (row % ROWS >= 17_900 && row % 3 === 0) words.push('late');
  if (row % 4_999 === 0) words.push('rare');
  return words.join(' ');
}

const shelf = new Shelf();
for (let block = 0; block < BLOCKS; block++) {
  const rows = Array.from({ length: ROWS }, (_, index): TestRow => {
    const row = block * ROWS + index;
    // Some events are of one time.
    const leaves = [
      { names: ['message'], kind: 'string' as const, text: `${wordsOf(row)} ${row % 5}` },
    ];
    return { timeMs: row - (row % 3), leaves };
  });
  await shelf.seal([await shelf.add(rows, 0, block * ROWS)]);
}

function sequencesOf(query: Partial<ListQuery>): { ids: string[]; sequences: number[] } {
  const all = {
    fromMs: -1,
    toMs: 1e9,
    order: 'desc' as const,
    limit: 10,
    event: false,
    columns: [],
  };
  const predicate: Predicate = { type: 'all' };
  const units = listUnits(shelf.reader, { blocks: shelf.refs }, { ...all, predicate, ...query });
  const { events } = run(units);
  const sequences = events.map(({ id }) => shelf.reader.ids.decode(id)?.sequence ?? -1);
  return { ids: events.map(({ id }) => id), sequences };
}

const anyQuery = fc.record({
  word: fc.constantFrom('all', 'often', 'early', 'late', 'rare', 'none'),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  limit: fc.constantFrom(1, 7, 100, 1_500),
  fromMs: fc.constantFrom(-1, 1_234, 2 * ROWS - 500),
  toMs: fc.constantFrom(1e9, BLOCKS * ROWS - 9_001),
});

t.test('a page is that of all rows, whichever of them were searched first', async () => {
  const property = fc.property(anyQuery, ({ word, order, limit, fromMs, toMs }) => {
    const wanted: number[] = [];
    for (let row = 0; row < BLOCKS * ROWS; row++) {
      const time = row - (row % 3);
      if (time >= fromMs && time < toMs && wordsOf(row).split(' ').includes(word)) wanted.push(row);
    }
    if (order === 'desc') wanted.reverse();
    const predicate: Predicate = { type: 'words', words: [[{ literal: word }]] };
    const query = { predicate, order, limit, fromMs, toMs };
    const { ids, sequences } = sequencesOf(query);
    const second =
      ids.length < limit ? [] : sequencesOf({ ...query, after: ids.at(-1) ?? '' }).sequences;
    const found = [...sequences, ...second].join();
    if (found !== wanted.slice(0, 2 * limit).join()) throw new Error(`${sequences.length} rows`);
  });
  fc.assert(property, { numRuns: 60 });
});
