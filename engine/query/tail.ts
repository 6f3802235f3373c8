import { Pace, type Units } from '../base/pause.ts';
import type { Block } from '../segment/block.ts';
import type { BlockRef } from '../segment/frame.ts';
import {
  addRow,
  type Bitmap,
  countRows,
  dropRow,
  isEmpty,
  nextRow,
  noRows,
  previousRow,
} from './bitmap.ts';
import { EventBuilder } from './event.ts';
import { WRITER_MAX } from './event-id.ts';
import { type Plan, planOf } from './plan.ts';
import { mayHaveRows } from './prune.ts';
import type { Snapshot, TailedEvent, TailPosition, TailQuery, TailResult } from './query.ts';
import { rowsWhere } from './scan.ts';
import { type BlockSource, isDamage, type Progress, rowsFromTo } from './source.ts';
import { Top, type TopEntry } from './top.ts';
import { telling } from './units.ts';

/** Events that are rebuilt in one unit. */
const UNIT_EVENTS = 32;

/** Rows that are looked at in about the time of one that is kept. */
const ROWS_A_STEP = 8;

/** A position by writer: the sequence from which on rows were not told. */
function sequencesOf(position: TailPosition): Float64Array {
  const sequences = new Float64Array(WRITER_MAX + 1);
  for (const [writer, sequence] of position) sequences[writer] = sequence;
  return sequences;
}

/** A tail query at work. */
class Tailing {
  readonly #source: BlockSource;
  readonly #refs: readonly BlockRef[];
  readonly #query: TailQuery;
  readonly #plan: Plan;
  /** Where the rows begin, and end, that were not looked at. */
  readonly #from: Float64Array;
  readonly #to: Float64Array;
  /** By writer the selected rows with the highest sequences. */
  readonly #newest: (Top | undefined)[] = new Array(WRITER_MAX + 1).fill(undefined);
  readonly #builders = new Map<number, EventBuilder>();
  #foundCount = 0;
  #unitsDone = 0;
  #unitsTotal: number;

  constructor(source: BlockSource, snapshot: Snapshot, query: TailQuery) {
    this.#source = source;
    this.#refs = snapshot.blocks;
    this.#query = query;
    this.#from = sequencesOf(query.from);
    this.#to = sequencesOf(query.to);
    this.#plan = planOf(query.predicate);
    this.#unitsTotal = snapshot.blocks.length;
  }

  *run(): Generator<Progress, TailResult> {
    for (const [number, ref] of this.#refs.entries()) {
      try {
        if (this.#mayHaveRows(ref)) {
          const units = this.#scan(number, this.#source.open(ref));
          yield* telling(() => this.#soFar(), units);
        }
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
      yield this.#progress();
    }
    const kept = yield* telling(() => this.#soFar(), this.#merge());
    const { eventsMax, charactersMax, to } = this.#query;
    const { events, endedAt } = yield* this.#rebuild(kept.slice(0, eventsMax), charactersMax);
    const position = new Map(to);
    for (let rest = kept.length - 1; rest >= endedAt; rest--) {
      position.set(kept[rest].writer, kept[rest].sequence);
    }
    const shownCount = events.length + kept.length - endedAt;
    const droppedCount = this.#foundCount - shownCount;
    return { events, droppedCount, position, isWhole: endedAt === kept.length };
  }

  /** Whether a block may have selected rows that were not looked at. Throws CORRUPTION. */
  #mayHaveRows(ref: BlockRef): boolean {
    const from = this.#from;
    if (!ref.sealed && ref.firstSequence + ref.rowCount <= from[ref.writer]) return false;
    const sequences = this.#source.footer?.(ref)?.sequences;
    const isSeen = sequences?.every(({ writer, sequence }) => sequence < from[writer]) === true;
    return !isSeen && mayHaveRows(this.#source, ref, this.#plan);
  }

  *#scan(number: number, block: Block): Units<void> {
    const rows = yield* rowsWhere(this.#plan, block, this.#newRows(block));
    if (isEmpty(rows)) return;
    this.#foundCount += countRows(rows);
    const { writers, sequences } = block.keys();
    const pace = new Pace();
    // From the last one on, as most of those before it are not among the newest then.
    for (
      let row = previousRow(rows, block.rowCount - 1);
      row >= 0;
      row = previousRow(rows, row - 1)
    ) {
      const writer = writers[row];
      const newest = this.#newest[writer] ?? new Top(this.#query.limit, 'desc');
      this.#newest[writer] = newest;
      const isKept = newest.offer(0, writer, sequences[row], number, row);
      if (pace.isFull(isKept ? 1 : 1 / ROWS_A_STEP)) yield;
    }
  }

  /** The rows of a block between the positions. */
  #newRows(block: Block): Bitmap {
    const { receivedFromMs } = this.#query;
    const [from, to] = [this.#from, this.#to];
    const { sealed, writer, firstSequence, rowCount } = block.ref;
    let rows: Bitmap;
    if (sealed) {
      rows = noRows(rowCount);
      const { writers, sequences } = block.keys();
      for (let row = 0; row < rowCount; row++) {
        const sequence = sequences[row];
        if (sequence >= from[writers[row]] && sequence < to[writers[row]]) {
          addRow(rows, row);
        }
      }
    } else {
      const first = Math.max(from[writer] - firstSequence, 0);
      rows = rowsFromTo(rowCount, first, Math.min(to[writer] - firstSequence, rowCount));
    }
    if (receivedFromMs === Number.NEGATIVE_INFINITY || isEmpty(rows)) return rows;
    const received = block.receivedMs();
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      if (received[row] < receivedFromMs) dropRow(rows, row);
    }
    return rows;
  }

  /** The last `limit` rows of all writers, first to last: each one's by sequence, among each other as they were received. */
  *#merge(): Units<TopEntry[]> {
    const lists: TopEntry[][] = [];
    for (const newest of this.#newest) {
      if (newest !== undefined) lists.push(yield* newest.takeLast(newest.count));
    }
    if (lists.length === 1) return lists[0].reverse();
    const pace = new Pace();
    const taken = new Array<number>(lists.length).fill(0);
    const merged: TopEntry[] = [];
    const heads = lists.map((list) => this.#receivedMs(list[0]));
    while (merged.length < this.#query.limit) {
      let best = -1;
      for (let list = 0; list < lists.length; list++) {
        if (taken[list] === lists[list].length) continue;
        if (best < 0 || heads[list] > heads[best]) best = list;
      }
      if (best < 0) break;
      merged.push(lists[best][taken[best]++]);
      heads[best] = this.#receivedMs(lists[best][taken[best]]);
      if (pace.isFull(1)) yield;
    }
    return merged.reverse();
  }

  #receivedMs(entry: TopEntry | undefined): number {
    if (entry === undefined) return 0;
    let receivedMs = 0;
    this.#attempt(() => {
      receivedMs = this.#source.open(this.#refs[entry.block]).receivedMs()[entry.row];
    });
    return receivedMs;
  }

  /** Rebuilds the events of `entries` until their texts have so many characters; those of damaged blocks are left out. */
  *#rebuild(
    entries: readonly TopEntry[],
    charactersMax: number,
  ): Generator<Progress, { events: TailedEvent[]; endedAt: number }> {
    const events: TailedEvent[] = [];
    let characters = 0;
    let endedAt = 0;
    this.#unitsTotal += Math.floor(entries.length / UNIT_EVENTS);
    while (endedAt < entries.length && characters < charactersMax) {
      const entry = entries[endedAt];
      try {
        const opening = this.#builder(entry.block, entries);
        const event = (yield* telling(() => this.#soFar(), opening)).build(entry.row);
        characters += event.event?.length ?? 0;
        for (const column of event.columns) characters += column.length;
        events.push({ ...event, writer: entry.writer, sequence: entry.sequence });
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
      endedAt++;
      if (endedAt % UNIT_EVENTS === 0) yield this.#progress();
    }
    return { events, endedAt };
  }

  *#builder(number: number, entries: readonly TopEntry[]): Units<EventBuilder> {
    const known = this.#builders.get(number);
    if (known !== undefined) return known;
    const rows = entries.filter(({ block }) => block === number).map(({ row }) => row);
    const block = this.#source.open(this.#refs[number]);
    const builder = yield* EventBuilder.open(block, this.#source.ids, this.#query, rows);
    this.#builders.set(number, builder);
    return builder;
  }

  /** Does something with a block, or nothing more when it is damaged. */
  #attempt(use: () => void): void {
    try {
      use();
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }

  #progress(): Progress {
    this.#unitsDone++;
    return this.#soFar();
  }

  #soFar(): Progress {
    return { unitsDone: this.#unitsDone, unitsTotal: this.#unitsTotal };
  }
}

/**
 * Tells the selected events of the rows between two positions, a block a unit. `snapshot` has the blocks of one moment
 * that may have such rows; of those that were written again, or sealed, the rows before `from` are passed over. Events of
 * damaged blocks are left out; those that turn out damaged late are counted as dropped. Throws what the source throws but
 * CORRUPTION.
 */
export function* tailUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: TailQuery,
): Generator<Progress, TailResult> {
  return yield* new Tailing(source, snapshot, query).run();
}
