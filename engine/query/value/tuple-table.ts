import { grow } from '../../packed/growth.ts';
import { firstSlot, HashPages, NUMBER_SLOTS, nextSlot } from './hash-pages.ts';

const CAPACITY_MIN = 64;

/** Pairs of a page, as a power of two. */
const PAGE_BITS = 13;
const PAGE_PAIRS = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_PAIRS - 1;

/** Pairs as plain data, by their numbers. */
export interface TupleTableData {
  count: number;
  /** Parent and value of pair after pair, PAGE_PAIRS a page. */
  pages: readonly Uint32Array<ArrayBuffer>[];
}

/**
 * Numbers pairs of a parent and a value from 0 on. On each level of nested buckets a tuple says what a bucket is: the
 * tuple of the enclosing bucket, and a value. Owned by one thread.
 */
export class TupleTable {
  #count = 0;
  /** Parent and value of pair after pair; the first page begins small. */
  #pages = [new Uint32Array(CAPACITY_MIN * 2)];
  /** Tuple + 1 of parent 0 and a value; 0 is none. Most often there is no other parent. */
  #direct = new Int32Array(CAPACITY_MIN);
  /** Tuples of other parents. */
  readonly #slots = new HashPages(NUMBER_SLOTS);

  /** A table of what `data` has. */
  static of(data: TupleTableData): TupleTable {
    const pairs = TupleTable.over(data);
    const table = new TupleTable();
    for (let tuple = 0; tuple < data.count; tuple++) {
      table.add(pairs.parent(tuple), pairs.value(tuple));
    }
    return table;
  }

  /** Takes `data` over: its pairs can be read, and none can be looked up. */
  static over({ count, pages }: TupleTableData): TupleTable {
    const table = new TupleTable();
    table.#count = count;
    table.#pages = [...pages];
    return table;
  }

  /** Its parts; it is not to be changed any more. */
  get data(): TupleTableData {
    return { count: this.#count, pages: this.#pages };
  }

  /** Tuples that it has. */
  get count(): number {
    return this.#count;
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    const pairs = this.#pages.reduce((sum, { byteLength }) => sum + byteLength, 0);
    return pairs + this.#direct.length * 4 + this.#slots.memoryBytes;
  }

  /** The parent of a tuple. */
  parent(tuple: number): number {
    return this.#pages[tuple >>> PAGE_BITS][(tuple & PAGE_MASK) * 2];
  }

  /** The value of a tuple. */
  value(tuple: number): number {
    return this.#pages[tuple >>> PAGE_BITS][(tuple & PAGE_MASK) * 2 + 1];
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
    const place = tuple >>> PAGE_BITS;
    const at = (tuple & PAGE_MASK) * 2;
    if (place === this.#pages.length) this.#pages.push(new Uint32Array(PAGE_PAIRS * 2));
    if (at === this.#pages[place].length) this.#pages[place] = grow(this.#pages[place], at + 2);
    const page = this.#pages[place];
    page[at] = parent;
    page[at + 1] = value;
    return tuple;
  }

  /** Where a pair is in the page of its hash, or would be. */
  #slotIn(page: Int32Array, hash: number, parent: number, value: number): number {
    let slot = firstSlot(page, hash, 2);
    for (let found = page[slot]; found !== 0; found = page[slot]) {
      if (
        page[slot + 1] === hash &&
        this.parent(found - 1) === parent &&
        this.value(found - 1) === value
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
