import { type DecodeCounters, noDecodeCounters } from '../decode/counters.ts';
import type { TemplateCounts } from '../decode/template/templates.ts';

/** Upper ends, in seconds, of the classes into which the time of a commit falls; one more class is above them. */
export const COMMIT_SECONDS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5,
] as const;

const COUNTERS = Object.keys(noDecodeCounters()) as (keyof DecodeCounters)[];
const ROWS = COUNTERS.length;
const ROWS_KERNEL = ROWS + 1;
const KERNEL_FAULTS = ROWS_KERNEL + 1;
const OWN_UNREAD = KERNEL_FAULTS + 1;
const OWN_PENDING = OWN_UNREAD + 1;
const OWN_TAKEN = OWN_PENDING + 1;
const COMMIT_SUM = OWN_TAKEN + 1;
const COMMIT_CLASSES = COMMIT_SUM + 1;
const CELLS = COMMIT_CLASSES + COMMIT_SECONDS.length + 1;

/** Counts that an ingest worker keeps by itself, summed up since the service began. */
export interface IngestStats {
  decode: DecodeCounters;
  /** Rows by the way in which they were decoded. */
  rowsReference: number;
  rowsKernel: number;
  /** Lines that a kernel read otherwise than the reference, and its traps. */
  kernelFaults: number;
  /** Requests by the time from their being decoded to their being durable: one class more than COMMIT_SECONDS. */
  commitCounts: number[];
  commitSeconds: number;
}

/** Load of the lines that a worker reads from its own sockets. */
export interface OwnGauges {
  /** Bytes that it has not decoded. */
  unreadBytes: number;
  /** Tasks that are not over. */
  pendingCount: number;
  /** Memory that they hold. */
  takenBytes: number;
}

/**
 * The counts of one ingest worker, in memory that the front thread reads. Only the worker writes them, and one that
 * takes its place goes on from them. A reader may see one task more in one count than in another.
 */
export class StatCells {
  /** The memory; given to another thread it makes a view of the same cells there. */
  readonly shared: SharedArrayBuffer;
  readonly #cells: Float64Array;

  constructor(shared = new SharedArrayBuffer(CELLS * Float64Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#cells = new Float64Array(shared);
  }

  /** Adds what a decoder counted since the last time, `before`, and notes it there. */
  addRepairs(now: Readonly<DecodeCounters>, before: DecodeCounters): void {
    for (let cell = 0; cell < COUNTERS.length; cell++) {
      const name = COUNTERS[cell];
      this.#cells[cell] += now[name] - before[name];
      before[name] = now[name];
    }
  }

  /** Counts rows that were decoded. */
  addRows(count: number): void {
    this.#cells[ROWS] += count;
  }

  /** Adds what kernels did since the last time, `before`, and notes it there. `addRows` counts their rows too. */
  addKernel(now: Readonly<TemplateCounts>, before: TemplateCounts): void {
    this.#cells[ROWS_KERNEL] += now.rows - before.rows;
    this.#cells[KERNEL_FAULTS] += now.faults - before.faults;
    before.rows = now.rows;
    before.faults = now.faults;
  }

  /** Tells how much there is of lines of its own. */
  set own({ unreadBytes, pendingCount, takenBytes }: OwnGauges) {
    this.#cells[OWN_UNREAD] = unreadBytes;
    this.#cells[OWN_PENDING] = pendingCount;
    this.#cells[OWN_TAKEN] = takenBytes;
  }

  get own(): OwnGauges {
    return {
      unreadBytes: this.#cells[OWN_UNREAD],
      pendingCount: this.#cells[OWN_PENDING],
      takenBytes: this.#cells[OWN_TAKEN],
    };
  }

  /** Counts `count` requests that were durable after `seconds`. */
  addCommit(seconds: number, count = 1): void {
    let place = 0;
    while (place < COMMIT_SECONDS.length && seconds > COMMIT_SECONDS[place]) place++;
    this.#cells[COMMIT_SUM] += seconds * count;
    this.#cells[COMMIT_CLASSES + place] += count;
  }
}

/** The sums over the cells of all workers. */
export function sumStats(memories: readonly SharedArrayBuffer[]): IngestStats {
  const sums = new Float64Array(CELLS);
  for (const memory of memories) {
    const cells = new Float64Array(memory);
    for (let cell = 0; cell < CELLS; cell++) sums[cell] += cells[cell];
  }
  const decode = noDecodeCounters();
  for (const [cell, name] of COUNTERS.entries()) decode[name] = sums[cell];
  return {
    decode,
    rowsReference: Math.max(sums[ROWS] - sums[ROWS_KERNEL], 0),
    rowsKernel: sums[ROWS_KERNEL],
    kernelFaults: sums[KERNEL_FAULTS],
    commitCounts: [...sums.subarray(COMMIT_CLASSES)],
    commitSeconds: sums[COMMIT_SUM],
  };
}
