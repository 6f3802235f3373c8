import { Pace, type Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import {
  type JoinedPart,
  type Joining,
  type Offer,
  type PageSpec,
  packRefs,
  type SharedScan,
  type Sharing,
  unpackRefs,
} from '../group/shared-scan.ts';
import { sharedVisits } from '../group/shared-visits.ts';
import {
  addRow,
  allRows,
  type Bitmap,
  countRows,
  dropRow,
  EveryRow,
  hasRow,
  isEmpty,
  keepRows,
  nextRow,
  noRows,
  previousRow,
} from '../model/bitmap.ts';
import { Claims } from '../model/claims.ts';
import { compareEvents, type EventKey, SEQUENCE_MAX, WRITER_MAX } from '../model/event-id.ts';
import type { Predicate } from '../model/predicate.ts';
import {
  type BlockSource,
  dropBefore,
  firstAt,
  isDamage,
  overlaps,
  type Progress,
  type Reach,
  rowsFromTo,
} from '../model/source.ts';
import { telling } from '../model/units.ts';
import { PredicateRows } from '../scan/predicate-rows.ts';
import { FoundEvents } from './found-events.ts';
import { TopKHeap } from './top-k-heap.ts';

/** Rows of the first block that are searched before its others. */
const FIRST_ROWS = 4_096;
/** Rows are searched first that are reckoned to have so many times the rows of a page. */
const MARGIN = 1.5;
/** Segments that a page takes at least for threads to search whole ones. */
const SEGMENTS_MIN = 2;
/** Rows are searched before the others of a block when they are 1 in this many at most. */
const FEW_RATIO = 4;

/** Rows that are looked for: the first ones of a selection behind a place, in an order. */
export type RowQuery = Pick<PageSpec, 'order' | 'rowsMax' | 'after' | 'view'> &
  Reach & { predicate: Predicate };

/** The key before which no row of a block comes. */
function firstKey(ref: BlockRef): EventKey {
  return { timeMs: ref.minTimeMs, writer: ref.writer, sequence: ref.firstSequence };
}

/** The key after which no row of a block comes. */
function lastKey(ref: BlockRef): EventKey {
  if (ref.sealed) return { timeMs: ref.maxTimeMs, writer: WRITER_MAX, sequence: SEQUENCE_MAX };
  return { timeMs: ref.maxTimeMs, writer: ref.writer, sequence: ref.endSequence - 1 };
}

/** Compares keys: negative when `left` comes first in `order`. */
export function compareIn(order: 'asc' | 'desc', left: EventKey, right: EventKey): number {
  return order === 'asc' ? compareEvents(left, right) : compareEvents(right, left);
}

/** The key before which no row of a block comes in `order`. */
export function bestKey(order: 'asc' | 'desc', ref: BlockRef): EventKey {
  return order === 'asc' ? firstKey(ref) : lastKey(ref);
}

/** The blocks that may have rows of a page, the one that may have the first of them first. */
export function refsOfPage(
  blocks: readonly BlockRef[],
  { fromMs, toMs, order, after }: Omit<RowQuery, 'rowsMax' | 'view'>,
): BlockRef[] {
  const isReached = (ref: BlockRef): boolean => {
    if (after === undefined) return true;
    return compareIn(order, order === 'asc' ? lastKey(ref) : firstKey(ref), after) > 0;
  };
  return blocks
    .filter((ref) => overlaps(ref, fromMs, toMs) && isReached(ref))
    .map((ref) => ({ ref, best: bestKey(order, ref) }))
    .sort((a, b) => compareIn(order, a.best, b.best))
    .map(({ ref }) => ref);
}

/**
 * Looks for the first rows of a selection, block after block in the order of a page, alone or together with idle
 * threads: all claim the next block that is free, and go by how many rows were found in which blocks. Times are in
 * order in sealed blocks only, and blocks overlap.
 */
export class RowSearch {
  /** The rows that were found; the number of a block is its place in `refs`. */
  readonly top: TopKHeap;
  /** Events of rows that were found, when some are rebuilt at once. */
  readonly events: FoundEvents | undefined;
  /** Blocks that this thread has visited, damaged ones included. */
  visitedCount = 0;
  /** Places of the blocks that were opened. */
  readonly opened: number[] = [];
  readonly #all = new EveryRow();
  #searchedRows = 0;
  #foundRows = 0;
  #bySegment: boolean;
  readonly #source: BlockSource;
  readonly #query: RowQuery;
  readonly #refs: readonly BlockRef[];
  readonly #selected: PredicateRows;
  readonly #damaged: Set<BlockRef>;
  /** By place, rows that were found in a block; last, in all. */
  readonly #found: PageSpec['found'];

  /** `refs` are those of `refsOfPage`. Blocks that are `damaged` are passed over, and others added to them. */
  constructor(
    source: BlockSource,
    refs: readonly BlockRef[],
    query: RowQuery,
    damaged: Set<BlockRef>,
    selected = new PredicateRows(source, query.predicate),
    {
      found = new Int32Array(new SharedArrayBuffer((refs.length + 1) * 4)),
      bySegment = false,
    }: Partial<PageSpec> = {},
  ) {
    this.#source = source;
    this.#refs = refs;
    this.#query = query;
    this.#damaged = damaged;
    this.#selected = selected;
    this.#found = found;
    this.#bySegment = bySegment;
    this.top = new TopKHeap(query.rowsMax, query.order);
    this.events = query.view && new FoundEvents(source, query.view);
  }

  /** Searches all blocks that may have rows of the page, unless `ends` at one. `tell` says how far it is. */
  *run(
    ends: (ref: BlockRef) => boolean,
    tell: () => Progress,
    sharing: Sharing | undefined,
  ): Generator<Progress, void> {
    const claims = new Claims(this.#refs);
    const isEarly = sharing !== undefined && this.#isLong();
    let offer = isEarly ? this.#offer(claims, sharing) : undefined;
    let reckonedAt = 0;
    yield* sharedVisits({
      claims,
      offer: () => offer,
      progress: tell,
      visit: () =>
        this.visit(claims, tell, (ref) => {
          if (offer === undefined && this.visitedCount > reckonedAt) {
            reckonedAt = this.visitedCount;
            offer = this.#offer(claims, sharing);
          }
          return ends(ref);
        }),
      take: (part) => this.#take(part, tell),
    });
  }

  /**
   * Searches the blocks that are free, in their order, until none that is left can have a row of the page or `ends` at
   * one.
   */
  *visit(
    claims: Claims,
    tell: () => Progress,
    ends: (ref: BlockRef) => boolean,
  ): Generator<Progress, 'done'> {
    // Blocks of a segment have words and dictionaries in common: those of segments of others come last.
    yield* this.#visit(claims, tell, ends, false);
    if (this.#bySegment) yield* this.#visit(claims, tell, ends, true);
    return 'done';
  }

  *#visit(
    claims: Claims,
    tell: () => Progress,
    ends: (ref: BlockRef) => boolean,
    takesOfOthers: boolean,
  ): Generator<Progress, void> {
    for (const [place, ref] of this.#refs.entries()) {
      if (!claims.isFree(place)) continue;
      if (!this.#mayHaveFirst(claims, ref) || ends(ref)) break;
      if (this.#bySegment && !takesOfOthers && ref.sealed && claims.isOfOther(place)) continue;
      if (!claims.claim(place)) continue;
      Atomics.store(this.#found, place, 0);
      if (this.#damaged.has(ref) || !this.#selected.mayHave(ref)) continue;
      this.visitedCount++;
      try {
        yield* telling(tell, this.#add(ref, place));
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#damaged.add(ref);
      }
      yield tell();
    }
  }

  /** True when it is reckoned by a block, before one is read, that a page takes many. */
  #isLong(): boolean {
    const sealed = this.#firstSealed();
    return sealed !== undefined && this.#selected.areFew(sealed);
  }

  /** Offers others to join, when there is room for more rows, and enough is to be read for them. */
  #offer(claims: Claims, sharing: Sharing | undefined): Offer | undefined {
    if (sharing === undefined || this.top.isFull) return undefined;
    const { order, rowsMax, after, fromMs, toMs, floor, predicate, view } = this.#query;
    let rowsLeft = 0;
    for (const [place, ref] of this.#refs.entries()) {
      if (claims.isFree(place) && this.#selected.countOf(ref) !== 0) rowsLeft += ref.rowCount;
    }
    const { count } = this.top;
    // As many rows are read for each that is found as before.
    if (count > 0) rowsLeft = Math.min(rowsLeft, ((rowsMax - count) / count) * this.#searchedRows);
    if (rowsLeft < sharing.rowsMin) return undefined;
    this.#bySegment = rowsLeft >= SEGMENTS_MIN * this.#segmentRows();
    return sharing.offer({
      refs: packRefs(this.#refs),
      cells: claims.cells,
      reach: { fromMs, toMs, ...(floor === undefined ? {} : { floor }) },
      predicate,
      spec: {
        ...{ type: 'page', order, rowsMax, after, view },
        ...{ found: this.#found, bySegment: this.#bySegment },
      },
    });
  }

  /** Rows of the first sealed segment. */
  #segmentRows(): number {
    const segment = this.#firstSealed()?.segment;
    let rows = 0;
    for (const ref of this.#refs) if (ref.segment === segment) rows += ref.rowCount;
    return rows;
  }

  #firstSealed(): BlockRef | undefined {
    return this.#refs.find(({ sealed }) => sealed);
  }

  /** Takes what one has found who joined. */
  *#take(
    { data, opened, refuted, damaged }: JoinedPart,
    tell: () => Progress,
  ): Generator<Progress, boolean> {
    if (data?.type !== 'page') return true;
    for (const place of damaged) this.#damaged.add(this.#refs[place]);
    for (const place of opened) this.opened.push(place);
    for (const place of refuted) this.#selected.refuted.add(this.#refs[place]);
    this.events?.take(data.rows, data.events);
    yield* telling(tell, this.top.merge(data.rows));
    return true;
  }

  /** A block may have a row that is among the first of all that were found. */
  #mayHaveFirst(claims: Claims, ref: BlockRef): boolean {
    const { order, rowsMax } = this.#query;
    const { timeMs, writer, sequence } = bestKey(order, ref);
    if (!this.top.admits(timeMs, writer, sequence)) return false;
    if (this.#found[this.#refs.length] < rowsMax) return true;
    let foundCount = 0;
    for (let place = 0; place < this.#refs.length && foundCount < rowsMax; place++) {
      if (this.#found[place] === 0 || claims.isFree(place)) continue;
      const { minTimeMs, maxTimeMs } = this.#refs[place];
      const isBefore = order === 'asc' ? maxTimeMs < timeMs : minTimeMs > timeMs;
      if (isBefore) foundCount += this.#found[place];
    }
    return foundCount < rowsMax;
  }

  /** Takes the rows of a block that are among the first, and rebuilds those of a page with room. Throws CORRUPTION. */
  *#add(ref: BlockRef, place: number): Units<void> {
    const block = this.#source.open(ref);
    const rows = yield* this.#selectedOf(block, this.#candidates(block));
    this.opened.push(place);
    if (isEmpty(rows)) return;
    const selectedCount = countRows(rows);
    this.#foundRows += selectedCount;
    yield* this.#offerRows(block, place, rows, selectedCount);
    Atomics.store(this.#found, place, selectedCount);
    const before = Atomics.add(this.#found, this.#refs.length, selectedCount);
    // Others that overlap may still take their place.
    const isOnPage = before + selectedCount <= this.#query.rowsMax;
    if (isOnPage && this.events !== undefined) yield* this.events.rebuild(block, place, rows);
  }

  /** Offers selected rows of a block. */
  *#offerRows(block: Block, place: number, rows: Bitmap, selectedCount: number): Units<void> {
    const { sealed } = block.ref;
    const { top } = this;
    const { rowsMax, order } = this.#query;
    // Of rows in order no more are looked at than the page has.
    const keys = block.keysOf(sealed ? Math.min(selectedCount, rowsMax) : selectedCount);
    const offered = (row: number): boolean =>
      top.offer(keys.timeAt(row), keys.writerAt(row), keys.sequenceAt(row), place, row);
    const pace = new Pace();
    if (order === 'asc') {
      for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
        if (!offered(row) && sealed) break;
        if (pace.isFull(1)) yield;
      }
      return;
    }
    const last = block.rowCount - 1;
    for (let row = previousRow(rows, last); row >= 0; row = previousRow(rows, row - 1)) {
      if (!offered(row) && sealed) break;
      if (pace.isFull(1)) yield;
    }
  }

  /**
   * The selected rows among `candidates`; of a block in order only those among the first ones, when these are enough
   * for a page.
   */
  *#selectedOf(block: Block, candidates: Bitmap): Units<Bitmap> {
    const { ref, rowCount } = block;
    const count = this.#rowsOfPage();
    const isKnown = this.#selected.isAll || this.#selected.countOf(ref) !== undefined;
    if (ref.sealed && !isKnown && count * FEW_RATIO < rowCount) {
      const first = firstOf(candidates, rowCount, count, this.#query.order);
      const found = yield* this.#selected.among(block, first);
      if (countRows(found) >= this.#query.rowsMax) {
        this.#searchedRows += count;
        return found;
      }
    }
    this.#searchedRows += rowCount;
    return yield* this.#selected.among(block, candidates);
  }

  /** The number of rows that have those of a page, as those have that were searched; Infinity when it is not known. */
  #rowsOfPage(): number {
    const { rowsMax } = this.#query;
    if (this.#searchedRows === 0) return Math.max(FIRST_ROWS, rowsMax);
    return Math.ceil((MARGIN * rowsMax * this.#searchedRows) / this.#foundRows);
  }

  /**
   * The rows that are reached, after `after`, and not behind a full page; not to be written. Of a block that is reached
   * whole nothing is read.
   */
  #candidates(block: Block): Bitmap {
    const { fromMs, toMs, order, floor, after } = this.#query;
    const { lastTimeMs } = this.top;
    const ascending = order === 'asc';
    const begin = (ascending ? after?.timeMs : lastTimeMs) ?? Number.NEGATIVE_INFINITY;
    const end = (ascending ? lastTimeMs : after?.timeMs) ?? Number.POSITIVE_INFINITY;
    const least = Math.max(fromMs, begin);
    const { minTimeMs, maxTimeMs } = block.ref;
    const isWhole = minTimeMs >= least && maxTimeMs <= end && maxTimeMs < toMs;
    const isBehind = after === undefined || after.timeMs < minTimeMs || after.timeMs > maxTimeMs;
    if (isWhole && isBehind && floor === undefined) return this.#all.of(block.rowCount);
    const rows = isWhole ? allRows(block.rowCount) : rowsBetween(block, least, end, toMs);
    if (floor !== undefined) dropBefore(rows, block, floor);
    if (isBehind) return rows;
    const times = block.timeMs();
    const { writers, sequences } = block.keys();
    for (let row = 0; row < times.length; row++) {
      if (times[row] !== after.timeMs || !hasRow(rows, row)) continue;
      const key = { timeMs: times[row], writer: writers[row], sequence: sequences[row] };
      if (compareIn(order, key, after) <= 0) dropRow(rows, row);
    }
    return rows;
  }
}

/** Joins in a search that another thread has begun. Throws what the source throws but CORRUPTION. */
export function* joinSearch(
  source: BlockSource,
  { refs, cells, reach, predicate }: SharedScan,
  spec: PageSpec,
  { member }: Joining,
): Generator<Progress, JoinedPart> {
  const blocks = unpackRefs(refs);
  const damaged = new Set<BlockRef>();
  const query = { ...reach, ...spec, predicate };
  const selected = new PredicateRows(source, predicate);
  const search = new RowSearch(source, blocks, query, damaged, selected, spec);
  const claims = new Claims(blocks, member, cells);
  const progress = (): Progress => ({ unitsDone: search.opened.length, unitsTotal: blocks.length });
  yield* search.visit(claims, progress, () => false);
  const placesOf = (refs: ReadonlySet<BlockRef>): number[] =>
    blocks.flatMap((ref, place) => (refs.has(ref) ? [place] : []));
  const places = { refuted: placesOf(selected.refuted), damaged: placesOf(damaged) };
  const rows = search.top.found();
  const data = { type: 'page' as const, rows, events: search.events?.of(rows) ?? [] };
  return { member, data, opened: search.opened, ...places };
}

/** The first ones in `order` among `candidates`, which lie within `count` rows. */
function firstOf(
  candidates: Bitmap,
  rowCount: number,
  count: number,
  order: 'asc' | 'desc',
): Bitmap {
  const isAscending = order === 'asc';
  const from = isAscending
    ? Math.max(nextRow(candidates, 0), 0)
    : Math.max(previousRow(candidates, rowCount - 1) + 1 - count, 0);
  const first = rowsFromTo(rowCount, from, Math.min(from + count, rowCount));
  keepRows(first, candidates);
  return first;
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
