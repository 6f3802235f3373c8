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
