import { checksum } from '../base/checksum.ts';
import { REGION_ALIGNMENT } from '../column/chunk.ts';
import { compress } from '../column/compress.ts';
import { alignFrame, FRAME_HEADER_BYTES } from './frame.ts';

/** A whole frame whose header is still zero, and what its header says of its meta. */
export interface LaidFrame {
  bytes: Uint8Array;
  metaBytes: number;
  metaRawBytes: number;
  metaChecksum: number;
}

/** Puts meta and regions into a whole frame, its header left zero. Copies both. Source: FORMAT.md 3, 4.1. */
export function layFrame(rawMeta: Uint8Array, regions: Uint8Array): LaidFrame {
  const packed = compress(rawMeta);
  const meta = packed ?? rawMeta;
  const metaEnd = FRAME_HEADER_BYTES + meta.length;
  const regionsStart = Math.ceil(metaEnd / REGION_ALIGNMENT) * REGION_ALIGNMENT;
  const bytes = new Uint8Array(alignFrame(regionsStart + regions.length));
  bytes.set(meta, FRAME_HEADER_BYTES);
  bytes.set(regions, regionsStart);
  return {
    bytes,
    metaBytes: meta.length,
    metaRawBytes: packed === undefined ? 0 : rawMeta.length,
    metaChecksum: checksum(meta),
  };
}
