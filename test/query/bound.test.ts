import fc from 'fast-check';
import t from 'tap';
import { listUnits, pageUnits } from '../../engine/query/events/list.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type {
  AggregateQuery,
  AggregateResult,
  ListResult,
  PageQuery,
} from '../../engine/query/model/query.ts';
import { pathOfSegment } from '../../engine/store/filename.ts';
import { Shelf } from '../segment/shelf.ts';
import { compareModel } from '../support/model.ts';
import { Blocks, run } from './blocks.ts';
import {
  ALL,
  ANY,
  COUNT,
  checkAggregates,
  checkLists,
  IDS,
  LIST,
  must,
  rowAt,
  World,
} from './bound-world.ts';
import { predicate, testRow } from './events.ts';

const written = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 2 }), fc.array(testRow, { minLength: 1, maxLength: 15 })),
  { minLength: 1, maxLength: 8 },
);

t.test('reached are exactly the newest events, sealed and merged or not', async () => {
  await fc.assert(
    fc.asyncProperty(
      written,
      fc.integer({ min: 1, max: 90 }),
      fc.tuple(fc.integer({ min: -1, max: 12 }), fc.integer({ min: -1, max: 13 })),
      fc.constantFrom(1, 7_000, 60_000, 3_600_000),
      fc.tuple(fc.nat(8), fc.nat(8)),
      fc.tuple(predicate, fc.oneof(fc.constant(ALL), fc.constant(ANY), predicate)),
      async (written, boundCount, [one, other], scale, [sealed, merged], [asked, security]) => {
        const world = new World();
        for (const [writer, rows] of written) {
          const scaled = rows.map((row) => ({ ...row, timeMs: row.timeMs * scale }));
          await world.write(scaled, writer);
        }
        const { shelf } = world;
        const range = { fromMs: Math.min(one, other) * scale, toMs: Math.max(one, other) * scale };
        const [filter, visible] = [asked as Predicate, security as Predicate];
        const check = (): void => {
          checkLists(world, range, boundCount, filter, visible);
          const filters = [ALL, ANY, filter];
          const stepMs = scale === 1 ? 5 : scale * 2;
          checkAggregates(world, range, boundCount, filters, visible, stepMs);
        };
        check();
        if (sealed > 0) await shelf.seal(shelf.refs.slice(0, sealed), 25);
        check();
        if (merged > 0) await shelf.seal(shelf.refs.slice(-merged));
        check();
      },
    ),
    { numRuns: 40 },
  );
});

t.test('among thousands of events of one time the order of events decides', async (t) => {
  const world = new World();
  for (let block = 0; block < 6; block++) {
    const rows = Array.from({ length: 2_000 }, (_, row) => rowAt(row % 500 === 0 ? 3 : 5));
    await world.write(rows, block % 3);
  }
  for (const isSealed of [false, true]) {
    if (isSealed) await world.shelf.seal(world.shelf.refs, 4_000);
    for (const boundCount of [1, 3_999, 4_000, 4_001, 7_777, 11_976, 11_977, 11_999, 12_000]) {
      const { bound } = world.reached({ fromMs: 0, toMs: 10 }, boundCount);
      const query = { ...LIST, fromMs: 0, toMs: 10, predicate: ALL, event: false, boundCount };
      const found = world.list({ ...query, order: 'asc', limit: 1 });
      t.same(found.bound, bound);
      if (bound !== undefined) t.equal(found.events[0].id, bound.oldestId);
      const computes = [{ type: 'metric' as const, metric: COUNT }];
      const counted = world.aggregate({ ...query, computes, groupBys: [] });
      t.match(counted, { buckets: [{ values: [boundCount] }] });
    }
  }
});

t.test('only blocks at the oldest event are opened for it', async (t) => {
  const blocks = new Blocks();
  for (let block = 0; block < 50; block++) {
    const rows = Array.from({ length: 20 }, (_, row) => rowAt(block * 1_000_000 + row * 7_000));
    blocks.add(rows, block % 2, block * 20);
  }
  const opened = new Set<number>();
  const source = {
    secret: blocks.secret,
    ids: blocks.ids,
    open: (ref: Blocks['refs'][number]) => {
      opened.add(ref.ordinal);
      return blocks.open(ref);
    },
  };
  const query: AggregateQuery = {
    ...{ fromMs: 0, toMs: 1e9, predicate: ALL, groupBys: [] },
    computes: [{ type: 'metric', metric: COUNT }],
  };
  const ask = (boundCount: number): AggregateResult => {
    opened.clear();
    return run(aggregateUnits(source, { blocks: blocks.refs }, { ...query, boundCount }));
  };
  t.match(ask(505), {
    buckets: [{ values: [505] }],
    bound: { limit: 505, oldestMs: 24_000_000 + 15 * 7_000 },
  });
  t.same([...opened], [25]);
  t.match(ask(1_000), { buckets: [{ values: [1_000] }], bound: undefined });
  t.equal(opened.size, 0);
});

t.test('of sealed segments one block is opened, the minutes tell the rest', async (t) => {
  const shelf = new Shelf();
  for (let part = 0; part < 5; part++) {
    const rows = Array.from({ length: 30_000 }, (_, n) => rowAt((part * 30_000 + n) * 300));
    await shelf.add(rows, 0, part * 30_000);
  }
  const { segments } = await shelf.seal(shelf.refs);
  t.match(segments, [{ blocks: { length: 3 } }]);
  const opened = new Set<number>();
  const source = {
    secret: shelf.reader.secret,
    ids: shelf.reader.ids,
    footer: (ref: Shelf['refs'][number]) => shelf.reader.footer(ref),
    open: (ref: Shelf['refs'][number]) => {
      opened.add(ref.ordinal);
      return shelf.reader.open(ref);
    },
  };
  const query: AggregateQuery = {
    ...{ fromMs: 0, toMs: 1e9, predicate: ALL, groupBys: [], boundCount: 100_003 },
    computes: [{ type: 'metric', metric: COUNT }],
  };
  const result = run(aggregateUnits(source, { blocks: shelf.refs }, query));
  t.match(result, { buckets: [{ values: [100_003] }], bound: { oldestMs: 49_997 * 300 } });
  t.equal(opened.size, 1);
});

/** The events of all pages of a list; before each but the first something may come. */
async function pagesOf(
  ask: (after: string | undefined) => ListResult,
  between: () => Promise<void>,
): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const { events } = ask(ids.at(-1));
    if (events.length === 0) return ids;
    ids.push(...events.map(({ id }) => id));
    await between();
  }
}

t.test(
  'the pages of a list have exactly so many events, whatever comes beside the range',
  async (t) => {
    const world = new World();
    for (let block = 0; block < 6; block++) {
      await world.write(
        Array.from({ length: 30 }, (_, row) => rowAt((row * 7 + block) % 40)),
        block % 3,
      );
    }
    const range = { fromMs: 0, toMs: 40 };
    const { events } = world.reached(range, 100);
    for (const order of ['desc', 'asc'] as const) {
      const query = { ...LIST, ...range, predicate: ALL, order, limit: 7, boundCount: 100 };
      const ids = await pagesOf(
        (after) => world.list(after === undefined ? query : { ...query, after }),
        () => world.write([rowAt(40), rowAt(-1), rowAt(99)], 0),
      );
      const keys = events.map(({ timeMs, writer, sequence }) =>
        IDS.encode({ timeMs, writer, sequence }),
      );
      t.same(ids, order === 'desc' ? keys : keys.toReversed());
    }
  },
);

t.test(
  'each request has a bound of its own: newer events take the place of older ones',
  async (t) => {
    const world = new World();
    await world.write(
      Array.from({ length: 50 }, (_, row) => rowAt(row)),
      0,
    );
    const query = { ...LIST, fromMs: 0, toMs: 100, predicate: ALL, limit: 10, boundCount: 20 };
    const first = world.list(query);
    t.equal(first.bound?.oldestMs, 30);
    await world.write([rowAt(60), rowAt(61), rowAt(62)], 1);
    const second = world.list({ ...query, after: must(first.events.at(-1)).id });
    t.equal(second.bound?.oldestMs, 33);
    t.same(
      second.events.map(({ timeMs }) => timeMs),
      [39, 38, 37, 36, 35, 34, 33],
    );
  },
);

t.test('pages that are told how far the first one reached all reach as far', async (t) => {
  const world = new World();
  await world.write(
    Array.from({ length: 50 }, (_, row) => rowAt(row >> 2)),
    1,
  );
  const base = { ...LIST, fromMs: 0, toMs: 100, predicate: ALL, limit: 4, boundCount: 18 };
  const query: PageQuery = { ...base, textMax: 1, blocksMax: 1 };
  const wanted = world.reached(base, 18).events.map(({ event }) => event);
  const found: (string | undefined)[] = [];
  let after: string | undefined;
  let oldestId: string | undefined;
  for (;;) {
    const told = {
      ...(after === undefined ? {} : { after }),
      ...(oldestId === undefined ? {} : { oldestId }),
    };
    const page = run(
      pageUnits(world.shelf.reader, { blocks: world.shelf.refs }, { ...query, ...told }),
    );
    found.push(...page.events.map(({ event }) => event));
    oldestId ??= must(page.bound).oldestId;
    after = page.resume;
    if (after === undefined) break;
    await world.write([rowAt(20)], 0);
    await world.write([rowAt(8, 'late')], 0);
  }
  const isLate = (event: string | undefined): boolean => event?.includes('late') === true;
  t.same(
    found.filter((event) => !isLate(event)),
    wanted,
  );
  t.throws(
    () => run(pageUnits(world.shelf.reader, { blocks: [] }, { ...query, oldestId: 'no id' })),
    { code: 'USAGE' },
  );
});

t.test('the rows of a damaged block count as stored', async (t) => {
  for (const [damaged, boundCount, times, oldestMs] of [
    [2, 15, [15, 16, 17, 18, 19], 15],
    [1, 15, [20, 21, 22, 23, 24, 25, 26, 27, 28, 29], 19],
    [0, 25, [10, 11, 12, 13], 9],
  ] as const) {
    const blocks = new Blocks();
    for (let block = 0; block < 3; block++) {
      blocks.add(
        Array.from({ length: 10 }, (_, row) => rowAt(block * 10 + row)),
        block,
        0,
      );
    }
    blocks.bytes(blocks.refs[damaged]).fill(0xff, 64);
    const query = {
      ...LIST,
      fromMs: 0,
      toMs: 100,
      predicate: ALL,
      order: 'asc' as const,
      boundCount,
    };
    const found = run(listUnits(blocks, { blocks: blocks.refs }, query));
    t.same(found.events.map(({ timeMs }) => timeMs).slice(0, times.length), times);
    t.match(found, { stats: { blocksDamaged: 1 }, bound: { limit: boundCount, oldestMs } });
  }
});

t.test('a damaged footer leaves the bound exact', async (t) => {
  const world = new World();
  await world.write(
    Array.from({ length: 500 }, (_, row) => rowAt(row * 1_000)),
    0,
  );
  await world.shelf.seal(world.shelf.refs);
  const [{ segment }] = world.shelf.refs;
  world.shelf.disk.damage(pathOfSegment(true, segment), (bytes) =>
    bytes.fill(7, bytes.length - 32),
  );
  const query = { ...LIST, fromMs: 0, toMs: 1e6, predicate: ALL, boundCount: 123 };
  const { events, bound } = world.list(query);
  t.equal(events.length, 123);
  t.equal(bound?.oldestMs, 377_000);
});

t.test('the oldest id is that of an event', async (t) => {
  const world = new World();
  await world.write([rowAt(1), rowAt(1), rowAt(1)], 2);
  const query = { ...LIST, fromMs: 0, toMs: 9, predicate: ALL, boundCount: 2 };
  const { bound } = world.list(query);
  const key = must(IDS.decode(must(bound).oldestId));
  t.equal(compareModel(key, { timeMs: 1, writer: 2, sequence: 2 ** 40 + 1 }), 0);
});
