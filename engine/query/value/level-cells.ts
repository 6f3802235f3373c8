import {
  type CellLevel,
  type CellRows,
  type GroupedRows,
  LEVELS_MAX,
  NOWHERE,
} from '../../packed/cells.ts';
import { countCells, groupCells } from '../../packed/packed.ts';
import type { Block } from '../../segment/block/block.ts';
import type { Bitmap } from '../model/bitmap.ts';
import type { KnownCodes } from './field-values.ts';

/** Cells up to which nested levels are counted at once. */
const CELLS_MAX = 1 << 18;
const NO_CELLS = new Uint32Array(0);

/**
 * Runs of rows: number i has the value `values[i] - 1`, none at 0, and ends before row `ends[i]`, where the next one
 * begins.
 */
export interface RowRuns {
  count: number;
  ends: Uint32Array;
  values: Int32Array;
}

/** A level whose rows have one value at most: `runs` tell it, or codes. */
export interface CodedLevel {
  readonly runs?: RowRuns;
  /** Values are below this one. */
  readonly valueCount: number;
  /** As `FieldValues.knownCodes`. */
  knownCodes?(block: Block): KnownCodes | undefined;
}

/** Values + 1 of the rows of a cell, one a level, 0 for none. */
export type Digits = readonly number[];

/**
 * The rows of a block by what they have on some levels, a cell for each combination; of rows whose values were met
 * before. Cells are numbered from `first` on, that of the innermost level first.
 */
export class LevelCells {
  readonly rows: CellRows;
  /** Rows by cell. */
  readonly counts: Uint32Array;
  readonly #first: number;
  readonly #sizes: readonly number[];

  private constructor(
    rows: CellRows,
    counts: Uint32Array,
    first: number,
    sizes: readonly number[],
  ) {
    this.rows = rows;
    this.counts = counts;
    this.#first = first;
    this.#sizes = sizes;
  }

  /**
   * The cells of `rows` of a block on levels of which those of time are prepared for it; `undefined` when a row has a
   * value that was not met before, or there are too many cells. Throws CORRUPTION.
   */
  static of(levels: readonly CodedLevel[], block: Block, rows: Bitmap): LevelCells | undefined {
    const coded: CellLevel[] = [];
    let timed: { place: number; step: number; runs: RowRuns } | undefined;
    let step = 1;
    const sizes = levels.map(({ valueCount }) => valueCount + 1);
    for (let place = levels.length - 1; place >= 0; place--) {
      const { runs } = levels[place];
      if (runs !== undefined) {
        if (timed !== undefined) return undefined;
        timed = { place, step, runs };
      } else {
        const found = levels[place].knownCodes?.(block);
        if (found === undefined) return undefined;
        coded.push({ codes: found.codes, offsets: offsetsOf(found.known, step) });
      }
      step *= sizes[place];
    }
    const range = cellsOfRuns(timed?.runs, timed?.step ?? 0, step, timed?.place === 0);
    const cellCount = range.end - range.first;
    if (coded.length > LEVELS_MAX || cellCount > CELLS_MAX) return undefined;
    const { rowCount } = block;
    const runs = timed && { ...timed.runs, cells: range.cells };
    const cells = { rowCount, rows, runs, levels: coded, cellCount };
    const counts = countCells(cells)?.slice();
    return counts && new LevelCells(cells, counts, range.first, sizes);
  }

  /** By cell that has rows, what `groupOf` gives for it, more 1; 0 for cells without rows, or of which it gives -1. */
  groups(groupOf: (digits: Digits) => number): Uint32Array {
    const groups = new Uint32Array(this.counts.length);
    const digits = this.#sizes.map(() => 0);
    for (let cell = 0; cell < groups.length; cell++) {
      if (this.counts[cell] === 0) continue;
      let rest = this.#first + cell;
      for (let place = digits.length - 1; place >= 0; place--) {
        digits[place] = rest % this.#sizes[place];
        rest = Math.floor(rest / this.#sizes[place]);
      }
      groups[cell] = groupOf(digits) + 1;
    }
    return groups;
  }

  /** The rows that have a group, until the next question about packed values. */
  grouped(groups: Uint32Array): GroupedRows {
    return groupCells(this.rows, groups);
  }
}

/** What is added to the number of a cell for each code. */
export function offsetsOf(known: Int32Array, step: number): Uint32Array {
  const offsets = new Uint32Array(known.length);
  for (let code = 0; code < known.length; code++) {
    offsets[code] = known[code] === 0 ? NOWHERE : (known[code] - 1) * step;
  }
  return offsets;
}

/** The cells of runs, from that of the first one on which is `first`; all cells of their rows are below `end`. */
export function cellsOfRuns(
  runs: RowRuns | undefined,
  timeStep: number,
  cellCount: number,
  isOutermost: boolean,
): { cells: Uint32Array; first: number; end: number } {
  if (runs === undefined) return { cells: NO_CELLS, first: 0, end: cellCount };
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs.count; run++) least = Math.min(least, runs.values[run]);
  const cells = new Uint32Array(runs.count);
  let last = 0;
  for (let run = 0; run < runs.count; run++) {
    cells[run] = (runs.values[run] - least) * timeStep;
    last = Math.max(last, cells[run]);
  }
  // Behind the last run of an outermost level are the cells of its inner levels alone.
  const first = least * timeStep;
  const end = isOutermost ? first + last + timeStep : cellCount;
  return { cells, first, end };
}
