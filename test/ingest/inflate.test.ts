import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { BodyTooLarge, BrokenBody, inflate } from '../../server/ingest/inflate.ts';
import type { CompressedEncoding } from '../../server/ingest/protocol.ts';

const ENCODERS: [string, CompressedEncoding, (bytes: Uint8Array) => Buffer][] = [
  ['gzip', 'gzip', gzipSync],
  ['deflate', 'deflate', deflateSync],
  ['deflate without a header', 'deflate', deflateRawSync],
  ['br', 'br', brotliCompressSync],
  ['zstd', 'zstd', zstdCompressSync],
];
const LIMIT = 100_000;
const LINES = Buffer.from(
  Array.from({ length: 500 }, (_, n) => `line ${n} ${(n * 7919) % 1000}\n`).join(''),
);

for (const [name, encoding, encode] of ENCODERS) {
  const options = { encoding, bytesMax: LIMIT };

  t.test(`${name}: what was compressed comes back`, async () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) =>
        Buffer.from(inflate(encode(bytes), options)).equals(Buffer.from(bytes)),
      ),
    );
  });

  t.test(`${name}: it may lie in shared memory`, async (t) => {
    const encoded = encode(LINES);
    const memory = new Uint8Array(new SharedArrayBuffer(encoded.length + 20));
    memory.set(encoded, 10);
    t.same(inflate(memory.subarray(10, 10 + encoded.length), options), LINES);
  });

  t.test(`${name}: the limit is that of what comes out, and ends it early`, async (t) => {
    const zeros = new Uint8Array(LIMIT);
    t.equal(inflate(encode(zeros), options).length, LIMIT);
    const bomb = encode(new Uint8Array(4 * 2 ** 20));
    t.throws(() => inflate(bomb, options), BodyTooLarge);
    t.throws(() => inflate(encode(new Uint8Array(LIMIT + 1)), options), BodyTooLarge);
  });

  t.test(`${name}: every cut and every tail is seen`, async (t) => {
    const encoded = encode(LINES);
    for (let end = 1; end < encoded.length; end += 1 + Math.floor(end / 10)) {
      t.throws(() => inflate(encoded.subarray(0, end), options), BrokenBody, `cut at ${end}`);
    }
    t.throws(() => inflate(encoded.subarray(0, -1), options), BrokenBody, 'the last byte');
    const tail = Buffer.concat([encoded, Buffer.from('more text')]);
    t.throws(() => inflate(tail, options), BrokenBody, 'a tail');
  });

  t.test(`${name}: bytes of any kind are inflated or refused`, async () => {
    const encoded = encode(LINES);
    const changed = fc.tuple(fc.nat(encoded.length - 1), fc.nat(255)).map(([at, byte]) => {
      const bytes = Uint8Array.from(encoded);
      bytes[at] = byte;
      return bytes;
    });
    fc.assert(
      fc.property(fc.oneof(changed, fc.uint8Array()), (bytes) => {
        try {
          return inflate(bytes, options).length <= LIMIT;
        } catch (error) {
          return error instanceof BrokenBody || error instanceof BodyTooLarge;
        }
      }),
      { numRuns: 300 },
    );
  });
}

t.test('parts of gzip and frames of zstd may follow one another', async (t) => {
  const twice = Buffer.concat([LINES, LINES]);
  for (const [encoding, encode] of [
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const) {
    const body = Buffer.concat([encode(LINES), encode(LINES)]);
    t.same(inflate(body, { encoding, bytesMax: LIMIT }), twice, encoding);
    const bytesMax = 2 * LINES.length - 1;
    t.throws(() => inflate(body, { encoding, bytesMax }), BodyTooLarge, encoding);
  }
  const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
  const body = Buffer.concat([skippable, zstdCompressSync(LINES), skippable]);
  t.same(inflate(body, { encoding: 'zstd', bytesMax: LIMIT }), LINES, 'a frame to be skipped');
  const many = Buffer.concat(Array.from({ length: 1001 }, () => skippable));
  t.throws(() => inflate(many, { encoding: 'zstd', bytesMax: LIMIT }), /more than 1000 frames/);
});

t.test('a body without bytes holds nothing', async (t) => {
  for (const [name, encoding] of ENCODERS) {
    t.equal(inflate(new Uint8Array(0), { encoding, bytesMax: LIMIT }).length, 0, name);
  }
});
