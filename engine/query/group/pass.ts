import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import { inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import type { MetricTable } from '../metric/metric-table.ts';
import { type Bitmap, countRows } from '../model/bitmap.ts';
import { Pairs } from '../value/pairs.ts';
import type { BlockVisitor } from './block-scan.ts';
import type { TimeLevel } from './level.ts';
import { type BucketCells, Nesting, type PassStage } from './nesting.ts';
import type { VisitorData, VisitorSpec } from './shared-scan.ts';
import type { WholeValues } from './whole-values.ts';

/** Numbers in an answer. */
const CELLS_MAX = 1_000_000;
/** Rows that are put into buckets and measured in a unit. */
const UNIT_ROWS = 8_192;

/** Metrics of the buckets of the last level, or of each step of time in them. */
export interface PassTable {
  metrics: MetricTable;
  /** With `steps`, step s of bucket b is group b * steps.valueCount + s of `metrics`. */
  steps: TimeLevel | undefined;
}

/** A part of the groups, so that not all have to be in memory at once: those with `group % count === index`. */
export interface GroupShare {
  index: number;
  count: number;
}

/** Throws LIMIT when an answer would have too many numbers. */
export function checkCells(count: number): void {
  if (count <= CELLS_MAX) return;
  throw new EngineError(
    'LIMIT',
    `the answer has more than ${CELLS_MAX} values; allowed: fewer buckets, longer intervals or fewer computes`,
  );
}

/** One pass over the blocks: puts events into nested buckets and computes metrics of them. Owned by one thread. */
export class Pass implements BlockVisitor {
  readonly needsRows: boolean;
  readonly #nesting: Nesting;
  readonly #tables: readonly PassTable[];
  readonly #share: GroupShare;
  /** True when buckets are of the answer, so that there may not be too many. */
  readonly #final: boolean;
  readonly #memoryBytesMax: number;
  readonly #kept = new Pairs();
  /** The segments of which it took the dictionaries. */
  #whole: WholeValues | undefined;

  constructor(
    stages: readonly PassStage[],
    tables: readonly PassTable[],
    share: GroupShare,
    final: boolean,
    memoryBytesMax: number,
  ) {
    this.#nesting = new Nesting(stages);
    this.#tables = tables;
    this.#share = share;
    this.#final = final;
    this.#memoryBytesMax = memoryBytesMax;
    this.needsRows =
      stages.length > 0 ||
      tables.some(({ metrics, steps }) => steps !== undefined || metrics.needsRows);
  }

  skips(ref: BlockRef): boolean {
    return this.#whole?.skips(ref) === true;
  }

  /** The path of which it only needs the entries of dictionaries, in one group; `undefined` when it needs more. */
  get pathOfEntries(): string | undefined {
    const [table, ...others] = this.#tables;
    const isOneGroup = this.#nesting.isFlat && others.length === 0 && table?.steps === undefined;
    return isOneGroup && this.#share.count === 1 ? table?.metrics.pathOfEntries : undefined;
  }

  /**
   * Takes the dictionaries of whole segments at `pathOfEntries`, in units; false when it is of no use as they turned
   * out damaged.
   */
  *takeWhole(whole: WholeValues, path: string): Units<boolean> {
    const [{ metrics }] = this.#tables;
    this.#whole = whole;
    return yield* whole.take(path, (dictionary) => metrics.addEntries(path, dictionary));
  }

  get isFull(): boolean {
    return this.#nesting.isLarge || this.memoryBytes > this.#memoryBytesMax;
  }

  get memoryBytes(): number {
    let bytes = this.#nesting.memoryBytes;
    for (const { metrics } of this.#tables) bytes += metrics.memoryBytes;
    return bytes;
  }

  spec(): VisitorSpec | undefined {
    // Which groups are of a share goes by their numbers, which other threads give otherwise.
    const stages = this.#share.count === 1 ? this.#nesting.specs : undefined;
    if (stages === undefined) return undefined;
    const tables = this.#tables.map(({ metrics, steps }) => ({
      metrics: metrics.metrics,
      ...(steps === undefined ? {} : { steps: steps.spec() }),
    }));
    const memoryBytesMax = this.#memoryBytesMax;
    return { type: 'pass', stages, tables, final: this.#final, memoryBytesMax };
  }

  found(): VisitorData | undefined {
    if (this.#nesting.isLarge) return undefined;
    const tables = this.#tables.map(({ metrics }) => metrics.data);
    return { type: 'pass', stages: this.#nesting.found, tables };
  }

  *merge(data: VisitorData): Units<void> {
    assert(data.type === 'pass', 'what a pass has found');
    const buckets = yield* this.#nesting.merge(data.stages);
    for (const [at, table] of this.#tables.entries()) {
      const stepCount = table.steps?.valueCount ?? 1;
      if (this.#final) checkCells(this.#groupCount(table));
      const groups = new Uint32Array(buckets.length * stepCount);
      yield* inParts(groups.length, UNIT_SLOTS, (from, to) => {
        for (let group = from; group < to; group++) {
          const step = group % stepCount;
          groups[group] = buckets[(group - step) / stepCount] * stepCount + step;
        }
      });
      yield* table.metrics.merge(data.tables[at], groups);
    }
  }

  addCount(eventCount: number): void {
    for (const { metrics } of this.#tables) metrics.addCount(eventCount);
  }

  *add(block: Block, rows: Bitmap): Units<void> {
    if (!this.needsRows) {
      this.addCount(countRows(rows));
      return;
    }
    if (yield* this.#addOwnEntries(block, rows)) return;
    yield* this.#nesting.prepare(block, rows);
    for (const { metrics, steps } of this.#tables) {
      yield* metrics.prepare(block);
      if (steps !== undefined) yield* steps.prepare(block);
    }
    const nesting = this.#nesting;
    if (this.#takesCells) {
      const found = nesting.cells();
      if (found !== undefined) {
        for (const { metrics } of this.#tables) this.#addCells(metrics, found);
        return;
      }
    }
    if (this.#takesRuns) {
      this.#addRuns();
      return;
    }
    for (let from = 0; from < nesting.rowCount; from += UNIT_ROWS) {
      const to = Math.min(from + UNIT_ROWS, nesting.rowCount);
      const pairs = nesting.pairs(from, to);
      for (const table of this.#tables) this.#measure(table, pairs);
      if (to < nesting.rowCount) yield;
    }
  }

  /** Adds a block by its own entries, in units; false when these do not tell all. Throws CORRUPTION. */
  *#addOwnEntries(block: Block, rows: Bitmap): Units<boolean> {
    const path = this.pathOfEntries;
    if (path === undefined || countRows(rows) < block.rowCount) return false;
    const [{ metrics }] = this.#tables;
    return yield* metrics.addOwnEntries(path, block);
  }

  /** True when all that is computed of the block for which the tables are prepared can be computed by cells. */
  get #takesCells(): boolean {
    return (
      this.#share.count === 1 &&
      this.#tables.every(({ metrics, steps }) => steps === undefined && metrics.takesCells)
    );
  }

  /** True when all that is computed of the block for which it is prepared can be computed by runs. */
  get #takesRuns(): boolean {
    const { isFlat } = this.#nesting;
    const takes = ({ metrics, steps }: PassTable): boolean =>
      (isFlat || steps === undefined) && metrics.takesRuns;
    return this.#share.count === 1 && this.#nesting.isOfRuns && this.#tables.every(takes);
  }

  #addRuns(): void {
    const runs = this.#nesting.runs();
    for (const table of this.#tables) {
      const groupCount = this.#groupCount(table);
      if (this.#final) checkCells(groupCount);
      table.metrics.ensure(groupCount);
      const steps = table.steps?.runs;
      const groups = steps?.values.map((value) => value - 1);
      table.metrics.addRuns(groups === undefined ? runs : { ...runs, ...steps, groups });
    }
  }

  #addCells(metrics: MetricTable, { cells, groups }: BucketCells): void {
    const groupCount = this.#nesting.bucketCount;
    if (this.#final) checkCells(groupCount);
    metrics.ensure(groupCount);
    metrics.addCells(cells, groups);
  }

  #measure(table: PassTable, pairs: Pairs): void {
    const { metrics, steps } = table;
    const groupCount = this.#groupCount(table);
    if (this.#final) checkCells(groupCount);
    metrics.ensure(groupCount);
    if (steps === undefined && this.#share.count === 1) {
      metrics.add(pairs);
      return;
    }
    const stepOfRow = steps?.values().values;
    const stepCount = steps?.valueCount ?? 1;
    const { index, count: shares } = this.#share;
    const { rows: pairRows, groups, count } = pairs;
    const kept = this.#kept;
    kept.count = 0;
    for (let at = 0; at < count; at++) {
      const row = pairRows[at];
      let group = groups[at] * stepCount;
      if (stepOfRow !== undefined) group += stepOfRow[row] - 1;
      if (group % shares === index) kept.add(row, group);
    }
    metrics.add(kept);
  }

  #groupCount({ steps }: PassTable): number {
    return this.#nesting.bucketCount * (steps?.valueCount ?? 1);
  }
}
