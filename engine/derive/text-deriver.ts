import { COMPRESSION_GAIN_MIN, TEXT_PIECE_ROWS } from '../base/limits.ts';
import type { StringPlace } from '../column/entries.ts';
import { coldCompressor } from '../packed/compress.ts';
import type { DeriveKernel } from './derive-kernel.ts';
import { PlainMatcher } from './plain-matcher.ts';
import { readyTemplates } from './ready-template.ts';
import type { ColumnTexts, RowsText } from './row-texts.ts';
import { OWN_TEXT, type TextTemplate } from './template.ts';
import { findTemplates, type Sample, type SampleValue } from './template-finder.ts';

/** Texts by which templates are found. */
const SAMPLES = 192;

/** Texts as templates, and bytes that each has of its own. */
export interface DerivedParts {
  templates: readonly TextTemplate[];
  /** The template of each text. */
  numbers: Uint8Array;
  /** By piece of TEXT_PIECE_ROWS texts, their own bytes: a length before those of each part. */
  own: Uint8Array[];
}

/**
 * Finds out of which values of the columns `columnNumbers` in their rows texts are made; `undefined` when that makes
 * them no smaller. With `kernel`, which does not matter for the result. Throws CORRUPTION.
 */
export function deriveText(
  text: RowsText,
  columns: ColumnTexts,
  columnNumbers: readonly number[],
  kernel?: DeriveKernel,
): DerivedParts | undefined {
  const templates = findTemplates(samplesOf(text, columns, columnNumbers, kernel));
  if (templates.length === 0) return undefined;
  let plain: PlainMatcher | undefined;
  const isLoaded = kernel?.load(text, templates, columns) === true;
  const numbers = new Uint8Array(text.rows.length);
  const own: Uint8Array[] = [];
  for (let first = 0; first < numbers.length; first += TEXT_PIECE_ROWS) {
    const end = Math.min(first + TEXT_PIECE_ROWS, numbers.length);
    let piece = isLoaded ? kernel.match(text, first, end, numbers) : undefined;
    if (piece === undefined) {
      plain ??= new PlainMatcher(readyTemplates(templates, columns), text);
      piece = plain.match(first, end, numbers);
    }
    if (first === 0 && !gains(text, end, piece)) return undefined;
    own.push(piece);
  }
  return { templates: [...templates, OWN_TEXT], numbers, own };
}

/** Reports that `own` is smaller than the first `count` texts, with a byte for the template of each. */
function gains({ offsets, bytes }: RowsText, count: number, own: Uint8Array): boolean {
  const sizeOf = (piece: Uint8Array): number => (coldCompressor()(piece) ?? piece).length;
  const whole = sizeOf(bytes.subarray(0, offsets[count]));
  return sizeOf(own) + count <= whole * (1 - COMPRESSION_GAIN_MIN);
}

function samplesOf(
  { rows, offsets, bytes }: RowsText,
  columns: ColumnTexts,
  columnNumbers: readonly number[],
  kernel: DeriveKernel | undefined,
): Sample[] {
  const count = Math.min(SAMPLES, rows.length);
  return Array.from({ length: count }, (_, number) => {
    const value = Math.floor((number * rows.length) / count);
    const values = columnNumbers.flatMap((column): SampleValue[] => {
      const place = placeOf(columns, column, rows[value], kernel);
      if (place === undefined) return [];
      return [{ column, bytes: place.bytes.subarray(place.start, place.end) }];
    });
    return { text: bytes.subarray(offsets[value], offsets[value + 1]), values };
  });
}

/** The text of a column in a row, in the kernel's memory when its dictionary is there: reading a piece takes longer. */
function placeOf(
  columns: ColumnTexts,
  column: number,
  row: number,
  kernel: DeriveKernel | undefined,
): StringPlace | undefined {
  const dictionary = columns.dictionary(column);
  if (dictionary === undefined || kernel?.holds(dictionary) !== true)
    return columns.place(column, row);
  return kernel.place(dictionary, columns.ids(column)[row] - 1);
}
