import { grow } from '../column/growth.ts';
import type { EventKey } from './event-id.ts';

const CAPACITY_MIN = 64;

/** An event that is among the first, and where it is. */
export interface TopEntry extends EventKey {
  /** The caller's number of a block. */
  block: number;
  row: number;
}

/**
 * The first `limit` events of an order by (time, writer, sequence) among those that were offered: a binary heap
 * with the last of them at its root. Entries are numbers in typed arrays.
 */
export class Top {
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

  get isFull(): boolean {
    return this.#count >= this.#limit;
  }

  /** The time of the last of the first; `undefined` while there is room for any event. */
  get lastTimeMs(): number | undefined {
    return this.isFull && this.#count > 0 ? this.#times[0] : undefined;
  }

  /** Whether an event of this key would be among the first. */
  admits(timeMs: number, writer: number, sequence: number): boolean {
    if (!this.isFull) return true;
    return this.#count > 0 && this.#order(timeMs, writer, sequence, 0) < 0;
  }

  /** Takes an event when it is among the first; the last one has to go when there is no room. */
  offer(timeMs: number, writer: number, sequence: number, block: number, row: number): void {
    if (!this.admits(timeMs, writer, sequence)) return;
    if (this.isFull) {
      this.#set(0, timeMs, writer, sequence, block, row);
      this.#sink(0);
      return;
    }
    if (this.#count === this.#times.length) this.#grow();
    this.#set(this.#count, timeMs, writer, sequence, block, row);
    this.#rise(this.#count++);
  }

  /** The events, first to last. */
  entries(): TopEntry[] {
    const entries: TopEntry[] = [];
    for (let at = 0; at < this.#count; at++) {
      entries.push({
        timeMs: this.#times[at],
        writer: this.#writers[at],
        sequence: this.#sequences[at],
        block: this.#blocks[at],
        row: this.#rows[at],
      });
    }
    const sign = this.#sign;
    return entries.sort(
      (a, b) => sign * (a.timeMs - b.timeMs || a.writer - b.writer || a.sequence - b.sequence),
    );
  }

  /** Negative when a key comes before the one at `at`. */
  #order(timeMs: number, writer: number, sequence: number, at: number): number {
    if (timeMs !== this.#times[at]) return this.#sign * (timeMs - this.#times[at]);
    if (writer !== this.#writers[at]) return this.#sign * (writer - this.#writers[at]);
    return this.#sign * (sequence - this.#sequences[at]);
  }

  /** Whether the entry at `left` comes after the one at `right`. */
  #isAfter(left: number, right: number): boolean {
    return this.#order(this.#times[left], this.#writers[left], this.#sequences[left], right) > 0;
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!this.#isAfter(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(from: number): void {
    let at = from;
    for (;;) {
      let last = at;
      const child = 2 * at + 1;
      if (child < this.#count && this.#isAfter(child, last)) last = child;
      if (child + 1 < this.#count && this.#isAfter(child + 1, last)) last = child + 1;
      if (last === at) return;
      this.#swap(at, last);
      at = last;
    }
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

  #swap(left: number, right: number): void {
    const timeMs = this.#times[left];
    const writer = this.#writers[left];
    const sequence = this.#sequences[left];
    const block = this.#blocks[left];
    const row = this.#rows[left];
    this.#set(
      left,
      this.#times[right],
      this.#writers[right],
      this.#sequences[right],
      this.#blocks[right],
      this.#rows[right],
    );
    this.#set(right, timeMs, writer, sequence, block, row);
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
