import t from 'tap';
import { listUnits } from '../../engine/query/events/list.ts';
import { tailUnits } from '../../engine/query/events/tail-scan.ts';
import { TopKHeap } from '../../engine/query/events/top-k-heap.ts';
import { PatternTest } from '../../engine/query/filter/printed-test.ts';
import { WordSequence } from '../../engine/query/filter/word.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { MetricTable } from '../../engine/query/metric/metric-table.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type {
  AggregateQuery,
  GroupBy,
  ListQuery,
  Metric,
  TailQuery,
} from '../../engine/query/model/query.ts';
import type { Progress } from '../../engine/query/model/source.ts';
import { ValueHash } from '../../engine/query/value/value-hash.ts';
import { ValueNumbers } from '../../engine/query/value/value-numbers.ts';
import type { TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';

const ROWS = 36_000;
const VALUES = 6_000;
/** Strings, or buckets, that a unit may look at: 4,096 and those of the piece in which it ends. */
const UNIT_MAX = 4_096 + 1_024;

let worked = 0;
let total = 0;

/** Counts calls of a method, which are what units are made of. */
function countCalls<Name extends string>(
  prototype: Record<Name, (...values: never[]) => unknown>,
  name: Name,
): void {
  const method: (...values: never[]) => unknown = prototype[name];
  Object.defineProperty(prototype, name, {
    value(this: unknown, ...values: never[]): unknown {
      worked++;
      return method.apply(this, values);
    },
  });
}

countCalls(PatternTest.prototype, 'text');
countCalls(WordSequence.prototype, 'matches');
countCalls(ValueHash.prototype, 'string');
countCalls(ValueNumbers.prototype, 'hashOf');
countCalls(MetricTable.prototype, 'value');
countCalls(TopKHeap.prototype, 'offer');

/** Three blocks, sealed ones of one segment, whose dictionaries have 6,000 strings. */
async function stored(isSealed: boolean): Promise<Shelf> {
  const shelf = new Shelf();
  const rows: TestRow[] = Array.from({ length: ROWS }, (_, index) => {
    // Each twice in each block, so that there are dictionaries of the segment.
    const text = `value-${(Math.floor(index / 2) * 7_919) % VALUES}`;
    return {
      timeMs: index,
      leaves: [
        { kind: 'string', text: `GET /${text} done`, names: ['message'] },
        { kind: 'number', text: String(index % 977), names: ['custom', 'k'] },
        { kind: 'string', text, names: ['custom', 'u'] },
        { kind: 'number', text: String(index), names: ['custom', 'n'] },
        { kind: 'date', text: new Date(index * 977).toISOString(), names: ['custom', 'd'] },
      ],
    };
  });
  for (let part = 0; part < 3; part++) {
    await shelf.add(rows.slice((part * ROWS) / 3, ((part + 1) * ROWS) / 3), part, 0);
  }
  if (isSealed) await shelf.seal(shelf.refs, ROWS / 3);
  return shelf;
}

const u = (text: string, path = 'custom.u'): Predicate => ({
  type: 'value',
  paths: [path],
  match: { type: 'pattern', pattern: [{ wildcard: '*' }, { literal: text }, { wildcard: '*' }] },
});
const ALL: Predicate = { type: 'all' };
const CORE: Metric = { type: 'core' };
const many = Array.from({ length: 20 }, (_, at) => u(`${at}${at + 1}`));
const tags = many.map((predicate, at) => ({ id: `t${at}`, predicate }));
const of = (aggregation: 'pc95' | 'avg' | 'cardinality', path = 'custom.k'): Metric => ({
  type: 'attribute',
  path,
  aggregation,
});
const top = (by: Metric | { type: 'natural' }): GroupBy => {
  const order = { by, direction: 'desc' } as const;
  return { type: 'field', path: 'custom.u', limit: 10, order, total: false };
};
const steps = Array.from({ length: 201 }, (_, at) => (at * ROWS) / 200);

function aggregate(
  predicate: Predicate,
  metric: Metric,
  groupBys: GroupBy[],
  boundaries?: number[],
): AggregateQuery {
  const compute =
    boundaries === undefined
      ? ({ type: 'metric', metric } as const)
      : ({ type: 'timeseries', metric, boundaries } as const);
  return { fromMs: 0, toMs: ROWS, predicate, computes: [compute], groupBys };
}

const AGGREGATES: [string, AggregateQuery][] = [
  ['a pattern', aggregate(u('99'), CORE, [])],
  ['a pattern of numbers', aggregate(u('99', 'custom.n'), CORE, [])],
  ['a pattern of dates', aggregate(u('99', 'custom.d'), CORE, [])],
  ['a word', aggregate({ type: 'words', words: [[{ literal: 'done' }]] }, CORE, [])],
  ['one of 20 patterns', aggregate({ type: 'or', children: many }, CORE, [])],
  [
    'tags of 20 patterns',
    aggregate(ALL, CORE, [
      { type: 'tagset', tags, order: { by: CORE, direction: 'desc' }, total: false },
    ]),
  ],
  ['distinct strings', aggregate(ALL, of('cardinality', 'custom.u'), [])],
  ['the first by count', aggregate(ALL, CORE, [top(CORE)])],
  ['the first by a quantile', aggregate(ALL, of('pc95'), [top(of('pc95'))])],
  [
    'the first by mean, by name',
    aggregate(ALL, of('avg'), [top(of('avg')), top({ type: 'natural' })]),
  ],
  ['time series', aggregate(ALL, of('pc95'), [top(CORE)], steps)],
];

const LIST: ListQuery = {
  fromMs: 0,
  toMs: ROWS,
  predicate: { type: 'or', children: many },
  order: 'desc',
  limit: 1_000,
  event: true,
  columns: [{ type: 'tag', tags }],
};

const LISTS: [string, ListQuery][] = [
  ['a list', LIST],
  ['a list further down', { ...LIST, predicate: ALL, columns: [], skip: 9_000 }],
  ['a list far down', { ...LIST, columns: [], skip: 30_000, order: 'asc' }],
];

const TAIL: TailQuery = {
  from: 0,
  to: 2 ** 48,
  receivedFromMs: Number.NEGATIVE_INFINITY,
  predicate: ALL,
  limit: 10_000,
  eventsMax: 500,
  charactersMax: Number.POSITIVE_INFINITY,
  event: true,
  columns: [],
};

const shelf = await stored(true);

/** Forgets what earlier queries found, and all that was opened for them. */
function forgetAll(): void {
  shelf.reader.forget(shelf.refs.map(({ segment }) => segment));
}

/** The most work of a unit. */
function mostOf(units: Generator<Progress, unknown>): number {
  let most = 0;
  forgetAll();
  for (;;) {
    worked = 0;
    const { done } = units.next();
    most = Math.max(most, worked);
    total += worked;
    if (done === true) return most;
  }
}

t.test('no unit looks at more than some thousand strings or buckets', async (t) => {
  const snapshot = { blocks: shelf.refs };
  t.equal(shelf.refs.length, 3);
  for (const [name, query] of AGGREGATES) {
    for (const limits of [{}, { cellsMax: 0, trialBytesMax: 0 }]) {
      const most = mostOf(aggregateUnits(shelf.reader, snapshot, query, limits));
      t.ok(most <= UNIT_MAX, `${name}: ${most}`);
    }
  }
  for (const [name, query] of LISTS) {
    const most = mostOf(listUnits(shelf.reader, snapshot, query));
    t.ok(most <= UNIT_MAX, `${name}: ${most}`);
  }
  const most = mostOf(tailUnits(shelf.reader, snapshot, TAIL));
  t.ok(most <= UNIT_MAX, `a tail: ${most}`);
  t.ok(total > 20 * VALUES, 'it is counted');
});

t.test('nothing is done of a query that was left in the middle of a block', async (t) => {
  const snapshot = { blocks: shelf.refs };
  const queries = AGGREGATES.map(([name, query]) => ({
    name,
    units: aggregateUnits(shelf.reader, snapshot, query) as Generator<Progress, unknown>,
  }));
  queries.push({ name: 'a list', units: listUnits(shelf.reader, snapshot, LIST) });
  for (const { name, units } of queries) {
    forgetAll();
    const first = units.next();
    const second = units.next();
    t.same([first.done, second.done], [false, false], name);
    worked = 0;
    units.return(undefined);
    t.same(units.next(), { value: undefined, done: true }, name);
    t.equal(worked, 0, name);
  }
});

/** The answer of a query whose blocks let go of what they hold, after each unit when `often`. */
function answerOf<T>({ reader, refs }: Shelf, units: Generator<Progress, T>, often: boolean): T {
  for (;;) {
    const step = units.next();
    if (step.done === true) return step.value;
    if (often) for (const ref of refs) reader.open(ref).rest(false);
  }
}

t.test('answers are the same when blocks let go of what they hold between units', async (t) => {
  for (const isSealed of [true, false]) {
    const held = await stored(isSealed);
    const { reader, refs } = held;
    const snapshot = { blocks: refs };
    const same = <T>(
      name: string,
      units: () => Generator<Progress, T>,
      part: (all: T) => unknown,
    ) => {
      const ask = (often: boolean): unknown => {
        reader.forget(refs.map(({ segment }) => segment));
        return part(answerOf(held, units(), often));
      };
      t.same(ask(true), ask(false), `${name}${isSealed ? '' : ', not sealed'}`);
    };
    const byNumber: GroupBy = {
      ...{ type: 'field', path: 'custom.k', limit: 10, total: false },
      order: { by: CORE, direction: 'desc' },
    };
    const queries: [string, AggregateQuery][] = [
      ...AGGREGATES,
      ['two levels of few values', aggregate(ALL, CORE, [top(CORE), byNumber])],
      ['a number', aggregate(ALL, of('avg', 'custom.n'), [byNumber])],
    ];
    for (const [name, query] of queries) {
      for (const limits of [{}, { cellsMax: 0, trialBytesMax: 0 }]) {
        const units = () => aggregateUnits(reader, snapshot, query, limits);
        same(name, units, ({ buckets }) => buckets);
      }
    }
    for (const [name, query] of LISTS) {
      const units = () => listUnits(reader, snapshot, query);
      same(name, units, ({ events }) => events);
    }
  }
});
