import type { Rows } from '../../engine/column/rows.ts';

/** Attribute names that the events of the current write key may have. Paths are those of the decoder's table. */
export interface NameLimit {
  /**
   * Counts the rows of the `count` from `row` on before the first that has an attribute whose name is not allowed, and
   * notes new names up to that.
   */
  keptRows(rows: Rows, row: number, count: number): number;
  /** Reports whether all `paths`, a list that only grows, are of names that were noted before. */
  knowsAll(paths: readonly number[]): boolean;
  /** Checks that an attribute at `path` has an allowed name. */
  keeps(path: number): boolean;
}
