import fc from 'fast-check';
import t from 'tap';
import { ADDRESSES_MAGIC, addressOf, packAddresses } from '../../engine/packed/addresses.ts';
import { coldTextCompressor, decompress } from '../../engine/packed/compress.ts';
import { addressesFirst } from '../../engine/segment/entry/address-order.ts';

function pack(texts: readonly string[]): { bytes: Uint8Array; packed: Uint8Array | undefined } {
  const bytes = new Uint8Array(Buffer.from(texts.join('')));
  return { bytes, packed: packAddresses(bytes, texts.length, (text) => texts[text].length) };
}

const octet = fc.oneof(fc.nat(255), fc.constantFrom(0, 9, 10, 99, 100, 199, 200, 255));
const address = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'));
const near = fc.tuple(fc.nat(255), fc.nat(9)).map(([last, third]) => `10.0.${third}.${last}`);

t.test('addresses come back byte for byte', async () => {
  for (const texts of [address, near]) {
    for (const isSorted of [false, true]) {
      fc.assert(
        fc.property(fc.array(texts, { minLength: 1, maxLength: 300 }), (given) => {
          const number = (text: string): number => addressOf(Buffer.from(text), 0, text.length);
          const ordered = isSorted ? [...given].sort((a, b) => number(a) - number(b)) : given;
          const { bytes, packed } = pack(ordered);
          if (packed === undefined) return;
          const found = decompress(packed, bytes.length);
          if (Buffer.compare(bytes, found) !== 0) throw new Error(Buffer.from(found).toString());
        }),
      );
    }
  }
});

t.test('texts are addresses when they are printed so', async (t) => {
  for (const text of ['1.2.3.4', '0.0.0.0', '255.255.255.255', '10.20.30.40']) {
    const number = text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
    t.equal(addressOf(Buffer.from(text), 0, text.length), number, text);
  }
  for (const text of [
    ...['', '.', '1', '1.2.3', '1.2.3.', '.1.2.3', '1..2.3', '1.2.3.4.5', '1.2.3.4.'],
    ...['01.2.3.4', '1.2.3.00', '1.2.3.256', '1.2.3.1000', '1.2.3.a', ' 1.2.3.4', '1.2.3.4 '],
    ...['1.2.3.-4', '::1', '1.2.3.4294967300'],
  ]) {
    t.equal(addressOf(Buffer.from(text), 0, text.length), -1, text);
  }
});

t.test('pieces of addresses alone are numbers', async (t) => {
  const texts = Array.from(
    { length: 1_024 },
    (_, at) => `10.${at >> 8}.${(at * 7) & 255}.${at & 255}`,
  );
  const compress = coldTextCompressor();
  const ask = (given: readonly string[]): Uint8Array | undefined =>
    compress(Buffer.from(given.join('')), given.length, (text) => given[text].length);
  const magicOf = (packed: Uint8Array | undefined): number =>
    packed === undefined ? 0 : new DataView(packed.buffer, packed.byteOffset).getUint32(0, true);
  t.equal(magicOf(ask(texts)), ADDRESSES_MAGIC);
  t.ok((ask(texts)?.length ?? 0) < 1_024 * 2.4);
  t.not(magicOf(ask([...texts, 'localhost'])), ADDRESSES_MAGIC);
  t.equal(pack(['1.1.1.1']).packed, undefined, 'nothing is gained');
  t.equal(pack([]).packed, undefined);
});

t.test('bytes that are not as written are some text of the length or corruption', async () => {
  const { bytes, packed } = pack(
    Array.from({ length: 200 }, (_, at) => `10.1.${at}.${(at * 31) & 255}`),
  );
  if (packed === undefined) throw new Error('nothing is gained');
  fc.assert(
    fc.property(
      fc.nat(30),
      fc.nat(255),
      fc.nat(40),
      fc.integer({ min: -9, max: 9 }),
      (at, value, cut, more) => {
        const changed = packed.slice(0, packed.length - (cut < 35 ? 0 : cut));
        changed[at] = value;
        changed.set(packed.subarray(0, 4));
        try {
          const found = decompress(changed, bytes.length + more);
          if (found.length !== bytes.length + more) throw new Error(`${found.length} bytes`);
        } catch (error) {
          if ((error as { code?: string }).code !== 'CORRUPTION') throw error;
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

t.test('addresses stand before other entries, by their numbers', async (t) => {
  const texts = ['b', '9.0.0.1', '10.0.0.1', 'a', '2.0.0.0', '10.0.0.0', '255.0.0.255'];
  const offsets = new Uint32Array(texts.length + 1);
  for (const [at, { length }] of texts.entries()) offsets[at + 1] = offsets[at] + length;
  const entries = { offsets, bytes: new Uint8Array(Buffer.from(texts.join(''))) };
  const order = Uint32Array.from(texts, (_, at) => at);
  t.equal(addressesFirst(order, entries), 5);
  t.same(
    Array.from(order, (entry) => texts[entry]),
    ['2.0.0.0', '9.0.0.1', '10.0.0.0', '10.0.0.1', '255.0.0.255', 'b', 'a'],
  );
  const few = Uint32Array.of(0, 3, 1);
  t.equal(addressesFirst(few, entries), 0);
  t.same(Array.from(few), [0, 3, 1]);
});
