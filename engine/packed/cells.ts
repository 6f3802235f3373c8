/** Numbers that are larger than they are stored: what is added at each of `places`, which ascend. */
export interface Patches {
  readonly places: Uint32Array;
  readonly highs: Uint32Array;
  /** The greatest of `highs`. */
  readonly highest: number;
  /** Both as they are stored, when a kernel can unpack them. */
  readonly packed?: PackedPatches | undefined;
}

/** Whole numbers, each `step`, from 1 on, and a packed number more than the one before; the first is `base`. */
export interface PackedSteps {
  words: Uint32Array;
  count: number;
  width: number;
  base: number;
  step: number;
}

/** Values that ascend, and the place of the first of them in their stream. */
export interface ValuesFound {
  first: number;
  values: readonly number[];
}

/** Patches as they are stored: what is added lies behind `shift` lower bits. */
export interface PackedPatches {
  places: PackedSteps;
  highs: PackedValues;
  shift: number;
}

/** Whole numbers that are packed as bitpack.ts says: number i is `base` more than the one that is stored. */
export interface PackedValues {
  /** Exactly the words that `count` numbers of `width` bits take. */
  words: Uint32Array;
  count: number;
  width: number;
  base: number;
  /** Of patched numbers. Those with their patches are below 2^32. */
  patches?: Patches;
}

/** The end of the stored numbers, with their patches and without the base. */
export function storedEnd({ width, patches }: PackedValues): number {
  return 2 ** width + (patches?.highest ?? 0);
}

/** Plain numbers, which are packed to 32 bits as they are. */
export function plainValues(values: Uint32Array): PackedValues {
  return { words: values, count: values.length, width: 32, base: 0 };
}

/** Packed values, of which those are meant that are stored as `first` to `last`; none when `first` is above. */
export interface PackedSpan {
  values: PackedValues;
  first: number;
  last: number;
}

/** Levels that a kernel takes at most. */
export const LEVELS_MAX = 3;

/** Codes of rows, each of which is a digit of the number of its row's cell. */
export interface CellLevel {
  /** A code a row. */
  codes: PackedValues;
  /** Digits are below. */
  size: number;
  /**
   * By code as it is stored, without the base, its digit; that of the last one is the digit of all beyond. Without
   * them codes are their own digits, and those beyond have the last one.
   */
  digits: Uint32Array | undefined;
}

/** Runs of rows: number i ends before row `ends[i]`, where the next one begins, and its rows have `cells[i]`. */
export interface CellRuns {
  count: number;
  ends: Uint32Array;
  cells: Uint32Array;
}

/**
 * Rows of a block and their cells, which are below `cellCount`: a row's cell is that of its run, 0 without runs, and
 * its digits, of which those of the first level count least.
 */
export interface CellRows {
  rowCount: number;
  /** The rows that count, a bit each; bits beyond the last row are 0. */
  rows: Uint32Array;
  runs: CellRuns | undefined;
  levels: readonly CellLevel[];
  cellCount: number;
}

/** Rows in groups, as many as `count`. */
export interface GroupedRows {
  count: number;
  rows: Uint32Array;
  groups: Uint32Array;
}

/**
 * Rows by cell, with the sum of their numbers and, when they were asked for, the least and greatest of them; of a cell
 * without rows these are anything. All without the base of the numbers.
 */
export interface CellSums {
  counts: Uint32Array;
  sums: Float64Array;
  least: Uint32Array;
  greatest: Uint32Array;
}

/** Codes of some rows, each with how often it is there; code 0 is none. Good until the next tally. */
export interface Tally {
  /** Each code once. */
  codes: Uint32Array;
  codeCount: number;
  /** By code. */
  times: Uint32Array;
  /** Rows with a code above 0, the sum of these codes, the least and the greatest of them. */
  rowCount: number;
  total: number;
  least: number;
  greatest: number;
}

/** Rows by the ranks of their codes; code 0 is none and has rank 0. Good until the next spread. */
export interface Spread extends Pick<Tally, 'rowCount' | 'total' | 'least' | 'greatest'> {
  /** By rank. */
  counts: Uint32Array;
  /** Finds how many ranks have rows. */
  rankCount: () => number;
}

/** Counts codes of the rows that count, from row `from` up to `to`. */
export interface Tallies {
  tally(from: number, to: number): Tally;
  /**
   * Counts them by `ranks` instead, which a code may have in common with others; not there without a kernel. Quicker
   * where there are many.
   */
  spread?(from: number, to: number, ranks: Uint16Array): Spread;
}
