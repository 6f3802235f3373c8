import { assert, must } from '../../../base/assert.ts';
import { inParts, UNIT_SLOTS, type Units } from '../../../base/pause.ts';
import type { StringColumn } from '../../../column/column.ts';
import type { CountRuns } from '../../../column/count-runs.ts';
import type { EntryHash, EntrySource, KeptEntries } from '../../../column/entries.ts';
import { Kind } from '../../../column/kind.ts';
import { free, grow } from '../../../packed/growth.ts';
import type { Block } from '../../../segment/block/block.ts';
import type { BlockRef } from '../../../segment/frame.ts';
import type { Bitmap } from '../../model/bitmap.ts';
import { type BlockSource, isDamage } from '../../model/source.ts';
import { columnsOf } from '../../scan/prune.ts';
import { idsOf, stringsOf } from '../../value/block-strings.ts';
import {
  type CountedEntries,
  CountedValues,
  HEADS,
  numbersIn,
  type Stretch,
} from '../../value/counted-values.ts';
import { HashCounts } from '../../value/hash-counts.ts';
import type { Pairs } from '../../value/pairs.ts';
import { StringNumbers } from '../../value/string-numbers.ts';
import { ValueTable } from '../../value/value-table.ts';
import type { BlockVisitor } from '../block-scan.ts';
import { FieldLevel, takeValues } from '../level.ts';
import { Nesting, type PassStage } from '../nesting.ts';
import type { DictionaryData, VisitorData, VisitorSpec } from '../shared-scan.ts';

/** Memory of counts at most; beyond it values are found in another way. */
export const COUNTS_BYTES_MAX = 48 * 1024 * 1024;
/** Counts of strings that other queries have numbered, by parent. */
const KEPT_COUNTS_MAX = 1 << 22;
/** Counts from which on an entry of a dictionary has one of 32 bits; those of the others fit in a byte. */
const WIDE_MIN = 256;
const WORD_BYTES = 4;
/** Entries between which it is asked whether others may have more. */
const TAIL_ENTRIES = 256;

/** The entries of a dictionary of a segment. Those with the most values in it come first. */
class CountedDictionary implements CountedEntries {
  readonly isRanked = true;
  readonly #ref: BlockRef;
  readonly #shared: EntrySource;
  readonly #hash: EntryHash;
  /** Values of each entry in the segment: no count is higher. */
  readonly #bounds: CountRuns;
  readonly #isWhole: boolean;
  readonly #parentCount: number;
  /** Entries that are counted, the first ones. */
  #end: number;
  /** Parent after parent: of the entries with WIDE_MIN values or more, and of the others. */
  #wide: Uint32Array;
  #narrow: Uint8Array<ArrayBuffer>;
  #wideCount: number;
  #narrowCount: number;

  /** With `parentCount` 0 all values of the segment are counted, and have no parent. Takes over what others counted. */
  constructor(
    ref: BlockRef,
    shared: EntrySource,
    hash: EntryHash,
    parentCount: number,
    counted?: DictionaryData,
  ) {
    this.#ref = ref;
    this.#shared = shared;
    this.#hash = hash;
    this.#bounds = shared.countRuns();
    this.#isWhole = parentCount === 0;
    this.#parentCount = parentCount;
    this.#end = counted?.end ?? this.#bounds.entryCount;
    this.#wideCount = Math.min(this.#bounds.countFrom(WIDE_MIN), this.#end);
    this.#narrowCount = this.#end - this.#wideCount;
    this.#wide = counted?.wide ?? new Uint32Array(parentCount * this.#wideCount).fill(0);
    this.#narrow = counted?.narrow ?? wholeWords(parentCount * this.#narrowCount);
  }

  /** Counts rows of a block; `ids` are entries + 1. */
  add(ids: Uint32Array, { rows, groups, count }: Pairs): void {
    const [wide, narrow, wideCount] = [this.#wide, this.#narrow, this.#wideCount];
    const narrowCount = this.#narrowCount;
    const end = this.#end;
    for (let at = 0; at < count; at++) {
      const entry = ids[rows[at]] - 1;
      if (entry < 0 || entry >= end) continue;
      if (entry < wideCount) wide[groups[at] * wideCount + entry]++;
      else narrow[groups[at] * narrowCount + entry - wideCount]++;
    }
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#wide.byteLength + this.#narrow.byteLength;
  }

  /** Its parts; it is not to be used any more. */
  get data(): DictionaryData {
    return { ref: this.#ref, end: this.#end, wide: this.#wide, narrow: this.#narrow };
  }

  get isComplete(): boolean {
    return this.#end === this.#bounds.entryCount;
  }

  /** Counts no more than the first `end` entries from now on. */
  shrink(end: number): void {
    if (end >= this.#end || this.#isWhole) return;
    const wideCount = Math.min(this.#wideCount, end);
    const narrowCount = end - wideCount;
    const wide = new Uint32Array(this.#parentCount * wideCount);
    const narrow = wholeWords(this.#parentCount * narrowCount);
    for (let parent = 0; parent < this.#parentCount; parent++) {
      const [fromWide, fromNarrow] = [parent * this.#wideCount, parent * this.#narrowCount];
      wide.set(this.#wide.subarray(fromWide, fromWide + wideCount), parent * wideCount);
      narrow.set(this.#narrow.subarray(fromNarrow, fromNarrow + narrowCount), parent * narrowCount);
    }
    this.free();
    [this.#end, this.#wide, this.#wideCount] = [end, wide, wideCount];
    [this.#narrow, this.#narrowCount] = [narrow, narrowCount];
  }

  /** Adds what others have counted, in units. */
  *merge(data: DictionaryData): Units<void> {
    const other = new CountedDictionary(
      this.#ref,
      this.#shared,
      this.#hash,
      this.#parentCount,
      data,
    );
    other.shrink(this.#end);
    this.shrink(other.#end);
    const [wide, narrow] = [other.#wide, other.#narrow];
    yield* inParts(wide.length, UNIT_SLOTS, (from, to) => {
      for (let at = from; at < to; at++) this.#wide[at] += wide[at];
    });
    // Four at a time: what all blocks have of an entry fits in its byte.
    const [own, others] = [wordsOf(this.#narrow), wordsOf(narrow)];
    yield* inParts(own.length, UNIT_SLOTS, (from, to) => {
      for (let at = from; at < to; at++) own[at] += others[at];
    });
    free(wide, narrow);
  }

  /** Frees the memory of its counts. */
  free(): void {
    free(this.#wide, this.#narrow);
  }

  hashUnits(end: number): Units<Int32Array> {
    return this.#shared.hashUnits(this.#hash, end);
  }

  most(parent: number, from: number): number {
    const bounds = this.#bounds;
    const end = this.#isWhole ? Math.min(from, bounds.entryCount) : this.#end;
    let most = end < bounds.entryCount ? bounds.countOf(end) : 0;
    // Where no entry can have more, the others need not be looked at.
    for (let at = from; at < end && bounds.countOf(at) > most; at += TAIL_ENTRIES) {
      const to = Math.min(at + TAIL_ENTRIES, end);
      for (let entry = at; entry < to; entry++) most = Math.max(most, this.countOf(parent, entry));
    }
    return most;
  }

  stretches(parent: number, end: number): Stretch[] {
    if (this.#isWhole) return [{ first: 0, counts: this.#bounds.first(end) }];
    const [wideCount, narrowCount] = [this.#wideCount, this.#narrowCount];
    const wideEnd = Math.min(end, wideCount);
    const narrowEnd = Math.min(end - wideEnd, narrowCount);
    const [wide, narrow] = [parent * wideCount, parent * narrowCount];
    return [
      { first: 0, counts: this.#wide.subarray(wide, wide + wideEnd) },
      { first: wideCount, counts: this.#narrow.subarray(narrow, narrow + narrowEnd) },
    ];
  }

  countOf(parent: number, entry: number): number {
    if (this.#isWhole) return this.#bounds.countOf(entry);
    const narrow = entry - this.#wideCount;
    if (narrow < 0) return this.#wide[parent * this.#wideCount + entry];
    return this.#narrow[parent * this.#narrowCount + narrow];
  }

  countAbove(least: number): number {
    return Math.min(this.#bounds.countFrom(least + 1), this.#end);
  }

  numbersIn(table: ValueTable, entries: Uint32Array): Units<Int32Array> {
    return numbersIn(entries, (entry) => {
      const { bytes, start, end } = this.#shared.place(entry);
      return table.string(bytes, start, end);
    });
  }
}

/**
 * Bytes of whole words, `count` at least. A page that is read before it is written is mapped twice, for which other
 * threads are interrupted: so all are written.
 */
function wholeWords(count: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Math.ceil(count / WORD_BYTES) * WORD_BYTES).fill(0);
}

function wordsOf({ buffer }: Uint8Array<ArrayBuffer>): Uint32Array {
  return new Uint32Array(buffer);
}

/**
 * Counts events by the values of an attribute, in each bucket of the stages before, by entries of dictionaries of
 * segments as far as values lie in these: nothing is known of the strings themselves. Owned by one thread.
 */
export class EntryCounts implements BlockVisitor {
  readonly needsRows = true;
  isFull = false;
  readonly parentCount: number;
  readonly #source: BlockSource;
  readonly #path: string;
  readonly #nesting: Nesting;
  readonly #bytesMax: number;
  readonly #dictionaries = new Map<EntrySource, CountedDictionary>();
  /** Blocks of which nothing is left to count. */
  readonly #done = new Set<BlockRef>();
  readonly #level: FieldLevel;
  /** By value of the level, parent after parent. */
  #valueCounts = new Uint32Array(1);
  /** Strings of blocks whose entries are their own. */
  #hashed: HashCounts | undefined;
  /** Entries of each dictionary that are counted: all, unless these take too much memory. */
  #entriesMax = Number.POSITIVE_INFINITY;
  #bytes = 0;

  /** The `stages` do not grow; `seed` is that of the tables of values. */
  constructor(
    source: BlockSource,
    stages: readonly PassStage[],
    path: string,
    seed: number,
    memoryBytesMax: number,
  ) {
    this.#source = source;
    this.#path = path;
    this.#nesting = new Nesting(stages);
    this.parentCount = this.#nesting.bucketCount;
    this.#level = new FieldLevel(path, new ValueTable(seed));
    this.#bytesMax = Math.min(memoryBytesMax, COUNTS_BYTES_MAX);
  }

  /** Takes what dictionaries say of segments whose blocks are all among `refs`, of which all rows count. In units. */
  *takeSegments(refs: readonly BlockRef[]): Units<void> {
    const segments = new Map<number, BlockRef[]>();
    for (const ref of refs) {
      if (!ref.sealed) continue;
      const blocks = segments.get(ref.segment) ?? [];
      blocks.push(ref);
      segments.set(ref.segment, blocks);
    }
    for (const blocks of segments.values()) {
      try {
        yield* this.#takeSegment(blocks);
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
      yield;
    }
  }

  get memoryBytes(): number {
    const values = this.#level.memoryBytes + this.#valueCounts.byteLength * 2;
    return this.#bytes + values + (this.#hashed?.memoryBytes ?? 0);
  }

  skips(ref: BlockRef): boolean {
    return this.#done.has(ref);
  }

  spec(): VisitorSpec | undefined {
    const stages = this.#nesting.specs;
    if (stages === undefined) return undefined;
    const { seed } = this.#level.numbers;
    return { type: 'entries', stages, path: this.#path, seed, memoryBytesMax: this.#bytesMax };
  }

  found(): VisitorData | undefined {
    if (this.isFull) return undefined;
    const dictionaries = Array.from(this.#dictionaries.values(), ({ data }) => data);
    const { data: values } = this.#level;
    const hashed = this.#hashed?.data;
    return { type: 'entries', dictionaries, values, valueCounts: this.#valueCounts, hashed };
  }

  *merge(data: VisitorData): Units<void> {
    assert(data.type === 'entries', 'what was counted of entries');
    const { parentCount } = this;
    try {
      for (const part of data.dictionaries) {
        const shared = stringsOf(this.#source.open(part.ref), this.#path)?.shared;
        if (shared === undefined) continue;
        const known = this.#dictionaries.get(shared);
        if (known === undefined) this.#countedOf(part.ref, shared, parentCount, part);
        else {
          this.#bytes -= known.memoryBytes;
          yield* known.merge(part);
          this.#bytes += known.memoryBytes;
        }
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.isFull = true;
    }
    if (data.hashed !== undefined) {
      const hashed = this.#hashed ?? (yield* this.#hashes());
      yield* hashed.merge(data.hashed);
    }
    const take = yield* takeValues(this.#level, data.values);
    this.#reserve();
    yield* inParts(data.values.count, UNIT_SLOTS, (from, to) => {
      for (let at = from * parentCount; at < to * parentCount; at++) {
        const parent = at % parentCount;
        const value = take((at - parent) / parentCount);
        this.#valueCounts[value * parentCount + parent] += data.valueCounts[at];
      }
    });
  }

  addCount(): void {}

  *add(block: Block, rows: Bitmap): Units<void> {
    yield* this.#nesting.prepare(block, rows);
    const column = stringsOf(block, this.#path);
    if (column?.own !== undefined) {
      yield* this.#addOwn(block.ref, column, column.own);
      return;
    }
    if (column?.shared === undefined) {
      yield* this.#addValues(block);
      return;
    }
    const { shared } = column;
    const counted = this.#countedOf(block.ref, shared, this.parentCount);
    if (counted === undefined) return;
    const pairs = this.#nesting.pairs();
    counted.add(idsOf(column), pairs);
  }

  /** Frees the memory of what was counted; it is not to be used any more. */
  free(): void {
    for (const dictionary of this.#dictionaries.values()) dictionary.free();
    this.#hashed?.free();
  }

  /** Puts what several have counted by hashes together, in units; false when they are together. */
  *unite(): Units<boolean> {
    return this.#hashed !== undefined && (yield* this.#hashed.unite());
  }

  /** The counts, in units; to be called after the last block. */
  *finish(): Units<CountedEntries[]> {
    const { parentCount } = this;
    const { numbers } = this.#level;
    const counts = new Uint32Array(numbers.count * parentCount);
    const byValue = this.#valueCounts;
    yield* inParts(numbers.count, UNIT_SLOTS, (from, to) => {
      for (let value = from; value < to; value++) {
        for (let parent = 0; parent < parentCount; parent++) {
          counts[parent * numbers.count + value] = byValue[value * parentCount + parent];
        }
      }
    });
    const parts: CountedEntries[] = [...this.#dictionaries.values()];
    if (numbers.count > 0) parts.push(new CountedValues(numbers, counts));
    if (this.#hashed !== undefined) parts.push(...this.#hashed.finish((ref) => this.#ownOf(ref)));
    return parts;
  }

  /** The entries of a block that was counted by hashes. Throws CORRUPTION. */
  #ownOf(ref: BlockRef): KeptEntries {
    return must(stringsOf(this.#source.open(ref), this.#path)?.own, 'entries');
  }

  /** Counts rows by the hashes of a block's own entries, in units. */
  *#addOwn(ref: BlockRef, column: StringColumn, own: KeptEntries): Units<void> {
    const hashed = this.#hashed ?? (yield* this.#hashes());
    const block = yield* hashed.strings.units(ref, own, this.#level.numbers);
    const pairs = this.#nesting.pairs();
    hashed.add(block, idsOf(column), pairs);
    this.#check();
  }

  /** Counts by hashes of strings, whose numbers are those that are kept, unless these would need too many counts. */
  *#hashes(): Units<HashCounts> {
    const { parentCount } = this;
    const { seed } = this.#level.numbers;
    const kept = yield* StringNumbers.kept(seed, this.#source.sums?.keeperOfAll(this.#path));
    const isFew = kept.count * parentCount <= KEPT_COUNTS_MAX;
    this.#hashed = new HashCounts(isFew ? kept : new StringNumbers(), parentCount);
    return this.#hashed;
  }

  *#takeSegment(blocks: readonly BlockRef[]): Units<void> {
    const footer = this.#source.footer?.(blocks[0]);
    if (footer?.blocks.length !== blocks.length) return;
    let first: BlockRef | undefined;
    let left = 0;
    for (const ref of blocks) {
      const columns = columnsOf(this.#source, ref)?.((path) => path === this.#path);
      if (columns === undefined) return;
      for (const { kind, presentCount } of columns) {
        if (kind !== Kind.STRING) return;
        first ??= ref;
        left += presentCount;
      }
    }
    if (first !== undefined) {
      const shared = stringsOf(this.#source.open(first), this.#path)?.shared;
      if (shared === undefined) return;
      if (shared.countRuns().total !== left) return;
      if (this.#countedOf(first, shared, 0) === undefined) return;
    }
    for (const ref of blocks) this.#done.add(ref);
  }

  /** Counts of a dictionary, or those that others `counted`; `undefined` without room for them. Throws CORRUPTION. */
  #countedOf(
    ref: BlockRef,
    shared: EntrySource,
    parentCount: number,
    counted?: DictionaryData,
  ): CountedDictionary | undefined {
    const known = this.#dictionaries.get(shared);
    if (known !== undefined) return known;
    const hash = this.#level.numbers;
    const dictionary = new CountedDictionary(ref, shared, hash, parentCount, counted);
    dictionary.shrink(this.#entriesMax);
    this.#dictionaries.set(shared, dictionary);
    this.#bytes += dictionary.memoryBytes;
    this.#check();
    return this.isFull ? undefined : dictionary;
  }

  /** Counts the first entries of dictionaries alone: mostly they tell all. */
  #shrink(heads: number): void {
    this.#entriesMax = heads;
    this.#bytes = 0;
    for (const dictionary of this.#dictionaries.values()) {
      dictionary.shrink(heads);
      this.#bytes += dictionary.memoryBytes;
    }
  }

  *#addValues(block: Block): Units<void> {
    const level = this.#level;
    const { parentCount } = this;
    yield* level.prepare(block, this.#nesting.rows);
    this.#reserve();
    const pairs = this.#nesting.pairs();
    const { starts, values } = level.values();
    const counts = this.#valueCounts;
    for (let at = 0; at < pairs.count; at++) {
      const row = pairs.rows[at];
      const parent = pairs.groups[at];
      if (starts === undefined) {
        if (values[row] !== 0) counts[(values[row] - 1) * parentCount + parent]++;
        continue;
      }
      for (let index = starts[row]; index < starts[row + 1]; index++) {
        counts[values[index] * parentCount + parent]++;
      }
    }
  }

  /** Makes room for the values of the level. */
  #reserve(): void {
    const needed = this.#level.valueCount * this.parentCount;
    if (needed > this.#valueCounts.length) this.#valueCounts = grow(this.#valueCounts, needed);
    this.#check();
  }

  /** Finds out whether there is too much, even when only the first entries of dictionaries are counted. */
  #check(): void {
    for (const heads of HEADS.toReversed()) {
      if (this.memoryBytes > this.#bytesMax && heads < this.#entriesMax) this.#shrink(heads);
    }
    if (this.memoryBytes > this.#bytesMax) this.isFull = true;
  }
}
