import fc from 'fast-check';
import t from 'tap';
import type { BlockRef } from '../../engine/segment/frame.ts';
import { LiveBlocks } from '../../engine/store/block-changes.ts';
import { Catalog } from '../../engine/store/catalog.ts';

const CLAIM = { first: 0, end: 2 };

function blocksOf(segment: number, ordinals: readonly number[]): BlockRef[] {
  const facts = { sealed: false, writer: 0, offset: 0, bytes: 64, rowCount: 2 };
  const sequences = { firstSequence: 0, endSequence: 2 };
  return ordinals.map((ordinal) => ({
    ...facts,
    ...sequences,
    segment,
    ordinal,
    minTimeMs: 0,
    maxTimeMs: 9,
  }));
}

/** Blocks in one order: that of a snapshot means nothing. */
function sorted(blocks: readonly BlockRef[]): BlockRef[] {
  return blocks.toSorted((a, b) => a.segment - b.segment || a.ordinal - b.ordinal);
}

/** A thread that is told of changes, as a query worker is. */
class Follower {
  readonly live = new LiveBlocks();
  version: number | undefined;
  sentCount = 0;

  follow(catalog: Catalog): void {
    const changes = structuredClone(catalog.changes(this.version));
    if (changes === undefined) return;
    this.live.apply(changes);
    this.version = changes.version;
    this.sentCount += changes.added.length + changes.removed.length;
  }
}

/** Something that happens to a catalog, made from three numbers. */
function happen(catalog: Catalog, ordinals: Map<number, number>, [what, a, b]: number[]): void {
  const segment = 1 + (a % 4);
  const next = (of: number): number => {
    const ordinal = (ordinals.get(of) ?? 0) + 1;
    ordinals.set(of, ordinal);
    return ordinal;
  };
  if (what < 6) {
    const there = [...catalog.blocksOf(segment)].map(({ ordinal }) => ordinal);
    const superseded = there.filter((_, place) => (b >> place) % 2 === 1);
    const blocks = blocksOf(segment, [next(segment), ...(b % 2 === 0 ? [] : [next(segment)])]);
    catalog.apply({ segment, group: 1, bytes: 64, claim: CLAIM, blocks, superseded, usage: [] });
  } else if (what === 6) {
    // Recovery finds the same blocks, or some of them, or one more.
    const found = [...catalog.blocksOf(segment)].filter((_, place) => (b >> place) % 2 === 0);
    catalog.replace(segment, [...found, ...blocksOf(segment, b > 100 ? [next(segment)] : [])]);
  } else {
    // Numbers of segments never come twice; a sealed one may be merged later.
    const sealed = 10 + next(0);
    const sources = [segment, sealed - 1 - (b % 3)];
    catalog.replaceSet(sources, [{ segment: sealed, blocks: blocksOf(sealed, [1, 2]) }]);
  }
}

t.test('whenever somebody asks, the changes lead to the blocks of the catalog', async () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          fc.nat(7),
          fc.nat(7),
          fc.nat(255),
          fc.subarray([0, 1, 2], { minLength: 0, maxLength: 3 }),
        ),
        { maxLength: 60 },
      ),
      (steps) => {
        const catalog = new Catalog();
        const ordinals = new Map<number, number>();
        const followers = [new Follower(), new Follower(), new Follower()];
        for (const [what, a, b, askers] of steps) {
          happen(catalog, ordinals, [what, a, b]);
          const wanted = JSON.stringify(sorted(catalog.snapshot().blocks));
          for (const asker of askers) {
            const follower = followers[asker];
            const before = follower.live.snapshot();
            const held = JSON.stringify(before.blocks);
            follower.follow(catalog);
            const found = JSON.stringify(sorted(follower.live.snapshot().blocks));
            if (found !== wanted) throw new Error(`${found}, not ${wanted}`);
            if (JSON.stringify(before.blocks) !== held) throw new Error('a snapshot changed');
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});

t.test('a commit costs what it changes, however many blocks there are', async (t) => {
  const catalog = new Catalog();
  catalog.replace(
    1,
    blocksOf(
      1,
      Array.from({ length: 10_000 }, (_, ordinal) => ordinal),
    ),
  );
  const follower = new Follower();
  follower.follow(catalog);
  t.equal(follower.sentCount, 10_000, 'who is new gets all');
  for (let ordinal = 1; ordinal <= 100; ordinal++) {
    const superseded = ordinal > 1 ? [ordinal - 1] : [];
    const blocks = blocksOf(2, [ordinal]);
    catalog.apply({
      segment: 2,
      group: ordinal,
      bytes: 64,
      claim: CLAIM,
      blocks,
      superseded,
      usage: [],
    });
    follower.follow(catalog);
  }
  t.equal(follower.sentCount, 10_000 + 199);
  t.equal(catalog.changes(follower.version), undefined, 'nothing is told twice');
  t.equal(follower.live.snapshot(), follower.live.snapshot());
});

t.test('who has asked long ago gets all, so that the log is bounded', async (t) => {
  const catalog = new Catalog();
  for (let ordinal = 1; ordinal <= 5_000; ordinal++) {
    const superseded = ordinal > 1 ? [ordinal - 1] : [];
    const blocks = blocksOf(1, [ordinal]);
    catalog.apply({
      segment: 1,
      group: ordinal,
      bytes: 64,
      claim: CLAIM,
      blocks,
      superseded,
      usage: [],
    });
  }
  t.match(catalog.changes(1), { isWhole: true, version: 5_000, removed: [] });
  t.match(catalog.changes(4_800), {
    isWhole: false,
    removed: [{ segment: 1, ordinal: 4_800 }],
    added: blocksOf(1, [5_000]),
  });
  t.match(catalog.changes(5_001), { isWhole: true }, 'a number that never was');
});
