import { Pace, type Units } from '../../base/pause.ts';
import { grow } from '../../packed/growth.ts';
import type { Block } from '../../segment/block/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { type Plan, planOf } from '../filter/plan.ts';
import { type Bitmap, dropRows, nextRow } from '../model/bitmap.ts';
import type { Boundaries, BucketKey, TagRule } from '../model/query.ts';
import type { BlockSource } from '../model/source.ts';
import { MinuteRows } from '../scan/minute-rows.ts';
import { stepOf } from '../scan/row-counts.ts';
import { rowsWhere } from '../scan/scan.ts';
import {
  type CodedValues,
  type KnownCodes,
  plainCodes,
  type RowValues,
} from '../value/coded-values.ts';
import { FieldValues } from '../value/field-values.ts';
import type { RowRuns } from '../value/level-cells.ts';
import { PossibleRows } from '../value/possible-rows.ts';
import { HashHeads } from '../value/value-part.ts';
import { ValueTable, type ValueTableData } from '../value/value-table.ts';
import type { LevelSpec } from './shared-scan.ts';

/** Source of the buckets of a level. */
export interface Level {
  /**
   * The rows among `rows` that may have a value, as far as that is seen without their values, in units; perhaps `rows`
   * itself. Throws CORRUPTION.
   */
  among?(block: Block, rows: Bitmap): Units<Bitmap>;
  /** Reads all that it needs of a block, in units, so that `values` of these rows cannot fail. Throws CORRUPTION. */
  prepare(block: Block, rows: Bitmap): Units<void>;
  /**
   * The values of the rows that it is prepared for; of other rows they mean nothing. Valid until it is prepared again.
   */
  values(): RowValues;
  /** The same by codes, where they come so. */
  coded?(): CodedValues | undefined;
  /** As in `FieldValues`. */
  knownCodes?(block: Block): KnownCodes | undefined;
  learnCodes?(block: Block, rows: Bitmap): Units<KnownCodes | undefined>;
  /** The same of all rows of a block, by runs of rows that have the same one. */
  readonly runs?: RowRuns;
  /** A value as it stands in the answer. */
  key(value: number): BucketKey;
  /** The value of a key; -1 when it can have none. */
  place(key: BucketKey): number;
  /** Natural order: negative when `left` comes first. */
  compare(left: number, right: number): number;
  /** Values are below this one. */
  readonly valueCount: number;
  /** True when it has too many values for what it was made for: then it is not right. */
  readonly isLarge?: boolean;
  /** Memory that it takes. */
  readonly memoryBytes: number;
  /**
   * Of what such a level is made, which takes new values when it `grows`; `undefined` when others cannot make it.
   */
  spec(grows: boolean): LevelSpec | undefined;
  /** The values of a level of an attribute. */
  readonly data?: ValueTableData;
}

/** The values of the rows for which a level is prepared, when no row has several. */
export function codedOf(level: Level): CodedValues | undefined {
  const coded = level.coded?.();
  if (coded !== undefined) return coded;
  const { starts, values } = level.values();
  return starts === undefined ? plainCodes(values, level.valueCount) : undefined;
}

/** Tells which number a value has in another level. */
export type Takes = (value: number) => number;

/** Steps of time. Values are their numbers. */
export class TimeLevel implements Level {
  readonly memoryBytes = 0;
  readonly #spec: LevelSpec;
  readonly #boundaries: Float64Array;
  /** Steps before this one are in no bucket. */
  readonly #first: number;
  readonly #minutes: MinuteRows;
  readonly runs = { count: 0, ends: new Uint32Array(64), values: new Int32Array(64) };
  #rowCount = 0;
  /** Of the rows, once they were asked for. */
  #values: Int32Array | undefined;

  /** Of blocks of `source`. Without `afterMs` all steps are taken, with it those that begin later. */
  constructor(
    source: Pick<BlockSource, 'footer'>,
    boundaries: Boundaries,
    afterMs = Number.NEGATIVE_INFINITY,
  ) {
    this.#minutes = new MinuteRows(source);
    this.#spec = { type: 'time', boundaries, afterMs };
    this.#boundaries = Float64Array.from(boundaries);
    const first = boundaries.findIndex((boundary) => boundary > afterMs);
    this.#first = first < 0 ? boundaries.length : first;
  }

  spec(): LevelSpec {
    return this.#spec;
  }

  /** Steps that there are. */
  get valueCount(): number {
    return Math.max(this.#boundaries.length - 1, 0);
  }

  *prepare(block: Block): Units<void> {
    const { ref, rowCount } = block;
    this.#values = undefined;
    this.#rowCount = rowCount;
    this.runs.count = 0;
    if (ref.sealed && this.#takeMinutes(ref)) return;
    this.runs.count = 0;
    const times = block.timeMs();
    yield;
    const boundaries = this.#boundaries;
    for (let row = 0; row < rowCount; ) {
      const step = stepOf(boundaries, times[row]);
      const from = boundaries[step] ?? Number.NEGATIVE_INFINITY;
      const to = boundaries[step + 1] ?? Number.POSITIVE_INFINITY;
      // Times of sealed rows ascend.
      row = ref.sealed ? firstNotBelow(times, row + 1, to) : firstOutside(times, row + 1, from, to);
      this.#endRun(row, this.#valueOf(step));
    }
  }

  /**
   * Finds the runs of a sealed block without the times of its rows; false when the minutes of its segment do not tell.
   */
  #takeMinutes(ref: BlockRef): boolean {
    let row = 0;
    for (let step = stepOf(this.#boundaries, ref.minTimeMs); row < ref.rowCount; step++) {
      const to = this.#boundaries[step + 1] ?? Number.POSITIVE_INFINITY;
      const end = this.#minutes.before(ref, to);
      if (end === undefined) return false;
      if (end > row) this.#endRun(end, this.#valueOf(step));
      row = end;
    }
    return true;
  }

  #endRun(end: number, value: number): void {
    const { runs } = this;
    const run = runs.count++;
    if (run === runs.ends.length) {
      runs.ends = grow(runs.ends, run + 1);
      runs.values = grow(runs.values, run + 1);
    }
    runs.ends[run] = end;
    runs.values[run] = value;
  }

  /** The value of a row in a step. */
  #valueOf(step: number): number {
    return step >= this.#first && step < this.valueCount ? step + 1 : 0;
  }

  values(): RowValues {
    this.#values ??= this.#spread();
    return { starts: undefined, values: this.#values };
  }

  #spread(): Int32Array {
    const values = new Int32Array(this.#rowCount);
    const { count, ends, values: heads } = this.runs;
    for (let run = 0; run < count; run++) values.fill(heads[run], ends[run - 1] ?? 0, ends[run]);
    return values;
  }

  key(value: number): BucketKey {
    return { type: 'time', timeMs: this.#boundaries[value] };
  }

  place(key: BucketKey): number {
    return key.type === 'time' ? this.#boundaries.indexOf(key.timeMs) : -1;
  }

  compare(left: number, right: number): number {
    return left - right;
  }
}

/**
 * The first row from `from` on whose time is not below `timeMs`, of ascending times; their count when there is none.
 */
function firstNotBelow(times: Float64Array, from: number, timeMs: number): number {
  let low = from;
  let high = from;
  for (let stride = 1; high < times.length && times[high] < timeMs; stride *= 2) {
    low = high + 1;
    high += stride;
  }
  high = Math.min(high, times.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first row from `from` on whose time is not in a step; their count when there is none. */
function firstOutside(times: Float64Array, from: number, startMs: number, endMs: number): number {
  let row = from;
  while (row < times.length && times[row] >= startMs && times[row] < endMs) row++;
  return row;
}

/** Tags of a tagset. Values are their places. */
export class TagLevel implements Level {
  readonly memoryBytes = 0;
  readonly #tags: readonly TagRule[];
  readonly #plans: Plan[];
  #values = new Int32Array(0);

  constructor(tags: readonly TagRule[]) {
    this.#tags = tags;
    this.#plans = tags.map((tag) => planOf(tag.predicate));
  }

  get valueCount(): number {
    return this.#tags.length;
  }

  spec(): LevelSpec {
    return { type: 'tagset', tags: this.#tags };
  }

  *prepare(block: Block, rows: Bitmap): Units<void> {
    const values = new Int32Array(block.rowCount);
    const rest = rows.slice();
    for (const [place, plan] of this.#plans.entries()) {
      const found = (yield* rowsWhere(plan, block, rest)).slice();
      for (let row = nextRow(found, 0); row >= 0; row = nextRow(found, row + 1)) {
        values[row] = place + 1;
      }
      dropRows(rest, found);
    }
    this.#values = values;
  }

  values(): RowValues {
    return { starts: undefined, values: this.#values };
  }

  key(value: number): BucketKey {
    return { type: 'tag', id: this.#tags[value].id };
  }

  place(key: BucketKey): number {
    return key.type === 'tag' ? this.#tags.findIndex((tag) => tag.id === key.id) : -1;
  }

  compare(left: number, right: number): number {
    return left - right;
  }
}

/** The distinct values of an attribute. Values are numbers of a table. */
export class FieldLevel extends FieldValues<ValueTable> implements Level {
  #possible: PossibleRows | undefined;

  *among(block: Block, rows: Bitmap): Units<Bitmap> {
    if (!this.numbers.usesHashes) return rows;
    this.#possible ??= new PossibleRows(this.path, this.numbers);
    return yield* this.#possible.among(block, rows);
  }

  get valueCount(): number {
    return this.numbers.count;
  }

  get data(): ValueTableData {
    return this.numbers.data;
  }

  spec(grows: boolean): LevelSpec | undefined {
    const { path, smallOnly, data } = this;
    const about = { type: 'field' as const, path, seed: data.seed, smallOnly };
    if (!grows) return { ...about, values: data };
    const { part } = this.numbers;
    if (part === undefined) return about;
    return part.spec && { ...about, part: part.spec };
  }

  get memoryBytes(): number {
    return this.numbers.memoryBytes;
  }

  key(value: number): BucketKey {
    return this.numbers.key(value);
  }

  place(key: BucketKey): number {
    return this.numbers.addKey(key);
  }

  compare(left: number, right: number): number {
    return this.numbers.compare(left, right);
  }
}

/** The number that a value of a level has in another one, which takes it. */
export function takeValue(into: Level, from: Level, value: number): number {
  if (!(into instanceof FieldLevel && from instanceof FieldLevel)) return value;
  return into.numbers.take(from.numbers, value);
}

/** Makes a level of blocks of `source`. */
export function levelOf(spec: LevelSpec, source: Pick<BlockSource, 'footer'>): Level {
  if (spec.type === 'time') return new TimeLevel(source, spec.boundaries, spec.afterMs);
  if (spec.type === 'tagset') return new TagLevel(spec.tags);
  const { path, seed, smallOnly, values, part } = spec;
  const table = new ValueTable(seed, part && new HashHeads(part));
  const level = new FieldLevel(path, table, smallOnly);
  if (values === undefined) return level;
  const known = ValueTable.of(values);
  for (let value = 0; value < known.count; value++) level.numbers.take(known, value);
  level.numbers.freeze();
  return level;
}

/** The numbers in a level of what values are that another one of its kind has found, which takes them; in units. */
export function* takeValues(into: Level, data: ValueTableData | undefined): Units<Takes> {
  if (data === undefined || !(into instanceof FieldLevel)) return (value) => value;
  const from = ValueTable.of(data);
  const taken = new Uint32Array(from.count);
  const pace = new Pace();
  for (let value = 0; value < from.count; value++) {
    taken[value] = into.numbers.take(from, value);
    if (pace.isFull(1)) yield;
  }
  return (value) => taken[value];
}
