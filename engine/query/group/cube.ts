import { assert } from '../../base/assert.ts';
import { inParts, Pace, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block/block.ts';
import { type Bitmap, countBetween, countRows, rowList } from '../model/bitmap.ts';
import type { BucketKey, BucketOrder, GroupBy } from '../model/query.ts';
import type { CodedValues } from '../value/field-values.ts';
import type { BlockVisitor } from './block-scan.ts';
import { afterTest, comparer, FirstBuckets, limitOf } from './bucket-order.ts';
import { codedOf, type Level, type RowRuns, takeValues } from './level.ts';
import type { LevelSpec, VisitorData, VisitorSpec } from './shared-scan.ts';

/** Cells of a level for events that have no value there, and for all events. */
const MORE_CELLS = 2;
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
  /** The selected rows of a block. */
  #list = new Uint32Array(0);
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
    for (const level of this.#levels) yield* level.prepare(block, rows);
    /** By level; nothing for the first one of time, whose runs tell. */
    const coded: CodedValues[] = [];
    let timePlace = -1;
    for (const [place, level] of this.#levels.entries()) {
      if (timePlace < 0 && level.runs !== undefined) {
        timePlace = place;
        continue;
      }
      const found = codedOf(level);
      if (found === undefined || level.isLarge === true) {
        this.#fitting = place;
        return;
      }
      coded[place] = found;
    }
    yield* this.#makeRoom();
    if (!this.isFull) this.#count(rows, block.rowCount, coded, this.#levels[timePlace]?.runs);
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

  /** Counts rows of a block, those of a run of time together, by the values of the other levels. */
  #count(
    rows: Bitmap,
    rowCount: number,
    coded: readonly CodedValues[],
    runs: RowRuns = { count: 1, ends: Uint32Array.of(rowCount), values: Int32Array.of(0) },
  ): void {
    const codes: Uint32Array[] = [];
    /** By code, how far the cells of its value are from those of no value. */
    const offsets: Int32Array[] = [];
    let timeStep = 0;
    let step = 1;
    for (let place = this.#levels.length - 1; place >= 0; place--) {
      const found = coded[place];
      if (found === undefined) timeStep = step;
      else {
        codes.push(found.codes);
        offsets.push(offsetsOf(found.known, step));
      }
      step *= this.#sizes[place];
    }
    const isWhole = countRows(rows) === rowCount;
    const list = isWhole || codes.length === 0 ? undefined : this.#listed(rows, rowCount);
    let from = 0;
    let first = 0;
    for (let run = 0; run < runs.count; run++) {
      const end = runs.ends[run];
      const count = isWhole ? end - from : countBetween(rows, from, end);
      const cell = runs.values[run] * timeStep;
      if (codes.length === 0) this.#cells[cell] += count;
      else if (list === undefined) countAll(this.#cells, cell, from, end, codes, offsets);
      else countCells(this.#cells, cell, list, first, first + count, codes, offsets);
      from = end;
      first += count;
    }
  }

  #listed(rows: Bitmap, rowCount: number): Uint32Array {
    if (this.#list.length < rowCount) this.#list = new Uint32Array(rowCount);
    return rowList(rows, rowCount, this.#list);
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

/** What is added to the number of a cell for each code. */
function offsetsOf(known: Int32Array, step: number): Int32Array {
  const offsets = new Int32Array(known.length);
  for (let code = 0; code < known.length; code++) offsets[code] = (known[code] - 1) * step;
  return offsets;
}

/** Counts `list[from, to)` in the cells that are on from `cell` by what up to three levels add. */
function countCells(
  cells: Float64Array,
  cell: number,
  list: Uint32Array,
  from: number,
  to: number,
  codes: readonly Uint32Array[],
  offsets: readonly Int32Array[],
): void {
  const [a, b, c] = codes;
  const [ofA, ofB, ofC] = offsets;
  if (codes.length === 1) {
    for (let at = from; at < to; at++) cells[cell + ofA[a[list[at]]]]++;
  } else if (codes.length === 2) {
    for (let at = from; at < to; at++) {
      const row = list[at];
      cells[cell + ofA[a[row]] + ofB[b[row]]]++;
    }
  } else {
    for (let at = from; at < to; at++) {
      const row = list[at];
      cells[cell + ofA[a[row]] + ofB[b[row]] + ofC[c[row]]]++;
    }
  }
}

/** Counts all rows from `from` to `to` likewise. */
function countAll(
  cells: Float64Array,
  cell: number,
  from: number,
  to: number,
  codes: readonly Uint32Array[],
  offsets: readonly Int32Array[],
): void {
  const [a, b, c] = codes;
  const [ofA, ofB, ofC] = offsets;
  if (codes.length === 1) {
    for (let row = from; row < to; row++) cells[cell + ofA[a[row]]]++;
  } else if (codes.length === 2) {
    for (let row = from; row < to; row++) cells[cell + ofA[a[row]] + ofB[b[row]]]++;
  } else {
    for (let row = from; row < to; row++) cells[cell + ofA[a[row]] + ofB[b[row]] + ofC[c[row]]]++;
  }
}
