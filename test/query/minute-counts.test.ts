import fc from 'fast-check';
import t from 'tap';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { isOfMinutes } from '../../engine/query/group/minute-counts.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { AggregateQuery, AggregateResult, Compute } from '../../engine/query/model/query.ts';
import { pathOfSegment } from '../../engine/store/filename.ts';
import type { TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { run } from './blocks.ts';

const MINUTE_MS = 60_000;
const COUNT = { type: 'core' } as const;
const ALL = { type: 'all' } as const;
/** Holds for all events too, but is not known to: it is answered from the rows. */
const ANY: Predicate = {
  type: 'not',
  child: { type: 'words', words: [[{ literal: 'absent' }]] },
};

function rowAt(timeMs: number): TestRow {
  return { timeMs, leaves: [{ names: ['custom', 'n'], kind: 'number', text: '1' }] };
}

/** Times around some minutes, many of them at the very edge of one. */
const time = fc
  .tuple(fc.integer({ min: -3, max: 9 }), fc.constantFrom(0, 0, 1, 59_999, 30_000, -1, 0.5))
  .map(([minute, rest]) => minute * MINUTE_MS + rest);

/** Ascending boundaries at whole minutes, the outer ones anywhere outside of the range. */
const boundaryMinutes = fc.uniqueArray(fc.integer({ min: -6, max: 12 }), { maxLength: 8 });

function boundariesOf(minutes: readonly number[], fromMs: number, toMs: number): number[] {
  const inside = minutes.map((minute) => minute * MINUTE_MS);
  const first = Math.min(fromMs, ...inside);
  const last = Math.max(toMs, ...inside);
  return [...new Set([first, ...inside, last])].sort((a, b) => a - b);
}

async function shelved(blocks: readonly number[][], cut: number, rest: number): Promise<Shelf> {
  const shelf = new Shelf();
  for (const [place, times] of blocks.entries()) {
    await shelf.add(times.map(rowAt), place, 0);
  }
  if (cut > 0) await shelf.seal(shelf.refs.slice(0, cut), 25);
  const merged = shelf.refs.slice(0, Math.max(shelf.refs.length - rest, 0));
  if (merged.length > 0) await shelf.seal(merged);
  return shelf;
}

function ask(shelf: Shelf, query: AggregateQuery): AggregateResult {
  return run(aggregateUnits(shelf.reader, { blocks: shelf.refs }, query));
}

t.test('counts by minutes are those of the rows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(time, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 5 }),
      fc.tuple(fc.nat(5), fc.nat(3)),
      fc.tuple(time, time),
      fc.tuple(boundaryMinutes, boundaryMinutes, fc.boolean(), fc.boolean()),
      fc.option(fc.nat(5)),
      async (blocks, [cut, rest], [one, other], [minutes, more, isGrouped, total], after) => {
        const fromMs = Math.min(one, other);
        const toMs = Math.max(one, other) + 1;
        const boundaries = boundariesOf(minutes, fromMs, toMs);
        const series = boundariesOf(more, fromMs, toMs);
        const computes: Compute[] = [
          { type: 'metric', metric: COUNT },
          { type: 'timeseries', metric: COUNT, boundaries: series },
        ];
        const query: AggregateQuery = {
          ...{ fromMs, toMs, predicate: ALL, computes },
          groupBys: isGrouped ? [{ type: 'time', boundaries, total }] : [],
          ...(after === null || !isGrouped
            ? {}
            : { afterBucket: { type: 'time', timeMs: boundaries[after % boundaries.length] } }),
        };
        const shelf = await shelved(blocks, cut, rest);
        if (!isOfMinutes(query)) {
          throw new Error('not answered by minutes');
        }
        const found = ask(shelf, query);
        const wanted = ask(shelf, { ...query, predicate: ANY });
        const texts = [found, wanted].map(({ buckets, more }) => JSON.stringify({ buckets, more }));
        if (texts[0] !== texts[1]) throw new Error(`${texts[0]}, not ${texts[1]}`);
      },
    ),
    { numRuns: 300 },
  );
});

/** 10,000 rows over 100 minutes, in one sealed segment of blocks of 1,000 rows. */
async function sealedHours(): Promise<Shelf> {
  const shelf = new Shelf();
  const rows = Array.from({ length: 10_000 }, (_, n) => rowAt(n * 600 + 7));
  await shelf.add(rows, 0, 0);
  await shelf.seal(shelf.refs);
  return shelf;
}

t.test('footers answer without opening a block, but where a minute is cut', async (t) => {
  const shelf = await sealedHours();
  const query: AggregateQuery = {
    ...{ fromMs: 0, toMs: 100 * MINUTE_MS, predicate: ALL },
    computes: [{ type: 'metric', metric: COUNT }],
    groupBys: [],
  };
  const boundaries = Array.from({ length: 101 }, (_, minute) => minute * MINUTE_MS);
  const perMinute: AggregateQuery = {
    ...query,
    computes: [{ type: 'timeseries', metric: COUNT, boundaries }],
  };
  t.match(ask(shelf, query), { buckets: [{ values: [10_000] }], stats: { blocksOpened: 0 } });
  const { buckets, stats } = ask(shelf, perMinute);
  t.same(buckets, [{ keys: [], values: [new Array(100).fill(100)] }]);
  t.match(stats, { blocksOpened: 0, rowsScanned: 0, blocksDamaged: 0, blocksTotal: 1 });
  const part = { fromMs: 10 * MINUTE_MS, toMs: 20 * MINUTE_MS };
  t.match(ask(shelf, { ...query, ...part }), { buckets: [{ values: [1_000] }] });
  t.match(ask(shelf, { ...query, ...part }).stats, { blocksOpened: 0 });
  const inside = { fromMs: 10 * MINUTE_MS + 600, toMs: 20 * MINUTE_MS };
  t.match(ask(shelf, { ...query, ...inside }), {
    buckets: [{ values: [999] }],
    stats: { blocksOpened: 1 },
  });
});

t.test('in segments of several blocks too', async (t) => {
  const shelf = new Shelf();
  const rows = Array.from({ length: 80_000 }, (_, n) => rowAt(n * 300 + (n % 2)));
  for (const at of [0, 30_000, 60_000]) await shelf.add(rows.slice(at, at + 30_000), 0, at);
  const { segments } = await shelf.seal(shelf.refs);
  t.match(segments, [{ blocks: { length: 2 } }]);
  const boundaries = Array.from({ length: 401 }, (_, minute) => minute * MINUTE_MS);
  for (const [fromMs, toMs, opened] of [
    [0, 400 * MINUTE_MS, 0],
    [77_777, 390 * MINUTE_MS, 1],
    [77_777, 399 * MINUTE_MS + 5, 2],
    [350 * MINUTE_MS, 350 * MINUTE_MS + 5, 1],
  ]) {
    const query: AggregateQuery = {
      ...{ fromMs, toMs, predicate: ALL },
      computes: [{ type: 'timeseries', metric: COUNT, boundaries }],
      groupBys: [],
    };
    const { buckets, stats } = ask(shelf, query);
    t.same(buckets, ask(shelf, { ...query, predicate: ANY }).buckets);
    t.equal(stats.blocksOpened, opened);
  }
});

t.test('anything else is not a matter of minutes', async (t) => {
  const base: AggregateQuery = {
    ...{ fromMs: 0, toMs: 1e6, predicate: ALL },
    computes: [{ type: 'metric', metric: COUNT }],
    groupBys: [],
  };
  const isAnswered = (changes: Partial<AggregateQuery>): boolean =>
    isOfMinutes({ ...base, ...changes });
  const time = { type: 'time', boundaries: [0, 1e6], total: false } as const;
  const metric = { type: 'attribute', path: 'custom.n', aggregation: 'sum' } as const;
  t.ok(isAnswered({}));
  t.ok(isAnswered({ groupBys: [time] }));
  t.notOk(isAnswered({ predicate: ANY }));
  t.notOk(isAnswered({ predicate: { type: 'none' } }));
  t.notOk(isAnswered({ computes: [{ type: 'metric', metric }] }));
  t.notOk(isAnswered({ groupBys: [time, time] }));
  t.notOk(isAnswered({ groupBys: [{ ...time, boundaries: [0, 30_000, 1e6] }] }));
  t.notOk(
    isAnswered({ computes: [{ type: 'timeseries', metric: COUNT, boundaries: [0, 1, 1e6] }] }),
  );
});

t.test('with a damaged footer, or a damaged block, the rest is counted', async (t) => {
  const query: AggregateQuery = {
    ...{ fromMs: 600, toMs: 50 * MINUTE_MS, predicate: ALL },
    computes: [{ type: 'metric', metric: COUNT }],
    groupBys: [],
  };
  const shelf = await sealedHours();
  const [ref] = shelf.refs;
  const path = pathOfSegment(true, ref.segment);
  shelf.disk.damage(path, (bytes) => bytes.fill(7, bytes.length - 32));
  t.match(ask(shelf, query), {
    buckets: [{ values: [4_999] }],
    stats: { blocksOpened: 1, blocksDamaged: 0 },
  });
  const other = await sealedHours();
  other.disk.damage(path, (bytes) => bytes.fill(7, ref.offset + 64, ref.offset + 128));
  t.match(ask(other, query), {
    buckets: [{ values: [0] }],
    stats: { blocksOpened: 0, blocksDamaged: 1 },
  });
});

t.test('an empty range and no blocks come to nothing', async (t) => {
  const shelf = await sealedHours();
  const query: AggregateQuery = {
    ...{ fromMs: 700, toMs: 700, predicate: ALL },
    computes: [{ type: 'metric', metric: COUNT }],
    groupBys: [],
  };
  t.match(ask(shelf, query), { buckets: [{ values: [0] }] });
  shelf.refs = [];
  t.match(ask(shelf, { ...query, toMs: 1e9 }), { buckets: [{ keys: [], values: [0] }] });
});
