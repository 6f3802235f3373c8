import t from 'tap';
import { listUnits } from '../../engine/query/events/list.ts';
import type { Predicate, ValueMatch } from '../../engine/query/model/predicate.ts';
import type { ListQuery } from '../../engine/query/model/query.ts';
import { Reader } from '../../engine/query/reader.ts';
import type { TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { run } from './blocks.ts';

const ROWS_A_BLOCK = 65_536;
/** Rows of a segment of three blocks. */
const ROWS = 2 * ROWS_A_BLOCK + 1_000;
const PART = 16_384;
/** The only row that has its verb. */
const LAST = ROWS - 1;

/** A sealed segment whose verbs lie in a dictionary. */
async function filled(): Promise<Shelf> {
  const shelf = new Shelf();
  for (let from = 0; from < ROWS; from += PART) {
    const rows: TestRow[] = [];
    for (let row = from; row < Math.min(from + PART, ROWS); row++) {
      const text = row === LAST ? 'TRACE' : ['GET', 'PUT', 'POST'][row % 3];
      rows.push({ timeMs: row, leaves: [{ kind: 'string', text, names: ['custom', 'verb'] }] });
    }
    await shelf.add(rows, 0, from);
  }
  await shelf.seal(shelf.refs);
  return shelf;
}

const shelf = await filled();
const verb = (match: ValueMatch): Predicate => ({ type: 'value', paths: ['custom.verb'], match });
const text = (value: string): Predicate => verb({ type: 'text', text: value });

/** The rows of the first events that are selected, and how many blocks were opened for them. */
function listed(predicate: Predicate, more: Partial<ListQuery> = {}): [number[], number] {
  const reader = new Reader(shelf.disk, new Uint8Array(32), { selectedBytesMax: 0 });
  const view = { event: false, columns: [] };
  const query: ListQuery = { fromMs: 0, toMs: ROWS, predicate, order: 'asc', limit: 3, ...view };
  const { events, stats } = run(listUnits(reader, { blocks: shelf.refs }, { ...query, ...more }));
  reader.close();
  return [events.map(({ timeMs }) => timeMs), stats.blocksOpened];
}

t.test(
  'blocks behind the first are not opened for a text that their segment does not have',
  async (t) => {
    t.equal(shelf.refs.length, 3);
    t.same(listed(text('HEAD')), [[], 1]);
    t.same(listed({ type: 'anywhere', match: { type: 'text', text: 'HEAD' } }), [[], 1]);
    t.same(listed({ type: 'and', children: [text('GET'), text('HEAD')] }), [[], 1]);
  },
);

t.test('nor for a pattern, a regular expression or a word', async (t) => {
  t.same(listed(verb({ type: 'pattern', pattern: [{ literal: 'H' }, { wildcard: '*' }] })), [
    [],
    1,
  ]);
  t.same(listed(verb({ type: 'regex', source: 'H.*' })), [[], 1]);
  t.same(listed(verb({ type: 'words', words: [[{ literal: 'head' }]] })), [[], 1]);
});

t.test('a value that one row has is found behind blocks without it', async (t) => {
  for (const order of ['asc', 'desc'] as const) {
    t.same(listed(text('TRACE'), { order })[0], [LAST]);
    t.same(listed(verb({ type: 'regex', source: 'T.*' }), { order })[0], [LAST]);
  }
  t.same(listed({ type: 'or', children: [text('HEAD'), text('TRACE')] })[0], [LAST]);
});

t.test('what is absent selects all when it is denied', async (t) => {
  const [rows] = listed({ type: 'not', child: text('HEAD') }, { order: 'desc' });
  t.same(rows, [LAST, LAST - 1, LAST - 2]);
});
