import { Pace } from '../../base/pause.ts';
import { MetricTable } from '../metric/metric-table.ts';
import type { Progress } from '../model/source.ts';
import type { Aggregation } from './aggregation.ts';
import type { ScanOutcome } from './block-scan.ts';
import {
  type ComputedValues,
  fillSeries,
  groupComputes,
  isOfShare,
  seriesOf,
  stepsOf,
  VALUE_STEPS,
} from './computes.ts';
import { TimeLevel } from './level.ts';
import { checkCells, type GroupShare, Pass } from './pass.ts';
import { arrangeTimes } from './stages.ts';
import { WholeValues } from './whole-values.ts';

/** A pass with its tables. */
interface Begun {
  pass: Pass;
  tables: { metrics: MetricTable; steps: TimeLevel | undefined }[];
}

/** Computes the values of the buckets of the last level when all buckets are found but those of time. */
export class Measure {
  readonly #work: Aggregation;
  #values: ComputedValues[] = [];

  constructor(work: Aggregation) {
    this.#work = work;
  }

  /** The values of all buckets; `undefined` when a block turned out damaged that was counted before. */
  *run(): Generator<Progress, ComputedValues[] | undefined> {
    for (let shares = 1; ; ) {
      let outcome: ScanOutcome = 'done';
      this.#values = [];
      for (let index = 0; index < shares && outcome === 'done'; index++) {
        outcome = yield* this.#share({ index, count: shares });
      }
      if (outcome === 'damaged') return undefined;
      if (outcome === 'done') {
        this.#work.went('values', this.#work.stages.length);
        return this.#values;
      }
      shares = this.#work.moreShares(shares);
    }
  }

  *#share(share: GroupShare): Generator<Progress, ScanOutcome> {
    const { computes } = this.#work.query;
    const groups = groupComputes(computes);
    const { pass, tables } = yield* this.#begin(groups, share);
    const outcome = yield* this.#work.scan.run(pass);
    if (outcome !== 'done') return outcome;
    yield* this.#work.tell(arrangeTimes(this.#work.stages, this.#work.stages.length));
    for (const { metrics } of tables) yield* this.#work.tell(metrics.settle());
    const bucketCount = this.#work.stages.at(-1)?.tuples.count ?? 1;
    const cellCounts = tables.map(({ steps }, at) => groups[at].places.length * stepsOf(steps));
    const cellCount = cellCounts.reduce((sum, count) => sum + count, 0);
    checkCells(bucketCount * cellCount);
    const pace = new Pace();
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      if (pace.isFull(computes.length * VALUE_STEPS)) yield this.#work.scan.progress;
      const values = this.#values[bucket] ?? computes.map(() => null);
      this.#values[bucket] = values;
      for (let at = 0; at < groups.length; at++) {
        const { metrics, steps } = tables[at];
        for (const place of groups[at].places) {
          const { metric } = computes[place];
          if (steps !== undefined) {
            const known = seriesOf(values[place], steps);
            values[place] = known;
            yield* this.#work.tell(fillSeries(known, metrics, metric, bucket, share, pace));
          } else if (isOfShare(bucket, share)) {
            values[place] = metrics.value(metric, bucket);
          }
        }
      }
    }
    for (const { metrics } of tables) metrics.free();
    return 'done';
  }

  /** A pass that has taken what is known without rows, made as often as a dictionary turns out damaged. */
  *#begin(groups: ReturnType<typeof groupComputes>, share: GroupShare): Generator<Progress, Begun> {
    const { source, stages, scan, limits, query } = this.#work;
    let whole: WholeValues | undefined;
    for (;;) {
      const tables = groups.map(({ places, boundaries }) => ({
        metrics: new MetricTable(
          places.map((place) => query.computes[place].metric),
          source.secret,
        ),
        steps: boundaries === undefined ? undefined : new TimeLevel(source, boundaries),
      }));
      const pass = new Pass(stages, tables, share, true, limits.memoryBytesMax);
      const path = pass.pathOfEntries;
      if (path === undefined) return { pass, tables };
      whole ??= new WholeValues(source, scan, [path]);
      if (yield* this.#work.tell(pass.takeWhole(whole, path))) return { pass, tables };
    }
  }
}
