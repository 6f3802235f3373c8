import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { compressSync, uncompressSync } from 'lz4-napi';
import { assert } from '../base/assert.ts';
import { type ByteReader, type ByteWriter, unfilled } from '../base/bytes.ts';
import { damaged, EngineError } from '../base/errors.ts';
import { COMPRESSION_GAIN_MIN } from '../base/limits.ts';
import { ThreadKernel } from '../kernel/thread-kernel.ts';
import { ADDRESSES_MAGIC, packAddresses, unpackAddresses } from './addresses.ts';
import { Lz4Kernel } from './lz4-kernel.ts';
import { ZstdFrames, ZstdPacker } from './zstd.ts';

/** Compresses bytes; `undefined` when that gains less than 15 %. The result is the caller's. */
export type Compress = (bytes: Uint8Array) => Uint8Array | undefined;

/** Below this compression does not gain enough to be tried. */
const COMPRESS_BYTES_MIN = 64;
/** LZ4 takes no more at once; the raw length is a u32. */
const COMPRESS_BYTES_MAX = 0x7e000000;
/** Bytes of the raw length that stands before LZ4 data. */
const PREFIX_BYTES = 4;
/** LZ4 makes at most this many bytes of one; zstd may make more, and is not used then. */
const EXPANSION_MAX = 255;
/** The first four bytes of zstd data, which is no raw length. */
const ZSTD_MAGIC = 0xfd2fb528;
/** Higher ones take twice the time and gain 7 % on the texts of logs. */
const ZSTD_LEVEL = 1;

const ofThread = new ThreadKernel(() => Lz4Kernel.make());

/**
 * Compresses with LZ4 (block format after a u32 of the raw length); see `Compress`. A kernel does it, or the library
 * where there is none, for what is too large for it and once it has trapped; their results may differ.
 */
export function compress(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length < COMPRESS_BYTES_MIN) return undefined;
  if (bytes.length > (ofThread.get()?.bytesMax ?? 0)) return compressPlain(bytes);
  const most = Math.floor(bytes.length * (1 - COMPRESSION_GAIN_MIN)) - PREFIX_BYTES;
  const asked = ofThread.ask((kernel) => kernel.compress(bytes, most));
  if (asked === undefined) return compressPlain(bytes);
  const { answer: found } = asked;
  if (found === undefined) return undefined;
  const packed = new Uint8Array(PREFIX_BYTES + found.length);
  new DataView(packed.buffer).setUint32(0, bytes.length, true);
  packed.set(found, PREFIX_BYTES);
  return packed;
}

/** Does the same with the library. */
export function compressPlain(bytes: Uint8Array): Uint8Array | undefined {
  assert(bytes.length <= COMPRESS_BYTES_MAX, `LZ4 of ${bytes.length} bytes`);
  const packed = compressSync(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  return packed.length <= bytes.length * (1 - COMPRESSION_GAIN_MIN) ? packed : undefined;
}

/**
 * Makes a compressor of like pieces that are written once: with zstd when that makes the first one 15 % smaller than
 * LZ4 does, else with LZ4, which is read faster.
 */
export function coldCompressor(): Compress {
  let usesZstd: boolean | undefined;
  return (bytes) => {
    if (bytes.length < COMPRESS_BYTES_MIN || usesZstd === false) return compress(bytes);
    const dense = compressZstd(bytes);
    if (usesZstd === undefined) {
      const light = compress(bytes);
      const denseMax = (light ?? bytes).length * (1 - COMPRESSION_GAIN_MIN);
      usesZstd = dense !== undefined && dense.length <= denseMax;
      if (!usesZstd) return light;
    }
    return dense ?? compress(bytes);
  };
}

/** Compresses texts that lie one after the other, text i as long as `lengthOf(i)`; see `Compress`. */
export type CompressTexts = (
  bytes: Uint8Array,
  count: number,
  lengthOf: (text: number) => number,
) => Uint8Array | undefined;

/** Makes a compressor of like texts that are written once: addresses become numbers. */
export function coldTextCompressor(): CompressTexts {
  const compressed = coldCompressor();
  return (bytes, count, lengthOf) => packAddresses(bytes, count, lengthOf) ?? compressed(bytes);
}

/** The compressor of the thread, once one was asked for. */
let zstdPacker: { packer: ZstdPacker | undefined } | undefined;

function compressZstd(bytes: Uint8Array): Uint8Array | undefined {
  zstdPacker ??= { packer: ZstdPacker.make(ZSTD_LEVEL) };
  const { packer } = zstdPacker;
  const frame = packer?.pack(bytes);
  if (frame === undefined && packer !== undefined) zstdPacker = undefined;
  const packed = frame ?? compressZstdPlain(bytes);
  const most = bytes.length * (1 - COMPRESSION_GAIN_MIN);
  const gains = packed.length <= most && bytes.length <= packed.length * EXPANSION_MAX;
  return gains ? new Uint8Array(packed) : undefined;
}

/** Does the same by a call of node:zlib, which makes the same frame. */
function compressZstdPlain(bytes: Uint8Array): Uint8Array {
  const params = { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL };
  return zstdCompressSync(bytes, { params, pledgedSrcSize: bytes.length });
}

/** Memory of the caller's, of so many bytes at least, whose contents are anything. */
export type Room = (bytes: number) => Uint8Array;

/**
 * Undoes a `Compress`: the result is in `room`, when that is given, or has memory of its own. Throws CORRUPTION when it
 * does not have `rawBytes` bytes.
 */
export function decompress(packed: Uint8Array, rawBytes: number, room?: Room): Uint8Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  const claimed = packed.length < PREFIX_BYTES ? -1 : view.getUint32(0, true);
  if (claimed === ZSTD_MAGIC) return decompressZstd(packed, rawBytes, room);
  if (claimed === ADDRESSES_MAGIC) return unpackAddresses(packed, rawBytes);
  if (claimed !== rawBytes || rawBytes > packed.length * EXPANSION_MAX) {
    throw new EngineError('CORRUPTION', `LZ4 data of ${claimed} bytes, expected ${rawBytes}`);
  }
  return decompressByKernel(packed, rawBytes, room) ?? decompressPlain(packed, rawBytes);
}

/** The LZ4 data that were made of `rawBytes` bytes; `undefined` of other data, and where they cannot be as many. */
export function lz4DataOf(packed: Uint8Array, rawBytes: number): Uint8Array | undefined {
  if (packed.length < PREFIX_BYTES || rawBytes > packed.length * EXPANSION_MAX) return undefined;
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  return view.getUint32(0, true) === rawBytes ? packed.subarray(PREFIX_BYTES) : undefined;
}

/**
 * Undoes a `Compress` for the bytes `[from, to)` of the result, which have memory of their own; `room` is for all
 * others, when they are needed. Throws CORRUPTION as `decompress`, unless only what stands behind them is damaged.
 */
export function decompressPart(
  packed: Uint8Array,
  rawBytes: number,
  from: number,
  to: number,
  room: Room,
): Uint8Array {
  const isLz4 = to <= rawBytes && lz4DataOf(packed, rawBytes) !== undefined;
  const raw = isLz4 ? viewByKernel(packed, rawBytes, to) : undefined;
  const part = (raw ?? decompress(packed, rawBytes, room)).subarray(from, to);
  const own = unfilled(part.length);
  own.set(part);
  return own;
}

/** The first `wanted` bytes of LZ4 data, good until the next call; `undefined` when a kernel declines. */
function viewByKernel(
  packed: Uint8Array,
  rawBytes: number,
  wanted = rawBytes,
): Uint8Array | undefined {
  const data = packed.subarray(PREFIX_BYTES);
  const bytesMax = ofThread.get()?.bytesMax ?? 0;
  if (rawBytes > bytesMax || data.length > bytesMax) return undefined;
  return ofThread.ask((kernel) => kernel.decompress(data, rawBytes, wanted))?.answer;
}

/** Decompresses LZ4 data by a kernel; `undefined` when it declines, as what is large or damaged. */
function decompressByKernel(
  packed: Uint8Array,
  rawBytes: number,
  room: Room | undefined,
): Uint8Array | undefined {
  const raw = viewByKernel(packed, rawBytes);
  if (raw === undefined || room === undefined) return raw?.slice();
  const kept = room(rawBytes).subarray(0, rawBytes);
  kept.set(raw);
  return kept;
}

/** Does the same with the library. Throws CORRUPTION. */
export function decompressPlain(packed: Uint8Array, rawBytes: number): Uint8Array {
  let raw: Uint8Array;
  try {
    raw = uncompressSync(packed);
  } catch (cause) {
    throw new EngineError('CORRUPTION', 'LZ4 data cannot be decoded', { cause });
  }
  if (raw.length !== rawBytes) {
    throw new EngineError('CORRUPTION', `LZ4 data gave ${raw.length} bytes, not ${rawBytes}`);
  }
  return new Uint8Array(raw.buffer, raw.byteOffset, rawBytes);
}

/** The decompressor of the thread, once one was asked for. */
let zstdFrames: { frames: ZstdFrames | undefined } | undefined;

function decompressZstd(packed: Uint8Array, rawBytes: number, room?: Room): Uint8Array {
  if (rawBytes > packed.length * EXPANSION_MAX) {
    throw new EngineError('CORRUPTION', `zstd data of ${packed.length} bytes for ${rawBytes}`);
  }
  zstdFrames ??= { frames: ZstdFrames.make() };
  const { frames } = zstdFrames;
  const raw = room?.(rawBytes).subarray(0, rawBytes) ?? unfilled(rawBytes);
  if (frames?.inflate(packed, raw) === true) return raw;
  if (frames !== undefined) zstdFrames = undefined;
  return decompressZstdPlain(packed, rawBytes);
}

/** Does the same by a call of node:zlib, which says what is wrong. */
function decompressZstdPlain(packed: Uint8Array, rawBytes: number): Uint8Array {
  let raw: Uint8Array;
  try {
    raw = zstdDecompressSync(packed, { chunkSize: rawBytes, maxOutputLength: rawBytes });
  } catch (cause) {
    throw new EngineError('CORRUPTION', 'zstd data cannot be decoded', { cause });
  }
  if (raw.length !== rawBytes) {
    throw new EngineError('CORRUPTION', `zstd data gave ${raw.length} bytes, not ${rawBytes}`);
  }
  return new Uint8Array(raw.buffer, raw.byteOffset, rawBytes);
}

/** Writes packed bytes: raw length, stored length, bytes; compressed when the lengths differ. FORMAT.md 4.2. */
export function writePacked(writer: ByteWriter, bytes: Uint8Array, pack: Compress): void {
  writeStored(writer, bytes, pack(bytes) ?? bytes);
}

/** Writes packed bytes as `writePacked` does: `stored` is `bytes`, or those compressed. */
export function writeStored(writer: ByteWriter, bytes: Uint8Array, packed: Uint8Array): void {
  writer.varint(bytes.length);
  writer.varint(packed.length);
  writer.raw(packed);
}

/** Reads what `writePacked` wrote; a view when it is stored plain, else as `decompress`. Throws CORRUPTION. */
export function readPacked(reader: ByteReader, room?: Room): Uint8Array {
  const rawBytes = reader.varint();
  const stored = reader.raw(reader.varint());
  return stored.length === rawBytes ? stored : decompress(stored, rawBytes, room);
}

/** Reads packed bytes of `count` doubles. Throws CORRUPTION. */
export function readDoubles(reader: ByteReader, count: number): Float64Array {
  const bytes = readPacked(reader);
  if (bytes.length !== count * 8) damaged(`${bytes.length} bytes for ${count} doubles`);
  return new Float64Array(new Uint8Array(bytes).buffer);
}
