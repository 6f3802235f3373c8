import t from 'tap';
import type { BlockRef } from '../../engine/segment/frame.ts';
import type { TestRow } from './leaves.ts';
import { checkOrder, compareTexts, Shelf } from './shelf.ts';

const DAY_MS = 86_400_000;

t.test(
  'a segment that is built in windows has the same rows, and one window in memory',
  async (t) => {
    const shelf = new Shelf();
    const start = 20_000 * DAY_MS;
    for (let part = 0; part < 4; part++) {
      const rows = Array.from({ length: 32_000 }, (_, row): TestRow => {
        const number = row * 4 + part;
        const leaves: TestRow['leaves'] = [
          { names: ['custom', 'own'], kind: 'string', text: `text ${number * 7_919} of its own` },
          { names: ['message'], kind: 'string', text: `m${number % 1_000}` },
        ];
        if (row % 3 === 0) leaves.push({ names: ['custom', 'n'], kind: 'number', text: `${row}` });
        if (row % 900 === 0) leaves.push({ names: ['custom', 'rare'], kind: 'string', text: 'r' });
        return { timeMs: start + number, leaves };
      });
      await shelf.add(rows, part, 0);
    }
    const wanted = shelf.texts();
    const heldMax = async (windowBlocks: number): Promise<[number, BlockRef[]]> => {
      let most = 0;
      const held = (bytes: number): void => {
        most = Math.max(most, bytes);
      };
      const { segments } = await shelf.sealOnly(shelf.refs, 1_000_000, { windowBlocks, held });
      return [most, segments.flatMap(({ blocks }) => blocks)];
    };
    const [whole] = await heldMax(2);
    const [windowed, blocks] = await heldMax(1);
    t.ok(windowed < whole * 0.6, `${windowed} of ${whole} bytes`);
    t.same(
      blocks.map(({ rowCount }) => rowCount),
      [65_536, 62_464],
    );
    checkOrder(shelf, blocks);
    compareTexts(shelf.texts(blocks), wanted);
    const merged = await shelf.sealOnly(blocks, 70_000, { windowBlocks: 1 });
    t.same(
      merged.segments.map(({ rowCount }) => rowCount),
      [64_000, 64_000],
    );
    compareTexts(shelf.texts(merged.segments.flatMap((segment) => segment.blocks)), wanted);
  },
);
