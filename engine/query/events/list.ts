import { EngineError } from '../../base/errors.ts';
import { Pace, type Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import {
  addRow,
  allRows,
  type Bitmap,
  countRows,
  dropRow,
  hasRow,
  isEmpty,
  nextRow,
  noRows,
  previousRow,
} from '../model/bitmap.ts';
import { bytesOfCharacters, checkCharacters } from '../model/budget.ts';
import {
  compareEvents,
  type EventKey,
  keyAfter,
  keyBefore,
  SEQUENCE_MAX,
  WRITER_MAX,
} from '../model/event-id.ts';
import type {
  ListedEvent,
  ListQuery,
  ListResult,
  PageQuery,
  PageResult,
  QueryStats,
  Snapshot,
} from '../model/query.ts';
import {
  type BlockSource,
  dropBefore,
  firstAt,
  isDamage,
  noStats,
  overlaps,
  type Progress,
  type Reach,
  rowsFromTo,
} from '../model/source.ts';
import { following, type PartsProgress, telling } from '../model/units.ts';
import { withinBound } from '../scan/bound.ts';
import { PredicateRows } from '../scan/predicate-rows.ts';
import { EventBuilder } from './event.ts';
import { orderedListUnits } from './ordered-list.ts';
import { Top, type TopEntry } from './top.ts';
import { totalUnits } from './total.ts';

/** Events of a block that are rebuilt in a unit, and characters after which it ends early. */
const UNIT_EVENTS = 32;
const UNIT_TEXT = 64 * 1024;
/** Events that are rebuilt at once for a page whose text is bounded. */
const SLICE_EVENTS = 256;
/** Characters after which such a slice ends early: events may be large. */
const SLICE_TEXT_MAX = 1024 * 1024;

/** What a list may take before it ends early. */
type Budget = Pick<PageQuery, 'textMax' | 'blocksMax'>;
const NO_BUDGET: Budget = { textMax: Infinity, blocksMax: Infinity };

/** The key before which no row of a block comes. */
function firstKey(ref: BlockRef): EventKey {
  return { timeMs: ref.minTimeMs, writer: ref.writer, sequence: ref.firstSequence };
}

/** The key after which no row of a block comes. */
function lastKey(ref: BlockRef): EventKey {
  if (ref.sealed) return { timeMs: ref.maxTimeMs, writer: WRITER_MAX, sequence: SEQUENCE_MAX };
  return { timeMs: ref.maxTimeMs, writer: ref.writer, sequence: ref.endSequence - 1 };
}

/** A list query at work. Times are in order in sealed blocks only, and blocks overlap. */
class Listing {
  readonly stats: QueryStats;
  /** Id after which the next page begins; `undefined` when nothing is left. */
  resume: string | undefined;
  readonly #source: BlockSource;
  readonly #query: ListQuery & Reach;
  readonly #budget: Budget;
  readonly #selected: PredicateRows;
  readonly #after: EventKey | undefined;
  /** Blocks that may have rows of the page, the one that may have the first of them first. */
  readonly #refs: BlockRef[];
  readonly #damaged = new Set<BlockRef>();
  /** Where the scan ended early: it found all events up to here, in the order that is asked for. */
  #end: EventKey | undefined;
  #unitsDone = 0;
  #unitsTotal: number;

  constructor(source: BlockSource, snapshot: Snapshot, query: ListQuery & Reach, budget: Budget) {
    const { fromMs, toMs, after } = query;
    this.#source = source;
    this.#query = query;
    this.#budget = budget;
    this.#selected = new PredicateRows(source, query.predicate);
    this.#after = after === undefined ? undefined : keyOfId(source, after);
    this.stats = noStats(snapshot.blocks.length);
    this.#refs = snapshot.blocks
      .filter((ref) => overlaps(ref, fromMs, toMs) && this.#reachesPage(ref))
      .map((ref) => ({ ref, best: this.#bestKey(ref) }))
      .sort((a, b) => this.#compare(a.best, b.best))
      .map(({ ref }) => ref);
    this.#unitsTotal = this.#refs.length;
  }

  *run(): Generator<Progress, ListedEvent[]> {
    for (;;) {
      const damagedBefore = this.#damaged.size;
      const entries = yield* this.#scan();
      const events = yield* this.#rebuildAll(entries);
      // A block that turns out damaged when its rows are rebuilt leaves room for rows of others.
      if (this.#damaged.size === damagedBefore || events.length === entries.length) {
        this.stats.blocksDamaged = this.#damaged.size;
        this.resume = this.#resumeAfter(entries.length, events);
        return events;
      }
    }
  }

  #resumeAfter(foundCount: number, events: readonly ListedEvent[]): string | undefined {
    const { limit } = this.#query;
    // Behind a full page, and behind one whose text is, even the events before `#end` are not all there.
    if (foundCount >= limit || events.length < foundCount) return events.at(-1)?.id;
    return this.#end === undefined ? undefined : this.#source.ids.encode(this.#end);
  }

  /** Names of the blocks that were found damaged: the same ones in every snapshot that has them. */
  damagedNames(): string[] {
    return Array.from(this.#damaged, ({ segment, ordinal }) => `${segment}/${ordinal}`);
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
    this.#end = undefined;
    let scannedCount = 0;
    for (const [number, ref] of this.#refs.entries()) {
      const { timeMs, writer, sequence } = this.#bestKey(ref);
      if (!top.admits(timeMs, writer, sequence)) break;
      if (scannedCount >= this.#budget.blocksMax && this.#endBefore(this.#bestKey(ref))) break;
      if (this.#damaged.has(ref) || !this.#selected.mayHave(ref)) continue;
      yield* this.#attempt(ref, this.#scanBlock(ref, number, top));
      scannedCount++;
      yield this.#progress();
    }
    const end = this.#end;
    const pageCount = Math.min(Math.max(top.count - skip, 0), limit);
    const entries = yield* telling(() => this.#soFar(), top.takeLast(pageCount));
    return end === undefined ? entries : entries.filter((key) => this.#compare(key, end) <= 0);
  }

  /** Ends right before `key`; false when that would not be behind `after`, so that nothing was gained. */
  #endBefore(key: EventKey): boolean {
    const end = this.#query.order === 'asc' ? keyBefore(key) : keyAfter(key);
    if (this.#after !== undefined && this.#compare(end, this.#after) <= 0) return false;
    this.#end = end;
    return true;
  }

  *#scanBlock(ref: BlockRef, number: number, top: Top): Units<void> {
    const block = this.#source.open(ref);
    const { sealed } = ref;
    const rows = yield* this.#selected.among(block, this.#candidates(block, top));
    this.stats.blocksOpened++;
    this.stats.rowsScanned += block.rowCount;
    if (isEmpty(rows)) return;
    const { limit, skip = 0, order } = this.#query;
    // Of rows in order no more are looked at than the page has.
    const selectedCount = countRows(rows);
    const keys = block.keysOf(sealed ? Math.min(selectedCount, skip + limit) : selectedCount);
    const offered = (row: number): boolean =>
      top.offer(keys.timeAt(row), keys.writerAt(row), keys.sequenceAt(row), number, row);
    const pace = new Pace();
    if (order === 'asc') {
      for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
        if (!offered(row) && sealed) return;
        if (pace.isFull(1)) yield;
      }
      return;
    }
    const last = block.rowCount - 1;
    for (let row = previousRow(rows, last); row >= 0; row = previousRow(rows, row - 1)) {
      if (!offered(row) && sealed) return;
      if (pace.isFull(1)) yield;
    }
  }

  /** The rows that are reached, after `after`, and not behind a full page. Of a block that is reached whole nothing is read. */
  #candidates(block: Block, top: Top): Bitmap {
    const { fromMs, toMs, order, floor } = this.#query;
    const after = this.#after;
    const ascending = order === 'asc';
    const begin = (ascending ? after?.timeMs : top.lastTimeMs) ?? Number.NEGATIVE_INFINITY;
    const end = (ascending ? top.lastTimeMs : after?.timeMs) ?? Number.POSITIVE_INFINITY;
    const least = Math.max(fromMs, begin);
    const { minTimeMs, maxTimeMs } = block.ref;
    const isWhole = minTimeMs >= least && maxTimeMs <= end && maxTimeMs < toMs;
    const rows = isWhole ? allRows(block.rowCount) : rowsBetween(block, least, end, toMs);
    if (floor !== undefined) dropBefore(rows, block, floor);
    if (after === undefined || after.timeMs < minTimeMs || after.timeMs > maxTimeMs) return rows;
    const times = block.timeMs();
    const { writers, sequences } = block.keys();
    for (let row = 0; row < times.length; row++) {
      if (times[row] !== after.timeMs || !hasRow(rows, row)) continue;
      const key = { timeMs: times[row], writer: writers[row], sequence: sequences[row] };
      if (this.#compare(key, after) <= 0) dropRow(rows, row);
    }
    return rows;
  }

  /** Rebuilds the events of the page, in slices when its text is bounded. */
  *#rebuildAll(entries: TopEntry[]): Generator<Progress, ListedEvent[]> {
    const { textMax } = this.#budget;
    if (textMax === Infinity) return yield* this.#rebuild(entries, Infinity);
    const events: ListedEvent[] = [];
    let text = 0;
    for (let from = 0; from < entries.length; from += SLICE_EVENTS) {
      const slice = entries.slice(from, from + SLICE_EVENTS);
      const damagedBefore = this.#damaged.size;
      const built = yield* this.#rebuild(slice, SLICE_TEXT_MAX);
      events.push(...built);
      for (const event of built) text += textOf(event);
      const isShort = built.length < slice.length && this.#damaged.size === damagedBefore;
      if (isShort || text >= textMax) break;
    }
    return events;
  }

  /**
   * Rebuilds events block by block; those of a block that turns out damaged are left out. With more than `textMax`
   * characters it ends with the events, one at least, before which none is missing.
   */
  *#rebuild(entries: TopEntry[], textMax: number): Generator<Progress, ListedEvent[]> {
    const events = new Array<ListedEvent | undefined>(entries.length).fill(undefined);
    const places = new Map<number, number[]>();
    for (const [place, { block }] of entries.entries()) {
      const known = places.get(block);
      if (known === undefined) places.set(block, [place]);
      else known.push(place);
    }
    for (const { length } of places.values()) this.#unitsTotal += Math.ceil(length / UNIT_EVENTS);
    let text = 0;
    for (const [number, wanted] of places) {
      const ref = this.#refs[number];
      let builder: EventBuilder | undefined;
      for (let next = 0; next < wanted.length && text < textMax && !this.#damaged.has(ref); ) {
        const unitEnd = Math.min(next + UNIT_EVENTS, wanted.length);
        const unitTextEnd = Math.min(text + UNIT_TEXT, textMax);
        builder ??= yield* this.#attempt(ref, this.#builderOf(ref, wanted, entries));
        try {
          for (; builder !== undefined && next < unitEnd && text < unitTextEnd; next++) {
            const place = wanted[next];
            const event = builder.build(entries[place].row);
            events[place] = event;
            text += textOf(event);
            if (textMax === Infinity) checkCharacters(this.#source, text);
          }
        } catch (error) {
          this.#noteDamage(ref, error);
        }
        yield { ...this.#progress(), heldBytes: bytesOfCharacters(text) };
      }
    }
    if (text < textMax) return events.filter((event) => event !== undefined);
    const missing = events.findIndex(
      (event, place) => event === undefined && !this.#damaged.has(this.#refs[entries[place].block]),
    );
    const kept = missing < 0 ? events : events.slice(0, missing);
    return kept.filter((event) => event !== undefined);
  }

  /** What rebuilds the rows of a block that `wanted` entries have. Throws CORRUPTION. */
  *#builderOf(
    ref: BlockRef,
    wanted: readonly number[],
    entries: readonly TopEntry[],
  ): Units<EventBuilder> {
    const rows = wanted.map((place) => entries[place].row);
    const block = this.#source.open(ref);
    return yield* EventBuilder.open(block, this.#source.ids, this.#query, rows);
  }

  /** Does something with a block; notes when it is damaged, and gives `undefined`. */
  *#attempt<T>(ref: BlockRef, units: Units<T>): Generator<Progress, T | undefined> {
    try {
      return yield* telling(() => this.#soFar(), units);
    } catch (error) {
      this.#noteDamage(ref, error);
      return undefined;
    }
  }

  #noteDamage(ref: BlockRef, error: unknown): void {
    if (!isDamage(error)) throw error;
    this.#damaged.add(ref);
  }

  #progress(): Progress {
    this.#unitsDone++;
    this.#unitsTotal = Math.max(this.#unitsTotal, this.#unitsDone);
    return this.#soFar();
  }

  #soFar(): Progress {
    return { unitsDone: this.#unitsDone, unitsTotal: this.#unitsTotal };
  }
}

/** The key that an id is of. Throws USAGE when it is none. */
function keyOfId({ ids }: BlockSource, id: string): EventKey {
  const key = ids.decode(id);
  if (key === undefined) throw new EngineError('USAGE', `"${id}" is not the id of an event`);
  return key;
}

/** Characters of an event, about. */
function textOf({ event = '', columns }: ListedEvent): number {
  return columns.reduce((sum, column) => sum + column.length, event.length);
}

/** The rows with `begin <= time <= end` and `time < toMs`. */
function rowsBetween(block: Block, begin: number, end: number, toMs: number): Bitmap {
  const times = block.timeMs();
  if (block.ref.sealed) return sortedRowsBetween(times, begin, end, toMs);
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
 * have a row of it; then the rows of the page are rebuilt. A list that is ordered by an attribute visits all blocks.
 * Damaged blocks are left out and counted. Throws USAGE when `after` is not an event id, and what the source throws but CORRUPTION.
 */
export function* listUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: ListQuery,
): Generator<Progress, ListResult> {
  return yield* withinBound(source, snapshot, query, function* (reached) {
    const { orderBy } = reached;
    if (orderBy !== undefined) {
      return yield* orderedListUnits(source, snapshot, { ...reached, orderBy });
    }
    const parts: PartsProgress = { unitsDone: 0 };
    const listing = new Listing(source, snapshot, reached, NO_BUDGET);
    const events = yield* following(parts, listing.run());
    const { stats } = listing;
    if (query.total !== true) return { events, stats };
    const counted = yield* following(parts, totalUnits(source, snapshot, reached));
    return { events, total: counted.total, stats: summed(stats, counted.stats) };
  });
}

/** What two parts of a query did over the same blocks. */
function summed(left: QueryStats, right: QueryStats): QueryStats {
  return {
    blocksTotal: left.blocksTotal,
    blocksOpened: left.blocksOpened + right.blocksOpened,
    rowsScanned: left.rowsScanned + right.rowsScanned,
    blocksDamaged: Math.max(left.blocksDamaged, right.blocksDamaged),
  };
}

/**
 * Lists events as `listUnits` does, and ends early when it has opened `blocksMax` blocks or has `textMax` characters: so a
 * page takes a bounded time and memory, whatever is asked for. It may have no event and still not be the last.
 * Throws USAGE when `oldestId` is not such an id either.
 */
export function* pageUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: PageQuery,
): Generator<Progress, PageResult> {
  if (query.oldestId === undefined) {
    return yield* withinBound(source, snapshot, query, (reached) =>
      reachedPage(source, snapshot, reached),
    );
  }
  const floor = keyOfId(source, query.oldestId);
  if (floor.timeMs < query.fromMs) return yield* reachedPage(source, snapshot, query);
  return yield* reachedPage(source, snapshot, { ...query, fromMs: floor.timeMs, floor });
}

/** A page of what is reached. */
function* reachedPage(
  source: BlockSource,
  snapshot: Snapshot,
  query: PageQuery & Reach,
): Generator<Progress, PageResult> {
  const listing = new Listing(source, snapshot, query, query);
  const events = yield* listing.run();
  const { resume, stats } = listing;
  const next = resume === undefined ? {} : { resume };
  return { events, ...next, damaged: listing.damagedNames(), stats };
}
