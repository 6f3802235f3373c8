import type { Units } from '../../base/pause.ts';
import type { BlockRef } from '../../segment/frame.ts';
import {
  type EventsSpec,
  type EventView,
  type JoinedPart,
  type Joining,
  type Offer,
  packRefs,
  type SharedScan,
  type Sharing,
  unpackRefs,
} from '../group/shared-scan.ts';
import { sharedVisits } from '../group/shared-visits.ts';
import { checkCharacters } from '../model/budget.ts';
import { Claims } from '../model/claims.ts';
import type { ListedEvent } from '../model/query.ts';
import { type BlockSource, isDamage, type Progress, type Reach } from '../model/source.ts';
import { telling } from '../model/units.ts';
import { rebuildRows, textOf } from './event.ts';
import type { FoundEvents } from './found-events.ts';

/** Events of a chunk at most. */
const CHUNK_EVENTS = 32;
/** Rows that are searched in the time that it takes to rebuild an event. */
const EVENT_ROWS = 512;
/** Events that are rebuilt in the time that it takes to open a sealed block, and one whose texts are not in order. */
const OPENING_EVENTS = 3;
const LOG_OPENING_EVENTS = 6;
/** Rows that were found are not looked for. */
const NO_REACH: Reach = { fromMs: 0, toMs: 0 };

/** A row whose event is wanted; `block` is the caller's number of its block. */
interface PageRow {
  block: number;
  row: number;
}

/** Rows of a block that are rebuilt together, with their places on the page. */
interface Chunk {
  ref: BlockRef;
  rows: number[];
  places: number[];
}

/** Rebuilds the events of a page, in chunks, alone or together with idle threads. */
export class PageEvents {
  /** Chunks that there are. */
  readonly chunkCount: number;
  readonly #source: BlockSource;
  readonly #view: EventView;
  readonly #chunks: readonly Chunk[];
  readonly #damaged: Set<BlockRef>;
  /** By place. */
  readonly #events: (ListedEvent | undefined)[];
  readonly #blocks: readonly BlockRef[];
  #builtCount = 0;
  #text = 0;

  /**
   * `refs` are the blocks by the numbers of `rows`. Those that turn out damaged are added to `damaged`. `found` are
   * events that are there.
   */
  constructor(
    source: BlockSource,
    view: EventView,
    refs: readonly BlockRef[],
    rows: readonly PageRow[],
    damaged: Set<BlockRef>,
    found?: FoundEvents,
  ) {
    this.#source = source;
    this.#view = view;
    this.#damaged = damaged;
    this.#events = rows.map(({ block, row }) => found?.at(block, row));
    for (const event of this.#events) if (event !== undefined) this.#text += textOf(event);
    this.#chunks = chunksOf(refs, rows, (place) => this.#events[place] === undefined);
    this.#blocks = rows.map(({ block }) => refs[block]);
    this.chunkCount = this.#chunks.length;
  }

  /**
   * The events but those of damaged blocks; with more than `textMax` characters those, one at least, before which none
   * is missing. `told` says how far it is, with so many chunks and characters. Throws MEMORY, and what the source
   * throws but CORRUPTION.
   */
  *run(
    textMax: number,
    told: (chunks: number, characters: number) => Progress,
    sharing: Sharing | undefined,
  ): Generator<Progress, ListedEvent[]> {
    if (textMax === Infinity) checkCharacters(this.#source, this.#text);
    const refs = this.#chunks.map(({ ref }) => ref);
    const claims = new Claims(refs);
    const offer = textMax === Infinity ? this.#offer(refs, claims, sharing) : undefined;
    const progress = (): Progress => told(this.#builtCount, this.#text);
    yield* sharedVisits({
      claims,
      offer: () => offer,
      progress,
      visit: () => this.#visit(claims, textMax, progress),
      take: (part) => this.#take(part, progress),
    });
    const isMissing = (event: ListedEvent | undefined, place: number): boolean =>
      event === undefined && !this.#damaged.has(this.#blocks[place]);
    const missing = this.#text < textMax ? -1 : this.#events.findIndex(isMissing);
    const kept = missing < 0 ? this.#events : this.#events.slice(0, missing);
    return kept.filter((event) => event !== undefined);
  }

  /** Offers others to join, when there is enough to do for them. */
  #offer(
    refs: readonly BlockRef[],
    claims: Claims,
    sharing: Sharing | undefined,
  ): Offer | undefined {
    const lacking = this.#chunks.reduce((sum, { rows }) => sum + rows.length, 0);
    let events = lacking;
    for (const { sealed } of new Set(refs)) events += sealed ? OPENING_EVENTS : LOG_OPENING_EVENTS;
    if (sharing === undefined || lacking === 0) return undefined;
    if (events * EVENT_ROWS < sharing.rowsMin) return undefined;
    const rows = this.#chunks.map((chunk) => chunk.rows);
    return sharing.offer({
      refs: packRefs(refs),
      cells: claims.cells,
      reach: NO_REACH,
      predicate: { type: 'all' },
      spec: { type: 'events', rows, event: this.#view.event, columns: this.#view.columns },
    });
  }

  *#visit(claims: Claims, textMax: number, progress: () => Progress): Generator<Progress, 'done'> {
    const isBounded = textMax !== Infinity;
    for (let at = claims.next(-1); at >= 0; at = claims.next(at)) {
      const chunk = this.#chunks[at];
      if (this.#damaged.has(chunk.ref)) continue;
      const took = (event: ListedEvent, index: number, characters: number): boolean => {
        this.#keep(chunk.places[index], event, characters);
        if (!isBounded) checkCharacters(this.#source, this.#text);
        return this.#text < textMax;
      };
      try {
        yield* telling(progress, rebuild(this.#source, this.#view, chunk, took));
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#damaged.add(chunk.ref);
      }
      this.#builtCount++;
      yield progress();
      if (this.#text >= textMax) break;
    }
    return 'done';
  }

  /** Takes the events that one has rebuilt who joined. */
  *#take(
    { data, opened, damaged }: JoinedPart,
    progress: () => Progress,
  ): Generator<Progress, boolean> {
    if (data?.type !== 'events') return true;
    for (const place of damaged) this.#damaged.add(this.#chunks[place].ref);
    for (const [number, place] of opened.entries()) {
      for (const [index, event] of data.events[number].entries()) {
        this.#keep(this.#chunks[place].places[index], event, textOf(event));
      }
      checkCharacters(this.#source, this.#text);
      this.#builtCount++;
      yield progress();
    }
    return true;
  }

  #keep(place: number, event: ListedEvent, characters: number): void {
    this.#events[place] = event;
    this.#text += characters;
  }
}

/**
 * Rebuilds events of a page of another thread, within the memory of a query divided by `memoryPart`. Throws MEMORY, and
 * what the source throws but CORRUPTION.
 */
export function* joinRebuilding(
  source: BlockSource,
  { refs, cells }: SharedScan,
  spec: EventsSpec,
  { member }: Joining,
  memoryPart: number,
): Generator<Progress, JoinedPart> {
  const blocks = unpackRefs(refs);
  const claims = new Claims(blocks, member, cells);
  const part = { member, opened: [] as number[], refuted: [], damaged: [] as number[] };
  const events: ListedEvent[][] = [];
  const progress = (): Progress => ({ unitsDone: events.length, unitsTotal: blocks.length });
  let text = 0;
  for (let at = claims.jump(); at >= 0; at = claims.next(at)) {
    const built: ListedEvent[] = [];
    const took = (event: ListedEvent, _: number, characters: number): boolean => {
      built.push(event);
      text += characters;
      checkCharacters(source, text * memoryPart);
      return true;
    };
    try {
      yield* telling(
        progress,
        rebuild(source, spec, { ref: blocks[at], rows: spec.rows[at] }, took),
      );
      part.opened.push(at);
      events.push(built);
    } catch (error) {
      if (!isDamage(error)) throw error;
      part.damaged.push(at);
    }
    yield progress();
  }
  return { ...part, data: { type: 'events', events } };
}

/** Rebuilds the rows of a chunk in units, until `took` wants no more. Throws CORRUPTION. */
function* rebuild(
  source: BlockSource,
  view: EventView,
  { ref, rows }: Pick<Chunk, 'ref' | 'rows'>,
  took: (event: ListedEvent, index: number, characters: number) => boolean,
): Units<void> {
  yield* rebuildRows(source.open(ref), source.ids, view, rows, took);
}

/** The rows of a page whose places are `wanted`, in chunks, those of a block one after the other. */
function chunksOf(
  refs: readonly BlockRef[],
  rows: readonly PageRow[],
  wanted: (place: number) => boolean,
): Chunk[] {
  const chunks: Chunk[] = [];
  const last = new Map<number, Chunk>();
  for (const [place, { block, row }] of rows.entries()) {
    if (!wanted(place)) continue;
    let chunk = last.get(block);
    if (chunk === undefined || chunk.rows.length === CHUNK_EVENTS) {
      chunk = { ref: refs[block], rows: [], places: [] };
      last.set(block, chunk);
      chunks.push(chunk);
    }
    chunk.rows.push(row);
    chunk.places.push(place);
  }
  return chunks;
}
