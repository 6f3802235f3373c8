import { CELLS_MAX } from '../registry/usage.ts';

const DAY = 0;
const COUNT = 1;
const CELL_INTS = 2;
const WORKER_INTS = CELLS_MAX * CELL_INTS;

/**
 * Number of attribute names that each write key has brought to each ingest worker on a UTC day, in memory that all of
 * them share. A worker writes its own counts alone, and a replacement begins anew. Two workers that add at once may
 * not see each other, so a sum may pass a limit by a name a worker.
 */
export class NameCounts {
  readonly #ints: Int32Array;
  readonly #start: number;

  /** `shared` is of `memory`; `worker` the number of the one that writes here, from 0. */
  constructor(shared: SharedArrayBuffer, worker: number) {
    this.#ints = new Int32Array(shared);
    this.#start = worker * WORKER_INTS;
    for (let at = 0; at < WORKER_INTS; at++) {
      if (this.#ints[this.#start + at] !== 0) this.#ints[this.#start + at] = 0;
    }
  }

  /** The memory of the counts of so many workers; its pages are touched only when there is something to count. */
  static memory(workers: number): SharedArrayBuffer {
    return new SharedArrayBuffer(workers * WORKER_INTS * Int32Array.BYTES_PER_ELEMENT);
  }

  /** Names that the key with that cell has brought on `day`, a name once for each worker that has seen it. */
  sum(cell: number, day: number): number {
    const ints = this.#ints;
    let sum = 0;
    for (let at = cell * CELL_INTS; at < ints.length; at += WORKER_INTS) {
      if (Atomics.load(ints, at + DAY) === day) sum += Atomics.load(ints, at + COUNT);
    }
    return sum;
  }

  /** Adds a name. */
  add(cell: number, day: number): void {
    const ints = this.#ints;
    const at = this.#start + cell * CELL_INTS;
    if (ints[at + DAY] !== day) {
      Atomics.store(ints, at + COUNT, 0);
      Atomics.store(ints, at + DAY, day);
    }
    Atomics.add(ints, at + COUNT, 1);
  }
}
