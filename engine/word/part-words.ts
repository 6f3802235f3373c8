import type { Entries } from '../column/entries.ts';
import { HashSet } from './hash-set.ts';
import type { WordCounts } from './word-counts.ts';
import { type HashSink, hashOfValue, hashWords, needsValueHash } from './word-hash.ts';

/** Values of a part of a column. */
export interface PartValues {
  entries: Entries;
  /** The entry of each value; left out when they are the entries in their order. */
  entryOf?: ArrayLike<number> | undefined;
  /** Values by entry that one stands for; 1 unless it is given. */
  rowsOf?: ArrayLike<number> | undefined;
  /** The part is the values `[from, to)`. */
  from: number;
  to: number;
  /** Values are found as a whole too, when their words do not tell them from others. */
  hasValues: boolean;
}

/** Finds the words of a part of a column. Owned by one thread. */
export interface PartWords {
  /**
   * The distinct hashes of the words of all values, and of whole values; `counts` counts the values that have certain
   * words. Good until the next call, and not to be written.
   */
  hashes(values: PartValues, counts: WordCounts): Uint32Array;
}

/** Finds the words value by value: the reference of `KernelWords`. */
export class PlainWords implements PartWords, HashSink {
  readonly #set = new HashSet();
  #counts: WordCounts | undefined;
  /** Words that are counted: their hashes are the first ones of the set. */
  #countedCount = 0;
  /** 1 for each of them whose hash is in the part. */
  #isInPart = new Uint8Array(0);

  hashes(values: PartValues, counts: WordCounts): Uint32Array {
    const { entries, entryOf, rowsOf, from, to, hasValues } = values;
    const { offsets, bytes } = entries;
    this.#begin(counts);
    for (let value = from; value < to; value++) {
      const entry = entryOf === undefined ? value : entryOf[value];
      counts.begin(rowsOf === undefined ? 1 : rowsOf[entry]);
      hashWords(bytes, offsets[entry], offsets[entry + 1], this);
      if (hasValues) this.#addValue(bytes, offsets[entry], offsets[entry + 1]);
    }
    return this.#end();
  }

  add(hash: number, bytes: Uint8Array, start: number, end: number): void {
    const place = this.#set.add(hash);
    if (place >= this.#countedCount) return;
    this.#isInPart[place] = 1;
    this.#counts?.add(place, bytes, start, end);
  }

  #begin(counts: WordCounts): void {
    this.#set.clear();
    for (const hash of counts.hashes) this.#set.add(hash);
    this.#counts = counts;
    this.#countedCount = counts.hashes.length;
    this.#isInPart = new Uint8Array(this.#countedCount);
  }

  #addValue(bytes: Uint8Array, start: number, end: number): void {
    if (!needsValueHash(bytes, start, end)) return;
    const place = this.#set.add(hashOfValue(bytes, start, end));
    if (place < this.#countedCount) this.#isInPart[place] = 1;
  }

  /** All hashes but those of counted words that are not in the part. */
  #end(): Uint32Array {
    const { hashes, count } = this.#set;
    let first = this.#countedCount;
    for (let place = first - 1; place >= 0; place--) {
      if (this.#isInPart[place] === 1) hashes[--first] = hashes[place];
    }
    return hashes.subarray(first, count);
  }
}
