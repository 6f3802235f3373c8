import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openBlock } from '../../engine/segment/block/block.ts';
import { verifyBlock } from '../../engine/segment/block/verify-block.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';
import { batchOf, frameOf, MemorySource } from './block-maker.ts';
import type { TestLeaf, TestRow } from './leaves.ts';

/** A block that was written once and must open for as long as its version of the format is read. */

const FRAME_FILE = fileURLToPath(new URL('../fixture/block-v1.bin', import.meta.url));
const EVENTS_FILE = fileURLToPath(new URL('../fixture/block-v1.json', import.meta.url));

interface Golden {
  ref: BlockRef;
  events: string[];
  timeMs: number[];
}

/** Rows that use every encoding of every kind of column. */
function goldenRows(): TestRow[] {
  return Array.from({ length: 140 }, (_, row): TestRow => {
    const timeMs = 1_700_000_000_000 + row * 13 - (row % 7) * 40;
    const iso = new Date(timeMs).toISOString();
    const some: TestLeaf[] = [];
    if (row % 2 === 0)
      some.push({ names: ['custom', 'half'], kind: 'string', text: `h${row % 5}` });
    if (row % 2 === 0)
      some.push({ names: ['custom', 'halfNumber'], kind: 'number', text: `${row}` });
    if (row % 50 === 7) some.push({ names: ['custom', 'rare'], kind: 'string', text: `r${row}` });
    if (row % 50 === 7)
      some.push({ names: ['custom', 'rareFlag'], kind: 'boolean', value: row > 50 });
    if (row % 11 === 0) some.push({ names: ['custom', 'nothing'], kind: 'null' });
    if (row % 13 === 0) some.push({ names: ['custom', 'empty'], kind: 'object' });
    const mixed: TestLeaf =
      row % 3 === 0
        ? { names: ['custom', 'mixed'], kind: 'string', text: `${row}` }
        : { names: ['custom', 'mixed'], kind: 'number', text: `${row}` };
    return {
      timeMs,
      leaves: [
        { names: ['custom', '@marker'], kind: 'array', text: '["a",1,null]' },
        { names: ['custom', 'date'], kind: 'date', text: iso },
        {
          names: ['custom', 'other', 'date'],
          kind: 'date',
          text: `${iso.slice(0, 19)}.123456+02:00`,
        },
        { names: ['custom', 'http.status'], kind: 'number', text: row % 9 === 0 ? '500' : '200' },
        { names: ['custom', 'fixed'], kind: 'number', text: (row / 100).toFixed(3) },
        { names: ['custom', 'shortest'], kind: 'number', text: String(row / 8) },
        {
          names: ['custom', 'point'],
          kind: 'number',
          text: row % 2 === 0 ? `${row}.0` : `${row}.25`,
        },
        { names: ['custom', 'double'], kind: 'number', text: String(Math.sqrt(row + 2)) },
        { names: ['custom', 'odd'], kind: 'number', text: row % 60 === 5 ? '1e400' : '-7' },
        {
          names: ['custom', 'wide'],
          kind: 'number',
          text: String(row * 2 ** 41 * (row % 2 ? 1 : -1)),
        },
        { names: ['custom', 'steps'], kind: 'number', text: String(Math.floor(row / 60) * 1e9) },
        { names: ['custom', 'flag'], kind: 'boolean', value: row % 3 === 1 },
        { names: ['custom', 'verb'], kind: 'string', text: ['GET', 'POST', 'PUT'][row % 3] },
        mixed,
        ...some,
        { names: ['syslog', 'appname'], kind: 'string', text: 'é\ud800"' },
        { names: ['message'], kind: 'string', text: `message number ${row} of all` },
      ],
    };
  });
}

/** Makes the files when they are not there: after the format's version went up, and once for the draft. */
function makeGolden(): void {
  const rows = goldenRows();
  const { frame, ref } = frameOf(batchOf(rows), 0, rows.length);
  const block = openBlock(new MemorySource(frame), ref);
  const golden: Golden = {
    ref,
    events: rows.map((_, row) => block.eventText(row)),
    timeMs: rows.map((row) => row.timeMs),
  };
  writeFileSync(FRAME_FILE, frame);
  writeFileSync(EVENTS_FILE, `${JSON.stringify(golden, null, 1)}\n`);
}

if (!existsSync(FRAME_FILE)) makeGolden();

t.test('a block of draft 1 of the format opens and says what it said', async (t) => {
  const frame = new Uint8Array(readFileSync(FRAME_FILE));
  const golden = JSON.parse(readFileSync(EVENTS_FILE, 'utf8')) as Golden;
  t.ok(verifyBlock(frame));
  const block = openBlock(new MemorySource(frame), golden.ref);
  t.same(Array.from(block.timeMs()), golden.timeMs);
  t.same(
    golden.events.map((_, row) => block.eventText(row)),
    golden.events,
  );
  for (const index of block.columns.keys()) block.column(index);
});

t.test('the same rows make the same bytes', async (t) => {
  const rows = goldenRows();
  const frame = (): Uint8Array => frameOf(batchOf(rows), 0, rows.length).frame;
  t.same(frame(), frame());
});
