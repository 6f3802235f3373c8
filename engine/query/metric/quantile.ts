import { finished, inParts, Pace, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import { slotsFor } from '../../column/growth.ts';

/** Bits of a double's mantissa that tell values apart: 1,024 steps an octave, so an error below 0.1 %. */
const MANTISSA_BITS = 10;
/** The upper word of a double holds 20 bits of its mantissa. */
const INDEX_SHIFT = 20 - MANTISSA_BITS;
/** Significant digits that say any double. */
const DIGITS_MAX = 17;

const double = new Float64Array(1);
/** Words of `double`; the upper one is the second: the machine is little-endian, as FORMAT.md 1 is. */
const words = new Uint32Array(double.buffer);

/** The bucket of a value above 0: buckets are in the order of the values. */
function bucketOf(value: number): number {
  double[0] = value;
  return words[1] >>> INDEX_SHIFT;
}

/** The least value of a bucket. */
function bucketStart(bucket: number): number {
  words[0] = 0;
  words[1] = bucket << INDEX_SHIFT;
  return double[0];
}

/** The value of a bucket with the fewest digits. */
function roundest(bucket: number): number {
  const low = bucketStart(bucket);
  const high = bucketStart(bucket + 1);
  const middle = low + (high - low) / 2;
  for (let digits = 1; digits < DIGITS_MAX; digits++) {
    const round = Number(middle.toPrecision(digits));
    if (round >= low && round < high) return round;
  }
  return low;
}

/** Codes of buckets lie in -2^22 to 2^22. */
const CODE_BIAS = 2 ** 22;
const CODES = 2 ** 23;
const SLOTS_MIN = 64;

/** Quantiles as plain data. */
export interface QuantilesData {
  used: number;
  groupCount: number;
  keys: Float64Array<ArrayBuffer>;
  counts: Float64Array<ArrayBuffer>;
}

/** The keys of a table by their groups: those of group g begin at `starts[g]`, and are in order once they were asked for. */
interface Ordered {
  keys: Float64Array;
  counts: Float64Array;
  starts: Uint32Array;
  isSorted: Uint8Array;
}

/** The place of a value's bucket in the order of all values: negative ones, zero, positive ones. */
function codeOf(value: number): number {
  if (value > 0) return bucketOf(value) + 1;
  return value < 0 ? -bucketOf(-value) - 1 : 0;
}

/** A value of the bucket with this code. */
function valueOfCode(code: number): number {
  if (code > 0) return roundest(code - 1);
  return code < 0 ? -roundest(-code - 1) : 0;
}

/**
 * Quantiles of numbers by group, by log-linear histograms: each is within 0.1 % of the value at its rank. Counts of
 * (group, bucket) in one hash table. Mergeable; a merge gives what adding all values to one would give. Values are finite.
 */
export class Quantiles {
  #used = 0;
  /** group * CODES + code + CODE_BIAS + 1; 0 is free. A power of two, at most half full. */
  #keys = new Float64Array(SLOTS_MIN);
  #counts = new Float64Array(SLOTS_MIN);
  #groupCount = 0;
  #ordered: Ordered | undefined;
  readonly #values = new Map<number, number>();

  /** Takes `data` over. */
  static of({ used, groupCount, keys, counts }: QuantilesData): Quantiles {
    const quantiles = new Quantiles();
    quantiles.#used = used;
    quantiles.#groupCount = groupCount;
    quantiles.#keys = keys;
    quantiles.#counts = counts;
    return quantiles;
  }

  /** What it has; it is not to be used any more. */
  get data(): QuantilesData {
    return {
      used: this.#used,
      groupCount: this.#groupCount,
      keys: this.#keys,
      counts: this.#counts,
    };
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#keys.length * 16;
  }

  /** Makes room for `count` values, in units: without it `add` does it at once. */
  *reserve(count: number): Units<void> {
    if (this.#keys.length < UNIT_SLOTS) return;
    const slotCount = slotsFor(this.#keys.length, this.#used + count);
    if (slotCount > this.#keys.length) yield* this.#spread(slotCount);
  }

  /** Adds `value` to a group. */
  add(group: number, value: number): void {
    this.#add(group * CODES + codeOf(value) + CODE_BIAS + 1, 1);
  }

  /** Adds what `other` has, in units; its group g is `groups[g]` here. `other` stays as it is. */
  *merge(other: Quantiles, groups: Uint32Array): Units<void> {
    yield* this.reserve(other.#used);
    const { length } = other.#keys;
    yield* inParts(length, UNIT_SLOTS, (from, to) => {
      for (let slot = from; slot < to; slot++) {
        const key = other.#keys[slot];
        if (key === 0) continue;
        const group = groupOf(key);
        this.#add(key + (groups[group] - group) * CODES, other.#counts[slot]);
      }
    });
  }

  /** Makes ready for `at`, in units, as long as nothing is added; without it the first `at` takes as long. */
  *settle(): Units<void> {
    const ordered = this.#ordered ?? (yield* this.#order());
    const { starts, isSorted } = ordered;
    const pace = new Pace();
    for (let group = 0; group < this.#groupCount; group++) {
      if (isSorted[group] === 0) this.#sort(ordered, group);
      if (pace.isFull(1 + starts[group + 1] - starts[group])) yield;
    }
  }

  /** A value at the rank of `percent` % of the values of a group; `undefined` when it has none. */
  at(group: number, percent: number): number | undefined {
    const ordered = this.#ordered ?? finished(this.#order());
    if (group >= this.#groupCount) return undefined;
    if (ordered.isSorted[group] === 0) this.#sort(ordered, group);
    const { keys, counts, starts } = ordered;
    const from = starts[group];
    let total = 0;
    for (let at = from; at < starts[group + 1]; at++) total += counts[at];
    if (total === 0) return undefined;
    let left = Math.max(Math.ceil((percent * total) / 100), 1);
    let at = from;
    for (left -= counts[at]; left > 0; left -= counts[at]) at++;
    return this.#value(((keys[at] - 1) % CODES) - CODE_BIAS);
  }

  /** A value of the bucket with this code, remembered: most groups have the same ones. */
  #value(code: number): number {
    const known = this.#values.get(code);
    if (known !== undefined) return known;
    const value = valueOfCode(code);
    this.#values.set(code, value);
    return value;
  }

  #add(key: number, times: number): void {
    const slot = this.#slot(key);
    this.#counts[slot] += times;
    this.#ordered = undefined;
    if (this.#keys[slot] === key) return;
    this.#keys[slot] = key;
    this.#groupCount = Math.max(this.#groupCount, groupOf(key) + 1);
    if (++this.#used * 2 > this.#keys.length) finished(this.#spread(this.#keys.length * 2));
  }

  /** Where a key is, or would be. */
  #slot(key: number): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    let slot = firstSlot(key, mask);
    while (keys[slot] !== key && keys[slot] !== 0) slot = (slot + 1) & mask;
    return slot;
  }

  /** Moves all to more slots. */
  *#spread(slotCount: number): Units<void> {
    const keys = this.#keys;
    const counts = this.#counts;
    const toKeys = new Float64Array(slotCount);
    const toCounts = new Float64Array(slotCount);
    const mask = slotCount - 1;
    yield* inParts(keys.length, UNIT_SLOTS, (begin, end) => {
      for (let from = begin; from < end; from++) {
        if (keys[from] === 0) continue;
        let slot = firstSlot(keys[from], mask);
        while (toKeys[slot] !== 0) slot = (slot + 1) & mask;
        toKeys[slot] = keys[from];
        toCounts[slot] = counts[from];
      }
    });
    this.#keys = toKeys;
    this.#counts = toCounts;
  }

  /** Puts the keys of a group side by side. */
  *#order(): Units<Ordered> {
    const table = this.#keys;
    const starts = new Uint32Array(this.#groupCount + 1);
    yield* inParts(table.length, UNIT_SLOTS, (from, to) => {
      for (let slot = from; slot < to; slot++) {
        if (table[slot] !== 0) starts[groupOf(table[slot])]++;
      }
    });
    // Where a group ends; it begins there once its keys are put in, from the last one on.
    for (let group = 1; group < starts.length; group++) starts[group] += starts[group - 1];
    const keys = new Float64Array(this.#used);
    yield* inParts(table.length, UNIT_SLOTS, (from, to) => {
      for (let slot = from; slot < to; slot++) {
        if (table[slot] !== 0) keys[--starts[groupOf(table[slot])]] = table[slot];
      }
    });
    const isSorted = new Uint8Array(this.#groupCount);
    this.#ordered = { keys, counts: new Float64Array(this.#used), starts, isSorted };
    return this.#ordered;
  }

  /** Sorts the keys of a group, and reads their counts. */
  #sort({ keys, counts, starts, isSorted }: Ordered, group: number): void {
    keys.subarray(starts[group], starts[group + 1]).sort();
    for (let at = starts[group]; at < starts[group + 1]; at++) {
      counts[at] = this.#counts[this.#slot(keys[at])];
    }
    isSorted[group] = 1;
  }
}

/** The slot at which the search for a key begins. */
function firstSlot(key: number, mask: number): number {
  const high = Math.floor(key / CODES);
  let hash = Math.imul(high, 0x9e3779b1) ^ Math.imul(key - high * CODES, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) & mask;
}

function groupOf(key: number): number {
  return Math.floor((key - 1) / CODES);
}
