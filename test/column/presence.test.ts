import fc from 'fast-check';
import t from 'tap';
import { ByteReader, ByteWriter } from '../../engine/base/bytes.ts';
import {
  PresenceLayout,
  PresentRows,
  presenceLayout,
  spread,
  writePresence,
} from '../../engine/column/presence.ts';

function roundTrip(rows: number[], rowCount: number, layout: PresenceLayout): PresentRows {
  const writer = new ByteWriter();
  const list = Uint16Array.from(rows, (row) => row + 3);
  writePresence(writer, layout, list, 0, rows.length, 3, rowCount);
  const reader = new ByteReader(writer.bytes());
  const present = PresentRows.read(reader, layout, rows.length, rowCount);
  if (reader.remaining !== 0) throw new Error('bytes left');
  return present;
}

t.test('rows, bitmap and ranks agree in both layouts', async () => {
  fc.assert(
    fc.property(
      fc
        .integer({ min: 1, max: 700 })
        .chain((rowCount) =>
          fc.tuple(
            fc.constant(rowCount),
            fc.uniqueArray(fc.nat(rowCount - 1), { minLength: 1, maxLength: rowCount }),
          ),
        ),
      fc.constantFrom(PresenceLayout.BITMAP, PresenceLayout.POSITIONS),
      ([rowCount, unsorted], layout) => {
        const rows = unsorted.sort((a, b) => a - b);
        const present = roundTrip(rows, rowCount, layout);
        const values = Float64Array.from(rows, (_, index) => index + 1);
        const wide = spread(values, present, rowCount);
        if (rows.join() !== Array.from(present.rows()).join()) return false;
        for (let row = 0; row < rowCount; row++) {
          const rank = rows.indexOf(row);
          const bit = (present.bitmap[row >>> 5] >>> (row & 31)) & 1;
          if (present.rank(row) !== rank || bit !== (rank < 0 ? 0 : 1)) return false;
          if (wide[row] !== rank + 1) return false;
        }
        return true;
      },
    ),
  );
});

t.test('fewer than one row in sixteen makes positions', async (t) => {
  t.equal(presenceLayout(1, 17), PresenceLayout.POSITIONS);
  t.equal(presenceLayout(1, 16), PresenceLayout.BITMAP);
  t.equal(presenceLayout(2_047, 32_768), PresenceLayout.POSITIONS);
  t.equal(presenceLayout(2_048, 32_768), PresenceLayout.BITMAP);
});

t.test('the last row of the largest block has its place', async (t) => {
  for (const layout of [PresenceLayout.BITMAP, PresenceLayout.POSITIONS]) {
    const writer = new ByteWriter();
    writePresence(writer, layout, Uint16Array.of(0, 65_535), 0, 2, 0, 65_536);
    const present = PresentRows.read(new ByteReader(writer.bytes()), layout, 2, 65_536);
    t.same(Array.from(present.rows()), [0, 65_535]);
    t.equal(present.rank(65_535), 1);
  }
});

t.test('any bytes are a row list or corruption', async () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom(PresenceLayout.BITMAP, PresenceLayout.POSITIONS),
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 300 }),
      (bytes, layout, count, rowCount) => {
        try {
          const present = PresentRows.read(new ByteReader(bytes), layout, count, rowCount);
          const rows = present.rows();
          if (rows.length !== count) return false;
          return rows.every(
            (row, index) => row < rowCount && (index === 0 || row > rows[index - 1]),
          );
        } catch (error) {
          return (error as { code?: string }).code === 'CORRUPTION';
        }
      },
    ),
    { numRuns: 1000 },
  );
});
