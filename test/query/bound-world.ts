import { listUnits } from '../../engine/query/events/list.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { EventIds } from '../../engine/query/model/event-id.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type {
  AggregateQuery,
  AggregateResult,
  Bound,
  GroupBy,
  ListQuery,
  ListResult,
} from '../../engine/query/model/query.ts';
import { naiveEvent, type TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { Model, type ModelEvent, type ModelPredicate } from '../support/model.ts';
import { Blocks, run } from './blocks.ts';

/** Of a shelf's reader. */
export const IDS = new EventIds(new Uint8Array(32));
/** The number of events. */
export const COUNT = { type: 'core' } as const;
/** Holds for all events. */
export const ALL: Predicate = { type: 'all' };
/** Holds for all events too, but is not known to. */
export const ANY: Predicate = {
  type: 'not',
  child: { type: 'words', words: [[{ literal: 'absent' }]] },
};
/** A list of everything. */
export const LIST: Pick<ListQuery, 'order' | 'limit' | 'event' | 'columns'> = {
  order: 'desc',
  limit: 100_000,
  event: true,
  columns: [],
};

/** Of times, `fromMs <= date < toMs`. */
export interface Range {
  fromMs: number;
  toMs: number;
}

/** A store in which rows are written, sealed and merged, and the model of it. */
export class World {
  readonly shelf = new Shelf();
  readonly model = new Model();
  readonly rows = new Map<ModelEvent, TestRow>();
  readonly #sequences = [100, 0, 2 ** 40];

  async write(rows: readonly TestRow[], writer: number): Promise<void> {
    const first = this.#sequences[writer];
    await this.shelf.add(rows, writer, first);
    this.#sequences[writer] += rows.length;
    for (const [index, row] of rows.entries()) {
      const sequence = first + index;
      const event = { timeMs: row.timeMs, writer, sequence, event: naiveEvent(row.leaves) };
      this.model.add(event);
      this.rows.set(event, row);
    }
  }

  /** Rows that are reached, newest first, and what is to be told of them. */
  reached(
    { fromMs, toMs }: Range,
    limit: number,
    visible = ALL,
  ): { events: ModelEvent[]; bound?: Bound } {
    const all = this.model.list({ ...LIST, fromMs, toMs, predicate: visible as ModelPredicate });
    if (all.length <= limit) return { events: all };
    const oldest = all[limit - 1];
    const { timeMs, writer, sequence } = oldest;
    const oldestId = IDS.encode({ timeMs, writer, sequence });
    return { events: all.slice(0, limit), bound: { limit, oldestMs: timeMs, oldestId } };
  }

  list(query: ListQuery, nearRows?: number): ListResult {
    const snapshot = { blocks: this.shelf.refs };
    return run(listUnits(this.shelf.reader, snapshot, query, undefined, nearRows));
  }

  aggregate(query: AggregateQuery): AggregateResult {
    return run(aggregateUnits(this.shelf.reader, { blocks: this.shelf.refs }, query));
  }
}

function same(found: unknown, wanted: unknown, what: string): void {
  const [left, right] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (left !== right) throw new Error(`${what}: ${left}, not ${right}`);
}

/** Events of a bounded list are those of the model, in either order. */
export function checkLists(
  world: World,
  range: Range,
  boundCount: number,
  filter: Predicate,
  visible: Predicate,
): void {
  const { events, bound } = world.reached(range, boundCount, visible);
  const texts = events
    .filter((event) => world.model.holds(event, filter as ModelPredicate))
    .map(({ event }) => event);
  for (const order of ['desc', 'asc'] as const) {
    const predicate = bothOf(visible, filter);
    const query = { ...LIST, ...range, predicate, order, boundCount, visible };
    const result = world.list(query);
    const found = result.events.map(({ event }) => event);
    same(found, order === 'desc' ? texts : texts.toReversed(), `list ${order}`);
    same(result.bound, bound, 'bound of a list');
    const skip = found.length >> 1;
    const far = world.list({ ...query, skip }, 0);
    same(far.events, result.events.slice(skip), `list ${order} from row ${skip}`);
  }
}

/** Aggregations are those of a store that has nothing but what is reached. */
export function checkAggregates(
  world: World,
  range: Range,
  boundCount: number,
  filters: readonly Predicate[],
  visible: Predicate,
  stepMs: number,
): void {
  const { events, bound } = world.reached(range, boundCount, visible);
  const blocks = new Blocks();
  for (const event of events)
    blocks.add([must(world.rows.get(event))], event.writer, event.sequence);
  const first = Math.floor(range.fromMs / stepMs) * stepMs;
  const boundaries = [first];
  while (must(boundaries.at(-1)) < range.toMs) boundaries.push(must(boundaries.at(-1)) + stepMs);
  const order = { by: COUNT, direction: 'desc' } as const;
  const groupings: GroupBy[][] = [
    [],
    [{ type: 'time', boundaries, total: true }],
    [{ type: 'field', path: 'custom.a', limit: 3, order, total: true }],
  ];
  for (const predicate of filters) {
    for (const groupBys of groupings) {
      const query: AggregateQuery = {
        ...{ ...range, predicate, groupBys },
        computes: [
          { type: 'metric', metric: COUNT },
          { type: 'timeseries', metric: COUNT, boundaries },
        ],
      };
      const asked = { ...query, predicate: bothOf(visible, predicate) };
      const found = world.aggregate({ ...asked, boundCount, visible });
      const wanted = run(aggregateUnits(blocks, { blocks: blocks.refs }, query));
      const what = `${predicate.type} by ${groupBys[0]?.type}`;
      same([found.buckets, found.more], [wanted.buckets, wanted.more], what);
      same(found.bound, bound, 'bound of an aggregation');
    }
  }
}

function bothOf(visible: Predicate, filter: Predicate): Predicate {
  return visible.type === 'all' ? filter : { type: 'and', children: [visible, filter] };
}

/** `value`, which is there. */
export function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it is there');
  return value;
}

/** An event of a time with a message. */
export function rowAt(timeMs: number, text = 'x'): TestRow {
  return { timeMs, leaves: [{ names: ['message'], kind: 'string', text }] };
}
