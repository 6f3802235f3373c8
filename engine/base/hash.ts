import { randomBytes } from 'node:crypto';

/**
 * Seed of the in-memory hash tables of this process. Names and values come from strangers, so nobody outside may
 * be able to choose colliding ones. Never written to disk.
 */
export const HASH_SEED: number = randomBytes(4).readInt32LE();

/**
 * A 32-bit hash of `bytes[start, end)` for in-memory tables, never negative (31 bits).
 * Multiply and rotate a byte at a time, as in FNV-1a, finished as in MurmurHash3.
 */
export function hashBytes(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed ^ (end - start);
  for (let index = start; index < end; index++) {
    hash = Math.imul(hash ^ bytes[index], 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 1;
}

/** Compares `left[leftStart, leftStart + length)` with `right[rightStart, ...)`, byte by byte. */
export function sameBytes(
  left: Uint8Array,
  leftStart: number,
  right: Uint8Array,
  rightStart: number,
  length: number,
): boolean {
  for (let index = 0; index < length; index++) {
    if (left[leftStart + index] !== right[rightStart + index]) return false;
  }
  return true;
}
