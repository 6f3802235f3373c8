import type { Entries, EntrySource, StringPlace } from '../column/entries.ts';
import type { NumberChunk } from '../column/number-chunk.ts';

/** The texts of a column of a block: `ids` has an entry + 1 for each row, 0 where the row has no value. */
export interface RowTexts extends Entries {
  ids: Uint32Array;
}

/** Texts of which templates are to be found: one for each of `rows`, one after the other. */
export interface RowsText extends Entries {
  rows: Uint16Array;
}

/** Texts of the columns of a block, by their numbers in its directory. Methods throw CORRUPTION. */
export interface ColumnTexts {
  /** All texts of a column; decoded once and kept. Not to be written. */
  texts(column: number): RowTexts;
  /** The `ids` of these, of a column of strings, without its entries. Not to be written. */
  ids(column: number): Uint32Array;
  /** The dictionary, that of other blocks too, which has the entries of a column; `undefined` of other columns. */
  dictionary(column: number): Pick<EntrySource, 'entryCount' | 'piece'> | undefined;
  /** The numbers of a column by their rows, `ids` as those of its texts; `undefined` of strings. */
  numbers(column: number): { ids: Uint32Array; chunk: NumberChunk } | undefined;
  /** The text of a column in a row, for which no more is read than needed; `undefined` when it has none. */
  place(column: number, row: number): StringPlace | undefined;
}
