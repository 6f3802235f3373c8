import type { BlockRef } from '../../segment/frame.ts';

/** Memory of what one cache keeps: for about 30,000 blocks, 2 billion rows, of one filter. */
const BYTES_MAX = 32 * 1024 * 1024;
/** Memory of a block's entry besides its arrays. */
const ENTRY_BYTES = 200;

/** The rows of a block that a filter lets through, by minute. */
export interface VisibleMinutes {
  rowCount: number;
  /** Minutes since 1970-01-01 UTC that have such rows, ascending. */
  minutes: Float64Array;
  /** Such rows before each minute; one more entry: all of them. */
  rowsBefore: Uint32Array;
}

/** What is kept of a segment's blocks for one filter. */
interface KeptSegment {
  segment: number;
  bytes: number;
  /** By ordinal. */
  blocks: Map<number, VisibleMinutes>;
}

/**
 * How many rows of each block filters let through, so that a bound behind a filter does not scan all blocks for each request.
 * Blocks never change, so neither does this; what was used longest ago goes when there is too much. Used by one thread.
 */
export class VisibleCache {
  readonly #bytesMax: number;
  /** By segment and filter, the one that was used last at the end. */
  readonly #kept = new Map<string, KeptSegment>();
  #bytes = 0;

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Memory that it takes, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What is known of a block; `filter` is a name of its own for each filter. */
  get(filter: string, { segment, ordinal }: BlockRef): VisibleMinutes | undefined {
    return this.#use(`${segment} ${filter}`)?.blocks.get(ordinal);
  }

  /** Keeps what was found of a block. */
  keep(filter: string, { segment, ordinal }: BlockRef, visible: VisibleMinutes): void {
    const key = `${segment} ${filter}`;
    let kept = this.#use(key);
    if (kept === undefined) {
      kept = { segment, bytes: 0, blocks: new Map() };
      this.#kept.set(key, kept);
    }
    if (kept.blocks.has(ordinal)) return;
    const bytes = ENTRY_BYTES + visible.minutes.byteLength + visible.rowsBefore.byteLength;
    kept.blocks.set(ordinal, visible);
    kept.bytes += bytes;
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#kept.delete(oldest);
      this.#bytes -= freed;
    }
  }

  /** Forgets segments that are gone. */
  forget(segments: readonly number[]): void {
    for (const [key, { segment, bytes }] of this.#kept) {
      if (!segments.includes(segment)) continue;
      this.#kept.delete(key);
      this.#bytes -= bytes;
    }
  }

  #use(key: string): KeptSegment | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept;
  }
}
