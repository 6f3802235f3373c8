import t from 'tap';
import { listUnits } from '../../engine/query/events/list.ts';
import type { Sharing } from '../../engine/query/group/shared-scan.ts';
import type { ListQuery } from '../../engine/query/model/query.ts';
import { Reader } from '../../engine/query/reader.ts';
import { segmentPath } from '../../engine/store/filename.ts';
import type { TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { numbers, run } from './blocks.ts';
import { Crew } from './crew.ts';

const PARTS = 16;
const PART_ROWS = 120;
/** How far times of one part reach into those of the next ones. */
const SPREAD = 250;

/** Blocks that overlap, half of them sealed; every third row has the word `odd`, and one in fifty `rare`. */
async function shelfOf(seed: number): Promise<Shelf> {
  const next = numbers(seed);
  const shelf = new Shelf();
  for (let part = 0; part < PARTS; part++) {
    const rows = Array.from({ length: PART_ROWS }, (): TestRow => {
      const text = `${next(3) === 0 ? 'odd' : 'even'} ${next(50) === 0 ? 'rare' : 'common'}`;
      const leaves: TestRow['leaves'] = [{ kind: 'string', text, names: ['message'] }];
      const size = { kind: 'number' as const, text: String(next(40)), names: ['custom', 'n'] };
      if (next(4) > 0) leaves.push(size);
      return { timeMs: part * 100 + next(SPREAD), leaves };
    });
    const ref = await shelf.add(rows, part, 0);
    if (part % 2 === 0) await shelf.seal([ref]);
  }
  return shelf;
}

const word = (literal: string): ListQuery['predicate'] => ({
  type: 'words',
  words: [[{ literal }]],
});

/** Lists of few and many events, in both directions, from the middle on, behind others. */
function queriesOf(shelf: Shelf): ListQuery[] {
  const queries: ListQuery[] = [];
  for (const predicate of [word('odd'), word('rare'), { type: 'all' } as const]) {
    for (const order of ['asc', 'desc'] as const) {
      const query = { fromMs: 50, toMs: 1_700, predicate, order, event: true, columns: [] };
      const [middle] = run(
        listUnits(shelf.reader, { blocks: shelf.refs }, { ...query, skip: 9, limit: 1 }),
      ).events;
      queries.push({ ...query, limit: 3 }, { ...query, limit: 40, skip: 5, total: true });
      queries.push({ ...query, limit: 30, after: middle.id }, { ...query, limit: 5_000 });
      queries.push({ ...query, limit: 20, boundCount: 700, total: true });
      const ordered = { ...query, orderBy: 'custom.n', total: true };
      queries.push({ ...ordered, limit: 30 }, { ...ordered, limit: 300, skip: 10 });
      queries.push({ ...ordered, limit: 25, after: middle.id });
    }
  }
  return queries;
}

const CREWS = [
  { name: 'one other', members: 1, fails: false },
  { name: 'three others', members: 3, fails: false },
  { name: 'three others, half of whom break down', members: 3, fails: true },
];

for (const { name, members, fails } of CREWS) {
  t.test(`lists in which others join have the same events: ${name}`, async (t) => {
    const shelf = await shelfOf(members);
    const snapshot = { blocks: shelf.refs };
    let joinedCount = 0;
    for (let seed = 0; seed < 5; seed++) {
      for (const query of queriesOf(shelf)) {
        const crew = new Crew(shelf, members, numbers(seed), fails);
        const { stats: _, ...wanted } = run(listUnits(shelf.reader, snapshot, query));
        const { stats, ...found } = crew.run(listUnits(shelf.reader, snapshot, query, crew));
        t.same(found, wanted, JSON.stringify(query));
        t.ok(stats.blocksOpened >= 1);
        joinedCount += crew.joinedCount;
      }
    }
    t.ok(joinedCount > 20, `${joinedCount} parts`);
  });
}

t.test('events of blocks that others find damaged are left out of a list', async (t) => {
  const shelf = await shelfOf(1);
  const damaged = [5, 11];
  const intact = { blocks: shelf.refs.filter((_, place) => !damaged.includes(place)) };
  const queries = queriesOf(shelf).filter(({ after }) => after === undefined);
  for (const place of damaged) {
    shelf.disk.damage(segmentPath(shelf.refs[place].segment), (bytes) => bytes.fill(0, 64));
  }
  for (const { boundCount: _, total: __, ...query } of queries) {
    const crew = new Crew(shelf, 2, numbers(1));
    const wanted = run(listUnits(shelf.reader, intact, query));
    const found = crew.run(listUnits(shelf.reader, { blocks: shelf.refs }, query, crew));
    t.same(found.events, wanted.events);
  }
});

/** The sharing of a crew that takes note of the scans that are offered. */
function telling(crew: Crew): { offered: string[]; sharing: Sharing } {
  const offered: string[] = [];
  const offer: Sharing['offer'] = (scan) => {
    offered.push(scan.spec.type);
    return crew.offer(scan);
  };
  return { offered, sharing: { rowsMin: crew.rowsMin, others: crew.others, offer } };
}

t.test('others rebuild events of a page as it shows them', async (t) => {
  const shelf = await shelfOf(3);
  const snapshot = { blocks: shelf.refs };
  const size = { type: 'attribute', path: 'custom.n' } as const;
  const tags = [{ id: 'odd', predicate: word('odd') }];
  const columns: ListQuery['columns'] = [size, { type: 'count' }, { type: 'tag', tags }];
  const query: ListQuery = {
    ...{ fromMs: 0, toMs: 2_000, predicate: { type: 'all' }, order: 'asc' },
    ...{ limit: 1_500, event: false, columns },
  };
  const wanted = run(listUnits(shelf.reader, snapshot, query)).events;
  for (let seed = 0; seed < 5; seed++) {
    const crew = new Crew(shelf, 2, numbers(seed), seed > 2);
    const { offered, sharing } = telling(crew);
    t.same(crew.run(listUnits(shelf.reader, snapshot, query, sharing)).events, wanted);
    t.equal(offered.at(-1), 'events');
  }
});

t.test('a page is full when others find a block damaged whose events they rebuild', async (t) => {
  let damagedCount = 0;
  for (let share = 0.2; share < 1; share += 0.05) {
    const shelf = await shelfOf(4);
    const ref = shelf.refs[7];
    const intact = { blocks: shelf.refs.filter((other) => other !== ref) };
    const query: ListQuery = {
      ...{ fromMs: 0, toMs: 2_000, predicate: { type: 'all' }, order: 'desc' },
      ...{ limit: 900, event: true, columns: [] },
    };
    const wanted = run(listUnits(shelf.reader, intact, query)).events;
    shelf.disk.damage(segmentPath(ref.segment), (bytes) => {
      const at = Math.floor(bytes.length * share);
      return bytes.fill(0xff, at, at + 4);
    });
    const crew = new Crew(shelf, 2, numbers(3));
    const { events, stats } = crew.run(
      listUnits(shelf.reader, { blocks: shelf.refs }, query, crew),
    );
    t.equal(events.length, query.limit);
    if (stats.blocksDamaged === 0) continue;
    damagedCount++;
    t.same(events, wanted);
  }
  t.ok(damagedCount > 3, `${damagedCount} of them damaged`);
});

t.test('events of a short page are rebuilt by those who find their rows', async (t) => {
  const shelf = await shelfOf(6);
  const snapshot = { blocks: shelf.refs };
  const query: ListQuery = {
    ...{ fromMs: 0, toMs: 2_000, predicate: word('rare'), order: 'desc' },
    ...{ limit: 200, event: true, columns: [{ type: 'attribute', path: 'custom.n' }] },
  };
  const wanted = run(listUnits(shelf.reader, snapshot, query)).events;
  t.ok(wanted.length > 20 && wanted.length < query.limit, `${wanted.length} events`);
  for (let seed = 0; seed < 5; seed++) {
    const crew = new Crew(shelf, 2, numbers(seed), seed > 2);
    const { offered, sharing } = telling(crew);
    t.same(crew.run(listUnits(shelf.reader, snapshot, query, sharing)).events, wanted);
    t.notOk(offered.includes('events'), 'nothing is left to be rebuilt');
  }
});

t.test('a short page is full when a block is damaged whose rows were found', async (t) => {
  let damagedCount = 0;
  for (let share = 0.2; share < 1; share += 0.05) {
    const shelf = await shelfOf(4);
    const ref = shelf.refs[7];
    const intact = { blocks: shelf.refs.filter((other) => other !== ref) };
    const query: ListQuery = {
      ...{ fromMs: 0, toMs: 2_000, predicate: word('rare'), order: 'desc' },
      ...{ limit: 25, event: true, columns: [] },
    };
    const wanted = run(listUnits(shelf.reader, intact, query)).events;
    shelf.disk.damage(segmentPath(ref.segment), (bytes) => {
      const at = Math.floor(bytes.length * share);
      return bytes.fill(0xff, at, at + 4);
    });
    for (const sharing of [undefined, new Crew(shelf, 2, numbers(3))]) {
      const units = listUnits(shelf.reader, { blocks: shelf.refs }, query, sharing);
      const { events, stats } = sharing === undefined ? run(units) : sharing.run(units);
      t.equal(events.length, query.limit);
      if (stats.blocksDamaged === 0) continue;
      damagedCount++;
      t.same(events, wanted);
    }
  }
  t.ok(damagedCount > 3, `${damagedCount} of them damaged`);
});

t.test('events of others count for the memory of a query', async (t) => {
  const shelf = await shelfOf(5);
  const query: ListQuery = {
    ...{ fromMs: 0, toMs: 2_000, predicate: { type: 'all' }, order: 'asc' },
    ...{ limit: 1_500, event: true, columns: [] },
  };
  const source = new Reader(shelf.disk, shelf.reader.secret, { queryBytesMax: 100_000 });
  const crew = new Crew(shelf, 2, numbers(1));
  const units = listUnits(source, { blocks: shelf.refs }, query, crew);
  t.throws(() => crew.run(units), { code: 'MEMORY' });
});

t.test('nobody searches for rows that come after those of a full page', async (t) => {
  const shelf = new Shelf();
  for (let part = 0; part < 64; part++) {
    const leaves: TestRow['leaves'] = [{ kind: 'string', text: 'same', names: ['message'] }];
    const rows = Array.from({ length: 10 }, (_, at) => ({ timeMs: part * 100 + at, leaves }));
    await shelf.add(rows, part, 0);
  }
  const query: ListQuery = {
    fromMs: 0,
    toMs: 10_000,
    predicate: word('same'),
    order: 'desc',
    limit: 100,
    event: false,
    columns: [],
  };
  for (const members of [1, 3]) {
    const crew = new Crew(shelf, members, numbers(members));
    const { stats } = crew.run(listUnits(shelf.reader, { blocks: shelf.refs }, query, crew));
    t.ok(crew.joinedCount > 0);
    t.ok(stats.blocksOpened <= 10 + members + 1, `${stats.blocksOpened} blocks opened`);
  }
});
