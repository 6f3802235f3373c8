import { grow } from '../../packed/growth.ts';

/** Multipliers of the two lanes. Source: the golden ratio in 32 bits, and MurmurHash3. */
const LOW_FACTOR = 0x9e3779b1;
const HIGH_FACTOR = 0x85ebca6b;
/** The high word of -0. */
const NEGATIVE_ZERO = -(2 ** 31);

/** Hashes of 64 bits in two lanes of 32, one pair an index: `low[i]`, `high[i]`. */
export class HashLanes {
  low = new Int32Array(0);
  high = new Int32Array(0);

  /** For `count` pairs; more by `ensure`. */
  constructor(count = 0) {
    this.ensure(count);
  }

  /** Makes room for `count` pairs at least; what was there stays. */
  ensure(count: number): void {
    if (count <= this.low.length) return;
    this.low = grow(this.low, count);
    this.high = grow(this.high, count);
  }
}

/** Mixes a word into the low lane of a hash. */
export function mixLow(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, LOW_FACTOR);
  return mixed ^ (mixed >>> 15);
}

/** Mixes a word into the high lane of a hash. */
export function mixHigh(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, HIGH_FACTOR);
  return (mixed << 13) | (mixed >>> 19);
}

/** Ends a lane: every bit of it depends on all of them. Source: MurmurHash3, fmix32. */
export function spread(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** The 64 bits of numbers as words: the low word of number i at 2 i, its high word at 2 i + 1. A view. */
export function wordsOf({ buffer, byteOffset, length }: Float64Array): Int32Array {
  return new Int32Array(buffer, byteOffset, length * 2);
}

/** The high word of number `index` of `words`; that of 0 for -0. */
export function highWord(words: Int32Array, index: number): number {
  const word = words[2 * index + 1];
  return word === NEGATIVE_ZERO && words[2 * index] === 0 ? 0 : word;
}
