import type { BlockRef } from '../segment/frame.ts';
import type { RowKeys } from '../segment/row-keys.ts';
import { type Bitmap, nextRow } from './bitmap.ts';
import { type EventKey, SEQUENCE_MAX, WRITER_MAX } from './event-id.ts';
import type { Bound, Selection, Snapshot } from './query.ts';
import { RowCounts, stepOf } from './row-counts.ts';
import {
  type BlockSource,
  isDamage,
  isInside,
  overlaps,
  type Progress,
  type Reach,
  rowsInRange,
} from './source.ts';
import { following, type PartsProgress } from './units.ts';

const MINUTE_MS = 60_000;
/** Parts into which what is left of the times, or sequences, is cut to find the one that has the event. */
const STEPS = 256;
const WRITERS = WRITER_MAX + 1;

/** The key of the oldest event that is reached. It need not be that of an event when blocks are damaged. */
export interface Floor extends EventKey {
  /** Events of the same time that come before it. */
  tiedCount: number;
}

/** What of a range is reached, and what is to be told of it. */
interface BoundReach extends Reach {
  floor?: Floor;
  bound?: Bound;
}

/**
 * Finds what is reached of the range of a selection with `boundCount`: exactly so many events, the newest ones in the order
 * of all events. The refs say where about the oldest of them is, the minutes of sealed segments say it better, and only
 * the blocks there are opened, again and again until it is found: memory does not grow with their number. The rows of a
 * block that cannot be read count, as the newest that they may be. Throws what the source throws but CORRUPTION.
 * Source: decisions.md 5.6.
 */
function* boundUnits(
  source: BlockSource,
  snapshot: Snapshot,
  { fromMs, toMs, boundCount }: Selection,
): Generator<Progress, BoundReach> {
  const whole: BoundReach = { fromMs, toMs };
  if (boundCount === undefined) return whole;
  // Dates of events are whole.
  const search = new FloorSearch(source, snapshot, Math.ceil(fromMs), Math.ceil(toMs), boundCount);
  const floor = yield* search.run();
  if (floor === undefined) return whole;
  const { timeMs } = floor;
  const oldestId = source.ids.encode(floor);
  return { fromMs: timeMs, toMs, floor, bound: { limit: boundCount, oldestMs: timeMs, oldestId } };
}

/**
 * Runs a query of what is reached of the range of `query`: `units` makes its units. The result says when that is not all.
 * Throws as `boundUnits`, and what `units` throw.
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

/** Looks for the oldest of the newest events of a range, so many of them. */
class FloorSearch {
  readonly #source: BlockSource;
  readonly #refs: readonly BlockRef[];
  readonly #fromMs: number;
  readonly #toMs: number;
  readonly #count: number;
  readonly #parts: PartsProgress = { unitsDone: 0 };

  constructor(
    source: BlockSource,
    { blocks }: Snapshot,
    fromMs: number,
    toMs: number,
    count: number,
  ) {
    this.#source = source;
    this.#refs = fromMs < toMs ? blocks.filter((ref) => overlaps(ref, fromMs, toMs)) : [];
    this.#fromMs = fromMs;
    this.#toMs = toMs;
    this.#count = count;
  }

  /** The key of that event; `undefined` when no event of the range comes before it. */
  *run(): Generator<Progress, Floor | undefined> {
    const rowCount = this.#refs.reduce((sum, ref) => sum + ref.rowCount, 0);
    if (rowCount <= this.#count) return undefined;
    let { low, high } = this.#window();
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
    const isFirst = floor.tiedCount === 0 && !(yield* this.#hasRowsBefore(low));
    return isFirst ? undefined : floor;
  }

  /** The times between which that event is, `low <= date < high`, as far as the refs tell. */
  #window(): { low: number; high: number } {
    const [fromMs, toMs] = [this.#fromMs, this.#toMs];
    const inside = this.#refs.filter((ref) => isInside(ref, fromMs, toMs));
    // At or after the one time there are enough rows for certain, after the other one too few, whatever is in the blocks.
    inside.sort((a, b) => b.minTimeMs - a.minTimeMs);
    const certain = this.#refWithLast(inside)?.minTimeMs ?? fromMs;
    const byLast = this.#refs.toSorted((a, b) => b.maxTimeMs - a.maxTimeMs);
    const possible = this.#refWithLast(byLast)?.maxTimeMs ?? toMs;
    const least = this.#refs.reduce((min, ref) => Math.min(min, ref.minTimeMs), toMs);
    const low = Math.floor(certain / MINUTE_MS) * MINUTE_MS;
    const high = Math.floor(possible / MINUTE_MS + 1) * MINUTE_MS;
    return { low: Math.max(low, least, fromMs), high: Math.min(high, toMs) };
  }

  /** The first of the blocks that have enough rows together with those before it. */
  #refWithLast(refs: readonly BlockRef[]): BlockRef | undefined {
    let left = this.#count;
    return refs.find((ref) => {
      left -= ref.rowCount;
      return left <= 0;
    });
  }

  *#hasRowsBefore(timeMs: number): Generator<Progress, boolean> {
    const fromMs = this.#fromMs;
    if (this.#refs.some((ref) => ref.minTimeMs >= fromMs && ref.minTimeMs < timeMs)) return true;
    return (yield* this.#countBetween(fromMs, timeMs)) > 0;
  }

  *#countBetween(fromMs: number, toMs: number): Generator<Progress, number> {
    if (fromMs >= toMs) return 0;
    const [count] = yield* this.#countRows(Float64Array.of(fromMs, toMs));
    return count;
  }

  /** The rows between neighbouring cuts. */
  *#countRows(cuts: Float64Array): Generator<Progress, Float64Array> {
    const rows = new RowCounts(this.#source, this.#refs, cuts);
    yield* following(this.#parts, rows.run());
    const { counts, damaged } = rows;
    for (const ref of damaged) {
      const step = stepOf(cuts, Math.min(ref.maxTimeMs, this.#toMs - 1));
      if (step >= 0 && step < cuts.length - 1) counts[step] += ref.rowCount;
    }
    return counts;
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
      let step = STEPS - 1;
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
    const refs = this.#refs.filter((ref) => overlaps(ref, timeMs, timeMs + 1));
    for (const ref of refs) {
      try {
        const block = this.#source.open(ref);
        visitor.add(block.keys(), rowsInRange(block, timeMs, timeMs + 1));
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
      const unitsDone = ++this.#parts.unitsDone;
      yield { unitsDone, unitsTotal: unitsDone + refs.length };
    }
    return visitor;
  }
}

/** What is shown the rows of one time. */
interface TiedVisitor {
  add(keys: RowKeys, rows: Bitmap): void;
}

/** Counts rows, and tells their least and greatest sequence. */
class TiedRows implements TiedVisitor {
  count = 0;
  first = SEQUENCE_MAX;
  last = 0;

  add({ sequences }: RowKeys, rows: Bitmap): void {
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const sequence = sequences[row];
      this.count++;
      if (sequence < this.first) this.first = sequence;
      if (sequence > this.last) this.last = sequence;
    }
  }
}

/** Counts rows by their sequences, in steps of the same width from one to another. */
class TiedSequences implements TiedVisitor {
  readonly width: number;
  readonly counts = new Float64Array(STEPS);
  readonly #low: number;
  readonly #high: number;

  constructor(low: number, high: number) {
    this.width = Math.ceil((high - low) / STEPS);
    this.#low = low;
    this.#high = high;
  }

  add({ sequences }: RowKeys, rows: Bitmap): void {
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const sequence = sequences[row];
      if (sequence < this.#low || sequence >= this.#high) continue;
      this.counts[Math.floor((sequence - this.#low) / this.width)]++;
    }
  }
}

/** Counts the rows of one sequence by their writers. */
class TiedWriters implements TiedVisitor {
  readonly counts = new Float64Array(WRITERS);
  readonly #sequence: number;

  constructor(sequence: number) {
    this.#sequence = sequence;
  }

  add({ writers, sequences }: RowKeys, rows: Bitmap): void {
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      if (sequences[row] === this.#sequence) this.counts[writers[row]]++;
    }
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
