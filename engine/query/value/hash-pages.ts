import { KIND_BITS } from './value-numbers.ts';

/** Pages of a large table, as a power of two. */
const PAGE_BITS = 8;
/** Entries from which on a table has so many pages. */
const PAGED_MIN = 4_096;
const SLOTS_MIN = 64;
const HASH_FACTOR = 0x9e3779b1;
/** Parts of the slots of a page of which three eighths may be taken, and one more for each page before it. */
const FULL_PARTS = 256;
const FULL_MIN = (FULL_PARTS * 3) / 8;
const FULL_STEPS = 64;

/** Form of a slot of a table of hashes. */
export interface SlotForm {
  /** Words of a slot, 2 or 3; the first one is 0 while the slot is free. */
  words: number;
  /** The hash of what the slot at `at` of a page has. */
  hashAt(page: Int32Array, at: number): number;
  /** True when that is not needed any more; asked when a page is full, several times. */
  isOver?(page: Int32Array, at: number): boolean;
}

/** Slots of numbers by hashes: the number + 1, and the hash. */
export const NUMBER_SLOTS: SlotForm = { words: 2, hashAt: (page, at) => page[at + 1] };

/**
 * Slots of a table of hashes by open addressing, in pages that grow one by one: what is added to a large table moves a
 * small part of it at most. Owned by one thread.
 *
 * In the page of a hash, `pageOf`, a search begins at `firstSlot` and goes on by `nextSlot` until a slot is free.
 */
export class HashPages {
  readonly #form: SlotForm;
  /** Each has a power of two of slots. */
  #pages: Int32Array<ArrayBuffer>[];
  /** Slots that are taken, by page. */
  #taken = new Uint32Array(1);
  #pageMask = 0;
  #bytes = 0;

  constructor(form: SlotForm) {
    this.#form = form;
    this.#pages = [this.#newPage(SLOTS_MIN)];
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#bytes;
  }

  /** All pages, which are not to be written any more. */
  get pages(): readonly Int32Array<ArrayBuffer>[] {
    return this.#pages;
  }

  /** The page in which a hash is, or would be. */
  pageOf(hash: number): Int32Array {
    return this.#pages[this.#placeOf(hash)];
  }

  /** Takes note that a free slot was filled with something of `hash`. */
  took(hash: number): void {
    const place = this.#placeOf(hash);
    // Pages of a large table have as many, so that with one share for all they would grow at the same time.
    const full = FULL_MIN + (place % FULL_STEPS);
    const words = ++this.#taken[place] * this.#form.words;
    if (words * FULL_PARTS <= this.#pages[place].length * full) return;
    if (this.#pageMask === 0 && this.#taken[0] >= PAGED_MIN) this.#cut();
    else this.#grow(place);
  }

  #newPage(slotCount: number): Int32Array<ArrayBuffer> {
    const page = new Int32Array(slotCount * this.#form.words);
    this.#bytes += page.byteLength;
    return page;
  }

  #placeOf(hash: number): number {
    return (Math.imul(hash, HASH_FACTOR) >>> (32 - PAGE_BITS)) & this.#pageMask;
  }

  /** Cuts the only page into many. */
  #cut(): void {
    const [page] = this.#pages;
    const count = 1 << PAGE_BITS;
    this.#pageMask = count - 1;
    this.#taken = new Uint32Array(count);
    const slotCount = (PAGED_MIN / count) * 4;
    this.#bytes -= page.byteLength;
    this.#pages = Array.from({ length: count }, () => this.#newPage(slotCount));
    this.#moveAll(page);
  }

  /** Makes room in a page: it has twice as many slots then, unless many are over. */
  #grow(place: number): void {
    const page = this.#pages[place];
    const isHalfOver = this.#countOver(page) * 2 > this.#taken[place];
    this.#bytes -= page.byteLength;
    this.#pages[place] = this.#newPage((page.length / this.#form.words) * (isHalfOver ? 1 : 2));
    this.#taken[place] = 0;
    this.#moveAll(page);
  }

  #countOver(page: Int32Array): number {
    const { words } = this.#form;
    let count = 0;
    for (let at = 0; at < page.length; at += words) {
      if (page[at] !== 0 && this.#form.isOver?.(page, at) === true) count++;
    }
    return count;
  }

  /** Moves what a page has, and is not over, to the pages that there are now. */
  #moveAll(page: Int32Array): void {
    const { words } = this.#form;
    for (let from = 0; from < page.length; from += words) {
      if (page[from] === 0 || this.#form.isOver?.(page, from) === true) continue;
      const hash = this.#form.hashAt(page, from);
      const target = this.pageOf(hash);
      let to = firstSlot(target, hash, words);
      while (target[to] !== 0) to = nextSlot(target, to, words);
      for (let word = 0; word < words; word++) target[to + word] = page[from + word];
      this.took(hash);
    }
  }
}

/** The slot of a page, of so many words each, at which a search for a hash begins. */
export function firstSlot(page: Int32Array, hash: number, words: number): number {
  // Slots are a power of two, and `words` 2 or 3.
  const slotCount = 1 << (30 - Math.clz32(page.length));
  return ((hash >>> KIND_BITS) & (slotCount - 1)) * words;
}

/** The slot behind that at `at`. */
export function nextSlot(page: Int32Array, at: number, words: number): number {
  return at + words === page.length ? 0 : at + words;
}
