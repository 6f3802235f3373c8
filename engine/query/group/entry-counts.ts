import { Pace, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type { EntryHash, EntrySource } from '../../column/entries.ts';
import { growInUnits } from '../../column/growth.ts';
import { Kind } from '../../column/kind.ts';
import type { Block } from '../../segment/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import type { Bitmap } from '../model/bitmap.ts';
import { isDamage } from '../model/source.ts';
import { columnsAt } from '../scan/scan.ts';
import { TEXT_NEEDED } from '../value/value-numbers.ts';
import type { BlockVisitor } from './block-scan.ts';
import type { FieldLevel } from './level.ts';

/** Memory of the counts that are kept; beyond it the blocks are to be read again. */
const COUNTS_BYTES_MAX = 48 * 1024 * 1024;
/** What the text of an entry takes to read, against a step of a unit. */
const TEXT_STEPS = 512;
/** Texts for which room is made, more than are read in a unit. */
const UNIT_TEXTS = 64;

/** Counts rows by entries of dictionaries of segments: nothing is known of the strings themselves. Owned by one thread. */
export class EntryCounts {
  /** By dictionary, rows of each entry + 1. */
  readonly parts = new Map<EntrySource, Uint32Array>();
  /** The blocks whose rows are all in `parts`. */
  readonly blocks = new Set<BlockRef>();
  readonly #path: string;
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Counts rows of a block, in units; false when its values are not all in one such dictionary, whose entries have a `hash` then.
   * Throws CORRUPTION before it has counted anything.
   */
  *add(block: Block, rows: Bitmap, hash: EntryHash): Units<boolean> {
    const columns = columnsAt(block, this.#path);
    if (columns.length !== 1 || block.columns[columns[0]].kind !== Kind.STRING) return false;
    const column = block.column(columns[0]);
    if (!('shared' in column) || column.shared === undefined) return false;
    const { ids, shared, entryCount } = column;
    let counts = this.parts.get(shared);
    if (counts === undefined) {
      if (this.#bytes + entryCount * 4 > COUNTS_BYTES_MAX) return false;
      yield* shared.hashUnits(hash);
      counts = new Uint32Array(entryCount + 1);
      this.parts.set(shared, counts);
      this.#bytes += entryCount * 4;
    }
    for (let word = 0; word < rows.length; word++) {
      const base = word << 5;
      for (let bits = rows[word]; bits !== 0; bits &= bits - 1) {
        counts[ids[base + 31 - Math.clz32(bits & -bits)]]++;
      }
    }
    this.blocks.add(block.ref);
    return true;
  }
}

/** A pass that finds how many events the values of a level have; most of them were counted by their entries before. */
class EntryPass implements BlockVisitor {
  readonly needsRows = true;
  readonly #entries: EntryCounts;
  readonly #level: FieldLevel;
  readonly #memoryBytesMax: number;
  #counts = new Float64Array(64);

  /** `level` has the candidates only. */
  constructor(entries: EntryCounts, level: FieldLevel, memoryBytesMax: number) {
    this.#entries = entries;
    this.#level = level;
    this.#memoryBytesMax = memoryBytesMax;
  }

  /** Takes what was counted by entries, in units; to be called once, before the first block. Throws CORRUPTION. */
  *takeEntries(): Units<void> {
    const { numbers } = this.#level;
    const pace = new Pace();
    yield* this.#reserve(UNIT_TEXTS);
    for (const [shared, counts] of this.#entries.parts) {
      const hashes = yield* shared.hashUnits(numbers);
      for (let entry = 0; entry < hashes.length; entry++) {
        if (entry % UNIT_SLOTS === UNIT_SLOTS - 1) yield;
        if (counts[entry + 1] === 0 || numbers.ofHash(hashes[entry]) !== TEXT_NEEDED) continue;
        if (this.isFull) return;
        const { bytes, start, end } = shared.place(entry);
        this.#add(numbers.string(bytes, start, end), counts[entry + 1]);
        if (!pace.isFull(TEXT_STEPS)) continue;
        yield* this.#reserve(UNIT_TEXTS);
        yield;
      }
    }
  }

  /** Makes room for `count` values, in units. */
  *#reserve(count: number): Units<void> {
    const { numbers } = this.#level;
    yield* numbers.reserve(count);
    const wanted = numbers.count + count;
    if (wanted > this.#counts.length) this.#counts = yield* growInUnits(this.#counts, wanted);
  }

  get isFull(): boolean {
    return this.#level.memoryBytes + this.#counts.length * 8 > this.#memoryBytesMax;
  }

  skips(ref: BlockRef): boolean {
    return this.#entries.blocks.has(ref);
  }

  addCount(): void {}

  *add(block: Block, rows: Bitmap): Units<void> {
    yield* this.#level.prepare(block, rows);
    yield* this.#reserve(0);
    const { starts, values } = this.#level.values();
    if (starts !== undefined) {
      for (const value of values.subarray(0, starts.at(-1))) this.#add(value, 1);
      return;
    }
    for (let row = 0; row < values.length; row++) {
      if (values[row] !== 0) this.#add(values[row] - 1, 1);
    }
  }

  /** Events that have a value of the level. */
  countOf(value: number): number {
    return this.#counts[value] ?? 0;
  }

  #add(value: number, count: number): void {
    if (value >= 0) this.#counts[value] += count;
  }
}

/** Makes a pass over the blocks that `entries` has not, in units; `undefined` when a dictionary turns out damaged, so that it is of no use. */
export function* entryPass(
  entries: EntryCounts,
  level: FieldLevel,
  memoryBytesMax: number,
): Units<EntryPass | undefined> {
  try {
    const pass = new EntryPass(entries, level, memoryBytesMax);
    yield* pass.takeEntries();
    return pass;
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}
