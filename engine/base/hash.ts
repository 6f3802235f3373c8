import { randomBytes } from 'node:crypto';

/**
 * Seed of the in-memory hash tables of this process. Names and values come from strangers, so nobody outside may
 * be able to choose colliding ones. Never written to disk.
 */
export const HASH_SEED: number = randomBytes(4).readInt32LE();

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);

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

/** A hash of `bytes[start, end)` of 32 bits: four bytes at a time, as MurmurHash3 does it. Source: FORMAT.md 10.3. */
export function hashText(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    const mixedWord = Math.imul(word, 0xcc9e2d51);
    hash ^= Math.imul((mixedWord << 15) | (mixedWord >>> 17), 0x1b873593);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ bytes[at], 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** A hash of a double of 32 bits. Source: FORMAT.md 10.3. */
export function hashNumber(value: number, seed: number): number {
  double[0] = value;
  let hash = Math.imul(words[0] ^ seed, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15) ^ words[1], 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 13), 0x9e3779b1);
  return hash ^ (hash >>> 16);
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
