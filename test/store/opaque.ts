import { ByteReader, ByteWriter } from '../../engine/base/bytes.ts';
import { checksum } from '../../engine/base/checksum.ts';
import { type Run, readRuns, writeRuns } from '../../engine/segment/block/runs.ts';
import {
  alignFrame,
  type BlockRef,
  type EncodedBlock,
  FRAME_HEADER_BYTES,
  freshRowsOf,
  readFrameHeader,
} from '../../engine/segment/frame.ts';
import { segmentPath } from '../../engine/store/filename.ts';
import type { GroupParts } from '../../engine/store/log-file.ts';
import type { KeyUsage } from '../../engine/store/usage.ts';
import type { MemoryDisk } from '../support/memory-disk.ts';

/** Bytes of a made-up row: a u32 value and filler, so that a few rows span several sectors. */
const ROW_BYTES = 200;

/**
 * A block whose meta region is its runs and its rows, u32 values. As much as the store knows of real ones. Its times
 * are from `timeMs` on.
 */
export function opaqueBlock(
  values: readonly number[],
  timeMs: number,
  runs: readonly Run[] = [],
): EncodedBlock {
  const head = new ByteWriter(64);
  if (runs.length > 0) writeRuns(head, runs);
  const rowsAt = FRAME_HEADER_BYTES + head.length;
  const metaBytes = head.length + values.length * ROW_BYTES;
  const bytes = new Uint8Array(alignFrame(FRAME_HEADER_BYTES + metaBytes));
  bytes.set(head.bytes(), FRAME_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  for (const [row, value] of values.entries()) {
    bytes.fill(value, rowsAt + row * ROW_BYTES, FRAME_HEADER_BYTES + metaBytes);
    view.setUint32(rowsAt + row * ROW_BYTES, value, true);
  }
  const metaChecksum = checksum(bytes, FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + metaBytes);
  const rowCount = values.length;
  const times = { minTimeMs: timeMs, maxTimeMs: timeMs + rowCount };
  return { bytes, metaBytes, metaRawBytes: 0, metaChecksum, rowCount, runs, ...times };
}

/** A group whose fresh rows have the sequences from `first` on. */
export function groupOf(
  first: number,
  blocks: readonly EncodedBlock[],
  superseded: readonly number[] = [],
  usage: readonly KeyUsage[] = [],
): GroupParts {
  const rows = blocks.reduce((sum, block) => sum + freshRowsOf(block), 0);
  return { blocks, claim: { first, end: first + rows }, superseded, usage };
}

/** The rule of `VerifyBlock` for made-up blocks. */
export function verifyOpaque(frame: Uint8Array): boolean {
  const header = readFrameHeader(frame);
  if (header === undefined) return false;
  const end = FRAME_HEADER_BYTES + header.metaBytes;
  return checksum(frame, FRAME_HEADER_BYTES, end) === header.metaChecksum;
}

/** Sequences and values of the rows of a made-up block; throws when it is not whole. */
export function readOpaque(disk: MemoryDisk, ref: BlockRef): [number, number][] {
  const file = disk.content(segmentPath(ref.segment));
  const frame = file.slice(ref.offset, ref.offset + ref.bytes);
  const header = readFrameHeader(frame);
  if (header?.rowCount !== ref.rowCount || !verifyOpaque(frame)) {
    throw new Error(`block ${ref.ordinal} of segment ${ref.segment} is not whole`);
  }
  const { firstSequence, rowCount, repeats } = header;
  const meta = new ByteReader(frame.subarray(FRAME_HEADER_BYTES));
  const runs = repeats ? readRuns(meta, rowCount, firstSequence) : [];
  const sequences = runs.flatMap(({ first, rows }) =>
    Array.from({ length: rows }, (_, row) => first + row),
  );
  for (let next = firstSequence; sequences.length < rowCount; ) sequences.push(next++);
  const rowsAt = FRAME_HEADER_BYTES + header.metaBytes - rowCount * ROW_BYTES;
  const view = new DataView(frame.buffer);
  return sequences.map((sequence, row) => [
    sequence,
    view.getUint32(rowsAt + row * ROW_BYTES, true),
  ]);
}
