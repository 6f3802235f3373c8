import fc from 'fast-check';
import t from 'tap';
import { ByteReader, ByteWriter, type FarBytes, WINDOW_BYTES } from '../../engine/base/bytes.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);

/** The same bytes, of which only those are read that are asked for. */
function farOf(bytes: Uint8Array): FarBytes {
  return {
    length: bytes.length,
    read: (from, count) => bytes.slice(from, from + count),
    whole: () => bytes,
    window: (from) => bytes.subarray(from, from + WINDOW_BYTES),
  };
}

t.test('varints are read together as one by one, near and far', async () => {
  const numbers = fc.array(fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 32 - 1 })), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(numbers, fc.boolean(), (numbers, isFar) => {
      const writer = new ByteWriter();
      for (const number of numbers) writer.varint(number);
      writer.u8(7);
      const reader = new ByteReader(isFar ? farOf(writer.bytes()) : writer.bytes());
      const found = new Uint32Array(numbers.length + 2);
      reader.varints(found, 1, numbers.length);
      if (found.join() !== [0, ...numbers, 0].join()) throw new Error(`${found}, not ${numbers}`);
      if (reader.u8() !== 7 || reader.remaining !== 0)
        throw new Error('it does not end behind them');
    }),
  );
});

t.test('varints that end early or are no u32 are damage', async (t) => {
  const into = new Uint32Array(4);
  const reads = (bytes: number[], count: number) => () =>
    new ByteReader(Uint8Array.from(bytes)).varints(into, 0, count);
  t.throws(reads([1, 2], 3), { code: 'CORRUPTION' });
  t.throws(reads([1, 0x80], 2), { code: 'CORRUPTION' });
  t.throws(reads([0xff, 0xff, 0xff, 0xff, 0x7f], 1), { code: 'CORRUPTION' });
});
