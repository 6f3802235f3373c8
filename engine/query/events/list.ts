import { EngineError } from '../../base/errors.ts';
import type { BlockRef } from '../../segment/frame.ts';
import type { Sharing } from '../group/shared-scan.ts';
import { bytesOfCharacters } from '../model/budget.ts';
import { type EventKey, keyAfter, keyBefore } from '../model/event-id.ts';
import type {
  ListedEvent,
  ListQuery,
  ListResult,
  PageQuery,
  PageResult,
  QueryStats,
  Snapshot,
} from '../model/query.ts';
import type { BlockSource, Progress, Reach } from '../model/source.ts';
import { following, type PartsProgress, telling } from '../model/units.ts';
import { withinBound } from '../scan/bound.ts';
import { PredicateRows } from '../scan/predicate-rows.ts';
import { textOf } from './event.ts';
import { NEAR_ROWS, withoutFarRows } from './far-page.ts';
import { FOUND_EVENTS_MAX, type FoundEvents } from './found-events.ts';
import { orderedListUnits } from './ordered-list.ts';
import { PageEvents } from './page-events.ts';
import { bestKey, compareIn, type RowQuery, RowSearch, refsOfPage } from './row-search.ts';
import type { TopEntry } from './top-k-heap.ts';
import { totalUnits } from './total.ts';

/** Events that are rebuilt at once for a page whose text is bounded. */
const SLICE_EVENTS = 256;
/** Characters after which such a slice ends early: events may be large. */
const SLICE_TEXT_MAX = 1024 * 1024;

/** Limits of a list, beyond which it ends early. */
type Budget = Pick<PageQuery, 'textMax' | 'blocksMax'>;
const NO_BUDGET: Budget = { textMax: Infinity, blocksMax: Infinity };

/** A list query at work. */
class Listing {
  /** Blocks that were read. */
  readonly opened = new Set<BlockRef>();
  /** Id after which the next page begins; `undefined` when nothing is left. */
  resume: string | undefined;
  readonly #blocksTotal: number;
  readonly #source: BlockSource;
  readonly #query: ListQuery & Reach;
  readonly #rowQuery: RowQuery;
  readonly #budget: Budget;
  readonly #sharing: Sharing | undefined;
  readonly #selected: PredicateRows;
  /** Blocks that may have rows of the page, the one that may have the first of them first. */
  readonly #refs: BlockRef[];
  readonly #damaged = new Set<BlockRef>();
  /** Events that were rebuilt as they were found. */
  #found: FoundEvents | undefined;
  /** Where the search ended early: it found all events up to here, in the order that is asked for. */
  #end: EventKey | undefined;
  #unitsDone = 0;
  #unitsTotal: number;

  /** With `sharing` other threads may join in its search. */
  constructor(
    source: BlockSource,
    snapshot: Snapshot,
    query: ListQuery & Reach,
    budget: Budget,
    sharing?: Sharing,
  ) {
    const { skip = 0, limit, after } = query;
    this.#source = source;
    this.#query = query;
    const areRebuilt = budget === NO_BUDGET && skip === 0 && limit <= FOUND_EVENTS_MAX;
    this.#rowQuery = {
      ...query,
      view: areRebuilt ? { event: query.event, columns: query.columns } : undefined,
      rowsMax: skip + limit,
      after: after === undefined ? undefined : keyOfId(source, after),
    };
    this.#budget = budget;
    this.#sharing = sharing;
    this.#selected = new PredicateRows(source, query.predicate);
    this.#blocksTotal = snapshot.blocks.length;
    this.#refs = refsOfPage(snapshot.blocks, this.#rowQuery);
    this.#unitsTotal = this.#refs.length;
  }

  *run(): Generator<Progress, ListedEvent[]> {
    for (;;) {
      const damagedBefore = this.#damaged.size;
      const entries = yield* this.#search();
      const events = yield* this.#rebuildAll(entries);
      // A block that turns out damaged when its rows are rebuilt leaves room for rows of others.
      if (this.#damaged.size === damagedBefore || events.length === entries.length) {
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

  get stats(): QueryStats {
    const blocksRefuted = this.#selected.refuted.size;
    return statsOf(this.#blocksTotal, this.opened, {
      blocksRefuted,
      blocksCounted: 0,
      blocksDamaged: this.#damaged.size,
    });
  }

  /** Names of the blocks that were found damaged: the same ones in every snapshot that has them. */
  damagedNames(): string[] {
    return Array.from(this.#damaged, ({ segment, ordinal }) => `${segment}/${ordinal}`);
  }

  /** Finds the rows of the page. */
  *#search(): Generator<Progress, TopEntry[]> {
    const { limit, skip = 0, order } = this.#query;
    const refs = this.#refs;
    this.#end = undefined;
    const search = new RowSearch(this.#source, refs, this.#rowQuery, this.#damaged, this.#selected);
    const { top, opened } = search;
    this.#found = search.events;
    const ends = (ref: BlockRef): boolean =>
      search.visitedCount >= this.#budget.blocksMax && this.#endBefore(bestKey(order, ref));
    const before = this.#unitsDone;
    const progress = (): Progress => {
      this.#unitsDone = before + opened.length;
      return this.#soFar();
    };
    yield* search.run(ends, progress, this.#damaged.size === 0 ? this.#sharing : undefined);
    for (const place of opened) this.opened.add(refs[place]);
    const pageCount = Math.min(Math.max(top.count - skip, 0), limit);
    const entries = yield* telling(progress, top.takeLast(pageCount));
    const end = this.#end;
    return end === undefined ? entries : entries.filter((key) => compareIn(order, key, end) <= 0);
  }

  /** Ends right before `key`; false when that would not be behind `after`, so that nothing was gained. */
  #endBefore(key: EventKey): boolean {
    const { order } = this.#query;
    const { after } = this.#rowQuery;
    const end = order === 'asc' ? keyBefore(key) : keyAfter(key);
    if (after !== undefined && compareIn(order, end, after) <= 0) return false;
    this.#end = end;
    return true;
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
   * Rebuilds events; those of blocks that turn out damaged are left out. With more than `textMax` characters it ends
   * with the events, one at least, before which none is missing.
   */
  *#rebuild(entries: TopEntry[], textMax: number): Generator<Progress, ListedEvent[]> {
    const [source, query, refs] = [this.#source, this.#query, this.#refs];
    const page = new PageEvents(source, query, refs, entries, this.#damaged, this.#found);
    this.#unitsTotal += page.chunkCount;
    const before = this.#unitsDone;
    const told = (chunks: number, characters: number): Progress => {
      this.#unitsDone = before + chunks;
      return { ...this.#soFar(), heldBytes: bytesOfCharacters(characters) };
    };
    return yield* page.run(textMax, told, this.#sharing);
  }

  #soFar(): Progress {
    this.#unitsTotal = Math.max(this.#unitsTotal, this.#unitsDone);
    return { unitsDone: this.#unitsDone, unitsTotal: this.#unitsTotal };
  }
}

/** The key that an id is of. Throws USAGE when it is none. */
function keyOfId({ ids }: BlockSource, id: string): EventKey {
  const key = ids.decode(id);
  if (key === undefined) throw new EngineError('USAGE', `"${id}" is not the id of an event`);
  return key;
}

/**
 * Lists a page of the selected events, a block a unit: blocks in the order of the page, until none that is left can
 * have a row of it; then the rows of the page are rebuilt. A list that is ordered by an attribute visits all blocks.
 * With `sharing` other threads may join. A page behind more than `nearRows` rows is found by counting them. Damaged
 * blocks are left out and counted. Throws USAGE when `after` is not an event id, and what the source throws but
 * CORRUPTION.
 */
export function* listUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: ListQuery,
  sharing?: Sharing,
  nearRows = NEAR_ROWS,
): Generator<Progress, ListResult> {
  return yield* withinBound(source, snapshot, query, function* (reached) {
    const { orderBy } = reached;
    if (orderBy !== undefined) {
      return yield* orderedListUnits(source, snapshot, { ...reached, orderBy }, sharing);
    }
    const parts: PartsProgress = { unitsDone: 0 };
    const asked = yield* following(
      parts,
      withoutFarRows(source, snapshot, reached, nearRows, sharing),
    );
    const listing = new Listing(source, snapshot, asked, NO_BUDGET, sharing);
    const events = yield* following(parts, listing.run());
    const { stats } = listing;
    if (query.total !== true) return { events, stats };
    const { total, ...counting } = yield* following(
      parts,
      totalUnits(source, snapshot, reached, sharing),
    );
    const blocksRefuted = Math.max(stats.blocksRefuted, counting.stats.blocksRefuted);
    const blocksDamaged = Math.max(stats.blocksDamaged, counting.stats.blocksDamaged);
    const opened = listing.opened.union(counting.opened);
    const { blocksCounted } = counting.stats;
    const counts = { blocksRefuted, blocksCounted, blocksDamaged };
    return { events, total, stats: statsOf(stats.blocksTotal, opened, counts) };
  });
}

/** Work of a query that has read these blocks. */
function statsOf(
  blocksTotal: number,
  opened: ReadonlySet<BlockRef>,
  counts: Pick<QueryStats, 'blocksRefuted' | 'blocksCounted' | 'blocksDamaged'>,
): QueryStats {
  const rowsScanned = Array.from(opened).reduce((sum, { rowCount }) => sum + rowCount, 0);
  return { blocksTotal, blocksOpened: opened.size, rowsScanned, ...counts };
}

/**
 * Lists events as `listUnits` does, and ends early when it has opened `blocksMax` blocks or has `textMax` characters:
 * so a page takes a bounded time and memory, whatever is asked for. It may have no event and still not be the last.
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
