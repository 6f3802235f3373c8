import fc from 'fast-check';
import t from 'tap';
import { fetchUnits } from '../../engine/query/events/fetch.ts';
import { listUnits } from '../../engine/query/events/list.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import type { ListedEvent, ListQuery } from '../../engine/query/model/query.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';
import { naiveEvent, type TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { Model, type ModelEvent, type ModelPredicate } from '../support/model.ts';
import { ofAll, run } from './blocks.ts';
import { predicate, testRow } from './events.ts';

/** Random events in random blocks of three writers; some are far off in time. */
const blockRows = fc.array(
  fc.tuple(
    fc.integer({ min: 0, max: 2 }),
    fc.array(testRow, { minLength: 1, maxLength: 30 }),
    fc.constantFrom(0, 0, 0, 86_400_000, -5 * 86_400_000),
  ),
  { minLength: 1, maxLength: 6 },
);
const timeRange = fc.tuple(fc.integer({ min: -1, max: 13 }), fc.integer({ min: -1, max: 13 }));
const EVER: [number, number] = [-1e12, 1e12];

/**
 * Some blocks sealed, some merged after that, some as they were, and the model of all of them; by turns with few
 * columns and overflow maps.
 */
async function stored(
  written: [number, TestRow[], number][],
  [cut, rest]: [number, number],
  rowsMax = 25,
): Promise<{ shelf: Shelf; model: Model }> {
  const shelf = new Shelf(rest % 2 === 0 ? undefined : cut % 4);
  const model = new Model();
  const sequences = [100, 5, 2 ** 40];
  for (const [writer, made, offsetMs] of written) {
    const rows = made.map((row) => ({ ...row, timeMs: row.timeMs + offsetMs }));
    await shelf.add(rows, writer, sequences[writer]);
    for (const [index, { timeMs, leaves }] of rows.entries()) {
      const sequence = sequences[writer] + index;
      model.add({ timeMs, writer, sequence, event: naiveEvent(leaves) });
    }
    sequences[writer] += rows.length;
  }
  const logs = shelf.refs;
  if (cut > 0) await shelf.seal(logs.slice(0, cut), rowsMax);
  const merged: BlockRef[] = shelf.refs.slice(0, Math.max(shelf.refs.length - rest, 0));
  if (merged.length > 0) await shelf.seal(merged);
  return { shelf, model };
}

function keyOf(shelf: Shelf, event: ListedEvent): string {
  const key = shelf.reader.ids.decode(event.id);
  return `${key?.timeMs} ${key?.writer} ${key?.sequence} ${event.event}`;
}

function modelKey(event: ModelEvent): string {
  return `${event.timeMs} ${event.writer} ${event.sequence} ${event.event}`;
}

function checkLists(
  { shelf, model }: { shelf: Shelf; model: Model },
  predicate: ModelPredicate,
  [fromMs, toMs]: [number, number],
  order: 'asc' | 'desc',
  limit: number,
): void {
  const snapshot = { blocks: shelf.refs };
  const wanted = model.list({ fromMs, toMs, predicate, order, limit: 100_000 });
  const found: ListedEvent[] = [];
  for (;;) {
    const after = found.at(-1)?.id;
    const query = { fromMs, toMs, predicate, order, limit, event: true, columns: [] };
    const asked = after === undefined ? query : { ...query, after };
    const page = run(listUnits(shelf.reader, snapshot, asked)).events;
    found.push(...page);
    if (page.length < limit) break;
  }
  const keys = JSON.stringify(found.map((event) => keyOf(shelf, event)));
  if (keys !== JSON.stringify(wanted.map(modelKey))) throw new Error(`another ${order} list`);
  checkRows(shelf, { fromMs, toMs, predicate, order, limit, event: true, columns: [] }, found);
}

/** Pages that begin at a row are the same whether rows before them are gathered or counted. */
function checkRows(shelf: Shelf, query: ListQuery, all: readonly ListedEvent[]): void {
  const { length } = all;
  for (const skip of new Set([1, length >> 1, length - 1, length, length + 1])) {
    for (const nearRows of [0, length + 2]) {
      const asked = { ...query, skip: Math.max(skip, 0), total: true };
      const page = run(listUnits(shelf.reader, { blocks: shelf.refs }, asked, undefined, nearRows));
      const wanted = all.slice(asked.skip, asked.skip + query.limit);
      const isSame = JSON.stringify(page.events) === JSON.stringify(wanted);
      if (!isSame || page.total !== length)
        throw new Error(`another ${query.order} list from row ${asked.skip} of ${length}`);
    }
  }
}

t.test('lists, counts and fetches of sealed and unsealed rows are those of the model', async () => {
  await fc.assert(
    fc.asyncProperty(
      blockRows,
      fc.tuple(fc.nat(6), fc.nat(4)),
      predicate,
      fc.oneof(timeRange, fc.constant(EVER)),
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.integer({ min: 1, max: 30 }),
      async (written, cuts, predicate, range, order, limit) => {
        const store = await stored(written, cuts);
        const { shelf, model } = store;
        checkLists(store, predicate, range, order, limit);
        const [fromMs, toMs] = range;
        const snapshot = { blocks: shelf.refs };
        const query = { fromMs, toMs, predicate, ...ofAll({ type: 'core' }) };
        const { buckets } = run(aggregateUnits(shelf.reader, snapshot, query));
        const count = model.count(fromMs, toMs, predicate);
        if (buckets[0].values[0] !== count) throw new Error(`${buckets[0].values}, not ${count}`);
        for (const event of model.events) {
          const id = shelf.reader.ids.encode(event);
          const fetched = run(
            fetchUnits(shelf.reader, snapshot, { id, predicate, event: true, columns: [] }),
          );
          const key = fetched === undefined ? undefined : keyOf(shelf, fetched);
          const wanted = model.holds(event, predicate) ? modelKey(event) : undefined;
          if (key !== wanted) throw new Error(`${key}, not ${wanted}`);
        }
      },
    ),
    { numRuns: 60 },
  );
});

t.test('the same holds for values in dictionaries of the segment', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(testRow, { minLength: 5, maxLength: 20 }),
      predicate,
      fc.constantFrom('asc' as const, 'desc' as const),
      async (some, predicate, order) => {
        const rows = Array.from({ length: 4_500 }, (_, at) => ({
          ...some[at % some.length],
          timeMs: at,
        }));
        const store = await stored([[0, rows, 0]], [1, 0], 4_500);
        checkLists(store, predicate, [100, 4_400], order, 2_000);
      },
    ),
    { numRuns: 5 },
  );
});

t.test('what the footer knows spares opening blocks', async (t) => {
  const shelf = new Shelf();
  const row = (timeMs: number, n: number): TestRow => ({
    timeMs,
    leaves: [{ names: ['custom', 'n'], kind: 'number', text: String(n) }],
  });
  await shelf.add([row(1, 10), row(2, 20)], 0, 0);
  await shelf.seal(shelf.refs);
  const list = (text: string) =>
    run(
      listUnits(
        shelf.reader,
        { blocks: shelf.refs },
        {
          fromMs: 0,
          toMs: 10,
          order: 'desc',
          limit: 10,
          event: true,
          columns: [],
          predicate: { type: 'value', paths: ['custom.n'], match: { type: 'text', text } },
        },
      ),
    );
  t.match(list('20'), { events: [{ timeMs: 2 }], stats: { blocksOpened: 1 } });
  t.match(list('21'), { events: [], stats: { blocksOpened: 0 } });
});
