/** Counts of entries that descend, as runs of equal ones: very many entries have few different counts. */
export class CountRuns {
  readonly entryCount: number;
  readonly #starts: Float64Array;
  readonly #counts: Float64Array;

  /** Run r begins at entry `starts[r]` and has the count `counts[r]`; the first one begins at 0. */
  constructor(entryCount: number, starts: Float64Array, counts: Float64Array) {
    this.entryCount = entryCount;
    this.#starts = starts;
    this.#counts = counts;
  }

  /** Memory that it takes. */
  get memoryBytes(): number {
    return this.#starts.byteLength + this.#counts.byteLength;
  }

  /** The sum of all counts. */
  get total(): number {
    let total = 0;
    for (let run = 0; run < this.#counts.length; run++) {
      total += this.#counts[run] * (this.#endOf(run) - this.#starts[run]);
    }
    return total;
  }

  /** The count of an entry. */
  countOf(entry: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle] <= entry) low = middle;
      else high = middle;
    }
    return this.#counts[low];
  }

  /** Entries that have `least` or more: the first ones. */
  countFrom(least: number): number {
    let low = 0;
    let high = this.#counts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#counts[middle] >= least) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : this.#endOf(low - 1);
  }

  /** The counts of the first `end` entries, or of all when there are fewer; in a new array. */
  first(end: number): Uint32Array<ArrayBuffer> {
    const counts = new Uint32Array(Math.min(end, this.entryCount));
    for (let run = 0; run < this.#starts.length && this.#starts[run] < counts.length; run++) {
      counts.fill(this.#counts[run], this.#starts[run], this.#endOf(run));
    }
    return counts;
  }

  #endOf(run: number): number {
    return this.#starts[run + 1] ?? this.entryCount;
  }
}
