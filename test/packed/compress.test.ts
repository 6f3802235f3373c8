import { constants, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { CORPORA } from '../../bench/corpus/index.ts';
import { Draw } from '../../bench/corpus/random.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { useKernels } from '../../engine/kernel/kernel.ts';
import {
  coldCompressor,
  compress,
  compressPlain,
  decompress,
  decompressPart,
  decompressPlain,
} from '../../engine/packed/compress.ts';
import { Lz4Kernel } from '../../engine/packed/lz4-kernel.ts';
import { ZstdPacker } from '../../engine/packed/zstd.ts';

// The build whose every access is checked against the bounds of its region.
useKernels('checked');

/** A piece of random hexadecimal digits, of which LZ4 makes nothing. */
function digits(count: number): Uint8Array {
  let state = 7;
  return Uint8Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return '0123456789abcdef'.charCodeAt(state >>> 28);
  });
}

t.test('compressed pieces come back, whatever they are', async () => {
  const unit = fc.uint8Array({ maxLength: 60 });
  const piece = fc
    .tuple(unit, fc.integer({ min: 1, max: 40 }), unit)
    .map(([repeated, times, rest]) =>
      Uint8Array.from([...Array.from({ length: times }, () => [...repeated]).flat(), ...rest]),
    );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      for (const pack of [compress, coldCompressor()]) {
        for (const raw of pieces) {
          const packed = pack(raw);
          if (packed === undefined) continue;
          if (packed.length > raw.length * 0.85) throw new Error('it gains 15 %');
          if (Buffer.compare(decompress(packed, raw.length), raw) !== 0) throw new Error('differs');
        }
      }
    }),
  );
});

t.test(
  'parts of what was compressed are those of the whole, by the kernel and without it',
  async (t) => {
    const texts = [
      Buffer.from('a line that comes again and again, with a number behind it: 17\n'.repeat(90)),
      Buffer.from(Array.from({ length: 400 }, (_, at) => `${at * at} of ${at}\n`).join('')),
    ];
    const room = new Uint8Array(8_192);
    for (const form of ['checked', 'off'] as const) {
      useKernels(form);
      for (const raw of texts) {
        for (const pack of [compress, coldCompressor()]) {
          const packed = pack(raw) ?? t.fail('it is compressed');
          if (!(packed instanceof Uint8Array)) continue;
          for (let from = 0; from <= raw.length; from += 37) {
            for (const to of [from, from + 1, from + 60, raw.length]) {
              const end = Math.min(Math.max(to, from), raw.length);
              const part = decompressPart(packed, raw.length, from, end, () => room);
              if (Buffer.compare(part, raw.subarray(from, end)) !== 0) t.fail(`${from} to ${end}`);
            }
          }
          t.throws(() => decompressPart(packed, raw.length + 1, 0, 5, () => room), {
            code: 'CORRUPTION',
          });
        }
      }
      const broken = compress(texts[0]) ?? new Uint8Array(0);
      broken.fill(0, 4, 12);
      t.throws(() => decompressPart(broken, texts[0].length, 10, 90, () => room), {
        code: 'CORRUPTION',
      });
    }
    useKernels('checked');
  },
);

/** Reports whether bytes come back from the kernel, which makes no more of them than the library by a tenth. */
function isAlike(bytes: Uint8Array): boolean {
  const packed = compress(bytes);
  const plain = compressPlain(bytes);
  if (packed === undefined) return plain === undefined || plain.length * 1.1 > bytes.length * 0.85;
  if (Buffer.compare(decompress(packed, bytes.length), bytes) !== 0) return false;
  if (Buffer.compare(decompressPlain(packed, bytes.length), bytes) !== 0) return false;
  return plain === undefined || packed.length <= plain.length * 1.1 + 16;
}

t.test('texts of all lengths come back, and are as small as the library makes them', async (t) => {
  for (const { name, make } of CORPORA) {
    const next = make(3);
    const lines = Array.from({ length: name === 'hostile' ? 40 : 400 }, () => `${next()}\n`);
    const text = Buffer.from(lines.join('')).subarray(0, 200_000);
    t.ok(isAlike(text), name);
    for (let end = 64; end < 600; end++) {
      if (!isAlike(text.subarray(end >> 1, end + (end >> 1)))) t.fail(`${end} bytes of ${name}`);
    }
  }
  t.ok(isAlike(new Uint8Array(2 ** 20)), 'as much as there is room for');
  t.ok(isAlike(new Uint8Array(2 ** 20 + 1)), 'and more');
});

t.test('random digits are halved by zstd, and a run of one byte is LZ4', async (t) => {
  const raw = digits(20_000);
  t.equal(compress(raw), undefined);
  const packed = coldCompressor()(raw);
  t.ok(packed !== undefined && packed.length < 10_400);
  const run = new Uint8Array(100_000);
  t.same(coldCompressor()(run), compress(run));
});

t.test('damaged bytes are corruption, or as many as there were', async (t) => {
  for (const raw of [digits(2_000), new Uint8Array(2_000)]) {
    const packed = coldCompressor()(raw);
    if (packed === undefined) throw new Error('it is compressed');
    for (let at = 0; at < packed.length; at++) {
      const bytes = packed.slice();
      bytes[at] ^= 0x15;
      try {
        if (decompress(bytes, raw.length).length !== raw.length) t.fail(`byte ${at}`);
      } catch (error) {
        if (!(error instanceof EngineError && error.code === 'CORRUPTION')) throw error;
      }
      t.throws(() => decompress(packed, raw.length + 1), { code: 'CORRUPTION' });
      t.throws(() => decompress(packed.subarray(0, at), raw.length), { code: 'CORRUPTION' });
    }
  }
});

/** LZ4 data as the library decompresses them; `undefined` when it refuses them. */
function plainOf(packed: Uint8Array, rawBytes: number): Uint8Array | undefined {
  try {
    return decompressPlain(packed, rawBytes);
  } catch {
    return undefined;
  }
}

t.test('the kernel decompresses what the library does, or declines', async (t) => {
  const kernel = Lz4Kernel.make();
  if (kernel === undefined) throw new Error('there are no kernels');
  const draw = new Draw(11);
  let taken = 0;
  let changed = 0;
  for (let turn = 0; turn < 1_500; turn++) {
    const unit = Uint8Array.from({ length: 1 + draw.below(40) }, () => 97 + draw.below(3));
    const raw = Uint8Array.from({ length: 64 + draw.below(3_000) }, (_, at) =>
      draw.below(9) === 0 ? draw.below(256) : unit[at % unit.length],
    );
    const packed = compressPlain(raw) ?? compress(raw);
    if (packed === undefined) continue;
    const found = kernel.decompress(packed.subarray(4), raw.length);
    t.ok(found !== undefined && Buffer.compare(found, raw) === 0, `turn ${turn}`);
    for (let mutation = 0; mutation < 20; mutation++) {
      const bytes = packed.slice(
        0,
        draw.below(4) === 0 ? 4 + draw.below(packed.length) : undefined,
      );
      for (let byte = draw.below(3); byte >= 0; byte--) {
        bytes[4 + draw.below(Math.max(1, bytes.length - 4))] = draw.below(256);
      }
      const answer = kernel.decompress(bytes.subarray(4), raw.length);
      changed++;
      if (answer === undefined) continue;
      taken++;
      const plain = plainOf(bytes, raw.length);
      if (plain === undefined || Buffer.compare(plain, answer) !== 0) t.fail(`turn ${turn}`);
    }
  }
  t.ok(taken > changed / 50 && taken < changed, `${taken} of ${changed} changed ones are taken`);
});

t.test('a frame of a stream is that of a call of the library', async (t) => {
  const params = { [constants.ZSTD_c_compressionLevel]: 1 };
  const packer = ZstdPacker.make(1);
  for (const count of [64, 20_000, 300_000, 1_000, 70_000]) {
    const raw = digits(count);
    const wanted = zstdCompressSync(raw, { params, pledgedSrcSize: count });
    t.equal(Buffer.compare(packer?.pack(raw) ?? raw, wanted), 0);
  }
});

t.test('zstd is decompressed into memory of the caller, after damage too', async (t) => {
  const raw = digits(20_000);
  const packed = coldCompressor()(raw) ?? new Uint8Array(0);
  const memory = new Uint8Array(raw.length + 100);
  for (let time = 0; time < 3; time++) {
    const found = decompress(packed, raw.length, () => memory.fill(0));
    t.equal(found.buffer, memory.buffer);
    t.equal(Buffer.compare(found, raw), 0);
    t.equal(Buffer.compare(decompress(packed, raw.length), raw), 0);
    t.throws(() => decompress(packed.slice(0, 9_000), raw.length), { code: 'CORRUPTION' });
    t.throws(() => decompress(packed, raw.length - 1), { code: 'CORRUPTION' });
  }
});
