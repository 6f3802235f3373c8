import { assert } from '../../base/assert.ts';
import { BLOCK_ROWS_MAX } from '../../base/limits.ts';
import type { StringColumn } from '../../column/column.ts';
import { type Entries, Scratch } from '../../column/entries.ts';
import { StringBuilder } from '../../column/strings.ts';
import type { DenseStrings } from '../block/dense-column.ts';
import { EntryMerger, type EntryRanks } from '../entry/entry-merger.ts';
import type { ColumnRoom } from './column-room.ts';
import { type Selection, selected } from './segment-rows.ts';

/** Memory of selected entries that do not lie one after the other: of a thread one column's are in use at a time. */
const entriesTaken = new Uint32Array(BLOCK_ROWS_MAX);

/** The values of a column of strings or arrays while they are put in order, each as an entry of one dictionary. */
export class StringValues {
  readonly #merger = new EntryMerger();
  readonly #entryOf: Uint32Array<ArrayBuffer>;
  readonly #scratch = new Scratch();
  #local = new Uint32Array(0);

  /** In `room`, which is used for nothing else meanwhile. */
  constructor(room: ColumnRoom, capacity: number) {
    room.begin(capacity * 4);
    this.#entryOf = room.part(Uint32Array<ArrayBuffer>, capacity);
  }

  get dictionary(): EntryMerger['dictionary'] {
    return this.#merger.dictionary;
  }

  /** Some thousands of the entries, one after the other. Good until the next call, and as `dictionary` is. */
  gather(entries: Uint32Array): Entries {
    return this.#merger.gather(entries);
  }

  /** True when the values are too many and too distinct to be kept here: then they have to be read again. */
  get isGivenUp(): boolean {
    return this.#merger.isGivenUp;
  }

  /** True when more than half of the values are entries of their own. */
  get isMostlyDistinct(): boolean {
    return this.#merger.entryCount * 2 > this.#entryOf.length;
  }

  /** About the bytes of the entries when each of `blockCount` blocks has its own. */
  ownBytes(blockCount: number): number {
    return this.#merger.ownBytes(blockCount);
  }

  /** Keeps the values of a source: value i at `targets[i]`. Sources with the same `name` have the same dictionary. */
  take(name: string, strings: DenseStrings, targets: Uint32Array): void {
    for (let number = 0; number < strings.pieceCount && !this.isGivenUp; number++) {
      const text = strings.piece(number, this.#scratch);
      this.#merger.takeText(text, targets.subarray(text.first), this.#entryOf);
    }
    if (strings.pieceCount > 0) return;
    const map = this.#merger.take(name, strings);
    if (map === undefined) return;
    const { ids } = strings;
    const entryOf = this.#entryOf;
    for (let index = 0; index < ids.length; index++) entryOf[targets[index]] = map[ids[index]] - 1;
  }

  /** The order of the entries by how many of the selected values they are; `undefined` when sharing does not pay. */
  ranks(selections: readonly Selection[]): EntryRanks | undefined {
    const counts = new Uint32Array(this.#merger.entryCount);
    for (const selection of selections) {
      const entries = selected(this.#entryOf, entriesTaken, selection);
      for (let index = 0; index < entries.length; index++) counts[entries[index]]++;
    }
    return this.#merger.ranks(counts);
  }

  /** By target, the id of each value; the entries are not known here any more. */
  intoIds({ ids }: EntryRanks): Uint32Array<ArrayBuffer> {
    const entryOf = this.#entryOf;
    for (let target = 0; target < entryOf.length; target++) entryOf[target] = ids[entryOf[target]];
    return entryOf;
  }

  /** The selected values as a builder of their own, as `BlockEncoder` takes them. */
  builder(path: number, kind: StringColumn['kind'], selection: Selection): StringBuilder {
    const { dictionary } = this;
    const { offsets, bytes } = dictionary;
    if (this.#local.length < dictionary.entryCount) {
      this.#local = new Uint32Array(dictionary.entryCount);
    }
    const local = this.#local;
    const builder = new StringBuilder(path, kind);
    const { rows } = selection;
    const entryOf = selected(this.#entryOf, entriesTaken, selection);
    const entries = new Uint16Array(rows.length);
    for (let index = 0; index < rows.length; index++) {
      const entry = entryOf[index];
      if (local[entry] === 0) {
        const start = offsets[entry];
        local[entry] = builder.dictionary.add(bytes, start, offsets[entry + 1] - start) + 1;
      }
      entries[index] = local[entry] - 1;
    }
    for (let index = 0; index < rows.length; index++) local[entryOf[index]] = 0;
    assert(builder.dictionary.entryCount <= rows.length, 'entries are those of the values');
    builder.rows = rows as Uint16Array<ArrayBuffer>;
    builder.count = rows.length;
    builder.entries = entries;
    return builder;
  }
}
