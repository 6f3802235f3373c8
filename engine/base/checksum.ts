import { crc32 } from 'node:zlib';

/**
 * CRC-32 (IEEE 802.3) of `bytes[start, end)`, as an unsigned 32-bit number.
 * `before` is that of bytes which stand before them. Node's own implementation, 2.5 GB/s on the machine of
 * bench/README.md. Source: FORMAT.md 1.
 */
export function checksum(bytes: Uint8Array, start = 0, end = bytes.length, before = 0): number {
  return crc32(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), before);
}
