import { EngineError } from '../base/errors.ts';
import type { Block } from '../segment/block.ts';
import type { BlockRef } from '../segment/frame.ts';
import { addRow, type Bitmap, dropRow, hasRow, nextRow, noRows, previousRow } from './bitmap.ts';
import { EventBuilder } from './event.ts';
import { compareEvents, decodeEventId, type EventKey } from './event-id.ts';
import { type Plan, planOf } from './plan.ts';
import { mayHaveRows } from './prune.ts';
import type { ListedEvent, ListQuery, ListResult, QueryStats, Snapshot } from './query.ts';
import { rowsWhere } from './scan.ts';
import {
  type BlockSource,
  firstAt,
  isDamage,
  noStats,
  overlaps,
  type Progress,
  rowsFromTo,
} from './source.ts';
import { Top, type TopEntry } from './top.ts';

/** Greatest writer and sequence: FORMAT.md 8. */
const WRITER_MAX = 255;
const SEQUENCE_MAX = 2 ** 48 - 1;

/** The key before which no row of a block comes. */
function firstKey(ref: BlockRef): EventKey {
  return { timeMs: ref.minTimeMs, writer: ref.writer, sequence: ref.firstSequence };
}

/** The key after which no row of a block comes. */
function lastKey(ref: BlockRef): EventKey {
  if (ref.sealed) return { timeMs: ref.maxTimeMs, writer: WRITER_MAX, sequence: SEQUENCE_MAX };
  const sequence = ref.firstSequence + ref.rowCount - 1;
  return { timeMs: ref.maxTimeMs, writer: ref.writer, sequence };
}

/** A list query at work. Times are in order in sealed blocks only, and blocks overlap. */
class Listing {
  readonly stats: QueryStats;
  readonly #source: BlockSource;
  readonly #query: ListQuery;
  readonly #plan: Plan;
  readonly #after: EventKey | undefined;
  /** Blocks that may have rows of the page, the one that may have the first of them first. */
  readonly #refs: BlockRef[];
  readonly #damaged = new Set<BlockRef>();
  #unitsDone = 0;
  #unitsTotal: number;

  constructor(source: BlockSource, snapshot: Snapshot, query: ListQuery) {
    const { fromMs, toMs, after } = query;
    this.#source = source;
    this.#query = query;
    this.#plan = planOf(query.predicate);
    this.#after = after === undefined ? undefined : decodeEventId(source.secret, after);
    if (after !== undefined && this.#after === undefined) {
      throw new EngineError('USAGE', `"${after}" is not the id of an event`);
    }
    this.stats = noStats(snapshot.blocks.length);
    this.#refs = snapshot.blocks
      .filter((ref) => overlaps(ref, fromMs, toMs) && this.#reachesPage(ref))
      .sort((a, b) => this.#compare(this.#bestKey(a), this.#bestKey(b)));
    this.#unitsTotal = this.#refs.length;
  }

  *run(): Generator<Progress, ListedEvent[]> {
    for (;;) {
      const damagedBefore = this.#damaged.size;
      const entries = yield* this.#scan();
      const events = yield* this.#rebuild(entries);
      // A block that turns out damaged when its rows are rebuilt leaves room for rows of others.
      if (this.#damaged.size === damagedBefore || events.length === entries.length) {
        this.stats.blocksDamaged = this.#damaged.size;
        return events;
      }
    }
  }

  /** Negative when `left` comes first in the order that is asked for. */
  #compare(left: EventKey, right: EventKey): number {
    const order = compareEvents(left, right);
    return this.#query.order === 'asc' ? order : -order;
  }

  /** The key before which no row of a block comes in the order that is asked for. */
  #bestKey(ref: BlockRef): EventKey {
    return this.#query.order === 'asc' ? firstKey(ref) : lastKey(ref);
  }

  /** Whether a block may have rows after `after`. */
  #reachesPage(ref: BlockRef): boolean {
    if (this.#after === undefined) return true;
    const worst = this.#query.order === 'asc' ? lastKey(ref) : firstKey(ref);
    return this.#compare(worst, this.#after) > 0;
  }

  /** Finds the rows of the page. */
  *#scan(): Generator<Progress, TopEntry[]> {
    const { limit, skip = 0, order } = this.#query;
    const top = new Top(skip + limit, order);
    for (const [number, ref] of this.#refs.entries()) {
      const { timeMs, writer, sequence } = this.#bestKey(ref);
      if (!top.admits(timeMs, writer, sequence)) break;
      if (this.#damaged.has(ref) || !mayHaveRows(this.#source, ref, this.#plan)) continue;
      this.#attempt(ref, () => this.#scanBlock(this.#source.open(ref), number, top));
      yield this.#progress();
    }
    return top.entries().slice(skip);
  }

  #scanBlock(block: Block, number: number, top: Top): void {
    const { sealed } = block.ref;
    const { writers, sequences } = block.keys();
    const times = block.timeMs();
    const rows = rowsWhere(this.#plan, block, this.#candidates(block, times, top));
    this.stats.blocksOpened++;
    this.stats.rowsScanned += block.rowCount;
    if (this.#query.order === 'asc') {
      for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
        if (sealed && !top.admits(times[row], writers[row], sequences[row])) return;
        top.offer(times[row], writers[row], sequences[row], number, row);
      }
      return;
    }
    const last = block.rowCount - 1;
    for (let row = previousRow(rows, last); row >= 0; row = previousRow(rows, row - 1)) {
      if (sealed && !top.admits(times[row], writers[row], sequences[row])) return;
      top.offer(times[row], writers[row], sequences[row], number, row);
    }
  }

  /** The rows that are in the time range, after `after`, and not behind a full page. */
  #candidates(block: Block, times: Float64Array, top: Top): Bitmap {
    const { fromMs, toMs, order } = this.#query;
    const after = this.#after;
    const ascending = order === 'asc';
    const begin = (ascending ? after?.timeMs : top.lastTimeMs) ?? Number.NEGATIVE_INFINITY;
    const end = (ascending ? top.lastTimeMs : after?.timeMs) ?? Number.POSITIVE_INFINITY;
    const least = Math.max(fromMs, begin);
    const rows = block.ref.sealed
      ? sortedRowsBetween(times, least, end, toMs)
      : rowsBetween(times, least, end, toMs);
    if (after === undefined) return rows;
    const { writers, sequences } = block.keys();
    for (let row = 0; row < times.length; row++) {
      if (times[row] !== after.timeMs || !hasRow(rows, row)) continue;
      const key = { timeMs: times[row], writer: writers[row], sequence: sequences[row] };
      if (this.#compare(key, after) <= 0) dropRow(rows, row);
    }
    return rows;
  }

  /** Rebuilds the events of the page, block by block; those of a block that turns out damaged are left out. */
  *#rebuild(entries: TopEntry[]): Generator<Progress, ListedEvent[]> {
    const events = new Array<ListedEvent | undefined>(entries.length).fill(undefined);
    const places = new Map<number, number[]>();
    for (const [place, { block }] of entries.entries()) {
      const known = places.get(block);
      if (known === undefined) places.set(block, [place]);
      else known.push(place);
    }
    this.#unitsTotal += places.size;
    for (const [number, wanted] of places) {
      const ref = this.#refs[number];
      this.#attempt(ref, () => {
        const block = this.#source.open(ref);
        const rows = wanted.map((place) => entries[place].row);
        const builder = new EventBuilder(block, this.#source.secret, this.#query, rows);
        for (const place of wanted) events[place] = builder.build(entries[place].row);
      });
      yield this.#progress();
    }
    return events.filter((event) => event !== undefined);
  }

  /** Does something with a block; notes when it is damaged. */
  #attempt(ref: BlockRef, use: () => void): void {
    try {
      use();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#damaged.add(ref);
    }
  }

  #progress(): Progress {
    this.#unitsDone++;
    this.#unitsTotal = Math.max(this.#unitsTotal, this.#unitsDone);
    return { unitsDone: this.#unitsDone, unitsTotal: this.#unitsTotal };
  }
}

/** The rows with `begin <= time <= end` and `time < toMs`. */
function rowsBetween(times: Float64Array, begin: number, end: number, toMs: number): Bitmap {
  const rows = noRows(times.length);
  for (let row = 0; row < times.length; row++) {
    const time = times[row];
    if (time >= begin && time <= end && time < toMs) addRow(rows, row);
  }
  return rows;
}

/** The same of ascending times. */
function sortedRowsBetween(times: Float64Array, begin: number, end: number, toMs: number): Bitmap {
  const from = firstAt(times, begin);
  let to = firstAt(times, Math.min(end, toMs));
  while (to < times.length && times[to] <= end && times[to] < toMs) to++;
  return rowsFromTo(times.length, from, to);
}

/**
 * Lists a page of the selected events, a block a unit: blocks in the order of the page, until none that is left can
 * have a row of it; then the rows of the page are rebuilt. Damaged blocks are left out and counted.
 * Throws USAGE when `after` is not an event id, and what the source throws but CORRUPTION.
 */
export function* listUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: ListQuery,
): Generator<Progress, ListResult> {
  const listing = new Listing(source, snapshot, query);
  const events = yield* listing.run();
  return { events, stats: listing.stats };
}
