import type { BlockRef } from '../segment/frame.ts';

interface Kept {
  segment: number;
  chunk: Uint8Array;
  /** Number of the call that used them last. */
  usedAt: number;
}

/** Memory of chunks. */
const BYTES_MAX = 12 * 1024 * 1024;
/** Columns of blocks of which it is known that they were read once. */
const SEEN_MAX = 16_384;
/** Bytes a row up to which a chunk is kept: more would take the room of many others. */
const ROW_BYTES_MAX = 2;
/** Bytes beside those of rows. */
const HEAD_BYTES_MAX = 64;
/** What is kept makes room when it was not used for so many calls for each that is kept. */
const IDLE_CALLS = 4;

/**
 * Chunks of columns that were read twice, as they lie in the file. Scans go through more columns than there is room
 * for, again and again, so that what was used longest ago is what they need next: it stays until nobody asks for it any
 * more. Used by one thread.
 */
export class ChunkCache {
  readonly #bytesMax: number;
  readonly #seen = new Set<string>();
  /** Those that were used last at the end. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;
  #calls = 0;

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Memory that it takes, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A chunk of a column of a block, not to be written; `read` reads what is not kept, and throws what it likes. */
  chunk(ref: BlockRef, column: number, read: () => Uint8Array): Uint8Array {
    const { segment, offset, rowCount } = ref;
    const key = `${segment} ${offset} ${column}`;
    const usedAt = this.#calls++;
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      kept.usedAt = usedAt;
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept.chunk;
    }
    const chunk = read();
    if (chunk.length > rowCount * ROW_BYTES_MAX + HEAD_BYTES_MAX) return chunk;
    if (this.#seen.delete(key)) this.#keep(key, segment, chunk, usedAt);
    else if (this.#seen.size < SEEN_MAX) this.#seen.add(key);
    else this.#seen.clear();
    return chunk;
  }

  /** Forgets segments that are gone. */
  forget(segments: readonly number[]): void {
    for (const [key, { segment }] of this.#kept) if (segments.includes(segment)) this.#drop(key);
  }

  /** Forgets all. */
  clear(): void {
    this.#seen.clear();
    this.#kept.clear();
    this.#bytes = 0;
  }

  #keep(key: string, segment: number, chunk: Uint8Array, usedAt: number): void {
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes + chunk.length <= this.#bytesMax) break;
      if (usedAt - kept.usedAt <= IDLE_CALLS * this.#kept.size) return;
      this.#drop(oldest);
    }
    // What was read of the first bytes of a block keeps all of these.
    const isAlone = chunk.buffer.byteLength === chunk.length;
    this.#kept.set(key, { segment, chunk: isAlone ? chunk : chunk.slice(), usedAt });
    this.#bytes += chunk.length;
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.chunk.length ?? 0;
    this.#kept.delete(key);
  }
}
