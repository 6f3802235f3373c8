import { STRETCH_ROWS } from '../../column/column.ts';
import { type Bitmap, noRows } from '../model/bitmap.ts';

/** Words of a bitmap that are of a stretch. */
const STRETCH_WORDS = STRETCH_ROWS / 32;
/** Rows are looked at in stretches when at most 1 in this many of these has some. */
const FEW_RATIO = 4;

/** Gives the numbers of a stretch of rows; `undefined` when they are not read without the others. */
export type NumbersFrom = (from: number) => Uint32Array | undefined;

/** Words of a bitmap that some rows are in, from one up to another. */
export interface StretchWords {
  first: number;
  end: number;
}

/** The stretches of STRETCH_ROWS rows that have some of `rows`; `undefined` when these are many. */
function fewStretches(rows: Bitmap): StretchWords[] | undefined {
  const stretches: StretchWords[] = [];
  const most = rows.length / STRETCH_WORDS / FEW_RATIO;
  for (let word = 0; word < rows.length; word++) {
    if (rows[word] === 0) continue;
    if (stretches.length >= most) return undefined;
    const first = word - (word % STRETCH_WORDS);
    const end = Math.min(first + STRETCH_WORDS, rows.length);
    stretches.push({ first, end });
    word = end - 1;
  }
  return stretches;
}

/**
 * Shows the numbers of the stretches that have some of `rows`, number i that of row i of the stretch; false when it is
 * better to look at the numbers of all rows.
 */
export function inStretches(
  rows: Bitmap,
  numbersFrom: NumbersFrom,
  visit: (numbers: Uint32Array, words: StretchWords) => void,
): boolean {
  const stretches = fewStretches(rows);
  if (stretches === undefined) return false;
  for (const words of stretches) {
    const numbers = numbersFrom(words.first * 32);
    if (numbers === undefined) return false;
    visit(numbers, words);
  }
  return true;
}

/**
 * The rows among `rows`, which have numbers, whose number has a 1 in `chosen`, as a new bitmap; `undefined` when it is
 * better to look at the numbers of all rows.
 */
export function rowsOfNumbers(
  rows: Bitmap,
  numbersFrom: NumbersFrom,
  chosen: Uint8Array,
): Bitmap | undefined {
  let found: Bitmap | undefined;
  const isDone = inStretches(rows, numbersFrom, (numbers, { first, end }) => {
    found ??= noRows(rows.length * 32);
    for (let word = first; word < end; word++) {
      if (rows[word] === 0) continue;
      const base = (word - first) * 32;
      const next = Math.min(base + 32, numbers.length);
      let bits = 0;
      for (let at = base; at < next; at++) bits |= chosen[numbers[at]] << at;
      found[word] = bits & rows[word];
    }
  });
  return isDone ? (found ?? noRows(rows.length * 32)) : undefined;
}
