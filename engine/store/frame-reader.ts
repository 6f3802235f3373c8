import { assert } from '../base/assert.ts';
import { checksum } from '../base/checksum.ts';
import type { DiskFile } from '../base/file.ts';
import {
  FRAME_ALIGNMENT,
  FRAME_HEADER_BYTES,
  type FrameHeader,
  readFrameHeader,
} from '../segment/frame.ts';

const WALK_WINDOW_BYTES = 4_096;
const SEARCH_WINDOW_BYTES = 1_048_576;

/**
 * Reads the frames of one log segment's file in pieces: headers by a small window, whole frames on demand.
 * Knows headers only, not what their sequence means. Throws IO.
 */
export class FrameReader {
  readonly #file: DiskFile;
  readonly #segment: number;
  /** Bytes of the file that are read. */
  readonly limitBytes: number;
  #window = new Uint8Array(WALK_WINDOW_BYTES);
  #windowAt = 0;
  #windowBytes = 0;
  #frame = new Uint8Array(WALK_WINDOW_BYTES);

  constructor(file: DiskFile, segment: number, limitBytes: number) {
    this.#file = file;
    this.#segment = segment;
    this.limitBytes = limitBytes;
  }

  /** The header at `offset`; `undefined` when no right one of this segment stands there. */
  header(offset: number): FrameHeader | undefined {
    return this.#headerIn(offset, WALK_WINDOW_BYTES);
  }

  /**
   * The first place from `offset` on, a multiple of the alignment, with a right header of this segment that has
   * at least this ordinal and group.
   */
  find(offset: number, ordinalMin: number, groupMin: number): number | undefined {
    const last = this.limitBytes - FRAME_HEADER_BYTES;
    for (let at = offset; at <= last; at += FRAME_ALIGNMENT) {
      const header = this.#headerIn(at, SEARCH_WINDOW_BYTES);
      if (header !== undefined && header.ordinal >= ordinalMin && header.group >= groupMin) {
        return at;
      }
    }
    return undefined;
  }

  /** The end of the last byte from `offset` on that is not zero; `offset` when there is none. */
  endBehind(offset: number): number {
    if (offset >= this.limitBytes) return offset;
    const window = new Uint8Array(Math.min(SEARCH_WINDOW_BYTES, this.limitBytes - offset));
    for (let end = this.limitBytes; end > offset; ) {
      const from = Math.max(offset, end - window.length);
      const part = window.subarray(0, this.#file.read(window.subarray(0, end - from), from));
      const last = part.findLastIndex((byte) => byte !== 0);
      if (last >= 0) return from + last + 1;
      end = from;
    }
    return offset;
  }

  /** Checks that the whole frame lies within the limit. */
  holds(header: FrameHeader, offset: number): boolean {
    return offset + header.frameBytes <= this.limitBytes;
  }

  /** The whole frame, a view that the next call makes stale. `holds` must be true. */
  frame(header: FrameHeader, offset: number): Uint8Array {
    assert(this.holds(header, offset), 'frame lies within the file');
    if (header.frameBytes > this.#frame.length) this.#frame = new Uint8Array(header.frameBytes);
    const target = this.#frame.subarray(0, header.frameBytes);
    const readBytes = this.#file.read(target, offset);
    return target.subarray(0, readBytes);
  }

  /** The meta region of a frame as stored, a view; `undefined` when its checksum or its end is wrong. */
  meta(header: FrameHeader, offset: number): Uint8Array | undefined {
    if (!this.holds(header, offset)) return undefined;
    const frame = this.frame(header, offset);
    const meta = frame.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + header.metaBytes);
    const whole = meta.length === header.metaBytes;
    return whole && checksum(meta) === header.metaChecksum ? meta : undefined;
  }

  #headerIn(offset: number, windowBytes: number): FrameHeader | undefined {
    if (offset + FRAME_HEADER_BYTES > this.limitBytes) return undefined;
    const end = this.#windowAt + this.#windowBytes;
    if (offset < this.#windowAt || offset + FRAME_HEADER_BYTES > end) {
      if (windowBytes > this.#window.length) this.#window = new Uint8Array(windowBytes);
      this.#windowBytes = this.#file.read(this.#window.subarray(0, windowBytes), offset);
      this.#windowAt = offset;
    }
    const header = readFrameHeader(
      this.#window.subarray(0, this.#windowBytes),
      offset - this.#windowAt,
    );
    return header?.segment === this.#segment ? header : undefined;
  }
}
