import { DAY_ROWS_MIN } from '../../base/limits.ts';

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
  if (sequences[left] !== sequences[right]) return sequences[left] > sequences[right];
  return writers[left] > writers[right];
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
 * The numbers of all rows by (time, sequence, writer): a merge sort that only looks at runs which are in order
 * already, as rows that came in mostly are.
 */
export function sortRows(keys: BatchKeys): Uint32Array<ArrayBuffer> {
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

/** Days whose rows are sealed together, and the rows of each segment that they get. */
export interface DayShare {
  days: ReadonlySet<number>;
  rowCounts: number[];
}

/**
 * Shares the rows of a batch out by UTC day: one share a day, and one for all days that have few rows; the segments of
 * a share have about equally many rows, at most `rowsMax`.
 */
export function shareDays(rowsOfDay: ReadonlyMap<number, number>, rowsMax: number): DayShare[] {
  let total = 0;
  for (const rows of rowsOfDay.values()) total += rows;
  const enough = Math.max(DAY_ROWS_MIN, Math.ceil(total / DAYS_MAX));
  const shares: DayShare[] = [];
  const strays = new Set<number>();
  let strayRows = 0;
  for (const [day, rows] of [...rowsOfDay].sort(([left], [right]) => left - right)) {
    if (rows >= enough) {
      shares.push({ days: new Set([day]), rowCounts: evenParts(rows, rowsMax) });
    } else {
      strays.add(day);
      strayRows += rows;
    }
  }
  if (strayRows > 0) shares.push({ days: strays, rowCounts: evenParts(strayRows, rowsMax) });
  return shares;
}

/** Cuts rows into equal parts of at most `partMax`. */
export function evenParts(rows: number, partMax: number): number[] {
  const partCount = Math.ceil(rows / partMax);
  return Array.from(
    { length: partCount },
    (_, part) =>
      Math.floor((rows * (part + 1)) / partCount) - Math.floor((rows * part) / partCount),
  );
}
