import { EngineError } from '../../base/errors.ts';
import { type AggregateLimits, LIMITS } from './aggregate-limits.ts';

/** Memory that a query may take unless its source says otherwise. */
const MEMORY_BYTES_MAX = 256 * 1024 * 1024;
/** Bytes that a character of an answer takes: it is in the events, and in the answer. */
const CHARACTER_BYTES = 4;

/** Limit of the memory that a query may take. */
export interface MemoryBound {
  /** Bytes of what a query keeps until it is answered; opened blocks are not of it. */
  readonly memoryBytesMax?: number | undefined;
}

/** The part of its memory that a query may take for the rows that it has selected. */
const BITMAPS_PART = 8;

/** Bytes of memory that a query may take. */
export function memoryOf({ memoryBytesMax }: MemoryBound): number {
  return memoryBytesMax ?? MEMORY_BYTES_MAX;
}

/** Bytes that the selected rows of blocks may take that are remembered from scan to scan. */
export function bitmapBytesOf(bound: MemoryBound): number {
  return Math.floor(memoryOf(bound) / BITMAPS_PART);
}

/** Bytes that events of so many characters take, with their answer. */
export function bytesOfCharacters(count: number): number {
  return count * CHARACTER_BYTES;
}

/** Throws MEMORY when the events of an answer have too many characters. */
export function checkCharacters(bound: MemoryBound, count: number): void {
  const max = Math.floor(memoryOf(bound) / CHARACTER_BYTES);
  if (count <= max) return;
  throw new EngineError(
    'MEMORY',
    `the events of the answer have more than ${max} characters; allowed: a smaller limit, or fewer columns`,
  );
}

/**
 * Limits of an aggregation: half of the memory is for its groups, the rest for what is kept between passes and the
 * answer.
 */
export function aggregateLimits(bound: MemoryBound): AggregateLimits {
  const memoryBytesMax = Math.min(LIMITS.memoryBytesMax, Math.floor(memoryOf(bound) / 2));
  // Sketches take what they take, so that they are for those who have all the memory.
  const mayBeSketched = memoryBytesMax === LIMITS.memoryBytesMax;
  return {
    memoryBytesMax,
    trialBytesMax: mayBeSketched ? LIMITS.trialBytesMax : memoryBytesMax,
    cellsMax: Math.min(LIMITS.cellsMax, Math.floor(memoryBytesMax / 8)),
    headsMax: LIMITS.headsMax,
  };
}
