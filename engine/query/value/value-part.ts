import { HASH_BITS } from './value-numbers.ts';

/** A part of all values. */
export interface ValuePart {
  /** True when values of a hash of `ValueNumbers` are in it. */
  has(hash: number): boolean;
  /** Of what it is made, where other threads can make it too. */
  readonly spec?: HeadsSpec;
}

/** The values whose hashes have first bits that are 1 in `wanted`. Plain data that crosses threads. */
export interface HeadsSpec {
  bits: number;
  wanted: Uint8Array;
}

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
    return this.spec.wanted[hash >>> this.#shift] === 1;
  }
}
