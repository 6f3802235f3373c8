import { grow } from '../../packed/growth.ts';
import { firstSlot, HashPages, NUMBER_SLOTS, nextSlot } from './hash-pages.ts';

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
  /** Tuples of other parents. */
  readonly #slots = new HashPages(NUMBER_SLOTS);

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
    return this.#parents.length * 8 + this.#direct.length * 4 + this.#slots.memoryBytes;
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
    const hash = hashOf(parent, value);
    const page = this.#slots.pageOf(hash);
    return page[this.#slotIn(page, hash, parent, value)] - 1;
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
    const hash = hashOf(parent, value);
    const page = this.#slots.pageOf(hash);
    const slot = this.#slotIn(page, hash, parent, value);
    if (page[slot] !== 0) return page[slot] - 1;
    page[slot] = this.#count + 1;
    page[slot + 1] = hash;
    this.#slots.took(hash);
    return this.#append(parent, value);
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

  /** Where a pair is in the page of its hash, or would be. */
  #slotIn(page: Int32Array, hash: number, parent: number, value: number): number {
    let slot = firstSlot(page, hash, 2);
    for (let found = page[slot]; found !== 0; found = page[slot]) {
      if (
        page[slot + 1] === hash &&
        this.#parents[found - 1] === parent &&
        this.#values[found - 1] === value
      ) {
        break;
      }
      slot = nextSlot(page, slot, 2);
    }
    return slot;
  }
}

function hashOf(parent: number, value: number): number {
  let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(value, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
