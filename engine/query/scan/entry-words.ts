import { must } from '../../base/assert.ts';
import { Pace, type Units } from '../../base/pause.ts';
import type { StringColumn } from '../../column/column.ts';
import {
  type Entries,
  PIECE_ENTRIES,
  type PossibleParts,
  Scratch,
  SumKey,
  type Summed,
  type Terms,
} from '../../column/entries.ts';
import { type HashSink, hashWords } from '../../word/word-hash.ts';

/** Bits of a piece: eight or more for each distinct word of most messages, so that one in eight is set by chance. */
const PIECE_BITS = 32_768;
const PIECE_WORDS = PIECE_BITS / 32;
/** Bytes of text whose words are hashed in about the time of a comparison. */
const STEP_BYTES = 8;

/** Words of the pieces of a text, each a bit by its hash. */
class PieceWords implements Summed, HashSink {
  readonly #bits: Uint32Array;
  /** Word of the first bits of the piece whose words are added. */
  #first = 0;

  constructor(pieceCount: number) {
    this.#bits = new Uint32Array(pieceCount * PIECE_WORDS);
  }

  get memoryBytes(): number {
    return this.#bits.byteLength;
  }

  /** Adds the words of the piece number `piece`, in units. */
  *addPiece(piece: number, { bytes, offsets }: Entries, pace: Pace): Units<void> {
    this.#first = piece * PIECE_WORDS;
    for (let entry = 0; entry < offsets.length - 1; entry++) {
      hashWords(bytes, offsets[entry], offsets[entry + 1], this);
      if (pace.isFull((offsets[entry + 1] - offsets[entry]) / STEP_BYTES)) yield;
    }
  }

  add(hash: number): void {
    this.#bits[this.#first + ((hash % PIECE_BITS) >>> 5)] |= 1 << (hash & 31);
  }

  /** The pieces that may have a text with all these words. */
  partsWith(hashes: readonly number[]): PossibleParts {
    const parts = new Uint8Array(this.#bits.length / PIECE_WORDS);
    for (let piece = 0; piece < parts.length; piece++) {
      this.#first = piece * PIECE_WORDS;
      parts[piece] = hashes.every((hash) => this.#has(hash)) ? 1 : 0;
    }
    return { parts, pieces: 1 };
  }

  #has(hash: number): boolean {
    return ((this.#bits[this.#first + ((hash % PIECE_BITS) >>> 5)] >>> (hash & 31)) & 1) === 1;
  }
}

const WORDS = new SumKey<PieceWords>('words');
/** One for each search of a text before its words are hashed, which takes about as long as so many searches. */
const SEARCHES = [1, 2, 3].map((search) => new SumKey<PieceWords>(`search ${search}`));

/**
 * Finds the pieces of a text of a log block that may have what is looked for, in units, by words that are kept;
 * `undefined` when it is no such text, was not searched often, or there is no room for its words. Throws CORRUPTION.
 */
export function* piecesWith(
  column: StringColumn,
  { words }: Terms,
): Units<PossibleParts | undefined> {
  const { own } = column;
  if (own === undefined || column.piece === undefined || words.length === 0) return undefined;
  if (column.entryCount < PIECE_ENTRIES) return undefined;
  const bytes = piecesOf(column) * PIECE_WORDS * 4;
  if (!SEARCHES.every((key) => own.isDue(key, 0)) || !own.isDue(WORDS, bytes)) return undefined;
  const kept = yield* own.keptUnits(WORDS, () => wordsOf(column));
  return kept.partsWith(words);
}

function piecesOf({ entryCount }: StringColumn): number {
  return Math.ceil(entryCount / PIECE_ENTRIES);
}

function* wordsOf(column: StringColumn): Units<PieceWords> {
  const pieceCount = piecesOf(column);
  const words = new PieceWords(pieceCount);
  const scratch = new Scratch();
  const pace = new Pace();
  for (let piece = 0; piece < pieceCount; piece++) {
    const entries = must(column.piece?.(piece * PIECE_ENTRIES, scratch), 'pieces');
    yield* words.addPiece(piece, entries, pace);
  }
  return words;
}
