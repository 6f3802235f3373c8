import { assert } from '../base/assert.ts';
import { ByteReader, ByteWriter } from '../base/bytes.ts';
import { checksum } from '../base/checksum.ts';
import { alignFrame, FRAME_HEADER_BYTES, FrameKind, writeFrameHeader } from '../segment/frame.ts';
import { Feature, type Head, writeHead } from '../segment/head.ts';
import { KEY_BYTES_MAX, type KeyUsage } from './usage.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Meta of a commit frame: the blocks that exist from now on, those that do not any more, and usage. */
export interface Commit {
  /** Ordinal and header checksum of each block of the group. */
  blocks: { ordinal: number; checksum: number }[];
  /** Ordinals of earlier blocks of the segment. */
  superseded: number[];
  usage: KeyUsage[];
}

/** Place of a frame: the fields of its header besides the meta. */
export interface FramePlace {
  segment: number;
  ordinal: number;
  /** Header checksum of the frame before. */
  previous: number;
  /** Commit group; 0 for the head. */
  group: number;
}

/** A whole frame, and the checksum of its header. */
export interface BuiltFrame {
  bytes: Uint8Array;
  checksum: number;
}

/** Bytes of the head frame of a log segment. */
export const HEAD_BYTES = 2 * FRAME_HEADER_BYTES;

/** Builds the head frame of a log segment. */
export function buildHead(segment: number, head: Omit<Head, 'features' | 'sources'>): BuiltFrame {
  const place = { segment, ordinal: 0, previous: 0, group: 0 };
  const frame = buildFrame(
    FrameKind.HEAD,
    place,
    writeHead({ ...head, features: Feature.NONE, sources: [] }),
  );
  assert(frame.bytes.length === HEAD_BYTES, `head of ${frame.bytes.length} bytes`);
  return frame;
}

/** Builds the commit frame of a group. */
export function buildCommit(place: FramePlace, commit: Commit): BuiltFrame {
  const meta = new ByteWriter(256);
  meta.varint(commit.blocks.length);
  for (const block of commit.blocks) {
    meta.varint(block.ordinal);
    meta.u32(block.checksum);
  }
  meta.varint(commit.superseded.length);
  for (const ordinal of commit.superseded) meta.varint(ordinal);
  meta.varint(commit.usage.length);
  for (const usage of commit.usage) {
    const key = encoder.encode(usage.key);
    assert(key.length <= KEY_BYTES_MAX, 'ids of keys are short');
    meta.blob(key);
    meta.varint(usage.day);
    meta.varint(usage.bytes);
    meta.varint(usage.events);
  }
  return buildFrame(FrameKind.COMMIT, place, meta.bytes());
}

/** Reads a commit frame's meta. Throws CORRUPTION when it is malformed. */
export function readCommit(meta: Uint8Array): Commit {
  const reader = new ByteReader(meta);
  const commit: Commit = { blocks: [], superseded: [], usage: [] };
  for (let left = reader.varint(); left > 0; left--) {
    commit.blocks.push({ ordinal: reader.varint(), checksum: reader.u32() });
  }
  for (let left = reader.varint(); left > 0; left--) commit.superseded.push(reader.varint());
  for (let left = reader.varint(); left > 0; left--) {
    const key = decoder.decode(reader.blob());
    const day = reader.varint();
    const bytes = reader.varint();
    commit.usage.push({ key, day, bytes, events: reader.varint() });
  }
  return commit;
}

function buildFrame(
  kind: typeof FrameKind.HEAD | typeof FrameKind.COMMIT,
  place: FramePlace,
  meta: Uint8Array,
): BuiltFrame {
  const bytes = new Uint8Array(alignFrame(FRAME_HEADER_BYTES + meta.length));
  bytes.set(meta, FRAME_HEADER_BYTES);
  const sum = writeFrameHeader(bytes, {
    kind,
    repeats: false,
    ...place,
    frameBytes: bytes.length,
    metaBytes: meta.length,
    metaRawBytes: 0,
    metaChecksum: checksum(meta),
    rowCount: 0,
    firstSequence: 0,
    minTimeMs: 0,
    maxTimeMs: 0,
  });
  return { bytes, checksum: sum };
}
