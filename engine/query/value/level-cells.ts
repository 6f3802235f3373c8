import type { Units } from '../../base/pause.ts';
import {
  type CellLevel,
  type CellRows,
  type GroupedRows,
  plainValues,
  storedEnd,
} from '../../packed/cells.ts';
import { countCells, groupCells } from '../../packed/packed.ts';
import type { Block } from '../../segment/block/block.ts';
import { type Bitmap, isEmpty } from '../model/bitmap.ts';
import type { CodedValues, KnownCodes } from './coded-values.ts';

/** Codes up to which each is a digit, when more than this part of them are known; else only those are. */
const DIRECT_MAX = 64;
const DIRECT_SHARE = 0.75;
const NO_RUNS = { count: 1, ends: new Uint32Array(1), values: new Int32Array(1) };

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
  /** As in `FieldValues`. */
  knownCodes?(block: Block): KnownCodes | undefined;
  learnCodes?(block: Block, rows: Bitmap): Units<KnownCodes | undefined>;
}

/** The values of the rows of a block on some levels: by runs on one of them at most, else by codes. */
export type LevelCodes = readonly (KnownCodes | RowRuns)[];

/**
 * The values of a block on levels of which those of time are prepared for it, as far as they are known by now;
 * `undefined` when they do not come so. Throws CORRUPTION.
 */
export function knownLevels(levels: readonly CodedLevel[], block: Block): LevelCodes | undefined {
  const found: (KnownCodes | RowRuns)[] = [];
  for (const level of levels) {
    const known = level.runs ?? level.knownCodes?.(block);
    if (known === undefined) return undefined;
    found.push(known);
  }
  return found;
}

/** The same when what is not known of `rows` has been learnt, in units. Throws CORRUPTION. */
export function* learntLevels(
  levels: readonly CodedLevel[],
  block: Block,
  rows: Bitmap,
): Units<LevelCodes | undefined> {
  const found: (KnownCodes | RowRuns)[] = [];
  for (const level of levels) {
    const known = level.runs ?? (level.learnCodes && (yield* level.learnCodes(block, rows)));
    if (known === undefined) return undefined;
    found.push(known);
  }
  return found;
}

/** Values by codes of rows as those of a column. */
export function knownOf({ codes, known }: CodedValues): KnownCodes {
  return { codes: plainValues(codes), known };
}

/** A level of cells, and by digit the value + 1, 0 for none, -1 when it is not known. */
interface Digits {
  level: CellLevel;
  values: Int32Array;
}

/**
 * The rows of a block by what they have on some levels, a cell for each combination. A combination has a number: the
 * sum of value + 1, or 0 for none, times the weight of its level.
 */
export class LevelCells {
  readonly rows: CellRows;
  /** Rows by cell. */
  readonly counts: Uint32Array;
  /** By cell of a step of time its number, NaN when a value is not known; by step what is added. */
  readonly #numbers: Float64Array;
  readonly #steps: Float64Array;

  private constructor(rows: CellRows, numbers: Float64Array, steps: Float64Array) {
    this.rows = rows;
    this.#numbers = numbers;
    this.#steps = steps;
    this.counts = countCells(rows).slice();
  }

  /**
   * The cells of `rows`, which are some of a block's; 'unknown' when a row has a value that is not known, `undefined`
   * when there are more than `cellsMax` cells.
   */
  static of(
    levels: LevelCodes,
    weights: readonly number[],
    rowCount: number,
    rows: Bitmap,
    cellsMax: number,
  ): LevelCells | 'unknown' | undefined {
    const inner: CellLevel[] = [];
    let numbers = new Float64Array(1);
    let runs: RowRuns | undefined;
    let runWeight = 0;
    for (const [place, codes] of levels.entries()) {
      if (!('known' in codes)) {
        if (runs !== undefined) return undefined;
        runs = codes;
        runWeight = weights[place];
        continue;
      }
      const { level, values } = digitsOf(codes);
      const isNothing = values.every((value) => value < 0);
      if (isNothing && !isEmpty(rows)) return 'unknown';
      if (numbers.length * level.size > cellsMax) return undefined;
      inner.push(level);
      numbers = combined(numbers, values, weights[place]);
    }
    const { length } = numbers;
    const { cells, first, count } = stepsOf(runs ?? NO_RUNS, length);
    const cellCount = count * length;
    if (cellCount > cellsMax) return undefined;
    const cellRuns = runs && { count: runs.count, ends: runs.ends, cells };
    const steps = Float64Array.from({ length: count }, (_, step) => (first + step) * runWeight);
    const found = new LevelCells(
      { rowCount, rows, runs: cellRuns, levels: inner, cellCount },
      numbers,
      steps,
    );
    return found.#isKnown() ? found : 'unknown';
  }

  /** Shows the cells that have rows with their numbers. */
  each(visit: (number: number, count: number, cell: number) => void): void {
    const { counts } = this;
    const numbers = this.#numbers;
    let cell = 0;
    for (const step of this.#steps) {
      for (let at = 0; at < numbers.length; at++, cell++) {
        if (counts[cell] !== 0) visit(step + numbers[at], counts[cell], cell);
      }
    }
  }

  /** The rows that have a group, by cell one more than it, 0 for none; until the next question about packed values. */
  grouped(groups: Uint32Array): GroupedRows {
    return groupCells(this.rows, groups);
  }

  /** True when no row has a value that is not known. */
  #isKnown(): boolean {
    const numbers = this.#numbers;
    const { counts } = this;
    for (let at = 0; at < numbers.length; at++) {
      if (!Number.isNaN(numbers[at])) continue;
      for (let cell = at; cell < counts.length; cell += numbers.length) {
        if (counts[cell] !== 0) return false;
      }
    }
    return true;
  }
}

/** The digits of a column. */
function digitsOf({ codes, known }: KnownCodes): Digits {
  const { base } = codes;
  const all = storedEnd(codes);
  const end = Math.max(Math.min(known.length - base, all), 0);
  const size = end < all ? end + 1 : end;
  if (end > DIRECT_MAX) return knownDigits(codes, known, end);
  const values = new Int32Array(size).fill(-1);
  let knownCount = 0;
  for (let digit = 0; digit < end; digit++) {
    values[digit] = known[base + digit] - 1;
    if (values[digit] >= 0) knownCount++;
  }
  if (knownCount < end * DIRECT_SHARE) return knownDigits(codes, known, end);
  return { level: { codes, size, digits: undefined }, values };
}

/** Those of codes up to `end`, of which the ones that are not known have digit 0, as all beyond. */
function knownDigits(codes: KnownCodes['codes'], known: Int32Array, end: number): Digits {
  const digits = new Uint32Array(end + 1);
  const values = new Int32Array(end + 1);
  values[0] = -1;
  let size = 1;
  for (let code = 0; code < end; code++) {
    const value = known[codes.base + code];
    if (value === 0) continue;
    values[size] = value - 1;
    digits[code] = size++;
  }
  return { level: { codes, size, digits }, values: values.subarray(0, size) };
}

/** The numbers of cells with one more level: each of its digits with all of `numbers`. */
function combined(
  numbers: Float64Array,
  values: Int32Array,
  weight: number,
): Float64Array<ArrayBuffer> {
  const all = new Float64Array(numbers.length * values.length);
  let to = 0;
  for (let digit = 0; digit < values.length; digit++) {
    const more = values[digit] < 0 ? Number.NaN : values[digit] * weight;
    for (let at = 0; at < numbers.length; at++) all[to++] = numbers[at] + more;
  }
  return all;
}

/** By run where the cells of its step begin, when each has `length`; the first step, and how many there are. */
function stepsOf(
  { count, values }: RowRuns,
  length: number,
): { cells: Uint32Array; first: number; count: number } {
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  for (let run = 0; run < count; run++) {
    first = Math.min(first, values[run]);
    last = Math.max(last, values[run]);
  }
  const cells = new Uint32Array(count);
  for (let run = 0; run < count; run++) cells[run] = (values[run] - first) * length;
  return { cells, first, count: last - first + 1 };
}
