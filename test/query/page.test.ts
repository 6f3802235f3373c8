import fc from 'fast-check';
import t from 'tap';
import { pageUnits } from '../../engine/query/events/list.ts';
import {
  keyAfter,
  keyBefore,
  SEQUENCE_MAX,
  WRITER_MAX,
} from '../../engine/query/model/event-id.ts';
import type { ListedEvent, PageQuery } from '../../engine/query/model/query.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';
import { naiveEvent, type TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { Model } from '../support/model.ts';
import { Blocks, run } from './blocks.ts';
import { predicate, testRow } from './events.ts';

const ALL: PageQuery = {
  fromMs: -1e9,
  toMs: 1e9,
  predicate: { type: 'all' },
  order: 'desc',
  limit: 1_000,
  event: true,
  columns: [],
  textMax: Infinity,
  blocksMax: Infinity,
};

/** The source of pages, and the blocks that are read of it. */
type Store = Pick<Shelf, 'reader' | 'refs'>;

/** The events of all pages; before each but the first `between` may change what is there. */
function allPages(
  store: Store,
  query: PageQuery,
  between = (): void => {},
): { events: ListedEvent[]; pageCount: number; damaged: Set<string> } {
  const events: ListedEvent[] = [];
  const damaged = new Set<string>();
  let after: string | undefined;
  for (let pageCount = 1; ; pageCount++) {
    if (pageCount > 10_000) throw new Error('the pages do not end');
    const asked = after === undefined ? query : { ...query, after };
    const page = run(pageUnits(store.reader, { blocks: store.refs }, asked));
    events.push(...page.events);
    for (const name of page.damaged) damaged.add(name);
    after = page.resume;
    if (after === undefined) return { events, pageCount, damaged };
    between();
  }
}

function messageRow(timeMs: number, text: string): TestRow {
  return { timeMs, leaves: [{ names: ['message'], kind: 'string', text }] };
}

/** Pages of blocks in memory. */
function storeOf(blocks: Blocks, refs: readonly BlockRef[] = blocks.refs): Store {
  return { reader: blocks as unknown as Shelf['reader'], refs: [...refs] };
}

t.test('the pages of any budget are the list of the model, sealed meanwhile or not', async () => {
  const blockRows = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 2 }), fc.array(testRow, { minLength: 1, maxLength: 12 })),
    { minLength: 1, maxLength: 10 },
  );
  await fc.assert(
    fc.asyncProperty(
      blockRows,
      predicate,
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom(1, 100, 1_000, Infinity),
      fc.constantFrom(1, 2, 5, Infinity),
      fc.nat(10),
      async (written, predicate, order, limit, textMax, blocksMax, sealAt) => {
        const shelf = new Shelf();
        const model = new Model();
        const sequences = [100, 0, 2 ** 40];
        for (const [writer, rows] of written) {
          await shelf.add(rows, writer, sequences[writer]);
          for (const [index, { timeMs, leaves }] of rows.entries()) {
            const sequence = sequences[writer] + index;
            model.add({ timeMs, writer, sequence, event: naiveEvent(leaves) });
          }
          sequences[writer] += rows.length;
        }
        const unsealed = shelf.refs;
        await shelf.seal(unsealed, 25);
        const sealed = shelf.refs;
        const store: Store = { reader: shelf.reader, refs: unsealed };
        let pages = 0;
        const range = { fromMs: 0, toMs: 11 };
        const query = { ...ALL, ...range, predicate, order, limit, textMax, blocksMax };
        const { events } = allPages(store, query, () => {
          if (++pages >= sealAt) store.refs = sealed;
        });
        const wanted = model.list({ ...range, predicate, order, limit: 100_000 });
        const found = events.map(({ event }) => event);
        if (JSON.stringify(found) !== JSON.stringify(wanted.map(({ event }) => event))) {
          throw new Error(`${found.length} events, not ${wanted.length}`);
        }
      },
    ),
    { numRuns: 40 },
  );
});

t.test(
  'a page that finds nothing ends after so many blocks, and tells where to go on',
  async (t) => {
    const blocks = new Blocks();
    for (let block = 0; block < 20; block++) blocks.add([messageRow(block, 'x')], 0, block);
    const words = [[{ literal: 'nothing' }]];
    const query: PageQuery = { ...ALL, predicate: { type: 'words', words }, blocksMax: 6 };
    for (const order of ['asc', 'desc'] as const) {
      const { events, pageCount } = allPages(storeOf(blocks), { ...query, order });
      t.same(events, []);
      t.equal(pageCount, 4);
    }
  },
);

t.test('a page goes on where more blocks overlap than it may open', async (t) => {
  const blocks = new Blocks();
  for (let block = 0; block < 9; block++) {
    blocks.add([messageRow(0, 'a'), messageRow(50, 'b'), messageRow(100, 'c')], 0, block * 3);
  }
  for (const order of ['asc', 'desc'] as const) {
    const { events } = allPages(storeOf(blocks), { ...ALL, order, limit: 2, blocksMax: 2 });
    t.equal(new Set(events.map(({ id }) => id)).size, 27);
  }
});

t.test('large events end a page long before its limit', async (t) => {
  const blocks = new Blocks();
  const large = 'x'.repeat(60_000);
  const rowsFrom = (from: number): TestRow[] =>
    Array.from({ length: 20 }, (_, at) => messageRow(from + at * 2, large));
  const refs = [blocks.encode(rowsFrom(0), 0, 0), blocks.encode(rowsFrom(1), 1, 0)];
  for (const textMax of [1, 1e9]) {
    const query: PageQuery = { ...ALL, textMax, order: 'asc' };
    const first = run(pageUnits(blocks, { blocks: refs }, query));
    t.ok(first.events.length < 20, `${first.events.length} events`);
    const { events } = allPages(storeOf(blocks, refs), query);
    t.same(
      events.map(({ timeMs }) => timeMs),
      Array.from({ length: 40 }, (_, timeMs) => timeMs),
    );
  }
});

t.test('what is damaged is left out and named the same on all pages', async (t) => {
  const blocks = new Blocks();
  for (let block = 0; block < 5; block++) {
    const rows = Array.from({ length: 10 }, (_, at) => messageRow(at, `${block} ${at}`));
    blocks.add(rows, 0, block * 10);
  }
  blocks.bytes(blocks.refs[2]).fill(0xff, 64);
  const { events, damaged } = allPages(storeOf(blocks), { ...ALL, limit: 3 });
  t.equal(events.length, 40);
  t.equal(damaged.size, 1);
});

t.test('the keys beside a key are next to it', async (t) => {
  const key = fc.record({
    timeMs: fc.integer(),
    sequence: fc.constantFrom(0, 1, 2 ** 40, SEQUENCE_MAX),
    writer: fc.constantFrom(0, 1, 7, WRITER_MAX),
  });
  fc.assert(
    fc.property(key, (key) => JSON.stringify(keyBefore(keyAfter(key))) === JSON.stringify(key)),
  );
  t.same(keyAfter({ timeMs: 5, writer: 255, sequence: 2 ** 48 - 1 }), {
    timeMs: 6,
    writer: 0,
    sequence: 0,
  });
  t.same(keyBefore({ timeMs: 5, writer: 0, sequence: 1 }), {
    timeMs: 5,
    writer: 255,
    sequence: 0,
  });
});
