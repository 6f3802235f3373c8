import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import { fetchUnits } from '../../engine/query/events/fetch.ts';
import { listUnits } from '../../engine/query/events/list.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { MetricTable } from '../../engine/query/metric/metric-table.ts';
import type { Aggregation, ListedEvent, MetricValue } from '../../engine/query/model/query.ts';
import { Pairs } from '../../engine/query/value/pairs.ts';
import type { TestRow } from '../segment/leaves.ts';
import { isRight, metricOf } from '../support/bucket-model.ts';
import { Model, type ModelEvent, type ModelPredicate } from '../support/model.ts';
import { Blocks, ofAll, run } from './blocks.ts';
import { PATHS, predicate, testRow } from './events.ts';

const RUNS = 150;

/** Random events in random blocks of three writers. */
const blockRows = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 2 }), fc.array(testRow, { minLength: 1, maxLength: 40 })),
  { minLength: 1, maxLength: 6 },
);

interface Store {
  blocks: Blocks;
  model: Model;
}

function storeOf(written: [number, TestRow[]][]): Store {
  const blocks = new Blocks();
  const model = new Model();
  const sequences = [100, 5, 2 ** 40];
  for (const [writer, rows] of written) {
    for (const event of blocks.add(rows, writer, sequences[writer])) model.add(event);
    sequences[writer] += rows.length;
  }
  return { blocks, model };
}

const timeRange = fc.tuple(fc.integer({ min: -1, max: 13 }), fc.integer({ min: -1, max: 13 }));

function keyOf(blocks: Blocks, event: ListedEvent): string {
  const key = blocks.ids.decode(event.id);
  return `${key?.timeMs} ${key?.writer} ${key?.sequence} ${event.event}`;
}

function modelKey(event: ModelEvent): string {
  return `${event.timeMs} ${event.writer} ${event.sequence} ${event.event}`;
}

t.test('a list holds what the model holds, page by page, in both orders', async () => {
  fc.assert(
    fc.property(
      blockRows,
      predicate,
      timeRange,
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.integer({ min: 1, max: 30 }),
      (written, predicate, [fromMs, toMs], order, limit) => {
        const { blocks, model } = storeOf(written);
        const snapshot = { blocks: blocks.refs };
        const wanted = model.list({ fromMs, toMs, predicate, order, limit: 10_000 });
        const found: ListedEvent[] = [];
        for (;;) {
          const after = found.at(-1)?.id;
          const query = { fromMs, toMs, predicate, order, limit, event: true, columns: [] };
          const page = run(
            listUnits(blocks, snapshot, after === undefined ? query : { ...query, after }),
          ).events;
          found.push(...page);
          if (page.length < limit) break;
        }
        const same = JSON.stringify(found.map((event) => keyOf(blocks, event)));
        return same === JSON.stringify(wanted.map(modelKey));
      },
    ),
    { numRuns: RUNS },
  );
});

t.test('every event is fetched by its id unless it is hidden', async () => {
  fc.assert(
    fc.property(blockRows, predicate, (written, predicate) => {
      const { blocks, model } = storeOf(written);
      const snapshot = { blocks: blocks.refs };
      return model.events.every((event) => {
        const id = blocks.ids.encode(event);
        const query = { id, predicate, event: true, columns: [] };
        const found = run(fetchUnits(blocks, snapshot, query));
        return model.holds(event, predicate)
          ? found !== undefined && keyOf(blocks, found) === modelKey(event)
          : found === undefined;
      });
    }),
    { numRuns: RUNS / 3 },
  );
});

const NAMES: Aggregation[] = [
  'count',
  'cardinality',
  'sum',
  'min',
  'max',
  'avg',
  'median',
  'pc90',
  'pc99',
];
/** The fault of an aggregation, if there is one. */
function fault(
  name: Aggregation,
  value: unknown,
  model: Model,
  [fromMs, toMs]: [number, number],
  predicate: ModelPredicate,
  path: string,
): string | undefined {
  const events = model.selected(fromMs, toMs, predicate);
  const wanted = metricOf(model, events, { type: 'attribute', path, aggregation: name });
  return isRight(value, wanted) ? undefined : `${name} of ${path} is ${value}, not ${wanted.exact}`;
}

t.test('aggregations are those of the model', async () => {
  fc.assert(
    fc.property(
      blockRows,
      predicate,
      timeRange,
      fc.constantFrom(...PATHS),
      (written, predicate, range, path) => {
        const { blocks, model } = storeOf(written);
        const [fromMs, toMs] = range;
        const attributes = NAMES.map((aggregation) => ({
          type: 'attribute' as const,
          path,
          aggregation,
        }));
        const query = { fromMs, toMs, predicate, ...ofAll({ type: 'core' }, ...attributes) };
        const { buckets } = run(aggregateUnits(blocks, { blocks: blocks.refs }, query));
        const values = buckets[0].values as MetricValue[];
        const count = model.count(fromMs, toMs, predicate);
        if (values[0] !== count) throw new Error(`${values[0]} events, not ${count}`);
        for (const [index, name] of NAMES.entries()) {
          const wrong = fault(name, values[index + 1], model, range, predicate, path);
          if (wrong !== undefined) throw new Error(wrong);
        }
      },
    ),
    { numRuns: RUNS },
  );
});

t.test('partials of blocks, merged or not, give what the model gives', async () => {
  fc.assert(
    fc.property(blockRows, fc.constantFrom(...PATHS), fc.nat(6), (written, path, cut) => {
      const { blocks, model } = storeOf(written);
      const metrics = NAMES.map((aggregation) => ({
        type: 'attribute' as const,
        path,
        aggregation,
      }));
      const [whole, left, right] = [0, 1, 2].map(
        () => new MetricTable([{ type: 'core' }, ...metrics], blocks.secret),
      );
      for (const table of [whole, left, right]) table.ensure(3);
      for (const [index, ref] of blocks.refs.entries()) {
        const block = blocks.open(ref);
        const pairs = new Pairs();
        for (let row = 0; row < block.rowCount; row++) pairs.add(row, 2);
        for (const table of [whole, index < cut ? left : right]) {
          finished(table.prepare(block));
          table.add(pairs);
        }
      }
      finished(left.merge(structuredClone(right.data), Uint32Array.of(0, 1, 2)));
      const all = { type: 'all' as const };
      for (const table of [whole, left]) {
        const values = metrics.map((metric) => table.value(metric, 2));
        for (const [index, name] of NAMES.entries()) {
          const wrong = fault(name, values[index], model, [0, 12], all, path);
          if (wrong !== undefined) throw new Error(wrong);
        }
      }
    }),
    { numRuns: RUNS / 3 },
  );
});

t.test('a block of many rows is filtered as by the model', async () => {
  const rows = fc.array(testRow, { minLength: 3_000, maxLength: 3_000 });
  fc.assert(
    fc.property(rows, fc.array(predicate, { minLength: 40, maxLength: 40 }), (rows, predicates) => {
      const { blocks, model } = storeOf([[0, rows]]);
      return predicates.every((predicate) => {
        const query = { fromMs: 0, toMs: 12, predicate, ...ofAll({ type: 'core' }) };
        const { buckets } = run(aggregateUnits(blocks, { blocks: blocks.refs }, query));
        return buckets[0].values[0] === model.count(0, 12, predicate);
      });
    }),
    { numRuns: 1, endOnFailure: true },
  );
});
