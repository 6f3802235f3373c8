import t from 'tap';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { type KernelForm, useKernels } from '../../engine/kernel/kernel.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { facetsUnits } from '../../engine/query/group/facets.ts';
import type { AggregateLimits } from '../../engine/query/model/aggregate-limits.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { AggregateQuery, GroupBy, Metric } from '../../engine/query/model/query.ts';
import { Reader } from '../../engine/query/reader.ts';
import { addRow, type TestLeaf } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { run } from './blocks.ts';

/** Aggregations of segments of several blocks give the same answers with kernels, checked, and without. */

const ROWS = 15_000;
const LOGS = 5;

let state = 7;

/** A whole number below `below`, small ones more often. */
function next(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) ** 2 * below);
}

function leavesOf(row: number): TestLeaf[] {
  const text = (name: string, value: string): TestLeaf => ({
    ...{ kind: 'string', text: value, names: ['custom', name] },
  });
  const number = (name: string, value: string): TestLeaf => ({
    ...{ kind: 'number', text: value, names: ['custom', name] },
  });
  const leaves = [
    text('host', `host-${next(row < 2 * ROWS ? 40 : 60)}`),
    text('verb', ['GET', 'POST', 'PUT'][next(3)]),
    text('url', `/${next(9_000)}`),
    number('status', String(200 + next(300))),
    number('ms', String(next(3_000))),
    number('size', String(next(2 ** 28))),
    number('load', (next(1_000) / 10).toFixed(1)),
    number('signed', String(next(50) - 20)),
  ];
  if (row % 3 > 0) leaves.push(text('team', `team ${next(9)}`));
  if (row % 40 === 0) leaves.push(number('rare', String(next(99))));
  return leaves;
}

const shelf = new Shelf();
for (let log = 0; log < LOGS; log++) {
  const paths = new PathTable();
  const records = new Rows();
  records.reset(new Uint8Array(0), 1_000_000);
  for (let at = 0; at < ROWS; at++) {
    const row = log * ROWS + at;
    addRow(records, paths, { timeMs: row, leaves: leavesOf(row) });
  }
  await shelf.addRecords(records, paths, 0, log * ROWS);
}
await shelf.seal(shelf.refs);
const snapshot = { blocks: shelf.refs };

const field = (name: string, limit: number, total = false): GroupBy => ({
  ...{ type: 'field', path: `custom.${name}`, limit, total },
  order: { by: { type: 'core' }, direction: 'desc' },
});
const boundaries = (step: number): number[] =>
  Array.from({ length: (LOGS * ROWS) / step + 1 }, (_, at) => at * step);
const time = (step: number): GroupBy => ({
  ...{ type: 'time', boundaries: boundaries(step), total: false },
});
const metrics = (name: string, ...aggregations: string[]): AggregateQuery['computes'] =>
  aggregations.map((aggregation) => {
    const metric = { type: 'attribute', path: `custom.${name}`, aggregation } as Metric;
    return { type: 'metric', metric };
  });
const count: AggregateQuery['computes'] = [{ type: 'metric', metric: { type: 'core' } }];

const SUMS = ['sum', 'avg', 'min', 'max', 'count'];
const QUERIES: Pick<AggregateQuery, 'computes' | 'groupBys'>[] = [
  { computes: count, groupBys: [field('status', 10), field('verb', 4), field('host', 25)] },
  { computes: count, groupBys: [time(1_000)] },
  { computes: count, groupBys: [time(10_000), field('team', 5)] },
  { computes: count, groupBys: [field('host', 5), time(20_000), field('rare', 3)] },
  { computes: count, groupBys: [field('host', 5), field('verb', 2), field('url', 10)] },
  { computes: metrics('size', ...SUMS), groupBys: [time(30_000), field('host', 50)] },
  { computes: metrics('load', ...SUMS), groupBys: [field('status', 9), field('team', 5)] },
  { computes: metrics('signed', ...SUMS), groupBys: [field('verb', 3), field('host', 4, true)] },
  { computes: metrics('rare', ...SUMS), groupBys: [field('verb', 3)] },
  { computes: metrics('ms', 'avg', 'pc95', 'min', 'max'), groupBys: [time(700)] },
  { computes: metrics('rare', 'median', 'sum'), groupBys: [time(5_000)] },
  { computes: metrics('ms', 'pc99', 'avg'), groupBys: [field('host', 9)] },
  { computes: metrics('url', 'cardinality'), groupBys: [time(50_000), field('verb', 3)] },
  { computes: [...count, ...metrics('ms', 'sum')], groupBys: [field('missing', 3)] },
];

const value = (name: string, text: string): Predicate => ({
  ...{ type: 'value', paths: [`custom.${name}`], match: { type: 'text', text } },
});
const SELECTIONS = [
  { fromMs: 0, toMs: LOGS * ROWS, predicate: { type: 'all' } as Predicate },
  { fromMs: 0, toMs: LOGS * ROWS, predicate: value('status', '201') },
  { fromMs: 12_345, toMs: 70_001, predicate: value('verb', 'POST') },
];
const LIMITS: Partial<AggregateLimits>[] = [{}, { cellsMax: 0 }, { cellsMax: 0, trialBytesMax: 0 }];

/** Answers of a new reader with kernels of a form. */
function answered<T>(
  form: KernelForm,
  ask: (reader: Reader) => T,
  selectedBytesMax?: number,
): string {
  useKernels(form);
  const memory = selectedBytesMax === undefined ? {} : { selectedBytesMax };
  const reader = new Reader(shelf.disk, new Uint8Array(32), memory);
  try {
    // Asked twice, for what is kept from one question to the next.
    ask(reader);
    return JSON.stringify(ask(reader));
  } finally {
    reader.close();
  }
}

t.test('segments of several blocks are aggregated alike by kernels and without', async (t) => {
  t.ok(shelf.refs.length > 1 && shelf.refs.every(({ sealed }) => sealed));
  for (const selection of SELECTIONS) {
    for (const query of QUERIES) {
      for (const limits of LIMITS) {
        const ask = (reader: Reader) => {
          const { buckets, more, ways } = run(
            aggregateUnits(reader, snapshot, { ...selection, ...query }, limits),
          );
          return { buckets, more, ways };
        };
        const [found, wanted] = [answered('checked', ask), answered('off', ask)];
        t.equal(found, wanted, JSON.stringify(query.groupBys.map(({ type }) => type)));
      }
    }
  }
});

t.test('steps of time count stored values as they count the rows that have them', async (t) => {
  const asked = { fromMs: 10, toMs: LOGS * ROWS, computes: count, groupBys: [time(700)] };
  const known = [value('status', '201'), value('status', '999'), value('verb', 'POST')];
  const others = [
    value('host', 'host-3'),
    value('team', 'team 3'),
    value('rare', '5'),
    value('signed', '-7'),
  ];
  for (const predicate of [...known, ...others]) {
    const answer = (form: KernelForm, selectedBytesMax: number, cellsMax?: number): string =>
      answered(
        form,
        (reader) => {
          const limits = cellsMax === undefined ? {} : { cellsMax };
          return run(aggregateUnits(reader, snapshot, { ...asked, predicate }, limits)).buckets;
        },
        selectedBytesMax,
      );
    const wanted = answer('off', 2 ** 20, 0);
    for (const form of ['checked', 'off'] as const)
      t.equal(answer(form, 0), wanted, JSON.stringify(predicate));
  }
});

t.test('facets of a selection are the same by kernels and without', async (t) => {
  const paths = ['host', 'verb', 'status', 'team', 'rare'].map((name) => `custom.${name}`);
  for (const selection of SELECTIONS) {
    const ask = (reader: Reader) =>
      run(facetsUnits(reader, snapshot, { ...selection, paths, limit: 9 })).facets;
    t.equal(answered('checked', ask), answered('off', ask));
  }
});
