import { type FarBytes, unfilled, WINDOW_BYTES } from '../base/bytes.ts';
import { checksum } from '../base/checksum.ts';
import { damaged } from '../base/errors.ts';
import type { DiskFile } from '../base/file.ts';
import { REGION_ALIGNMENT, type Region } from '../column/chunk.ts';
import type { Scratch } from '../column/entries.ts';
import { decompress } from '../packed/compress.ts';
import { free } from '../packed/growth.ts';
import {
  type BlockRef,
  FRAME_HEADER_BYTES,
  type FrameHeader,
  FrameKind,
  isSealedBlock,
  readFrameHeader,
} from './frame.ts';

/** Bytes read at first: header, most metas, and small blocks whole. */
const FIRST_READ_BYTES = 16_384;

/** Where in its frame the regions of a block begin. */
export function regionsStartOf(header: FrameHeader): number {
  const metaEnd = FRAME_HEADER_BYTES + header.metaBytes;
  return Math.ceil(metaEnd / REGION_ALIGNMENT) * REGION_ALIGNMENT;
}

/** The meta region as it was before compression. Throws CORRUPTION when `stored` is not what was written. */
export function checkedMeta(stored: Uint8Array, header: FrameHeader): Uint8Array {
  if (checksum(stored) !== header.metaChecksum) damaged('meta region is not as written');
  return header.metaRawBytes === 0 ? stored : decompress(stored, header.metaRawBytes);
}

/** A region that is not in the directory. */
type StoredRegion = Exclude<Region, { inline: Uint8Array }>;

/** Bytes from which a region is not read whole for one value. */
const FAR_BYTES_MIN = 16_384;
/** Bytes of regions that are verified together, at most, but for one that has more. */
const TOGETHER_BYTES = 256 * 1024;
const NO_BYTES = new Uint8Array(0);
/** Regions of a file that are known to be right, at most. */
const CHECKED_MAX = 4_096;
/** Memory of one. */
const CHECKED_BYTES = 40;
/** Heads of streams that are kept of a block, at most. */
const WINDOWS_MAX = 64;
/** Memory of one. */
const KEPT_WINDOW_BYTES = 256;

/**
 * Bytes of a block as they are needed, those of its frame and of its chunks, each region checked against its checksum
 * before it is used: once as long as a sealed file is open, or the head of a block of a log segment is kept, as neither
 * changes.
 */
export class FrameSource {
  readonly #source: Pick<DiskFile, 'read'>;
  readonly #ref: BlockRef;
  readonly #checked: Set<number> | undefined;
  /** Bytes that were read at first; of a directory, whose regions lie elsewhere, until its meta was read. */
  #first: Uint8Array;
  /** Where in the file the regions lie: offset 0 of them, and the end of the last one at most. */
  #regions = { from: 0, to: 0 };
  /** Heads of streams that were read alone, by position. */
  readonly #windows = new Map<number, Uint8Array>();

  /** `checked`: where regions begin in the file that were found right; they are not checked again. */
  constructor(source: Pick<DiskFile, 'read'>, ref: BlockRef, checked?: Set<number>) {
    this.#source = source;
    this.#ref = ref;
    this.#checked = checked;
    this.#first = this.#read(0, Math.min(ref.bytes, FIRST_READ_BYTES));
  }

  /** Bytes of memory that it keeps now, with those of the meta that it gave. */
  memoryBytes(meta: Uint8Array): number {
    const isApart = meta.buffer !== this.#first.buffer;
    const metaBytes = isApart ? meta.buffer.byteLength : 0;
    const checkedBytes = this.#ref.sealed ? 0 : (this.#checked?.size ?? 0) * CHECKED_BYTES;
    return this.#first.length + metaBytes + checkedBytes + this.#windows.size * KEPT_WINDOW_BYTES;
  }

  header(): FrameHeader {
    const header = readFrameHeader(this.#first);
    const ref = this.#ref;
    if (
      header === undefined ||
      !(ref.sealed ? isSealedBlock(header.kind) : header.kind === FrameKind.BLOCK) ||
      header.segment !== ref.segment ||
      header.ordinal !== ref.ordinal ||
      header.frameBytes !== ref.bytes ||
      header.rowCount !== ref.rowCount ||
      header.firstSequence < ref.firstSequence ||
      (header.firstSequence > ref.firstSequence && !header.repeats) ||
      header.firstSequence > ref.endSequence ||
      header.minTimeMs !== ref.minTimeMs ||
      header.maxTimeMs !== ref.maxTimeMs
    ) {
      damaged('no header of this block');
    }
    return header;
  }

  /** The meta region, uncompressed. Regions can be read after it. */
  meta(header: FrameHeader): Uint8Array {
    const { offset, bytes } = this.#ref;
    const stored = this.#at(FRAME_HEADER_BYTES, header.metaBytes);
    const meta = checkedMeta(stored, header);
    if (header.kind === FrameKind.DIRECTORY) {
      this.#regions = { from: 0, to: offset };
      this.#first = NO_BYTES;
      return meta;
    }
    this.#regions = { from: offset + regionsStartOf(header), to: offset + bytes };
    // The meta stays longer than the bytes that were read with it.
    const isView = meta.buffer === this.#first.buffer;
    return isView && bytes > FIRST_READ_BYTES ? meta.slice() : meta;
  }

  /** Frees the bytes that were read at first, unless they are the whole frame. After `meta`. */
  freeFirst(): void {
    if (this.#first === NO_BYTES || this.#first.length === this.#ref.bytes) return;
    free(this.#first);
    this.#first = NO_BYTES;
  }

  /** The bytes of a region; in `scratch`, when it is given and as long, until it is used again. */
  region(region: Region, scratch?: Uint8Array): Uint8Array {
    if (region.inline !== undefined) return region.inline;
    const bytes = this.#at(this.#placeOf(region) - this.#ref.offset, region.bytes, scratch);
    this.#check(region, bytes);
    return bytes;
  }

  /**
   * The bytes of the first of some regions, and of those behind it that lie one behind the other, as far as they are
   * read with one call; in `scratch`, until it is used again.
   */
  together(regions: readonly Region[], scratch: Scratch): Uint8Array[] {
    const [head] = regions;
    if (head.inline !== undefined) return [head.inline];
    const stored: StoredRegion[] = [];
    for (const region of regions) {
      if (region.inline !== undefined) break;
      stored.push(region);
    }
    return this.#checkedRun(stored, 0, (count) => scratch.stored(count));
  }

  /** Reads regions, those together that lie one behind the other, against their checksums; keeps nothing of them. */
  verify(regions: readonly Region[], scratch: Scratch): void {
    const all = regions.flatMap((region) => (region.inline === undefined ? [region] : []));
    all.sort((one, other) => one.offset - other.offset);
    for (let first = 0; first < all.length; )
      first += this.#checkedRun(all, first, (count) => scratch.bytes(count)).length;
  }

  /** The checked bytes of the region `first`, and of those behind it that are read with it, in `room`. */
  #checkedRun(
    regions: readonly StoredRegion[],
    first: number,
    room: (count: number) => Uint8Array,
  ): Uint8Array[] {
    const from = this.#placeOf(regions[first]);
    let to = from + regions[first].bytes;
    let end = first + 1;
    for (; end < regions.length; end++) {
      const place = this.#placeOf(regions[end]);
      const isNext = place >= to && place < to + REGION_ALIGNMENT;
      if (!isNext || place + regions[end].bytes > from + TOGETHER_BYTES) break;
      to = place + regions[end].bytes;
    }
    const bytes = this.#at(from - this.#ref.offset, to - from, room(to - from));
    return regions.slice(first, end).map((region) => {
      const start = this.#placeOf(region) - from;
      const own = bytes.subarray(start, start + region.bytes);
      this.#check(region, own);
      return own;
    });
  }

  /** Where a region begins in the file. */
  #placeOf({ offset, bytes }: StoredRegion): number {
    const { from, to } = this.#regions;
    const place = from + offset;
    if (place + bytes > to) damaged(`region at ${offset} lies elsewhere`);
    return place;
  }

  /** Checks the bytes of a region, unless they are known to be right. */
  #check(region: StoredRegion, bytes: Uint8Array): void {
    const place = this.#placeOf(region);
    if (this.#checked?.has(place) === true) return;
    if (checksum(bytes) !== region.checksum)
      damaged(`region at ${region.offset} is not as written`);
    if (this.#checked !== undefined && this.#checked.size < CHECKED_MAX) this.#checked.add(place);
  }

  /** The bytes of a region, which are read in part when they are many and known to be right. */
  far(region: Region): Uint8Array | FarBytes {
    if (region.inline !== undefined || region.bytes < FAR_BYTES_MIN) return this.region(region);
    const place = this.#regions.from + region.offset;
    const position = place - this.#ref.offset;
    const isNear = position >= 0 && position + region.bytes <= this.#first.length;
    if (isNear || this.#checked?.has(place) !== true) return this.region(region);
    return {
      length: region.bytes,
      read: (from, count, room) => this.#read(position + from, count, room),
      whole: () => this.region(region),
      window: (from) => this.#window(position + from, Math.min(WINDOW_BYTES, region.bytes - from)),
    };
  }

  #window(position: number, count: number): Uint8Array {
    const known = this.#windows.get(position);
    if (known !== undefined) return known;
    const bytes = this.#read(position, count, new Uint8Array(count));
    if (this.#windows.size < WINDOWS_MAX) this.#windows.set(position, bytes);
    return bytes;
  }

  /** Bytes at a position that counts from the frame's begin: of chunks, which lie before it, it is negative. */
  #at(position: number, count: number, scratch?: Uint8Array): Uint8Array {
    if (position >= 0 && position + count <= this.#first.length) {
      return this.#first.subarray(position, position + count);
    }
    return this.#read(position, count, scratch);
  }

  #read(position: number, count: number, scratch?: Uint8Array): Uint8Array {
    const fits = scratch !== undefined && scratch.length >= count;
    const bytes = fits ? scratch.subarray(0, count) : unfilled(count);
    const done = this.#source.read(bytes, this.#ref.offset + position);
    if (done !== count) damaged(`the file ends after ${done} of ${count} bytes`);
    return bytes;
  }
}
