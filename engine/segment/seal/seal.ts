import { must } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import type { Disk } from '../../base/file.ts';
import { BLOCK_ROWS_MAX } from '../../base/limits.ts';
import { releaseInterner } from '../entry/interner.ts';
import type { BlockRef } from '../frame.ts';
import { Feature } from '../head.ts';
import type { SealedSegment } from '../sealed.ts';
import { releaseLanes } from '../sum/row-lanes.ts';
import { Verification } from '../sum/verify.ts';
import { shareDays } from './row-order.ts';
import { countDays, RowStream } from './row-stream.ts';
import { type BuilderParts, type Pause, SegmentBuilder } from './segment-builder.ts';
import { SegmentWriter } from './segment-writer.ts';
import { SourceRows } from './source-rows.ts';

/** Sources, target and limits of a sealing. */
export interface SealOptions {
  disk: Disk;
  /** The file of a segment in the store's folder; a new one is written as `<path>.new` and renamed. */
  pathOf: (sealed: boolean, segment: number) => string;
  /** The manifest's, written to the head of each new file. */
  folderId: Uint8Array;
  /** Of the hashes of entries of dictionaries: `entrySeed` of the manifest's secret. */
  seed: number;
  nowMs: number;
  /** The live blocks of the sources, whole segments: log segments that are closed, sealed ones, or both. */
  refs: readonly BlockRef[];
  /** Takes the number of a new segment. */
  allocate: () => Promise<number>;
  /** Rows of a new segment at most. */
  rowsMax: number;
  /** Columns of a new segment that are stored one by one at most; COLUMNS_MAX unless it is given. */
  columnsMax?: number;
  /** Stops it between two steps: it rejects with CLOSED, and what it wrote is unlinked. */
  signal?: AbortSignal;
}

/** Outcome of a sealing. Every row of the refs that are not in `damaged` is in exactly one of the segments. */
export interface SealResult {
  segments: SealedSegment[];
  /** Blocks that could not be read: their rows are in no new segment. */
  damaged: BlockRef[];
  /** Rows of all new segments. */
  rowCount: number;
  /** Parts in which the sources were sealed one after the other, as memory has no room for all their columns. */
  parts: number;
}

/** Columns of a segment that are stored one by one: the values of others are together in overflow maps. */
const COLUMNS_MAX = 2_048;
/** Rows whose keys are in memory while they are put in order. */
const ORDERED_ROWS = 8 * BLOCK_ROWS_MAX;
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
 * Rewrites blocks as sealed segments, rows by (time, sequence, writer): one or more a UTC day, others for the rows of
 * all days that have few, each of at most `rowsMax` rows. The sources are only read; ids, reception dates, shapes and
 * values stay the same, which is verified: the new files are opened again, and their rows compared with the sources'.
 * Memory is bounded whatever the rows: sources are taken together, and segments are cut, so that it suffices. Rejects
 * with IO, with CLOSED when it was stopped, with CORRUPTION when a source that looked right is not, and with MISMATCH
 * when new files do not hold the rows of the sources; then no new file is left. A file that was written has a number
 * from `allocate`, and is durable under its name. A thread does one at a time: `Interner` has one memory a thread.
 */
export async function sealBlocks(options: SealOptions): Promise<SealResult> {
  const { disk, pathOf, signal } = options;
  const pause = pacer(signal);
  const refs = inOrder(options.refs);
  const result: SealResult = { segments: [], damaged: [], rowCount: 0, parts: 0 };
  try {
    for (let next = 0; next < refs.length; ) {
      const verification = new Verification(pause);
      const source = new SourceRows(disk, pathOf, verification.wanted, pause);
      try {
        next = await source.open(refs, next);
        result.parts++;
        await sealSources(options, source, verification, pause, result);
      } finally {
        source.close();
      }
    }
    return result;
  } catch (error) {
    for (const { segment } of result.segments) await disk.unlink(pathOf(true, segment));
    throw error;
  } finally {
    await releaseInterner();
    releaseLanes();
  }
}

/** Blocks by time, those of a segment one after the other: its dictionaries are hashed once then. */
function inOrder(refs: readonly BlockRef[]): BlockRef[] {
  const starts = new Map<number, number>();
  for (const { segment, minTimeMs } of refs) {
    starts.set(segment, Math.min(starts.get(segment) ?? minTimeMs, minTimeMs));
  }
  const startOf = ({ segment }: BlockRef): number => must(starts.get(segment), 'start');
  return [...refs].sort(
    (a, b) => startOf(a) - startOf(b) || a.segment - b.segment || a.minTimeMs - b.minTimeMs,
  );
}

/** Seals the sources that are open, and adds to `result`. */
async function sealSources(
  options: SealOptions,
  source: SourceRows,
  verification: Verification,
  pause: Pause,
  result: SealResult,
): Promise<void> {
  const { disk, pathOf, rowsMax, columnsMax = COLUMNS_MAX } = options;
  result.damaged.push(...source.damaged);
  result.rowCount += source.rowCount;
  const rowsOfDay = await countDays(source.sources, pause);
  let without = source.rowCount;
  for (const { days, rowCounts } of shareDays(rowsOfDay, rowsMax)) {
    const stream = new RowStream(source.sources, days, ORDERED_ROWS, pause);
    const most = Math.max(...rowCounts);
    let left = rowCounts.reduce((sum, rows) => sum + rows, 0);
    while (left > 0) {
      const rows = await stream.take(Math.min(left, most));
      left -= rows.rowCount;
      without -= rows.rowCount;
      if (without === 0) source.forgetWeights();
      const sealed = await sealRows(options, {
        source,
        rows,
        columnsMax,
        seed: options.seed,
        pause,
      });
      result.segments.push(sealed);
      await verification.find(disk, pathOf(true, sealed.segment), sealed);
    }
  }
  await source.sumUp();
  verification.end();
}

async function sealRows(options: SealOptions, parts: BuilderParts): Promise<SealedSegment> {
  const { disk, pathOf, folderId, nowMs } = options;
  const segment = await options.allocate();
  // Columns that no row of the segment has count too: a segment with the feature need not have maps.
  const hasOverflow = parts.source.columns.length > parts.columnsMax;
  const features = hasOverflow ? Feature.OVERFLOW : Feature.NONE;
  const head = { folderId, createdMs: nowMs, features, sources: parts.rows.segments };
  const writer = await SegmentWriter.create(disk, pathOf(true, segment), segment, head);
  try {
    return await new SegmentBuilder(parts, writer).build();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}
