import { grow, refit } from '../packed/growth.ts';
import { ColumnBuilder } from './builder.ts';
import { Dictionary } from './dictionary.ts';
import type { Kind } from './kind.ts';

/** Values after which a column decides whether its dictionary is worth it. */
const TRIAL_VALUES = 4_096;
/** Values from which on a whole block decides it for the next ones. */
const BLOCK_VALUES_MIN = 64;
/** Blocks that a column of mostly distinct values stays without a dictionary before it tries again. */
const PLAIN_BLOCKS_MAX = 16;

/**
 * Strings or arrays of an open block. Values are entries of a dictionary; a column whose values are mostly
 * distinct goes on without looking for equal ones (`plain`), each value an entry of its own.
 */
export class StringBuilder extends ColumnBuilder {
  /** Entry of each value. */
  entries = new Uint16Array(4);
  readonly dictionary = new Dictionary();
  /** Set when entries may repeat. */
  plain = false;
  #plainBlocks = 0;

  constructor(path: number, kind: typeof Kind.STRING | typeof Kind.ARRAY) {
    super(path, kind);
  }

  /** Adds the value `source[start, start + length)` of `row`. */
  append(row: number, source: Uint8Array, start: number, length: number): void {
    const at = this.addRow(row);
    if (at === this.entries.length) this.entries = grow(this.entries, at + 1);
    const { dictionary } = this;
    if (this.plain) {
      this.entries[at] = dictionary.add(source, start, length);
      return;
    }
    const previous = at > 0 ? this.entries[at - 1] : -1;
    this.entries[at] =
      previous >= 0 && dictionary.is(previous, source, start, length)
        ? previous
        : dictionary.intern(source, start, length);
    if (at + 1 === TRIAL_VALUES) this.plain = dictionary.entryCount * 2 > TRIAL_VALUES;
  }

  /** Reports whether there are at least `least` values and more than half of them equal none before. */
  #isMostlyDistinct(least: number): boolean {
    return this.count >= least && this.dictionary.entryCount * 2 > this.count;
  }

  override clear(): void {
    const isDistinct = this.plain || this.#isMostlyDistinct(BLOCK_VALUES_MIN);
    this.#plainBlocks = isDistinct ? this.#plainBlocks + 1 : 0;
    this.plain = isDistinct && this.#plainBlocks % PLAIN_BLOCKS_MAX !== 0;
    this.entries = refit(this.entries, this.count, 4);
    this.dictionary.clear();
    super.clear();
  }
}
