import { BodyTooLarge } from './inflate.ts';
import type { Decoding } from './protocol.ts';

/** Bytes that are decoded at a time, so that no string of the body's size is made. */
const CHUNK_BYTES = 65_536;

/**
 * Writes a body as UTF-8 into memory of its own, U+FFFD for what is not of the charset. UTF-16 without a byte order
 * mark is little-endian. Throws BodyTooLarge.
 */
export function decodeText(source: Uint8Array, { charset, bytesMax }: Decoding): Uint8Array {
  const isBigEndian = source[0] === 0xfe && source[1] === 0xff;
  const decoder = new TextDecoder(charset === 'utf-16' && isBigEndian ? 'utf-16be' : charset);
  const parts: Buffer[] = [];
  let bytes = 0;
  for (let at = 0; at < source.length; at += CHUNK_BYTES) {
    const end = at + CHUNK_BYTES;
    // A copy: the decoder takes no shared memory.
    const text = decoder.decode(source.slice(at, end), { stream: end < source.length });
    const part = Buffer.from(text);
    bytes += part.length;
    if (bytes > bytesMax) throw new BodyTooLarge(bytesMax, 'decoded');
    parts.push(part);
  }
  return Buffer.concat(parts, bytes);
}
