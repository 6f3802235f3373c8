import type { Rows } from '../../engine/column/rows.ts';

/** Attribute names that the events of the current write key may have. Paths are those of the decoder's table. */
export interface NameLimit {
  /** Checks that all attributes of row `row` have allowed names, and notes new ones. */
  keepsAll(rows: Rows, row: number): boolean;
  /** Checks that an attribute at `path` has an allowed name. */
  keeps(path: number): boolean;
}
