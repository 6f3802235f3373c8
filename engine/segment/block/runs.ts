import type { ByteReader, ByteWriter } from '../../base/bytes.ts';
import { EngineError } from '../../base/errors.ts';

/** Rows whose sequences follow one another: `first`, `first + 1` and so on, `rows` of them. */
export interface Run {
  first: number;
  rows: number;
}

/** Adds a run behind the others, whose sequences are lower: to the last one when it follows that at once. */
export function addRun(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (last !== undefined && last.first + last.rows === run.first) last.rows += run.rows;
  else runs.push({ ...run });
}

/** Rows of all runs. */
export function rowsOfRuns(runs: readonly Run[]): number {
  let rows = 0;
  for (const run of runs) rows += run.rows;
  return rows;
}

/** True when each sequence of `inner` is in `outer`; both ascend. */
export function holdsRuns(outer: readonly Run[], inner: readonly Run[]): boolean {
  let at = 0;
  for (const { first, rows } of inner) {
    while (at < outer.length && outer[at].first + outer[at].rows <= first) at++;
    if (at === outer.length || outer[at].first > first) return false;
    if (outer[at].first + outer[at].rows < first + rows) return false;
  }
  return true;
}

/**
 * Writes runs that ascend: each as the distance from the end of the one before, and its rows. Source: FORMAT.md 4.1.
 */
export function writeRuns(meta: ByteWriter, runs: readonly Run[]): void {
  meta.varint(runs.length);
  let end = 0;
  for (const { first, rows } of runs) {
    meta.varint(first - end);
    meta.varint(rows);
    end = first + rows;
  }
}

/** Reads the runs of a block of `rowCount` rows whose other rows begin at `firstSequence`. Throws CORRUPTION. */
export function readRuns(meta: ByteReader, rowCount: number, firstSequence: number): Run[] {
  const runs: Run[] = [];
  let left = rowCount;
  let end = 0;
  for (let count = meta.varint(); count > 0; count--) {
    const first = end + meta.varint();
    const rows = meta.varint();
    left -= rows;
    end = first + rows;
    if (rows < 1 || left < 0) throw new EngineError('CORRUPTION', `a run of ${rows} rows`);
    runs.push({ first, rows });
  }
  if (end > firstSequence) throw new EngineError('CORRUPTION', `runs up to ${end}`);
  return runs;
}
