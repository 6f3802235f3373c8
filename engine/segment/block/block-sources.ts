import type {
  Entries,
  EntrySource,
  GrowingSumKeeper,
  PossibleParts,
  SumKeeper,
  Terms,
} from '../../column/entries.ts';
import type { BlockRef } from '../frame.ts';

/** Facts that a sealed segment has about the columns of its blocks. */
export interface DictionarySource {
  /** The dictionary number `number`. Throws CORRUPTION. */
  dictionary(number: number): EntrySource;
  /** Finds parts of a column of strings of a block, as `StringColumn.partsWith`. */
  partsWith(ref: BlockRef, path: string, terms: Terms): PossibleParts | undefined;
}

/** Pieces of dictionaries of sealed segments, kept from one opening to the next. */
export interface PieceSource {
  /** A piece of a dictionary of a segment; `read` reads it when it is not kept. */
  piece(segment: number, dictionary: number, piece: number, read: () => Entries): Entries;
}

/** Chunks of sealed blocks, kept from one opening to the next. */
export interface ChunkSource {
  /** The ids or numbers of a column of the block at `ref` when they are kept. */
  known(ref: BlockRef, column: number): Uint8Array | undefined;
  /** The same; `read` reads them when they are not kept. */
  chunk(ref: BlockRef, column: number, read: () => Uint8Array): Uint8Array;
}

/** Sums of dictionaries, kept from one opening to the next. */
export interface SumSource {
  /** Keeps sums of a dictionary of a segment; in a segment each has a name of its own. */
  keeper(segment: number, dictionary: string): SumKeeper;
  /** Keeps sums of what the log blocks of all segments have at a path, until one of the segments is gone. */
  keeperOfAll(path: string): GrowingSumKeeper;
}

/** Pieces and sums of dictionaries of sealed segments. */
export interface KeptSource {
  pieces: PieceSource;
  sums: SumSource;
}
