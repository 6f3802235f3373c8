import { assert } from '../base/assert.ts';
import type { Kind } from './kind.ts';

/**
 * `detail` of a NUMBER whose text does not come back from a safe whole mantissa and up to 22 fraction digits (`-0`,
 * `007`, `1e3`): the text itself counts.
 */
export const NUMBER_AS_TEXT = 0xffff;

/** Arrays of entries, as `Rows` has them. */
export interface EntryArrays {
  path: Uint32Array;
  kind: Uint8Array;
  start: Int32Array;
  length: Uint32Array;
  value: Float64Array;
  detail: Uint16Array;
}

/** Arrays of row records, as `Rows` has them. Entries of row r are `[rowEntry[r], rowEntry[r + 1])`. */
export interface RowArrays extends EntryArrays {
  rowEntry: Uint32Array;
  timeMs: Float64Array;
}

/**
 * Row records: what a decoder says of a run of events, and all that `Batch.append` reads.
 *
 * An event is a row: its leaves in the order in which they come back (document order after the rules of
 * INTERFACE.md 2.3; objects are contiguous), its time, and nothing else. A leaf is an entry of parallel arrays:
 * - `path`, a number of the decoder's PathTable; `kind`;
 * - `start`, `length`: its text in `source`, or in `side` when `start` is negative (`~start` is the offset there).
 *   STRING: unescaped, WTF-8. NUMBER and DATE: as written. ARRAY: JSON without blanks. BOOLEAN: length 1 is true,
 *   0 is false. NULL, OBJECT: empty.
 * - `value`: NUMBER: the whole mantissa, or the nearest double when `detail` is NUMBER_AS_TEXT.
 *   DATE: the date in the unit of its form. Others: 0.
 * - `detail`: NUMBER: the count of fraction digits, or NUMBER_AS_TEXT. DATE: its form (date-form.ts). Others: 0.
 *
 * The reference decoder and a kernel fill the same records. Owned by one thread; `reset` makes it empty and keeps
 * the memory. `source` must stay unchanged until the rows have been appended.
 */
export class Rows {
  source: Uint8Array = new Uint8Array(0);
  /** Reception date of all rows, in epoch milliseconds. */
  receivedMs = 0;

  side: Uint8Array = new Uint8Array(4096);
  sideBytes = 0;

  path = new Uint32Array(4096);
  kind = new Uint8Array(4096);
  start = new Int32Array(4096);
  length = new Uint32Array(4096);
  value = new Float64Array(4096);
  detail = new Uint16Array(4096);
  entryCount = 0;

  /** Entries of row r are `[rowEntry[r], rowEntry[r + 1])`. */
  rowEntry = new Uint32Array(257);
  /** Event date of a row, in epoch milliseconds. */
  timeMs = new Float64Array(256);
  rowCount = 0;

  /** Empties the records for a new source. */
  reset(source: Uint8Array, receivedMs: number): void {
    this.source = source;
    this.receivedMs = receivedMs;
    this.sideBytes = 0;
    this.entryCount = 0;
    this.rowCount = 0;
    this.rowEntry[0] = 0;
  }

  /** Adds an entry to the row that is being written. */
  add(
    path: number,
    kind: Kind,
    start: number,
    length: number,
    value: number,
    detail: number,
  ): void {
    const entry = this.entryCount++;
    if (entry === this.path.length) this.#growEntries();
    this.path[entry] = path;
    this.kind[entry] = kind;
    this.start[entry] = start;
    this.length[entry] = length;
    this.value[entry] = value;
    this.detail[entry] = detail;
  }

  /** Adds a copy of an entry to the row that is being written. */
  addCopy(entry: number): void {
    const to = this.entryCount++;
    if (to === this.path.length) this.#growEntries();
    this.copyEntry(entry, to);
  }

  /** Ends the row that is being written. */
  endRow(timeMs: number): void {
    const row = this.rowCount++;
    if (row === this.timeMs.length) this.#growRows();
    this.timeMs[row] = timeMs;
    this.rowEntry[row + 1] = this.entryCount;
  }

  /** Copies the first `count` rows of others, whose texts are in the same source. */
  addRows(from: RowArrays, count: number): void {
    const entryCount = from.rowEntry[count];
    const to = this.entryCount;
    while (to + entryCount >= this.path.length) this.#growEntries();
    copyEntries(from, 0, entryCount, this, to);
    while (this.rowCount + count >= this.timeMs.length) this.#growRows();
    const { rowEntry, timeMs, rowCount } = this;
    for (let row = 1; row <= count; row++) rowEntry[rowCount + row] = to + from.rowEntry[row];
    for (let row = 0; row < count; row++) timeMs[rowCount + row] = from.timeMs[row];
    this.rowCount += count;
    this.entryCount = to + entryCount;
  }

  /** Copies row `row` of others, whose texts are in the same source. */
  addRow(from: RowArrays, row: number): void {
    const first = from.rowEntry[row];
    const count = from.rowEntry[row + 1] - first;
    while (this.entryCount + count >= this.path.length) this.#growEntries();
    copyEntries(from, first, first + count, this, this.entryCount);
    this.entryCount += count;
    this.endRow(from.timeMs[row]);
  }

  /** Drops the rows from number `row` on, and what is being written. */
  truncate(row: number): void {
    this.rowCount = row;
    this.entryCount = this.rowEntry[row];
  }

  /** Ends the row that is being written and puts it in the place of the one before, whose date it keeps. */
  replaceRow(): void {
    const row = this.rowCount - 1;
    const from = this.rowEntry[row + 1];
    const to = this.rowEntry[row];
    const end = this.entryCount;
    this.path.copyWithin(to, from, end);
    this.kind.copyWithin(to, from, end);
    this.start.copyWithin(to, from, end);
    this.length.copyWithin(to, from, end);
    this.value.copyWithin(to, from, end);
    this.detail.copyWithin(to, from, end);
    this.entryCount = to + end - from;
    this.rowEntry[row + 1] = this.entryCount;
  }

  /** Reorders the entries of a row, else of the one that is being written: place i gets the former entry `order[i]`. */
  reorderRow(order: Uint32Array, row = this.rowCount): void {
    const to = this.rowEntry[row];
    const end = to + order.length;
    const from = this.entryCount;
    // What was in order so far lies behind all entries meanwhile.
    while (from + order.length > this.path.length) this.#growEntries();
    this.path.copyWithin(from, to, end);
    this.kind.copyWithin(from, to, end);
    this.start.copyWithin(from, to, end);
    this.length.copyWithin(from, to, end);
    this.value.copyWithin(from, to, end);
    this.detail.copyWithin(from, to, end);
    for (let index = 0; index < order.length; index++)
      this.copyEntry(from + order[index], to + index);
  }

  /** Puts the last entry in the place of the one before it in its row that has the same path. */
  replaceSame(): void {
    const last = --this.entryCount;
    let entry = last - 1;
    while (this.path[entry] !== this.path[last]) entry--;
    assert(entry >= this.rowEntry[this.rowCount], 'the row has the path');
    this.copyEntry(last, entry);
  }

  /** Drops the entries of the row that is being written. */
  dropRow(): void {
    this.entryCount = this.rowEntry[this.rowCount];
  }

  /** Makes room for `count` bytes in `side` and returns their offset; the caller writes them. */
  reserveSide(count: number): number {
    const at = this.sideBytes;
    this.sideBytes = at + count;
    assert(this.sideBytes < 2 ** 31, 'side buffer fits in 31 bits');
    if (this.sideBytes > this.side.length) {
      const grown = new Uint8Array(Math.max(this.sideBytes, this.side.length * 2));
      grown.set(this.side.subarray(0, at));
      this.side = grown;
    }
    return at;
  }

  /** Copies `bytes` to `side`; returns the `start` by which an entry refers to them. */
  addSide(bytes: Uint8Array): number {
    const at = this.reserveSide(bytes.length);
    this.side.set(bytes, at);
    return ~at;
  }

  /** The text of an entry: a view of `source` or `side`. For cold paths and tests. */
  text(entry: number): Uint8Array {
    const start = this.start[entry];
    const length = this.length[entry];
    return start >= 0
      ? this.source.subarray(start, start + length)
      : this.side.subarray(~start, ~start + length);
  }

  /** Copies entry `from` over entry `to`. */
  copyEntry(from: number, to: number): void {
    this.path[to] = this.path[from];
    this.kind[to] = this.kind[from];
    this.start[to] = this.start[from];
    this.length[to] = this.length[from];
    this.value[to] = this.value[from];
    this.detail[to] = this.detail[from];
  }

  /** Moves `count` entries from `from` on to `to`, before it. */
  moveEntries(from: number, to: number, count: number): void {
    if (from === to) return;
    const { path, kind, start, length, value, detail } = this;
    for (let at = 0; at < count; at++) path[to + at] = path[from + at];
    for (let at = 0; at < count; at++) kind[to + at] = kind[from + at];
    for (let at = 0; at < count; at++) start[to + at] = start[from + at];
    for (let at = 0; at < count; at++) length[to + at] = length[from + at];
    for (let at = 0; at < count; at++) value[to + at] = value[from + at];
    for (let at = 0; at < count; at++) detail[to + at] = detail[from + at];
  }

  #growEntries(): void {
    const capacity = this.path.length * 2;
    this.path = grown(this.path, new Uint32Array(capacity));
    this.kind = grown(this.kind, new Uint8Array(capacity));
    this.start = grown(this.start, new Int32Array(capacity));
    this.length = grown(this.length, new Uint32Array(capacity));
    this.value = grown(this.value, new Float64Array(capacity));
    this.detail = grown(this.detail, new Uint16Array(capacity));
  }

  #growRows(): void {
    const capacity = this.timeMs.length * 2;
    this.timeMs = grown(this.timeMs, new Float64Array(capacity));
    this.rowEntry = grown(this.rowEntry, new Uint32Array(capacity + 1));
  }
}

/** Up to so many entries, those of a small body, loops are faster than calls and the views that they want. */
const COPY_LOOP_ENTRIES_MAX = 256;

/** Copies entries `[first, end)` of `from` to `to` from `at` on. */
export function copyEntries(
  from: EntryArrays,
  first: number,
  end: number,
  to: EntryArrays,
  at: number,
): void {
  if (end - first > COPY_LOOP_ENTRIES_MAX) {
    to.path.set(from.path.subarray(first, end), at);
    to.kind.set(from.kind.subarray(first, end), at);
    to.start.set(from.start.subarray(first, end), at);
    to.length.set(from.length.subarray(first, end), at);
    to.value.set(from.value.subarray(first, end), at);
    to.detail.set(from.detail.subarray(first, end), at);
    return;
  }
  const { path, kind, start, length, value, detail } = to;
  const { path: paths, kind: kinds, start: starts, length: lengths } = from;
  const { value: values, detail: details } = from;
  for (let entry = first, place = at; entry < end; entry++, place++) {
    path[place] = paths[entry];
    kind[place] = kinds[entry];
    start[place] = starts[entry];
    length[place] = lengths[entry];
    value[place] = values[entry];
    detail[place] = details[entry];
  }
}

function grown<T extends { set(from: ArrayLike<number>): void } & ArrayLike<number>>(
  from: T,
  to: T,
): T {
  to.set(from);
  return to;
}
