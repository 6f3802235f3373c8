import { must } from '../../base/assert.ts';
import { inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type { Column } from '../../column/column.ts';
import type { KeptEntries } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import type { CellRows } from '../../packed/cells.ts';
import { grow } from '../../packed/growth.ts';
import type { Block } from '../../segment/block/block.ts';
import { countBetween } from '../model/bitmap.ts';
import type {
  Aggregation,
  Metric,
  MetricExpression,
  MetricValue,
  SimpleMetric,
} from '../model/query.ts';
import { columnsAt } from '../scan/scan.ts';
import type { GroupRuns, Pairs } from '../value/pairs.ts';
import { ValueHash } from '../value/value-hash.ts';
import { Summary } from './metric.ts';
import { countPairs, isTallied } from './number-kernels.ts';
import { isLight } from './percent.ts';
import type { SummaryData } from './summary-data.ts';

/** Rows of a block in cells, with their number by cell. */
export interface CountedCells {
  rows: CellRows;
  counts: Uint32Array;
}

/** A table of metrics as plain data. */
export interface MetricTableData {
  eventCounts: Float64Array<ArrayBuffer>;
  summaries: Map<string, SummaryData>;
}

/** Metrics of numbered groups of events. Mergeable; owned by one thread. */
export class MetricTable {
  /** The metrics that it was made for. */
  readonly metrics: readonly Metric[];
  #eventCounts = new Float64Array(0);
  readonly #countsEvents: boolean;
  /** One a path, whatever is asked of it. */
  readonly #summaries = new Map<string, Summary>();
  /** Columns of the block for which it is prepared, of each path. */
  #columns: [Summary, Column[]][] = [];

  /** `secret` is the manifest's; the same for all tables that are merged. */
  constructor(metrics: readonly Metric[], secret: Uint8Array) {
    this.metrics = metrics;
    const simple = metrics.flatMap(simpleMetrics);
    this.#countsEvents = simple.some((metric) => metric.type === 'core');
    const asked = new Map<string, Set<Aggregation>>();
    for (const metric of simple) {
      if (metric.type !== 'attribute') continue;
      const aggregations = asked.get(metric.path) ?? new Set();
      asked.set(metric.path, aggregations.add(metric.aggregation));
    }
    const hash = new ValueHash(secret);
    for (const [path, aggregations] of asked) {
      this.#summaries.set(path, new Summary(aggregations, hash));
    }
  }

  /** True when it needs to see rows; otherwise `addCount` is enough. */
  get needsRows(): boolean {
    return this.#summaries.size > 0;
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    let bytes = this.#eventCounts.length * 8;
    for (const summary of this.#summaries.values()) bytes += summary.memoryBytes;
    return bytes;
  }

  /** Frees most of its memory at once; it is not to be used any more. */
  free(): void {
    for (const summary of this.#summaries.values()) summary.free();
  }

  /** Takes all events away, and keeps the memory: of light metrics. */
  clear(): void {
    this.#eventCounts.fill(0);
    for (const summary of this.#summaries.values()) summary.clear();
  }

  /** Makes room for groups 0 to `groupCount - 1`. */
  ensure(groupCount: number): void {
    if (this.#countsEvents && groupCount > this.#eventCounts.length) {
      this.#eventCounts = grow(this.#eventCounts, groupCount);
    }
    for (const summary of this.#summaries.values()) summary.ensure(groupCount);
  }

  /** Reads all that it needs of a block, in units, so that `add` cannot fail. Throws CORRUPTION. */
  *prepare(block: Block): Units<void> {
    this.#columns = [];
    for (const [path, summary] of this.#summaries) {
      const columns = columnsAt(block, path).map((index) => block.column(index));
      this.#columns.push([summary, columns]);
      if (block.rowCount > UNIT_SLOTS) yield;
      for (const column of columns) yield* summary.prepare(column);
    }
  }

  /** Adds the events of the block for which it is prepared to their groups, for which there is room. */
  add(pairs: Pairs): void {
    if (this.#countsEvents) countPairs(pairs, this.#eventCounts);
    for (const [summary, columns] of this.#columns) {
      for (const column of columns) summary.add(column, pairs);
    }
  }

  /** True when `addCells` can add the block for which it is prepared. */
  get takesCells(): boolean {
    return this.#columns.every(
      ([summary, columns]) =>
        columns.length === 0 ||
        (columns.length === 1 && summary.numbersOf(columns[0]) !== undefined),
    );
  }

  /** Adds the rows of cells of the block for which it is prepared to `groups`: group + 1 by cell, 0 for none. */
  addCells({ rows, counts }: CountedCells, groups: Uint32Array): void {
    if (this.#countsEvents) {
      for (let cell = 0; cell < counts.length; cell++) {
        if (groups[cell] !== 0) this.#eventCounts[groups[cell] - 1] += counts[cell];
      }
    }
    for (const [summary, [column]] of this.#columns) {
      if (column !== undefined) summary.addCells(column, rows, groups);
    }
  }

  /** True when `addRuns` can add the block for which it is prepared. */
  get takesRuns(): boolean {
    return this.#columns.every(
      ([, columns]) => columns.length === 0 || (columns.length === 1 && isTallied(columns[0])),
    );
  }

  /** Adds the rows of runs of the block for which it is prepared to their groups, for which there is room. */
  addRuns(runs: GroupRuns): void {
    if (this.#countsEvents) {
      const { rows, count, ends, groups } = runs;
      for (let run = 0, from = 0; run < count; from = ends[run++]) {
        if (groups[run] >= 0) this.#eventCounts[groups[run]] += countBetween(rows, from, ends[run]);
      }
    }
    for (const [summary, [column]] of this.#columns) {
      if (column !== undefined) summary.addRuns(column, runs);
    }
  }

  /** Adds events of which nothing but their number is known, to group 0. */
  addCount(eventCount: number): void {
    this.ensure(1);
    if (this.#countsEvents) this.#eventCounts[0] += eventCount;
  }

  /** The path of which it only needs the entries of dictionaries; `undefined` when it needs more. */
  get pathOfEntries(): string | undefined {
    const [[path, summary] = []] = this.#summaries;
    const isOnly = this.#summaries.size === 1 && !this.#countsEvents;
    return isOnly && summary?.takesEntries === true ? path : undefined;
  }

  /**
   * Adds all entries of a dictionary to group 0, each as one value at `path` that is not counted, in units. Throws
   * CORRUPTION.
   */
  *addEntries(path: string, dictionary: KeptEntries): Units<void> {
    const summary = must(this.#summaries.get(path), 'a summary');
    this.ensure(1);
    yield* summary.addEntries(dictionary);
  }

  /**
   * Adds the entries of the only column of a block at `path` as `addEntries` does; false when they are not the block's
   * own strings. Throws CORRUPTION.
   */
  *addOwnEntries(path: string, block: Block): Units<boolean> {
    const [index, ...others] = columnsAt(block, path);
    const column = index === undefined || others.length > 0 ? undefined : block.column(index);
    if (column?.kind !== Kind.STRING || column.own === undefined) return false;
    yield* this.addEntries(path, column.own);
    return true;
  }

  /** Its parts; it is not to be used any more. */
  get data(): MetricTableData {
    const summaries = new Map<string, SummaryData>();
    for (const [path, summary] of this.#summaries) summaries.set(path, summary.data);
    return { eventCounts: this.#eventCounts, summaries };
  }

  /**
   * Adds the `data` of another table of the same metrics, in units; its group g is `groups[g]` here. With `chosen`, of
   * light metrics, its group `chosen[i]` is `groups[i]`, and no other is added.
   */
  *merge(
    { eventCounts, summaries }: MetricTableData,
    groups: Uint32Array,
    chosen?: Uint32Array,
  ): Units<void> {
    let groupCount = 0;
    for (const group of groups) if (group >= groupCount) groupCount = group + 1;
    this.ensure(groupCount);
    if (this.#countsEvents) {
      const counts = this.#eventCounts;
      const length = chosen?.length ?? Math.min(groups.length, eventCounts.length);
      yield* inParts(length, UNIT_SLOTS, (begin, end) => {
        for (let at = begin; at < end; at++) {
          counts[groups[at]] += eventCounts[chosen === undefined ? at : chosen[at]];
        }
      });
    }
    for (const [path, summary] of this.#summaries) {
      yield* summary.merge(must(summaries.get(path), `a summary of ${path}`), groups, chosen);
    }
  }

  /** Makes ready for `value`, in units, as long as nothing is added; without it the first value may take as long. */
  *settle(): Units<void> {
    for (const summary of this.#summaries.values()) yield* summary.settle();
  }

  /** The value of a metric, one of those that it was made for, of a group. */
  value(metric: Metric, group: number): MetricValue {
    if (metric.type === 'formula') {
      const value = this.#evaluate(metric.expression, group);
      return value !== null && Number.isFinite(value) ? value : null;
    }
    if (metric.type === 'core') return this.#eventCounts[group] ?? 0;
    const summary = must(this.#summaries.get(metric.path), 'a summary');
    return summary.value(metric.aggregation, group);
  }

  #evaluate(expression: MetricExpression, group: number): number | null {
    if (expression.type === 'number') return expression.value;
    if (expression.type === 'metric') {
      const value = this.value(expression.metric, group);
      return value === null ? null : Number(value);
    }
    const left = this.#evaluate(expression.left, group);
    const right = this.#evaluate(expression.right, group);
    if (left === null || right === null) return null;
    if (expression.operator === '+') return left + right;
    if (expression.operator === '-') return left - right;
    if (expression.operator === '*') return left * right;
    return right === 0 ? null : left / right;
  }
}

/** The metrics that are not formulas in a metric. */
function simpleMetrics(metric: Metric): SimpleMetric[] {
  if (metric.type !== 'formula') return [metric];
  const found: SimpleMetric[] = [];
  const walk = (expression: MetricExpression): void => {
    if (expression.type === 'metric') found.push(expression.metric);
    if (expression.type !== 'operation') return;
    walk(expression.left);
    walk(expression.right);
  };
  walk(metric.expression);
  return found;
}

/** True when a metric takes a few numbers a group, however many events it has. */
export function isLightMetric(metric: Metric): boolean {
  return simpleMetrics(metric).every(
    (simple) => simple.type === 'core' || isLight(simple.aggregation),
  );
}
