import fc from 'fast-check';
import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { finished, type Units } from '../../engine/base/pause.ts';
import { encodeText } from '../../engine/query/filter/text.ts';
import type { MeasuredHead } from '../../engine/query/group/entry/entry-measures.ts';
import { firstMeasured, type Measure } from '../../engine/query/group/entry/top-measures.ts';
import {
  keyOf,
  NO_KEY,
  type PartedOrder,
  partedOrder,
} from '../../engine/query/metric/group-keys.ts';
import type { MetricTableData } from '../../engine/query/metric/metric-table.ts';
import type { Aggregation, BucketOrder, SimpleMetric } from '../../engine/query/model/query.ts';
import { telling } from '../../engine/query/model/units.ts';
import { KIND_BITS } from '../../engine/query/value/value-numbers.ts';
import { ValueTable } from '../../engine/query/value/value-table.ts';

/** Events: the text of each, by its number, and its number, which it may lack. */
type Event = [text: number, number: number | undefined];

interface World {
  parts: Event[][];
  /** Texts whose numbers are equal by it have one hash. */
  hashes: number;
  heads: number;
  limit: number;
  candidates: number;
}

const SECRET = new Uint8Array(8);
const NONE = new Float64Array(0);
const NOWHERE = { unitsDone: 0, unitsTotal: 0 };
const CORE: SimpleMetric = { type: 'core' };
const ORDERS: [Aggregation, BucketOrder['direction']][] = [
  ...(['sum', 'avg', 'min', 'max'] as const).flatMap(
    (one): [Aggregation, BucketOrder['direction']][] => [
      [one, 'desc'],
      [one, 'asc'],
    ],
  ),
  ['count', 'desc'],
];

/** A value as it is compared. */
interface Ranked {
  text: string;
  rank: number;
  count: number;
}

const numbersOf = (events: readonly Event[]): number[] =>
  events.flatMap(([, number]) => number ?? []);
const textOf = (text: number): string => `text ${text}`;
const hashOf = (text: number, { hashes }: World): number => (text % hashes) << KIND_BITS;

/** A head of the events of a part: the entries with the greatest keys, or all of those that `isWanted`. */
function headOf(
  events: readonly Event[],
  world: World,
  order: PartedOrder,
  isWanted?: (text: number) => boolean,
): MeasuredHead {
  const chosen = events.filter(([text]) => isWanted?.(text) ?? true);
  const keyed = Map.groupBy(chosen, ([text]) => text)
    .entries()
    .map(([text, own]) => {
      const value = totalOf(numbersOf(own), order.aggregation);
      return { text, key: keyOf(order, value) };
    })
    .filter(({ key }) => isWanted !== undefined || key > NO_KEY)
    .toArray()
    .sort((left, right) => right.key - left.key);
  const kept = isWanted === undefined ? keyed.slice(0, world.heads) : keyed;
  const places = new Map(kept.map(({ text }, place) => [text, place]));
  const hasSums = order.aggregation === 'sum' || order.aggregation === 'avg';
  const inHead = chosen.filter(([text]) => places.has(text));
  return {
    table: tableOf(inHead, kept.length, (text) => places.get(text) ?? 0, hasSums),
    hashes: Int32Array.from(kept, ({ text }) => hashOf(text, world)),
    keys: Float64Array.from(kept, ({ key }) => key),
    tail: keyed[kept.length]?.key ?? NO_KEY,
    isKeyed: numbersOf(chosen).length === chosen.length,
    *numbersIn(table: ValueTable, wanted: Uint32Array): Units<Int32Array> {
      yield;
      return Int32Array.from(wanted, (place) => {
        const bytes = encodeText(textOf(kept[place].text));
        return table.string(bytes, 0, bytes.length);
      });
    },
  };
}

/** The data of a table of metrics for events, whose groups are those of their texts. */
function tableOf(
  events: readonly Event[],
  groupCount: number,
  groupOf: (text: number) => number,
  hasSums: boolean,
): MetricTableData {
  const zeros = (): Float64Array<ArrayBuffer> => new Float64Array(groupCount);
  const [eventCounts, counts, totals] = [zeros(), zeros(), zeros()];
  const mins = zeros().fill(Number.POSITIVE_INFINITY);
  const maxs = zeros().fill(Number.NEGATIVE_INFINITY);
  for (const [text, number] of events) {
    const group = groupOf(text);
    eventCounts[group]++;
    if (number === undefined) continue;
    counts[group]++;
    totals[group] += number;
    mins[group] = Math.min(mins[group], number);
    maxs[group] = Math.max(maxs[group], number);
  }
  const sums = { groupCount, totals: [totals], large: new Map(), doubles: NONE };
  const summary = {
    ...{ groupCount, counts, numberCounts: counts.slice(), mins, maxs },
    longBounds: { mins: new Map(), maxs: new Map() },
    sums: hasSums ? { ...sums, compensations: NONE } : undefined,
    quantiles: undefined,
    cardinalities: undefined,
  };
  return { eventCounts, summaries: new Map([['custom.n', summary]]) };
}

function totalOf(numbers: readonly number[], aggregation: Aggregation): number | null {
  if (numbers.length === 0) return null;
  const sum = numbers.reduce((one, other) => one + other, 0);
  if (aggregation === 'sum') return sum;
  if (aggregation === 'avg') return sum / numbers.length;
  if (aggregation === 'count') return numbers.length;
  return aggregation === 'min' ? Math.min(...numbers) : Math.max(...numbers);
}

t.test(
  'the first by a metric are those of all, whatever heads tell and hashes collide',
  async (t) => {
    const eventsOf = (least: number): fc.Arbitrary<Event[][]> => {
      const number = fc.integer({ min: least, max: 60 });
      const event = fc.tuple(fc.nat({ max: 30 }), fc.option(number, { nil: undefined, freq: 9 }));
      const part = fc.array(event, { minLength: 1, maxLength: 60 });
      return fc.array(part, { minLength: 1, maxLength: 4 });
    };
    const world = fc.record({
      parts: fc.oneof(eventsOf(-20), eventsOf(0)),
      hashes: fc.constantFrom(5, 17, 1_000),
      heads: fc.integer({ min: 1, max: 12 }),
      limit: fc.integer({ min: 1, max: 6 }),
      candidates: fc.integer({ min: 1, max: 12 }),
    });
    const told = { atOnce: 0, again: 0 };
    fc.assert(
      fc.property(world, fc.constantFrom(...ORDERS), (world, [aggregation, direction]) => {
        const by: SimpleMetric = { type: 'attribute', path: 'custom.n', aggregation };
        const order = must(partedOrder({ by, direction }), 'an order by parts');
        let scans = 0;
        const measure: Measure = function* (_, part) {
          yield NOWHERE;
          scans++;
          const isWanted =
            part && ((text: number) => part.hashes?.has(hashOf(text, world)) === true);
          return world.parts.map((one) => headOf(one, world, order, isWanted));
        };
        const table = new ValueTable(1);
        const { limit, candidates } = world;
        const task = { order, by, others: [CORE], limit, candidates, secret: SECRET };
        const tell = <T>(units: Units<T>) => telling(() => NOWHERE, units);
        const found = finished(firstMeasured(task, measure, table, tell));
        if (typeof found === 'string') return;
        told[scans === 1 ? 'atOnce' : 'again']++;
        const first = (ranked: Ranked[]): Ranked[] =>
          ranked
            .sort((a, b) => order.sign * (b.rank - a.rank) || (a.text < b.text ? -1 : 1))
            .slice(0, limit);
        const byText = Map.groupBy(world.parts.flat(), ([text]) => text);
        const wanted = [...byText].flatMap(([text, own]): Ranked[] => {
          const rank = totalOf(numbersOf(own), aggregation);
          if (rank === null) return [];
          return [{ text: textOf(text), rank, count: found.areAll ? own.length : 0 }];
        });
        const given = found.values.flatMap(({ value, rank, metricOf }): Ranked[] => {
          const key = table.key(value);
          if (key.type !== 'string' || rank === null) return [];
          const count = found.areAll ? Number(metricOf(CORE)) : 0;
          return [{ text: key.text, rank: Number(rank), count }];
        });
        const [is, be] = [JSON.stringify(first(given)), JSON.stringify(first(wanted))];
        if (is !== be) throw new Error(`${is} in place of ${be}`);
      }),
      { numRuns: 3_000 },
    );
    t.ok(told.atOnce > 300, `${told.atOnce} by heads`);
    t.ok(told.again > 300, `${told.again} by another scan`);
  },
);
