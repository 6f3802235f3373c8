import t from 'tap';
import { finished, type Units } from '../../engine/base/pause.ts';
import { growInUnits } from '../../engine/packed/growth.ts';
import { encodeText } from '../../engine/query/filter/text.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { Cardinalities } from '../../engine/query/metric/cardinality.ts';
import { Quantiles } from '../../engine/query/metric/quantile.ts';
import type { AggregateQuery, Compute, GroupBy, Metric } from '../../engine/query/model/query.ts';
import { TupleTable } from '../../engine/query/value/tuple-table.ts';
import { ValueHash } from '../../engine/query/value/value-hash.ts';
import { ValueTable } from '../../engine/query/value/value-table.ts';
import type { TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';

const ROWS = 48_000;
/** Slots of a table that a unit may move, and the least memory that one takes. */
const UNIT_SLOTS = 16_384;
const SLOT_BYTES = 4;
/** Bytes of tables that a unit may move or copy: a part of a large one, or some small ones. */
const UNIT_BYTES_MAX = 2 ** 21;
/** Groups that a piece of work adds. */
const PIECE = 4_096;
const GROUPS = 1_000;

let movedBytes = 0;
let totalBytes = 0;

function moved(bytes: number): void {
  movedBytes += bytes;
  totalBytes += bytes;
}

/** Counts the bytes of a table that grows while something is added to it, all at once. */
function countMoves<Name extends string>(
  prototype: Record<Name, (...values: never[]) => unknown> & { readonly memoryBytes: number },
  name: Name,
): void {
  const method: (...values: never[]) => unknown = prototype[name];
  Object.defineProperty(prototype, name, {
    value(this: { readonly memoryBytes: number }, ...values: never[]): unknown {
      const before = this.memoryBytes;
      const result = method.apply(this, values);
      // What was there is as much as what came: it doubled.
      moved(this.memoryBytes - before);
      return result;
    },
  });
}

countMoves(Cardinalities.prototype, 'add');
countMoves(Quantiles.prototype, 'add');
countMoves(TupleTable.prototype, 'add');
countMoves(ValueTable.prototype, 'string');

/** Counts the bytes that are copied from one array to another. */
function countCopies(Type: {
  prototype: { set: (from: Float64Array, at?: number) => void };
}): void {
  const { set } = Type.prototype;
  Object.defineProperty(Type.prototype, 'set', {
    value(this: Float64Array, from: Float64Array, at?: number): void {
      moved(from.byteLength ?? 0);
      set.call(this, from, at);
    },
  });
}

countCopies(Object.getPrototypeOf(Float64Array));

/** Sealed blocks of rows that each have values of their own. */
async function distinct(): Promise<Shelf> {
  const shelf = new Shelf();
  const rows: TestRow[] = Array.from({ length: ROWS }, (_, index) => ({
    timeMs: index,
    leaves: [
      { kind: 'number', text: String(1.001 ** (index % 30_000)), names: ['custom', 'k'] },
      { kind: 'string', text: `value-${index}`, names: ['custom', 'u'] },
    ],
  }));
  for (let part = 0; part < 3; part++) {
    await shelf.add(rows.slice((part * ROWS) / 3, ((part + 1) * ROWS) / 3), part, 0);
  }
  await shelf.seal(shelf.refs, ROWS);
  return shelf;
}

const CORE: Metric = { type: 'core' };
const PC95: Metric = { type: 'attribute', path: 'custom.k', aggregation: 'pc95' };
const DISTINCT: Metric = { type: 'attribute', path: 'custom.u', aggregation: 'cardinality' };

function aggregate(metric: Metric, by: Metric | { type: 'natural' }): AggregateQuery {
  const computes: Compute[] = [{ type: 'metric', metric }];
  const order = { by, direction: 'desc' } as const;
  const groupBy: GroupBy = { type: 'field', path: 'custom.u', limit: 10, order, total: false };
  return { fromMs: 0, toMs: ROWS, predicate: { type: 'all' }, computes, groupBys: [groupBy] };
}

t.test('no unit of a query moves or copies more than a part of a large table', async (t) => {
  const shelf = await distinct();
  const snapshot = { blocks: shelf.refs };
  const queries: [string, AggregateQuery][] = [
    ['by name', aggregate(CORE, { type: 'natural' })],
    ['by a quantile', aggregate(PC95, PC95)],
    ['by distinct strings', aggregate(CORE, DISTINCT)],
  ];
  for (const [name, query] of queries) {
    const units = aggregateUnits(shelf.reader, snapshot, query, { cellsMax: 0 });
    let most = 0;
    for (let done: boolean | undefined = false; done !== true; ) {
      movedBytes = 0;
      done = units.next().done;
      most = Math.max(most, movedBytes);
    }
    t.ok(most <= UNIT_BYTES_MAX, `${name}: ${most}`);
  }
  t.ok(totalBytes > UNIT_BYTES_MAX * 4, 'it is counted');
});

/** How many units there are. */
function countUnits(units: Units<unknown>): number {
  let count = 1;
  while (units.next().done !== true) count++;
  return count;
}

interface Table {
  table: { readonly memoryBytes: number };
  reserve: (count: number) => Units<void>;
  add: (number: number) => void;
}

function cardinalities(): Table {
  const table = new Cardinalities();
  const hash = new ValueHash(new Uint8Array(32).fill(7));
  const add = (number: number): void => {
    hash.decimal(number, 0);
    table.add(number % GROUPS, hash.low, hash.high);
  };
  finished(table.reserve(GROUPS, 0));
  return { table, reserve: (count) => table.reserve(GROUPS, count), add };
}

/** Groups of so many values, which are kept as they are or counted by their codes. */
function quantilesOf(valueCount: number): Table {
  const table = new Quantiles();
  let added = 0;
  const add = (number: number): void => {
    added++;
    table.add(Math.floor(number / valueCount), 1.01 ** (number % valueCount));
  };
  const reserve = (count: number) =>
    table.reserve(Math.floor((added + count) / valueCount) + 1, count);
  return { table, reserve, add };
}

function fewQuantiles(): Table {
  return quantilesOf(8);
}

function quantiles(): Table {
  return quantilesOf(400);
}

function tuples(): Table {
  const table = new TupleTable();
  const add = (number: number): void => {
    table.add(1 + (number >> 8), number & 255);
  };
  return { table, reserve: (count) => table.reserve(count, 256), add };
}

function values(): Table {
  const table = new ValueTable(1);
  const add = (number: number): void => {
    const bytes = encodeText(`some value ${number}`);
    table.string(bytes, 0, bytes.length);
  };
  return { table, reserve: (count) => table.reserve(count), add };
}

t.test('where room was made nothing is moved, and making it takes a unit a part', async (t) => {
  for (const make of [cardinalities, fewQuantiles, quantiles, tuples, values]) {
    const { table, reserve, add } = make();
    let added = 0;
    let grownCount = 0;
    for (; added < 20_000; added++) add(added);
    for (let piece = 0; piece < 40; piece++) {
      const before = table.memoryBytes;
      const unitCount = countUnits(reserve(PIECE));
      const { memoryBytes } = table;
      if (memoryBytes > before * 1.4) {
        grownCount++;
        t.ok(unitCount > 1, `${make.name}: ${unitCount} units for ${before} bytes`);
      }
      const unitsMax = 8 + memoryBytes / SLOT_BYTES / UNIT_SLOTS;
      t.ok(unitCount <= unitsMax, `${make.name}: ${unitCount} units`);
      for (const end = added + PIECE; added < end; added++) add(added);
      t.equal(table.memoryBytes, memoryBytes, make.name);
    }
    t.ok(grownCount >= 2, `${make.name} grew ${grownCount} times`);
  }
});

t.test('a table that was left while room was made in it is what it was', async (t) => {
  const table = new Quantiles();
  for (let value = 0; value < 20_000; value++) table.add(value % 50, 1.01 ** (value / 50));
  const before = table.memoryBytes;
  const units = table.reserve(50, 1_000_000);
  t.equal(units.next().done, false);
  units.return();
  t.equal(table.memoryBytes, before);
  const kept = table.at(0, 50);
  finished(table.reserve(50, 1_000_000));
  t.ok(table.memoryBytes > before);
  t.equal(table.at(0, 50), kept);
});

t.test('an array that grows in units is what it would be at once', async (t) => {
  const array = Float64Array.from({ length: 300_000 }, (_, index) => index);
  t.ok(countUnits(growInUnits(array, 500_000)) > 2);
  const grown = finished(growInUnits(array, 700_000, Number.POSITIVE_INFINITY));
  t.equal(grown.length, 700_000);
  t.ok(array.every((value, index) => grown[index] === value));
  t.ok(grown.subarray(array.length).every((value) => value === Number.POSITIVE_INFINITY));
});
