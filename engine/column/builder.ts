import { assert } from '../base/assert.ts';
import { grow, refit } from '../packed/growth.ts';
import type { Kind } from './kind.ts';

const CAPACITY_MIN = 4;

/** Common part of all columns of an open block: the rows that hold a value, in ascending order, one entry a value. */
export abstract class ColumnBuilder {
  readonly path: number;
  readonly kind: Kind;
  count = 0;
  rows = new Uint16Array(CAPACITY_MIN);

  constructor(path: number, kind: Kind) {
    this.path = path;
    this.kind = kind;
  }

  /** Notes that `row` has the next value; returns the value's number. */
  protected addRow(row: number): number {
    const at = this.count++;
    assert(at === 0 || this.rows[at - 1] < row, 'a row has a value of a column once');
    if (at === this.rows.length) this.rows = grow(this.rows, this.count);
    this.rows[at] = row;
    return at;
  }

  /** Number of values in rows before `row`. */
  valuesBefore(row: number): number {
    if (this.count === 0 || this.rows[this.count - 1] < row) return this.count;
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.rows[middle] < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Forgets all values, and frees memory far beyond what they used. */
  clear(): void {
    this.rows = refit(this.rows, this.count, CAPACITY_MIN);
    this.count = 0;
  }
}
