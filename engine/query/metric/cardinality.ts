import { CARDINALITY_EXACT_MAX } from '../../base/limits.ts';
import { finished, inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import { growInUnits, slotsFor } from '../../packed/growth.ts';

const SLOTS_MIN = 64;
/** Bits of a hash that choose a register: 2^18 registers, a standard error of 0.2 %. */
const REGISTER_BITS = 18;
const REGISTERS = 1 << REGISTER_BITS;
/** Bits of a hash that are left for a register's value. */
const VALUE_BITS = 64 - REGISTER_BITS;
const LOW_VALUE_BITS = 32 - REGISTER_BITS;
/** Values of registers are below, a power of two. */
const VALUES = 64;
const HIGH_BITS = 0x80808080;

/** Distinct hashes by group as plain data. */
export interface CardinalitiesData {
  counts: Uint32Array<ArrayBuffer>;
  groups: Int32Array<ArrayBuffer>;
  lows: Int32Array<ArrayBuffer>;
  highs: Int32Array<ArrayBuffer>;
  used: number;
  registers: Map<number, Uint8Array>;
  stale: boolean;
  unread: boolean;
}

const NO_REGISTERS = new Uint8Array(0);

/**
 * Counts distinct 64-bit hashes by group: exactly up to CARDINALITY_EXACT_MAX, then by HyperLogLog. The answer does not
 * depend on the order of what is added or merged. Source: INTERFACE.md 4.8.
 */
export class Cardinalities {
  #counts = new Uint32Array(64);
  /** Group + 1 and the words of a hash; 0 is free. A power of two, at most half full. */
  #groups = new Int32Array(SLOTS_MIN);
  #lows = new Int32Array(SLOTS_MIN);
  #highs = new Int32Array(SLOTS_MIN);
  #used = 0;
  /** Of the groups that are not counted exactly any more. */
  #registers = new Map<number, Uint8Array>();
  /** True when the table has hashes of such groups, and whether some are not in their registers yet. */
  #stale = false;
  #unread = false;
  /** What registers tell of their groups, once it was asked for. */
  readonly #estimates = new Map<number, number>();

  /** Takes `data` over. */
  static of(data: CardinalitiesData): Cardinalities {
    const cardinalities = new Cardinalities();
    cardinalities.#counts = data.counts;
    cardinalities.#groups = data.groups;
    cardinalities.#lows = data.lows;
    cardinalities.#highs = data.highs;
    cardinalities.#used = data.used;
    cardinalities.#registers = data.registers;
    cardinalities.#stale = data.stale;
    cardinalities.#unread = data.unread;
    return cardinalities;
  }

  /** Its parts; it is not to be used any more. */
  get data(): CardinalitiesData {
    return {
      counts: this.#counts,
      groups: this.#groups,
      lows: this.#lows,
      highs: this.#highs,
      used: this.#used,
      registers: this.#registers,
      stale: this.#stale,
      unread: this.#unread,
    };
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#groups.length * 12 + this.#counts.length * 4 + this.#registers.size * REGISTERS;
  }

  /** Makes room for groups 0 to `groupCount - 1` and for `count` hashes, in units: without it `add` does it at once. */
  *reserve(groupCount: number, count: number): Units<void> {
    if (groupCount > this.#counts.length) {
      this.#counts = yield* growInUnits(this.#counts, groupCount);
    }
    const isSmall = this.#groups.length < UNIT_SLOTS;
    if (!isSmall && (this.#used + count) * 2 > this.#groups.length) yield* this.#spread(count);
  }

  /** Adds a hash, as two 32-bit words, to a group. */
  add(group: number, low: number, high: number): void {
    if (this.#registers.size > 0) {
      const registers = this.#registers.get(group) ?? NO_REGISTERS;
      if (registers.length > 0) {
        if (this.#estimates.size > 0) this.#estimates.delete(group);
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
      this.#unread = true;
    }
    if (this.#used * 2 > this.#groups.length) finished(this.#spread(0));
  }

  /** Adds what `other` has, in units; its group g is `groups[g]` here, where there is room. `other` stays as it was. */
  *merge(other: Cardinalities, groups: Uint32Array): Units<void> {
    if (other.#unread) yield* other.#read();
    yield* this.reserve(0, other.#used);
    const { length } = other.#groups;
    yield* inParts(length, UNIT_SLOTS, (from, to) => {
      for (let slot = from; slot < to; slot++) {
        const group = other.#groups[slot];
        if (group !== 0) this.add(groups[group - 1], other.#lows[slot], other.#highs[slot]);
      }
    });
    for (const [otherGroup, added] of other.#registers) {
      const group = groups[otherGroup];
      const registers = this.#registers.get(group) ?? new Uint8Array(REGISTERS);
      this.#estimates.delete(group);
      if (!this.#registers.has(group)) {
        this.#registers.set(group, registers);
        this.#stale = true;
        this.#unread = true;
      }
      raiseAll(registers, added);
      yield;
    }
  }

  /** Lets go of the room for hashes that are in registers, in units: of those who will only be merged. */
  *compact(): Units<void> {
    if (this.#stale) yield* this.#rebuild(slotsFor(SLOTS_MIN, 0));
  }

  /** Makes ready for `result`, in units, as long as nothing is added; without it the first result takes as long. */
  *settle(): Units<void> {
    if (this.#unread) yield* this.#read();
    for (const group of this.#registers.keys()) {
      this.result(group);
      yield;
    }
  }

  /** How many distinct hashes a group has. */
  result(group: number): number {
    const registers = this.#registers.get(group);
    if (registers === undefined) return this.#counts[group];
    if (this.#unread) finished(this.#read());
    const known = this.#estimates.get(group);
    if (known !== undefined) return known;
    const estimate = Math.round(estimateOf(registers));
    this.#estimates.set(group, estimate);
    return estimate;
  }

  /** Puts the hashes of groups that have registers there. */
  *#read(): Units<void> {
    const [groups, lows, highs] = [this.#groups, this.#lows, this.#highs];
    yield* inParts(groups.length, UNIT_SLOTS, (from, to) => {
      for (let slot = from; slot < to; slot++) {
        const own = groups[slot] === 0 ? undefined : this.#registers.get(groups[slot] - 1);
        if (own !== undefined) raise(own, lows[slot], highs[slot]);
      }
    });
    this.#unread = false;
  }

  /** Doubles the slots as needed for `count` more, unless many of the hashes can go. */
  *#spread(count: number): Units<void> {
    if (this.#stale) yield* this.#rebuild(this.#groups.length);
    const slotCount = this.#groups.length;
    const isFull = this.#used * 4 > slotCount;
    const needed = slotsFor(isFull ? slotCount * 2 : slotCount, this.#used + count);
    if (needed > slotCount) yield* this.#rebuild(needed);
  }

  /** Moves the hashes to other slots; those of groups that have registers go there. */
  *#rebuild(slotCount: number): Units<void> {
    const [groups, lows, highs] = [this.#groups, this.#lows, this.#highs];
    const toGroups = new Int32Array(slotCount);
    const toLows = new Int32Array(slotCount);
    const toHighs = new Int32Array(slotCount);
    const mask = slotCount - 1;
    const registers = this.#registers.size === 0 ? undefined : this.#registers;
    let used = 0;
    yield* inParts(groups.length, UNIT_SLOTS, (begin, end) => {
      for (let from = begin; from < end; from++) {
        if (groups[from] === 0) continue;
        const own = registers?.get(groups[from] - 1);
        if (own !== undefined) {
          raise(own, lows[from], highs[from]);
          continue;
        }
        let slot = firstSlot(groups[from] - 1, lows[from], mask);
        while (toGroups[slot] !== 0) slot = (slot + 1) & mask;
        toGroups[slot] = groups[from];
        toLows[slot] = lows[from];
        toHighs[slot] = highs[from];
        used++;
      }
    });
    [this.#groups, this.#lows, this.#highs] = [toGroups, toLows, toHighs];
    this.#used = used;
    this.#stale = false;
    this.#unread = false;
  }

  /** Where a hash of a group is, or would be. */
  #slot(group: number, low: number, high: number): number {
    const mask = this.#groups.length - 1;
    let slot = firstSlot(group, low, mask);
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

/** The slot at which the search for a hash of a group begins. */
function firstSlot(group: number, low: number, mask: number): number {
  return (low ^ Math.imul(group, 0x9e3779b1)) & mask;
}

/** Raises the register of a hash to the place of the first set bit of what is left of it. */
function raise(registers: Uint8Array, low: number, high: number): void {
  const rest = low << REGISTER_BITS;
  const value = rest !== 0 ? Math.clz32(rest) + 1 : LOW_VALUE_BITS + Math.clz32(high) + 1;
  const register = low >>> LOW_VALUE_BITS;
  if (value > registers[register]) registers[register] = value;
}

/** Raises registers to those of others, four at a time: all are below 128. */
function raiseAll(registers: Uint8Array, added: Uint8Array): void {
  const own = wordsOf(registers);
  const others = wordsOf(added);
  for (let at = 0; at < own.length; at++) {
    const [before, other] = [own[at], others[at]];
    // The high bit of a byte is left where the other one is not less.
    const reached = (((other | HIGH_BITS) - before) & HIGH_BITS) >>> 7;
    const taken = (reached << 8) - reached;
    own[at] = (before & ~taken) | (other & taken);
  }
}

/** Registers as words of four. */
function wordsOf({ buffer, byteOffset }: Uint8Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, REGISTERS / 4);
}

/** How many registers there are of each value. */
function countsOf(registers: Uint8Array): Float64Array {
  // A table for each byte of a word: to count up the same place again and again would take longer.
  const tables = new Uint32Array(4 * VALUES);
  const words = wordsOf(registers);
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    tables[word & (VALUES - 1)]++;
    tables[VALUES + ((word >>> 8) & (VALUES - 1))]++;
    tables[2 * VALUES + ((word >>> 16) & (VALUES - 1))]++;
    tables[3 * VALUES + (word >>> 24)]++;
  }
  const counts = new Float64Array(VALUES);
  for (let at = 0; at < tables.length; at++) counts[at & (VALUES - 1)] += tables[at];
  return counts;
}

/** Ertl's improved raw estimator, which needs no tables of bias. Source: arXiv 1702.01284, algorithm 6. */
function estimateOf(registers: Uint8Array): number {
  const counts = countsOf(registers);
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
