import type { Units } from '../../base/pause.ts';
import {
  type EntryHash,
  type GrowingSumKeeper,
  type KeptEntries,
  SumKey,
  type Summed,
} from '../../column/entries.ts';
import { grow } from '../../packed/growth.ts';
import { type BlockRef, placeKey } from '../../segment/frame.ts';
import { firstSlot, HashPages, NUMBER_SLOTS, nextSlot } from './hash-pages.ts';
import { NumberTexts } from './number-texts.ts';

/** Memory of a block beside the numbers of its entries. */
const BLOCK_BYTES = 160;

/** The entries of a block: entry e has the number at `first + e` of `StringNumbers.numbers`. */
export interface NumberedBlock {
  readonly ref: BlockRef;
  /** How many blocks were numbered before it. */
  readonly place: number;
  readonly first: number;
  readonly end: number;
}

/**
 * Numbers of the strings that log blocks have at a path, one for each hash. A block is numbered once, for all queries.
 * Owned by one thread; whoever waits for a unit may find more numbers after it.
 */
export class StringNumbers implements Summed {
  readonly texts = new NumberTexts();
  /** Distinct hashes, which are numbered from 0 on. */
  count = 0;
  /** Numbers of entries, block after block; there is room for more. */
  numbers = new Int32Array(64);
  /** By number; there is room for more. */
  #hashes = new Int32Array(64);
  readonly #slots = new HashPages(NUMBER_SLOTS);
  readonly #blocks = new Map<string, NumberedBlock>();
  #end = 0;
  readonly #grew: (numbers: StringNumbers) => void;

  /** `grew` is told of more memory. */
  constructor(grew: (numbers: StringNumbers) => void = () => {}) {
    this.#grew = grew;
  }

  /** Those by hashes of a seed, which `keeper` keeps, if there is one. */
  static *kept(seed: number, keeper: GrowingSumKeeper | undefined): Units<StringNumbers> {
    if (keeper === undefined) return new StringNumbers();
    const key = new SumKey<StringNumbers>(`numbers by ${seed}`);
    return yield* keeper.keptUnits(key, function* () {
      yield;
      return new StringNumbers((numbers) => keeper.weigh(key, numbers));
    });
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    const words = this.numbers.length + this.#hashes.length;
    const blocks = this.#blocks.size * BLOCK_BYTES;
    return words * 4 + this.#slots.memoryBytes + blocks + this.texts.memoryBytes;
  }

  /** Blocks that were numbered. */
  get blockCount(): number {
    return this.#blocks.size;
  }

  /** The hashes of the numbers below `count`. */
  hashes(count: number): Int32Array<ArrayBuffer> {
    return this.#hashes.subarray(0, count);
  }

  /** A block whose entries have numbers; `undefined` when they have none yet. */
  find(ref: BlockRef): NumberedBlock | undefined {
    return this.#blocks.get(placeKey(ref));
  }

  /** The same of a block with these entries, whose hashes are asked for when they have no numbers yet; in units. */
  *units(ref: BlockRef, entries: KeptEntries, hash: EntryHash): Units<NumberedBlock> {
    const known = this.find(ref);
    if (known !== undefined) return known;
    const hashes = yield* entries.hashUnits(hash);
    return this.add(ref, hashes.length, (entry) => this.number(hashes[entry]));
  }

  /** Numbers the entries of a block, of so many, unless they have numbers: entry e has `numberOf(e)`. */
  add(ref: BlockRef, entryCount: number, numberOf: (entry: number) => number): NumberedBlock {
    const known = this.find(ref);
    if (known !== undefined) return known;
    const first = this.#end;
    const end = first + entryCount;
    if (end > this.numbers.length) this.numbers = grow(this.numbers, end);
    for (let entry = 0; entry < entryCount; entry++) this.numbers[first + entry] = numberOf(entry);
    const block = { ref, place: this.#blocks.size, first, end };
    this.#blocks.set(placeKey(ref), block);
    this.#end = end;
    this.#grew(this);
    return block;
  }

  /** The number of a hash of 31 bits, a new one when it has none. */
  number(hash: number): number {
    const page = this.#slots.pageOf(hash);
    let slot = firstSlot(page, hash, 2);
    for (; page[slot] !== 0; slot = nextSlot(page, slot, 2)) {
      if (page[slot + 1] === hash) return page[slot] - 1;
    }
    const number = this.count++;
    page[slot] = number + 1;
    page[slot + 1] = hash;
    this.#slots.took(hash);
    if (number === this.#hashes.length) this.#hashes = grow(this.#hashes, this.count);
    this.#hashes[number] = hash;
    return number;
  }
}
