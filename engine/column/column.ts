import type { PackedSpan, PackedValues } from '../packed/cells.ts';
import type {
  BlockEntries,
  Entries,
  EntrySource,
  PossibleParts,
  Scratch,
  StoredPieces,
  Terms,
} from './entries.ts';
import type { Kind } from './kind.ts';

/**
 * Rows that have a value; `undefined` means all. One bit a row, bit `row & 31` of word `row >>> 5`; bits beyond the
 * last row are 0.
 */
export type Presence = Uint32Array | undefined;

/** Rows whose ids are read together where few are wanted. */
export const STRETCH_ROWS = 2_048;

/**
 * A decoded column of strings or arrays. Entries are distinct when the chunk is a dictionary, and may repeat when it
 * is text. An evaluation on entries that is mapped over `ids` is right for both. Shape: ids[rowCount],
 * offsets[entryCount + 1].
 */
export interface StringColumn {
  kind: typeof Kind.STRING | typeof Kind.ARRAY;
  /**
   * Entry + 1 of each row; 0 where the row has none. These and the entries may be read when they are asked for; throw
   * CORRUPTION then.
   */
  readonly ids: Uint32Array;
  readonly entryCount: number;
  /** Entry e is `bytes[offsets[e], offsets[e + 1])`, WTF-8. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
  /**
   * The dictionary of the segment that the entries are in. Of a large one better read only the entries that are
   * needed.
   */
  readonly shared: EntrySource | undefined;
  /** The entries, when they are of the block alone and hashes of them are kept. */
  readonly own?: BlockEntries | undefined;
  /** The ids as they are stored, when each row has one; some may be above the count of entries. Throws CORRUPTION. */
  packed?(): PackedValues | undefined;
  /** The rows that have the entry `id` - 1, as a new bitmap; `undefined` when `ids` are as good. Throws CORRUPTION. */
  rowsOf?(id: number): Uint32Array | undefined;
  /**
   * The ids of STRETCH_ROWS rows, at the end fewer, from `from` on, a multiple of it, which are read without the
   * others; `undefined` when they are not stored so. Good until other numbers are read. Throws CORRUPTION.
   */
  idsFrom?(from: number): Uint32Array | undefined;
  /**
   * Entries of a text column as `EntrySource.piece` gives them, for readers that need each once. With `scratch` they
   * hold until it is used again. Throws CORRUPTION.
   */
  piece?(first: number, scratch?: Scratch): Entries;
  /** The pieces of a text as they are stored, when each row has an entry of its own, in their order. */
  readonly storedPieces?: StoredPieces | undefined;
  /**
   * Finds the parts that may have what is looked for, of some pieces of PIECE_ENTRIES entries each; `undefined` when it
   * is not known.
   */
  partsWith?(terms: Terms): PossibleParts | undefined;
}

/**
 * A decoded column of numbers. The value of a row is `mantissas[row] / 10 ** scale` (rounded once, so it is what
 * its text says), or `mantissas[row]` itself when `scale` is -1: then they are doubles.
 * Rows in `exceptions` have their text there, in ascending row order, and 0 in `mantissas`.
 */
export interface NumberColumn {
  kind: typeof Kind.NUMBER;
  presence: Presence;
  scale: number;
  /** Decoded when they are asked for. */
  readonly mantissas: Float64Array;
  exceptions: { row: number; text: string }[];
  /**
   * Mantissa + 1 of each row, 0 where it has none: when all are known to be whole numbers from 0 to `max`, and none is
   * an exception.
   */
  small(max: number): Uint32Array | undefined;
  /** The same as they are stored, when each row has a value. */
  packed(max: number): PackedValues | undefined;
  /** Their codes, one a row: when each row has a value, none is an exception, and they are stored so. */
  coded(): CodedNumbers | undefined;
  /** The text of a row that has a value, as it was written. */
  text(row: number): string;
  /** The rows whose mantissa is from `low` to `high`; of those without one it says nothing. A new bitmap. */
  rowsWithin(low: number, high: number): Uint32Array;
  /**
   * The same as they are stored, one a row: when each row has a value, none is an exception, and they are stored so.
   */
  span(low: number, high: number): PackedSpan | undefined;
}

/** Mantissas by codes, as they are stored. */
export interface CodedNumbers {
  /** Some may be behind the last of `table`. */
  codes: PackedValues;
  /** The mantissas that codes stand for, ascending. */
  table: Float64Array;
}

/** A decoded column of booleans: bit set in `values` means true. */
export interface BooleanColumn {
  kind: typeof Kind.BOOLEAN;
  presence: Presence;
  values: Uint32Array;
}

/** A decoded column of date texts: value and form of each row, see date-form.ts. */
export interface DateColumn {
  kind: typeof Kind.DATE;
  presence: Presence;
  values: Float64Array;
  forms: Uint16Array;
}

/** A column of one block, decoded. Views are owned by the block and must not be written. */
export type Column = StringColumn | NumberColumn | BooleanColumn | DateColumn;
