import { EngineError } from '../base/errors.ts';
import type { Disk } from '../base/file.ts';
import type { BlockRef } from './frame.ts';
import { sortRows, splitRows } from './row-order.ts';
import type { SealedSegment } from './sealed.ts';
import { type BatchRows, type Pause, SegmentBuilder } from './segment-builder.ts';
import { SegmentWriter } from './segment-writer.ts';
import { SourceRows } from './source-rows.ts';

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
  /** Rows of a new segment at most: SEALED_ROWS_MAX when log segments are sealed, MERGED_ROWS_MAX when merged. */
  rowsMax: number;
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
 * Rewrites blocks as sealed segments, rows by (time, writer, sequence): one a UTC day, one for the rows of all days
 * that have few, each of at most `rowsMax` rows. The sources are only read; ids, reception dates, shapes and values
 * stay the same. Memory: about 30 bytes a row of the batch, the new segment's bytes, and one column.
 * Rejects with IO, with CLOSED when it was stopped, and with CORRUPTION when a source that looked right is not; then
 * no new file is left. A file that was written has a number from `allocate`, and is durable under its name.
 */
export async function sealBlocks(options: SealOptions): Promise<SealResult> {
  const { disk, pathOf, refs, signal } = options;
  const pause = pacer(signal);
  const source = new SourceRows(disk, pathOf, pause);
  const segments: SealedSegment[] = [];
  try {
    await source.open(refs);
    const { shapes, ids: shapeIds } = source.shapes();
    const receivedMs = source.receivedMs();
    const batch: BatchRows = { ...source.keys(), receivedMs, shapes, shapeIds };
    await pause();
    const order = sortRows(batch);
    for (const rows of splitRows(order, batch.timeMs, options.rowsMax)) {
      segments.push(await sealRows(options, source, batch, rows, pause));
    }
    return { segments, damaged: source.damaged, rowCount: source.rowCount };
  } catch (error) {
    for (const { segment } of segments) await disk.unlink(pathOf(true, segment));
    throw error;
  } finally {
    source.close();
  }
}

async function sealRows(
  options: SealOptions,
  source: SourceRows,
  batch: BatchRows,
  rows: Uint32Array,
  pause: Pause,
): Promise<SealedSegment> {
  const { disk, pathOf, folderId, nowMs } = options;
  const segment = await options.allocate();
  const head = { folderId, nowMs };
  const writer = await SegmentWriter.create(disk, pathOf(true, segment), segment, head);
  try {
    return await new SegmentBuilder(source, batch, rows, writer, pause).build();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}
