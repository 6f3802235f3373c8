import fc from 'fast-check';
import t from 'tap';
import type { Entries } from '../../engine/column/entries.ts';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { HashLanes } from '../../engine/segment/sum/row-hash.ts';
import { hashPlain, StringHashes } from '../../engine/segment/sum/string-hash.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);
useKernels('checked');

const hashes = new StringHashes();

function entriesOf(texts: readonly Uint8Array[]): Entries {
  const offsets = new Uint32Array(texts.length + 1);
  for (const [at, { length }] of texts.entries()) offsets[at + 1] = offsets[at] + length;
  return { offsets, bytes: new Uint8Array(Buffer.concat(texts)) };
}

/** Throws unless kernel and reference give the same hashes. */
function compare(strings: Entries, keyLow: number, keyHigh: number, first: number): void {
  const count = strings.offsets.length - 1;
  const found = new HashLanes(first + count);
  const wanted = new HashLanes(first + count);
  hashes.hash(strings, { keyLow, keyHigh, into: found, first });
  hashPlain(strings, { keyLow, keyHigh, into: wanted, first }, 0, count);
  if (Buffer.compare(Buffer.from(found.low.buffer), Buffer.from(wanted.low.buffer)) !== 0)
    throw new Error('other low lanes');
  if (Buffer.compare(Buffer.from(found.high.buffer), Buffer.from(wanted.high.buffer)) !== 0)
    throw new Error('other high lanes');
}

t.test('the kernel hashes strings as the reference does', async () => {
  const texts = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 80 });
  const key = fc.integer();
  fc.assert(
    fc.property(texts, key, key, fc.nat(9), (texts, keyLow, keyHigh, first) => {
      compare(entriesOf(texts), keyLow, keyHigh, first);
    }),
    { numRuns: 300 },
  );
});

t.test('strings beyond the memory of the kernel are hashed', async () => {
  const long = new Uint8Array(1_500_000).fill(7);
  const few = Array.from({ length: 20 }, (_, at) => new Uint8Array(at).fill(at));
  const many = Array.from({ length: 40_000 }, (_, at) => Buffer.from(`value ${at}`));
  compare(entriesOf([...few, long, ...few, long, long]), 1, 2, 0);
  compare(entriesOf([...many, long, ...many]), -1, 2 ** 31, 3);
});
