import t from 'tap';
import { CodeCache } from '../../engine/query/code-cache.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';

function refAt(offset: number, segment = 1): BlockRef {
  const place = { sealed: true, segment, writer: 0, offset, bytes: 64, ordinal: offset };
  return { ...place, rowCount: 4, firstSequence: 0, endSequence: 4, minTimeMs: 0, maxTimeMs: 9 };
}

/** Asks for the codes of a column; whether they had to be read. */
function isRead(cache: CodeCache, ref: BlockRef, column: number, codes: number[]): boolean {
  let read = false;
  const found = cache.codes(ref, column, () => {
    read = true;
    return Uint32Array.from(codes);
  });
  t.same([...found], codes);
  return read;
}

t.test('codes of up to 16 bits are kept from their second reading on', async (t) => {
  for (const codes of [
    [0, 1, 255, 7],
    [0, 256, 65_535, 1],
  ]) {
    const cache = new CodeCache();
    const read = [1, 2, 3, 4].map(() => isRead(cache, refAt(0), 2, codes));
    t.same(read, [true, true, false, false]);
    t.ok(isRead(cache, refAt(0), 3, codes), 'another column is another one');
    t.ok(isRead(cache, refAt(0, 2), 2, codes), 'and another segment');
  }
});

t.test('wider codes are read each time', async (t) => {
  const cache = new CodeCache();
  for (let time = 0; time < 6; time++) t.ok(isRead(cache, refAt(0), 0, [1, 65_536]));
  t.equal(cache.bytes, 0);
});

t.test('what a caller does to codes is not seen by the next one', async (t) => {
  const cache = new CodeCache();
  const read = (): Uint32Array => Uint32Array.of(1, 2);
  for (let time = 0; time < 4; time++) cache.codes(refAt(0), 0, read).fill(9);
  t.same([...cache.codes(refAt(0), 0, read)], [1, 2]);
});

t.test('of more than there is room for, a part stays for all scans', async (t) => {
  const cache = new CodeCache(8);
  const scan = (): boolean[] =>
    [0, 1, 2, 3].map((offset) => isRead(cache, refAt(offset), 0, [1, 2, 3, offset]));
  scan();
  scan();
  for (let time = 0; time < 5; time++) t.same(scan(), [false, false, true, true]);
  t.equal(cache.bytes, 8);
});

t.test('what nobody asks for any more makes room', async (t) => {
  const cache = new CodeCache(8);
  for (let time = 0; time < 2; time++) isRead(cache, refAt(0), 0, [1, 2, 3, 4, 5, 6, 7, 8]);
  t.equal(cache.bytes, 8);
  const read = Array.from({ length: 12 }, () => isRead(cache, refAt(1), 0, [1, 2, 3, 4]));
  t.equal(read.at(-1), false);
  t.equal(cache.bytes, 4);
});

t.test('codes of segments that are gone are forgotten', async (t) => {
  const cache = new CodeCache();
  for (const segment of [1, 2]) {
    for (let time = 0; time < 2; time++) isRead(cache, refAt(0, segment), 0, [1, 2]);
  }
  cache.forget([1]);
  t.ok(isRead(cache, refAt(0, 1), 0, [1, 2]));
  t.notOk(isRead(cache, refAt(0, 2), 0, [1, 2]));
  cache.clear();
  t.equal(cache.bytes, 0);
});
