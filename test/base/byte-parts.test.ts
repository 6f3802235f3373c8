import fc from 'fast-check';
import t from 'tap';
import { ByteParts } from '../../engine/base/byte-parts.ts';
import { ByteWriter } from '../../engine/base/bytes.ts';

/** Writes pieces of so many bytes, each aligned, to either. */
function write(out: ByteParts | ByteWriter, sizes: readonly number[]): Uint8Array {
  for (const [number, size] of sizes.entries()) {
    out.pad(8);
    out.raw(new Uint8Array(size).fill(number + 1));
  }
  return Buffer.concat(out.parts());
}

const sizes = fc.array(fc.oneof(fc.nat(200), fc.nat(200_000)), { maxLength: 20 });

t.test('parts are what a writer has in one piece', async () => {
  fc.assert(
    fc.property(sizes, sizes, (first, second) => {
      const parts = new ByteParts();
      const whole = new ByteWriter();
      t.same(write(parts, first), write(whole, first));
      parts.reset();
      whole.reset();
      t.same(write(parts, second), write(whole, second));
    }),
    { numRuns: 50 },
  );
});

t.test('parts become one array, and are written anew then', async () => {
  fc.assert(
    fc.property(sizes, sizes, (first, second) => {
      const parts = new ByteParts();
      const whole = new ByteWriter();
      write(parts, first);
      t.same(parts.take(), write(whole, first));
      whole.reset();
      t.same(write(parts, second), write(whole, second));
    }),
    { numRuns: 50 },
  );
});

t.test('what small pieces take is little more than they are', async (t) => {
  const parts = new ByteParts();
  for (let piece = 0; piece < 10_000; piece++) parts.raw(new Uint8Array(100));
  t.ok(parts.parts().length <= 17);
});
