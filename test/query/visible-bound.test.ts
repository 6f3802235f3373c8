import t from 'tap';
import { listUnits, pageUnits } from '../../engine/query/events/list.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { FilterCache, type VisibleMinutes } from '../../engine/query/model/filter-cache.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { AggregateQuery, AggregateResult, PageQuery } from '../../engine/query/model/query.ts';
import type { BlockSource } from '../../engine/query/model/source.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';
import { Shelf } from '../segment/shelf.ts';
import { Blocks, run } from './blocks.ts';
import { COUNT, LIST, must, rowAt, World } from './bound-world.ts';

const SEEN: Predicate = { type: 'words', words: [[{ literal: 'seen' }]] };
const COUNTED: Pick<AggregateQuery, 'computes' | 'groupBys'> = {
  computes: [{ type: 'metric', metric: COUNT }],
  groupBys: [],
};

/** A shelf that notes the blocks that were opened. */
class Watched implements BlockSource {
  readonly opened = new Set<string>();
  readonly visible = new FilterCache<VisibleMinutes>(Infinity);
  readonly #shelf: Shelf;

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
  }

  get secret() {
    return this.#shelf.reader.secret;
  }

  get ids() {
    return this.#shelf.reader.ids;
  }

  open(ref: BlockRef) {
    this.opened.add(`${ref.segment}/${ref.ordinal}`);
    return this.#shelf.reader.open(ref);
  }

  columns(ref: BlockRef) {
    return this.#shelf.reader.columns(ref);
  }

  footer(ref: BlockRef) {
    return this.#shelf.reader.footer(ref);
  }

  /** The list of one event of what is reached, and the blocks that were opened for it. */
  oldest(boundCount: number, visible: Predicate = SEEN, toMs = 1e9) {
    this.opened.clear();
    const query = { ...LIST, fromMs: 0, toMs, predicate: visible, boundCount, visible };
    const snapshot = { blocks: this.#shelf.refs };
    const { bound } = run(listUnits(this, snapshot, { ...query, order: 'desc', limit: 0 }));
    return { bound, opened: this.opened.size };
  }
}

/** Events a second apart, of which one in three is seen, in sealed segments of 200 and log blocks of 100. */
async function filled(sealed: number, open: number): Promise<Shelf> {
  const shelf = new Shelf();
  const add = async (part: number): Promise<void> => {
    const rows = Array.from({ length: 100 }, (_, row) => {
      const place = part * 100 + row;
      return rowAt(place * 1_000, place % 3 === 0 ? 'seen' : 'hidden');
    });
    await shelf.add(rows, 0, part * 100);
  };
  for (let part = 0; part < sealed; part++) await add(part);
  if (sealed > 0) await shelf.seal(shelf.refs, 200);
  for (let part = sealed; part < sealed + open; part++) await add(part);
  return shelf;
}

t.test('hidden events take no place among those that are reached', async (t) => {
  const source = new Watched(await filled(20, 0));
  // 667 events are seen, at 0, 3, ... 1,998 seconds.
  t.match(source.oldest(100).bound, { limit: 100, oldestMs: (1_998 - 99 * 3) * 1_000 });
  t.match(source.oldest(666).bound, { oldestMs: 3_000 });
  t.equal(source.oldest(667).bound, undefined);
  t.equal(source.oldest(1_000).bound, undefined);
  t.equal(source.oldest(100, { type: 'none' }).bound, undefined);
});

t.test('what has no more rows than are reached is not counted', async (t) => {
  const source = new Watched(await filled(4, 1));
  t.same(source.oldest(500), { bound: undefined, opened: 0 });
  t.equal(source.visible.bytes, 0);
});

t.test('the blocks of each filter are counted once, whatever is asked then', async (t) => {
  const source = new Watched(await filled(20, 2));
  t.equal(source.oldest(1_000).bound, undefined);
  t.same(source.oldest(1_000), { bound: undefined, opened: 0 });
  t.same(source.oldest(900, SEEN, 2_100_000), { bound: undefined, opened: 0 });
  const { bound, opened } = source.oldest(100);
  t.equal(bound?.oldestMs, (2_199 - 99 * 3) * 1_000);
  t.ok(opened <= 2, `${opened} blocks at the oldest event`);
  const other: Predicate = { type: 'not', child: SEEN };
  t.ok(source.oldest(1_500, other).opened >= 10);
  t.same(source.oldest(1_500, other), { bound: undefined, opened: 0 });
});

t.test('the newest blocks alone are counted when they have enough', async (t) => {
  const source = new Watched(await filled(40, 0));
  const { bound, opened } = source.oldest(100);
  t.equal(bound?.oldestMs, (3_999 - 99 * 3) * 1_000);
  t.ok(opened <= 3, `${opened} of 20 blocks`);
});

t.test('counts are forgotten with their segment, and when there are too many', async (t) => {
  const shelf = await filled(4, 0);
  const source = new Watched(shelf);
  source.oldest(300);
  const { bytes } = source.visible;
  t.ok(bytes > 0);
  const [first] = shelf.refs;
  source.visible.forget([first.segment]);
  t.equal(source.visible.bytes, bytes / 2);
  t.equal(source.oldest(300).opened, 1);

  const small = new FilterCache<VisibleMinutes>(2_000);
  const minutes = { rowCount: 100, minutes: new Float64Array(60), rowsBefore: new Uint32Array(61) };
  for (let segment = 0; segment < 5; segment++)
    small.keep('f', { ...first, segment }, minutes, 728);
  t.equal(small.get('f', { ...first, segment: 2 }), undefined);
  t.equal(small.get('f', { ...first, segment: 4 }), minutes);
  t.ok(small.bytes <= 2_000);
  t.equal(small.get('g', { ...first, segment: 4 }), undefined, 'of another filter');
});

t.test('rows that cannot be read are not taken for visible ones', async (t) => {
  const blocks = new Blocks();
  for (let block = 0; block < 3; block++) {
    const rows = Array.from({ length: 10 }, (_, row) => rowAt(block * 10 + row, 'seen'));
    blocks.add(rows, block, block * 10);
  }
  blocks.bytes(blocks.refs[2]).fill(0xff, 64);
  const query = { ...LIST, fromMs: 0, toMs: 100, predicate: SEEN, visible: SEEN, boundCount: 15 };
  const { events, bound, stats } = run(listUnits(blocks, { blocks: blocks.refs }, query));
  t.equal(events.length, 15);
  t.match(bound, { oldestMs: 5 });
  t.equal(stats.blocksDamaged, 1);
});

t.test('among thousands of events of one time the visible ones are in their order', async (t) => {
  const world = new World();
  for (let block = 0; block < 6; block++) {
    const rows = Array.from({ length: 2_000 }, (_, row) =>
      rowAt(row % 500 === 0 ? 3 : 5, row % 4 === 0 ? 'hidden' : 'seen'),
    );
    await world.write(rows, block % 3);
  }
  for (const isSealed of [false, true]) {
    if (isSealed) await world.shelf.seal(world.shelf.refs, 4_000);
    for (const boundCount of [1, 3_999, 4_000, 7_777, 8_999, 9_000]) {
      const { bound } = world.reached({ fromMs: 0, toMs: 10 }, boundCount, SEEN);
      const range = { fromMs: 0, toMs: 10, boundCount, visible: SEEN, predicate: SEEN };
      const found = world.list({ ...LIST, ...range, event: false, order: 'asc', limit: 1 });
      t.same(found.bound, bound);
      if (bound !== undefined) t.equal(found.events[0].id, bound.oldestId);
      const counted: AggregateResult = world.aggregate({ ...range, ...COUNTED });
      t.match(counted, { buckets: [{ values: [boundCount] }] });
    }
  }
});

t.test('pages behind a filter reach as far as the first one, each event once', async (t) => {
  const shelf = await filled(6, 1);
  const range = { fromMs: 0, toMs: 1e9, predicate: SEEN, visible: SEEN, boundCount: 150 };
  const query: PageQuery = { ...LIST, ...range, limit: 20, textMax: Infinity, blocksMax: 2 };
  const times: number[] = [];
  let after: string | undefined;
  let oldestId: string | undefined;
  do {
    const place = {
      ...(after === undefined ? {} : { after }),
      ...(oldestId === undefined ? {} : { oldestId }),
    };
    const snapshot = { blocks: shelf.refs };
    const page = run(pageUnits(shelf.reader, snapshot, { ...query, ...place }));
    times.push(...page.events.map(({ timeMs }) => timeMs));
    oldestId ??= must(page.bound).oldestId;
    after = page.resume;
  } while (after !== undefined);
  t.same(
    times,
    Array.from({ length: 150 }, (_, place) => (699 - place * 3) * 1_000),
  );
  const count = { ...range, ...COUNTED };
  const counted = run(aggregateUnits(shelf.reader, { blocks: shelf.refs }, count));
  t.match(counted, { buckets: [{ values: [150] }], bound: { oldestMs: times.at(-1) } });
});
