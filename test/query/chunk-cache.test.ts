import t from 'tap';
import { ChunkCache } from '../../engine/query/chunk-cache.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';

function refAt(offset: number, segment = 1): BlockRef {
  const place = { sealed: true, segment, writer: 0, offset, bytes: 64, ordinal: offset };
  return { ...place, rowCount: 4, firstSequence: 0, endSequence: 4, minTimeMs: 0, maxTimeMs: 9 };
}

/** Asks for a chunk of a column; whether it had to be read. */
function isRead(cache: ChunkCache, ref: BlockRef, column: number, chunk: number[]): boolean {
  let read = false;
  const found = cache.chunk(ref, column, () => {
    read = true;
    return Uint8Array.from(chunk);
  });
  t.same([...found], chunk);
  return read;
}

t.test('chunks are kept from their second reading on', async (t) => {
  const chunk = [0, 1, 255, 7];
  const cache = new ChunkCache();
  const read = [1, 2, 3, 4].map(() => isRead(cache, refAt(0), 2, chunk));
  t.same(read, [true, true, false, false]);
  t.ok(isRead(cache, refAt(0), 3, chunk), 'another column is another one');
  t.ok(isRead(cache, refAt(0, 2), 2, chunk), 'and another segment');
});

t.test('chunks of many bytes a row are read each time', async (t) => {
  const cache = new ChunkCache();
  const wide = new Array<number>(1_000).fill(1);
  for (let time = 0; time < 6; time++) t.ok(isRead(cache, refAt(0), 0, wide));
  t.equal(cache.bytes, 0);
});

t.test('what is kept does not hold the bytes around it', async (t) => {
  const cache = new ChunkCache();
  const read = (): Uint8Array => new Uint8Array(4_096).subarray(8, 12);
  for (let time = 0; time < 2; time++) cache.chunk(refAt(0), 0, read);
  t.equal(cache.chunk(refAt(0), 0, read).buffer.byteLength, 4);
});

t.test('of more than there is room for, a part stays for all scans', async (t) => {
  const cache = new ChunkCache(8);
  const scan = (): boolean[] =>
    [0, 1, 2, 3].map((offset) => isRead(cache, refAt(offset), 0, [1, 2, 3, offset]));
  scan();
  scan();
  for (let time = 0; time < 5; time++) t.same(scan(), [false, false, true, true]);
  t.equal(cache.bytes, 8);
});

t.test('what nobody asks for any more makes room', async (t) => {
  const cache = new ChunkCache(8);
  for (let time = 0; time < 2; time++) isRead(cache, refAt(0), 0, [1, 2, 3, 4, 5, 6, 7, 8]);
  t.equal(cache.bytes, 8);
  const read = Array.from({ length: 12 }, () => isRead(cache, refAt(1), 0, [1, 2, 3, 4]));
  t.equal(read.at(-1), false);
  t.equal(cache.bytes, 4);
});

t.test('a chunk that is larger than the cache takes no room from others', async (t) => {
  const cache = new ChunkCache(8);
  for (let time = 0; time < 2; time++) isRead(cache, refAt(0), 0, [1, 2, 3, 4]);
  const large = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  for (let time = 0; time < 12; time++) t.ok(isRead(cache, refAt(1), 0, large));
  t.notOk(isRead(cache, refAt(0), 0, [1, 2, 3, 4]));
  t.equal(cache.bytes, 4);
});

t.test('chunks of segments that are gone are forgotten', async (t) => {
  const cache = new ChunkCache();
  for (const segment of [1, 2]) {
    for (let time = 0; time < 2; time++) isRead(cache, refAt(0, segment), 0, [1, 2]);
  }
  cache.forget([1]);
  t.ok(isRead(cache, refAt(0, 1), 0, [1, 2]));
  t.notOk(isRead(cache, refAt(0, 2), 0, [1, 2]));
  cache.clear();
  t.equal(cache.bytes, 0);
});
