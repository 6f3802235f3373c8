import { Pace, type Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { type Plan, planOf } from '../filter/plan.ts';
import {
  addRow,
  type Bitmap,
  countRows,
  dropRow,
  isEmpty,
  nextRow,
  noRows,
  previousRow,
} from '../model/bitmap.ts';
import type { Snapshot, TailedEvent, TailQuery, TailResult } from '../model/query.ts';
import { type BlockSource, isDamage, type Progress } from '../model/source.ts';
import { telling } from '../model/units.ts';
import { mayHaveRows } from '../scan/prune.ts';
import { rowsWhere } from '../scan/scan.ts';
import { EventBuilder } from './event.ts';
import { type TopEntry, TopKHeap } from './top-k-heap.ts';

/** Events that are rebuilt in one unit. */
const UNIT_EVENTS = 32;

/** Rows that are looked at in about the time of one that is kept. */
const ROWS_A_STEP = 2;

/** A tail query at work. */
class Tailing {
  readonly #source: BlockSource;
  readonly #refs: readonly BlockRef[];
  readonly #query: TailQuery;
  readonly #plan: Plan;
  /** The selected rows with the highest sequences. */
  readonly #newest: TopKHeap;
  readonly #builders = new Map<number, EventBuilder>();
  #foundCount = 0;
  #unitsDone = 0;
  #unitsTotal: number;

  constructor(source: BlockSource, snapshot: Snapshot, query: TailQuery) {
    this.#source = source;
    this.#refs = snapshot.blocks;
    this.#query = query;
    this.#newest = new TopKHeap(query.limit, 'desc');
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
    const kept = yield* telling(() => this.#soFar(), this.#newest.takeLast(this.#newest.count));
    kept.reverse();
    const { eventsMax, charactersMax, to } = this.#query;
    const { events, endedAt } = yield* this.#rebuild(kept.slice(0, eventsMax), charactersMax);
    const position = kept[endedAt]?.sequence ?? to;
    const shownCount = events.length + kept.length - endedAt;
    const droppedCount = this.#foundCount - shownCount;
    return { events, droppedCount, position, isWhole: endedAt === kept.length };
  }

  /** True when a block may have selected rows that were not looked at. Throws CORRUPTION. */
  #mayHaveRows(ref: BlockRef): boolean {
    const { from, to } = this.#query;
    if (!ref.sealed && (ref.endSequence <= from || ref.firstSequence >= to)) return false;
    const sequences = this.#source.footer?.(ref)?.sequences;
    const isSeen = sequences?.every(({ sequence }) => sequence < from) === true;
    return !isSeen && mayHaveRows(this.#source, ref, this.#plan);
  }

  *#scan(number: number, block: Block): Units<void> {
    const rows = yield* rowsWhere(this.#plan, block, this.#newRows(block));
    if (isEmpty(rows)) return;
    this.#foundCount += countRows(rows);
    const { sequences } = block.keys();
    const newest = this.#newest;
    const pace = new Pace();
    // From the last one on, as most of those before it are not among the newest then.
    for (
      let row = previousRow(rows, block.rowCount - 1);
      row >= 0;
      row = previousRow(rows, row - 1)
    ) {
      const isKept = newest.offer(0, 0, sequences[row], number, row);
      if (pace.isFull(isKept ? 1 : 1 / ROWS_A_STEP)) yield;
    }
  }

  /** The rows of a block between the positions. */
  #newRows(block: Block): Bitmap {
    const { from, to, receivedFromMs } = this.#query;
    const { rowCount } = block.ref;
    const rows = noRows(rowCount);
    const { sequences } = block.keys();
    for (let row = 0; row < rowCount; row++) {
      if (sequences[row] >= from && sequences[row] < to) addRow(rows, row);
    }
    if (receivedFromMs === Number.NEGATIVE_INFINITY || isEmpty(rows)) return rows;
    const received = block.receivedMs();
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      if (received[row] < receivedFromMs) dropRow(rows, row);
    }
    return rows;
  }

  /**
   * Rebuilds the events of `entries` until their texts have so many characters; those of damaged blocks are left out.
   */
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
        events.push({ ...event, sequence: entry.sequence });
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
 * that may have such rows; of those that were written again, or sealed, the rows before `from` are passed over. Events
 * of damaged blocks are left out; those that turn out damaged late are counted as dropped. Throws what the source
 * throws but CORRUPTION.
 */
export function* tailUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: TailQuery,
): Generator<Progress, TailResult> {
  return yield* new Tailing(source, snapshot, query).run();
}
