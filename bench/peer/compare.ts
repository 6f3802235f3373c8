import type { Cell, Row } from './peer.ts';
import { type Comparison, ROUNDED, type Tolerance } from './questions.ts';

/** Answers of two stores to one question, compared by value. */

/** Where two answers part: the first row that differs, undefined where one of them has no such row. */
export interface Difference {
  /** The fault, in a few words. */
  what: string;
  expected: Row | undefined;
  found: Row | undefined;
}

/**
 * The first difference between an answer and that of the reference, undefined when they agree. Rows are compared in
 * the order of their keys, so the order in which a store gave them does not matter.
 */
export function compareAnswers(
  comparison: Comparison,
  expected: readonly Row[],
  found: readonly Row[],
): Difference | undefined {
  if (comparison.sharedOnly === true) {
    const shared = sharedRows(comparison, expected, found);
    if (shared.expected.length > 0)
      return compareAnswers({ ...comparison, sharedOnly: false }, shared.expected, shared.found);
  }
  if (expected.length !== found.length) {
    const what = `${found.length} rows instead of ${expected.length}`;
    return { what, ...firstUnpaired(comparison, expected, found) };
  }
  const right = settled(comparison, expected);
  const left = settled(comparison, found);
  const length = Math.max(left.length, right.length);
  for (let place = 0; place < length; place++) {
    const what = differs(comparison, right[place], left[place]);
    if (what !== undefined) return { what, expected: right[place], found: left[place] };
  }
  return undefined;
}

/** The rows of both whose keys are in the other. */
function sharedRows(
  comparison: Comparison,
  expected: readonly Row[],
  found: readonly Row[],
): { expected: Row[]; found: Row[] } {
  const keysOf = (rows: readonly Row[]): Set<string> =>
    new Set(rows.map((row) => keyOf(comparison, row)));
  const [known, given] = [keysOf(expected), keysOf(found)];
  return {
    expected: expected.filter((row) => given.has(keyOf(comparison, row))),
    found: found.filter((row) => known.has(keyOf(comparison, row))),
  };
}

function keyOf(comparison: Comparison, row: Row): string {
  return JSON.stringify(row.slice(0, comparison.keys));
}

/** The first row of one answer whose keys the other does not have. */
function firstUnpaired(
  comparison: Comparison,
  expected: readonly Row[],
  found: readonly Row[],
): { expected: Row | undefined; found: Row | undefined } {
  const known = new Set(expected.map((row) => keyOf(comparison, row)));
  const given = new Set(found.map((row) => keyOf(comparison, row)));
  return {
    expected: expected.find((row) => !given.has(keyOf(comparison, row))),
    found: found.find((row) => !known.has(keyOf(comparison, row))),
  };
}

function differs(
  comparison: Comparison,
  expected: Row | undefined,
  found: Row | undefined,
): string | undefined {
  if (expected === undefined || found === undefined) return 'a row has no counterpart';
  for (let column = 0; column < comparison.columns.length; column++) {
    const tolerance = toleranceOf(comparison, column, expected[column]);
    if (!agree(expected[column], found[column], tolerance)) return comparison.columns[column];
  }
  return undefined;
}

/** Keys are equal, but for doubles: VictoriaLogs gives 0.009 back as 0.009000000000000001. */
function toleranceOf(
  comparison: Comparison,
  column: number,
  expected: Cell | undefined,
): Tolerance {
  if (column >= comparison.keys) return comparison.tolerances[column - comparison.keys];
  return Number.isInteger(expected) ? 0 : ROUNDED;
}

function agree(expected: Cell | undefined, found: Cell | undefined, tolerance: Tolerance): boolean {
  if (expected === found) return true;
  if (typeof expected !== 'number' || typeof found !== 'number') return false;
  return Math.abs(expected - found) <= tolerance * Math.max(Math.abs(expected), Math.abs(found));
}

/** The rows by their keys; of an answer that was cut, those of the last rank have only their number and the rank. */
function settled(comparison: Comparison, rows: readonly Row[]): Row[] {
  const { cut } = comparison;
  const kept = cut === undefined ? [...rows] : withoutLastRank(comparison, rows);
  const texts = new Map(kept.map((row) => [row, JSON.stringify(row)]));
  return kept.sort((one, other) => {
    const left = texts.get(one) ?? '';
    const right = texts.get(other) ?? '';
    return left < right ? -1 : left > right ? 1 : 0;
  });
}

function withoutLastRank(comparison: Comparison, rows: readonly Row[]): Row[] {
  const { cut } = comparison;
  if (cut === undefined) return [...rows];
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify(row.slice(0, cut.group));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  const kept: Row[] = [];
  for (const group of groups.values()) {
    if (group.length < cut.limit) {
      kept.push(...group);
      continue;
    }
    const last = Math.min(...group.map((row) => Number(row[cut.rank])));
    const above = group.filter((row) => Number(row[cut.rank]) > last);
    kept.push(...above, tied(comparison, group[0], last, group.length - above.length));
  }
  return kept;
}

/** Stands for `count` rows of which only the rank is settled. */
function tied(comparison: Comparison, first: Row, rank: number, count: number): Row {
  const { cut } = comparison;
  return comparison.columns.map((_, column) => {
    if (cut === undefined || column < cut.group) return first[column];
    return column === cut.rank ? rank : `${count} tied`;
  });
}
