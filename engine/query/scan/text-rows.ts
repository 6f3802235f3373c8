import { must } from '../../base/assert.ts';
import { Pace, type Units } from '../../base/pause.ts';
import type { StringColumn } from '../../column/column.ts';
import {
  PIECE_ENTRIES,
  type PossibleParts,
  Scratch,
  type StoredPieces,
} from '../../column/entries.ts';
import type { TextSearch } from '../filter/automaton.ts';
import type { ValueTest } from '../filter/match.ts';
import { hasSearchKernel, searchEntries, searchStored } from '../filter/search-kernel.ts';
import { addRow, type Bitmap, countRows, hasRow, keepRows, noRows } from '../model/bitmap.ts';
import { mayHave } from './entry-passes.ts';

/** Words of a bitmap of the rows of a piece. */
const PIECE_WORDS = PIECE_ENTRIES / 32;
/** Bytes of text that are searched in a microsecond: by a literal, and by an automaton. */
const LITERAL_STEP_BYTES = 2_048;
const AUTOMATON_STEP_BYTES = 256;

/** Memory for what is read together, and for a piece alone. */
interface Memory {
  together: Scratch;
  piece: Scratch;
}

const memories = new WeakMap<object, Memory>();

function memoryOf(test: object): Memory {
  const known = memories.get(test);
  if (known !== undefined) return known;
  const memory = { together: new Scratch(), piece: new Scratch() };
  memories.set(test, memory);
  return memory;
}

/** A text column each of whose rows has an entry of its own, and what is looked for in it. */
interface Searched {
  column: StringColumn;
  pieces: StoredPieces;
  test: ValueTest;
  search: TextSearch;
}

/**
 * The rows among `rows`, which are most of them, whose texts pass, found in units: texts are searched in the memory in
 * which they are decompressed, those of neighbouring pieces are read together. `undefined` when that cannot be done.
 * `possible`: the pieces that may have some. Throws CORRUPTION.
 */
export function textRows(
  column: StringColumn,
  test: ValueTest,
  rows: Bitmap,
  possible: PossibleParts | undefined,
): Units<Bitmap> | undefined {
  const { storedPieces: pieces } = column;
  const { search } = test;
  if (pieces === undefined || search === undefined || !hasSearchKernel()) return undefined;
  return rowsOf({ column, pieces, test, search }, rows, possible);
}

function* rowsOf(
  searched: Searched,
  rows: Bitmap,
  possible: PossibleParts | undefined,
): Units<Bitmap> {
  const rowCount = searched.column.entryCount;
  const pieceCount = Math.ceil(rowCount / PIECE_ENTRIES);
  const { together } = memoryOf(searched.test);
  const isWanted = (piece: number): boolean =>
    mayHave(possible, piece) && countRows(rowsOfPiece(rows, piece)) > 0;
  const stepBytes =
    searched.search.automaton === undefined ? LITERAL_STEP_BYTES : AUTOMATON_STEP_BYTES;
  const pace = new Pace();
  const found = noRows(rowCount);
  for (let piece = 0; piece < pieceCount; ) {
    if (!isWanted(piece)) {
      piece++;
      continue;
    }
    let end = piece + 1;
    while (end < pieceCount && isWanted(end)) end++;
    for (const stored of searched.pieces.bytes(piece, end, together)) {
      const byteCount = searchPiece(searched, piece, stored, rows, found);
      piece++;
      if (pace.isFull(Math.ceil(byteCount / stepBytes))) yield;
    }
  }
  keepRows(found, rows);
  return found;
}

function rowsOfPiece(rows: Bitmap, piece: number): Bitmap {
  return rows.subarray(piece * PIECE_WORDS, (piece + 1) * PIECE_WORDS);
}

/** Adds the rows of a piece whose texts pass to `found`; how many bytes were searched. */
function searchPiece(
  { column, pieces, test, search }: Searched,
  piece: number,
  stored: Uint8Array,
  rows: Bitmap,
  found: Bitmap,
): number {
  const isText = (bytes: Uint8Array, start: number, end: number): boolean =>
    test.text(bytes, start, end);
  const about = { search, test: isText };
  const target = rowsOfPiece(found, piece);
  const lengths = pieces.lengths(piece);
  const byKernel = lengths && searchStored({ lengths, stored }, about, target);
  if (byKernel !== undefined) return byKernel;
  const first = piece * PIECE_ENTRIES;
  const entries = must(column.piece?.(first, memoryOf(test).piece), 'texts of a piece');
  const known = searchEntries(entries, about, target);
  if (known !== undefined) return known;
  const { bytes, offsets } = entries;
  const count = offsets.length - 1;
  for (let entry = 0; entry < count; entry++) {
    const isFound =
      hasRow(rows, first + entry) && isText(bytes, offsets[entry], offsets[entry + 1]);
    if (isFound) addRow(found, first + entry);
  }
  return offsets[count] - offsets[0];
}
