import type { Rows } from '../../engine/column/rows.ts';

/** Which attribute names the events of the write key at hand may have. Paths are those of the decoder's table. */
export interface NameLimit {
  /** Whether all attributes of the row `row` have names that they may have. A name that is seen first is noted. */
  keepsAll(rows: Rows, row: number): boolean;
  /** Whether an attribute at `path` has such a name. */
  keeps(path: number): boolean;
}
