/** Codes below are counted. */
const CODES = (1 << 16) + 1;

/**
 * Counts how many rows have each code, of a few rows at a time. Memory is the same whatever it has counted. Owned by
 * one thread.
 */
export class Tally {
  /** The codes that were counted, each once; behind them is room for one more. */
  readonly codes = new Uint32Array(CODES + 1);
  codeCount = 0;
  /** By code; those of other codes are 0. */
  readonly times = new Uint32Array(CODES);

  /** Counts the codes, from 0 to TALLIED_MAX + 1, of `rows[from, to)` only. */
  take(codes: Uint32Array, rows: Uint32Array, from: number, to: number): void {
    const { codes: found, times } = this;
    for (let at = 0; at < this.codeCount; at++) times[found[at]] = 0;
    let count = 0;
    for (let at = from; at < to; at++) {
      const code = codes[rows[at]];
      const before = times[code];
      times[code] = before + 1;
      // A place further when it was 0, without a branch.
      found[count] = code;
      count += (before - 1) >>> 31;
    }
    this.codeCount = count;
  }
}

/** The greatest number whose code, which is one higher, can be counted. */
export const TALLIED_MAX = CODES - 2;

/** The tally of this thread. */
export const tally = new Tally();
