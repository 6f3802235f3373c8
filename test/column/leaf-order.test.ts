import fc from 'fast-check';
import t from 'tap';
import { ByteReader, ByteWriter } from '../../engine/base/bytes.ts';
import { Kind } from '../../engine/column/kind.ts';
import {
  readOrderedShapes,
  shapesOfRows,
  writeOrderedShapes,
} from '../../engine/column/leaf-order.ts';
import { leafKey, type Shapes } from '../../engine/column/shape.ts';

const PATHS = 40;

/** A shape a row, and what is written of them. */
function written(rows: readonly (readonly number[])[]): { shapes: Shapes; bytes: Uint8Array } {
  const starts = new Uint32Array(rows.length + 1);
  for (const [row, { length }] of rows.entries()) starts[row + 1] = starts[row] + length;
  const shapes = { count: rows.length, starts, keys: Uint32Array.from(rows.flat()) };
  const writer = new ByteWriter();
  writeOrderedShapes(writer, shapes);
  return { shapes, bytes: writer.bytes().slice() };
}

/** The rows that have a leaf, a bit each. */
function presentIn(rows: readonly (readonly number[])[], key: number): Uint32Array | undefined {
  const bits = new Uint32Array(Math.ceil(rows.length / 32));
  for (const [row, keys] of rows.entries()) {
    if (keys.includes(key)) bits[row >>> 5] |= 1 << (row & 31);
  }
  return rows.every((keys) => keys.includes(key)) ? undefined : bits;
}

/** The leaves of each row as they are read. */
function read(bytes: Uint8Array, rows: readonly (readonly number[])[]): number[][] {
  const stored = readOrderedShapes(new ByteReader(bytes), rows.length, PATHS);
  const ids = Uint32Array.from(rows, (_, row) => row);
  const { starts, keys } = shapesOfRows(stored, ids, (key) => presentIn(rows, key));
  return rows.map((_, row) => Array.from(keys.subarray(starts[row], starts[row + 1])));
}

const key = fc
  .tuple(fc.nat(PATHS - 1), fc.constantFrom(Kind.NULL, Kind.OBJECT, Kind.NUMBER, Kind.STRING))
  .map(([path, kind]) => leafKey(path, kind));
const rows = fc
  .tuple(
    fc.array(fc.uniqueArray(key, { maxLength: 30 }), { minLength: 1, maxLength: 3 }),
    fc.array(fc.tuple(fc.nat(2), fc.nat()), { minLength: 1, maxLength: 80 }),
  )
  .map(([orders, chosen]) =>
    chosen.map(([order, bits]) =>
      (orders[order] ?? orders[0]).filter((_, place) => ((bits >>> (place % 31)) & 1) === 1),
    ),
  );

t.test('any shapes come back', async () => {
  fc.assert(
    fc.property(rows, (given) => {
      const found = read(written(given).bytes, given);
      if (JSON.stringify(found) !== JSON.stringify(given)) throw new Error(`${found}`);
    }),
  );
});

t.test('shapes whose leaves are in one order take a byte each', async (t) => {
  const order = Array.from({ length: PATHS }, (_, path) => leafKey(path, Kind.NUMBER));
  const given = Array.from({ length: 500 }, (_, row) =>
    order.filter((_, path) => (Math.imul(row + 1, 0x9e3779b1) >>> (path % 32)) % 2 === 0),
  );
  const { bytes } = written(given);
  t.equal(bytes.length, 500 + 1 + PATHS + order.filter((leaf) => leaf >= 128).length);
  t.same(read(bytes, given), given);
});

t.test('leaves that are too many for an order are listed', async (t) => {
  const many = Array.from({ length: 1_025 }, (_, path) => leafKey(path, Kind.STRING));
  const { bytes } = written([many]);
  t.equal(readOrderedShapes(new ByteReader(bytes), 1, 2_000).order.length, 0);
});

t.test('bytes that are not as written are shapes or corruption', async () => {
  fc.assert(
    fc.property(rows, fc.nat(200), fc.nat(255), (given, at, value) => {
      const { bytes } = written(given);
      bytes[at % bytes.length] = value;
      try {
        read(bytes, given);
      } catch (error) {
        if ((error as { code?: string }).code !== 'CORRUPTION') throw error;
      }
    }),
    { numRuns: 1_000 },
  );
});
