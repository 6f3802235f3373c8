import { finished, inParts, Pace, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import {
  type KeptEntries,
  PIECE_ENTRIES,
  Scratch,
  SumKey,
  type Summed,
} from '../../column/entries.ts';
import type { Pairs } from '../value/pairs.ts';
import type { ValueHash } from '../value/value-hash.ts';
import { Cardinalities } from './cardinality.ts';

/** Distinct strings of dictionaries. A dictionary is of one reader, whose secret is that of all hashes. */
const DISTINCT = new SumKey<Cardinalities>('distinct');
const GROUP = Uint32Array.of(0);
/** Entries that a column of a block has at most: the hashes of so many are kept. */
const KEPT_ENTRIES_MAX = 65_536;

/** Hashes of 64 bits of the entries of a dictionary. */
class WideHashes implements Summed {
  readonly lows: Int32Array;
  readonly highs: Int32Array;

  constructor(entryCount: number) {
    this.lows = new Int32Array(entryCount);
    this.highs = new Int32Array(entryCount);
  }

  get memoryBytes(): number {
    return this.lows.byteLength * 2;
  }
}

const HASHES = new SumKey<WideHashes>('wide hashes');

/** Counts distinct strings by their entries in a dictionary: each is hashed once, whatever rows have it. */
export class SharedStrings {
  readonly #hash: ValueHash;
  #dictionary: KeptEntries | undefined;
  #hashes = new WideHashes(0);
  /** 1 at the entries that were added to group 0. */
  #added = new Uint8Array(0);

  constructor(hash: ValueHash) {
    this.#hash = hash;
  }

  /** Hashes the entries of a dictionary in units, unless it was the last one. Throws CORRUPTION. */
  *prepare(dictionary: KeptEntries): Units<void> {
    if (this.#dictionary === dictionary) return;
    const make = (): Units<WideHashes> => this.#hashed(dictionary);
    const isKept = dictionary.entryCount <= KEPT_ENTRIES_MAX;
    this.#hashes = yield* isKept ? dictionary.keptUnits(HASHES, make) : make();
    this.#added = new Uint8Array(dictionary.entryCount);
    this.#dictionary = dictionary;
  }

  *#hashed(dictionary: KeptEntries): Units<WideHashes> {
    const hashes = new WideHashes(dictionary.entryCount);
    const { lows, highs } = hashes;
    yield* this.#eachHash(dictionary, (entry, low, high) => {
      lows[entry] = low;
      highs[entry] = high;
    });
    return hashes;
  }

  /**
   * Adds all entries of a dictionary to group 0, in units; hashes of a small one, or the count of a large one, are kept
   * with it. Throws CORRUPTION, and has added nothing then.
   */
  *addAll(dictionary: KeptEntries, cardinalities: Cardinalities): Units<void> {
    if (dictionary.entryCount <= KEPT_ENTRIES_MAX) {
      yield* this.prepare(dictionary);
      const { lows, highs } = this.#hashes;
      yield* inParts(lows.length, UNIT_SLOTS, (from, to) => {
        cardinalities.addSome(0, lows, highs, from, to);
      });
      return;
    }
    const own = yield* dictionary.keptUnits(DISTINCT, () => this.#distinctOf(dictionary));
    yield* cardinalities.merge(own.data, GROUP);
  }

  *#distinctOf(dictionary: KeptEntries): Units<Cardinalities> {
    const distinct = new Cardinalities();
    yield* this.#eachHash(dictionary, (_, low, high) => distinct.add(0, low, high));
    distinct.compact();
    return distinct;
  }

  /** Hashes all entries of a dictionary, in units. */
  *#eachHash(
    dictionary: KeptEntries,
    take: (entry: number, low: number, high: number) => void,
  ): Units<void> {
    const hash = this.#hash;
    const pace = new Pace();
    const scratch = new Scratch();
    for (let first = 0; first < dictionary.entryCount; first += PIECE_ENTRIES) {
      const { bytes, offsets } = dictionary.piece(first, scratch);
      for (let at = 0; at < offsets.length - 1; at++) {
        hash.string(bytes, offsets[at], offsets[at + 1]);
        take(first + at, hash.low, hash.high);
      }
      if (pace.isFull(offsets.length)) yield;
    }
  }

  /** Adds the values of the rows of `pairs` to their groups; `ids` are entries + 1 of a dictionary. */
  add(ids: Uint32Array, dictionary: KeptEntries, pairs: Pairs, cardinalities: Cardinalities): void {
    finished(this.prepare(dictionary));
    const { lows, highs } = this.#hashes;
    const added = this.#added;
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
