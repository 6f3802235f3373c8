import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { memoryOf } from '../../engine/segment/footer.ts';
import { SealedFile } from '../../engine/segment/sealed-file.ts';
import { sealedPath } from '../../engine/store/filename.ts';
import type { TestLeaf } from './leaves.ts';
import { Shelf } from './shelf.ts';

const COLUMNS = 500;
const FILES = 40;
/** Its path, and numbers of its one block; objects and arrays of its own would be above 500. */
const COLUMN_BYTES_MAX = 150;

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Bytes that objects and their buffers take. */
function heldBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** A sealed segment of one block with many columns, some of them with zones. */
async function wideSegment(): Promise<() => SealedFile> {
  const shelf = new Shelf();
  const leaves: TestLeaf[] = Array.from({ length: COLUMNS }, (_, number) => ({
    names: ['custom', `attribute_${number}`],
    ...(number % 2 === 0 ? { kind: 'number', text: `${number}` } : { kind: 'string', text: 'a' }),
  }));
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
