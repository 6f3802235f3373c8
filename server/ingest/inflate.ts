import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
  type ZstdOptions,
  zstdDecompressSync,
} from 'node:zlib';
import { unreachable } from '../../engine/base/assert.ts';
import type { CompressedEncoding, Compression } from './protocol.ts';

/** A compressed body that is broken, cut off or goes on behind its end. */
export class BrokenBody extends Error {
  constructor(encoding: CompressedEncoding, reason: string) {
    super(`the body is not valid ${encoding}: ${reason}`);
    this.name = 'BrokenBody';
  }
}

/** A body that holds more than a body may when it is inflated, or written as UTF-8. */
export class BodyTooLarge extends Error {
  constructor(bytesMax: number, what = 'inflated') {
    super(`the ${what} body is too large; allowed: ${bytesMax} bytes`);
    this.name = 'BodyTooLarge';
  }
}

/** Result of a synchronous call of node:zlib with `info` set. */
interface Inflated {
  buffer: Buffer;
  engine: { bytesWritten: number };
}

type Inflate = (source: Uint8Array, options: ZlibOptions & ZstdOptions) => unknown;

/** Output grows by as much at a time. */
const CHUNK_BYTES = 256 * 1024;
/** Windows of zstd are of up to 2^23 bytes in HTTP. Source: RFC 9659 section 3. */
const ZSTD_WINDOW_LOG_MAX = 23;
/** Frames of one body: programs that compress in parallel make one for some megabytes. */
const ZSTD_FRAMES_MAX = 1_000;
/** Header and trailer of gzip. */
const GZIP_BYTES_MIN = 18;
/** Bytes that one byte of deflate may stand for. */
const DEFLATE_RATIO_MAX = 1_032;
const ZSTD_MAGIC = 0xfd2fb528;
const ZSTD_SKIPPABLE = 0x184d2a5;
const ZSTD_RLE = 1;
const ZSTD_RESERVED = 3;

/**
 * Inflates a whole body into memory of its own. Stops, and throws BodyTooLarge, as soon as it has more than `bytesMax`
 * bytes. Throws BrokenBody. `deflate` is with the header of zlib, or without as some clients send it.
 * Source: RFC 9110 section 8.4.1, INTERFACE.md 4.4.
 */
export function inflate(source: Uint8Array, { encoding, bytesMax }: Compression): Uint8Array {
  if (source.length === 0) return source;
  switch (encoding) {
    case 'gzip':
      return inflateWhole(gunzipSync, source, encoding, bytesMax);
    case 'deflate':
      return inflateDeflate(source, bytesMax);
    case 'br':
      return inflateWhole(brotliDecompressSync, source, encoding, bytesMax);
    case 'zstd':
      return inflateZstd(source, bytesMax);
    default:
      return unreachable(encoding);
  }
}

function inflateWhole(
  call: Inflate,
  source: Uint8Array,
  encoding: CompressedEncoding,
  bytesMax: number,
  params: Record<number, number> = {},
): Uint8Array {
  const told = encoding === 'gzip' ? gzipBytes(source) : 0;
  const chunkSize = Math.max(CHUNK_BYTES, Math.min(told, bytesMax));
  const options = { chunkSize, maxOutputLength: bytesMax, info: true, params };
  let inflated: Inflated;
  try {
    inflated = call(source, options) as Inflated;
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw new BodyTooLarge(bytesMax);
    throw new BrokenBody(encoding, error instanceof Error ? error.message : 'it is broken');
  }
  if (inflated.engine.bytesWritten < source.length) {
    throw new BrokenBody(encoding, 'it goes on behind its end');
  }
  return inflated.buffer;
}

/**
 * Bytes that a gzip body says to hold, as far as it can: with as much room at once its parts need not be put together,
 * which takes twice their memory. What is not filled of it takes none.
 */
function gzipBytes(source: Uint8Array): number {
  if (source.length < GZIP_BYTES_MIN) return 0;
  return Math.min(readUint32(source, source.length - 4), source.length * DEFLATE_RATIO_MAX);
}

function inflateDeflate(source: Uint8Array, bytesMax: number): Uint8Array {
  const hasHeader = (source[0] & 0x0f) === 8 && ((source[0] << 8) | source[1]) % 31 === 0;
  if (!hasHeader) return inflateWhole(inflateRawSync, source, 'deflate', bytesMax);
  try {
    return inflateWhole(inflateSync, source, 'deflate', bytesMax);
  } catch (error) {
    if (!(error instanceof BrokenBody)) throw error;
    try {
      return inflateWhole(inflateRawSync, source, 'deflate', bytesMax);
    } catch {
      throw error;
    }
  }
}

/** The frames are found first: zlib's call reads one, and says nothing of one that is cut off. */
function inflateZstd(source: Uint8Array, bytesMax: number): Uint8Array {
  const parts: Uint8Array[] = [];
  const params = { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX };
  let bytes = 0;
  for (let at = 0, frames = 0; at < source.length; frames++) {
    const end = zstdFrameEnd(source, at);
    if (end < 0) throw new BrokenBody('zstd', `no whole frame begins at byte ${at}`);
    if (frames === ZSTD_FRAMES_MAX) {
      throw new BrokenBody('zstd', `it has more than ${ZSTD_FRAMES_MAX} frames`);
    }
    if (readUint32(source, at) === ZSTD_MAGIC) {
      const frame = source.subarray(at, end);
      if (bytes === bytesMax) throw new BodyTooLarge(bytesMax);
      const part = inflateWhole(zstdDecompressSync, frame, 'zstd', bytesMax - bytes, params);
      bytes += part.length;
      parts.push(part);
    }
    at = end;
  }
  return parts.length === 1 ? parts[0] : Buffer.concat(parts, bytes);
}

/** Offset behind the frame at `start`, by the sizes of its blocks; -1 when it is none or is cut off. RFC 8878, 3.1. */
function zstdFrameEnd(source: Uint8Array, start: number): number {
  if (start + 8 > source.length) return -1;
  const magic = readUint32(source, start);
  if (magic >>> 4 === ZSTD_SKIPPABLE) {
    const end = start + 8 + readUint32(source, start + 4);
    return end <= source.length ? end : -1;
  }
  if (magic !== ZSTD_MAGIC) return -1;
  const descriptor = source[start + 4];
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >>> 6;
  const sizeBytes = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 1 << sizeFlag;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3];
  let at = start + 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes;
  for (let isLast = false; !isLast; ) {
    if (at + 3 > source.length) return -1;
    const block = source[at] | (source[at + 1] << 8) | (source[at + 2] << 16);
    const type = (block >>> 1) & 3;
    if (type === ZSTD_RESERVED) return -1;
    at += 3 + (type === ZSTD_RLE ? 1 : block >>> 3);
    isLast = (block & 1) === 1;
  }
  const end = at + ((descriptor & 4) === 0 ? 0 : 4);
  return end <= source.length ? end : -1;
}

function readUint32(source: Uint8Array, at: number): number {
  const high = source[at + 3] * 2 ** 24;
  return high + ((source[at + 2] << 16) | (source[at + 1] << 8) | source[at]);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
