import { assert } from '../../base/assert.ts';
import { DAY_MS } from '../../base/durations.ts';
import { BLOCK_ROWS_MAX } from '../../base/limits.ts';
import { free, grow } from '../../packed/growth.ts';
import { type BatchKeys, sortRows } from './row-order.ts';
import { SegmentRows } from './segment-rows.ts';
import type { Source } from './source-rows.ts';

/** One row in this many is looked at to learn how rows lie in time. */
const SAMPLE_ROWS = 64;
/** As samples tell only about how many rows lie before a key, some more rows are read than are wanted. */
const REACH_RATIO = 1.1;

/** The place of a row in the order of events. */
interface RowKey {
  timeMs: number;
  writer: number;
  sequence: number;
}

/** How many rows of all sources each UTC day has. Rejects as `pause`, and with CORRUPTION. */
export async function countDays(
  sources: readonly Source[],
  pause: () => Promise<void>,
): Promise<Map<number, number>> {
  const rowsOfDay = new Map<number, number>();
  const add = (day: number, rows: number): void => {
    rowsOfDay.set(day, (rowsOfDay.get(day) ?? 0) + rows);
  };
  for (const { block } of sources) {
    const { minTimeMs, maxTimeMs } = block.ref;
    const first = Math.floor(minTimeMs / DAY_MS);
    if (first === Math.floor(maxTimeMs / DAY_MS)) {
      add(first, block.rowCount);
      continue;
    }
    const timeMs = block.timeMs();
    for (let row = 0; row < timeMs.length; row++) add(Math.floor(timeMs[row] / DAY_MS), 1);
    block.forget();
    await pause();
  }
  return rowsOfDay;
}

/** The keys of some rows as they come, and where each row is. */
class KeyList implements BatchKeys {
  count = 0;
  timeMs = new Float64Array(0);
  writers = new Uint8Array(0);
  sequences = new Float64Array(0);
  sources = new Uint32Array(0);
  rows = new Uint16Array(0);

  /** Makes room for `count` rows more. */
  ensure(count: number): void {
    const needed = this.count + count;
    if (needed <= this.timeMs.length) return;
    this.timeMs = grow(this.timeMs, needed);
    this.writers = grow(this.writers, needed);
    this.sequences = grow(this.sequences, needed);
    this.sources = grow(this.sources, needed);
    this.rows = grow(this.rows, needed);
  }

  /** Adds a row; there has to be room. */
  add(keys: BatchKeys, source: number, row: number): void {
    const at = this.count++;
    this.timeMs[at] = keys.timeMs[row];
    this.writers[at] = keys.writers[row];
    this.sequences[at] = keys.sequences[row];
    this.sources[at] = source;
    this.rows[at] = row;
  }

  /** Adds all rows of a source; there has to be room. */
  addAll({ timeMs, writers, sequences }: BatchKeys, source: number): void {
    const from = this.count;
    const rowCount = timeMs.length;
    this.count += rowCount;
    this.timeMs.set(timeMs, from);
    this.writers.set(writers, from);
    this.sequences.set(sequences, from);
    this.sources.fill(source, from, this.count);
    for (let row = 0; row < rowCount; row++) this.rows[from + row] = row;
  }

  /** Ends it. */
  free(): void {
    free(this.timeMs, this.writers, this.sequences, this.sources, this.rows);
  }

  key(at: number): RowKey {
    return { timeMs: this.timeMs[at], writer: this.writers[at], sequence: this.sequences[at] };
  }

  /** The numbers of the rows by (time, sequence, writer). */
  order(): Uint32Array<ArrayBuffer> {
    const { count } = this;
    return sortRows({
      timeMs: this.timeMs.subarray(0, count),
      writers: this.writers.subarray(0, count),
      sequences: this.sequences.subarray(0, count),
    });
  }
}

/** True when a row lies before `key` in the order of events. */
function isBefore({ timeMs, writers, sequences }: BatchKeys, row: number, key: RowKey): boolean {
  if (timeMs[row] !== key.timeMs) return timeMs[row] < key.timeMs;
  if (sequences[row] !== key.sequence) return sequences[row] < key.sequence;
  return writers[row] < key.writer;
}

/**
 * The rows of some days in the order of events, from the first to the last, without the keys of more than about
 * `windowRows` of them in memory.
 */
export class RowStream {
  readonly #sources: readonly Source[];
  readonly #days: ReadonlySet<number>;
  readonly #windowRows: number;
  readonly #pause: () => Promise<void>;
  /** Rows of all sources. */
  readonly #sourceRows: number;
  /** The first row that was not taken; undefined: the first of all. */
  #from: RowKey | undefined;
  #isOver = false;
  /** One row in SAMPLE_ROWS, in their order, and how many rows each stands for. */
  #samples: KeyList | undefined;
  #sampleOrder = new Uint32Array(0);
  #nextSample = 0;

  constructor(
    sources: readonly Source[],
    days: ReadonlySet<number>,
    windowRows: number,
    pause: () => Promise<void>,
  ) {
    this.#sources = sources;
    this.#days = days;
    this.#windowRows = windowRows;
    this.#pause = pause;
    this.#sourceRows = sources.reduce((sum, { block }) => sum + block.rowCount, 0);
  }

  /** The next rows, at least one and up to `rowsMax`, which there have to be; fewer when their segment is full. */
  async take(rowsMax: number): Promise<SegmentRows> {
    const taken = new SegmentRows(this.#sources);
    let isFull = false;
    while (!isFull && taken.rowCount < rowsMax) {
      assert(!this.#isOver, 'there are as many rows as the days were counted to have');
      const wanted = Math.min(this.#windowRows, rowsMax - taken.rowCount);
      const { rows, cut } = await this.#read(wanted);
      const order = rows.order();
      const at = taken.addAll(rows, order.subarray(0, wanted));
      isFull = at < wanted;
      this.#from = rows.count > at ? rows.key(order[at]) : cut;
      this.#isOver = this.#from === undefined;
      rows.free();
      free(order);
      await this.#pause();
    }
    taken.end();
    return taken;
  }

  /** All rows up to a key, at least `wanted`. */
  async #read(wanted: number): Promise<{ rows: KeyList; cut: RowKey | undefined }> {
    for (let reach = wanted * REACH_RATIO; ; reach *= 2) {
      const cut = await this.#keyAfter(reach);
      // Samples tell only about how many there are.
      const about = Math.min(Math.ceil(reach) + BLOCK_ROWS_MAX, this.#sourceRows);
      const rows = await this.#readUpTo(cut, about);
      if (rows.count >= wanted || cut === undefined) return { rows, cut };
    }
  }

  async #readUpTo(cut: RowKey | undefined, capacity: number): Promise<KeyList> {
    const found = new KeyList();
    found.ensure(capacity);
    const from = this.#from;
    for (const [source, { block }] of this.#sources.entries()) {
      const { minTimeMs, maxTimeMs } = block.ref;
      if (from !== undefined && maxTimeMs < from.timeMs) continue;
      if (cut !== undefined && minTimeMs > cut.timeMs) continue;
      const keys = { timeMs: block.timeMs(), ...block.keys() };
      found.ensure(block.rowCount);
      const isWhole =
        (from === undefined || minTimeMs > from.timeMs) &&
        (cut === undefined || maxTimeMs < cut.timeMs);
      const isMixed = this.#isMixed(minTimeMs, maxTimeMs);
      if (isWhole && !isMixed) found.addAll(keys, source);
      else this.#addSome(found, keys, source, { isMixed, isWhole, cut });
      block.forget();
      await this.#pause();
    }
    return found;
  }

  /** Adds the rows of a source that are of the days, when it `isMixed`, and before `cut`, unless it `isWhole`. */
  #addSome(
    found: KeyList,
    keys: BatchKeys,
    source: number,
    { isMixed, isWhole, cut }: { isMixed: boolean; isWhole: boolean; cut: RowKey | undefined },
  ): void {
    const from = this.#from;
    for (let row = 0; row < keys.timeMs.length; row++) {
      if (isMixed && !this.#days.has(Math.floor(keys.timeMs[row] / DAY_MS))) continue;
      if (!isWhole) {
        if (from !== undefined && isBefore(keys, row, from)) continue;
        if (cut !== undefined && !isBefore(keys, row, cut)) continue;
      }
      found.add(keys, source, row);
    }
  }

  /** True when some rows of these times may be of other days. */
  #isMixed(minTimeMs: number, maxTimeMs: number): boolean {
    const day = Math.floor(minTimeMs / DAY_MS);
    return day !== Math.floor(maxTimeMs / DAY_MS) || !this.#days.has(day);
  }

  /** A key that has about `rows` of the rows not taken before it; undefined when there are no more than these. */
  async #keyAfter(rows: number): Promise<RowKey | undefined> {
    const samples = this.#samples ?? (await this.#sample());
    this.#samples = samples;
    const order = this.#sampleOrder;
    while (
      this.#from !== undefined &&
      this.#nextSample < order.length &&
      isBefore(samples, order[this.#nextSample], this.#from)
    ) {
      this.#nextSample++;
    }
    let before = 0;
    for (let at = this.#nextSample; at < order.length; at++) {
      before += samples.rows[order[at]];
      if (before > rows && at > this.#nextSample) return samples.key(order[at]);
    }
    return undefined;
  }

  async #sample(): Promise<KeyList> {
    const samples = new KeyList();
    // What fits in memory is read at once.
    if (this.#sourceRows <= this.#windowRows * REACH_RATIO) return samples;
    for (const [source, { block }] of this.#sources.entries()) {
      const { minTimeMs, maxTimeMs } = block.ref;
      const keys = { timeMs: block.timeMs(), ...block.keys() };
      samples.ensure(Math.ceil(block.rowCount / SAMPLE_ROWS));
      const isMixed = this.#isMixed(minTimeMs, maxTimeMs);
      for (let row = 0; row < block.rowCount; row += SAMPLE_ROWS) {
        if (isMixed && !this.#days.has(Math.floor(keys.timeMs[row] / DAY_MS))) continue;
        samples.add(keys, source, row);
        samples.rows[samples.count - 1] = Math.min(SAMPLE_ROWS, block.rowCount - row);
      }
      block.forget();
      await this.#pause();
    }
    this.#sampleOrder = samples.order();
    return samples;
  }
}
