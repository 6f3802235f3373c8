import { CARDINALITY_EXACT_MAX } from '../../base/limits.ts';
import { finished, type Units } from '../../base/pause.ts';
import { grow } from '../../packed/growth.ts';
import { firstSlot, HashPages, nextSlot } from '../value/hash-pages.ts';

/** Bits of a hash that choose a register: 2^18 registers, a standard error of 0.2 %. */
const REGISTER_BITS = 18;
const REGISTERS = 1 << REGISTER_BITS;
/** Bits of a hash that are left for a register's value. */
const VALUE_BITS = 64 - REGISTER_BITS;
const LOW_VALUE_BITS = 32 - REGISTER_BITS;
/** Values of registers are below, a power of two. */
const VALUES = 64;
const HIGH_BITS = 0x80808080;

/** Registers in a packed word, and the greatest value of one in it; values are below 2^REST_BITS. */
const PACKED = 8;
const PACKED_MAX = 15;
const NIBBLES = 0x0f0f0f0f;
const REST_BITS = 6;

/** Words of a slot: group + 1, 0 when it is free, and the words of a hash. */
const SLOT_WORDS = 3;

/** Distinct hashes by group as plain data. */
export interface CardinalitiesData {
  /** Slots of hashes. */
  pages: readonly Int32Array<ArrayBuffer>[];
  registers: Map<number, Uint8Array>;
  /** Registers of group 0 where there are no others. */
  packed: PackedRegisters | undefined;
}

/**
 * Registers in four bits each: those of the bytes of two words of four registers are in one word, the second ones
 * above. Greater values are 0 there and in `rest`, as register * 2^REST_BITS + value.
 */
interface PackedRegisters {
  words: Uint32Array;
  rest: Uint32Array;
}

const NO_REGISTERS = new Uint8Array(0);

/**
 * Counts distinct 64-bit hashes by group: exactly up to CARDINALITY_EXACT_MAX, then by HyperLogLog. The answer does not
 * depend on the order of what is added or merged. Source: INTERFACE.md 4.8.
 */
export class Cardinalities {
  #counts = new Uint32Array(64);
  #slots = this.#newSlots();
  /** Of the groups that are not counted exactly any more. */
  readonly #registers = new Map<number, Uint8Array>();
  /** True when slots may have hashes of such groups that are not in their registers yet. */
  #unread = false;
  #packed: PackedRegisters | undefined;
  /** Estimates of groups by their registers, once they were asked for. */
  readonly #estimates = new Map<number, number>();

  /** Its parts; it is not to be used any more. */
  get data(): CardinalitiesData {
    return { pages: this.#slots.pages, registers: this.#registers, packed: this.#packed };
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    const packed = this.#packed === undefined ? 0 : REGISTERS / 2 + this.#packed.rest.byteLength;
    const registers = this.#registers.size * REGISTERS + packed;
    return this.#slots.memoryBytes + this.#counts.length * 4 + registers;
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
        if (this.#estimates.size > 0) this.#estimates.delete(group);
        raise(registers, low, high);
        return;
      }
    }
    const hash = hashOf(group, low);
    const page = this.#slots.pageOf(hash);
    let slot = firstSlot(page, hash, SLOT_WORDS);
    for (; page[slot] !== 0; slot = nextSlot(page, slot, SLOT_WORDS)) {
      const isSame = page[slot + 1] === (low | 0) && page[slot + 2] === (high | 0);
      if (isSame && page[slot] === group + 1) return;
    }
    page[slot] = group + 1;
    page[slot + 1] = low;
    page[slot + 2] = high;
    if (++this.#counts[group] > CARDINALITY_EXACT_MAX) {
      this.#registers.set(group, new Uint8Array(REGISTERS));
      this.#unread = true;
    }
    this.#slots.took(hash);
  }

  /** Adds the hashes from place `from` up to `to` of some to a group. */
  addSome(group: number, lows: Int32Array, highs: Int32Array, from: number, to: number): void {
    let at = from;
    for (; at < to && !this.#registers.has(group); at++) this.add(group, lows[at], highs[at]);
    if (at === to) return;
    const registers = this.#registersOf(group);
    for (; at < to; at++) raise(registers, lows[at], highs[at]);
  }

  /** Adds the `data` of another one, in units; its group g is `groups[g]` here, where there is room. */
  *merge({ pages, registers, packed }: CardinalitiesData, groups: Uint32Array): Units<void> {
    for (const [group, added] of registers) {
      raiseAll(this.#registersOf(groups[group]), added);
      yield;
    }
    if (packed !== undefined) {
      raisePacked(this.#registersOf(groups[0]), packed);
      yield;
    }
    for (const page of pages) {
      this.#mergePage(page, groups);
      if (pages.length > 1) yield;
    }
  }

  /** Registers of a group, which has some from now on; they are to be raised. */
  #registersOf(group: number): Uint8Array {
    this.#estimates.delete(group);
    const known = this.#registers.get(group);
    if (known !== undefined) return known;
    const own = new Uint8Array(REGISTERS);
    this.#registers.set(group, own);
    this.#unread = true;
    return own;
  }

  #mergePage(page: Int32Array, groups: Uint32Array): void {
    for (let slot = 0; slot < page.length; slot += SLOT_WORDS) {
      if (page[slot] !== 0) this.add(groups[page[slot] - 1], page[slot + 1], page[slot + 2]);
    }
  }

  /** Takes less memory, when hashes of group 0, the only one there is, are in registers: `data` is all that is left. */
  compact(): void {
    const registers = this.#registers.get(0);
    if (registers === undefined) return;
    finished(this.#read());
    this.#packed = packRegisters(registers);
    this.#registers.clear();
    this.#slots = this.#newSlots();
  }

  /** Makes ready for `result`, in units, as long as nothing is added; without it the first result takes as long. */
  *settle(): Units<void> {
    yield* this.#read();
    for (const group of this.#registers.keys()) {
      this.result(group);
      yield;
    }
  }

  /** How many distinct hashes a group has. */
  result(group: number): number {
    const registers = this.#registers.get(group);
    if (registers === undefined) return this.#counts[group];
    finished(this.#read());
    const known = this.#estimates.get(group);
    if (known !== undefined) return known;
    const estimate = Math.round(estimateOf(registers));
    this.#estimates.set(group, estimate);
    return estimate;
  }

  /** Puts the hashes of groups that have registers there. */
  *#read(): Units<void> {
    if (!this.#unread) return;
    for (const page of this.#slots.pages) {
      this.#readPage(page);
      yield;
    }
    this.#unread = false;
  }

  #readPage(page: Int32Array): void {
    for (let slot = 0; slot < page.length; slot += SLOT_WORDS) {
      if (page[slot] !== 0) this.#isRead(page, slot);
    }
  }

  /** True when a hash is of a group that has registers; it is in them then. */
  #isRead(page: Int32Array, slot: number): boolean {
    const registers = this.#registers.get(page[slot] - 1);
    if (registers !== undefined) raise(registers, page[slot + 1], page[slot + 2]);
    return registers !== undefined;
  }

  #newSlots(): HashPages {
    return new HashPages({
      words: SLOT_WORDS,
      hashAt: (page, at) => hashOf(page[at] - 1, page[at + 1]),
      isOver: (page, at) => this.#registers.size > 0 && this.#isRead(page, at),
    });
  }
}

/** By what a hash of a group is found. */
function hashOf(group: number, low: number): number {
  return low ^ Math.imul(group, 0x9e3779b1);
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
  for (let at = 0; at < own.length; at++) own[at] = greater(own[at], others[at]);
}

/** Bytes of the greater ones of two words, byte by byte. */
function greater(word: number, other: number): number {
  // The high bit of a byte is left where the other one is not less.
  const reached = (((other | HIGH_BITS) - word) & HIGH_BITS) >>> 7;
  const taken = (reached << 8) - reached;
  return (word & ~taken) | (other & taken);
}

function packRegisters(registers: Uint8Array): PackedRegisters {
  const words = new Uint32Array(REGISTERS / PACKED);
  const rest: number[] = [];
  for (let at = 0; at < registers.length; at++) {
    const value = registers[at];
    if (value > PACKED_MAX) rest.push(at * 2 ** REST_BITS + value);
    else words[at >>> 3] |= value << ((at & 3) * 8 + (at & 4));
  }
  return { words, rest: Uint32Array.from(rest) };
}

/** Raises registers to packed ones. */
function raisePacked(registers: Uint8Array, { words, rest }: PackedRegisters): void {
  const own = wordsOf(registers);
  for (let at = 0; at < words.length; at++) {
    own[2 * at] = greater(own[2 * at], words[at] & NIBBLES);
    own[2 * at + 1] = greater(own[2 * at + 1], (words[at] >>> 4) & NIBBLES);
  }
  for (const one of rest) {
    const at = one >>> REST_BITS;
    registers[at] = Math.max(registers[at], one & (2 ** REST_BITS - 1));
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
