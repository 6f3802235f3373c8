import { type BlockRef, corruption } from '../../engine/segment/frame.ts';
import type { SealResult } from '../../engine/segment/seal/seal.ts';
import type { MergeJob } from '../../engine/store/compaction.ts';
import { sealedPath } from '../../engine/store/filename.ts';
import type { MemoryDisk } from '../support/memory-disk.ts';
import { readOpaque } from './opaque.ts';

/** Made-up sealed segments: their blocks are JSON lists of ids and values. As much as the store knows of real ones. */

const MS_OF_A_DAY = 86_400_000;

/** Ids and values of a made-up block, of a log or sealed; throws when it is not whole. */
export function rowsOfBlock(disk: MemoryDisk, ref: BlockRef): [string, number][] {
  if (!ref.sealed) {
    return readOpaque(disk, ref).map(([sequence, value]) => [`${ref.writer}.${sequence}`, value]);
  }
  const file = disk.content(sealedPath(ref.segment));
  const text = Buffer.from(file.subarray(ref.offset, ref.offset + ref.bytes)).toString();
  if (text.length !== ref.bytes) corruption(ref, 'the file is too short');
  return JSON.parse(text);
}

/**
 * As `sealBlocks`, for made-up blocks: one segment of a block for each UTC day. The steps on the disk are the real
 * ones. `damaged` names segments whose blocks it finds damaged.
 */
export async function fakeSeal(
  disk: MemoryDisk,
  job: MergeJob,
  allocate: () => number,
  damaged: ReadonlySet<number> = new Set(),
): Promise<SealResult> {
  const result: SealResult = { segments: [], damaged: [], rowCount: 0, parts: 1 };
  const days = new Map<number, BlockRef[]>();
  for (const ref of job.refs) {
    if (damaged.has(ref.segment)) {
      result.damaged.push(ref);
      continue;
    }
    const day = Math.floor(ref.minTimeMs / MS_OF_A_DAY);
    const others = days.get(day);
    if (others === undefined) days.set(day, [ref]);
    else others.push(ref);
  }
  for (const refs of days.values()) {
    const rows = refs.flatMap((ref) => rowsOfBlock(disk, ref));
    const bytes = Buffer.from(JSON.stringify(rows));
    const segment = allocate();
    const path = sealedPath(segment);
    const file = disk.open(`${path}.new`, 'create');
    await file.write([bytes.subarray(0, 10), bytes.subarray(10)], 0);
    await file.sync();
    file.close();
    await disk.rename(`${path}.new`, path);
    await disk.syncFolder('sealed');
    const minTimeMs = Math.min(...refs.map((ref) => ref.minTimeMs));
    const maxTimeMs = Math.max(...refs.map((ref) => ref.maxTimeMs));
    const facts = { bytes: bytes.length, rowCount: rows.length, minTimeMs, maxTimeMs };
    const keys = { writer: 0, firstSequence: 0, endSequence: 0 };
    const place = { sealed: true, segment, ...keys, offset: 0, ordinal: 1 };
    result.segments.push({ segment, ...facts, blocks: [{ ...place, ...facts }], sequences: [] });
    result.rowCount += rows.length;
  }
  return result;
}
