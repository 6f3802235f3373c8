import { EngineError } from '../base/errors.ts';
import type { Disk, DiskFile } from '../base/file.ts';
import { type Block, openBlock } from '../segment/block/block.ts';
import { addRun, type Run } from '../segment/block/runs.ts';
import { verifyBlock } from '../segment/block/verify-block.ts';
import type { BlockRef } from '../segment/frame.ts';
import { type Head, readHead } from '../segment/head.ts';
import { SealedFile } from '../segment/sealed-file.ts';
import { pathOfSegment } from '../store/filename.ts';
import { FrameReader } from '../store/frame-reader.ts';
import type { SealedEntry } from '../store/manifest-record.ts';
import { recoverSegment } from '../store/recovery.ts';

/** A segment as its own file tells of it. */
export interface FoundSegment {
  segment: number;
  path: string;
  /** Id of the folder that it was made in. */
  folderId: Uint8Array;
  /** Of a log segment; 0 of a sealed one. */
  writer: number;
  rowCount: number;
  /** Above the sequences of all of its rows. */
  endSequence: number;
  /** Sequences of all rows that can be read, ascending. */
  runs: Run[];
  /** Set when not all rows can be read. */
  isDamaged: boolean;
  /** Of a sealed segment. */
  sealed: SealedEntry | undefined;
}

/**
 * Reads what a segment's file tells of itself; a sentence when it cannot be told. Throws USAGE when it is of another
 * format, IO.
 */
export async function findSegment(
  disk: Disk,
  sealed: boolean,
  segment: number,
): Promise<FoundSegment | string> {
  const path = pathOfSegment(sealed, segment);
  const file = disk.open(path, 'read');
  try {
    const head = headOf(file, segment);
    if (head === undefined) return 'its head is damaged';
    const place = { segment, path };
    return sealed ? findSealed(file, place, head) : await findLog(disk, file, place, head);
  } catch (error) {
    if (error instanceof EngineError && error.code === 'CORRUPTION') return error.message;
    throw error;
  } finally {
    file.close();
  }
}

/**
 * The draft of the format that the file of a sealed segment is of; `undefined` when its head is damaged. Throws USAGE
 * when it is one that is not read, IO.
 */
export function draftOf(disk: Disk, segment: number): number | undefined {
  const file = disk.open(pathOfSegment(true, segment), 'read');
  try {
    return headOf(file, segment)?.format;
  } finally {
    file.close();
  }
}

function headOf(file: DiskFile, segment: number): Head | undefined {
  const reader = new FrameReader(file, segment, file.bytes());
  const header = reader.header(0);
  const meta = header === undefined ? undefined : reader.meta(header, 0);
  return meta === undefined ? undefined : readHead(meta);
}

async function findLog(
  disk: Disk,
  file: DiskFile,
  place: Pick<FoundSegment, 'segment' | 'path'>,
  { folderId, writer }: Head,
): Promise<FoundSegment> {
  const { segment } = place;
  const entry = { writer };
  const options = { disk, segment, entry, folderId, verifyBlock, claim: true };
  const { blocks, sequence, damaged } = await recoverSegment(options);
  const rowCount = blocks.reduce((sum, block) => sum + block.rowCount, 0);
  const rows = rowsOf(blocks, (ref) => openBlock(file, ref));
  return {
    ...{ ...place, folderId, writer, rowCount, endSequence: sequence, ...rows },
    isDamaged: rows.isDamaged || damaged.length > 0,
    sealed: undefined,
  };
}

function findSealed(
  file: DiskFile,
  place: Pick<FoundSegment, 'segment' | 'path'>,
  { folderId, createdMs }: Head,
): FoundSegment {
  const opened = new SealedFile(file, place.segment);
  const { blocks, rowCount, minTimeMs, maxTimeMs, sequences } = opened.footer();
  const bytes = file.bytes();
  return {
    ...{ ...place, folderId, writer: 0, rowCount },
    endSequence: Math.max(0, ...sequences.map(({ sequence }) => sequence + 1)),
    ...rowsOf(blocks, (ref) => opened.open(ref)),
    sealed: { bytes, rowCount, minTimeMs, maxTimeMs, sealedMs: createdMs, blocks },
  };
}

/** Sequences of the rows of blocks. Throws IO. */
function rowsOf(
  blocks: readonly BlockRef[],
  open: (ref: BlockRef) => Block,
): Pick<FoundSegment, 'runs' | 'isDamaged'> {
  const parts: Float64Array[] = [];
  let isDamaged = false;
  for (const ref of blocks) {
    try {
      parts.push(open(ref).keys().sequences);
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'CORRUPTION') throw error;
      isDamaged = true;
    }
  }
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  const runs: Run[] = [];
  for (const first of all.sort()) addRun(runs, { first, rows: 1 });
  return { runs, isDamaged };
}
