import { must } from '../base/assert.ts';
import type { Disk } from '../base/file.ts';
import { FORMAT_VERSION } from '../segment/frame.ts';
import { type OpenedCatalog, openCatalog } from '../store/catalog.ts';
import { pathOfSegment } from '../store/filename.ts';
import { rewriteBlocks } from '../store/rewrite.ts';
import { draftOf } from './found-segment.ts';

/** Progress of an upgrade: segments that were looked at. */
export interface UpgradeProgress {
  done: number;
  total: number;
}

/** Outcome of an upgrade. */
export interface UpgradeReport {
  /** Sealed segments that were written anew, their rows, and bytes of their files before and after. */
  segments: number;
  rows: number;
  bytesBefore: number;
  bytesAfter: number;
  /** Sealed segments that stay as they are, since rows of them cannot be read. */
  damaged: number[];
  /** Log segments: they get the draft of the day when the service seals them. */
  logSegments: number;
}

/**
 * Writes the sealed segments of earlier drafts of the format anew, one after the other: what an upgrade was done when
 * it was stopped stays done. The store's folder is the caller's, by its lock. Yields after each segment. Throws what
 * `openCatalog` throws, and MISMATCH when a new file would not hold the rows of the old one, which then stays.
 * Source: FORMAT.md 13.
 */
export async function* upgradeStore(
  disk: Disk,
  nowMs: number,
  registries: readonly string[] = [],
): AsyncGenerator<UpgradeProgress, UpgradeReport> {
  const opened = await openCatalog({ disk, nowMs, registries });
  const { manifest, catalog } = opened;
  try {
    const sealed = [...manifest.sealed.keys()];
    const report: UpgradeReport = {
      ...{ segments: 0, rows: 0, bytesBefore: 0, bytesAfter: 0, damaged: [] },
      logSegments: manifest.segments.size,
    };
    for (const [done, segment] of sealed.entries()) {
      if (catalog.isDamaged(segment)) report.damaged.push(segment);
      else if (draftOf(disk, segment) !== FORMAT_VERSION) {
        await upgrade(disk, opened, segment, nowMs, report);
      }
      yield { done: done + 1, total: sealed.length };
    }
    return report;
  } finally {
    await manifest.release();
  }
}

/** Writes a sealed segment anew, and adds to `report`. */
async function upgrade(
  disk: Disk,
  { manifest, catalog }: OpenedCatalog,
  segment: number,
  nowMs: number,
  report: UpgradeReport,
): Promise<void> {
  const { bytes, rowCount } = must(manifest.sealed.get(segment), 'a sealed segment');
  const refs = [...catalog.blocksOf(segment)];
  const result = await rewriteBlocks({
    ...{
      disk,
      folderId: manifest.folderId,
      seed: manifest.entrySeed,
      nowMs,
      refs,
      rowsMax: rowCount,
    },
    allocate: async () => manifest.reserve(),
  });
  if (result.rowCount !== rowCount) {
    for (const made of result.segments) await disk.unlink(pathOfSegment(true, made.segment));
    report.damaged.push(segment);
    return;
  }
  const segments = result.segments.map((made) => ({ ...made, sealedMs: nowMs }));
  await manifest.seal([segment], segments, catalog.usageOf([segment]));
  await disk.unlink(pathOfSegment(true, segment));
  report.segments++;
  report.rows += rowCount;
  report.bytesBefore += bytes;
  report.bytesAfter += segments.reduce((sum, made) => sum + made.bytes, 0);
}
