import { Pace, type Units } from '../../base/pause.ts';
import { type CountedEntries, PIECE_ENTRIES } from '../../column/entries.ts';
import { grow } from '../../packed/growth.ts';
import type { Block } from '../../segment/block/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { isNumberText } from '../filter/decimal.ts';
import { encodeText } from '../filter/text.ts';
import {
  AttributeMeasures,
  boundsOf,
  DateBounds,
  type MeasuredValues,
  type NumberBounds,
} from '../metric/attribute-measures.ts';
import { measuredOfLog } from '../metric/log-measures.ts';
import { LongBounds } from '../metric/long-bounds.ts';
import { type Bitmap, eachRow, isEmpty } from '../model/bitmap.ts';
import type { AttributeValue, BucketKey } from '../model/query.ts';
import type { BlockSource } from '../model/source.ts';
import { columnsAt } from '../scan/scan.ts';
import type { CodedValues } from '../value/coded-values.ts';
import {
  type CellsFound,
  knownLevels,
  LevelCells,
  type LevelCodes,
  learntLevels,
} from '../value/level-cells.ts';
import { ValueTable } from '../value/value-table.ts';
import type { BlockVisitor } from './block-scan.ts';
import { comparer, FirstBuckets } from './bucket-order.ts';
import { FieldLevel } from './level.ts';
import type { WholeValues } from './whole-values.ts';

/** Steps of a unit that it takes to read a value's text. */
const TEXT_STEPS = 4;

/** Distinct values of an attribute that are counted, and the memory of them; when there are more, none are told. */
export interface ValueLimits {
  distinctMax: number;
  memoryBytesMax: number;
}

/** The values of one attribute on their way. */
interface Counted {
  level: FieldLevel;
  /** Events by value. */
  eventCounts: Float64Array<ArrayBuffer>;
  dates: DateBounds;
  /** There are too many values: they are counted no more. */
  isFull: boolean;
}

/** A pass over the blocks that counts the events of each value of some attributes. Owned by one thread. */
export class ValueCounter implements BlockVisitor {
  readonly needsRows = true;
  readonly isFull = false;
  readonly #seed: number;
  readonly #limits: ValueLimits;
  readonly #whole: WholeValues;
  readonly #counted: Counted[];

  constructor(paths: readonly string[], seed: number, limits: ValueLimits, whole: WholeValues) {
    this.#whole = whole;
    this.#seed = seed;
    this.#limits = limits;
    this.#counted = paths.map((path) => ({
      level: this.#levelOf(path),
      eventCounts: new Float64Array(64),
      dates: new DateBounds(),
      isFull: false,
    }));
  }

  addCount(): void {}

  skips(ref: BlockRef): boolean {
    return this.#whole.skips(ref);
  }

  /** Takes the values that are known without rows, in units; false when it is of no use as they turned out damaged. */
  *takeWhole(): Units<boolean> {
    for (const counted of this.#counted) {
      const { path } = counted.level;
      const taken = yield* this.#whole.take(path, (dictionary) =>
        this.#takeEntries(counted, dictionary),
      );
      if (!taken) return false;
    }
    return true;
  }

  *add(block: Block, rows: Bitmap): Units<void> {
    if (isEmpty(rows)) return;
    const left = this.#counted.filter(
      ({ isFull, level }) => !isFull && !this.#whole.has(block.ref, level.path),
    );
    // What a block has is taken when all of it can be read.
    const known: (LevelCells | undefined)[] = [];
    for (const { level } of left) {
      const cells = yield* countCodes(level, block, rows);
      if (cells === undefined) yield* level.prepare(block, rows);
      known.push(cells);
      yield;
    }
    for (const [place, counted] of left.entries()) {
      const { level } = counted;
      const columns = columnsAt(block, level.path);
      if (columns.length === 0) continue;
      if (level.valueCount > counted.eventCounts.length) {
        counted.eventCounts = grow(counted.eventCounts, level.valueCount);
      }
      const cells = known[place];
      if (cells !== undefined) addCells(cells, counted.eventCounts);
      else {
        counted.dates.add(block, columns, rows);
        countValues(level, rows, counted.eventCounts);
      }
      yield;
      this.#settle(counted, level.valueCount);
    }
  }

  /** Adds the values of a dictionary; none when it has too many. Throws CORRUPTION. */
  *#takeEntries(counted: Counted, dictionary: CountedEntries): Units<void> {
    this.#settle(counted, dictionary.entryCount);
    if (counted.isFull) return;
    const { numbers } = counted.level;
    const counts = dictionary.counts();
    for (let first = 0; first < counts.length && !counted.isFull; first += PIECE_ENTRIES) {
      const { bytes, offsets } = dictionary.piece(first);
      const length = offsets.length - 1;
      if (numbers.count + length > counted.eventCounts.length) {
        counted.eventCounts = grow(counted.eventCounts, numbers.count + length);
      }
      for (let at = 0; at < length; at++) {
        const value = numbers.string(bytes, offsets[at], offsets[at + 1]);
        counted.eventCounts[value] += counts[first + at];
      }
      this.#settle(counted, numbers.count);
      yield;
    }
  }

  /** Lets go of the values when there are too many. */
  #settle(counted: Counted, valueCount: number): void {
    const { distinctMax, memoryBytesMax } = this.#limits;
    const { path, memoryBytes } = counted.level;
    if (valueCount <= distinctMax && memoryBytes <= memoryBytesMax) return;
    counted.isFull = true;
    counted.level = this.#levelOf(path);
  }

  /** The paths of the attributes that have too many values. */
  fullPaths(): string[] {
    return this.#counted.filter(({ isFull }) => isFull).map(({ level }) => level.path);
  }

  /** The first `limit` values of an attribute by their events; not of one that is full. In units. */
  *firsts(limit: number): Units<Map<string, { values: AttributeValue[]; distinctCount: number }>> {
    const firsts = new Map<string, { values: AttributeValue[]; distinctCount: number }>();
    for (const { level, eventCounts, isFull } of this.#counted) {
      if (isFull) continue;
      const values = yield* firstValues(level, eventCounts, limit);
      firsts.set(level.path, { values, distinctCount: level.valueCount });
    }
    return firsts;
  }

  /**
   * The first `limit` values of an attribute by their events, and what all of them are; not of one that is full. In
   * units.
   */
  *results(limit: number): Units<Map<string, MeasuredValues>> {
    const results = new Map<string, MeasuredValues>();
    for (const { level, eventCounts, dates, isFull } of this.#counted) {
      if (isFull) continue;
      results.set(level.path, {
        distinctCount: level.valueCount,
        values: yield* firstValues(level, eventCounts, limit),
        ...boundsOf(yield* numberBounds(level), dates),
      });
    }
    return results;
  }

  #levelOf(path: string): FieldLevel {
    return new FieldLevel(path, new ValueTable(this.#seed));
  }
}

/**
 * A pass over the blocks that measures attributes whose values are not asked for, or too many to count each. Owned by
 * one thread.
 */
export class ValueMeter implements BlockVisitor {
  readonly needsRows = true;
  readonly isFull = false;
  readonly #source: BlockSource;
  readonly #whole: WholeValues;
  readonly #measured: AttributeMeasures[];
  /** Log blocks that are measured by what is kept. */
  #taken: ReadonlySet<BlockRef> = new Set();

  constructor(source: BlockSource, paths: readonly string[], whole: WholeValues) {
    this.#source = source;
    this.#whole = whole;
    this.#measured = paths.map((path) => new AttributeMeasures(path, source.secret));
  }

  addCount(): void {}

  skips(ref: BlockRef): boolean {
    return this.#taken.has(ref) || this.#whole.skips(ref);
  }

  /** As that of a counter. */
  *takeWhole(): Units<boolean> {
    for (const measures of this.#measured) {
      const taken = yield* this.#whole.take(measures.path, (dictionary) =>
        measures.addEntries(dictionary),
      );
      if (!taken) return false;
    }
    const { logBlocks } = this.#whole;
    for (const measures of logBlocks.size > 0 ? this.#measured : []) {
      const found = yield* measuredOfLog(this.#source, measures.path, logBlocks);
      if (!(found instanceof AttributeMeasures)) {
        this.#whole.leave(found);
        return false;
      }
      yield* measures.merge(found);
    }
    this.#taken = logBlocks;
    return true;
  }

  *add(block: Block, rows: Bitmap): Units<void> {
    if (isEmpty(rows)) return;
    for (const measures of this.#measured) {
      if (!this.#whole.has(block.ref, measures.path)) yield* measures.add(block, rows);
    }
  }

  /**
   * Measurements of each attribute, in units; there are too many values when there are more than `distinctMax`.
   */
  *results(distinctMax: number): Units<Map<string, MeasuredValues>> {
    const results = new Map<string, MeasuredValues>();
    for (const measures of this.#measured) {
      results.set(measures.path, yield* measures.result(distinctMax));
    }
    return results;
  }
}

/** The rows of a block by their values; `undefined` when they do not come by codes. In units. Throws CORRUPTION. */
function* countCodes(level: FieldLevel, block: Block, rows: Bitmap): Units<LevelCells | undefined> {
  const cells = new LevelCells();
  const take = (known: LevelCodes | undefined): CellsFound | undefined =>
    known && cells.take(known, [1], block.rowCount, rows, Number.POSITIVE_INFINITY);
  let found = take(knownLevels([level], block));
  if (found === 'unknown') found = take(yield* learntLevels([level], block, rows));
  return found === 'counted' ? cells : undefined;
}

/** Adds to the counts of values those of the rows that have them. */
function addCells(cells: LevelCells, counts: Float64Array): void {
  cells.each((number, count) => {
    if (number > 0) counts[number - 1] += count;
  });
}

/** Counts the events of each value of a level that is prepared for `rows`. */
function countValues(level: FieldLevel, rows: Bitmap, counts: Float64Array): void {
  const coded = level.coded();
  if (coded !== undefined) {
    countCoded(coded, rows, counts);
    return;
  }
  const { starts, values } = level.values();
  eachRow(rows, (row) => {
    if (starts === undefined) {
      if (values[row] !== 0) counts[values[row] - 1]++;
    } else {
      for (let at = starts[row]; at < starts[row + 1]; at++) counts[values[at]]++;
    }
  });
}

/** The same by codes, which are counted first. */
function countCoded({ codes, known }: CodedValues, rows: Bitmap, counts: Float64Array): void {
  const times = new Uint32Array(known.length);
  for (let word = 0; word < rows.length; word++) {
    const base = word << 5;
    if (rows[word] === 0xffffffff) {
      for (let row = base; row < base + 32; row++) times[codes[row]]++;
      continue;
    }
    for (let bits = rows[word]; bits !== 0; bits &= bits - 1) {
      times[codes[base + 31 - Math.clz32(bits & -bits)]]++;
    }
  }
  for (let code = 0; code < times.length; code++) {
    if (known[code] > 1) counts[known[code] - 2] += times[code];
  }
}

/** The values with the most events; of equals the first ones in natural order. */
function* firstValues(
  level: FieldLevel,
  eventCounts: Float64Array,
  limit: number,
): Units<AttributeValue[]> {
  const pace = new Pace();
  const first = new FirstBuckets(
    limit,
    comparer({ by: { type: 'core' }, direction: 'desc' }, level),
  );
  for (let value = 0; value < level.valueCount; value++) {
    if (pace.isFull(1)) yield;
    first.offer(0, value, eventCounts[value], () => []);
  }
  const [found] = first.entries();
  const [, candidates] = found ?? [0, []];
  return candidates
    .slice(0, limit)
    .map(({ value }) => ({ key: level.key(value), eventCount: eventCounts[value] }));
}

/** Least and greatest number among the values; numeric strings are numbers. Source: INTERFACE.md 4.8. */
function* numberBounds(level: FieldLevel): Units<NumberBounds | undefined> {
  const pace = new Pace();
  const bounds = new LongBounds();
  for (let value = 0; value < level.valueCount; value++) {
    if (pace.isFull(TEXT_STEPS)) yield;
    const number = numberOf(level.key(value));
    if (number !== undefined) bounds.add(0, Number(number), number);
  }
  const min = bounds.least(0, Number.POSITIVE_INFINITY);
  const max = bounds.greatest(0, Number.NEGATIVE_INFINITY);
  return Number(min) > Number(max) ? undefined : { min, max };
}

/** The text of the number that a value is; `undefined` when it is none, or beyond all doubles. */
function numberOf(key: BucketKey): string | undefined {
  if (key.type === 'string') {
    const bytes = encodeText(key.text);
    if (!isNumberText(bytes, 0, bytes.length)) return undefined;
  } else if (key.type !== 'number') {
    return undefined;
  }
  return Number.isFinite(Number(key.text)) ? key.text : undefined;
}
