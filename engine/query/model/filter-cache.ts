import { createHash } from 'node:crypto';
import { must } from '../../base/assert.ts';
import type { BlockRef } from '../../segment/frame.ts';
import type { Bitmap } from './bitmap.ts';
import type { Predicate } from './predicate.ts';
import type { Shrinkable } from './room.ts';

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

/** The rows of a block that a filter lets through: a bitmap, or when that is shorter their numbers. */
export interface SelectedRows {
  rowCount: number;
  rows: Uint16Array | Bitmap;
}

/** Findings that are kept of a segment's blocks for one filter. */
interface KeptSegment<Found> {
  segment: number;
  bytes: number;
  /** By ordinal. */
  blocks: Map<number, Found>;
}

/** A name of its own for each filter, whose text is of any length. */
export function filterName(filter: Predicate): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64');
}

/**
 * Findings about blocks with filters, so that not each request scans all blocks. Blocks never change, so neither
 * does this; what was used longest ago goes when there is too much. Used by one thread.
 */
export class FilterCache<Found> implements Shrinkable {
  readonly #bytesMax: number;
  /** By segment and filter, the one that was used last at the end. */
  readonly #kept = new Map<string, KeptSegment<Found>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Memory that it takes, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The finding about a block, if there is one; `filter` is a `filterName`. */
  get(filter: string, { segment, ordinal }: BlockRef): Found | undefined {
    return this.#use(`${segment} ${filter}`)?.blocks.get(ordinal);
  }

  /** Keeps what was found of a block, whose arrays have `foundBytes`. */
  keep(filter: string, { segment, ordinal }: BlockRef, found: Found, foundBytes: number): void {
    const key = `${segment} ${filter}`;
    let kept = this.#use(key);
    if (kept === undefined) {
      kept = { segment, bytes: 0, blocks: new Map() };
      this.#kept.set(key, kept);
    }
    if (kept.blocks.has(ordinal)) return;
    const bytes = ENTRY_BYTES + foundBytes;
    kept.blocks.set(ordinal, found);
    kept.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax) this.dropOldest();
  }

  dropOldest(): void {
    const [oldest, { bytes }] = must(this.#kept.entries().next().value, 'value that takes memory');
    this.#kept.delete(oldest);
    this.#bytes -= bytes;
  }

  /** Forgets segments that are gone. */
  forget(segments: readonly number[]): void {
    for (const [key, { segment, bytes }] of this.#kept) {
      if (!segments.includes(segment)) continue;
      this.#kept.delete(key);
      this.#bytes -= bytes;
    }
  }

  #use(key: string): KeptSegment<Found> | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept;
  }
}
