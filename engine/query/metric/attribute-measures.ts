import type { Units } from '../../base/pause.ts';
import { dateMillis } from '../../column/date-form.ts';
import type { KeptEntries } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import type { Block } from '../../segment/block/block.ts';
import { type Bitmap, countRows, nextRow } from '../model/bitmap.ts';
import type { AttributeBounds, AttributeValue, SimpleMetric } from '../model/query.ts';
import { partsOfRows } from '../model/units.ts';
import { rowsPresent } from '../scan/column-rows.ts';
import { columnsAt } from '../scan/scan.ts';
import { Pairs } from '../value/pairs.ts';
import { MetricTable } from './metric-table.ts';

/** Words of a bitmap whose rows are measured in a unit: numbers in strings take their time. */
const METER_WORDS = 128;
const FIRST = Int32Array.of(0);
const GROUP = Uint32Array.of(0);
const MEASURED = ['cardinality', 'min', 'max'] as const;

/** Least and greatest number of an attribute. */
export type NumberBounds = Omit<Extract<AttributeBounds, { type: 'number' }>, 'type'>;

/** Kind of the values of an attribute. */
export interface MeasuredValues {
  distinctCount: number;
  values: AttributeValue[] | null;
  bounds?: AttributeBounds;
}

/** Least and greatest date of an attribute, epoch milliseconds. */
export class DateBounds {
  minMs = Number.POSITIVE_INFINITY;
  maxMs = Number.NEGATIVE_INFINITY;

  add(block: Block, columns: readonly number[], rows: Bitmap): void {
    for (const index of columns) {
      if (block.info(index).kind !== Kind.DATE) continue;
      const column = block.column(index);
      if (column.kind !== Kind.DATE) continue;
      const present = rowsPresent(column, rows);
      for (let row = nextRow(present, 0); row >= 0; row = nextRow(present, row + 1)) {
        const timeMs = dateMillis(column.values[row], column.forms[row]);
        if (timeMs < this.minMs) this.minMs = timeMs;
        if (timeMs > this.maxMs) this.maxMs = timeMs;
      }
    }
  }

  merge({ minMs, maxMs }: DateBounds): void {
    this.minMs = Math.min(this.minMs, minMs);
    this.maxMs = Math.max(this.maxMs, maxMs);
  }
}

/**
 * Measures of the values of one attribute: how many are distinct, and the least and greatest. What is added twice
 * counts once. Owned by one thread.
 */
export class AttributeMeasures {
  readonly path: string;
  readonly #metrics: MetricTable;
  readonly #dates = new DateBounds();
  readonly #pairs = new Pairs();

  /** `secret` is the manifest's. */
  constructor(path: string, secret: Uint8Array) {
    this.path = path;
    this.#metrics = new MetricTable(
      MEASURED.map((one) => metric(path, one)),
      secret,
    );
    this.#metrics.ensure(1);
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#metrics.memoryBytes;
  }

  /** Adds all entries of a dictionary, in units. Throws CORRUPTION. */
  addEntries(dictionary: KeptEntries): Units<void> {
    return this.#metrics.addEntries(this.path, dictionary);
  }

  /** Adds rows of a block, in units. Throws CORRUPTION. */
  *add(block: Block, rows: Bitmap): Units<void> {
    const { path } = this;
    const metrics = this.#metrics;
    const isWhole = countRows(rows) === block.rowCount;
    if (isWhole && (yield* metrics.addOwnEntries(path, block))) return;
    yield* metrics.prepare(block);
    if (metrics.takesRuns) {
      metrics.addRuns({ rows, count: 1, ends: Uint32Array.of(block.rowCount), groups: FIRST });
      yield;
      return;
    }
    for (const part of partsOfRows(rows, METER_WORDS)) {
      this.#pairs.reset(part);
      metrics.add(this.#pairs);
      yield;
    }
    this.#dates.add(block, columnsAt(block, path), rows);
    yield;
  }

  /** Adds what others are, in units. */
  *merge(other: AttributeMeasures): Units<void> {
    yield* this.#metrics.merge(other.#metrics.data, GROUP);
    this.#dates.merge(other.#dates);
  }

  /** The measurements, in units; there are too many values when there are more than `distinctMax`. */
  *result(distinctMax: number): Units<MeasuredValues> {
    const { path } = this;
    const metrics = this.#metrics;
    yield* metrics.settle();
    const min = metrics.value(metric(path, 'min'), 0);
    const max = metrics.value(metric(path, 'max'), 0);
    const numbers = min === null || max === null ? undefined : { min, max };
    const distinctCount = Number(metrics.value(metric(path, 'cardinality'), 0));
    const values = distinctCount > distinctMax ? null : [];
    return { distinctCount, values, ...boundsOf(numbers, this.#dates) };
  }
}

function metric(path: string, aggregation: (typeof MEASURED)[number]): SimpleMetric {
  return { type: 'attribute', path, aggregation };
}

/** Bounds of numbers, or of dates when there is no number. */
export function boundsOf(
  numbers: NumberBounds | undefined,
  { minMs, maxMs }: DateBounds,
): { bounds?: AttributeBounds } {
  if (numbers !== undefined) return { bounds: { type: 'number', ...numbers } };
  return minMs <= maxMs ? { bounds: { type: 'date', minMs, maxMs } } : {};
}
