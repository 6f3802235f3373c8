import t from 'tap';
import { ByteWriter } from '../../engine/base/bytes.ts';
import { BLOCK_TEXT_BYTES_MAX } from '../../engine/base/limits.ts';
import { Batch } from '../../engine/column/batch.ts';
import { Kind } from '../../engine/column/kind.ts';
import { PATH_MESSAGE, PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { grow } from '../../engine/packed/growth.ts';

/** Row records with a message of so many bytes each. */
function messages(lengths: readonly number[]): Rows {
  const rows = new Rows();
  const source = new Uint8Array(Math.max(...lengths)).fill(120);
  rows.reset(source, 0);
  for (const length of lengths) {
    rows.add(PATH_MESSAGE, Kind.STRING, 0, length, 0, 0);
    rows.endRow(0);
  }
  return rows;
}

t.test('a batch takes rows as long as their text fits in a block, and not one more', async (t) => {
  const mebibyte = 2 ** 20;
  const count = BLOCK_TEXT_BYTES_MAX / mebibyte;
  const batch = new Batch(new PathTable());
  const rows = messages([...new Array<number>(count - 1).fill(mebibyte), mebibyte - 1, 2, 1]);
  t.equal(batch.append(rows, 0), count);
  t.ok(batch.isFull);
  t.equal(batch.append(rows, count), 0, 'a full one takes nothing, however short');
  batch.clear();
  t.notOk(batch.isFull);
  t.equal(batch.append(rows, 1), count + 1, 'without the first one all of them fit');
});

t.test('a row that is larger than a block is one of its own', async (t) => {
  const batch = new Batch(new PathTable());
  const rows = messages([BLOCK_TEXT_BYTES_MAX + 5, 1]);
  t.equal(batch.append(rows, 0), 1);
  t.ok(batch.isFull);
});

t.test('what would pass 32 bits is a bug that shows at once', async (t) => {
  t.throws(() => grow(new Uint8Array(1), 2 ** 32), /assertion failed: an array of 4294967296/);
  const writer = new ByteWriter();
  t.throws(() => writer.u32(2 ** 32), /assertion failed: a u32 has 32 bits/);
  t.throws(() => writer.u32(-1), /assertion/);
});
