import { assert } from '../base/assert.ts';
import { bitsOf } from '../column/bitpack.ts';
import type { StringColumn } from '../column/column.ts';
import { compress } from '../column/compress.ts';
import { Dictionary } from '../column/dictionary.ts';
import type { Entries } from '../column/string-chunk.ts';
import { StringBuilder } from '../column/strings.ts';
import type { Selection } from './placement.ts';

/** Values after which a column of mostly distinct ones is given up. */
const TRIAL_VALUES = 32_768;
/** Share of distinct values beyond which it is. */
const DISTINCT_MAX = 0.75;
/** Bytes of entries that a dictionary of a segment may have: each query thread that needs it whole decodes it. */
const ENTRY_BYTES_MAX = 32 * 1024 * 1024;
/** Columns of fewer values keep their entries in their blocks. */
const SHARED_VALUES_MIN = 4_096;
/** Bytes that are compressed to learn how well a column does. */
const SAMPLE_BYTES = 65_536;
/** Bytes reckoned for a length. */
const LENGTH_BYTES = 1;

/** The order of a dictionary of a segment, and the place of each entry in it. */
export interface EntryRanks {
  /** Entries in use, those with the most values first. */
  order: Uint32Array;
  /** Place + 1 of each entry; 0 of those that are not in use. */
  ids: Uint32Array;
  counts: Uint32Array;
}

/** The values of a column of strings or arrays while they are put in order, each as an entry of one dictionary. */
export class StringValues {
  readonly dictionary = new Dictionary();
  readonly #entryOf: Uint32Array;
  readonly #known = new WeakMap<Uint32Array, Uint32Array>();
  #valueCount = 0;
  #isGivenUp = false;
  #local = new Uint32Array(0);

  constructor(capacity: number) {
    this.#entryOf = new Uint32Array(capacity);
  }

  /** Whether the values are too many and too distinct to be kept here: then they have to be read again. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** Keeps the values of a source: `ids[i]`, an entry + 1 of `entries`, at `targets[i]`. */
  take(entries: Entries, ids: Uint32Array, targets: Uint32Array): void {
    const { offsets, bytes } = entries;
    const { dictionary } = this;
    let known = this.#known.get(offsets);
    if (known === undefined) {
      known = new Uint32Array(offsets.length);
      this.#known.set(offsets, known);
    }
    const entryOf = this.#entryOf;
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index];
      if (known[id] === 0) {
        const start = offsets[id - 1];
        known[id] = dictionary.intern(bytes, start, offsets[id] - start) + 1;
        if (dictionary.byteCount > ENTRY_BYTES_MAX) {
          this.#isGivenUp = true;
          return;
        }
      }
      entryOf[targets[index]] = known[id] - 1;
    }
    this.#valueCount += ids.length;
    this.#isGivenUp =
      this.#valueCount >= TRIAL_VALUES && dictionary.entryCount > this.#valueCount * DISTINCT_MAX;
  }

  /** The order of the entries by how many of the selected values they are; `undefined` when sharing does not pay. */
  ranks(selections: readonly Selection[]): EntryRanks | undefined {
    const { entryCount, offsets } = this.dictionary;
    const counts = new Uint32Array(entryCount);
    let valueCount = 0;
    for (const { at } of selections) {
      for (let index = 0; index < at.length; index++) counts[this.#entryOf[at[index]]]++;
      valueCount += at.length;
    }
    if (valueCount < SHARED_VALUES_MIN) return undefined;
    let used = 0;
    let entryBytes = 0;
    let valueBytes = 0;
    for (let entry = 0; entry < entryCount; entry++) {
      if (counts[entry] === 0) continue;
      used++;
      const length = offsets[entry + 1] - offsets[entry];
      entryBytes += length;
      valueBytes += length * counts[entry];
    }
    const ratio = this.#ratio();
    const shared = entryBytes * ratio + used * LENGTH_BYTES + (valueCount * bitsOf(used)) / 8;
    const text = valueBytes * ratio + valueCount * LENGTH_BYTES;
    return shared < text ? rank(counts, used) : undefined;
  }

  /** How much of the entries' bytes is left when they are compressed. */
  #ratio(): number {
    const { bytes, byteCount } = this.dictionary;
    const sample = bytes.subarray(0, Math.min(byteCount, SAMPLE_BYTES));
    if (sample.length === 0) return 1;
    return (compress(sample)?.length ?? sample.length) / sample.length;
  }

  /** The ids of the selected values. */
  ids(ranks: EntryRanks, { at }: Selection): Float64Array {
    const ids = new Float64Array(at.length);
    for (let index = 0; index < at.length; index++)
      ids[index] = ranks.ids[this.#entryOf[at[index]]];
    return ids;
  }

  /** The selected values as a builder of their own, as `BlockEncoder` takes them. */
  builder(path: number, kind: StringColumn['kind'], { rows, at }: Selection): StringBuilder {
    const { dictionary } = this;
    const { offsets, bytes } = dictionary;
    if (this.#local.length < dictionary.entryCount) {
      this.#local = new Uint32Array(dictionary.entryCount);
    }
    const local = this.#local;
    const builder = new StringBuilder(path, kind);
    const entries = new Uint16Array(at.length);
    for (let index = 0; index < at.length; index++) {
      const entry = this.#entryOf[at[index]];
      if (local[entry] === 0) {
        const start = offsets[entry];
        local[entry] = builder.dictionary.add(bytes, start, offsets[entry + 1] - start) + 1;
      }
      entries[index] = local[entry] - 1;
    }
    for (let index = 0; index < at.length; index++) local[this.#entryOf[at[index]]] = 0;
    assert(builder.dictionary.entryCount <= at.length, 'entries are those of the values');
    builder.rows = rows as Uint16Array<ArrayBuffer>;
    builder.count = at.length;
    builder.entries = entries;
    return builder;
  }
}

/** Orders the entries that have a count by it, the most first; of equal ones the first used first. */
function rank(counts: Uint32Array, used: number): EntryRanks {
  const keys = new Float64Array(used);
  let at = 0;
  const range = counts.length;
  for (let entry = 0; entry < range; entry++) {
    if (counts[entry] > 0) keys[at++] = -counts[entry] * range + entry;
  }
  keys.sort();
  const order = new Uint32Array(used);
  const ids = new Uint32Array(range);
  for (let place = 0; place < used; place++) {
    const entry = ((keys[place] % range) + range) % range;
    order[place] = entry;
    ids[entry] = place + 1;
  }
  return { order, ids, counts };
}
