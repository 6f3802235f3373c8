import t from 'tap';
import { BlockCache } from '../../engine/query/block-cache.ts';
import { Block } from '../../engine/segment/block/block.ts';
import type { BlockHead } from '../../engine/segment/block/block-head.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';

/** Refs of a block as if it were several; `opened` opens each anew and notes with which heads. */
async function someBlocks(bytes: number) {
  const shelf = new Shelf();
  const leaf = { kind: 'string' as const, text: 'a', names: ['custom', 'x'] };
  const ref = await shelf.add([{ timeMs: 1, leaves: [leaf] }], 0, 0);
  const { head } = shelf.reader.open(ref);
  const heads: (BlockHead | undefined)[] = [];
  const open = (known: BlockHead | undefined): Block => {
    heads.push(known);
    return new Block(known ?? head);
  };
  const [one, other] = [1, 2].map((at): BlockRef => ({ ...ref, offset: at * 64, bytes }));
  return { one, other, head, heads, open };
}

/** Bytes of a block beside which there is no room for another one with all that it may decode. */
const MUCH = 2 ** 22;

t.test(
  'a block that has no room at rest is opened with its head, until its segment is gone',
  async (t) => {
    const { one, other, head, heads, open } = await someBlocks(MUCH);
    const cache = new BlockCache(0);
    const first = cache.get(one, open);
    t.equal(cache.get(one, open), first);
    cache.get(other, open);
    t.not(cache.get(one, open), first);
    t.same(heads, [undefined, undefined, head]);
    cache.forget([one.segment]);
    cache.get(one, open);
    t.equal(heads.at(-1), undefined);
  },
);

t.test('a block at rest is the same one, until its segment is gone', async (t) => {
  const { one, other, heads, open } = await someBlocks(MUCH);
  const cache = new BlockCache();
  const first = cache.get(one, open);
  const second = cache.get(other, open);
  // After some times all blocks at rest are looked at.
  for (let times = 0; times < 100; times++) {
    t.equal(cache.get(one, open), first);
    t.equal(cache.get(other, open), second);
  }
  t.equal(heads.length, 2);
  cache.forget([one.segment]);
  t.not(cache.get(one, open), first);
});

t.test('a block that may decode more than there is room for is not kept', async (t) => {
  const { one, heads, open } = await someBlocks(2 ** 26);
  const cache = new BlockCache();
  cache.get(one, open);
  cache.get(one, open);
  t.equal(heads.length, 2);
});

/** Bytes of a text that takes a few hundred on disk. */
const LONG = 2 ** 20;

/** A shelf with blocks of so many long texts each, and the event that each row is to have. */
async function longTexts(blocks: number, texts: number) {
  const shelf = new Shelf();
  const eventOf = (at: number): string => `{"message":"${at} ${'y'.repeat(LONG)}"}`;
  for (let first = 0; first < blocks * texts; first += texts) {
    const rows = Array.from({ length: texts }, (_, row): TestRow => {
      const text = `${first + row} ${'y'.repeat(LONG)}`;
      return { timeMs: 1, leaves: [{ names: ['message'], kind: 'string', text }] };
    });
    await shelf.add(rows, 0, first);
  }
  return { shelf, eventOf };
}

t.test(
  'blocks keep as many decoded texts as there is room for, however few bytes they are on disk',
  async (t) => {
    const [blocks, texts] = [6, 6];
    const { shelf, eventOf } = await longTexts(blocks, texts);
    const opened: Block[] = [];
    for (const [at, ref] of shelf.refs.entries()) {
      t.ok(ref.bytes < LONG / 8);
      const block = shelf.reader.open(ref);
      opened.push(block);
      for (let row = 0; row < texts; row++) {
        t.ok(block.eventText(row).endsWith(eventOf(at * texts + row).slice(1)), `${at} ${row}`);
      }
      t.ok(block.decodedTextBytes > texts * LONG);
      const bytes = opened.reduce((sum, { decodedTextBytes }) => sum + decodedTextBytes, 0);
      // The one that was asked for last is weighed when another one is.
      t.ok(bytes <= 24 * LONG + texts * (LONG + 8), `${bytes}`);
    }
    t.ok(opened.at(-2)?.decodedTextBytes !== 0, 'there is room for more than one');
  },
);

t.test(
  'a block whose texts have no room rests when another one is asked for, beside those that have',
  async (t) => {
    const { shelf, eventOf } = await longTexts(2, 25);
    const small = await shelf.add([{ timeMs: 1, leaves: [] }], 0, 50);
    const [one, other] = shelf.refs;
    const kept = shelf.reader.open(small);
    for (const ref of [one, other, one]) {
      const block = shelf.reader.open(ref);
      const first = ref === one ? 0 : 25;
      for (const row of [0, 1, 24]) {
        t.ok(block.eventText(row).endsWith(eventOf(first + row).slice(1)));
      }
      t.equal(shelf.reader.open(small), kept);
      t.equal(block.decodedTextBytes, 0);
    }
  },
);

const ROWS = 20_000;

t.test(
  'a block of a segment has the same events after a rest, and arrays that it gave stay good',
  async (t) => {
    const shelf = new Shelf();
    const rows = Array.from({ length: ROWS }, (_, row): TestRow => {
      const number = String((row * 7919) % 100_003);
      const url = `/a/${(row * 31) % 9_000}?x=${row % 3}`;
      const leaves: TestLeaf[] = [
        { names: ['custom', 'url'], kind: 'string', text: url },
        {
          names: ['custom', 'bytes'],
          kind: 'number',
          text: row % 50 === 0 ? `${number}.0e1` : number,
        },
        { names: ['message'], kind: 'string', text: `GET ${url} ${number}` },
      ];
      if (row % 3 === 0)
        leaves.push({ names: ['custom', 'own'], kind: 'string', text: `own ${row}` });
      return { timeMs: 1_700_000_000_000 + row * 7, leaves };
    });
    await shelf.seal([await shelf.add(rows, 0, 0)]);
    for (const round of [1, 2]) {
      const block = shelf.reader.open(shelf.refs[0]);
      const columns = block.columns.map((_, index) => block.column(index));
      const ids = columns.flatMap((column) => ('ids' in column ? [column.ids] : []));
      const before = ids.map((array) => array.slice());
      const texts = (): string => rows.map((_, row) => block.eventText(row)).join('\n');
      const keys = block.keysOf(ROWS);
      const keyTexts = (): string =>
        rows.map((_, row) => `${keys.timeAt(row)} ${keys.sequenceAt(row)}`).join('\n');
      const wanted = [texts(), keyTexts()];
      t.ok(block.rest(true) < 96 * 1024, `round ${round}`);
      t.ok(ids.every((array, at) => array.join() === before[at].join()));
      t.ok(keyTexts() === wanted[1]);
      t.ok(texts() === wanted[0]);
    }
  },
);

t.test('a block lets go of long texts at each rest, however often they were read', async (t) => {
  const shelf = new Shelf();
  const text = 'x'.repeat(1_000);
  const rows = Array.from({ length: 500 }, (_, row): TestRow => {
    const leaves: TestLeaf[] = [
      { names: ['custom', 'text'], kind: 'string', text: `${row} ${text}` },
    ];
    return { timeMs: 1_700_000_000_000 + row, leaves };
  });
  const ref = await shelf.add(rows, 0, 0);
  const block = shelf.reader.open(ref);
  for (let round = 0; round < 3; round++) {
    const column = block.column(block.columnsAt('custom.text')[0]);
    t.ok('offsets' in column && column.offsets.length === rows.length + 1);
    t.ok(block.decodedTextBytes > 0);
    t.ok(block.rest(false) < 64 * 1024);
    t.equal(block.decodedTextBytes, 0, `round ${round}`);
  }
});
