import { finished, inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import { grow, growInUnits, slotsFor } from '../../packed/growth.ts';

const CAPACITY_MIN = 64;

/** Pairs as plain data, by their numbers. */
export interface TupleTableData {
  count: number;
  parents: Uint32Array<ArrayBuffer>;
  values: Uint32Array<ArrayBuffer>;
}

/**
 * Numbers pairs of a parent and a value from 0 on. On each level of nested buckets a tuple says what a bucket is: the
 * tuple of the enclosing bucket, and a value. Owned by one thread.
 */
export class TupleTable {
  #count = 0;
  #parents = new Uint32Array(CAPACITY_MIN);
  #values = new Uint32Array(CAPACITY_MIN);
  /** Tuple + 1 of parent 0 and a value; 0 is none. Most often there is no other parent. */
  #direct = new Int32Array(CAPACITY_MIN);
  /** Tuple + 1 of other parents; 0 is free. A power of two, at most half full. */
  #slots = new Int32Array(CAPACITY_MIN * 2);
  /** Slots that are not free. */
  #used = 0;

  /** A table of what `data` has. */
  static of({ count, parents, values }: TupleTableData): TupleTable {
    const table = new TupleTable();
    for (let tuple = 0; tuple < count; tuple++) table.add(parents[tuple], values[tuple]);
    return table;
  }

  /** Its parts; it is not to be changed any more. */
  get data(): TupleTableData {
    return { count: this.#count, parents: this.#parents, values: this.#values };
  }

  /** Tuples that it has. */
  get count(): number {
    return this.#count;
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#parents.length * 8 + (this.#direct.length + this.#slots.length) * 4;
  }

  /** Makes room for `count` pairs with values up to `valueMax`, in units: without it `add` does it at once. */
  *reserve(count: number, valueMax: number): Units<void> {
    if (valueMax >= this.#direct.length) {
      this.#direct = yield* growInUnits(this.#direct, valueMax + 1);
    }
    const wanted = this.#count + count;
    if (wanted > this.#parents.length && wanted > UNIT_SLOTS) {
      this.#parents = yield* growInUnits(this.#parents, wanted);
      this.#values = yield* growInUnits(this.#values, wanted);
    }
    if (this.#slots.length < UNIT_SLOTS) return;
    const slotCount = slotsFor(this.#slots.length, this.#used + count);
    if (slotCount > this.#slots.length) yield* this.#spread(slotCount);
  }

  /** The parent of a tuple. */
  parent(tuple: number): number {
    return this.#parents[tuple];
  }

  /** The value of a tuple. */
  value(tuple: number): number {
    return this.#values[tuple];
  }

  /** The number of a pair; -1 when it has none. */
  find(parent: number, value: number): number {
    if (parent === 0) return value < this.#direct.length ? this.#direct[value] - 1 : -1;
    return this.#slots[this.#slot(parent, value)] - 1;
  }

  /** The number of a pair, a new one when it has none. */
  add(parent: number, value: number): number {
    if (parent === 0) {
      if (value >= this.#direct.length) this.#direct = grow(this.#direct, value + 1);
      const known = this.#direct[value];
      if (known !== 0) return known - 1;
      this.#direct[value] = this.#count + 1;
      return this.#append(parent, value);
    }
    const slot = this.#slot(parent, value);
    const known = this.#slots[slot];
    if (known !== 0) return known - 1;
    this.#slots[slot] = this.#count + 1;
    const tuple = this.#append(parent, value);
    if (++this.#used * 2 > this.#slots.length) finished(this.#spread(this.#slots.length * 2));
    return tuple;
  }

  #append(parent: number, value: number): number {
    const tuple = this.#count++;
    if (tuple === this.#parents.length) {
      this.#parents = grow(this.#parents, tuple + 1);
      this.#values = grow(this.#values, tuple + 1);
    }
    this.#parents[tuple] = parent;
    this.#values[tuple] = value;
    return tuple;
  }

  /** Where a pair is, or would be. */
  #slot(parent: number, value: number): number {
    const mask = this.#slots.length - 1;
    let slot = firstSlot(parent, value, mask);
    for (let found = this.#slots[slot]; found !== 0; found = this.#slots[slot]) {
      if (this.#parents[found - 1] === parent && this.#values[found - 1] === value) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Moves all to more slots. */
  *#spread(slotCount: number): Units<void> {
    const slots = new Int32Array(slotCount);
    const mask = slotCount - 1;
    const parents = this.#parents;
    const values = this.#values;
    yield* inParts(this.#count, UNIT_SLOTS, (from, to) => {
      for (let tuple = from; tuple < to; tuple++) {
        if (parents[tuple] === 0) continue;
        let slot = firstSlot(parents[tuple], values[tuple], mask);
        while (slots[slot] !== 0) slot = (slot + 1) & mask;
        slots[slot] = tuple + 1;
      }
    });
    this.#slots = slots;
  }
}

/** The slot at which the search for a pair begins. */
function firstSlot(parent: number, value: number, mask: number): number {
  let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(value, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) & mask;
}
