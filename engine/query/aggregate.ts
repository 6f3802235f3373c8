import { must } from '../base/assert.ts';
import type { Block } from '../segment/block.ts';
import { type Bitmap, countRows } from './bitmap.ts';
import { Summary } from './metric.ts';
import { planOf } from './plan.ts';
import type { AggregateQuery, AggregateResult, Aggregation, Metric, Snapshot } from './query.ts';
import { columnsAt, rowsWhere } from './scan.ts';
import {
  type BlockSource,
  isDamage,
  isInside,
  noStats,
  overlaps,
  type Progress,
  rowsInRange,
} from './source.ts';
import { ValueHash } from './value-hash.ts';

/** The metrics of some blocks. Partials of one query are merged in block order, whoever made them. */
export class AggregatePartial {
  readonly #metrics: readonly Metric[];
  #eventCount = 0;
  /** One a path, whatever is asked of it. */
  readonly #summaries = new Map<string, Summary>();

  /** `secret` is the manifest's; the same for all partials that are merged. */
  constructor(metrics: readonly Metric[], secret: Uint8Array) {
    this.#metrics = metrics;
    const asked = new Map<string, Set<Aggregation>>();
    for (const metric of metrics) {
      if (metric.type !== 'attribute') continue;
      const aggregations = asked.get(metric.path) ?? new Set();
      asked.set(metric.path, aggregations.add(metric.aggregation));
    }
    const hash = new ValueHash(secret);
    for (const [path, aggregations] of asked) {
      this.#summaries.set(path, new Summary(aggregations, hash));
    }
  }

  /** Whether it needs to see rows; otherwise `addCount` is enough. */
  get needsRows(): boolean {
    return this.#summaries.size > 0;
  }

  /** Adds `rows` of a block. Throws CORRUPTION before it has added anything. */
  add(block: Block, rows: Bitmap): void {
    const columns = [...this.#summaries].map(([path, summary]) => ({
      summary,
      columns: columnsAt(block, path).map((index) => block.column(index)),
    }));
    this.addCount(countRows(rows));
    for (const { summary, columns: found } of columns) {
      for (const column of found) summary.add(column, rows);
    }
  }

  /** Adds events of which nothing but their number is known. */
  addCount(eventCount: number): void {
    this.#eventCount += eventCount;
  }

  /** Adds what `other`, a partial of the same metrics, has; `other` stays as it is. */
  merge(other: AggregatePartial): void {
    this.#eventCount += other.#eventCount;
    for (const [path, summary] of this.#summaries) {
      summary.merge(must(other.#summaries.get(path), `a summary of ${path}`));
    }
  }

  /** One value a metric, in their order. */
  values(): (number | null)[] {
    return this.#metrics.map((metric) =>
      metric.type === 'core'
        ? this.#eventCount
        : must(this.#summaries.get(metric.path), 'a summary').value(metric.aggregation),
    );
  }
}

/**
 * Computes metrics over the selected events, a block a unit. Damaged blocks are left out and counted.
 * Throws what the source throws but CORRUPTION.
 */
export function* aggregateUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: AggregateQuery,
): Generator<Progress, AggregateResult> {
  const { fromMs, toMs } = query;
  const plan = planOf(query.predicate);
  const partial = new AggregatePartial(query.metrics, source.secret);
  const stats = noStats(snapshot.blocks.length);
  const refs = snapshot.blocks.filter((ref) => overlaps(ref, fromMs, toMs));
  for (const [done, ref] of refs.entries()) {
    if (plan.type === 'all' && !partial.needsRows && isInside(ref, fromMs, toMs)) {
      partial.addCount(ref.rowCount);
      continue;
    }
    try {
      const block = source.open(ref);
      partial.add(block, rowsWhere(plan, block, rowsInRange(block, fromMs, toMs)));
      stats.blocksOpened++;
      stats.rowsScanned += ref.rowCount;
    } catch (error) {
      if (!isDamage(error)) throw error;
      stats.blocksDamaged++;
    }
    yield { unitsDone: done + 1, unitsTotal: refs.length };
  }
  return { values: partial.values(), stats };
}
