import { EngineError } from '../../base/errors.ts';
import type { StringColumn } from '../../column/column.ts';
import type { DateChunk } from '../../column/dates.ts';
import type { Entries, EntrySource, Scratch, TextPiece } from '../../column/entries.ts';
import type { Kind } from '../../column/kind.ts';
import type { NumberChunk } from '../../column/number-chunk.ts';
import type { StringChunk } from '../../column/string-chunk.ts';

/** A column's values alone, in the order of their rows. */
export type DenseColumn = {
  /** Row of each value, ascending; `undefined` when value i is that of row i. */
  rows: Uint32Array | undefined;
} & (
  | {
      kind: StringColumn['kind'];
      ids: Uint32Array;
      /** Number of the segment's dictionary that the ids count; -1 when the block has one of its own. */
      dictionary: number;
      /** That dictionary. */
      shared: EntrySource | undefined;
      entries: () => Entries;
      /** Bytes of each entry, for which no text is read. */
      entryLengths: () => ArrayLike<number>;
      /** Of text, in which value i is entry i: pieces that may be read one by one; else 0. */
      pieceCount: number;
      piece: (number: number, scratch?: Scratch) => TextPiece;
    }
  | { kind: typeof Kind.NUMBER; chunk: NumberChunk }
  | { kind: typeof Kind.DATE; chunk: DateChunk }
  | { kind: typeof Kind.BOOLEAN; values: Uint32Array }
);

/** The values of a column of strings or arrays. */
export type DenseStrings = Extract<DenseColumn, { ids: Uint32Array }>;

/** The parts of a chunk's texts that are read; `guard` reads. */
export function denseTexts(
  chunk: StringChunk,
  guard: <T>(read: () => T) => T,
): Pick<DenseStrings, 'entries' | 'entryLengths' | 'pieceCount' | 'piece'> {
  return {
    entries: () => guard(() => chunk.entries()),
    entryLengths: () => guard(() => chunk.entryLengths()),
    pieceCount: chunk.pieceCount,
    piece: (number, scratch) => guard(() => chunk.piece(number, scratch)),
  };
}

/** The rows that have an id, and their ids. Throws CORRUPTION when they are not `count`. */
export function presentIds(
  ids: Uint32Array,
  count: number,
): { rows: Uint32Array; ids: Uint32Array } {
  const rows = new Uint32Array(count + 1);
  const present = new Uint32Array(count + 1);
  let at = 0;
  // Without branches, which would be taken at random: what the last one of a row without an id writes is not read.
  for (let row = 0; row < ids.length; row++) {
    rows[at] = row;
    present[at] = ids[row];
    at += Number(ids[row] !== 0);
  }
  if (at !== count) throw new EngineError('CORRUPTION', `${at} rows have an id, not ${count}`);
  return { rows: rows.subarray(0, count), ids: present.subarray(0, count) };
}
