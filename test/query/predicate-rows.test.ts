import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import { listUnits } from '../../engine/query/events/list.ts';
import { planOf } from '../../engine/query/filter/plan.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import {
  addRow,
  allRows,
  type Bitmap,
  countRows,
  noRows,
} from '../../engine/query/model/bitmap.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { AggregateQuery, ListQuery } from '../../engine/query/model/query.ts';
import { PredicateRows } from '../../engine/query/scan/predicate-rows.ts';
import { rowsWhere } from '../../engine/query/scan/scan.ts';
import type { TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { ofAll, run } from './blocks.ts';

const ROWS = 400;

/** A sealed segment and a log segment of events a millisecond apart. */
async function filled(): Promise<Shelf> {
  const shelf = new Shelf();
  for (let part = 0; part < 2; part++) {
    const rows: TestRow[] = Array.from({ length: ROWS }, (_, row) => ({
      timeMs: part * ROWS + row,
      leaves: [
        { kind: 'string', text: `word${row % 3} of ${row}`, names: ['message'] },
        { kind: 'number', text: String(row % 50), names: ['custom', 'n'] },
      ],
    }));
    const ref = await shelf.add(rows, part, 0);
    if (part === 0) await shelf.seal([ref]);
  }
  return shelf;
}

const words = (text: string): Predicate => ({ type: 'words', words: [[{ literal: text }]] });
const number = (text: string): Predicate => ({
  type: 'value',
  paths: ['custom.n'],
  match: { type: 'text', text },
});
const leaf = fc.oneof(
  fc.constantFrom<Predicate>({ type: 'all' }, { type: 'none' }),
  fc.constantFrom('word0', 'of', 'absent', '17').map(words),
  fc.constantFrom('7', '49', '50').map(number),
);
const predicates = fc.oneof(
  leaf,
  leaf.map((child): Predicate => ({ type: 'not', child })),
  fc.array(leaf, { maxLength: 3 }).map((children): Predicate => ({ type: 'and', children })),
  fc.array(leaf, { maxLength: 3 }).map((children): Predicate => ({ type: 'or', children })),
);
const ranges = fc.tuple(fc.nat({ max: ROWS }), fc.nat({ max: ROWS })).map(([from, to]) => {
  const rows = noRows(ROWS);
  for (let row = from; row < to; row++) addRow(rows, row);
  return rows;
});

t.test('rows are the same before they are known and after', async () => {
  const shelf = await filled();
  const { reader, refs } = shelf;
  const asked = fc.array(fc.oneof(ranges, fc.constant(allRows(ROWS))), { maxLength: 6 });
  fc.assert(
    fc.property(predicates, asked, (predicate, parts) => {
      reader.forget(refs.map(({ segment }) => segment));
      const found = (ref: (typeof refs)[number], rows: Bitmap) =>
        finished(new PredicateRows(reader, predicate).among(reader.open(ref), rows)).join();
      for (const ref of refs) {
        for (const rows of parts) {
          const plain = finished(rowsWhere(planOf(predicate), reader.open(ref), rows)).join();
          if (found(ref, rows) !== plain) throw new Error(JSON.stringify(predicate));
        }
      }
    }),
    { numRuns: 200 },
  );
});

const COUNT: AggregateQuery = {
  fromMs: 0,
  toMs: 2 * ROWS,
  predicate: words('word1'),
  ...ofAll({ type: 'core' }),
};
const LIST: ListQuery = {
  fromMs: 0,
  toMs: 2 * ROWS,
  predicate: number('17'),
  order: 'desc',
  limit: 100,
  event: true,
  columns: [],
};

t.test('what is known of whole blocks is not read again', async (t) => {
  const { reader, refs } = await filled();
  const count = (query: Partial<AggregateQuery>) => {
    return run(aggregateUnits(reader, { blocks: refs }, { ...COUNT, ...query }));
  };
  const first = count({});
  const second = count({});
  t.same(second.buckets, first.buckets);
  t.equal(first.stats.blocksOpened, 2);
  t.equal(second.stats.blocksOpened, 0);
  t.equal(count({ toMs: 2 * ROWS - 1 }).stats.blocksOpened, 1, 'a part of a block');
  t.equal(count({ predicate: words('word2') }).stats.blocksOpened, 2, 'another predicate');

  const absent: ListQuery = { ...LIST, predicate: number('17.5') };
  t.equal(run(listUnits(reader, { blocks: refs }, absent)).stats.blocksOpened, 2);
  t.equal(run(listUnits(reader, { blocks: refs }, absent)).stats.blocksOpened, 0);
  const listed = run(listUnits(reader, { blocks: refs }, LIST));
  t.same(run(listUnits(reader, { blocks: refs }, LIST)).events, listed.events);
});

t.test('nothing is known of a segment that is gone', async (t) => {
  const { reader, refs } = await filled();
  const [, log] = refs;
  const rows = new PredicateRows(reader, words('word1'));
  finished(rows.among(reader.open(log), allRows(ROWS)));
  t.equal(rows.countOf(log), 133);
  reader.forget([log.segment]);
  t.equal(rows.countOf(log), undefined);
  t.ok(rows.mayHave(log));
});

t.test(
  'a text is found in the dictionary of a segment when it is there, and only then',
  async (t) => {
    const shelf = new Shelf();
    const texts = Array.from({ length: 6_000 }, (_, row) =>
      row % 40 === 0 ? '' : `value-${(row * 7_919) % 2_500}`,
    );
    for (let part = 0; part < 2; part++) {
      const rows = texts.map(
        (text, row): TestRow => ({
          timeMs: part * 6_000 + row,
          leaves: [{ kind: 'string', text, names: ['custom', 'u'] }],
        }),
      );
      await shelf.add(rows, part, 0);
    }
    await shelf.seal(shelf.refs, 1_000_000);
    const wanted = (text: string) => 2 * texts.filter((other) => other === text).length;
    for (const text of [
      '',
      'value-1',
      'value-2499',
      'value-2500',
      'value-',
      'VALUE-1',
      'x',
      ...texts.slice(0, 300),
    ]) {
      const match = { type: 'text' as const, text };
      const rows = new PredicateRows(shelf.reader, { type: 'value', paths: ['custom.u'], match });
      let found = 0;
      for (const ref of shelf.refs) {
        const all = allRows(ref.rowCount);
        found += countRows(finished(rows.among(shelf.reader.open(ref), all)));
      }
      if (found !== wanted(text)) t.equal(found, wanted(text), text);
    }
    t.equal(shelf.refs[0].sealed, true);
  },
);
