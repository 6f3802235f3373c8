import { HASH_BITS, KIND_MASK } from './value-numbers.ts';

/** A part of all values. */
export interface ValuePart {
  /** True when values of a hash of `ValueNumbers` are in it. */
  has(hash: number): boolean;
  /** Of what it is made, where other threads can make it too. */
  readonly spec?: HeadsSpec;
}

/**
 * The values whose hashes have first bits that are 1 in `wanted`, and are among `hashes`, if there are some: without
 * kinds. Plain data that crosses threads.
 */
export interface HeadsSpec {
  bits: number;
  wanted: Uint8Array;
  hashes?: ReadonlySet<number>;
}

/** Bits by which hashes are told apart before they are looked up: for so many hashes 1/16 of others come that far. */
const HEAD_BITS_MIN = 12;
const HEAD_BITS_MAX = 21;
const HEAD_BITS_MORE = 4;

/** Such a part. */
export class HashHeads implements ValuePart {
  readonly spec: HeadsSpec;
  readonly #shift: number;

  /** Reads `spec` as it is at the time. */
  constructor(spec: HeadsSpec) {
    this.spec = spec;
    this.#shift = HASH_BITS - spec.bits;
  }

  has(hash: number): boolean {
    const { wanted, hashes } = this.spec;
    if (wanted[hash >>> this.#shift] !== 1) return false;
    return hashes === undefined || hashes.has(hash & ~KIND_MASK);
  }
}

/** The values of some hashes, whose kinds do not matter. */
export function headsOf(hashes: Iterable<number>): HeadsSpec {
  const all = new Set<number>();
  for (const hash of hashes) all.add(hash & ~KIND_MASK);
  const needed = Math.ceil(Math.log2(all.size + 1)) + HEAD_BITS_MORE;
  const bits = Math.min(Math.max(needed, HEAD_BITS_MIN), HEAD_BITS_MAX);
  const wanted = new Uint8Array(1 << bits);
  for (const hash of all) wanted[hash >>> (HASH_BITS - bits)] = 1;
  return { bits, wanted, hashes: all };
}
