import { type BlockRef, placeKey } from '../segment/frame.ts';
import { IdleCache } from './idle-cache.ts';
import type { Shrinkable } from './model/room.ts';

/** Memory of chunks. */
const BYTES_MAX = 12 * 1024 * 1024;
/** Bytes a row up to which a chunk is kept: more would take the room of many others. */
const ROW_BYTES_MAX = 2;
/** Bytes beside those of rows. */
const HEAD_BYTES_MAX = 64;

/** Chunks of columns that were read twice, as they lie in the file. Used by one thread. */
export class ChunkCache {
  readonly #kept: IdleCache<Uint8Array>;

  constructor(bytesMax = BYTES_MAX) {
    this.#kept = new IdleCache(bytesMax);
  }

  /** Memory that it takes, about. */
  get bytes(): number {
    return this.#kept.bytes;
  }

  /** A chunk of a column of a block when it is kept. */
  known(ref: BlockRef, column: number): Uint8Array | undefined {
    return this.#kept.known(`${placeKey(ref)} ${column}`);
  }

  /** A chunk of a column of a block, not to be written; `read` reads what is not kept, and throws what it likes. */
  chunk(ref: BlockRef, column: number, read: () => Uint8Array): Uint8Array {
    const { segment, rowCount } = ref;
    return this.#kept.get(segment, `${placeKey(ref)} ${column}`, () => {
      const chunk = read();
      if (chunk.length > rowCount * ROW_BYTES_MAX + HEAD_BYTES_MAX)
        return { value: chunk, bytes: 0 };
      // What was read of the first bytes of a block would keep all of these.
      const isAlone = chunk.buffer.byteLength === chunk.length;
      return { value: isAlone ? chunk : chunk.slice(), bytes: chunk.length };
    });
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
