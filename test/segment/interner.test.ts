import fc from 'fast-check';
import t from 'tap';
import { Dictionary } from '../../engine/column/dictionary.ts';
import type { Entries } from '../../engine/column/entries.ts';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { Interner } from '../../engine/segment/entry/interner.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);
useKernels('checked');

function entriesOf(texts: readonly Uint8Array[]): Entries {
  const offsets = new Uint32Array(texts.length + 1);
  for (const [at, { length }] of texts.entries()) offsets[at + 1] = offsets[at] + length;
  return { offsets, bytes: new Uint8Array(Buffer.concat(texts)) };
}

/** Throws unless an interner gathers every other entry, the last ones first, as they are in `wanted`. */
function compareGathered(interner: Interner, wanted: Dictionary): void {
  const { entryCount } = wanted;
  const count = Math.min(Math.ceil(entryCount / 2), 8_192);
  const numbers = Uint32Array.from({ length: count }, (_, at) => entryCount - 1 - 2 * at);
  const { offsets, bytes } = interner.gather(numbers);
  const isSame = numbers.every((number, at) => {
    return wanted.is(number, bytes, offsets[at], offsets[at + 1] - offsets[at]);
  });
  if (!isSame || offsets.length !== count + 1) throw new Error('other strings are gathered');
}

/** Throws unless the kernel numbers the strings, `part` at once, as a dictionary does. */
function compare(texts: readonly Uint8Array[], part: number): void {
  const strings = entriesOf(texts);
  const { offsets, bytes } = strings;
  const wanted = new Dictionary();
  const interner = new Interner();
  const numbers = new Uint32Array(part);
  for (let from = 0; from < texts.length; from += part) {
    const to = Math.min(from + part, texts.length);
    interner.intern(strings, from, to, numbers);
    for (let at = from; at < to; at++) {
      const number = wanted.intern(bytes, offsets[at], offsets[at + 1] - offsets[at]);
      if (numbers[at - from] !== number) throw new Error(`${numbers[at - from]}, not ${number}`);
    }
  }
  compareGathered(interner, wanted);
  const { entryCount, byteCount } = interner;
  const found = interner.entries();
  const isSame =
    entryCount === wanted.entryCount &&
    byteCount === wanted.byteCount &&
    found.entryCount === entryCount &&
    Buffer.compare(found.bytes.subarray(0, byteCount), wanted.bytes.subarray(0, byteCount)) === 0 &&
    wanted.offsets.subarray(0, entryCount + 1).every((offset, at) => found.offsets[at] === offset);
  if (!isSame) throw new Error('other entries');
}

t.test('the kernel numbers strings as a dictionary does', async () => {
  const text = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.nat(300).map((number) => Buffer.from(`value ${number}`)),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 400 }), fc.integer({ min: 1, max: 90 }), compare),
    { numRuns: 200 },
  );
});

t.test('strings for which the kernel has no room are numbered by a dictionary', async () => {
  const long = new Uint8Array(1_200_000).fill(7);
  const many = Array.from({ length: 60_000 }, (_, at) => Buffer.from(`value ${at % 50_000}`));
  compare(many, 20_000);
  compare([...many.slice(0, 9_000), long, ...many.slice(5_000, 20_000), long], 7_000);
  const large = Array.from({ length: 70 }, (_, at) => new Uint8Array(600_000).fill(at));
  compare([...large, ...large], 9);
});
