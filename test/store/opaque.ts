import { checksum } from '../../engine/base/checksum.ts';
import {
  alignFrame,
  type BlockRef,
  type EncodedBlock,
  FRAME_HEADER_BYTES,
  readFrameHeader,
} from '../../engine/segment/frame.ts';
import { segmentPath } from '../../engine/store/filename.ts';
import type { MemoryDisk } from '../support/memory-disk.ts';

/** Bytes of a made-up row: a u32 value and filler, so that a few rows span several sectors. */
const ROW_BYTES = 200;

/** A block whose meta region is its rows: u32 values. As much as the store knows of real ones. */
export function opaqueBlock(values: readonly number[], firstSequence: number): EncodedBlock {
  const metaBytes = values.length * ROW_BYTES;
  const bytes = new Uint8Array(alignFrame(FRAME_HEADER_BYTES + metaBytes));
  const view = new DataView(bytes.buffer);
  for (const [row, value] of values.entries()) {
    bytes.fill(value, FRAME_HEADER_BYTES + row * ROW_BYTES, FRAME_HEADER_BYTES + metaBytes);
    view.setUint32(FRAME_HEADER_BYTES + row * ROW_BYTES, value, true);
  }
  const metaChecksum = checksum(bytes, FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + metaBytes);
  const rowCount = values.length;
  const times = { minTimeMs: firstSequence, maxTimeMs: firstSequence + rowCount };
  return { bytes, metaBytes, metaRawBytes: 0, metaChecksum, rowCount, firstSequence, ...times };
}

/** The rule of `VerifyBlock` for made-up blocks. */
export function verifyOpaque(frame: Uint8Array): boolean {
  const header = readFrameHeader(frame);
  if (header === undefined) return false;
  const end = FRAME_HEADER_BYTES + header.metaBytes;
  return checksum(frame, FRAME_HEADER_BYTES, end) === header.metaChecksum;
}

/** The values of a made-up block; throws when it is not whole. */
export function readOpaque(disk: MemoryDisk, ref: BlockRef): number[] {
  const file = disk.content(segmentPath(ref.segment));
  const frame = file.slice(ref.offset, ref.offset + ref.bytes);
  const header = readFrameHeader(frame);
  if (header?.rowCount !== ref.rowCount || !verifyOpaque(frame)) {
    throw new Error(`block ${ref.ordinal} of segment ${ref.segment} is not whole`);
  }
  const view = new DataView(frame.buffer);
  const values: number[] = [];
  for (let row = 0; row < ref.rowCount; row++) {
    values.push(view.getUint32(FRAME_HEADER_BYTES + row * ROW_BYTES, true));
  }
  return values;
}
