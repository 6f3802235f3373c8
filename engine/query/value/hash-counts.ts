import { must } from '../../base/assert.ts';
import { sameBytes } from '../../base/hash.ts';
import { inParts, Pace, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type { Entries, KeptEntries } from '../../column/entries.ts';
import { free } from '../../packed/growth.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { addRow, hasRow } from '../model/bitmap.ts';
import type { CountedEntries, Stretch } from './counted-values.ts';
import { lookedThrough, type NumberText } from './number-texts.ts';
import type { Pairs } from './pairs.ts';
import type { NumberedBlock, StringNumbers } from './string-numbers.ts';
import type { ValueTable } from './value-table.ts';

/** Entries that are looked at in a step of a unit, as a power of two. */
const ENTRIES_BITS = 5;

/** Memory of counts that is kept for the next query: pages that are new take longer than zeros in old ones. */
const SPARE_BYTES_MAX = 8 * 1024 * 1024;
let spare = new Uint32Array(0);

/** `length` zeros, perhaps in more memory. */
function zeros(length: number): Uint32Array<ArrayBuffer> {
  if (spare.length < length) return new Uint32Array(length).fill(0);
  const taken = spare.subarray(0, length);
  spare = new Uint32Array(0);
  return taken.fill(0);
}

/** Keeps the memory of what `zeros` gave for the next time, or what is kept already; the other is freed. */
function giveBack({ buffer }: Uint32Array<ArrayBuffer>): void {
  const counts = new Uint32Array(buffer);
  const isKept = counts.byteLength <= SPARE_BYTES_MAX && counts.length > spare.length;
  free(isKept ? spare : counts);
  if (isKept) spare = counts;
}

/** Counts by hashes as plain data: hash n has in parent p those at `p * hashes.length + n`. */
export interface HashCountsData {
  hashes: Int32Array<ArrayBuffer>;
  counts: Uint32Array<ArrayBuffer>;
  /** By entry the number of its hash. */
  blocks: { ref: BlockRef; numbers: Int32Array<ArrayBuffer> }[];
}

/** Counts of others by their hashes. */
type OtherCounts = Pick<HashCountsData, 'hashes' | 'counts'>;

/**
 * Events by hashes of strings that are entries of blocks, in each of some parents: no text is read until it is known
 * which hashes matter. Owned by one thread.
 */
export class HashCounts {
  readonly parentCount: number;
  readonly strings: StringNumbers;
  /** Parent after parent, by number; `#room` of each. */
  #counts = new Uint32Array(0);
  #room = 0;
  /** Numbers that may have counts: those below. */
  #count = 0;
  #blocks: NumberedBlock[] = [];
  /** Counts that others have made of other blocks. */
  #others: OtherCounts[] = [];

  constructor(strings: StringNumbers, parentCount: number) {
    this.strings = strings;
    this.parentCount = parentCount;
  }

  /** Memory that it takes, with that of the numbers. */
  get memoryBytes(): number {
    const others = this.#others.reduce((sum, { counts }) => sum + counts.byteLength, 0);
    return this.#counts.byteLength + others + this.strings.memoryBytes;
  }

  /** Its parts; it is not to be used any more. */
  get data(): HashCountsData {
    const { numbers } = this.strings;
    const length = this.#count * this.parentCount;
    const counts = this.#byParent(this.#count, new Uint32Array(length));
    this.free();
    return {
      hashes: this.strings.hashes(this.#count).slice(),
      counts,
      blocks: this.#blocks.map(({ ref, first, end }) => ({
        ref,
        numbers: numbers.slice(first, end),
      })),
    };
  }

  /** Counts rows of a block, whose entries have numbers; `ids` are entries + 1. */
  add(block: NumberedBlock, ids: Uint32Array, { rows, groups, count }: Pairs): void {
    this.#keep(block);
    const room = this.#room;
    const counts = this.#counts;
    const numbers = this.strings.numbers.subarray(block.first, block.end);
    for (let at = 0; at < count; at++) {
      const id = ids[rows[at]];
      if (id !== 0) counts[groups[at] * room + numbers[id - 1]]++;
    }
  }

  /**
   * Takes what others have counted of other blocks, in units. Their counts stay as they are: to find the numbers that
   * these hashes have here takes longer than to look for a few of them in each.
   */
  *merge({ hashes, counts, blocks }: HashCountsData): Units<void> {
    const known = blocks.map(({ ref }) => this.strings.find(ref));
    const own = known.includes(undefined) ? yield* this.#numbersOf(hashes) : undefined;
    for (const [at, { ref, numbers }] of blocks.entries()) {
      const numberOf = (entry: number): number => must(own, 'numbers')[numbers[entry]];
      this.#keep(known[at] ?? this.strings.add(ref, numbers.length, numberOf));
      if (known[at] === undefined) yield;
    }
    this.#others.push({ hashes, counts });
  }

  /** Adds what others have counted to what it has itself, in units; whether they have counted anything. */
  *unite(): Units<boolean> {
    const others = this.#others;
    this.#others = [];
    for (const { hashes, counts } of others) {
      const own = yield* this.#numbersOf(hashes);
      this.#makeRoom();
      for (let parent = 0; parent < this.parentCount; parent++) {
        const [first, target] = [parent * own.length, parent * this.#room];
        yield* inParts(own.length, UNIT_SLOTS, (from, to) => {
          for (let at = from; at < to; at++) this.#counts[target + own[at]] += counts[first + at];
        });
      }
      free(counts);
    }
    return others.length > 0;
  }

  /** The numbers of hashes, in units. */
  *#numbersOf(hashes: Int32Array): Units<Int32Array> {
    const numbers = new Int32Array(hashes.length);
    yield* inParts(hashes.length, UNIT_SLOTS, (from, to) => {
      for (let at = from; at < to; at++) numbers[at] = this.strings.number(hashes[at]);
    });
    return numbers;
  }

  /**
   * The counts, after the last block: its own, and those of each other; `entriesOf` gives the entries of a block, and
   * throws what it likes.
   */
  finish(entriesOf: (ref: BlockRef) => KeptEntries): CountedHashes[] {
    const hashes = this.strings.hashes(this.#count);
    const source = { strings: this.strings, blocks: this.#blocks, entriesOf };
    return [
      new CountedHashes(source, hashes, this.#counts, this.#room, true),
      ...this.#others.map(
        (other) =>
          new CountedHashes(source, other.hashes, other.counts, other.hashes.length, false),
      ),
    ];
  }

  /** Frees the memory of its counts. */
  free(): void {
    giveBack(this.#counts);
    this.#counts = new Uint32Array(0);
    for (const { counts } of this.#others) free(counts);
    this.#others = [];
  }

  /** Takes a block, and makes room for the numbers that there are now. */
  #keep(block: NumberedBlock): void {
    this.#blocks.push(block);
    this.#makeRoom();
  }

  #makeRoom(): void {
    this.#count = this.strings.count;
    if (this.#count <= this.#room) return;
    const room = Math.max(this.#count, this.#room * 2);
    const before = this.#counts;
    this.#counts = this.#byParent(room, zeros(room * this.parentCount));
    giveBack(before);
    this.#room = room;
  }

  /** The counts with another room for each parent, in `counts`, which are zeros. */
  #byParent(room: number, counts: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
    const length = Math.min(room, this.#room);
    for (let parent = 0; parent < this.parentCount; parent++) {
      const from = parent * this.#room;
      counts.set(this.#counts.subarray(from, from + length), parent * room);
    }
    return counts;
  }
}

/** Blocks whose entries have numbers; `entriesOf` gives the entries of one, and throws what it likes. */
interface NumberedSource {
  strings: StringNumbers;
  blocks: readonly NumberedBlock[];
  entriesOf: (ref: BlockRef) => KeptEntries;
}

/** Strings by their hashes, as entries that are counted. */
export class CountedHashes implements CountedEntries {
  readonly isComplete = true;
  readonly isRanked = false;
  readonly hashes: Int32Array;
  readonly #source: NumberedSource;
  /** Parent after parent. */
  readonly #counts: Uint32Array;
  readonly #room: number;
  readonly #isNumbered: boolean;

  /** Those of hash h in parent p are `counts[p * room + h]`. `isNumbered`: h is its number among the strings. */
  constructor(
    source: NumberedSource,
    hashes: Int32Array,
    counts: Uint32Array,
    room: number,
    isNumbered: boolean,
  ) {
    this.#source = source;
    this.hashes = hashes;
    this.#counts = counts;
    this.#room = room;
    this.#isNumbered = isNumbered;
  }

  *hashUnits(): Units<Int32Array> {
    yield;
    return this.hashes;
  }

  most(): number {
    return 0;
  }

  stretches(parent: number, end: number): Stretch[] {
    const first = parent * this.#room;
    const { length } = this.hashes;
    return [{ first: 0, counts: this.#counts.subarray(first, first + Math.min(end, length)) }];
  }

  countOf(parent: number, entry: number): number {
    return this.#counts[parent * this.#room + entry];
  }

  countAbove(): number {
    return this.hashes.length;
  }

  /**
   * Reads the strings of some hashes, each once in all blocks and queries, in units, and tells their numbers in a
   * table, which takes them; `undefined` when several strings have one hash. Throws CORRUPTION.
   */
  *numbersIn(table: ValueTable, wanted: Uint32Array): Units<Int32Array | undefined> {
    const { strings } = this.#source;
    const numbers = this.#isNumbered
      ? wanted
      : wanted.map((entry) => strings.number(this.hashes[entry]));
    const known = strings.texts.of(numbers);
    if (!(yield* this.#readTexts(known, numbers))) return undefined;
    return Int32Array.from(known, ({ bytes }) =>
      bytes === undefined ? -1 : table.string(bytes, 0, bytes.length),
    );
  }

  /** Reads texts in the blocks in which they were not looked for; false when two of them have one number. */
  *#readTexts(known: readonly NumberText[], wanted: Uint32Array): Units<boolean> {
    const { strings, blocks, entriesOf } = this.#source;
    const { texts } = strings;
    const through = lookedThrough(known, strings.blockCount);
    const left = blocks.filter(({ place }) => !hasRow(through, place));
    if (left.length === 0) return true;
    // Asked for each entry, these would not stay in the processor's cache as places.
    const isWanted = new Uint8Array(strings.count);
    const places = new Int32Array(strings.count);
    for (let place = 0; place < wanted.length; place++) {
      isWanted[wanted[place]] = 1;
      places[wanted[place]] = place;
    }
    const pace = new Pace();
    for (const { ref, first, end } of left) {
      if (pace.isFull((end - first) >>> ENTRIES_BITS)) yield;
      let entries: Entries | undefined;
      for (let entry = 0; entry < end - first; entry++) {
        const number = strings.numbers[first + entry];
        if (isWanted[number] !== 1) continue;
        entries ??= yield* entriesOf(ref).entryUnits();
        const { bytes, offsets } = entries;
        const [start, stop] = [offsets[entry], offsets[entry + 1]];
        const text = known[places[number]];
        if (text.bytes === undefined) texts.read(text, bytes.slice(start, stop));
        else if (text.bytes.length !== stop - start) return false;
        else if (!sameBytes(text.bytes, 0, bytes, start, stop - start)) return false;
      }
    }
    for (const { place } of left) addRow(through, place);
    texts.looked(known, through);
    return true;
  }
}
