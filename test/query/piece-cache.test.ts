import t from 'tap';
import type { Entries } from '../../engine/column/entries.ts';
import { PieceCache } from '../../engine/query/piece-cache.ts';

/** Asks for a piece of 100 bytes; whether it had to be read. */
function isRead(cache: PieceCache, segment: number, dictionary: number, piece: number): boolean {
  let read = false;
  const { bytes } = cache.piece(segment, dictionary, piece, () => {
    read = true;
    return { bytes: new Uint8Array(100).fill(piece), offsets: Uint32Array.of(0, 100) };
  });
  t.equal(bytes[0], piece);
  return read;
}

t.test('pieces are kept from their second reading on, those of each dictionary', async (t) => {
  const cache = new PieceCache();
  t.same(
    [1, 2, 3, 4].map(() => isRead(cache, 1, 0, 7)),
    [true, true, false, false],
  );
  t.ok(isRead(cache, 1, 1, 7));
  t.ok(isRead(cache, 2, 0, 7));
});

t.test('of more than there is room for, a part stays for all scans', async (t) => {
  const cache = new PieceCache(1_000);
  const scan = (): boolean[] => [0, 1, 2, 3].map((piece) => isRead(cache, 1, 0, piece));
  scan();
  scan();
  for (let time = 0; time < 5; time++) t.same(scan(), [false, false, true, true]);
});

t.test('pieces of segments that are gone are forgotten', async (t) => {
  const cache = new PieceCache();
  for (const segment of [1, 2]) for (let time = 0; time < 2; time++) isRead(cache, segment, 0, 0);
  cache.forget([1]);
  t.ok(isRead(cache, 1, 0, 0));
  t.notOk(isRead(cache, 2, 0, 0));
  cache.clear();
  t.ok(isRead(cache, 2, 0, 0));
});

t.test('a piece that is kept has memory of its own', async (t) => {
  const cache = new PieceCache();
  const bytes = new Uint8Array(100);
  const read = (): Entries => ({ bytes: bytes.fill(1), offsets: Uint32Array.of(0, 100) });
  for (let time = 0; time < 2; time++) cache.piece(1, 0, 0, read);
  bytes.fill(2);
  t.equal(cache.piece(1, 0, 0, read).bytes[0], 1);
});
