import { Pace, type Units } from '../../../base/pause.ts';
import { GreatestKeys } from '../../metric/greatest-keys.ts';
import { keyOf, NO_KEY, type PartedOrder } from '../../metric/group-keys.ts';
import { MetricTable } from '../../metric/metric-table.ts';
import type { Metric, MetricValue, SimpleMetric } from '../../model/query.ts';
import { isDamage, type Progress } from '../../model/source.ts';
import { NumberedHashes } from '../../value/numbered-hashes.ts';
import { KIND_BITS } from '../../value/value-numbers.ts';
import { type HeadsSpec, headsOf } from '../../value/value-part.ts';
import type { ValueTable } from '../../value/value-table.ts';
import { VALUE_STEPS } from '../computes.ts';
import type { MeasuredHead } from './entry-measures.ts';

/** Values beyond which they are found in another way. */
const CANDIDATES_MAX = 1 << 17;
/** Part of a key by which it may be rounded, and more. */
const ROUNDING = 2 ** -40;

/** Which values are looked for: the first `limit` by a metric. */
export interface MeasuredTask {
  order: PartedOrder;
  by: SimpleMetric;
  /** Metrics that are computed besides, as far as that takes no more scans. */
  others: readonly Metric[];
  limit: number;
  /** Values that are looked for at first where heads do not tell all of a value. */
  candidates: number;
  secret: Uint8Array;
}

/** A value that may be among the first. */
export interface MeasuredValue {
  value: number;
  rank: MetricValue;
  /** Its value of a metric. */
  metricOf: (metric: Metric) => MetricValue;
}

/** Values among which the first ones are; `areAll`: all metrics are known of them. */
export interface MeasuredValues {
  values: readonly MeasuredValue[];
  areAll: boolean;
}

/** Measures the events in a scan: of all values, whose heads it gives, or of those of a part, of which it gives all. */
export type Measure = (
  metrics: readonly Metric[],
  part?: HeadsSpec,
) => Generator<Progress, MeasuredHead[] | 'full' | 'damaged'>;

const CORE: Metric = { type: 'core' };

/**
 * Finds the first values by a metric, whose numbers `table` gives; `full` when too many may be among them. Where heads
 * do not tell all of a value, those that may be first are measured in one scan more, as long as their last one is found
 * to come later than it seemed.
 */
export function* firstMeasured(
  task: MeasuredTask,
  measure: Measure,
  table: ValueTable,
  tell: <T>(units: Units<T>) => Generator<Progress, T>,
): Generator<Progress, MeasuredValues | 'full' | 'damaged'> {
  const all = [...task.others, task.by];
  // Of other orders not all that is asked of a value may be in heads.
  const mayBeAll = task.order.bound === 'sum';
  const metrics = mayBeAll ? all : [task.by];
  const heads = yield* measure(metrics);
  if (typeof heads === 'string') return heads;
  // Heads lack the entries that have events, but nothing to be ordered by.
  const areAll = mayBeAll && heads.every(({ isKeyed }) => isKeyed);
  const search = new MeasuredSearch(heads, metrics, task);
  let found = yield* tell(search.find(table));
  while (found !== undefined && !Array.isArray(found)) {
    const { part, enough } = found;
    const counted = [...all, CORE];
    const parts = yield* measure(counted, part);
    if (typeof parts === 'string') return parts;
    const values = yield* tell(new MeasuredSearch(parts, counted, task).find(table));
    if (!Array.isArray(values)) return 'full';
    const last = search.lastOf(values);
    if (last >= enough) return { values, areAll: true };
    found = yield* tell(search.find(table, last));
  }
  return found === undefined ? 'full' : { values: found, areAll };
}

/**
 * Values among which the first ones are, if the last of these has the key `enough` at least: to be looked for, as parts
 * of them may be in no head.
 */
interface MeasuredCandidates {
  part: HeadsSpec;
  enough: number;
}

/**
 * Finds the first values by a metric among the heads of all parts of the events, each with the greatest keys of its
 * entries. The keys of the entries of a value bound its own (`KeyBound`), so that values in no head are not wanted when
 * the tails behind all heads are less together than the last one. Those that may be wanted, by their hashes, are
 * told apart by their texts. Source: Fagin, Lotem and Naor, Optimal aggregation algorithms for middleware (NRA).
 */
class MeasuredSearch {
  readonly #heads: readonly MeasuredHead[];
  /** Those that were computed of heads. */
  readonly #metrics: readonly Metric[];
  readonly #task: MeasuredTask;
  readonly #hashes = new NumberedHashes();
  /** By head and place the number of its hash. */
  #numbers: Uint32Array[] = [];
  /** By hash what its keys bound, and in how many heads with a tail it is. */
  #bounds = new Float64Array(0);
  #metCounts = new Uint32Array(0);

  constructor(heads: readonly MeasuredHead[], metrics: readonly Metric[], task: MeasuredTask) {
    this.#heads = heads;
    this.#metrics = metrics;
    this.#task = task;
  }

  /**
   * The first values, and perhaps others, whose numbers `table` gives; or candidates. `undefined` when too many may be
   * among the first, or a dictionary is damaged. `least`: the key that the last one has at least, if that is known. In
   * units.
   */
  *find(
    table: ValueTable,
    least?: number,
  ): Units<MeasuredValue[] | MeasuredCandidates | undefined> {
    try {
      if (this.#numbers.length === 0) yield* this.#number();
      let enough = least ?? (yield* this.#leastOf());
      while (enough !== undefined && this.#tellsFrom(enough)) {
        const chosen = this.#candidates(enough);
        if (chosen === undefined) return undefined;
        if (!this.#areTold(chosen)) return { part: this.#partOf(chosen), enough };
        const found = yield* this.#valuesOf(chosen, table, enough);
        if (!Array.isArray(found)) return found;
        const last = this.lastOf(found);
        if (last >= enough) return found;
        enough = last;
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    return undefined;
  }

  /** The key of the last wanted one of some values; NO_KEY when there are not so many. */
  lastOf(found: readonly Pick<MeasuredValue, 'rank'>[]): number {
    const { order, limit } = this.#task;
    const first = new GreatestKeys(limit);
    for (const { rank } of found) first.offer(keyOf(order, rank));
    return first.least;
  }

  /** Numbers the hashes of all heads. */
  *#number(): Units<void> {
    for (const { hashes } of this.#heads) {
      this.#numbers.push(Uint32Array.from(hashes, (hash) => this.#hashes.add(hash >>> KIND_BITS)));
      yield;
    }
    const { count } = this.#hashes;
    const isSum = this.#task.order.bound === 'sum';
    const total = this.#tailOf();
    this.#bounds = new Float64Array(count).fill(isSum ? total : NO_KEY);
    this.#metCounts = new Uint32Array(count);
    const met = new Int32Array(count).fill(-1);
    for (const [at, { keys, tail }] of this.#heads.entries()) {
      const least = Math.max(tail, 0);
      for (const [place, number] of this.#numbers[at].entries()) {
        const key = keys[place];
        const isFirst = met[number] !== at;
        met[number] = at;
        if (isFirst && tail > NO_KEY) this.#metCounts[number]++;
        if (!isSum) this.#bounds[number] = Math.max(this.#bounds[number], key);
        else this.#bounds[number] += Math.max(key, 0) - (isFirst ? least : 0);
      }
      yield;
    }
  }

  /** The bound of values that are in no head. */
  #tailOf(): number {
    const isSum = this.#task.order.bound === 'sum';
    let bound = isSum ? 0 : NO_KEY;
    for (const { tail } of this.#heads) {
      bound = isSum ? bound + Math.max(tail, 0) : Math.max(bound, tail);
    }
    return bound;
  }

  /** True when no head has a tail. */
  get #isAll(): boolean {
    return this.#heads.every(({ tail }) => tail === NO_KEY);
  }

  /** True when values whose key is `enough` are in heads. */
  #tellsFrom(enough: number): boolean {
    if (this.#isAll) return enough > NO_KEY || this.#heads.every(({ isKeyed }) => isKeyed);
    return lowered(enough) > this.#tailOf();
  }

  /**
   * A key that the last wanted value has at least, unless hashes collide, or as good a guess; `undefined` where keys do
   * not bound.
   */
  *#leastOf(): Units<number | undefined> {
    const { order, limit, by, candidates, secret } = this.#task;
    if (order.needsNone && this.#heads.some(({ keys }) => keys.some((key) => key > 0))) {
      return undefined;
    }
    const { count } = this.#hashes;
    if (!this.#isAll && !this.#isTold) {
      const first = new GreatestKeys(Math.max(Math.min(candidates, count), limit));
      for (const bound of this.#bounds) first.offer(bound);
      return Math.max(first.least, this.#leastBehindTails);
    }
    const together = new MetricTable(this.#metrics, secret);
    together.ensure(count);
    for (const [at, { table }] of this.#heads.entries()) {
      yield* together.merge(table, this.#numbers[at]);
    }
    const first = new GreatestKeys(limit);
    const pace = new Pace();
    for (let hash = 0; hash < count; hash++) {
      first.offer(keyOf(order, together.value(by, hash)));
      if (pace.isFull(VALUE_STEPS)) yield;
    }
    return first.least;
  }

  /** A key that is just above that of values in no head. */
  get #leastBehindTails(): number {
    const tail = this.#tailOf();
    return tail + Math.abs(tail) * ROUNDING * 4;
  }

  /** True when the first ones have all of their value in heads, or all that matters of it. */
  get #isTold(): boolean {
    return this.#task.order.bound === 'sum' || this.#task.order.isExtreme;
  }

  /** 1 by hash where values may have the key `enough`; `undefined` when these are too many. */
  #candidates(enough: number): Uint8Array | undefined {
    const least = lowered(enough);
    const chosen = Uint8Array.from(this.#bounds, (bound) => (bound >= least ? 1 : 0));
    const count = chosen.reduce((sum, one) => sum + one, 0);
    return count > CANDIDATES_MAX ? undefined : chosen;
  }

  /** True when heads tell all that matters of the chosen hashes, if each is of one value. */
  #areTold(chosen: Uint8Array): boolean {
    if (this.#isAll || this.#task.order.isExtreme) return true;
    if (!this.#isTold) return false;
    const tailed = this.#heads.filter(({ tail }) => tail > NO_KEY).length;
    return chosen.every((one, hash) => one === 0 || this.#metCounts[hash] === tailed);
  }

  #partOf(chosen: Uint8Array): HeadsSpec {
    const hashes = new Set<number>();
    for (const [at, numbers] of this.#numbers.entries()) {
      const { hashes: own } = this.#heads[at];
      for (const [place, number] of numbers.entries()) {
        if (chosen[number] === 1) hashes.add(own[place]);
      }
    }
    return headsOf(hashes);
  }

  /** The values of the chosen hashes; candidates when one hash is of several values, of which heads may lack some. */
  *#valuesOf(
    chosen: Uint8Array,
    table: ValueTable,
    enough: number,
  ): Units<MeasuredValue[] | MeasuredCandidates> {
    const { by, secret, order } = this.#task;
    const found = new MetricTable(this.#metrics, secret);
    const known = new Int32Array(chosen.length).fill(-1);
    for (const [at, head] of this.#heads.entries()) {
      const numbers = this.#numbers[at];
      const places = Uint32Array.from(numbers.keys()).filter(
        (place) => chosen[numbers[place]] === 1,
      );
      const values = Uint32Array.from(yield* head.numbersIn(table, places));
      for (const [index, place] of places.entries()) {
        const hash = numbers[place];
        const isAlone = known[hash] < 0 || known[hash] === values[index];
        known[hash] = values[index];
        if (isAlone || this.#isAll || order.isExtreme) continue;
        return { part: this.#partOf(chosen), enough };
      }
      found.ensure(table.count);
      yield* found.merge(head.table, values, places);
    }
    const pace = new Pace();
    const all: MeasuredValue[] = [];
    for (let value = 0; value < table.count; value++) {
      const metricOf = (metric: Metric): MetricValue => found.value(metric, value);
      all.push({ value, rank: found.value(by, value), metricOf });
      if (pace.isFull(VALUE_STEPS)) yield;
    }
    return all;
  }
}

/** A key that one may have which is rounded. */
function lowered(key: number): number {
  return key === NO_KEY ? key : key - Math.abs(key) * ROUNDING;
}
