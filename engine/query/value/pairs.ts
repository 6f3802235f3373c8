import { EngineError } from '../../base/errors.ts';
import { grow } from '../../packed/growth.ts';
import { type Bitmap, listRows } from '../model/bitmap.ts';

/** Pairs of one block: more come only of events with many elements in several arrays. */
const PAIRS_MAX = 1 << 25;
const CAPACITY_MIN = 1 << 12;

/**
 * Runs of a block's rows: number i ends before row `ends[i]`, and those of its rows that are among `rows` are in group
 * `groups[i]`, in none at -1.
 */
export interface GroupRuns {
  rows: Bitmap;
  count: number;
  ends: Uint32Array;
  groups: Int32Array;
}

/** Which rows of a block are in which groups: a row may be in several of them. Reused from block to block. */
export class Pairs {
  count = 0;
  rows = new Uint32Array(CAPACITY_MIN);
  groups = new Uint32Array(CAPACITY_MIN);

  /** Takes all of `rows`, in group 0. */
  reset(rows: Bitmap): void {
    this.reserve(rows.length * 32);
    this.#group(listRows(rows, this.rows));
  }

  /** The same of a list of rows. */
  take(rows: Uint32Array): void {
    this.reserve(rows.length);
    this.rows.set(rows);
    this.#group(rows.length);
  }

  /** Takes all of `rows`, each in the group that `groups` has by row. */
  resetTo(rows: Bitmap, groups: Uint32Array): void {
    this.reserve(rows.length * 32);
    const list = this.rows;
    const own = this.groups;
    const count = listRows(rows, list);
    if (count === groups.length) own.set(groups);
    else for (let at = 0; at < count; at++) own[at] = groups[list[at]];
    this.count = count;
  }

  #group(count: number): void {
    this.groups.fill(0, 0, count);
    this.count = count;
  }

  /** Makes room for `count` pairs in all. */
  reserve(count: number): void {
    if (count <= this.rows.length) return;
    this.rows = grow(this.rows, count);
    this.groups = grow(this.groups, count);
  }

  /** Takes a pair. Throws LIMIT when there are too many. */
  add(row: number, group: number): void {
    const at = this.count++;
    if (at === this.rows.length) {
      if (at >= PAIRS_MAX) {
        throw new EngineError(
          'LIMIT',
          `the events of one block are in more than ${PAIRS_MAX} buckets; allowed: fewer groupBys over arrays`,
        );
      }
      this.rows = grow(this.rows, at + 1);
      this.groups = grow(this.groups, at + 1);
    }
    this.rows[at] = row;
    this.groups[at] = group;
  }
}
