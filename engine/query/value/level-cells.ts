import { assert } from '../../base/assert.ts';
import type { Units } from '../../base/pause.ts';
import {
  type CellLevel,
  type CellRows,
  type GroupedRows,
  plainValues,
  storedEnd,
} from '../../packed/cells.ts';
import { grow } from '../../packed/growth.ts';
import { countCells, groupCells } from '../../packed/packed.ts';
import type { Block } from '../../segment/block/block.ts';
import { type Bitmap, isEmpty } from '../model/bitmap.ts';
import type { CodedValues, KnownCodes } from './coded-values.ts';

/** Codes up to which each is a digit, when more than this part of them are known; else only those are. */
const DIRECT_MAX = 64;
const DIRECT_SHARE = 0.75;
const NO_RUNS = { count: 1, ends: new Uint32Array(1), values: new Int32Array(1) };
const NO_ROWS: CellRows = {
  ...{ rowCount: 0, rows: new Uint32Array(0), runs: undefined, levels: [], cellCount: 0 },
};

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
  if (hasManyRuns(levels)) return undefined;
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
  if (hasManyRuns(levels)) return undefined;
  const found: (KnownCodes | RowRuns)[] = [];
  for (const level of levels) {
    const known = level.runs ?? (level.learnCodes && (yield* level.learnCodes(block, rows)));
    if (known === undefined) return undefined;
    found.push(known);
  }
  return found;
}

/** True when runs tell more levels than cells can have by runs. */
function hasManyRuns(levels: readonly CodedLevel[]): boolean {
  return levels.filter(({ runs }) => runs !== undefined).length > 1;
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

/** How rows were put into cells; 'unknown': one has a value that is not known, 'many': there are too many cells. */
export type CellsFound = 'counted' | 'unknown' | 'many';

/**
 * The rows of a block by what they have on some levels, a cell for each combination. A combination has a number: the
 * sum of value + 1, or 0 for none, times the weight of its level. Uses its memory again for the next block.
 */
export class LevelCells {
  #rows: CellRows = NO_ROWS;
  #counts: Uint32Array = NO_RUNS.ends;
  #room = new Uint32Array(0);
  /** By cell of a step of time its number, NaN when a value is not known; how many there are. */
  #numbers = new Float64Array(1);
  #length = 1;
  /** Digits and weights by level that the numbers are made of. */
  #digits: readonly Int32Array[] = [];
  #weights: readonly number[] = [];
  /** The first step, and what a step adds to a number. */
  #firstStep = 0;
  #stepWeight = 0;

  /** Counts `rows`, which are some of a block's, by cell. */
  take(
    levels: LevelCodes,
    weights: readonly number[],
    rowCount: number,
    rows: Bitmap,
    cellsMax: number,
  ): CellsFound {
    const inner: CellLevel[] = [];
    const digits: Int32Array[] = [];
    const digitWeights: number[] = [];
    let runs: RowRuns | undefined;
    let isUnknown = false;
    let length = 1;
    this.#stepWeight = 0;
    for (let place = 0; place < levels.length; place++) {
      const codes = levels[place];
      if (!('known' in codes)) {
        assert(runs === undefined, 'runs tell one level at most');
        runs = codes;
        this.#stepWeight = weights[place];
        continue;
      }
      if (!isAnyKnown(codes) && !isEmpty(rows)) return 'unknown';
      const { level, values } = digitsOf(codes);
      length *= level.size;
      if (length > cellsMax) return 'many';
      inner.push(level);
      isUnknown ||= values.some(isUnknownValue);
      digits.push(values);
      digitWeights.push(weights[place]);
    }
    this.#number(digits, digitWeights);
    const { cells, first, count } = stepsOf(runs ?? NO_RUNS, length);
    const cellCount = count * length;
    if (cellCount > cellsMax) return 'many';
    this.#firstStep = first;
    const cellRuns = runs && { count: runs.count, ends: runs.ends, cells };
    this.#rows = { rowCount, rows, runs: cellRuns, levels: inner, cellCount };
    if (this.#room.length < cellCount) this.#room = new Uint32Array(cellCount * 2);
    this.#counts = this.#room.subarray(0, cellCount);
    this.#counts.set(countCells(this.#rows));
    return isUnknown && !this.#isKnown() ? 'unknown' : 'counted';
  }

  /** The rows that were taken. */
  get rows(): CellRows {
    return this.#rows;
  }

  /** Rows by cell, until the next are taken. */
  get counts(): Uint32Array {
    return this.#counts;
  }

  /** Adds the rows of the cells to `sums`, at their numbers, which are below 2^31. */
  addTo(sums: Float64Array): void {
    const counts = this.#counts;
    const numbers = this.#numbers;
    const length = this.#length;
    for (let cell = 0, step = this.#firstStep; cell < counts.length; step++) {
      const more = step * this.#stepWeight;
      // Where a value is not known, and the number is NaN, there are no rows.
      for (let at = 0; at < length; at++, cell++) sums[(more + numbers[at]) | 0] += counts[cell];
    }
  }

  /** Shows the cells that have rows with their numbers. */
  each(visit: (number: number, count: number, cell: number) => void): void {
    const counts = this.#counts;
    const numbers = this.#numbers;
    const length = this.#length;
    for (let cell = 0, step = this.#firstStep; cell < counts.length; step++) {
      const more = step * this.#stepWeight;
      for (let at = 0; at < length; at++, cell++) {
        if (counts[cell] !== 0) visit(more + numbers[at], counts[cell], cell);
      }
    }
  }

  /** The rows that have a group, by cell one more than it, 0 for none; until the next question about packed values. */
  grouped(groups: Uint32Array): GroupedRows {
    return groupCells(this.#rows, groups);
  }

  /** True when no row has a value that is not known. */
  #isKnown(): boolean {
    const numbers = this.#numbers;
    const length = this.#length;
    const counts = this.#counts;
    for (let at = 0; at < length; at++) {
      if (!Number.isNaN(numbers[at])) continue;
      for (let cell = at; cell < counts.length; cell += length) {
        if (counts[cell] !== 0) return false;
      }
    }
    return true;
  }

  /** Makes the numbers those of cells with these digits; most blocks have those of the one before. */
  #number(digits: readonly Int32Array[], weights: readonly number[]): void {
    const before = this.#digits;
    const isSame =
      isEqual(weights, this.#weights) &&
      digits.every((values, place) => isEqual(values, before[place]));
    if (isSame) return;
    this.#numbers[0] = 0;
    this.#length = 1;
    for (let place = 0; place < digits.length; place++)
      this.#combine(digits[place], weights[place]);
    this.#digits = digits;
    this.#weights = weights;
  }

  /** Makes the numbers those of cells with one more level: each of its digits with all of them. */
  #combine(values: Int32Array, weight: number): void {
    const length = this.#length;
    this.#length = length * values.length;
    if (this.#numbers.length < this.#length) this.#numbers = grow(this.#numbers, this.#length);
    const numbers = this.#numbers;
    // Those of the first digit take the place of what is read for the others.
    for (let digit = values.length - 1; digit >= 0; digit--) {
      const more = values[digit] < 0 ? Number.NaN : values[digit] * weight;
      const to = digit * length;
      for (let at = 0; at < length; at++) numbers[to + at] = numbers[at] + more;
    }
  }
}

function isEqual(left: ArrayLike<number>, right: ArrayLike<number>): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false;
  return true;
}

function isUnknownValue(value: number): boolean {
  return value < 0;
}

/** True when the meaning of a code that rows may have is known. */
function isAnyKnown({ codes, known }: KnownCodes): boolean {
  const end = Math.min(known.length, codes.base + storedEnd(codes));
  for (let code = codes.base; code < end; code++) if (known[code] !== 0) return true;
  return false;
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
