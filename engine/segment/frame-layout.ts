import { checksum } from '../base/checksum.ts';
import { REGION_ALIGNMENT } from '../column/chunk.ts';
import { compress } from '../packed/compress.ts';
import { alignFrame, FRAME_HEADER_BYTES } from './frame.ts';

/** Facts about a frame's meta in its header. */
interface MetaFacts {
  metaBytes: number;
  metaRawBytes: number;
  metaChecksum: number;
}

/** A whole frame whose header is still zero. */
export interface LaidFrame extends MetaFacts {
  bytes: Uint8Array;
}

/** A frame in parts, to be written one after the other. The first begins with the header, which is still zero. */
export interface FrameParts extends MetaFacts {
  parts: readonly Uint8Array[];
  /** Of all parts. */
  frameBytes: number;
}

/** Lays meta and regions out as a frame. Copies the meta; the regions are views. Source: FORMAT.md 3, 4.1. */
export function layParts(rawMeta: Uint8Array, regions: readonly Uint8Array[]): FrameParts {
  const packed = compress(rawMeta);
  const meta = packed ?? rawMeta;
  const metaEnd = FRAME_HEADER_BYTES + meta.length;
  const head = new Uint8Array(Math.ceil(metaEnd / REGION_ALIGNMENT) * REGION_ALIGNMENT);
  head.set(meta, FRAME_HEADER_BYTES);
  const end = regions.reduce((sum, part) => sum + part.length, head.length);
  const frameBytes = alignFrame(end);
  return {
    parts: [head, ...regions, new Uint8Array(frameBytes - end)],
    frameBytes,
    metaBytes: meta.length,
    metaRawBytes: packed === undefined ? 0 : rawMeta.length,
    metaChecksum: checksum(meta),
  };
}

/** The same as one array, into which the regions are copied. */
export function layFrame(rawMeta: Uint8Array, regions: readonly Uint8Array[]): LaidFrame {
  const { parts, frameBytes, ...facts } = layParts(rawMeta, regions);
  const bytes = new Uint8Array(frameBytes);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, ...facts };
}
