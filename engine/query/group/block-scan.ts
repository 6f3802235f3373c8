import { must } from '../../base/assert.ts';
import { inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type { EntryHash } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { StringEncoding } from '../../column/text.ts';
import type { PackedSpan } from '../../packed/cells.ts';
import type { Block } from '../../segment/block/block.ts';
import type { BlockColumns } from '../../segment/column-outline.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { type Bitmap, EveryRow, isEmpty } from '../model/bitmap.ts';
import { bitmapBytesOf } from '../model/budget.ts';
import { Claims } from '../model/claims.ts';
import type { QueryStats, Selection, Snapshot } from '../model/query.ts';
import {
  type BlockSource,
  isDamage,
  isReachedWhole,
  noStats,
  overlaps,
  type Progress,
  type Reach,
  rowsReached,
} from '../model/source.ts';
import { telling } from '../model/units.ts';
import { PredicateRows } from '../scan/predicate-rows.ts';
import { columnsOf, dictionaryOf, footerOf } from '../scan/prune.ts';
import { columnsAt } from '../scan/scan.ts';
import { LARGE_ENTRIES } from '../value/field-values.ts';
import {
  type JoinedPart,
  type Offer,
  packRefs,
  type SharedScan,
  type SharesSpec,
  type Sharing,
  type VisitorData,
  type VisitorSpec,
} from './shared-scan.ts';
import { sharedVisits } from './shared-visits.ts';

/** Segments that are asked how large dictionaries are. */
const SEGMENTS_MAX = 8;
/** Rows that a log block has at least which is asked the same, and of which as many have a value of their own. */
const LOG_ROWS_MIN = 4_096;
const ROWS_PER_ENTRY = 8;
/** One of so many strings is in a sample, by hashes of 31 bits. */
const SAMPLE_PART = 64;
const SAMPLE_END = 2 ** 31 / SAMPLE_PART;

/** Shares that others were offered; `agrees`: whether one who joined left out the same blocks. */
export interface OfferedShares {
  offer: Offer;
  agrees: (part: JoinedPart) => boolean;
}

/** How a scan of the blocks ended. `full`: the visitor wanted no more; `damaged`: a block has to be left out. */
export type ScanOutcome = 'done' | 'full' | 'damaged';

/** Visitor that is given the blocks one after the other. */
export interface BlockVisitor {
  /** True when it needs to see rows; otherwise `addCount` is enough. */
  readonly needsRows: boolean;
  /** True when it wants no more blocks. */
  readonly isFull: boolean;
  /** Bytes of what it has found, when that may be much. */
  readonly memoryBytes?: number;
  /** True when it does not need a block. */
  skips?(ref: BlockRef): boolean;
  /** Takes events of which nothing but their number is known. */
  addCount(eventCount: number): void;
  /** Takes all events of a block of which no more is known than its columns; false when it needs to see rows of it. */
  addColumns?(columns: BlockColumns): boolean;
  /** Takes `rows` of a block, in units. Throws CORRUPTION before it has taken anything, and LIMIT. */
  add(block: Block, rows: Bitmap): Units<void>;
  /** Takes the rows of a block that have values of `span`, one a row, in units; false when it needs bits of them. */
  addSpan?(block: Block, span: PackedSpan): Units<boolean>;
  /** Makes ready what it has found, in units; to be called when there are no more blocks for now. */
  settle?(): Units<void>;
  /** Of what other threads make such a visitor for a part of the blocks; without it one visits all. */
  spec?(): VisitorSpec | undefined;
  /** Its findings; `undefined` when they are not right. It is not to be used any more. */
  found?(): VisitorData | undefined;
  /** Takes what another of the same `spec` has found, in units. */
  merge?(data: VisitorData): Units<void>;
}

/** Goes through the selected events of a snapshot, as often as needed; the same ones each time. */
export class BlockScan {
  readonly stats: QueryStats;
  /** Part of the blocks that the last scan went through before its visitor was full. */
  scanned = 1;
  readonly #source: BlockSource;
  readonly #selection: Selection & Reach;
  readonly #sharing: Sharing | undefined;
  readonly #selected: PredicateRows;
  readonly #refs: BlockRef[];
  readonly #damaged = new Set<BlockRef>();
  readonly #opened = new Set<BlockRef>();
  /** The selected rows of blocks that were scanned before, where these are not all. */
  readonly #rows = new Map<BlockRef, Bitmap>();
  readonly #all = new EveryRow();
  /** By path of an attribute, true when its strings lie in a large dictionary. */
  readonly #large = new Map<string, boolean>();
  #rowsBytesLeft: number;
  #scanCount = 0;
  #unitsDone = 0;
  #unitsTotal = 0;
  /** Whose findings count as held; those of the last scan still do. */
  #visitor: BlockVisitor | undefined;

  /** With `sharing` other threads may join in its scans. */
  constructor(
    source: BlockSource,
    snapshot: Snapshot,
    selection: Selection & Reach,
    sharing?: Sharing,
  ) {
    const { predicate, fromMs, toMs } = selection;
    this.#source = source;
    this.#selection = selection;
    this.#sharing = sharing;
    this.#selected = new PredicateRows(source, predicate);
    this.#rowsBytesLeft = bitmapBytesOf(source);
    this.stats = noStats(snapshot.blocks.length);
    this.#refs = snapshot.blocks.filter((ref) => overlaps(ref, fromMs, toMs));
  }

  /** Rows that the blocks have. */
  get rowCount(): number {
    return this.#refs.reduce((sum, { rowCount }) => sum + rowCount, 0);
  }

  /**
   * Blocks of which all rows are selected, as far as that is known without opening them; those that are damaged are
   * left out.
   */
  get wholeBlocks(): BlockRef[] {
    if (!this.#selected.isAll) return [];
    const isWhole = (ref: BlockRef): boolean =>
      !this.#damaged.has(ref) && isReachedWhole(ref, this.#selection);
    return this.#refs.filter(isWhole);
  }

  /** All begins again, without the blocks that were found damaged. */
  restart(): void {
    this.#scanCount = 0;
  }

  /** A block of each sealed segment of which all events are selected, as far as that is known without opening any. */
  wholeSegments(): BlockRef[] {
    return this.#selected.isAll ? this.#reachedSegments().map(([ref]) => ref) : [];
  }

  /**
   * Tells that one of some segments has a dictionary of more than LARGE_ENTRIES strings at `path`, or that log blocks
   * have as many that hardly repeat: by footers and heads alone.
   */
  hasLarge(path: string): boolean {
    const known = this.#large.get(path);
    if (known !== undefined) return known;
    const isLarge = this.#someSegments().some(
      (ref) => (this.#dictionaryOf(ref, path)?.entryCount ?? 0) > LARGE_ENTRIES,
    );
    const isFound = isLarge || this.#hasManyOwn(path);
    this.#large.set(path, isFound);
    return isFound;
  }

  /** Strings that the dictionaries of all segments have at `path`, one by one, about: by the footers of some. */
  entriesOf(path: string): number {
    const some = this.#someSegments();
    const segments = new Set(
      this.#refs.filter(({ sealed }) => sealed).map(({ segment }) => segment),
    );
    const sum = some.reduce(
      (sum, ref) => sum + (this.#dictionaryOf(ref, path)?.entryCount ?? 0),
      0,
    );
    return some.length === 0 ? 0 : (sum / some.length) * segments.size;
  }

  /** The largest dictionary at `path` of the segment of a block. */
  #dictionaryOf(ref: BlockRef, path: string): ReturnType<typeof dictionaryOf> {
    let largest: ReturnType<typeof dictionaryOf>;
    for (const { dictionary } of footerOf(this.#source, ref)?.columns?.forms(path) ?? []) {
      const one = dictionaryOf(this.#source, ref, dictionary);
      if ((one?.entryCount ?? 0) > (largest?.entryCount ?? 0)) largest = one;
    }
    return largest;
  }

  /**
   * How many strings the dictionaries at `path` have together, about, by a sample of their hashes: those of segments of
   * which all events are selected. Found in units.
   */
  *wholeEntries(path: string, hash: EntryHash): Units<number> {
    const sample = new Set<number>();
    for (const ref of this.wholeSegments()) {
      try {
        const dictionary = this.#dictionaryOf(ref, path);
        if (dictionary === undefined) continue;
        const hashes = yield* dictionary.hashUnits(hash);
        yield* inParts(hashes.length, UNIT_SLOTS, (from, to) => {
          for (let at = from; at < to; at++) if (hashes[at] < SAMPLE_END) sample.add(hashes[at]);
        });
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
    }
    return sample.size * SAMPLE_PART;
  }

  /** True when log blocks have more than LARGE_ENTRIES strings at `path` where these hardly repeat. */
  #hasManyOwn(path: string): boolean {
    let sum = 0;
    for (const ref of this.#refs) {
      if (ref.sealed || ref.rowCount < LOG_ROWS_MIN || this.#damaged.has(ref)) continue;
      try {
        const count = entriesAt(this.#source.open(ref), path);
        if (count * ROWS_PER_ENTRY > ref.rowCount) sum += count;
        if (sum > LARGE_ENTRIES) return true;
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
    }
    return false;
  }

  /** A block of each of some sealed segments: to look into all of very many would take long. */
  #someSegments(): BlockRef[] {
    const bySegment = new Map<number, BlockRef>();
    for (const ref of this.#refs) {
      if (bySegment.size === SEGMENTS_MAX) break;
      if (ref.sealed) bySegment.set(ref.segment, ref);
    }
    return [...bySegment.values()];
  }

  /** The blocks of each sealed segment that is reached whole, and has none that is known to be damaged. */
  #reachedSegments(): BlockRef[][] {
    const bySegment = Map.groupBy(
      this.#refs.filter((ref) => ref.sealed && isReachedWhole(ref, this.#selection)),
      ({ segment }) => segment,
    );
    return [...bySegment.values()]
      .filter((refs) => !refs.some((ref) => this.#damaged.has(ref)))
      .filter((refs) => footerOf(this.#source, refs[0])?.blocks.length === refs.length);
  }

  /** Blocks that were opened. */
  get opened(): ReadonlySet<BlockRef> {
    return this.#opened;
  }

  /** How far the scans are. */
  get progress(): Progress {
    return {
      unitsDone: this.#unitsDone,
      unitsTotal: this.#unitsTotal,
      heldBytes: this.#visitor?.memoryBytes ?? 0,
    };
  }

  /**
   * Shows `visitor` all blocks that are not known to be damaged, a block or less a unit. Blocks that others have
   * claimed who joined are not shown: it takes what these have found.
   */
  *run(visitor: BlockVisitor): Generator<Progress, ScanOutcome> {
    const isFirst = this.#scanCount++ === 0;
    this.#unitsTotal = Math.max(this.#unitsTotal, this.#unitsDone + this.#refs.length);
    this.#visitor = visitor;
    const claims = new Claims(this.#refs);
    if (!visitor.needsRows) {
      yield* telling(() => this.progress, this.#countSegments(visitor, claims));
    }
    const share = this.#sharing && this.#sharedScan(visitor, claims, this.#sharing);
    const offer = share && this.#sharing?.offer(share);
    return yield* sharedVisits({
      claims,
      offer: () => offer,
      progress: () => this.progress,
      visit: () => this.#visit(visitor, claims, isFirst, claims.next(-1)),
      take: (part) => this.#take(visitor, part, isFirst),
    });
  }

  /** Other threads that may join, when there is enough to do for them. */
  get others(): number {
    const { rowsMin = 0, others = 0 } = this.#sharing ?? {};
    return this.rowCount < rowsMin ? 0 : others;
  }

  /** Offers others to scan all blocks for shares that they can claim. */
  offerShares(spec: SharesSpec, { cells }: Claims): OfferedShares | undefined {
    const refs = this.#refs.filter((ref) => !this.#damaged.has(ref));
    const offer = this.#sharing?.offer({ ...this.#about(refs), cells, spec });
    const agrees = (part: JoinedPart): boolean => this.#agrees(part, refs);
    return offer && { offer, agrees };
  }

  /** Counts what one has read who joined; whether it left out the same of `refs`. */
  #agrees(part: JoinedPart, refs: readonly BlockRef[]): boolean {
    const left = refs.filter((ref) => this.#damaged.has(ref)).length;
    const known = this.#damaged.size;
    for (const place of part.damaged) this.#damaged.add(refs[place]);
    this.stats.blocksDamaged += this.#damaged.size - known;
    return this.#damaged.size === known && part.damaged.length === left;
  }

  /**
   * Shows `visitor` blocks of a scan that another thread has begun, and which it can claim; which were opened, ruled
   * out by words or damaged.
   */
  *join(
    visitor: BlockVisitor,
    claims: Claims,
  ): Generator<Progress, Pick<JoinedPart, 'opened' | 'refuted' | 'damaged'>> {
    this.#rowsBytesLeft = 0;
    yield* this.#visit(visitor, claims, true, claims.jump());
    return this.joined;
  }

  /** Places of the blocks that one opened who joined, ruled out by words, and found unreadable. */
  get joined(): Pick<JoinedPart, 'opened' | 'refuted' | 'damaged'> {
    const placesOf = (blocks: ReadonlySet<BlockRef>): number[] =>
      this.#refs.flatMap((ref, place) => (blocks.has(ref) ? [place] : []));
    return {
      opened: placesOf(this.#opened),
      refuted: placesOf(this.#selected.refuted),
      damaged: placesOf(this.#damaged),
    };
  }

  /** Gives `visitor` the counts of segments whose dictionaries tell them, and claims their blocks. */
  *#countSegments(visitor: BlockVisitor, claims: Claims): Units<void> {
    if (this.#selected.isAll) return;
    const places = new Map(this.#refs.map((ref, place) => [ref, place]));
    for (const refs of this.#reachedSegments()) {
      const count = yield* this.#selected.countInSegment(refs[0]);
      if (count === undefined) continue;
      visitor.addCount(count);
      for (const ref of refs) claims.claim(must(places.get(ref), 'place'));
      this.#unitsDone += refs.length;
      this.stats.blocksCounted += refs.length;
      yield;
    }
  }

  /** The scan as others are offered to join it; `undefined` when there is too little to do, or they cannot. */
  #sharedScan(visitor: BlockVisitor, claims: Claims, { rowsMin }: Sharing): SharedScan | undefined {
    if (this.#rowsToRead(visitor) < rowsMin) return undefined;
    const spec = visitor.spec?.();
    if (spec === undefined) return undefined;
    for (const [place, ref] of this.#refs.entries())
      if (this.#damaged.has(ref) || visitor.skips?.(ref) === true) claims.claim(place);
    return { ...this.#about(this.#refs), cells: claims.cells, spec };
  }

  /** Of `refs` what is selected, as others are told. */
  #about(refs: readonly BlockRef[]): Pick<SharedScan, 'refs' | 'reach' | 'predicate'> {
    const { predicate, fromMs, toMs, floor } = this.#selection;
    const reach = { fromMs, toMs, ...(floor === undefined ? {} : { floor }) };
    return { refs: packRefs(refs), reach, predicate };
  }

  /** Takes what one has found who joined; whether that met no damage, or this is the first scan. */
  *#take(visitor: BlockVisitor, part: JoinedPart, isFirst: boolean): Generator<Progress, boolean> {
    const data = must(part.data, 'what was found');
    yield* telling(() => this.progress, must(visitor.merge, 'merge').call(visitor, data));
    return this.#takeStats(part) || isFirst;
  }

  /** Counts what one has read who joined; whether it met no damage. */
  #takeStats({ opened, refuted, damaged }: JoinedPart): boolean {
    for (const place of refuted) this.#selected.refuted.add(this.#refs[place]);
    this.stats.blocksRefuted = this.#selected.refuted.size;
    for (const place of damaged) this.#damaged.add(this.#refs[place]);
    this.stats.blocksDamaged += damaged.length;
    for (const place of opened) this.#countOpened(this.#refs[place]);
    this.#unitsDone += opened.length;
    return damaged.length === 0;
  }

  /** Shows `visitor` the blocks that it can claim, from the one at `first` on. */
  *#visit(
    visitor: BlockVisitor,
    claims: Claims,
    isFirst: boolean,
    first: number,
  ): Generator<Progress, ScanOutcome> {
    for (let place = first; place >= 0; place = claims.next(place)) {
      const ref = this.#refs[place];
      if (this.#damaged.has(ref) || visitor.skips?.(ref) === true) continue;
      try {
        if (!(yield* telling(() => this.progress, this.#show(visitor, ref)))) continue;
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#damaged.add(ref);
        this.stats.blocksDamaged++;
        if (!isFirst) return 'damaged';
      }
      this.#unitsDone++;
      yield this.progress;
      if (visitor.isFull && claims.isLeft) {
        this.scanned = claims.claimedCount / this.#refs.length;
        return 'full';
      }
    }
    const settling = visitor.settle?.();
    if (settling !== undefined) yield* telling(() => this.progress, settling);
    return 'done';
  }

  /** Shows the selected rows of a block; false when it did not have to be opened. */
  *#show(visitor: BlockVisitor, ref: BlockRef): Units<boolean> {
    const isWhole = isReachedWhole(ref, this.#selection);
    const count = isWhole ? this.#selected.countOf(ref) : undefined;
    if (count !== undefined && !visitor.needsRows) {
      visitor.addCount(count);
      return false;
    }
    const takesAll = isWhole && this.#selected.isAll;
    if (takesAll && this.#showColumns(visitor, ref)) return true;
    let rows = this.#rows.get(ref);
    if (rows !== undefined && isEmpty(rows)) return false;
    if (!this.#selected.mayHave(ref)) {
      this.stats.blocksRefuted = this.#selected.refuted.size;
      return false;
    }
    const block = this.#source.open(ref);
    if (isWhole && !takesAll && rows === undefined && visitor.addSpan !== undefined) {
      const span = yield* this.#selected.spanIn(block, this.#all.of(ref.rowCount));
      if (span !== undefined && (yield* visitor.addSpan(block, span))) {
        this.#countOpened(ref);
        return true;
      }
    }
    if (rows === undefined) {
      const reached = isWhole ? this.#all.of(ref.rowCount) : rowsReached(block, this.#selection);
      rows = takesAll ? reached : yield* this.#selected.among(block, reached);
    }
    if (!takesAll) this.#remember(ref, rows);
    yield* visitor.add(block, rows);
    this.#countOpened(ref);
    return true;
  }

  /** Rows of the blocks that a visitor may have to see. */
  #rowsToRead(visitor: BlockVisitor): number {
    return this.#refs.reduce((sum, ref) => {
      if (visitor.skips?.(ref) === true) return sum;
      const count = this.#selected.countOf(ref);
      const isKnown = count === 0 || (count !== undefined && !visitor.needsRows);
      return isKnown && isReachedWhole(ref, this.#selection) ? sum : sum + ref.rowCount;
    }, 0);
  }

  #countOpened(ref: BlockRef): void {
    if (this.#opened.has(ref)) return;
    this.#opened.add(ref);
    this.stats.blocksOpened++;
    this.stats.rowsScanned += ref.rowCount;
  }

  /** Remembers the selected rows of a block for the next scan, while there is room. */
  #remember(ref: BlockRef, rows: Bitmap): void {
    if (this.#rowsBytesLeft < rows.byteLength || this.#rows.has(ref)) return;
    this.#rows.set(ref, rows);
    this.#rowsBytesLeft -= rows.byteLength;
  }

  /** Shows what the footer of its segment says of a block; whether that was enough. */
  #showColumns(visitor: BlockVisitor, ref: BlockRef): boolean {
    if (visitor.addColumns === undefined) return false;
    const columns = columnsOf(this.#source, ref);
    return columns !== undefined && visitor.addColumns(columns);
  }
}

/** Entries that the strings of a block have at a path, by its head. Throws CORRUPTION. */
function entriesAt(block: Block, path: string): number {
  const { columns } = block.head.directory;
  return columnsAt(block, path).reduce((sum, index) => {
    if (index >= columns.length || columns.kind(index) !== Kind.STRING) return sum;
    const { encoding, entryCount, presentCount } = columns.entry(index);
    const isText = encoding === StringEncoding.TEXT || encoding === StringEncoding.DERIVED;
    return sum + (isText ? presentCount : entryCount);
  }, 0);
}
