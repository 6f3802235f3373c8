import type { Entries } from '../column/entries.ts';
import { IdleCache, type Sized } from './idle-cache.ts';
import type { Shrinkable } from './model/room.ts';

/** Memory of pieces: of some 250,000 strings. */
const BYTES_MAX = 12 * 1024 * 1024;
/** Memory of a piece beside its strings. */
const PIECE_BYTES = 256;

/** Pieces of dictionaries that were read twice, inflated. Used by one thread. */
export class PieceCache {
  readonly #kept: IdleCache<Entries>;

  constructor(bytesMax = BYTES_MAX) {
    this.#kept = new IdleCache(bytesMax);
  }

  /**
   * A piece of a dictionary, not to be written; `read` reads what is not kept, in memory of anybody's, and throws what
   * it likes.
   */
  piece(segment: number, dictionary: number, piece: number, read: () => Entries): Entries {
    const make = (): Sized<Entries> => {
      const value = read();
      return { value, bytes: value.bytes.length + value.offsets.byteLength + PIECE_BYTES };
    };
    return this.#kept.get(segment, `${segment} ${dictionary} ${piece}`, make, ownEntries);
  }

  /** Where it keeps them. */
  get caches(): readonly Shrinkable[] {
    return [this.#kept];
  }

  /** Forgets segments that are gone. */
  forget(segments: readonly number[]): void {
    this.#kept.forget(segments);
  }

  /** Forgets all. */
  clear(): void {
    this.#kept.clear();
  }
}

/** The same entries, whose memory nobody else has. */
function ownEntries({ bytes, offsets }: Entries): Entries {
  return { bytes: bytes.slice(), offsets: offsets.slice() };
}
