import type { Tallies, Tally } from './cells.ts';

/** Codes below are counted. */
const CODES = (1 << 16) + 1;

/** The greatest number whose code, which is one higher, can be counted. */
export const TALLIED_MAX = CODES - 2;

/** Memory of the tallies of this thread. */
const tally: Tally = {
  // Behind the codes is room for one more.
  codes: new Uint32Array(CODES + 1),
  codeCount: 0,
  times: new Uint32Array(CODES),
  ...{ rowCount: 0, total: 0, least: 0, greatest: 0 },
};

/** Tallies of the rows of the bits, whose codes are up to TALLIED_MAX + 1. */
export function talliesOf(codes: Uint32Array, rows: Uint32Array): Tallies {
  const tallied = (from: number, to: number): Tally => {
    const { codes: found, times } = tally;
    for (let at = 0; at < tally.codeCount; at++) times[found[at]] = 0;
    let count = 0;
    for (let row = from; row < to; row++) {
      if (((rows[row >>> 5] >>> (row & 31)) & 1) === 0) continue;
      const code = codes[row];
      const before = times[code];
      times[code] = before + 1;
      // A place further when it was 0, without a branch.
      found[count] = code;
      count += (before - 1) >>> 31;
    }
    tally.codeCount = count;
    sumUp(tally);
    return tally;
  };
  return { tally: tallied };
}

function sumUp(tally: Tally): void {
  const { codes, codeCount, times } = tally;
  tally.rowCount = 0;
  tally.total = 0;
  tally.least = CODES;
  tally.greatest = 0;
  for (let at = 0; at < codeCount; at++) {
    const code = codes[at];
    if (code === 0) continue;
    tally.rowCount += times[code];
    tally.total += code * times[code];
    tally.least = Math.min(tally.least, code);
    tally.greatest = Math.max(tally.greatest, code);
  }
}
