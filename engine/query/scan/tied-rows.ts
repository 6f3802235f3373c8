import type { RowKeys } from '../../segment/block/keys/present-writers.ts';
import { type Bitmap, nextRow } from '../model/bitmap.ts';
import { SEQUENCE_MAX, WRITER_MAX } from '../model/event-id.ts';

/** Parts into which sequences are cut to find the one of an event. */
export const SEQUENCE_STEPS = 256;

/** Visitor that is shown the rows of one time. */
export interface TiedVisitor {
  add(keys: RowKeys, rows: Bitmap): void;
}

/** Counts rows, and tells their least and greatest sequence. */
export class TiedRows implements TiedVisitor {
  count = 0;
  first = SEQUENCE_MAX;
  last = 0;

  add({ sequences }: RowKeys, rows: Bitmap): void {
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const sequence = sequences[row];
      this.count++;
      if (sequence < this.first) this.first = sequence;
      if (sequence > this.last) this.last = sequence;
    }
  }
}

/** Counts rows by their sequences, in steps of the same width from one to another. */
export class TiedSequences implements TiedVisitor {
  readonly width: number;
  readonly counts = new Float64Array(SEQUENCE_STEPS);
  readonly #low: number;
  readonly #high: number;

  constructor(low: number, high: number) {
    this.width = Math.ceil((high - low) / SEQUENCE_STEPS);
    this.#low = low;
    this.#high = high;
  }

  add({ sequences }: RowKeys, rows: Bitmap): void {
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      const sequence = sequences[row];
      if (sequence < this.#low || sequence >= this.#high) continue;
      this.counts[Math.floor((sequence - this.#low) / this.width)]++;
    }
  }
}

/** Counts the rows of one sequence by their writers. */
export class TiedWriters implements TiedVisitor {
  readonly counts = new Float64Array(WRITER_MAX + 1);
  readonly #sequence: number;

  constructor(sequence: number) {
    this.#sequence = sequence;
  }

  add({ writers, sequences }: RowKeys, rows: Bitmap): void {
    for (let row = nextRow(rows, 0); row >= 0; row = nextRow(rows, row + 1)) {
      if (sequences[row] === this.#sequence) this.counts[writers[row]]++;
    }
  }
}
