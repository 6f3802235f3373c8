import fc from 'fast-check';
import t from 'tap';
import { listUnits } from '../../engine/query/events/list.ts';
import type { ListQuery } from '../../engine/query/model/query.ts';
import type { Shelf } from '../segment/shelf.ts';
import { compareScalars } from '../support/bucket-model.ts';
import {
  compareModel,
  type Model,
  type ModelEvent,
  type Scalar,
  scalarsAt,
} from '../support/model.ts';
import { run } from './blocks.ts';
import { PATHS, predicate, testRow } from './events.ts';
import { stored } from './stored.ts';

const ALL: ListQuery = {
  fromMs: -1e9,
  toMs: 1e9,
  predicate: { type: 'all' },
  order: 'desc',
  limit: 50,
  event: false,
  columns: [],
};

type Ordered = ListQuery & { orderBy: string };

/** The events of a model in the order that is asked for. */
function wanted(model: Model, { predicate, order, orderBy }: Ordered): ModelEvent[] {
  const sign = order === 'asc' ? 1 : -1;
  const first = (event: ModelEvent): Scalar | undefined =>
    scalarsAt(model.node(event), orderBy).sort((a, b) => sign * compareScalars(a, b))[0];
  return model.selected(ALL.fromMs, ALL.toMs, predicate).sort((a, b) => {
    const [left, right] = [first(a), first(b)];
    const events = sign * compareModel(a, b);
    if (left === undefined && right === undefined) return events;
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
    return sign * compareScalars(left, right) || events;
  });
}

/** Names of all events, page by page, and what each page said of their number. */
function pages(shelf: Shelf, query: Ordered): { names: string[]; totals: Set<number | undefined> } {
  const names: string[] = [];
  const totals = new Set<number | undefined>();
  let asked: Ordered = query;
  for (;;) {
    const { events, total } = run(listUnits(shelf.reader, { blocks: shelf.refs }, asked));
    totals.add(total);
    for (const { id } of events) {
      const key = shelf.reader.ids.decode(id);
      names.push(`${key?.timeMs} ${key?.sequence}`);
    }
    const after = events.at(-1)?.id;
    if (events.length < query.limit || after === undefined) return { names, totals };
    asked = { ...query, skip: 0, after };
  }
}

t.test('pages in the order of an attribute are those of the model, skipped or not', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(testRow, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 4 }),
      fc.nat(4),
      fc.record({
        predicate: fc.oneof(predicate, fc.constant(ALL.predicate)),
        order: fc.constantFrom('asc' as const, 'desc' as const),
        orderBy: fc.constantFrom(...PATHS),
        limit: fc.integer({ min: 1, max: 9 }),
        skip: fc.nat(12),
        total: fc.boolean(),
      }),
      async (written, sealedCount, asked) => {
        const { shelf, model } = await stored(written, sealedCount);
        const query = { ...ALL, ...asked };
        const events = wanted(model, query);
        const { names, totals } = pages(shelf, query);
        const expected = events.slice(query.skip).map((one) => `${one.timeMs} ${one.sequence}`);
        if (names.join() !== expected.join()) throw new Error(`${names}, not ${expected}`);
        const total = query.total ? events.length : undefined;
        if (totals.size !== 1 || !totals.has(total))
          throw new Error(`${[...totals]}, not ${total}`);
      },
    ),
    { numRuns: 150 },
  );
});

t.test('numbers that one double stands for are in the order of their digits', async (t) => {
  const numbers = ['9007199254740993', '9007199254740992', '1e400', '-1e400', '2', '10', '1e401'];
  const rows = numbers.map((text, timeMs) => ({
    timeMs,
    leaves: [{ names: ['custom', 'n'], kind: 'number' as const, text }],
  }));
  const { shelf } = await stored([rows.slice(0, 3), rows.slice(3)], 1);
  for (const limit of [1, 3, 50]) {
    const query = { ...ALL, order: 'asc' as const, orderBy: 'custom.n', limit };
    const { names } = pages(shelf, query);
    const found = names.map((name) => numbers[Number(name.split(' ')[0])]);
    t.same(found, ['-1e400', '2', '10', '9007199254740992', '9007199254740993', '1e400', '1e401']);
  }
});

t.test('a page after an event that the list does not have is refused', async (t) => {
  const rows = [1, 2].map((timeMs) => ({
    timeMs,
    leaves: [{ names: ['custom', 'n'], kind: 'number' as const, text: String(timeMs) }],
  }));
  const { shelf } = await stored([rows], 0);
  const snapshot = { blocks: shelf.refs };
  const { events } = run(listUnits(shelf.reader, snapshot, { ...ALL, orderBy: 'custom.n' }));
  const hidden: ListQuery = {
    ...{ ...ALL, orderBy: 'custom.n', after: events[0].id },
    predicate: { type: 'value', paths: ['custom.n'], match: { type: 'text', text: '1' } },
  };
  for (const query of [hidden, { ...hidden, after: 'x'.repeat(22) }]) {
    t.throws(() => run(listUnits(shelf.reader, snapshot, query)), { code: 'USAGE' });
  }
});
