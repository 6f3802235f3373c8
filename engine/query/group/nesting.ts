import { must } from '../../base/assert.ts';
import { Pace, type Units } from '../../base/pause.ts';
import { grow } from '../../packed/growth.ts';
import type { Block } from '../../segment/block/block.ts';
import { addRow, type Bitmap, countBetween, noRows, rowList } from '../model/bitmap.ts';
import { type CodedValues, type RowValues, rowsWithValue } from '../value/coded-values.ts';
import {
  type CellsFound,
  knownLevels,
  LevelCells,
  type LevelCodes,
  learntLevels,
  type RowRuns,
} from '../value/level-cells.ts';
import { type GroupRuns, Pairs } from '../value/pairs.ts';
import { TupleTable } from '../value/tuple-table.ts';
import { codedOf, type Level, takeValues } from './level.ts';
import type { StageData, StageSpec } from './shared-scan.ts';

/** Value of a tuple that is the total of its parent; those of the level's values are one higher than these. */
export const TOTAL = 0;
/** Pairs of a parent and a value whose tuples are kept in an array. */
const KNOWN_MAX = 1 << 18;
const UNKNOWN = -2;
/** Cells of a block up to which its rows are put into buckets by cells. */
const CELLS_MAX = 1 << 18;

/** A level of buckets in a pass. */
export interface PassStage {
  level: Level;
  tuples: TupleTable;
  /** True when buckets that are not in `tuples` get there; otherwise their events are left out. */
  grows: boolean;
  total: boolean;
}

/**
 * The tuples of a level by parent and value, as far as rows have asked for them: a look into an array instead of a
 * search.
 */
class KnownTuples {
  /** Values of a parent that it has room for; 0 when they would take too much. */
  size = 0;
  /** Tuple + 2 at `parent * size + value`, 1 for none, 0 for not known yet. */
  tuples = new Int32Array(0);

  /** Makes room for `parentCount * size` pairs of a parent and a value. */
  fit(parentCount: number, size: number): void {
    const needed = parentCount * size;
    if (needed > KNOWN_MAX) {
      this.size = 0;
    } else if (size !== this.size) {
      this.size = size;
      this.tuples = new Int32Array(needed);
    } else if (needed > this.tuples.length) {
      this.tuples = grow(this.tuples, needed);
    }
  }
}

/** Rows by cells, and the bucket of each cell + 1, 0 for none. */
export interface BucketCells {
  cells: LevelCells;
  groups: Uint32Array;
}

/** Puts the selected rows of one block after the other into nested buckets. Works on numbers in typed arrays only. */
export class Nesting {
  readonly #stages: readonly PassStage[];
  readonly #known: readonly KnownTuples[];
  #scratch = new Uint32Array(0);
  /** The rows for which it is prepared, once they were asked for one by one. */
  #list: Uint32Array | undefined;
  #rows: Bitmap = new Uint32Array(0);
  #blockRows = 0;
  #pairs = new Pairs();
  #spare = new Pairs();
  /** The cells of the rows for which it is prepared, when these are by cells, and the buckets of the cells if known. */
  readonly #cells = new LevelCells();
  #isOfCells = false;
  #groups = new Uint32Array(0);
  #isGrouped = false;
  /** By level what a value counts in the number of a combination. */
  #weights: number[] = [];
  /** The pairs of all of them, once they were asked for, and some of these. */
  readonly #all = new Pairs();
  #isListed = false;
  readonly #part = new Pairs();

  constructor(stages: readonly PassStage[]) {
    this.#stages = stages;
    this.#known = stages.map(() => new KnownTuples());
  }

  /** Buckets of the last level so far; one without levels. */
  get bucketCount(): number {
    return this.#stages.at(-1)?.tuples.count ?? 1;
  }

  /** True when there are no levels. */
  get isFlat(): boolean {
    return this.#stages.length === 0;
  }

  /** Memory that levels and buckets take. */
  get memoryBytes(): number {
    let bytes = 0;
    for (const { level, tuples } of this.#stages) bytes += level.memoryBytes + tuples.memoryBytes;
    for (const { tuples } of this.#known) bytes += tuples.byteLength;
    return bytes;
  }

  /** True when a level has too many values for what it was made for. */
  get isLarge(): boolean {
    return this.#stages.some(({ level }) => level.isLarge === true);
  }

  /** Of what it is made; `undefined` when a level is of a part of its values. */
  get specs(): StageSpec[] | undefined {
    const specs: StageSpec[] = [];
    for (const { level, tuples, grows, total } of this.#stages) {
      const spec = level.spec(grows);
      if (spec === undefined) return undefined;
      specs.push({ level: spec, tuples: tuples.data, grows, total });
    }
    return specs;
  }

  /** Parts of the levels that grow. */
  get found(): (StageData | undefined)[] {
    return this.#stages.map(({ level, tuples, grows }) =>
      grows ? { values: level.data, tuples: tuples.data } : undefined,
    );
  }

  /** Takes the buckets that others have found, in units: what their buckets of the last level are here. */
  *merge(found: readonly (StageData | undefined)[]): Units<Uint32Array> {
    const pace = new Pace();
    let parents = Uint32Array.of(0);
    for (const [place, { level, tuples }] of this.#stages.entries()) {
      const data = found[place];
      if (data === undefined) {
        parents = new Uint32Array(tuples.count);
        for (let tuple = 0; tuple < tuples.count; tuple++) parents[tuple] = tuple;
        continue;
      }
      const take = yield* takeValues(level, data.values);
      const { count } = data.tuples;
      const outer = TupleTable.over(data.tuples);
      const taken = new Uint32Array(count);
      for (let tuple = 0; tuple < count; tuple++) {
        const found = outer.value(tuple);
        const value = found === TOTAL ? TOTAL : take(found - 1) + 1;
        taken[tuple] = tuples.add(parents[outer.parent(tuple)], value);
        if (pace.isFull(1)) yield;
      }
      parents = taken;
    }
    return parents;
  }

  /** Reads all that it needs of `rows` of a block, in units, so that `pairs` cannot fail. Throws CORRUPTION. */
  *prepare(block: Block, rows: Bitmap): Units<void> {
    this.#isGrouped = false;
    this.#isOfCells = false;
    this.#isListed = false;
    this.#list = undefined;
    this.#rows = rows;
    this.#blockRows = block.rowCount;
    const levels = this.#stages.map(({ level }) => level);
    const hasCodes = levels.some(({ runs }) => runs === undefined);
    if (hasCodes && this.#stages.every(({ total }) => !total)) {
      for (const level of levels) if (level.runs !== undefined) yield* level.prepare(block, rows);
      let found = this.#take(knownLevels(levels, block));
      if (found === 'unknown') found = this.#take(yield* learntLevels(levels, block, rows));
      this.#isOfCells = found === 'counted';
      if (this.#isOfCells) return;
    }
    for (const { level, grows, total } of this.#stages) {
      // Rows without a value are in no bucket: the levels behind need not know them.
      if (!total && level.among !== undefined) this.#rows = yield* level.among(block, this.#rows);
      yield* level.prepare(block, this.#rows);
      const coded = grows || total ? undefined : level.coded?.();
      if (coded !== undefined) this.#rows = rowsWithValue(coded, this.#rows);
    }
  }

  /** The rows for which it is prepared, without those that are seen to be in no bucket. */
  get rows(): Bitmap {
    if (!this.#isOfCells) return this.#rows;
    const { rows, count } = this.#listed();
    const found = noRows(this.#blockRows);
    for (let at = 0; at < count; at++) addRow(found, rows[at]);
    return found;
  }

  /** Puts the rows for which it is prepared into cells. */
  #take(known: LevelCodes | undefined): CellsFound | undefined {
    const levels = this.#stages.map(({ level }) => level);
    const weights = weightsOf(levels);
    const isExact = weights[0] * (levels[0].valueCount + 1) <= Number.MAX_SAFE_INTEGER;
    if (known === undefined || !isExact) return undefined;
    this.#weights = weights;
    return this.#cells.take(known, weights, this.#blockRows, this.#rows, CELLS_MAX);
  }

  /** The rows for which it is prepared otherwise than by cells. */
  #rowList(): Uint32Array {
    const rowCount = this.#blockRows;
    if (this.#scratch.length < rowCount) this.#scratch = new Uint32Array(rowCount);
    this.#list ??= rowList(this.#rows, rowCount, this.#scratch);
    return this.#list;
  }

  /** True when there is no level but one of time: then the rows of buckets are in runs. */
  get isOfRuns(): boolean {
    return (
      this.#stages.length < 2 && this.#stages.every(({ level, total }) => level.runs && !total)
    );
  }

  /** The rows for which it is prepared, with their buckets, which it takes; it `isOfRuns`. */
  runs(): GroupRuns {
    const rows = this.#rows;
    const [stage] = this.#stages;
    if (stage === undefined) {
      return { rows, count: 1, ends: Uint32Array.of(this.#blockRows), groups: Int32Array.of(0) };
    }
    const { count, ends, values } = must(stage.level.runs, 'runs');
    const groups = new Int32Array(count).fill(-1);
    for (let run = 0, from = 0; run < count; from = ends[run++]) {
      const isEmpty = values[run] === 0 || countBetween(rows, from, ends[run]) === 0;
      if (!isEmpty) groups[run] = tupleOf(stage, 0, values[run]);
    }
    return { rows, count, ends, groups };
  }

  /**
   * The rows for which it is prepared by cells, with their buckets of the last level, which it takes; `undefined` when
   * it is not prepared so.
   */
  cells(): BucketCells | undefined {
    if (!this.#isOfCells) return undefined;
    const cells = this.#cells;
    const { length } = cells.counts;
    if (!this.#isGrouped) this.#group();
    return { cells, groups: this.#groups.subarray(0, length) };
  }

  /** Finds the buckets of cells that have rows: by cell its bucket + 1, 0 for none. */
  #group(): void {
    const cells = this.#cells;
    const { length } = cells.counts;
    if (this.#groups.length < length) this.#groups = new Uint32Array(length * 2);
    const groups = this.#groups.fill(0, 0, length);
    cells.each((number, _, cell) => {
      groups[cell] = this.#bucketOf(number) + 1;
    });
    this.#isGrouped = true;
  }

  /** The bucket of the last level of rows with a combination of values; -1 when there is none. */
  #bucketOf(number: number): number {
    let bucket = 0;
    let rest = number;
    for (let place = 0; place < this.#stages.length; place++) {
      const value = Math.floor(rest / this.#weights[place]);
      rest -= value * this.#weights[place];
      if (value === 0) return -1;
      bucket = tupleOf(this.#stages[place], bucket, value);
      if (bucket < 0) return -1;
    }
    return bucket;
  }

  /** The rows for which it is prepared; of those that are prepared by cells the ones that have a bucket. */
  get rowCount(): number {
    return this.#isOfCells ? this.#listed().count : this.#rowList().length;
  }

  /** The rows for which it is prepared by cells that have a bucket. */
  #listed(): Pairs {
    if (this.#isListed) return this.#all;
    const all = this.#all;
    const { cells, groups } = must(this.cells(), 'cells');
    const found = cells.grouped(groups);
    all.reserve(found.count);
    all.rows.set(found.rows.subarray(0, found.count));
    all.groups.set(found.groups.subarray(0, found.count));
    all.count = found.count;
    this.#isListed = true;
    return all;
  }

  /**
   * The rows from number `from` up to `to` of those for which it is prepared, with their buckets of the last level,
   * until the next call. Throws LIMIT.
   */
  pairs(from = 0, to = this.rowCount): Pairs {
    if (this.#isOfCells) {
      const { rows, groups } = this.#listed();
      const part = this.#part;
      part.rows = rows.subarray(from, to);
      part.groups = groups.subarray(from, to);
      part.count = to - from;
      return part;
    }
    this.#pairs.take(this.#rowList().subarray(from, to));
    for (const place of this.#stages.keys()) this.#nest(place);
    return this.#pairs;
  }

  /** Puts what is in a bucket into the buckets of the next level in it. */
  #nest(place: number): void {
    const inner = this.#spare;
    const stage = this.#stages[place];
    const { level } = stage;
    if (level.runs !== undefined) nestRuns(stage, level.runs, this.#pairs, inner);
    else {
      const coded = codedOf(level);
      if (coded === undefined) nestMany(stage, level.values(), this.#pairs, inner);
      else {
        const known = this.#known[place];
        known.fit(this.#stages[place - 1]?.tuples.count ?? 1, level.valueCount + 1);
        nestOne(stage, known, coded, this.#pairs, inner);
      }
    }
    this.#spare = this.#pairs;
    this.#pairs = inner;
  }
}

/** The weights of the digits of numbers that have one for each level. */
function weightsOf(levels: readonly Level[]): number[] {
  const weights = levels.map(() => 1);
  for (let place = levels.length - 1; place > 0; place--) {
    weights[place - 1] = weights[place] * (levels[place].valueCount + 1);
  }
  return weights;
}

/** Nests rows of which each has at most one value. */
function nestOne(
  stage: PassStage,
  known: KnownTuples,
  { codes, known: values }: CodedValues,
  outer: Pairs,
  inner: Pairs,
): void {
  const { total } = stage;
  const { rows, groups, count } = outer;
  inner.reserve(total ? count * 2 : count);
  const innerRows = inner.rows;
  const innerGroups = inner.groups;
  const { size, tuples } = known;
  const mayBeKnown = size > 0 && !total;
  let length = 0;
  for (let at = 0; at < count; at++) {
    // Most rows are in buckets that are known by now.
    for (; mayBeKnown && at < count; at++) {
      const row = rows[at];
      const tuple = tuples[groups[at] * size + values[codes[row]] - 1] - 2;
      if (tuple < 0) break;
      innerRows[length] = row;
      innerGroups[length++] = tuple;
    }
    if (at === count) break;
    const row = rows[at];
    const parent = groups[at];
    if (total) {
      innerRows[length] = row;
      innerGroups[length++] = tupleOf(stage, parent, TOTAL);
    }
    const value = values[codes[row]] - 1;
    let tuple = size === 0 ? UNKNOWN : tuples[parent * size + value] - 2;
    if (tuple === UNKNOWN) {
      tuple = value === 0 ? -1 : tupleOf(stage, parent, value);
      if (size !== 0) tuples[parent * size + value] = tuple + 2;
    }
    if (tuple >= 0) {
      innerRows[length] = row;
      innerGroups[length++] = tuple;
    }
  }
  inner.count = length;
}

/** Nests rows by their runs of time. */
function nestRuns(stage: PassStage, runs: RowRuns, outer: Pairs, inner: Pairs): void {
  const { total } = stage;
  const { rows, groups, count } = outer;
  inner.reserve(total ? count * 2 : count);
  const innerRows = inner.rows;
  const innerGroups = inner.groups;
  let length = 0;
  let run = 0;
  for (let at = 0; at < count; run++) {
    const end = runs.ends[run];
    const value = runs.values[run];
    let parent = -1;
    let whole = -1;
    let tuple = -1;
    for (; at < count && rows[at] < end; at++) {
      if (groups[at] !== parent) {
        parent = groups[at];
        if (total) whole = tupleOf(stage, parent, TOTAL);
        if (value !== 0) tuple = tupleOf(stage, parent, value);
      }
      if (total) {
        innerRows[length] = rows[at];
        innerGroups[length++] = whole;
      }
      if (tuple >= 0) {
        innerRows[length] = rows[at];
        innerGroups[length++] = tuple;
      }
    }
  }
  inner.count = length;
}

/** Nests rows that may have several values: `values[starts[row]]` to `values[starts[row + 1] - 1]`. */
function nestMany(
  stage: PassStage,
  { starts = new Uint32Array(0), values }: RowValues,
  outer: Pairs,
  inner: Pairs,
): void {
  inner.count = 0;
  for (let at = 0; at < outer.count; at++) {
    const row = outer.rows[at];
    const parent = outer.groups[at];
    if (stage.total) put(stage, inner, row, parent, TOTAL);
    for (let index = starts[row]; index < starts[row + 1]; index++) {
      put(stage, inner, row, parent, values[index] + 1);
    }
  }
}

/** The bucket of `value` in `parent`; -1 when there is none and may be none. */
function tupleOf({ tuples, grows }: PassStage, parent: number, value: number): number {
  return grows ? tuples.add(parent, value) : tuples.find(parent, value);
}

/** Adds a row to the bucket of `value` in `parent`, if there is or may be one. */
function put(stage: PassStage, pairs: Pairs, row: number, parent: number, value: number): void {
  const tuple = tupleOf(stage, parent, value);
  if (tuple >= 0) pairs.add(row, tuple);
}
