import type { BlockRef } from './frame.ts';

/** Highest sequence that a writer has in a segment. */
export interface WriterSequence {
  writer: number;
  sequence: number;
}

/** A sealed segment that is whole, synced and under its own name: plain data for the manifest. */
export interface SealedSegment {
  segment: number;
  /** Of its file. */
  bytes: number;
  rowCount: number;
  minTimeMs: number;
  maxTimeMs: number;
  /** In the order of their rows. */
  blocks: BlockRef[];
  /** One a writer that has rows in it. */
  sequences: WriterSequence[];
}
