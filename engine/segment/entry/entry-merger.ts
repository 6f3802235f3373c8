import type { Dictionary } from '../../column/dictionary.ts';
import type { Entries } from '../../column/entries.ts';
import { bitsOf } from '../../packed/bitpack.ts';
import { coldCompressor } from '../../packed/compress.ts';
import { free } from '../../packed/growth.ts';
import { addressesFirst } from './address-order.ts';
import { Interner } from './interner.ts';

/** Values after which a column of mostly distinct ones is given up. */
const TRIAL_VALUES = 32_768;
/** Share of distinct values beyond which it is. */
const DISTINCT_MAX = 0.75;
/** Bytes of entries that a dictionary of a segment may have: each query thread that needs it whole decodes it. */
const ENTRY_BYTES_MAX = 32 * 1024 * 1024;
/** Bytes of entries after which a column is given up whose values are distinct, however few they are. */
const TRIAL_BYTES = 2 * 1024 * 1024;
/** Columns of fewer values keep their entries in their blocks. */
const SHARED_VALUES_MIN = 4_096;
/** Bytes that are compressed to learn how well a column does. */
const SAMPLE_BYTES = 65_536;
/** Entries with at least as many values are few, and sorted by comparing. */
const COUNTED_MAX = 65_536;
/** In a map, an entry that is still to be interned, and how many are at most interned together. */
const MISSING = 2 ** 32 - 1;
const TOGETHER_MAX = 16_384;
/** Entries with the same count from which on addresses among them are put in order: fewer gain nothing. */
const EQUAL_MIN = 64;
/** Share of bytes that is left at least when they are compressed. */
const RATIO_MIN = 1 / 255;
/** Bytes reckoned for a length. */
const LENGTH_BYTES = 1;

/** Strings as a source has them: `ids` are entries + 1. */
export interface SourceStrings {
  ids: Uint32Array;
  entries: () => Entries;
}

/** The order of a dictionary of a segment, and the place of each entry in it. */
export interface EntryRanks {
  /** Entries in use, those with the most values first. */
  order: Uint32Array;
  /** Place + 1 of each entry; 0 of those that are not in use. */
  ids: Uint32Array;
  counts: Uint32Array;
}

/** Makes one dictionary of a column out of the strings of its sources. */
export class EntryMerger {
  readonly #interner = new Interner();
  /** By the name of a source's dictionary, the entry + 1 here of each id there; 0 of those that no value has. */
  readonly #maps = new Map<string, Uint32Array>();
  #numbers = new Uint32Array(0);
  #valueCount = 0;
  #isGivenUp = false;

  /** The entries so far; nothing is taken after it. Good until the next merger is made. */
  get dictionary(): Dictionary {
    return this.#interner.entries();
  }

  /** Some thousands of the entries, one after the other. Good until the next call, and as `dictionary` is. */
  gather(entries: Uint32Array): Entries {
    return this.#interner.gather(entries);
  }

  /** Distinct values so far. */
  get entryCount(): number {
    return this.#interner.entryCount;
  }

  /** True when the values are too many and too distinct for a dictionary. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /**
   * Takes the entries that a source uses. Sources with the same `name` have the same dictionary. Returns the entry + 1
   * of each id, until there is more to it; undefined when the column is given up.
   */
  take(name: string, { ids, entries }: SourceStrings): Uint32Array | undefined {
    const known = this.#maps.get(name);
    let map = known ?? new Uint32Array(0);
    if (known === undefined || ids.some((id) => known[id] === 0)) {
      const strings = entries();
      if (known === undefined) {
        map = new Uint32Array(strings.offsets.length);
        this.#maps.set(name, map);
      }
      this.#internMissing(strings, ids, map);
      if (this.#isGivenUp) return undefined;
    }
    this.#valueCount += ids.length;
    this.#judge();
    return this.#isGivenUp ? undefined : map;
  }

  /** Takes the values of a piece of text; puts the entry of value i at `into[targets[i]]`. */
  takeText(text: Entries, targets: Uint32Array, into: Uint32Array): void {
    const count = text.offsets.length - 1;
    const numbers = this.#intern(text, 0, count);
    for (let index = 0; index < count; index++) into[targets[index]] = numbers[index];
    this.#valueCount += count;
    this.#judge();
  }

  /** Interns the entries of ids that `map` does not have, those that lie one after the other together. */
  #internMissing(strings: Entries, ids: Uint32Array, map: Uint32Array): void {
    for (let index = 0; index < ids.length; index++) {
      if (map[ids[index]] === 0) map[ids[index]] = MISSING;
    }
    for (let id = 1; id < map.length && !this.#isGivenUp; ) {
      const from = id;
      const most = Math.min(map.length, from + TOGETHER_MAX);
      while (id < most && map[id] === MISSING) id++;
      if (id > from) {
        const numbers = this.#intern(strings, from - 1, id - 1);
        for (let at = from; at < id; at++) map[at] = numbers[at - from] + 1;
      } else id++;
    }
  }

  /** The numbers of the entries `[from, to)`, good until the next call. */
  #intern(strings: Entries, from: number, to: number): Uint32Array {
    if (to - from > this.#numbers.length) this.#numbers = new Uint32Array(to - from);
    this.#interner.intern(strings, from, to, this.#numbers);
    this.#isGivenUp ||= this.#interner.byteCount > ENTRY_BYTES_MAX;
    return this.#numbers;
  }

  #judge(): void {
    const { entryCount, byteCount } = this.#interner;
    const isTried = this.#valueCount >= TRIAL_VALUES || byteCount >= TRIAL_BYTES;
    this.#isGivenUp ||= isTried && entryCount > this.#valueCount * DISTINCT_MAX;
  }

  /** About the bytes of the entries when each of `blockCount` blocks has those that its values use. */
  ownBytes(blockCount: number): number {
    const { entryCount, byteCount } = this.#interner;
    return byteCount * Math.min(blockCount, this.#valueCount / Math.max(entryCount, 1));
  }

  /** The order of the entries by how many values they are (`counts`); `undefined` when sharing does not pay. */
  ranks(counts: Uint32Array): EntryRanks | undefined {
    const { entryCount, offsets } = this.dictionary;
    this.dictionary.endInterning();
    let used = 0;
    let valueCount = 0;
    let entryBytes = 0;
    let valueBytes = 0;
    for (let entry = 0; entry < entryCount; entry++) {
      if (counts[entry] === 0) continue;
      used++;
      valueCount += counts[entry];
      const length = offsets[entry + 1] - offsets[entry];
      entryBytes += length;
      valueBytes += length * counts[entry];
    }
    if (valueCount < SHARED_VALUES_MIN) return undefined;
    // Bytes that a dictionary takes beyond those of entries, and that it saves of them before they are compressed.
    const cost = used * LENGTH_BYTES + (valueCount * bitsOf(used)) / 8 - valueCount * LENGTH_BYTES;
    const saved = valueBytes - entryBytes;
    // For most columns it is the same however well they are compressed.
    const pays = cost < saved * RATIO_MIN || (cost < saved && cost < saved * this.#ratio());
    return pays ? this.#rank(counts, used) : undefined;
  }

  /** The order of the entries in use; of those with equal counts addresses come first, by their numbers. */
  #rank(counts: Uint32Array, used: number): EntryRanks {
    const { entryCount } = this;
    const order = orderOf(counts, entryCount, used);
    for (let from = 0; from < used; ) {
      let to = from + 1;
      while (to < used && counts[order[to]] === counts[order[from]]) to++;
      if (to - from >= EQUAL_MIN) addressesFirst(order.subarray(from, to), this.dictionary);
      from = to;
    }
    const ids = new Uint32Array(entryCount);
    for (let place = 0; place < used; place++) ids[order[place]] = place + 1;
    return { order, ids, counts };
  }

  /** How much of the entries' bytes is left when they are compressed. */
  #ratio(): number {
    const { bytes, byteCount } = this.dictionary;
    const sample = bytes.subarray(0, Math.min(byteCount, SAMPLE_BYTES));
    if (sample.length === 0) return 1;
    return (coldCompressor()(sample)?.length ?? sample.length) / sample.length;
  }
}

/** Orders the entries that have a count by it, the most first; of equal ones the first used first. */
function orderOf(counts: Uint32Array, range: number, used: number): Uint32Array {
  // Entries of each count, then the place of the next of them.
  const places = new Uint32Array(COUNTED_MAX + 1);
  for (let entry = 0; entry < range; entry++) places[Math.min(counts[entry], COUNTED_MAX)]++;
  let next = 0;
  for (let count = COUNTED_MAX; count > 0; count--) {
    const entryCount = places[count];
    places[count] = next;
    next += entryCount;
  }
  const order = new Uint32Array(used);
  for (let entry = 0; entry < range; entry++) {
    if (counts[entry] > 0) order[places[Math.min(counts[entry], COUNTED_MAX)]++] = entry;
  }
  order.subarray(0, places[COUNTED_MAX]).sort((a, b) => counts[b] - counts[a] || a - b);
  free(places);
  return order;
}
