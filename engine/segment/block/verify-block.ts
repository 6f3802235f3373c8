import { checksum } from '../../base/checksum.ts';
import { EngineError } from '../../base/errors.ts';
import { FRAME_HEADER_BYTES, FrameKind, readFrameHeader } from '../frame.ts';
import { checkedMeta, regionsStartOf } from '../frame-source.ts';
import { readDirectory, regionsOf } from './directory.ts';

/** True when `frame` holds a whole block frame whose header, meta and regions are what was written. */
export function verifyBlock(frame: Uint8Array): boolean {
  const header = readFrameHeader(frame);
  if (header === undefined) return false;
  if (header.kind !== FrameKind.SEALED_BLOCK && header.kind !== FrameKind.BLOCK) return false;
  if (header.frameBytes > frame.length) return false;
  try {
    const stored = frame.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + header.metaBytes);
    const directory = readDirectory(checkedMeta(stored, header), header);
    const start = regionsStartOf(header);
    if (start + directory.regionBytes > header.frameBytes) return false;
    return regionsOf(directory).every((region) => {
      if (region.inline !== undefined) return true;
      const from = start + region.offset;
      return checksum(frame, from, from + region.bytes) === region.checksum;
    });
  } catch (error) {
    if (error instanceof EngineError && error.code === 'CORRUPTION') return false;
    throw error;
  }
}
