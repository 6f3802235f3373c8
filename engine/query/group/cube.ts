import { assert, must } from '../../base/assert.ts';
import { inParts, Pace, type Units } from '../../base/pause.ts';
import type { PackedSpan } from '../../packed/cells.ts';
import { countSpan } from '../../packed/packed.ts';
import type { Block } from '../../segment/block/block.ts';
import { type Bitmap, countBetween } from '../model/bitmap.ts';
import type {
  AggregateBucket,
  AggregateQuery,
  BucketKey,
  BucketOrder,
  GroupBy,
} from '../model/query.ts';
import {
  type CellsFound,
  knownLevels,
  knownOf,
  LevelCells,
  type LevelCodes,
  learntLevels,
  type RowRuns,
} from '../value/level-cells.ts';
import type { BlockVisitor } from './block-scan.ts';
import { afterTest, comparer, FirstBuckets, limitOf } from './bucket-order.ts';
import { countsOnly } from './computes.ts';
import { codedOf, type Level, takeValues } from './level.ts';
import { checkCells } from './pass.ts';
import type { LevelSpec, VisitorData, VisitorSpec } from './shared-scan.ts';

/** Cells of a level for events that have no value there, and for all events. */
const MORE_CELLS = 2;
/** Steps of time that are looked at in a unit. */
const UNIT_STEPS = 2_048;
const NO_ROWS = new Uint32Array(0);
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
  /** The rows of a block. */
  readonly #found = new LevelCells();
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
    const times = this.#levels.filter(({ runs }) => runs !== undefined);
    for (const time of times) yield* time.prepare(block, rows);
    if (times.length === this.#levels.length && times.length === 1) {
      this.#countRuns(rows, must(times[0].runs, 'runs'));
      return;
    }
    // Values may be known of a block that turned out damaged.
    this.#makeRoom();
    if (this.isFull) return;
    const known = knownLevels(this.#levels, block);
    const found = known && this.#count(known, block, rows);
    if (found === 'counted') return;
    const mayLearn = found === 'unknown';
    const learnt = mayLearn ? yield* learntLevels(this.#levels, block, rows) : undefined;
    const levels = learnt ?? (yield* this.#prepared(block, rows, times));
    if (levels === undefined) return;
    this.#makeRoom();
    if (this.isFull) return;
    assert(this.#count(levels, block, rows) === 'counted', 'all values are known');
  }

  /** Time steps alone are runs of rows: those of a span are counted as they are stored. */
  *addSpan(block: Block, span: PackedSpan): Units<boolean> {
    const [level] = this.#levels;
    if (this.#levels.length > 1 || level.runs === undefined || this.isFull) return false;
    yield* level.prepare(block, NO_ROWS);
    const { count, ends, values } = level.runs;
    const counts = countSpan(span, ends, count);
    for (let run = 0; run < count; run++) this.#cells[values[run]] += counts[run];
    return true;
  }

  /** Has each level find its values, but that of `times` whose runs tell; `undefined` when one does not fit. */
  *#prepared(block: Block, rows: Bitmap, [time]: readonly Level[]): Units<LevelCodes | undefined> {
    const coded: LevelCodes[number][] = [];
    for (const [place, level] of this.#levels.entries()) {
      if (level === time) {
        coded.push(must(level.runs, 'runs'));
        continue;
      }
      yield* level.prepare(block, rows);
      const found = codedOf(level);
      if (found === undefined || level.isLarge === true) {
        this.#fitting = place;
        return undefined;
      }
      coded.push(knownOf(found));
    }
    return coded;
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
    this.#makeRoom();
    if (!this.isFull) this.#take(data.cells, data.sizes, places);
  }

  /** Sums up over the places of each level; to be called once, after the last block. */
  finish(): void {
    const cells = this.#cells;
    const steps = this.#steps;
    for (const [place, size] of this.#sizes.entries()) {
      const step = steps[place];
      for (let from = 0; from < cells.length; from += size * step) {
        const all = from + (size - 1) * step;
        for (let at = from; at < all; at += step) {
          for (let inner = 0; inner < step; inner++) cells[all + inner] += cells[at + inner];
        }
      }
    }
  }

  /**
   * Gives the events that have the first `values` and one of the next level, each a value or -1 for all, whatever they
   * have on the other levels.
   */
  countsIn(values: readonly number[]): (value: number) => number {
    const cells = this.#cells;
    const step = this.#steps[values.length];
    const first = this.#cellOf([...values, 0]);
    const all = this.#cellOf([...values, -1]);
    return (value) => cells[value < 0 ? all : first + value * step];
  }

  /** The cell of the first `values`, of all events on the other levels. */
  #cellOf(values: readonly number[]): number {
    let cell = 0;
    for (const [place, size] of this.#sizes.entries()) {
      const value = values[place] ?? -1;
      cell = cell * size + (value < 0 ? size - 1 : value + 1);
    }
    return cell;
  }

  /** By level how far the cells of neighbouring values are from each other. */
  get #steps(): number[] {
    return this.#sizes.map((_, place) => product(this.#sizes.slice(place + 1)));
  }

  /** Counts rows of a block; 'unknown' when the value of one is not known. */
  #count(levels: LevelCodes, { rowCount }: Block, rows: Bitmap): CellsFound {
    const found = this.#found.take(levels, this.#steps, rowCount, rows, Number.POSITIVE_INFINITY);
    if (found === 'counted') this.#found.addTo(this.#cells);
    return found;
  }

  /** Counts rows by runs of time alone. */
  #countRuns(rows: Bitmap, runs: RowRuns): void {
    for (let run = 0, from = 0; run < runs.count; run++) {
      this.#cells[runs.values[run]] += countBetween(rows, from, runs.ends[run]);
      from = runs.ends[run];
    }
  }

  /** Makes room for the values that the levels have now. */
  #makeRoom(): void {
    const before = this.#sizes;
    const sizes = before.map((size, place) => {
      const needed = this.#levels[place].valueCount + MORE_CELLS;
      return needed <= size ? size : Math.max(needed, size * 2);
    });
    if (sizes.every((size, place) => size === before[place])) return;
    this.#check(sizes);
    if (this.isFull) return;
    const old = this.#cells;
    this.#cells = new Float64Array(product(sizes));
    this.#sizes = sizes;
    const places = before.map((size) => Uint32Array.from({ length: size }, (_, place) => place));
    this.#take(old, before, places);
  }

  /** Adds cells of levels that have other sizes; `places`: by level where each of theirs is here. */
  #take(cells: Float64Array, sizes: readonly number[], places: readonly Uint32Array[]): void {
    const own = this.#cells;
    const steps = this.#steps;
    const last = sizes.length - 1;
    const inner = places[last];
    for (let from = 0; from < cells.length; from += sizes[last]) {
      let rest = from / sizes[last];
      let to = 0;
      for (let place = last - 1; place >= 0; place--) {
        to += places[place][rest % sizes[place]] * steps[place];
        rest = Math.floor(rest / sizes[place]);
      }
      for (let at = 0; at < inner.length; at++) own[to + inner[at]] += cells[from + at];
    }
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
    const countOf = cube.countsIn(path);
    for (let value = 0; value < valueCount; value++) {
      if (pace.isFull(1)) yield;
      const count = countOf(value);
      if (count === 0 || !isAfter(value)) continue;
      first.offer(parent, value, byCount ? count : undefined, () => []);
    }
  }
  return first;
}

/** The buckets of an answer that counts events by steps of time alone, made in units; `undefined` of another one. */
export function* countedSteps(
  cube: Cube,
  [level, ...others]: readonly Level[],
  { groupBys, computes }: AggregateQuery,
): Units<AggregateBucket[] | undefined> {
  const [groupBy] = groupBys;
  const isOfSteps = groupBys.length === 1 && groupBy.type === 'time' && others.length === 0;
  if (!isOfSteps || !countsOnly(computes)) return undefined;
  const buckets: AggregateBucket[] = [];
  const add = (key: BucketKey, count: number): void => {
    buckets.push({ keys: [key], values: computes.map(() => count) });
    checkCells(buckets.length);
  };
  const countOf = cube.countsIn([]);
  const { valueCount } = level;
  yield* inParts(valueCount, UNIT_STEPS, (from, to) => {
    for (let value = from; value < to; value++) {
      const count = countOf(value);
      if (count > 0) add(level.key(value), count);
    }
  });
  if (groupBy.total) add({ type: 'total' }, countOf(-1));
  return buckets;
}

function product(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total * size, 1);
}
