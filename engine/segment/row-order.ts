import { DAY_MS } from '../base/day.ts';
import { DAY_ROWS_MIN } from '../base/limits.ts';

/** Rows that are put in order by insertion before runs are merged. */
const RUN_ROWS = 32;
/** A day gets a segment of its own when it has at least 1 in this many rows of the batch. */
const DAYS_MAX = 32;

/** The keys of all rows of a batch, by their number in it. */
export interface BatchKeys {
  timeMs: Float64Array;
  writers: Uint8Array;
  sequences: Float64Array;
}

/** Whether row `left` comes after row `right` in the order of events. */
function isAfter(keys: BatchKeys, left: number, right: number): boolean {
  const { timeMs, writers, sequences } = keys;
  if (timeMs[left] !== timeMs[right]) return timeMs[left] > timeMs[right];
  if (writers[left] !== writers[right]) return writers[left] > writers[right];
  return sequences[left] > sequences[right];
}

function insertRun(keys: BatchKeys, order: Uint32Array, from: number, to: number): void {
  for (let at = from + 1; at < to; at++) {
    const row = order[at];
    let hole = at;
    while (hole > from && isAfter(keys, order[hole - 1], row)) {
      order[hole] = order[hole - 1];
      hole--;
    }
    order[hole] = row;
  }
}

function mergeRuns(
  keys: BatchKeys,
  order: Uint32Array,
  target: Uint32Array,
  from: number,
  middle: number,
  to: number,
): void {
  let left = from;
  let right = middle;
  for (let at = from; at < to; at++) {
    const takeRight = left === middle || (right < to && isAfter(keys, order[left], order[right]));
    target[at] = takeRight ? order[right++] : order[left++];
  }
}

/**
 * The numbers of all rows by (time, writer, sequence): a merge sort that only looks at runs which are in order
 * already, as rows that came in mostly are.
 */
export function sortRows(keys: BatchKeys): Uint32Array {
  const count = keys.timeMs.length;
  let order = new Uint32Array(count);
  for (let row = 0; row < count; row++) order[row] = row;
  for (let from = 0; from < count; from += RUN_ROWS) {
    insertRun(keys, order, from, Math.min(from + RUN_ROWS, count));
  }
  let spare = new Uint32Array(count);
  for (let width = RUN_ROWS; width < count; width *= 2) {
    let merged = false;
    for (let from = 0; from < count; from += 2 * width) {
      const middle = Math.min(from + width, count);
      const to = Math.min(from + 2 * width, count);
      const inOrder = middle === to || !isAfter(keys, order[middle - 1], order[middle]);
      if (inOrder) spare.set(order.subarray(from, to), from);
      else mergeRuns(keys, order, spare, from, middle, to);
      merged ||= !inOrder;
    }
    if (merged) [order, spare] = [spare, order];
  }
  return order;
}

/**
 * Cuts sorted rows into those of the new segments: one a UTC day, and one for the rows of all days that have few;
 * more where one would have over `rowsMax` rows. Each is in order.
 */
export function splitRows(
  order: Uint32Array,
  timeMs: Float64Array,
  rowsMax: number,
): Uint32Array[] {
  const enough = Math.max(DAY_ROWS_MIN, Math.ceil(order.length / DAYS_MAX));
  const whole: Uint32Array[] = [];
  const strays: Uint32Array[] = [];
  for (let from = 0; from < order.length; ) {
    const day = Math.floor(timeMs[order[from]] / DAY_MS);
    let to = from + 1;
    while (to < order.length && timeMs[order[to]] < (day + 1) * DAY_MS) to++;
    const rows = order.subarray(from, to);
    if (rows.length >= enough) whole.push(rows);
    else strays.push(rows);
    from = to;
  }
  const stray = new Uint32Array(strays.reduce((sum, rows) => sum + rows.length, 0));
  let at = 0;
  for (const rows of strays) {
    stray.set(rows, at);
    at += rows.length;
  }
  const all = stray.length > 0 ? [...whole, stray] : whole;
  return all.flatMap((rows) => cutRows(rows, rowsMax));
}

/** Cuts rows into equal parts of at most `rowsMax`. */
function cutRows(rows: Uint32Array, rowsMax: number): Uint32Array[] {
  const partCount = Math.ceil(rows.length / rowsMax);
  const parts: Uint32Array[] = [];
  for (let part = 0; part < partCount; part++) {
    const from = Math.floor((rows.length * part) / partCount);
    parts.push(rows.subarray(from, Math.floor((rows.length * (part + 1)) / partCount)));
  }
  return parts;
}
