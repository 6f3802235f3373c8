import { CARDINALITY_EXACT_MAX } from '../base/limits.ts';

/** Slots of the exact table: three times what it holds, a power of two. */
const SLOTS = 32_768;
/** Bits of a hash that choose a register: 2^18 registers, a standard error of 0.2 %. */
const REGISTER_BITS = 18;
const REGISTERS = 1 << REGISTER_BITS;
/** Bits of a hash that are left for a register's value. */
const VALUE_BITS = 64 - REGISTER_BITS;
const LOW_VALUE_BITS = 32 - REGISTER_BITS;

/**
 * Counts distinct 64-bit hashes: exactly up to CARDINALITY_EXACT_MAX, then by HyperLogLog. The answer does not
 * depend on the order of what is added or merged. Source: decisions.md 5.3.
 */
export class Cardinality {
  /** Pairs of the low and the high word; 0, 0 is a free slot. */
  #pairs: Int32Array | undefined = new Int32Array(SLOTS * 2);
  #count = 0;
  #registers: Uint8Array | undefined;

  /** Adds a hash as two 32-bit words. */
  add(low: number, high: number): void {
    if (this.#registers !== undefined) raise(this.#registers, low, high);
    else this.#addExactly(low === 0 && high === 0 ? 1 : low | 0, high | 0);
  }

  /** Adds what `other` has; `other` stays as it is. */
  merge(other: Cardinality): void {
    if (other.#registers !== undefined) {
      const registers = this.#registers ?? this.#estimate();
      for (let at = 0; at < REGISTERS; at++) {
        if (other.#registers[at] > registers[at]) registers[at] = other.#registers[at];
      }
      return;
    }
    const pairs = other.#pairs ?? new Int32Array(0);
    for (let at = 0; at < pairs.length; at += 2) {
      if (pairs[at] !== 0 || pairs[at + 1] !== 0) this.add(pairs[at], pairs[at + 1]);
    }
  }

  /** How many distinct hashes there were. */
  result(): number {
    return this.#registers === undefined ? this.#count : Math.round(estimateOf(this.#registers));
  }

  #addExactly(low: number, high: number): void {
    const pairs = this.#pairs ?? new Int32Array(0);
    let at = (low & (SLOTS - 1)) * 2;
    while (pairs[at] !== 0 || pairs[at + 1] !== 0) {
      if (pairs[at] === low && pairs[at + 1] === high) return;
      at = (at + 2) & (SLOTS * 2 - 1);
    }
    if (this.#count === CARDINALITY_EXACT_MAX) {
      raise(this.#estimate(), low, high);
      return;
    }
    pairs[at] = low;
    pairs[at + 1] = high;
    this.#count++;
  }

  /** Goes over from the exact table to registers, which are returned. */
  #estimate(): Uint8Array {
    const registers = new Uint8Array(REGISTERS);
    const pairs = this.#pairs ?? new Int32Array(0);
    for (let at = 0; at < pairs.length; at += 2) {
      if (pairs[at] !== 0 || pairs[at + 1] !== 0) raise(registers, pairs[at], pairs[at + 1]);
    }
    this.#pairs = undefined;
    this.#registers = registers;
    return registers;
  }
}

/** Raises the register of a hash to the place of the first set bit of what is left of it. */
function raise(registers: Uint8Array, low: number, high: number): void {
  const rest = low << REGISTER_BITS;
  const value = rest !== 0 ? Math.clz32(rest) + 1 : LOW_VALUE_BITS + Math.clz32(high) + 1;
  const register = low >>> LOW_VALUE_BITS;
  if (value > registers[register]) registers[register] = value;
}

/** Ertl's improved raw estimator, which needs no tables of bias. Source: arXiv 1702.01284, algorithm 6. */
function estimateOf(registers: Uint8Array): number {
  const counts = new Float64Array(VALUE_BITS + 2);
  for (let at = 0; at < REGISTERS; at++) counts[registers[at]]++;
  let z = REGISTERS * tau(1 - counts[VALUE_BITS + 1] / REGISTERS);
  for (let value = VALUE_BITS; value >= 1; value--) z = 0.5 * (z + counts[value]);
  z += REGISTERS * sigma(counts[0] / REGISTERS);
  return (REGISTERS / (2 * Math.LN2)) * (REGISTERS / z);
}

function sigma(share: number): number {
  if (share === 1) return Number.POSITIVE_INFINITY;
  let x = share;
  let y = 1;
  let z = x;
  for (let before = Number.NaN; before !== z; ) {
    before = z;
    x *= x;
    z += x * y;
    y += y;
  }
  return z;
}

function tau(share: number): number {
  if (share === 0 || share === 1) return 0;
  let x = share;
  let y = 1;
  let z = 1 - x;
  for (let before = Number.NaN; before !== z; ) {
    before = z;
    x = Math.sqrt(x);
    y *= 0.5;
    z -= (1 - x) ** 2 * y;
  }
  return z / 3;
}
