import fc from 'fast-check';
import t from 'tap';
import { ByteWriter } from '../../engine/base/bytes.ts';
import { finished } from '../../engine/base/pause.ts';
import { RegionWriter } from '../../engine/column/chunk.ts';
import { type Entries, EntryHash, PIECE_ENTRIES } from '../../engine/column/entries.ts';
import {
  hashEntries,
  SharedDictionary,
  writeSharedCounts,
  writeSharedEntries,
  writeSharedHashes,
} from '../../engine/column/shared-dictionary.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);

const SEED = -77;

function entriesOf(texts: readonly string[]): Entries {
  const bytes = texts.map((text) => Buffer.from(text));
  const offsets = new Uint32Array(texts.length + 1);
  for (const [at, { length }] of bytes.entries()) offsets[at + 1] = offsets[at] + length;
  return { offsets, bytes: new Uint8Array(Buffer.concat(bytes)) };
}

/** A dictionary of these texts; `change` changes the hashes that are stored, none are without it. */
function dictionaryOf(
  texts: readonly string[],
  change?: (hashes: Uint32Array) => void,
): SharedDictionary {
  const entries = entriesOf(texts);
  const regions = new ByteWriter(1024);
  const out = new RegionWriter(regions);
  writeSharedCounts(out, new Float64Array(texts.length).fill(1));
  writeSharedEntries(out, out.textCompressor(), entries);
  if (change !== undefined) {
    const hashes = new Uint32Array(texts.length);
    hashEntries(entries, SEED, hashes, 0);
    change(hashes);
    writeSharedHashes(out, SEED, hashes);
  }
  const bytes = regions.bytes().slice();
  return new SharedDictionary(out.meta.bytes().slice(), (region) =>
    region.inline === undefined
      ? bytes.slice(region.offset, region.offset + region.bytes)
      : region.inline,
  );
}

const unchanged = (): void => undefined;
const hashesOf = (dictionary: SharedDictionary, seed: number, count?: number): Int32Array =>
  finished(dictionary.hashUnits(new EntryHash(seed), count));

function verify(dictionary: SharedDictionary): void {
  for (let first = 0; first < dictionary.entryCount; first += PIECE_ENTRIES) {
    dictionary.verifyHashes(first, dictionary.piece(first));
  }
}

t.test('stored hashes are those that entries have', async (t) => {
  const date = fc
    .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
    .map((at) => at.toISOString());
  const texts = fc.uniqueArray(fc.oneof(fc.string(), date), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(texts, fc.integer(), (texts, other) => {
      const plain = dictionaryOf(texts);
      const hashed = dictionaryOf(texts, unchanged);
      verify(hashed);
      verify(plain);
      t.same(hashesOf(hashed, SEED), hashesOf(plain, SEED));
      t.same(hashesOf(hashed, other), hashesOf(plain, other));
      for (const [entry, text] of texts.entries()) {
        t.equal(finished(hashed.findUnits(Buffer.from(text))), entry);
        t.equal(finished(plain.findUnits(Buffer.from(text))), entry);
      }
    }),
    { numRuns: 60 },
  );
});

t.test('hashes of the first entries are a part of those of many thousand', async (t) => {
  const texts = Array.from({ length: 40_000 }, (_, index) => `entry ${index}`);
  const hashed = dictionaryOf(texts, unchanged);
  const all = hashesOf(hashed, SEED);
  t.same(all, hashesOf(dictionaryOf(texts), SEED));
  for (const count of [1, 1_024, 1_025, 4_096, 20_000]) {
    const some = hashesOf(dictionaryOf(texts, unchanged), SEED, count);
    t.ok(some.length >= count);
    t.same(some, all.subarray(0, some.length));
  }
  t.equal(finished(hashed.findUnits(Buffer.from('entry 39999'))), 39_999);
  t.equal(finished(hashed.findUnits(Buffer.from('entry 40000'))), -1);
});

t.test('a hash that is not that of its entry is found', async (t) => {
  const texts = Array.from({ length: 20_000 }, (_, index) => `entry ${index}`);
  for (const entry of [0, 16_383, 16_384, 19_999]) {
    const wrong = dictionaryOf(texts, (hashes) => {
      hashes[entry] ^= 0x10;
    });
    t.throws(() => verify(wrong), { code: 'CORRUPTION' });
  }
});
