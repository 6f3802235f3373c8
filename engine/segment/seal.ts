import { EngineError } from '../base/errors.ts';
import type { Disk } from '../base/file.ts';
import { BLOCK_ROWS_MAX } from '../base/limits.ts';
import type { BlockRef } from './frame.ts';
import { shareDays } from './row-order.ts';
import { countDays, RowStream } from './row-stream.ts';
import type { SealedSegment } from './sealed.ts';
import { type BuilderParts, type Pause, SegmentBuilder } from './segment-builder.ts';
import { SegmentWriter } from './segment-writer.ts';
import { SourceRows } from './source-rows.ts';
import { Verification } from './verify.ts';

/** What sealing needs. */
export interface SealOptions {
  disk: Disk;
  /** The file of a segment in the store's folder; a new one is written as `<path>.new` and renamed. */
  pathOf: (sealed: boolean, segment: number) => string;
  /** The manifest's, written to the head of each new file. */
  folderId: Uint8Array;
  nowMs: number;
  /** The live blocks of the sources, whole segments: log segments that are closed, sealed ones, or both. */
  refs: readonly BlockRef[];
  /** Takes the number of a new segment. */
  allocate: () => Promise<number>;
  /** Rows of a new segment at most. */
  rowsMax: number;
  /** Blocks that are built at a time, unless as many as memory allows. */
  windowBlocks?: number;
  /** Told, column by column, how many bytes of encoded blocks are held in memory. */
  held?: (bytes: number) => void;
  /** Stops it between two steps: it rejects with CLOSED, and what it wrote is unlinked. */
  signal?: AbortSignal;
}

/** What came of sealing. Every row of the refs that are not in `damaged` is in exactly one of the segments. */
export interface SealResult {
  segments: SealedSegment[];
  /** Blocks that could not be read: their rows are in no new segment. */
  damaged: BlockRef[];
  /** Rows of all new segments. */
  rowCount: number;
}

/** Blocks of a new segment that are in memory while they are built. */
const WINDOW_BLOCKS = 8;
/** A segment of up to this many blocks, as is mostly sealed from the log, is one window: its columns are read once. */
const SINGLE_WINDOW_BLOCKS = 24;
/** How long a step may be before the thread gets to do something else. */
const STEP_MS = 20;

/** Lets the thread do other things now and then; rejects when the signal says to stop. */
function pacer(signal: AbortSignal | undefined): Pause {
  let lastMs = performance.now();
  return async () => {
    if (signal?.aborted === true) throw new EngineError('CLOSED', 'sealing was stopped');
    if (performance.now() - lastMs < STEP_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    lastMs = performance.now();
  };
}

/**
 * Rewrites blocks as sealed segments, rows by (time, sequence, writer): one a UTC day, one for the rows of all days
 * that have few, each of at most `rowsMax` rows. The sources are only read; ids, reception dates, shapes and values
 * stay the same, which is verified: the new files are opened again, and their rows compared with the sources'. Memory: 4 bytes a row of a new segment; of a window of blocks the encoded bytes, about 30 bytes a row
 * and one column; and the dictionary of one column.
 * Rejects with IO, with CLOSED when it was stopped, with CORRUPTION when a source that looked right is not, and with MISMATCH
 * when new files do not hold the rows of the sources; then no new file is left. A file that was written has a number from `allocate`, and is durable under its name.
 */
export async function sealBlocks(options: SealOptions): Promise<SealResult> {
  const { disk, pathOf, refs, signal, held = () => {} } = options;
  const pause = pacer(signal);
  const source = new SourceRows(disk, pathOf, pause);
  const segments: SealedSegment[] = [];
  try {
    await source.open(refs);
    const verification = new Verification(pause);
    await verification.want(source);
    const shapes = source.shapes();
    await pause();
    const rowsOfDay = await countDays(source.sources, pause);
    for (const { days, rowCounts } of shareDays(rowsOfDay, options.rowsMax)) {
      const stream = new RowStream(source.sources, days, WINDOW_BLOCKS * BLOCK_ROWS_MAX, pause);
      for (const rowCount of rowCounts) {
        const rows = await stream.take(rowCount);
        const windowBlocks = options.windowBlocks ?? windowOf(rows.blockCount);
        const parts = { source, shapes, rows, windowBlocks, pause, held };
        const sealed = await sealRows(options, parts);
        segments.push(sealed);
        await verification.find(disk, pathOf(true, sealed.segment), sealed);
      }
    }
    verification.end();
    return { segments, damaged: source.damaged, rowCount: source.rowCount };
  } catch (error) {
    for (const { segment } of segments) await disk.unlink(pathOf(true, segment));
    throw error;
  } finally {
    source.close();
  }
}

function windowOf(blockCount: number): number {
  return blockCount <= SINGLE_WINDOW_BLOCKS ? blockCount : WINDOW_BLOCKS;
}

async function sealRows(options: SealOptions, parts: BuilderParts): Promise<SealedSegment> {
  const { disk, pathOf, folderId, nowMs } = options;
  const segment = await options.allocate();
  const head = { folderId, nowMs };
  const writer = await SegmentWriter.create(disk, pathOf(true, segment), segment, head);
  try {
    return await new SegmentBuilder(parts, writer).build();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}
