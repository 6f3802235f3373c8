import type { BlockRef } from '../segment/frame.ts';

/** Codes of up to 16 bits, in as few bytes as they need. */
type NarrowCodes = Uint8Array | Uint16Array;

interface Kept {
  segment: number;
  codes: NarrowCodes;
  /** Number of the call that used them last. */
  usedAt: number;
}

/** Memory of codes. */
const BYTES_MAX = 12 * 1024 * 1024;
/** Columns of blocks of which it is known that they were read once. */
const SEEN_MAX = 16_384;
/** What is kept makes room when it was not used for so many calls for each that is kept. */
const IDLE_CALLS = 4;

/**
 * Codes of the rows of columns that were read twice, kept narrow: to widen them takes a tenth of the time that
 * unpacking takes. Scans go through more columns than there is room for, again and again, so that what was used longest
 * ago is what they need next: it stays until nobody asks for it any more. Used by one thread.
 */
export class CodeCache {
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

  /** The codes of a column of a block, a new array; `read` reads what is not kept, and throws what it likes. */
  codes({ segment, offset }: BlockRef, column: number, read: () => Uint32Array): Uint32Array {
    const key = `${segment} ${offset} ${column}`;
    const usedAt = this.#calls++;
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      kept.usedAt = usedAt;
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return new Uint32Array(kept.codes);
    }
    const codes = read();
    if (this.#seen.delete(key)) this.#keep(key, segment, codes, usedAt);
    else if (this.#seen.size < SEEN_MAX) this.#seen.add(key);
    else this.#seen.clear();
    return codes;
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

  #keep(key: string, segment: number, codes: Uint32Array, usedAt: number): void {
    const narrow = narrowed(codes);
    if (narrow === undefined) return;
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes + narrow.byteLength <= this.#bytesMax) break;
      if (usedAt - kept.usedAt <= IDLE_CALLS * this.#kept.size) return;
      this.#drop(oldest);
    }
    this.#kept.set(key, { segment, codes: narrow, usedAt });
    this.#bytes += narrow.byteLength;
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.codes.byteLength ?? 0;
    this.#kept.delete(key);
  }
}

/** The same codes narrow; `undefined` when one has more than 16 bits. */
function narrowed(codes: Uint32Array): NarrowCodes | undefined {
  let bits = 0;
  for (let row = 0; row < codes.length; row++) bits |= codes[row];
  if (bits >>> 8 === 0) return new Uint8Array(codes);
  return bits >>> 16 === 0 ? new Uint16Array(codes) : undefined;
}
