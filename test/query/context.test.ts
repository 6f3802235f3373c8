import fc from 'fast-check';
import t from 'tap';
import { contextUnits } from '../../engine/query/events/context.ts';
import type { ContextQuery } from '../../engine/query/model/query.ts';
import { naiveEvent, type TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { Model } from '../support/model.ts';
import { Blocks, run } from './blocks.ts';
import { predicate, testRow } from './events.ts';

const EVER = { fromMs: -1e9, toMs: 1e9 };

function rowAt(timeMs: number): TestRow {
  return { timeMs, leaves: [{ names: ['message'], kind: 'string', text: `at ${timeMs}` }] };
}

t.test('the context of each event is what stands around it in the list of the model', async () => {
  const blockRows = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 2 }), fc.array(testRow, { minLength: 1, maxLength: 10 })),
    { minLength: 1, maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(
      blockRows,
      fc.tuple(predicate, predicate),
      fc.tuple(fc.nat(8), fc.nat(8)),
      fc.boolean(),
      async (written, [asked, visible], [before, after], isSealed) => {
        const shelf = new Shelf();
        const model = new Model();
        const sequences = [3, 0, 2 ** 40];
        for (const [writer, rows] of written) {
          await shelf.add(rows, writer, sequences[writer]);
          for (const [index, { timeMs, leaves }] of rows.entries()) {
            const sequence = sequences[writer] + index;
            model.add({ timeMs, writer, sequence, event: naiveEvent(leaves) });
          }
          sequences[writer] += rows.length;
        }
        if (isSealed) await shelf.seal(shelf.refs.slice(0, 3), 15);
        const all = model.list({ ...EVER, predicate: { type: 'all' }, order: 'asc', limit: 1e6 });
        const isShown = (event: (typeof all)[number]): boolean =>
          model.holds(event, visible) && model.holds(event, asked);
        for (const [place, event] of all.entries()) {
          const query: ContextQuery = {
            id: shelf.reader.ids.encode(event),
            before,
            after,
            visible,
            predicate: { type: 'and', children: [visible, asked] },
            event: true,
            columns: [],
          };
          const found = run(contextUnits(shelf.reader, { blocks: shelf.refs }, query));
          const earlier = all.slice(0, place).filter(isShown);
          const later = all.slice(place + 1).filter(isShown);
          const wanted = {
            before: earlier.slice(Math.max(0, earlier.length - before)).map((one) => one.event),
            event: event.event,
            after: later.slice(0, after).map((one) => one.event),
          };
          const shown = found && {
            before: found.before.map((one) => one.event),
            event: found.event.event,
            after: found.after.map((one) => one.event),
          };
          const expected = model.holds(event, visible) ? wanted : undefined;
          if (JSON.stringify(shown) !== JSON.stringify(expected)) {
            throw new Error(`${JSON.stringify(shown)}, not ${JSON.stringify(expected)}`);
          }
        }
      },
    ),
    { numRuns: 40 },
  );
});

t.test('blocks far from the event are not opened', async (t) => {
  const blocks = new Blocks();
  for (let block = 0; block < 50; block++) {
    const rows = Array.from({ length: 10 }, (_, at) => rowAt(block * 10 + at));
    blocks.add(rows, 0, block * 10);
  }
  const query: ContextQuery = {
    id: blocks.ids.encode({ timeMs: 255, writer: 0, sequence: 255 }),
    before: 3,
    after: 12,
    visible: { type: 'all' },
    predicate: { type: 'all' },
    event: false,
    columns: [],
  };
  const found = run(contextUnits(blocks, { blocks: blocks.refs }, query));
  t.same(
    found?.before.map(({ timeMs }) => timeMs),
    [252, 253, 254],
  );
  t.equal(found?.after.at(-1)?.timeMs, 267);
  t.equal(found?.stats.blocksOpened, 3);
  const none = run(
    contextUnits(blocks, { blocks: blocks.refs }, { ...query, before: 0, after: 0 }),
  );
  t.same([none?.before, none?.after, none?.stats.blocksOpened], [[], [], 0]);
  t.equal(run(contextUnits(blocks, { blocks: blocks.refs }, { ...query, id: 'no' })), undefined);
});
