import { MINUTE_MS } from '../../base/durations.ts';
import { type BlockRef, isHole } from '../../segment/frame.ts';
import { type EventKey, SEQUENCE_MAX, WRITER_MAX } from '../model/event-id.ts';
import type { Predicate } from '../model/predicate.ts';
import type { Bound, Selection, Snapshot } from '../model/query.ts';
import {
  type BlockSource,
  isDamage,
  isInside,
  overlaps,
  type Progress,
  type Reach,
  rowsInRange,
} from '../model/source.ts';
import { following, type PartsProgress, telling } from '../model/units.ts';
import { type CountedRows, StoredRows } from './counted-rows.ts';
import { rowsWhere } from './scan.ts';
import {
  SEQUENCE_STEPS,
  TiedRows,
  TiedSequences,
  type TiedVisitor,
  TiedWriters,
} from './tied-rows.ts';
import { VisibleRows } from './visible-rows.ts';

/** Parts into which what is left of the times is cut to find the one that has the event. */
const STEPS = 256;

/** The key of the oldest event that is reached. It need not be that of an event when blocks are damaged. */
export interface Floor extends EventKey {
  /** Events of the same time that come before it. */
  tiedCount: number;
}

/** The part of a range that is reached, and what is to be told of it. */
interface BoundReach extends Reach {
  floor?: Floor;
  bound?: Bound;
}

/**
 * Finds what is reached of the range of a selection with `boundCount`: exactly so many events that are visible, the
 * newest ones in the order of all events. The refs say where about the oldest of them is, minutes say it better, and
 * only the blocks there are opened, again and again until it is found: memory does not grow with their number. Without
 * `visible` the rows of a block that cannot be read count, as the newest that they may be; with it they do not. Throws
 * what the source throws but CORRUPTION. Source: INTERFACE.md 4.2.
 */
function* boundUnits(
  source: BlockSource,
  snapshot: Snapshot,
  { fromMs, toMs, boundCount, visible }: Selection,
): Generator<Progress, BoundReach> {
  const whole: BoundReach = { fromMs, toMs };
  if (boundCount === undefined) return whole;
  const floor = yield* newestUnits(
    source,
    snapshot,
    { fromMs, toMs, predicate: visible },
    boundCount,
  );
  if (floor === undefined) return whole;
  const { timeMs } = floor;
  const oldestId = source.ids.encode(floor);
  return { fromMs: timeMs, toMs, floor, bound: { limit: boundCount, oldestMs: timeMs, oldestId } };
}

/**
 * Finds the last of the `count` newest events of a range for which a predicate holds; `undefined` when none of them
 * comes before it. Throws what the source throws but CORRUPTION.
 */
export function newestUnits(
  source: BlockSource,
  snapshot: Snapshot,
  { fromMs, toMs, predicate }: Reach & { predicate: Predicate | undefined },
  count: number,
): Generator<Progress, Floor | undefined> {
  const isFiltered = predicate !== undefined && predicate.type !== 'all';
  const rows = isFiltered ? new VisibleRows(source, predicate) : new StoredRows(source);
  // Dates of events are whole.
  const range = { fromMs: Math.ceil(fromMs), toMs: Math.ceil(toMs) };
  return new FloorSearch(source, snapshot, range, count, rows).run();
}

/**
 * Runs a query of what is reached of the range of `query`: `units` makes its units. The result says when that is not
 * all. Throws as `boundUnits`, and what `units` throw.
 */
export function* withinBound<Query extends Selection, Result extends object>(
  source: BlockSource,
  snapshot: Snapshot,
  query: Query,
  units: (reached: Query & { floor?: Floor }) => Generator<Progress, Result>,
): Generator<Progress, Result & { bound?: Bound }> {
  const parts: PartsProgress = { unitsDone: 0 };
  const { bound, ...reach } = yield* following(parts, boundUnits(source, snapshot, query));
  const result = yield* following(parts, units({ ...query, ...reach }));
  return bound === undefined ? result : { ...result, bound };
}

/** Search for the oldest of the newest events of a range, so many of those that count. */
class FloorSearch {
  readonly #source: BlockSource;
  readonly #rows: CountedRows;
  /** Blocks that may have that event, or newer ones. */
  #refs: readonly BlockRef[];
  /** True when there are more events than are reached, for certain. */
  #hasMore = false;
  readonly #fromMs: number;
  readonly #toMs: number;
  readonly #count: number;
  readonly #parts: PartsProgress = { unitsDone: 0 };

  constructor(
    source: BlockSource,
    { blocks }: Snapshot,
    { fromMs, toMs }: Reach,
    count: number,
    rows: CountedRows,
  ) {
    this.#source = source;
    this.#rows = rows;
    const isOf = (ref: BlockRef): boolean => overlaps(ref, fromMs, toMs) && !isHole(ref);
    this.#refs = fromMs < toMs ? blocks.filter(isOf) : [];
    this.#fromMs = fromMs;
    this.#toMs = toMs;
    this.#count = count;
  }

  /** The key of that event; `undefined` when no event of the range comes before it. */
  *run(): Generator<Progress, Floor | undefined> {
    const storedCount = this.#refs.reduce((sum, ref) => sum + ref.rowCount, 0);
    if (storedCount <= this.#count) return undefined;
    const certainMs = yield* this.#learn();
    const rowCount = this.#refs.reduce((sum, ref) => sum + this.#rows.rowsOf(ref), 0);
    if (rowCount <= this.#count) return undefined;
    let { low, high } = this.#window(certainMs);
    /** So many of the newest events before `high` are reached. */
    let wanted = this.#count - (yield* this.#countBetween(high, this.#toMs));
    while (high - low > 1) {
      const cuts = cutsBetween(low, high);
      const counts = yield* this.#countRows(cuts);
      let step = cuts.length - 2;
      for (; step > 0 && counts[step] < wanted; step--) wanted -= counts[step];
      low = cuts[step];
      high = cuts[step + 1];
    }
    const floor = yield* this.#floorAt(low, wanted);
    if (this.#hasMore || floor.tiedCount > 0) return floor;
    return (yield* this.#countBetween(this.#fromMs, low)) > 0 ? floor : undefined;
  }

  /**
   * Learns what blocks have, the newest ones first, until there are more events than are reached: the time from which
   * on there are, for certain. What lies before it is not looked at.
   */
  *#learn(): Generator<Progress, number> {
    const learned: BlockRef[] = [];
    let certainMs = this.#fromMs;
    let certainCount = 0;
    const unitsTotal = this.#refs.length;
    for (const ref of this.#refs.toSorted((a, b) => b.minTimeMs - a.minTimeMs)) {
      if (this.#hasMore && ref.maxTimeMs < certainMs) continue;
      const progress = { unitsDone: learned.length, unitsTotal };
      yield* following(
        this.#parts,
        telling(() => progress, this.#rows.learn(ref)),
      );
      learned.push(ref);
      if (this.#hasMore || !isInside(ref, this.#fromMs, this.#toMs)) continue;
      certainCount += this.#rows.rowsOf(ref);
      if (certainCount <= this.#count) continue;
      this.#hasMore = true;
      certainMs = ref.minTimeMs;
    }
    this.#refs = learned;
    return certainMs;
  }

  /** The times between which that event is, `low <= date < high`, as far as is known without opening a block. */
  #window(certainMs: number): { low: number; high: number } {
    // At or after the other time there are too few rows, whatever is in the blocks.
    let left = this.#count;
    const byLast = this.#refs.toSorted((a, b) => b.maxTimeMs - a.maxTimeMs);
    const possible = byLast.find((ref) => {
      left -= this.#rows.rowsOf(ref);
      return left <= 0;
    });
    const least = this.#refs.reduce((min, ref) => Math.min(min, ref.minTimeMs), this.#toMs);
    const low = Math.floor(certainMs / MINUTE_MS) * MINUTE_MS;
    const high = Math.floor((possible?.maxTimeMs ?? this.#toMs) / MINUTE_MS + 1) * MINUTE_MS;
    return { low: Math.max(low, least, this.#fromMs), high: Math.min(high, this.#toMs) };
  }

  *#countBetween(fromMs: number, toMs: number): Generator<Progress, number> {
    if (fromMs >= toMs) return 0;
    const [count] = yield* this.#countRows(Float64Array.of(fromMs, toMs));
    return count;
  }

  /** The rows between neighbouring cuts. */
  #countRows(cuts: Float64Array): Generator<Progress, Float64Array> {
    return following(this.#parts, this.#rows.between(this.#refs, cuts));
  }

  /** The key of the last of the `wanted` newest events of that time; before all of them when there are not so many. */
  *#floorAt(timeMs: number, wanted: number): Generator<Progress, Floor> {
    const allCount = yield* this.#countBetween(timeMs, timeMs + 1);
    const tied = new TiedRows();
    yield* this.#showTied(timeMs, tied);
    // Those that cannot be read are reached before the others.
    let left = wanted - Math.max(allCount - tied.count, 0);
    if (left <= 0) {
      return { timeMs, writer: WRITER_MAX, sequence: SEQUENCE_MAX, tiedCount: tied.count };
    }
    const tiedCount = tied.count - left;
    if (tiedCount < 0) return { timeMs, writer: 0, sequence: 0, tiedCount: 0 };
    let low = tied.first;
    let high = tied.last + 1;
    while (high - low > 1) {
      const steps = new TiedSequences(low, high);
      yield* this.#showTied(timeMs, steps);
      let step = SEQUENCE_STEPS - 1;
      for (; step > 0 && steps.counts[step] < left; step--) left -= steps.counts[step];
      low += step * steps.width;
      high = Math.min(high, low + steps.width);
    }
    const { counts } = yield* this.#showTied(timeMs, new TiedWriters(low));
    let writer = WRITER_MAX;
    for (; writer > 0 && counts[writer] < left; writer--) left -= counts[writer];
    return { timeMs, writer, sequence: low, tiedCount };
  }

  /** Shows the rows of that time, a block a unit; those of damaged blocks are left out. */
  *#showTied<Visitor extends TiedVisitor>(
    timeMs: number,
    visitor: Visitor,
  ): Generator<Progress, Visitor> {
    const refs = this.#refs.filter(
      (ref) => overlaps(ref, timeMs, timeMs + 1) && this.#rows.rowsOf(ref) > 0,
    );
    const progress = (): Progress => {
      const { unitsDone } = this.#parts;
      return { unitsDone, unitsTotal: unitsDone + refs.length };
    };
    for (const ref of refs) {
      try {
        const block = this.#source.open(ref);
        const rows = rowsInRange(block, timeMs, timeMs + 1);
        const counted = yield* telling(progress, rowsWhere(this.#rows.plan, block, rows));
        visitor.add(block.keys(), counted);
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
      this.#parts.unitsDone++;
      yield progress();
    }
    return visitor;
  }
}

/** Cuts times into STEPS parts and one more at most: between whole minutes as long as there are such inside. */
function cutsBetween(low: number, high: number): Float64Array {
  const unit = high - low > MINUTE_MS ? MINUTE_MS : 1;
  const width = Math.ceil((high - low) / (STEPS * unit)) * unit;
  const cuts = [low];
  for (let at = Math.floor(low / unit) * unit + width; at < high; at += width) cuts.push(at);
  cuts.push(high);
  return Float64Array.from(cuts);
}
