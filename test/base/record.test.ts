import fc from 'fast-check';
import t from 'tap';
import {
  findRecord,
  frameRecord,
  packRecord,
  recordAt,
  unpackRecord,
} from '../../engine/base/record.ts';

const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const value = fc.oneof(fc.string(), fc.maxSafeInteger(), fc.boolean(), fc.array(fc.string()));

t.test('a record comes back from wherever it stands', async (t) => {
  fc.assert(
    fc.property(value, u32, u32, fc.uint8Array(), (record, number, previous, before) => {
      const { bytes, checksum } = frameRecord(packRecord(record), number, previous);
      const found = recordAt(Buffer.concat([before, bytes, before]), before.length);
      t.match(found, { number, previous, checksum, bytes: bytes.length });
      t.same(found && unpackRecord(found.payload), record);
    }),
  );
});

t.test('no record is whole with another byte anywhere, or without its end', async (t) => {
  fc.assert(
    fc.property(value, u32, u32, fc.nat(), fc.nat(7), (record, number, previous, at, bit) => {
      const { bytes } = frameRecord(packRecord(record), number, previous);
      t.equal(recordAt(bytes.subarray(0, at % bytes.length), 0), undefined);
      bytes[at % bytes.length] ^= 1 << bit;
      t.equal(recordAt(bytes, 0), undefined);
    }),
  );
});

t.test('a record is found behind any bytes, unless its number cannot be', async (t) => {
  fc.assert(
    fc.property(value, fc.uint8Array({ minLength: 17, maxLength: 400 }), (record, before) => {
      const { bytes } = frameRecord(packRecord(record), 7, 1);
      const content = Buffer.concat([before, bytes]);
      t.equal(findRecord(content, 0, 6), before.length);
      t.equal(findRecord(content, 0, 8), undefined);
      t.equal(findRecord(content, before.length + 1, 6), undefined);
    }),
  );
});

t.test('a payload beyond 1 MiB is refused', async (t) => {
  t.throws(() => packRecord('x'.repeat(1_048_577)), /assertion/);
});
