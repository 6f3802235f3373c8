import { Pace, type Units } from '../../base/pause.ts';
import { grow } from '../../packed/growth.ts';
import type { RowsData } from '../group/shared-scan.ts';
import type { EventKey } from '../model/event-id.ts';

const CAPACITY_MIN = 64;

/** An event that is among the first, and where it is. */
export interface TopEntry extends EventKey {
  /** The caller's number of a block. */
  block: number;
  row: number;
}

/**
 * The first `limit` events of an order by (time, sequence, writer) among those that were offered: a binary heap
 * with the last of them at its root. Entries are numbers in typed arrays.
 */
export class TopKHeap {
  readonly #limit: number;
  /** 1 when smaller keys come first, -1 when greater ones do. */
  readonly #sign: number;
  #count = 0;
  #times = new Float64Array(CAPACITY_MIN);
  #writers = new Uint8Array(CAPACITY_MIN);
  #sequences = new Float64Array(CAPACITY_MIN);
  #blocks = new Uint32Array(CAPACITY_MIN);
  #rows = new Uint32Array(CAPACITY_MIN);

  constructor(limit: number, order: 'asc' | 'desc') {
    this.#limit = limit;
    this.#sign = order === 'asc' ? 1 : -1;
  }

  /** Events that are among the first. */
  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count >= this.#limit;
  }

  /** The time of the last of the first; `undefined` while there is room for any event. */
  get lastTimeMs(): number | undefined {
    return this.isFull && this.#count > 0 ? this.#times[0] : undefined;
  }

  /** True when an event of this key would be among the first. */
  admits(timeMs: number, writer: number, sequence: number): boolean {
    if (!this.isFull) return true;
    return this.#count > 0 && this.#order(timeMs, writer, sequence, 0) < 0;
  }

  /** Takes an event when it is among the first, and says whether; the last one has to go when there is no room. */
  offer(timeMs: number, writer: number, sequence: number, block: number, row: number): boolean {
    if (!this.admits(timeMs, writer, sequence)) return false;
    if (!this.isFull) {
      if (this.#count === this.#times.length) this.#grow();
      this.#rise(timeMs, writer, sequence, block, row);
    } else this.#sink(timeMs, writer, sequence, block, row);
    return true;
  }

  /** The events, in no order. */
  found(): RowsData {
    const count = this.#count;
    return {
      times: this.#times.slice(0, count),
      writers: this.#writers.slice(0, count),
      sequences: this.#sequences.slice(0, count),
      blocks: this.#blocks.slice(0, count),
      rows: this.#rows.slice(0, count),
    };
  }

  /** Takes those of the events that are among the first, in units. */
  *merge({ times, writers, sequences, blocks, rows }: RowsData): Units<void> {
    const pace = new Pace();
    for (let at = 0; at < times.length; at++) {
      this.offer(times[at], writers[at], sequences[at], blocks[at], rows[at]);
      if (pace.isFull(1)) yield;
    }
  }

  /** Takes out the last `count` events, or all when there are fewer; first to last, in units. */
  *takeLast(count: number): Units<TopEntry[]> {
    const entries: TopEntry[] = [];
    const pace = new Pace();
    while (entries.length < count && this.#count > 0) {
      entries.push(this.#entry(0));
      const { timeMs, writer, sequence, block, row } = this.#entry(--this.#count);
      if (this.#count > 0) this.#sink(timeMs, writer, sequence, block, row);
      if (pace.isFull(1)) yield;
    }
    return entries.reverse();
  }

  #entry(at: number): TopEntry {
    return {
      timeMs: this.#times[at],
      writer: this.#writers[at],
      sequence: this.#sequences[at],
      block: this.#blocks[at],
      row: this.#rows[at],
    };
  }

  /** Negative when a key comes before the one at `at`. */
  #order(timeMs: number, writer: number, sequence: number, at: number): number {
    if (timeMs !== this.#times[at]) return this.#sign * (timeMs - this.#times[at]);
    if (sequence !== this.#sequences[at]) return this.#sign * (sequence - this.#sequences[at]);
    return this.#sign * (writer - this.#writers[at]);
  }

  /** True when the entry at `left` comes after the one at `right`. */
  #isAfter(left: number, right: number): boolean {
    return this.#order(this.#times[left], this.#writers[left], this.#sequences[left], right) > 0;
  }

  /** Adds an event: those before which it does not come make room for it, from the leaves on. */
  #rise(timeMs: number, writer: number, sequence: number, block: number, row: number): void {
    let at = this.#count++;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (this.#order(timeMs, writer, sequence, parent) <= 0) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#set(at, timeMs, writer, sequence, block, row);
  }

  /** Puts an event in the place of the root's: those that come after it make room for it. */
  #sink(timeMs: number, writer: number, sequence: number, block: number, row: number): void {
    let at = 0;
    for (let child = 1; child < this.#count; child = 2 * at + 1) {
      if (child + 1 < this.#count && this.#isAfter(child + 1, child)) child++;
      if (this.#order(timeMs, writer, sequence, child) >= 0) break;
      this.#move(child, at);
      at = child;
    }
    this.#set(at, timeMs, writer, sequence, block, row);
  }

  #set(
    at: number,
    timeMs: number,
    writer: number,
    sequence: number,
    block: number,
    row: number,
  ): void {
    this.#times[at] = timeMs;
    this.#writers[at] = writer;
    this.#sequences[at] = sequence;
    this.#blocks[at] = block;
    this.#rows[at] = row;
  }

  #move(from: number, to: number): void {
    this.#times[to] = this.#times[from];
    this.#writers[to] = this.#writers[from];
    this.#sequences[to] = this.#sequences[from];
    this.#blocks[to] = this.#blocks[from];
    this.#rows[to] = this.#rows[from];
  }

  #grow(): void {
    const needed = this.#count + 1;
    this.#times = grow(this.#times, needed);
    this.#writers = grow(this.#writers, needed);
    this.#sequences = grow(this.#sequences, needed);
    this.#blocks = grow(this.#blocks, needed);
    this.#rows = grow(this.#rows, needed);
  }
}
