import { assert } from '../base/assert.ts';
import { checksum } from '../base/checksum.ts';
import { EngineError } from '../base/errors.ts';
import { BLOCK_ROWS_MAX } from '../base/limits.ts';
import { type Run, rowsOfRuns } from './block/runs.ts';

/** Draft of the format whose files this code writes; it reads those from `FORMAT_OLDEST` on. FORMAT.md 9. */
export const FORMAT_VERSION = 8;
const FORMAT_OLDEST = 1;
/** Frames begin at multiples of this and are padded to it. */
export const FRAME_ALIGNMENT = 64;
/** Bytes of a frame's header. */
export const FRAME_HEADER_BYTES = 64;
/** `LS`, the first two bytes of every frame. */
const MAGIC = 0x534c;
const CHECKSUM_AT = 60;
/** Greatest number of the header's fields of 32 bits. */
const U32_MAX = 2 ** 32 - 1;

/**
 * Kinds of frames: the first one of a file, a block of rows, the end of a commit group; in sealed segments a block
 * whose rows have their keys with them, a dictionary, the footer, words of a column, the directory of a block whose
 * regions lie in frames of chunks, and chunks.
 */
export const FrameKind = {
  HEAD: 1,
  BLOCK: 2,
  COMMIT: 3,
  SEALED_BLOCK: 4,
  DICTIONARY: 5,
  FOOTER: 6,
  WORDS: 7,
  DIRECTORY: 8,
  CHUNKS: 9,
} as const;
/** One of the values of `FrameKind`. */
export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

/** A frame's header, field by field as in FORMAT.md 3. */
export interface FrameHeader {
  kind: FrameKind;
  /** True when a block begins with rows of earlier blocks, whose runs its meta lists. */
  repeats: boolean;
  segment: number;
  /** Frames before this one in the file. */
  ordinal: number;
  /** Header checksum of the frame before; 0 for the first. */
  previous: number;
  /** Whole frame, header and padding included. */
  frameBytes: number;
  /** Bytes of the meta region, which follows the header, as stored. */
  metaBytes: number;
  /** Bytes of the meta region before compression; 0 when it is stored plain. */
  metaRawBytes: number;
  metaChecksum: number;
  /** Commit group, counted from 1 in each segment. 0 for the head. */
  group: number;
  /** Rows of a block, 0 for other frames. */
  rowCount: number;
  /** Of the rows behind those that a block repeats; without such rows one above the last of them. */
  firstSequence: number;
  minTimeMs: number;
  maxTimeMs: number;
  /** Checksum of the header's first 60 bytes, as it is in the file. Filled by the reader and the writer. */
  checksum: number;
}

/** Throws USAGE when `what` is of a draft of the format that this code does not read. */
export function checkFormat(what: string, format: number): void {
  if (format >= FORMAT_OLDEST && format <= FORMAT_VERSION) return;
  const read = `drafts ${FORMAT_OLDEST} to ${FORMAT_VERSION}`;
  throw new EngineError(
    'USAGE',
    `${what} is of draft ${format} of the format, this program reads ${read}`,
  );
}

/** True of the kinds of frames that are blocks of sealed segments. */
export function isSealedBlock(kind: FrameKind): boolean {
  return kind === FrameKind.SEALED_BLOCK || kind === FrameKind.DIRECTORY;
}

function holdsRows(kind: FrameKind): boolean {
  return kind === FrameKind.BLOCK || isSealedBlock(kind);
}

/** Rounds up to whole frames' alignment. */
export function alignFrame(bytes: number): number {
  return Math.ceil(bytes / FRAME_ALIGNMENT) * FRAME_ALIGNMENT;
}

/** Writes `header` to the first 64 bytes of `frame` and returns its checksum. */
export function writeFrameHeader(frame: Uint8Array, header: Omit<FrameHeader, 'checksum'>): number {
  assert(header.frameBytes % FRAME_ALIGNMENT === 0, 'frames are aligned');
  assert(header.frameBytes <= U32_MAX && header.metaRawBytes <= U32_MAX, 'frames have 32 bits');
  assert(header.ordinal <= U32_MAX && header.group <= U32_MAX, 'frames have numbers of 32 bits');
  assert(header.rowCount <= BLOCK_ROWS_MAX, 'blocks have 65,536 rows at most');
  const view = new DataView(frame.buffer, frame.byteOffset, FRAME_HEADER_BYTES);
  view.setUint16(0, MAGIC, true);
  view.setUint8(2, header.kind);
  view.setUint8(3, header.repeats ? 1 : 0);
  view.setUint32(4, header.segment, true);
  view.setUint32(8, header.ordinal, true);
  view.setUint32(12, header.previous, true);
  view.setUint32(16, header.frameBytes, true);
  view.setUint32(20, header.metaBytes, true);
  view.setUint32(24, header.metaRawBytes, true);
  view.setUint32(28, header.metaChecksum, true);
  view.setUint32(32, header.group, true);
  view.setUint16(36, Math.max(header.rowCount - 1, 0), true);
  view.setUint16(38, Math.floor(header.firstSequence / 2 ** 32), true);
  view.setUint32(40, header.firstSequence % 2 ** 32, true);
  view.setFloat64(44, header.minTimeMs, true);
  view.setFloat64(52, header.maxTimeMs, true);
  const sum = checksum(frame, 0, CHECKSUM_AT);
  view.setUint32(CHECKSUM_AT, sum, true);
  return sum;
}

/** Reads a header; `undefined` when magic, checksum or lengths are not those of a frame. */
export function readFrameHeader(bytes: Uint8Array, at = 0): FrameHeader | undefined {
  if (bytes.length - at < FRAME_HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, FRAME_HEADER_BYTES);
  if (view.getUint16(0, true) !== MAGIC) return undefined;
  const sum = view.getUint32(CHECKSUM_AT, true);
  if (checksum(bytes, at, at + CHECKSUM_AT) !== sum) return undefined;
  const kind = view.getUint8(2) as FrameKind;
  const header: FrameHeader = {
    kind,
    repeats: view.getUint8(3) !== 0,
    segment: view.getUint32(4, true),
    ordinal: view.getUint32(8, true),
    previous: view.getUint32(12, true),
    frameBytes: view.getUint32(16, true),
    metaBytes: view.getUint32(20, true),
    metaRawBytes: view.getUint32(24, true),
    metaChecksum: view.getUint32(28, true),
    group: view.getUint32(32, true),
    rowCount: holdsRows(kind) ? view.getUint16(36, true) + 1 : 0,
    firstSequence: view.getUint16(38, true) * 2 ** 32 + view.getUint32(40, true),
    minTimeMs: view.getFloat64(44, true),
    maxTimeMs: view.getFloat64(52, true),
    checksum: sum,
  };
  const sane =
    kind >= FrameKind.HEAD &&
    kind <= FrameKind.CHUNKS &&
    header.frameBytes % FRAME_ALIGNMENT === 0 &&
    header.frameBytes >= FRAME_HEADER_BYTES + header.metaBytes;
  return sane ? header : undefined;
}

/** A block that is encoded but not yet placed in a file. `bytes` is a whole frame with room for its header. */
export interface EncodedBlock {
  bytes: Uint8Array;
  metaBytes: number;
  metaRawBytes: number;
  metaChecksum: number;
  rowCount: number;
  /** The rows that it repeats, which come first; the others get their sequences when it is placed. */
  runs: readonly Run[];
  minTimeMs: number;
  maxTimeMs: number;
}

/** Rows of a block that are in no earlier one. */
export function freshRowsOf({ rowCount, runs }: EncodedBlock): number {
  return rowCount - rowsOfRuns(runs);
}

/**
 * Where a committed block is: plain data that crosses threads. `sealed` says which kind of segment it lies in, and so
 * in which file. In a log segment rows are of `writer`, their sequences ascend; in a sealed one they are ordered by
 * (time, sequence, writer), `writer` and the bounds of sequences are 0 and the keys lie in the block.
 */
export interface BlockRef {
  sealed: boolean;
  segment: number;
  writer: number;
  /** Offset of the frame in the segment's file. */
  offset: number;
  bytes: number;
  ordinal: number;
  rowCount: number;
  /** Rows have `firstSequence <= sequence < endSequence`. */
  firstSequence: number;
  endSequence: number;
  minTimeMs: number;
  maxTimeMs: number;
}

/** The place of a block, as a key of maps. */
export function placeKey({ segment, offset }: Pick<BlockRef, 'segment' | 'offset'>): string {
  return `${segment} ${offset}`;
}

/** Any time that an event may have, and then some. */
const ANY_TIME = { minTimeMs: -8.64e15, maxTimeMs: 8.64e15 };

/**
 * A ref that stands for lost rows of a segment, of unknown number: it counts none itself, and opening it throws
 * CORRUPTION.
 */
export function holeOf(
  segment: number,
  { minTimeMs, maxTimeMs }: Pick<BlockRef, 'minTimeMs' | 'maxTimeMs'> = ANY_TIME,
): BlockRef {
  // Frame 0 of a file is its head, so no block has that place.
  const place = { sealed: false, segment, writer: 0, offset: 0, bytes: 0, ordinal: 0 };
  return { ...place, rowCount: 0, firstSequence: 0, endSequence: 0, minTimeMs, maxTimeMs };
}

/** True when a ref stands for lost rows; see `holeOf`. */
export function isHole({ rowCount }: BlockRef): boolean {
  return rowCount === 0;
}

/** Throws CORRUPTION naming the place. */
export function corruption(
  place: BlockRef | { segment: number; offset: number },
  what: string,
): never {
  throw new EngineError('CORRUPTION', `segment ${place.segment} at ${place.offset}: ${what}`);
}

/** Runs `read`; what it finds damaged is reported with its place. */
export function placed<T>(place: { segment: number; offset: number }, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof EngineError && error.code === 'CORRUPTION') {
      corruption(place, error.message);
    }
    throw error;
  }
}
