import fc from 'fast-check';
import t from 'tap';
import { IdleCache } from '../../engine/query/idle-cache.ts';
import { KeptByBytes } from '../../engine/query/kept-by-bytes.ts';
import { FilterCache } from '../../engine/query/model/filter-cache.ts';
import { Room } from '../../engine/query/model/room.ts';
import { Reader } from '../../engine/query/reader.ts';
import type { TestLeaf } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';

const OWN_BYTES_MAX = 4_000;
const BYTES_MAX = 6_000;
/** The most that one value takes here, with what an entry takes. */
const VALUE_BYTES_MAX = 900;

/** Three kinds of caches, each with room for more than a third of what all may take. */
function someCaches() {
  const recent = new KeptByBytes<number, number>(OWN_BYTES_MAX);
  const idle = new IdleCache<number>(OWN_BYTES_MAX, 'first');
  const found = new FilterCache<number>(OWN_BYTES_MAX);
  const keep = [
    (key: number, bytes: number) => recent.keep(key, key % 7, key, bytes),
    (key: number, bytes: number) => void idle.get(key % 7, `${key}`, () => ({ value: key, bytes })),
    (key: number, bytes: number) => {
      const ref = { ordinal: key, segment: key % 7 };
      found.keep('', ref as Parameters<typeof found.keep>[1], key, bytes);
    },
  ];
  return { keep, recent, idle, found, room: new Room(BYTES_MAX, [recent, idle, found]) };
}

t.test(
  'caches never take more together than they may, whatever is kept in which order',
  async () => {
    const kept = fc.tuple(fc.nat(2), fc.nat(50), fc.integer({ min: 1, max: 700 }));
    fc.assert(
      fc.property(fc.array(kept, { maxLength: 200 }), (all) => {
        const { keep, room, recent, idle, found } = someCaches();
        for (const [cache, key, bytes] of all) {
          keep[cache](key, bytes);
          if (room.bytes > BYTES_MAX + VALUE_BYTES_MAX) return false;
          room.fit();
          if (room.bytes > BYTES_MAX) return false;
          if (room.bytes !== recent.bytes + idle.bytes + found.bytes) return false;
        }
        return true;
      }),
    );
  },
);

t.test('the cache that takes most lets go of what was used longest ago', async (t) => {
  const { keep, room, recent, idle } = someCaches();
  for (let key = 0; key < 8; key++) keep[0](key, 500);
  for (let key = 0; key < 5; key++) keep[1](key, 500);
  t.equal(recent.get(0), 0);
  room.fit();
  t.same([recent.bytes, idle.bytes], [3_500, 2_500]);
  t.same([recent.get(0), recent.get(1)], [0, undefined]);
});

const ROWS = 200;
const COLUMNS = 60;
const READER_BYTES_MAX = 250_000;
/** Memory that an open block counts for, with all that it may decode. */
const BLOCK_BYTES_MAX = 300_000;

/** Blocks of many columns, of which the first ones are sealed. */
async function wideShelf(): Promise<Shelf> {
  const shelf = new Shelf();
  const rows = Array.from({ length: ROWS }, (_, row) => ({
    timeMs: row,
    leaves: Array.from({ length: COLUMNS }, (_, column): TestLeaf => {
      const names = ['custom', `attribute_${column}`];
      const text = `${(row * 7919 + column) % 997}`;
      return { names, kind: column % 2 === 0 ? 'number' : 'string', text };
    }),
  }));
  const refs = [];
  for (let block = 0; block < 14; block++) refs.push(await shelf.add(rows, 0, block * ROWS));
  for (const at of [0, 2, 4, 6]) await shelf.seal(refs.slice(at, at + 2));
  return shelf;
}

t.test('a reader keeps no more than it may, whatever is read', async (t) => {
  const shelf = await wideShelf();
  const read = (reader: Reader): number => {
    let most = 0;
    for (let step = 0; step < 150; step++) {
      const ref = shelf.refs[(step * 31) % shelf.refs.length];
      const block = reader.open(ref);
      reader.footer(ref);
      block.column((step * 17) % COLUMNS);
      block.eventText(step % ROWS);
      most = Math.max(most, reader.keptBytes);
    }
    return most;
  };
  const bounded = new Reader(shelf.disk, new Uint8Array(32), { keptBytesMax: READER_BYTES_MAX });
  const most = read(bounded);
  t.ok(most <= READER_BYTES_MAX + BLOCK_BYTES_MAX, `${most} bytes`);
  const all = read(new Reader(shelf.disk, new Uint8Array(32)));
  t.ok(all > 2 * (READER_BYTES_MAX + BLOCK_BYTES_MAX), `${all} bytes`);
});
