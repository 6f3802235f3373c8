import { assert } from '../../base/assert.ts';
import { inParts, Pace, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import { type CellLevel, plainValues } from '../../packed/cells.ts';
import { countCells } from '../../packed/packed.ts';
import type { Block } from '../../segment/block/block.ts';
import { type Bitmap, countBetween } from '../model/bitmap.ts';
import type { BucketKey, BucketOrder, GroupBy } from '../model/query.ts';
import type { KnownCodes } from '../value/field-values.ts';
import { cellsOfRuns, offsetsOf, type RowRuns } from '../value/level-cells.ts';
import type { BlockVisitor } from './block-scan.ts';
import { afterTest, comparer, FirstBuckets, limitOf } from './bucket-order.ts';
import { codedOf, type Level, takeValues } from './level.ts';
import type { LevelSpec, VisitorData, VisitorSpec } from './shared-scan.ts';

/** Cells of a level for events that have no value there, and for all events. */
const MORE_CELLS = 2;
const NO_ENDS = new Uint32Array(0);
const NO_VALUES = new Int32Array(0);
const NATURAL: BucketOrder = { by: { type: 'natural' }, direction: 'asc' };

/**
 * Counts events by their values on up to three levels at once, in one array with a cell for each combination: for
 * levels of few values. Owned by one thread.
 */
export class Cube implements BlockVisitor {
  readonly needsRows = true;
  readonly #levels: readonly Level[];
  readonly #cellsMax: number;
  readonly #memoryBytesMax: number;
  /** Cells of each level that there is room for. Place 0 is no value, v + 1 is value v, the last one is all events. */
  #sizes: number[];
  #cells: Float64Array<ArrayBuffer>;
  /** How many of the first levels may fit, when all together do not. */
  #fitting: number;

  constructor(levels: readonly Level[], cellsMax: number, memoryBytesMax: number) {
    this.#levels = levels;
    this.#cellsMax = cellsMax;
    this.#memoryBytesMax = memoryBytesMax;
    this.#sizes = levels.map((level) => level.valueCount + MORE_CELLS);
    this.#fitting = levels.length;
    this.#cells = new Float64Array(0);
    this.#check(this.#sizes);
    if (!this.isFull) this.#cells = new Float64Array(product(this.#sizes));
  }

  /** How many of the levels, from the first on, can be counted so: all of them unless it is full. */
  get fitting(): number {
    return this.#fitting;
  }

  get isFull(): boolean {
    return this.#fitting < this.#levels.length;
  }

  addCount(): void {}

  *add(block: Block, rows: Bitmap): Units<void> {
    if (this.isFull) return;
    const timePlace = this.#levels.findIndex((level) => level.runs !== undefined);
    const time = this.#levels[timePlace];
    if (time !== undefined) yield* time.prepare(block, rows);
    if (this.#addKnown(block, rows, timePlace)) return;
    /** By level; nothing for the first one of time, whose runs tell. */
    const coded: KnownCodes[] = [];
    for (const [place, level] of this.#levels.entries()) {
      if (place === timePlace) continue;
      yield* level.prepare(block, rows);
      const found = codedOf(level);
      if (found === undefined || level.isLarge === true) {
        this.#fitting = place;
        return;
      }
      coded[place] = { codes: plainValues(found.codes), known: found.known };
    }
    yield* this.#makeRoom();
    if (this.isFull) return;
    const isCounted = this.#count(rows, block.rowCount, coded, time?.runs);
    assert(isCounted, 'all values are known');
  }

  /** Counts a block whose values are all known by now; false when that is not so. Throws CORRUPTION. */
  #addKnown(block: Block, rows: Bitmap, timePlace: number): boolean {
    const coded: KnownCodes[] = [];
    for (const [place, level] of this.#levels.entries()) {
      if (place === timePlace) continue;
      const found = level.knownCodes?.(block);
      if (found === undefined) return false;
      coded[place] = found;
    }
    return this.#count(rows, block.rowCount, coded, this.#levels[timePlace]?.runs);
  }

  spec(): VisitorSpec | undefined {
    const levels: LevelSpec[] = [];
    for (const level of this.#levels) {
      const spec = level.spec(true);
      if (spec === undefined) return undefined;
      levels.push(spec);
    }
    return { type: 'cube', levels, cellsMax: this.#cellsMax, memoryBytesMax: this.#memoryBytesMax };
  }

  found(): VisitorData | undefined {
    if (this.isFull) return undefined;
    const values = this.#levels.map(({ data }) => data);
    return { type: 'cube', values, sizes: this.#sizes, cells: this.#cells };
  }

  *merge(data: VisitorData): Units<void> {
    assert(data.type === 'cube', 'what a cube has found');
    const places: Uint32Array[] = [];
    for (const [place, size] of data.sizes.entries()) {
      const take = yield* takeValues(this.#levels[place], data.values[place]);
      const taken = new Uint32Array(size);
      const end = Math.min(size, this.#levels[place].valueCount + 1);
      for (let cell = 1; cell < end; cell++) taken[cell] = take(cell - 1) + 1;
      places.push(taken);
    }
    yield* this.#makeRoom();
    if (this.isFull) return;
    const from = data.cells;
    yield* inParts(from.length, UNIT_SLOTS, (begin, end) => {
      for (let cell = begin; cell < end; cell++) {
        if (from[cell] === 0) continue;
        let rest = cell;
        let step = 1;
        let to = 0;
        for (let place = data.sizes.length - 1; place >= 0; place--) {
          to += places[place][rest % data.sizes[place]] * step;
          rest = Math.floor(rest / data.sizes[place]);
          step *= this.#sizes[place];
        }
        this.#cells[to] += from[cell];
      }
    });
  }

  /** Sums up over the places of each level, in units; to be called once, after the last block. */
  *finish(): Units<void> {
    const cells = this.#cells;
    let step = 1;
    for (let place = this.#sizes.length - 1; place >= 0; place--) {
      const size = this.#sizes[place];
      const inner = step;
      const sumsAUnit = Math.ceil(UNIT_SLOTS / size);
      yield* inParts(cells.length / size, sumsAUnit, (begin, end) => {
        for (let number = begin; number < end; number++) {
          const from = Math.floor(number / inner) * inner * size + (number % inner);
          const to = from + inner * (size - 1);
          let sum = 0;
          for (let at = from; at < to; at += inner) sum += cells[at];
          cells[to] = sum;
        }
      });
      step *= size;
    }
  }

  /** Events that have the first `values`, each a value or -1 for all, whatever they have on the other levels. */
  countOf(values: readonly number[]): number {
    let cell = 0;
    for (const [place, size] of this.#sizes.entries()) {
      const value = values[place] ?? -1;
      cell = cell * size + (value < 0 ? size - 1 : value + 1);
    }
    return this.#cells[cell];
  }

  /** Counts rows of a block; false when the value of one is not known. */
  #count(
    rows: Bitmap,
    rowCount: number,
    coded: readonly KnownCodes[],
    runs: RowRuns | undefined,
  ): boolean {
    const levels: CellLevel[] = [];
    let timeStep = 0;
    let step = 1;
    for (let place = this.#levels.length - 1; place >= 0; place--) {
      const found = coded[place];
      if (found === undefined) timeStep = step;
      else levels.push({ codes: found.codes, offsets: offsetsOf(found.known, step) });
      step *= this.#sizes[place];
    }
    if (levels.length === 0) {
      this.#countRuns(rows, runs);
      return true;
    }
    const { cells, first, end } = cellsOfRuns(runs, timeStep, step, coded[0] === undefined);
    const cellRuns = runs && { count: runs.count, ends: runs.ends, cells };
    const cellCount = end - first;
    const counts = countCells({ rowCount, rows, runs: cellRuns, levels, cellCount });
    if (counts === undefined) return false;
    for (let cell = 0; cell < cellCount; cell++) {
      if (counts[cell] !== 0) this.#cells[first + cell] += counts[cell];
    }
    return true;
  }

  /** Counts rows by runs of time alone. */
  #countRuns(rows: Bitmap, runs: RowRuns = { count: 0, ends: NO_ENDS, values: NO_VALUES }): void {
    for (let run = 0, from = 0; run < runs.count; run++) {
      this.#cells[runs.values[run]] += countBetween(rows, from, runs.ends[run]);
      from = runs.ends[run];
    }
  }

  /** Makes room for the values that the levels have now, in units. */
  *#makeRoom(): Units<void> {
    const sizes = this.#sizes.map((size, place) => {
      const needed = this.#levels[place].valueCount + MORE_CELLS;
      return needed <= size ? size : Math.max(needed, size * 2);
    });
    if (sizes.every((size, place) => size === this.#sizes[place])) return;
    this.#check(sizes);
    if (this.isFull) return;
    const old = this.#cells;
    const cells = new Float64Array(product(sizes));
    yield* inParts(old.length, UNIT_SLOTS, (begin, end) => {
      for (let from = begin; from < end; from++) {
        if (old[from] === 0) continue;
        let rest = from;
        let step = 1;
        let to = 0;
        for (let place = sizes.length - 1; place >= 0; place--) {
          const size = this.#sizes[place];
          to += (rest % size) * step;
          rest = Math.floor(rest / size);
          step *= sizes[place];
        }
        cells[to] = old[from];
      }
    });
    this.#cells = cells;
    this.#sizes = sizes;
  }

  /** Finds out how many levels fit with as many cells each. */
  #check(sizes: readonly number[]): void {
    let cellCount = 1;
    let bytes = 0;
    for (const [place, size] of sizes.entries()) {
      cellCount *= size;
      bytes += this.#levels[place].memoryBytes;
      if (cellCount > this.#cellsMax || bytes + cellCount * 8 > this.#memoryBytesMax) {
        this.#fitting = place;
        return;
      }
    }
  }
}

/**
 * Finds the first buckets of the level at `place` of a finished cube, in units; `paths` are the values of the buckets
 * before, -1 for a total.
 */
export function* firstCounted(
  cube: Cube,
  level: Level,
  paths: readonly number[][],
  groupBy: GroupBy,
  place: number,
  afterBucket: BucketKey | undefined,
): Units<FirstBuckets> {
  const order = groupBy.type === 'time' ? NATURAL : groupBy.order;
  const byCount = order.by.type === 'core';
  const first = new FirstBuckets(limitOf(groupBy, place), comparer(order, level));
  const { valueCount } = level;
  const isAfter = afterTest(level, place === 0 ? afterBucket : undefined, order.direction);
  const pace = new Pace();
  for (const [parent, path] of paths.entries()) {
    const cell = [...path, 0];
    for (let value = 0; value < valueCount; value++) {
      cell[place] = value;
      if (pace.isFull(1)) yield;
      const count = cube.countOf(cell);
      if (count === 0 || !isAfter(value)) continue;
      first.offer(parent, value, byCount ? count : undefined, () => []);
    }
  }
  return first;
}

function product(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total * size, 1);
}
