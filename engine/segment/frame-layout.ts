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

/** A meta as it is stored, the bytes before the regions of its frame, those to their end, and those of the frame. */
interface LaidMeta {
  bytes: Uint8Array;
  headBytes: number;
  endBytes: number;
  frameBytes: number;
  facts: MetaFacts;
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
  const meta = layMeta(rawMeta, regions);
  const { headBytes, endBytes, frameBytes, facts } = meta;
  const head = new Uint8Array(headBytes);
  head.set(meta.bytes, FRAME_HEADER_BYTES);
  const parts = [head, ...regions, new Uint8Array(frameBytes - endBytes)];
  return { parts, frameBytes, ...facts };
}

/** The same as one array, into which the regions are copied. */
export function layFrame(rawMeta: Uint8Array, regions: readonly Uint8Array[]): LaidFrame {
  const meta = layMeta(rawMeta, regions);
  const bytes = new Uint8Array(meta.frameBytes);
  bytes.set(meta.bytes, FRAME_HEADER_BYTES);
  let at = meta.headBytes;
  for (const part of regions) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, ...meta.facts };
}

/** A frame's meta as it is stored, and where its regions begin and end. */
function layMeta(rawMeta: Uint8Array, regions: readonly Uint8Array[]): LaidMeta {
  const packed = compress(rawMeta);
  const bytes = packed ?? rawMeta;
  const metaEnd = FRAME_HEADER_BYTES + bytes.length;
  const headBytes = Math.ceil(metaEnd / REGION_ALIGNMENT) * REGION_ALIGNMENT;
  const endBytes = regions.reduce((sum, part) => sum + part.length, headBytes);
  const facts = {
    metaBytes: bytes.length,
    metaRawBytes: packed === undefined ? 0 : rawMeta.length,
    metaChecksum: checksum(bytes),
  };
  return { bytes, headBytes, endBytes, frameBytes: alignFrame(endBytes), facts };
}
