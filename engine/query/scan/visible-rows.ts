import { MINUTE_MS } from '../../base/durations.ts';
import type { Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { type Plan, planOf } from '../filter/plan.ts';
import { allRows, type Bitmap, nextRow } from '../model/bitmap.ts';
import { FilterCache, filterName, type VisibleMinutes } from '../model/filter-cache.ts';
import type { Predicate } from '../model/predicate.ts';
import {
  type BlockSource,
  firstAt,
  isDamage,
  overlaps,
  type Progress,
  rowsInRange,
} from '../model/source.ts';
import { telling } from '../model/units.ts';
import type { CountedRows } from './counted-rows.ts';
import { mayHaveRows } from './prune.ts';
import { stepOf } from './row-counts.ts';
import { rowsWhere } from './scan.ts';

/**
 * The rows that a filter lets through. Each block is scanned for them once, as long as the source's cache keeps what
 * was found; then only blocks in which a cut lies inside a minute that has such rows. Rows that cannot be read are none
 * of them.
 */
export class VisibleRows implements CountedRows {
  readonly plan: Plan;
  readonly #source: BlockSource;
  /** The filter's name in the cache. */
  readonly #name: string;
  readonly #cache: FilterCache<VisibleMinutes>;
  readonly #rowsOf = new Map<BlockRef, number>();

  constructor(source: BlockSource, filter: Predicate) {
    this.#source = source;
    this.plan = planOf(filter);
    this.#name = filterName(filter);
    this.#cache = source.visible ?? new FilterCache(Infinity);
  }

  *learn(ref: BlockRef): Units<void> {
    try {
      const { rowCount } = yield* this.#minutesOf(ref);
      this.#rowsOf.set(ref, rowCount);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }

  rowsOf(ref: BlockRef): number {
    return this.#rowsOf.get(ref) ?? 0;
  }

  *between(refs: readonly BlockRef[], cuts: Float64Array): Generator<Progress, Float64Array> {
    const counts = new Float64Array(cuts.length);
    const last = cuts[cuts.length - 1];
    const within = refs.filter((ref) => this.rowsOf(ref) > 0 && overlaps(ref, cuts[0], last));
    for (const [unitsDone, ref] of within.entries()) {
      const step = stepOf(cuts, ref.minTimeMs);
      if (step >= 0 && ref.maxTimeMs < cuts[step + 1]) {
        counts[step] += this.rowsOf(ref);
        continue;
      }
      const unitsTotal = within.length;
      yield* telling(() => ({ unitsDone, unitsTotal }), this.#add(ref, cuts, counts));
      yield { unitsDone: unitsDone + 1, unitsTotal };
    }
    return counts;
  }

  /** Adds the rows of a block between cuts; a damaged one has none. */
  *#add(ref: BlockRef, cuts: Float64Array, counts: Float64Array): Units<void> {
    const first = Math.max(stepOf(cuts, ref.minTimeMs), 0);
    const rows: number[] = [];
    try {
      const visible = yield* this.#minutesOf(ref);
      const before = new RowsBefore(visible, (minute) => this.#timesIn(ref, minute));
      for (let cut = first; cut < cuts.length; cut++) {
        rows.push(yield* before.rowsBefore(cuts[cut]));
        if (cuts[cut] > ref.maxTimeMs) break;
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      return;
    }
    for (let at = 1; at < rows.length; at++) counts[first + at - 1] += rows[at] - rows[at - 1];
  }

  /** The rows of a block by minute. Throws CORRUPTION. */
  *#minutesOf(ref: BlockRef): Units<VisibleMinutes> {
    const known = this.#cache.get(this.#name, ref);
    if (known !== undefined) return known;
    let times = new Float64Array(0);
    if (mayHaveRows(this.#source, ref, this.plan)) {
      const block = this.#source.open(ref);
      times = timesOf(block, yield* rowsWhere(this.plan, block, allRows(ref.rowCount)));
      yield;
    }
    const found = minutesOf(times);
    const { minutes, rowsBefore } = found;
    this.#cache.keep(this.#name, ref, found, minutes.byteLength + rowsBefore.byteLength);
    return found;
  }

  /** The times of the rows in a minute, ascending. Throws CORRUPTION. */
  *#timesIn(ref: BlockRef, minute: number): Units<Float64Array<ArrayBuffer>> {
    const block = this.#source.open(ref);
    const inside = rowsInRange(block, minute * MINUTE_MS, (minute + 1) * MINUTE_MS);
    const times = timesOf(block, yield* rowsWhere(this.plan, block, inside));
    yield;
    return times.sort();
  }
}

/** Tells how many rows of a block come before a time: by its minutes, inside a minute by their times. */
class RowsBefore {
  readonly #visible: VisibleMinutes;
  readonly #timesIn: (minute: number) => Units<Float64Array<ArrayBuffer>>;
  /** That whose times were read last. */
  #minute = Number.NaN;
  #times = new Float64Array(0);

  constructor(
    visible: VisibleMinutes,
    timesIn: (minute: number) => Units<Float64Array<ArrayBuffer>>,
  ) {
    this.#visible = visible;
    this.#timesIn = timesIn;
  }

  *rowsBefore(timeMs: number): Units<number> {
    const { minutes, rowsBefore } = this.#visible;
    const minute = Math.floor(timeMs / MINUTE_MS);
    const place = firstAt(minutes, minute);
    const before = rowsBefore[place];
    if (timeMs === minute * MINUTE_MS || minutes[place] !== minute) return before;
    if (this.#minute !== minute) {
      this.#times = yield* this.#timesIn(minute);
      this.#minute = minute;
    }
    return before + firstAt(this.#times, timeMs);
  }
}

/** The times of `rows`. Throws CORRUPTION. */
function timesOf(block: Block, rows: Bitmap): Float64Array<ArrayBuffer> {
  const all = block.timeMs();
  const times: number[] = [];
  for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) times.push(all[row]);
  return Float64Array.from(times);
}

/** How many of these times each minute has. */
function minutesOf(times: Float64Array): VisibleMinutes {
  const countOf = new Map<number, number>();
  for (const timeMs of times) {
    const minute = Math.floor(timeMs / MINUTE_MS);
    countOf.set(minute, (countOf.get(minute) ?? 0) + 1);
  }
  const minutes = Float64Array.from(countOf.keys()).sort();
  const rowsBefore = new Uint32Array(minutes.length + 1);
  for (const [place, minute] of minutes.entries()) {
    rowsBefore[place + 1] = rowsBefore[place] + (countOf.get(minute) ?? 0);
  }
  return { rowCount: times.length, minutes, rowsBefore };
}
