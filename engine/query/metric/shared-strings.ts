import { finished, Pace, type Units } from '../../base/pause.ts';
import { type EntrySource, PIECE_ENTRIES, SumKey } from '../../column/entries.ts';
import type { Pairs } from '../value/pairs.ts';
import type { ValueHash } from '../value/value-hash.ts';
import { Cardinalities } from './cardinality.ts';

/** Distinct strings of dictionaries. A dictionary is of one reader, whose secret is that of all hashes. */
const DISTINCT = new SumKey<Cardinalities>();
const GROUP = Uint32Array.of(0);

/**
 * Counts distinct strings by their entries in a dictionary of a segment: each is hashed once, whatever blocks have it.
 */
export class SharedStrings {
  readonly #hash: ValueHash;
  #dictionary: EntrySource | undefined;
  #lows = new Int32Array(0);
  #highs = new Int32Array(0);
  /** 1 at the entries that were added to group 0. */
  #added = new Uint8Array(0);

  constructor(hash: ValueHash) {
    this.#hash = hash;
  }

  /** Hashes the entries of a dictionary in units, unless it was the last one. Throws CORRUPTION. */
  *prepare(dictionary: EntrySource): Units<void> {
    if (this.#dictionary === dictionary) return;
    const hash = this.#hash;
    const lows = new Int32Array(dictionary.entryCount);
    const highs = new Int32Array(dictionary.entryCount);
    const pace = new Pace();
    for (let first = 0; first < dictionary.entryCount; first += PIECE_ENTRIES) {
      const { bytes, offsets } = dictionary.piece(first);
      for (let at = 0; at < offsets.length - 1; at++) {
        hash.string(bytes, offsets[at], offsets[at + 1]);
        lows[first + at] = hash.low;
        highs[first + at] = hash.high;
      }
      if (pace.isFull(offsets.length)) yield;
    }
    this.#lows = lows;
    this.#highs = highs;
    this.#added = new Uint8Array(dictionary.entryCount);
    this.#dictionary = dictionary;
  }

  /** Adds all entries of a dictionary to group 0, in units; its own count is kept with it. Throws CORRUPTION. */
  *addAll(dictionary: EntrySource, cardinalities: Cardinalities): Units<void> {
    const own = yield* dictionary.keptUnits(DISTINCT, () => this.#distinctOf(dictionary));
    yield* cardinalities.merge(own, GROUP);
  }

  *#distinctOf(dictionary: EntrySource): Units<Cardinalities> {
    const hash = this.#hash;
    const distinct = new Cardinalities();
    const pace = new Pace();
    for (let first = 0; first < dictionary.entryCount; first += PIECE_ENTRIES) {
      const { bytes, offsets } = dictionary.piece(first);
      for (let at = 0; at < offsets.length - 1; at++) {
        hash.string(bytes, offsets[at], offsets[at + 1]);
        distinct.add(0, hash.low, hash.high);
      }
      if (pace.isFull(offsets.length)) yield;
    }
    yield* distinct.compact();
    return distinct;
  }

  /** Adds the values of the rows of `pairs` to their groups; `ids` are entries + 1 of a dictionary. */
  add(ids: Uint32Array, dictionary: EntrySource, pairs: Pairs, cardinalities: Cardinalities): void {
    finished(this.prepare(dictionary));
    const [lows, highs, added] = [this.#lows, this.#highs, this.#added];
    const { rows, groups, count } = pairs;
    for (let at = 0; at < count; at++) {
      const entry = ids[rows[at]] - 1;
      if (entry < 0) continue;
      const group = groups[at];
      if (group === 0) {
        if (added[entry] === 1) continue;
        added[entry] = 1;
      }
      cardinalities.add(group, lows[entry], highs[entry]);
    }
  }
}
