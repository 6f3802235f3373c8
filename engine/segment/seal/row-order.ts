import { DAY_ROWS_MIN } from '../../base/limits.ts';
import { free } from '../../packed/growth.ts';

/** Rows that are put in order by insertion before runs are merged. */
const RUN_ROWS = 32;
/** Bits of a time that rows are put in order by at first, a half at once. */
const DIGIT_BITS = 11;
const DIGITS = 2 ** DIGIT_BITS;
/** A day gets a segment of its own when it has at least 1 in this many rows of the batch. */
const DAYS_MAX = 32;

/** The keys of all rows of a batch, by their number in it. */
export interface BatchKeys {
  timeMs: Float64Array;
  writers: Uint8Array;
  sequences: Float64Array;
}

/** True when row `left` comes after row `right` in the order of events. */
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

function isSorted(keys: BatchKeys): boolean {
  for (let row = 1; row < keys.timeMs.length; row++) if (isAfter(keys, row - 1, row)) return false;
  return true;
}

/** By row, its time in units of which all rows together have DIGITS ** 2. */
function coarseTimes(timeMs: Float64Array): Uint32Array<ArrayBuffer> {
  let min = timeMs[0];
  let max = min;
  for (let row = 1; row < timeMs.length; row++) {
    if (timeMs[row] < min) min = timeMs[row];
    if (timeMs[row] > max) max = timeMs[row];
  }
  const unit = Math.max((max - min) / (DIGITS ** 2 - 1), 1);
  const times = new Uint32Array(timeMs.length);
  for (let row = 0; row < times.length; row++) times[row] = (timeMs[row] - min) / unit;
  return times;
}

/** Puts the rows of `from` into `to` in the order of one digit of their times; those of a digit keep theirs. */
function scatter(times: Uint32Array, from: Uint32Array, to: Uint32Array, shift: number): void {
  const places = new Uint32Array(DIGITS + 1);
  const mask = DIGITS - 1;
  for (let row = 0; row < times.length; row++) places[((times[row] >>> shift) & mask) + 1]++;
  for (let digit = 0; digit < DIGITS; digit++) places[digit + 1] += places[digit];
  for (let at = 0; at < from.length; at++) {
    const row = from[at];
    to[places[(times[row] >>> shift) & mask]++] = row;
  }
}

/**
 * The numbers of all rows by (time, sequence, writer): first by coarse times, without comparing, then by a merge sort
 * that only looks at runs which are in order already, as they mostly are then.
 */
export function sortRows(keys: BatchKeys): Uint32Array<ArrayBuffer> {
  const count = keys.timeMs.length;
  let order = new Uint32Array(count);
  for (let row = 0; row < count; row++) order[row] = row;
  if (isSorted(keys)) return order;
  let spare = new Uint32Array(count);
  const times = coarseTimes(keys.timeMs);
  scatter(times, order, spare, 0);
  scatter(times, spare, order, DIGIT_BITS);
  for (let from = 0; from < count; from += RUN_ROWS) {
    insertRun(keys, order, from, Math.min(from + RUN_ROWS, count));
  }
  for (let width = RUN_ROWS; width < count; width *= 2) {
    // Runs that follow each other are copied together, and none when all do.
    let copied = 0;
    for (let from = 0; from + width < count; from += 2 * width) {
      const middle = from + width;
      const to = Math.min(middle + width, count);
      if (!isAfter(keys, order[middle - 1], order[middle])) continue;
      if (from > copied) spare.set(order.subarray(copied, from), copied);
      mergeRuns(keys, order, spare, from, middle, to);
      copied = to;
    }
    if (copied === 0) continue;
    spare.set(order.subarray(copied), copied);
    [order, spare] = [spare, order];
  }
  free(times, spare);
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
