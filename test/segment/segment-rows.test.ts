import t from 'tap';
import type { Block } from '../../engine/segment/block/block.ts';
import { SegmentRows } from '../../engine/segment/seal/segment-rows.ts';
import type { Source } from '../../engine/segment/seal/source-rows.ts';
import type { BlockSum } from '../../engine/segment/sum/block-sum.ts';
import type { TestRow } from './leaves.ts';
import { checkOrder, compareTexts, Shelf } from './shelf.ts';

const MEGABYTE = 2 ** 20;
const BLOCK_TEXT_BYTES = 8 * MEGABYTE;

/** A source of which nothing is known but the weights of its rows. */
function sourceOf(rowCount: number, weight: number): Source {
  const block = { rowCount } as Block;
  const sum = {} as BlockSum;
  const weights = weight === 0 ? undefined : new Uint32Array(rowCount).fill(weight);
  return { block, sum, paths: new Uint32Array(0), weights };
}

/** Adds the rows of a source until there is no room; how many there was room for. */
function fill(rows: SegmentRows, rowCount: number): number {
  const order = Uint32Array.from({ length: rowCount }, (_, row) => row);
  const places = { sources: new Uint32Array(rowCount), rows: Uint16Array.from(order) };
  const added = rows.addAll(places, order);
  rows.end();
  return added;
}

t.test('a block of few rows is full at half of the bytes', async (t) => {
  const heavy = new SegmentRows([sourceOf(100, MEGABYTE)]);
  fill(heavy, 100);
  t.same(heavy.bounds(0), { from: 0, to: 4 });
  const lighter = new SegmentRows([sourceOf(10_000, 1_024)]);
  fill(lighter, 10_000);
  t.same(lighter.bounds(0), { from: 0, to: 8_192 });
});

t.test('blocks are full by rows, or by bytes of text', async (t) => {
  const light = new SegmentRows([sourceOf(70_000, 100)]);
  fill(light, 70_000);
  t.same(light.bounds(0), { from: 0, to: 65_536 });
  t.same(light.bounds(1), { from: 65_536, to: 70_000 });
  const heavier = new SegmentRows([sourceOf(50_000, 1_000)]);
  fill(heavier, 50_000);
  t.equal(heavier.blockCount, 6);
  t.same(heavier.bounds(0), { from: 0, to: 8_388 });
  const huge = new SegmentRows([sourceOf(3, 20 * MEGABYTE)]);
  fill(huge, 3);
  t.equal(huge.blockCount, 3, 'a row that is larger than a block should be has one');
});

t.test('segments are full by bytes of text', async (t) => {
  t.equal(fill(new SegmentRows([sourceOf(500, MEGABYTE)]), 500), 256);
  t.equal(fill(new SegmentRows([sourceOf(2, 900 * MEGABYTE)]), 2), 1, 'never without a row');
});

t.test('large events come back from blocks and segments that are cut by bytes', async (t) => {
  const shelf = new Shelf();
  const start = 20_000 * 86_400_000;
  for (let part = 0; part < 3; part++) {
    const rows = Array.from({ length: 28 }, (_, row): TestRow => {
      const number = row * 3 + part;
      const text = `${number} `.repeat(80_000);
      const leaves: TestRow['leaves'] = [
        { names: ['custom', 'n'], kind: 'number', text: `${number}` },
        {
          names: ['custom', 'big'],
          kind: 'number',
          text: `1${'0'.repeat(row % 2 === 0 ? 5 : 90_000)}`,
        },
      ];
      if (row % 5 !== 0) leaves.push({ names: ['message'], kind: 'string', text });
      if (row % 7 === 0)
        leaves.push({ names: ['custom', 'same'], kind: 'string', text: 'x'.repeat(50_000) });
      return { timeMs: start + number, leaves };
    });
    await shelf.add(rows, part, 0);
  }
  const wanted = shelf.texts();
  const { segments } = await shelf.seal(shelf.refs);
  const blocks = segments.flatMap((segment) => segment.blocks);
  t.ok(blocks.length >= 2, `${blocks.length} blocks`);
  compareTexts(shelf.texts(), wanted);
  checkOrder(shelf, blocks);
  for (const ref of blocks) {
    const block = shelf.reader.open(ref);
    const texts = Array.from({ length: ref.rowCount }, (_, row) => block.eventText(row).length);
    const bytes = texts.reduce((sum, length) => sum + length, 0);
    t.ok(bytes < BLOCK_TEXT_BYTES * 1.01, `${bytes} bytes of text`);
  }
  await shelf.seal(shelf.refs, 50);
  compareTexts(shelf.texts(), wanted);
});
