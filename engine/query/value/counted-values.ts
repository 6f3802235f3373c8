import { Pace, type Units } from '../../base/pause.ts';
import type { ValueTable } from './value-table.ts';

/** Steps of a unit that reading the text of an entry counts as. */
const TEXT_STEPS = 32;

/**
 * Entries of each dictionary, those with the most values, that are looked at first; the next number when these do not
 * tell enough.
 */
export const HEADS = [256, 4_096];

/** Counts of some entries: `counts[i]` is of entry `first + i`. */
export interface Stretch {
  first: number;
  counts: Uint32Array | Uint8Array;
}

/** Events by entries of a dictionary, or by values that lie in none, in each bucket of the level before: its parent. */
export interface CountedEntries {
  /** False when entries are counted that are the first ones, and others are not. */
  readonly isComplete: boolean;
  /** True when an entry has no more values in its segment than those before it. */
  readonly isRanked: boolean;
  /**
   * Hashes of the first `end` entries at least, by which those of several dictionaries are found to be one value; the
   * kind is no part of it. In units.
   */
  hashUnits(end: number): Units<Int32Array>;
  /** Counts of a parent, those of the first `end` entries. */
  stretches(parent: number, end: number): Stretch[];
  /** The count of an entry in a parent. */
  countOf(parent: number, entry: number): number;
  /** The most events that an entry from `from` on may have in a parent; 0 of entries that are not ranked. */
  most(parent: number, from: number): number;
  /** Entries of which no later one that is counted has more than `least` events in a parent. */
  countAbove(least: number): number;
  /**
   * The numbers of entries in a table, which takes them, in units; `undefined` when one of them is of several values.
   * Throws CORRUPTION.
   */
  numbersIn(table: ValueTable, entries: Uint32Array): Units<Int32Array | undefined>;
}

/** The values of blocks in which they lie in no dictionary of a segment. */
export class CountedValues implements CountedEntries {
  readonly isComplete = true;
  readonly isRanked = false;
  readonly #table: ValueTable;
  readonly #counts: Uint32Array;

  /** `counts`: parent after parent, by value. */
  constructor(table: ValueTable, counts: Uint32Array) {
    this.#table = table;
    this.#counts = counts;
  }

  *hashUnits(): Units<Int32Array> {
    yield;
    return this.#table.hashes();
  }

  most(): number {
    return 0;
  }

  stretches(parent: number, end: number): Stretch[] {
    const { count } = this.#table;
    const first = parent * count;
    return [{ first: 0, counts: this.#counts.subarray(first, first + Math.min(end, count)) }];
  }

  countOf(parent: number, entry: number): number {
    return this.#counts[parent * this.#table.count + entry];
  }

  countAbove(): number {
    return this.#table.count;
  }

  numbersIn(table: ValueTable, entries: Uint32Array): Units<Int32Array> {
    return numbersIn(entries, (entry) => table.take(this.#table, entry));
  }
}

/** The numbers that `numberOf` gives entries, in units. Throws what that throws. */
export function* numbersIn(
  entries: Uint32Array,
  numberOf: (entry: number) => number,
): Units<Int32Array> {
  const numbers = new Int32Array(entries.length);
  const pace = new Pace();
  for (let at = 0; at < entries.length; at++) {
    numbers[at] = numberOf(entries[at]);
    if (pace.isFull(TEXT_STEPS)) yield;
  }
  return numbers;
}
