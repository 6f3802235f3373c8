import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { BlockHead } from '../../engine/segment/block/block-head.ts';
import { memoryOf } from '../../engine/segment/footer.ts';
import { FrameSource } from '../../engine/segment/frame-source.ts';
import { SealedFile } from '../../engine/segment/sealed-file.ts';
import { sealedPath } from '../../engine/store/filename.ts';
import { batchOf, frameOf, MemorySource } from './block-maker.ts';
import type { TestLeaf } from './leaves.ts';
import { Shelf } from './shelf.ts';

const COLUMNS = 500;
const FILES = 40;
/** Its path, and numbers of its one block; objects and arrays of its own would be above 500. */
const COLUMN_BYTES_MAX = 150;
/** Its entry as it is stored, its cells and its path; objects of its own would be above 800. */
const HEAD_COLUMN_BYTES_MAX = 180;

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Bytes that objects and their buffers take. */
function heldBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Leaves of many columns, some of them with zones. */
function manyLeaves(): TestLeaf[] {
  return Array.from({ length: COLUMNS }, (_, number) => ({
    names: ['custom', `attribute_${number}`],
    ...(number % 2 === 0 ? { kind: 'number', text: `${number}` } : { kind: 'string', text: 'a' }),
  }));
}

/** A sealed segment of one block with many columns. */
async function wideSegment(): Promise<() => SealedFile> {
  const shelf = new Shelf();
  const leaves = manyLeaves();
  await shelf.add([{ timeMs: 1, leaves }], 0, 1);
  const { segments } = await shelf.seal(shelf.refs);
  const [{ segment }] = segments;
  const file = shelf.disk.open(sealedPath(segment), 'read');
  return () => new SealedFile(file, segment);
}

t.test('a kept footer takes few bytes a column, and about as many as it says', async (t) => {
  const open = await wideSegment();
  open().footer();
  const files = Array.from({ length: FILES }, open);
  const before = heldBytes();
  for (const file of files) file.footer();
  const bytes = (heldBytes() - before) / FILES;
  t.ok(bytes < COLUMNS * COLUMN_BYTES_MAX, `${bytes} bytes`);
  const told = memoryOf(files[0].footer());
  t.ok(told > bytes / 2 && told < bytes * 2, `${told} of ${bytes} bytes`);
});

t.test('a kept head takes few bytes a column, and about as many as it says', async (t) => {
  const rows = Array.from({ length: 100 }, (_, timeMs) => ({
    timeMs,
    leaves: manyLeaves().filter((_, number) => timeMs === 0 || number % 50 === timeMs % 50),
  }));
  const { frame, ref } = frameOf(batchOf(rows), 0, rows.length);
  const head = (): BlockHead => new BlockHead(ref, new FrameSource(new MemorySource(frame), ref));
  const heads = [head()];
  t.equal(heads[0].paths.length, COLUMNS + 1);
  const before = heldBytes();
  for (let count = 0; count < FILES; count++) heads.push(head());
  t.ok(heads.every(({ paths }) => paths.at(-1) === 'custom.attribute_499'));
  const bytes = (heldBytes() - before) / FILES;
  t.ok(bytes < COLUMNS * HEAD_COLUMN_BYTES_MAX, `${bytes} bytes`);
  const told = heads[1].memoryBytes;
  t.ok(told > bytes / 2 && told < bytes * 2, `${told} of ${bytes} bytes`);
  t.ok(heads[0].directory.columns.lists().some(({ presentCount }) => presentCount < rows.length));
});
