import { CARDINALITY_EXACT_MAX } from '../base/limits.ts';
import { grow } from '../column/growth.ts';

const SLOTS_MIN = 64;
/** Bits of a hash that choose a register: 2^18 registers, a standard error of 0.2 %. */
const REGISTER_BITS = 18;
const REGISTERS = 1 << REGISTER_BITS;
/** Bits of a hash that are left for a register's value. */
const VALUE_BITS = 64 - REGISTER_BITS;
const LOW_VALUE_BITS = 32 - REGISTER_BITS;

const NO_REGISTERS = new Uint8Array(0);

/**
 * Counts distinct 64-bit hashes by group: exactly up to CARDINALITY_EXACT_MAX, then by HyperLogLog. The answer does not
 * depend on the order of what is added or merged. Source: decisions.md 5.3.
 */
export class Cardinalities {
  #counts = new Uint32Array(64);
  /** Group + 1 and the words of a hash; 0 is free. A power of two, at most half full. */
  #groups = new Int32Array(SLOTS_MIN);
  #lows = new Int32Array(SLOTS_MIN);
  #highs = new Int32Array(SLOTS_MIN);
  #used = 0;
  /** Of the groups that are not counted exactly any more. */
  readonly #registers = new Map<number, Uint8Array>();
  /** Whether the table has hashes of such groups, which are not in their registers yet. */
  #stale = false;

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#groups.length * 12 + this.#counts.length * 4 + this.#registers.size * REGISTERS;
  }

  /** Makes room for groups 0 to `groupCount - 1`. */
  ensure(groupCount: number): void {
    if (groupCount > this.#counts.length) this.#counts = grow(this.#counts, groupCount);
  }

  /** Adds a hash, as two 32-bit words, to a group. */
  add(group: number, low: number, high: number): void {
    if (this.#registers.size > 0) {
      const registers = this.#registers.get(group) ?? NO_REGISTERS;
      if (registers.length > 0) {
        raise(registers, low, high);
        return;
      }
    }
    const slot = this.#slot(group, low | 0, high | 0);
    if (this.#groups[slot] !== 0) return;
    this.#groups[slot] = group + 1;
    this.#lows[slot] = low;
    this.#highs[slot] = high;
    this.#used++;
    if (++this.#counts[group] > CARDINALITY_EXACT_MAX) {
      this.#registers.set(group, new Uint8Array(REGISTERS));
      this.#stale = true;
    }
    if (this.#used * 2 > this.#groups.length) this.#spread();
  }

  /** Adds what `other` has; its group g is `groups[g]` here, where there is room. `other` stays as it was. */
  merge(other: Cardinalities, groups: Uint32Array): void {
    other.#settle();
    for (const [slot, group] of other.#groups.entries()) {
      if (group !== 0) this.add(groups[group - 1], other.#lows[slot], other.#highs[slot]);
    }
    for (const [otherGroup, added] of other.#registers) {
      const group = groups[otherGroup];
      const registers = this.#registers.get(group) ?? new Uint8Array(REGISTERS);
      if (!this.#registers.has(group)) {
        this.#registers.set(group, registers);
        this.#stale = true;
      }
      for (let at = 0; at < REGISTERS; at++) {
        if (added[at] > registers[at]) registers[at] = added[at];
      }
    }
  }

  /** How many distinct hashes a group has. */
  result(group: number): number {
    const registers = this.#registers.get(group);
    if (registers === undefined) return this.#counts[group];
    this.#settle();
    return Math.round(estimateOf(registers));
  }

  /** Moves the hashes of groups that have registers there. */
  #settle(): void {
    if (this.#stale) this.#rebuild(this.#groups.length);
  }

  /** Doubles the slots, unless many of the hashes can go. */
  #spread(): void {
    if (this.#stale) this.#settle();
    if (this.#used * 4 > this.#groups.length) this.#rebuild(this.#groups.length * 2);
  }

  #rebuild(slotCount: number): void {
    const [groups, lows, highs] = [this.#groups, this.#lows, this.#highs];
    this.#groups = new Int32Array(slotCount);
    this.#lows = new Int32Array(slotCount);
    this.#highs = new Int32Array(slotCount);
    this.#used = 0;
    this.#stale = false;
    for (let from = 0; from < groups.length; from++) {
      if (groups[from] === 0) continue;
      const registers = this.#registers.get(groups[from] - 1);
      if (registers !== undefined) {
        raise(registers, lows[from], highs[from]);
        continue;
      }
      const slot = this.#slot(groups[from] - 1, lows[from], highs[from]);
      this.#groups[slot] = groups[from];
      this.#lows[slot] = lows[from];
      this.#highs[slot] = highs[from];
      this.#used++;
    }
  }

  /** Where a hash of a group is, or would be. */
  #slot(group: number, low: number, high: number): number {
    const mask = this.#groups.length - 1;
    let slot = (low ^ Math.imul(group, 0x9e3779b1)) & mask;
    while (this.#groups[slot] !== 0) {
      if (
        this.#lows[slot] === low &&
        this.#highs[slot] === high &&
        this.#groups[slot] === group + 1
      ) {
        break;
      }
      slot = (slot + 1) & mask;
    }
    return slot;
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
