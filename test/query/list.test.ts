import fc from 'fast-check';
import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import { fetchUnits } from '../../engine/query/events/fetch.ts';
import { listUnits } from '../../engine/query/events/list.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { ListQuery } from '../../engine/query/model/query.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { Blocks, ofAll, run } from './blocks.ts';

const ALL: ListQuery = {
  fromMs: -1e9,
  toMs: 1e9,
  predicate: { type: 'all' },
  order: 'desc',
  limit: 50,
  event: false,
  columns: [],
};

function rowAt(timeMs: number, ...leaves: TestLeaf[]): TestRow {
  return { timeMs, leaves };
}

function message(text: string): TestLeaf {
  return { names: ['message'], kind: 'string', text };
}

/** Rows at `times`, each with its time as message. */
function rowsAt(times: number[]): TestRow[] {
  return times.map((time) => rowAt(time, message(`at ${time}`)));
}

/** Names of the events of a page: writer and sequence, which no other event has. */
function page(
  blocks: Blocks,
  refs: BlockRef[],
  query: ListQuery,
): { ids: string[]; names: string[] } {
  const { events } = run(listUnits(blocks, { blocks: refs }, query));
  const names = events.map(({ id }) => {
    const key = blocks.ids.decode(id);
    return `${key?.writer} ${key?.sequence}`;
  });
  return { ids: events.map(({ id }) => id), names };
}

/** Events between two pages: rows of times arrive in a small block; the small blocks become one. */
const step = fc.oneof(
  fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 6 }),
  fc.constant('supersede' as const),
);

t.test('paging neither skips nor repeats while blocks are added and superseded', async () => {
  const property = fc.property(
    fc.array(step, { minLength: 1, maxLength: 20 }),
    fc.constantFrom('asc' as const, 'desc' as const),
    fc.integer({ min: 1, max: 5 }),
    fc.nat(5),
    (steps, order, limit, before) => {
      const blocks = new Blocks();
      let closed: BlockRef[] = [];
      let small: BlockRef[] = [];
      let open: TestRow[] = [];
      let openFrom = 0;
      let next = 0;
      const take = (what: (typeof steps)[number]): void => {
        if (what === 'supersede') {
          if (open.length > 0) closed = [...closed, blocks.encode(open, 0, openFrom)];
          small = [];
          open = [];
          openFrom = next;
          return;
        }
        const rows = rowsAt(what);
        small = [...small, blocks.encode(rows, 0, next)];
        open.push(...rows);
        next += rows.length;
      };
      for (const what of steps.slice(0, before)) take(what);
      const query = { ...ALL, order, limit };
      const early = page(blocks, [...closed, ...small], { ...query, limit: 1000 }).names;
      const seen: string[] = [];
      let rest = steps.slice(before);
      for (let after: string | undefined, full = true; full; rest = rest.slice(1)) {
        const refs = [...closed, ...small];
        const { ids, names } = page(
          blocks,
          refs,
          after === undefined ? query : { ...query, after },
        );
        seen.push(...names);
        full = ids.length === limit;
        after = ids.at(-1);
        if (rest.length > 0) take(rest[0]);
      }
      const known = new Set(seen);
      return known.size === seen.length && early.every((name) => known.has(name));
    },
  );
  fc.assert(property, { numRuns: 200 });
});

t.test('a block that is read for the page and for the total counts once', async (t) => {
  const blocks = new Blocks();
  for (let block = 0; block < 5; block++)
    blocks.add(rowsAt([block * 10, block * 10 + 5]), 0, block * 2);
  const predicate: Predicate = { type: 'words', words: [[{ literal: 'at' }]] };
  const query = { ...ALL, predicate, limit: 3, total: true };
  const { total, stats } = run(listUnits(blocks, { blocks: blocks.refs }, query));
  t.equal(total, 10);
  t.match(stats, { blocksTotal: 5, blocksOpened: 5, rowsScanned: 10 });
});

t.test('blocks before a far page are counted without being opened', async (t) => {
  const blocks = new Blocks();
  for (let block = 0; block < 40; block++) {
    blocks.add(rowsAt([block * 10, block * 10 + 9, block * 10 + 5]), 0, block * 3);
  }
  for (const order of ['asc', 'desc'] as const) {
    const query = { ...ALL, order, limit: 4, skip: 61 };
    const { events, stats } = run(listUnits(blocks, { blocks: blocks.refs }, query, undefined, 10));
    const times = events.map(({ timeMs }) => timeMs);
    t.same(times, order === 'asc' ? [205, 209, 210, 215] : [195, 190, 189, 185]);
    t.equal(stats.blocksOpened, 2);
  }
});

t.test('only blocks that can have events of the page are opened', async (t) => {
  const blocks = new Blocks();
  for (let block = 0; block < 20; block++) {
    blocks.add(rowsAt([block * 10, block * 10 + 9, block * 10 + 5]), 0, block * 3);
  }
  const newest = run(listUnits(blocks, { blocks: blocks.refs }, { ...ALL, limit: 4 }));
  t.same(
    newest.events.map(({ timeMs }) => timeMs),
    [199, 195, 190, 189],
  );
  t.equal(newest.stats.blocksOpened, 2);
  t.equal(newest.stats.blocksTotal, 20);
  const oldest = { ...ALL, limit: 2, order: 'asc' as const, fromMs: 35 };
  const found = run(listUnits(blocks, { blocks: blocks.refs }, oldest));
  t.same(
    found.events.map(({ timeMs }) => timeMs),
    [35, 39],
  );
  t.equal(found.stats.blocksOpened, 1);
  const after = newest.events[3].id;
  const next = run(listUnits(blocks, { blocks: blocks.refs }, { ...ALL, limit: 1, after }));
  t.same(
    next.events.map(({ timeMs }) => timeMs),
    [185],
  );
  t.equal(next.stats.blocksOpened, 1);
});

t.test('a count of all events in the range opens the blocks at its ends only', async (t) => {
  const blocks = new Blocks();
  for (let block = 0; block < 10; block++) {
    blocks.add(rowsAt([block * 10, block * 10 + 9]), 0, block * 2);
  }
  const query = { ...ALL, fromMs: 5, toMs: 89, ...ofAll({ type: 'core' }) };
  const { buckets, stats } = run(aggregateUnits(blocks, { blocks: blocks.refs }, query));
  t.same(buckets, [{ keys: [], values: [16] }]);
  t.equal(stats.blocksOpened, 2);
});

t.test('columns are the JSON text of what the row has, whatever its kind', async (t) => {
  const blocks = new Blocks();
  const names = ['custom', 'x'];
  blocks.add(
    [
      rowAt(9, { names, kind: 'number', text: '0.610' }),
      rowAt(8, { names, kind: 'string', text: 'a"b' }),
      rowAt(7, { names, kind: 'array', text: '[1,null]' }),
      rowAt(6, { names, kind: 'boolean', value: true }),
      rowAt(5, { names, kind: 'date', text: '2016-01-01 00:00:00' }),
      rowAt(4, { names, kind: 'null' }),
      rowAt(3, { names, kind: 'object' }),
      rowAt(
        2,
        { names: [...names, 'y'], kind: 'number', text: '1' },
        { names: [...names, 'z'], kind: 'null' },
      ),
      rowAt(1, message('none')),
    ],
    2,
    40,
  );
  const columns = [{ type: 'attribute' as const, path: 'custom.x' }, { type: 'count' as const }];
  const { events } = run(listUnits(blocks, { blocks: blocks.refs }, { ...ALL, columns }));
  t.same(
    events.map((event) => event.columns[0]),
    [
      '0.610',
      '"a\\"b"',
      '[1,null]',
      'true',
      '"2016-01-01 00:00:00"',
      'null',
      '{}',
      '{"y":1,"z":null}',
      'null',
    ],
  );
  t.ok(events.every((event) => event.columns[1] === '1' && event.event === undefined));
  t.ok(events.every((event) => event.receivedMs === 1_000_000));
});

t.test('an "after" that is not an event id is refused', async (t) => {
  const query = { ...ALL, after: 'x'.repeat(20) };
  t.throws(() => run(listUnits(new Blocks(), { blocks: [] }, query)), { code: 'USAGE' });
});

/** Changes a byte of the frame `share` of the way through it. */
function damage(blocks: Blocks, ref: BlockRef, share: number): void {
  const bytes = blocks.bytes(ref);
  bytes[Math.floor(bytes.length * share)] ^= 0xff;
}

t.test('a damaged block is left out and counted, the rest is served', async (t) => {
  const blocks = new Blocks();
  for (let block = 0; block < 3; block++) {
    blocks.add(rowsAt([block * 10, block * 10 + 1]), 0, block * 2);
  }
  damage(blocks, blocks.refs[2], 0.01);
  const snapshot = { blocks: blocks.refs };
  const listed = run(listUnits(blocks, snapshot, ALL));
  t.same(
    listed.events.map(({ timeMs }) => timeMs),
    [11, 10, 1, 0],
  );
  t.equal(listed.stats.blocksDamaged, 1);
  const count = ofAll({ type: 'attribute', path: 'message', aggregation: 'count' });
  const { buckets, stats } = run(aggregateUnits(blocks, snapshot, { ...ALL, ...count }));
  t.same(buckets, [{ keys: [], values: [4] }]);
  t.equal(stats.blocksDamaged, 1);
  const lost = blocks.ids.encode({ timeMs: 20, writer: 0, sequence: 4 });
  const fetch = { id: lost, predicate: ALL.predicate, event: true, columns: [] };
  t.throws(() => run(fetchUnits(blocks, snapshot, fetch)), EngineError);
});

t.test(
  'whichever byte of a block is damaged, a page is full of events of the others',
  async (t) => {
    const blocks = new Blocks();
    const long = (time: number): TestRow => rowAt(time, message(`${time}`.repeat(50)));
    blocks.add([long(1), long(2), long(3)], 0, 0);
    blocks.add([long(11), long(12)], 0, 3);
    const [, ref] = blocks.refs;
    const whole = run(
      listUnits(blocks, { blocks: blocks.refs }, { ...ALL, limit: 2, event: true }),
    );
    let damagedCount = 0;
    const frame = blocks.bytes(ref);
    for (let at = 0; at < frame.length; at++) {
      frame[at] ^= 0x41;
      const query = { ...ALL, limit: 2, event: true };
      const { events, stats } = run(listUnits(blocks, { blocks: blocks.refs }, query));
      const times = events.map(({ timeMs }) => timeMs).join();
      if (stats.blocksDamaged === 1 && times === '3,2') damagedCount++;
      else if (JSON.stringify(events) !== JSON.stringify(whole.events))
        t.fail(`byte ${at}: ${times}`);
      frame[at] ^= 0x41;
    }
    t.ok(damagedCount > 0);
  },
);

t.test('other errors than damage are not hidden', async (t) => {
  const blocks = new Blocks();
  blocks.add(rowsAt([1]), 0, 0);
  const source = {
    secret: blocks.secret,
    ids: blocks.ids,
    open: () => {
      throw new EngineError('IO', 'read failed: EIO');
    },
  };
  t.throws(() => run(listUnits(source, { blocks: blocks.refs }, ALL)), { code: 'IO' });
});
