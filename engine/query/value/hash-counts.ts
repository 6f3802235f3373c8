import { sameBytes } from '../../base/hash.ts';
import { inParts, Pace, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type { Entries, KeptEntries } from '../../column/entries.ts';
import { free, grow } from '../../packed/growth.ts';
import type { BlockRef } from '../../segment/frame.ts';
import type { CountedEntries, Stretch } from './counted-values.ts';
import { firstSlot, HashPages, NUMBER_SLOTS, nextSlot } from './hash-pages.ts';
import type { Pairs } from './pairs.ts';
import type { ValueTable } from './value-table.ts';

/** Entries that are looked at in a step of a unit, as a power of two. */
const ENTRIES_BITS = 5;

/** Entries of a block: `numbers[e]` is 1 + the number of the hash of entry e, 0 when no row has it. */
interface BlockNumbers {
  ref: BlockRef;
  numbers: Int32Array<ArrayBuffer>;
}

/** Counts by hashes as plain data: those of number n begin at `n * parentCount`. */
export interface HashCountsData {
  hashes: Int32Array<ArrayBuffer>;
  counts: Uint32Array<ArrayBuffer>;
  blocks: BlockNumbers[];
}

/**
 * Events by hashes of strings that are entries of blocks, in each of some parents: no text is read until it is known
 * which hashes matter. Owned by one thread.
 */
export class HashCounts {
  readonly parentCount: number;
  /** Distinct hashes, which are numbered from 0 on. */
  count = 0;
  /** By number; there is room for more. */
  #hashes = new Int32Array(1);
  /** Number after number, by parent. */
  #counts = new Uint32Array(1);
  readonly #slots = new HashPages(NUMBER_SLOTS);
  #blocks: BlockNumbers[] = [];
  #blockBytes = 0;

  constructor(parentCount: number) {
    this.parentCount = parentCount;
  }

  /** Memory that it takes, with that of counts in the order of parents. */
  get memoryBytes(): number {
    const words = this.#hashes.length + this.#counts.length * 2;
    return words * 4 + this.#slots.memoryBytes + this.#blockBytes;
  }

  /** Its parts; it is not to be used any more. */
  get data(): HashCountsData {
    const { count } = this;
    const hashes = this.#hashes.slice(0, count);
    const counts = this.#counts.slice(0, count * this.parentCount);
    return { hashes, counts, blocks: this.#blocks };
  }

  /** Makes room for `count` more hashes. */
  #reserve(count: number): void {
    const wanted = this.count + count;
    if (wanted > this.#hashes.length) this.#hashes = grow(this.#hashes, wanted);
    const cells = wanted * this.parentCount;
    if (cells > this.#counts.length) this.#counts = grow(this.#counts, cells);
  }

  /**
   * Counts rows of a block; `ids` are entries + 1, `hashes` those of the entries, of 31 bits.
   */
  add(ref: BlockRef, ids: Uint32Array, hashes: Int32Array, { rows, groups, count }: Pairs): void {
    this.#reserve(hashes.length);
    const numbers = new Int32Array(hashes.length);
    const counts = this.#counts;
    const { parentCount } = this;
    for (let at = 0; at < count; at++) {
      const entry = ids[rows[at]] - 1;
      if (entry < 0) continue;
      if (numbers[entry] === 0) numbers[entry] = this.#number(hashes[entry]) + 1;
      counts[(numbers[entry] - 1) * parentCount + groups[at]]++;
    }
    this.#keep({ ref, numbers });
  }

  /** Adds what others have counted of other blocks, in units. */
  *merge({ hashes, counts, blocks }: HashCountsData): Units<void> {
    const { parentCount } = this;
    this.#reserve(hashes.length);
    const own = new Int32Array(hashes.length);
    yield* inParts(hashes.length, UNIT_SLOTS, (from, to) => {
      for (let number = from; number < to; number++) own[number] = this.#number(hashes[number]);
    });
    yield* inParts(counts.length, UNIT_SLOTS, (from, to) => {
      for (let at = from; at < to; at++) {
        const parent = at % parentCount;
        this.#counts[own[(at - parent) / parentCount] * parentCount + parent] += counts[at];
      }
    });
    for (const block of blocks) {
      const { numbers } = block;
      for (let entry = 0; entry < numbers.length; entry++) {
        if (numbers[entry] !== 0) numbers[entry] = own[numbers[entry] - 1] + 1;
      }
      this.#keep(block);
      yield;
    }
  }

  /** The counts, in units, after the last block; `entriesOf` gives the entries of a block, and throws what it likes. */
  *finish(entriesOf: (ref: BlockRef) => KeptEntries): Units<CountedHashes> {
    const hashes = this.#hashes.subarray(0, this.count);
    return new CountedHashes(hashes, yield* this.#byParent(), this.#blocks, entriesOf);
  }

  /** Counts of a parent after the other, by number; in units. */
  *#byParent(): Units<Uint32Array> {
    const { count, parentCount } = this;
    if (parentCount === 1) return this.#counts.subarray(0, count);
    const counts = new Uint32Array(count * parentCount);
    yield* inParts(count, UNIT_SLOTS, (from, to) => {
      for (let number = from; number < to; number++) {
        for (let parent = 0; parent < parentCount; parent++) {
          counts[parent * count + number] = this.#counts[number * parentCount + parent];
        }
      }
    });
    return counts;
  }

  /** Frees the memory of its counts. */
  free(): void {
    free(this.#counts);
  }

  #keep(block: BlockNumbers): void {
    this.#blocks.push(block);
    this.#blockBytes += block.numbers.byteLength;
  }

  /** The number of a hash, for which there is room. */
  #number(hash: number): number {
    const page = this.#slots.pageOf(hash);
    let slot = firstSlot(page, hash, 2);
    for (; page[slot] !== 0; slot = nextSlot(page, slot, 2)) {
      if (page[slot + 1] === hash) return page[slot] - 1;
    }
    const number = this.count++;
    page[slot] = number + 1;
    page[slot + 1] = hash;
    this.#slots.took(hash);
    this.#hashes[number] = hash;
    return number;
  }
}

/** Strings by their hashes, as entries that are counted. */
export class CountedHashes implements CountedEntries {
  readonly isComplete = true;
  readonly isRanked = false;
  readonly hashes: Int32Array;
  /** Parent after parent. */
  readonly #counts: Uint32Array;
  readonly #blocks: readonly BlockNumbers[];
  readonly #entriesOf: (ref: BlockRef) => KeptEntries;

  constructor(
    hashes: Int32Array,
    counts: Uint32Array,
    blocks: readonly BlockNumbers[],
    entriesOf: (ref: BlockRef) => KeptEntries,
  ) {
    this.hashes = hashes;
    this.#counts = counts;
    this.#blocks = blocks;
    this.#entriesOf = entriesOf;
  }

  *hashUnits(): Units<Int32Array> {
    yield;
    return this.hashes;
  }

  most(): number {
    return 0;
  }

  stretches(parent: number, end: number): Stretch[] {
    const { length } = this.hashes;
    const first = parent * length;
    return [{ first: 0, counts: this.#counts.subarray(first, first + Math.min(end, length)) }];
  }

  countOf(parent: number, entry: number): number {
    return this.#counts[parent * this.hashes.length + entry];
  }

  countAbove(): number {
    return this.hashes.length;
  }

  /**
   * Reads the strings of some hashes in all blocks, in units, and tells their numbers in a table, which takes them;
   * `undefined` when several strings have one hash. Throws CORRUPTION.
   */
  *numbersIn(table: ValueTable, wanted: Uint32Array): Units<Int32Array | undefined> {
    // Asked for each entry, these would not stay in the processor's cache as places.
    const isWanted = new Uint8Array(this.hashes.length + 1);
    const places = new Int32Array(this.hashes.length + 1);
    for (let place = 0; place < wanted.length; place++) {
      isWanted[wanted[place] + 1] = 1;
      places[wanted[place] + 1] = place;
    }
    const found = new Int32Array(wanted.length).fill(-1);
    const texts = new Array<Uint8Array>(wanted.length);
    const pace = new Pace();
    for (const { ref, numbers } of this.#blocks) {
      if (pace.isFull(numbers.length >>> ENTRIES_BITS)) yield;
      let entries: Entries | undefined;
      for (let entry = 0; entry < numbers.length; entry++) {
        if (isWanted[numbers[entry]] === 0) continue;
        entries ??= yield* this.#entriesOf(ref).entryUnits();
        const { bytes, offsets } = entries;
        const [start, end] = [offsets[entry], offsets[entry + 1]];
        const place = places[numbers[entry]];
        if (found[place] < 0) {
          found[place] = table.string(bytes, start, end);
          texts[place] = bytes.slice(start, end);
          continue;
        }
        const text = texts[place];
        if (text.length !== end - start) return undefined;
        if (!sameBytes(text, 0, bytes, start, end - start)) return undefined;
      }
    }
    return found;
  }
}
