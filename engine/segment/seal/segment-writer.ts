import { dirname } from 'node:path/posix';
import { ByteParts } from '../../base/byte-parts.ts';
import type { Disk, DiskFile } from '../../base/file.ts';
import { CHUNK_ALIGNMENT, type ChunkFile } from '../../column/chunk.ts';
import { type FooterParts, type FramePlace, writeFooter, writeTrailer } from '../footer.ts';
import {
  type BlockRef,
  FORMAT_VERSION,
  FRAME_HEADER_BYTES,
  type FrameHeader,
  FrameKind,
  writeFrameHeader,
} from '../frame.ts';
import { type FrameParts, layParts } from '../frame-layout.ts';
import { type Head, writeHead } from '../head.ts';

/** Facts in a frame's header beside its place in the file. */
type Facts = Pick<FrameHeader, 'rowCount' | 'minTimeMs' | 'maxTimeMs'>;

const NO_ROWS: Facts = { rowCount: 0, minTimeMs: 0, maxTimeMs: 0 };

/** Bytes of chunks with which their frame is written. */
const CHUNK_FRAME_BYTES = 1024 * 1024;

/** The file of a sealed segment while it is written, under a temporary name. Rejects with IO. */
export class SegmentWriter implements ChunkFile {
  readonly segment: number;
  readonly #disk: Disk;
  readonly #path: string;
  readonly #file: DiskFile;
  #offset = 0;
  #ordinal = 0;
  #previous = 0;
  /** Chunks of a frame that is not yet written. */
  readonly #chunks = new ByteParts();

  private constructor(disk: Disk, path: string, segment: number, file: DiskFile) {
    this.#disk = disk;
    this.#path = path;
    this.segment = segment;
    this.#file = file;
  }

  /** Makes `<path>.new`, in place of one that a stop left, with its head. */
  static async create(
    disk: Disk,
    path: string,
    segment: number,
    head: Pick<Head, 'folderId' | 'createdMs' | 'features' | 'sources'>,
  ): Promise<SegmentWriter> {
    disk.makeFolder(dirname(path));
    const name = temporaryPath(path);
    if (disk.list(dirname(path)).includes(name.slice(dirname(path).length + 1))) {
      await disk.unlink(name);
    }
    const writer = new SegmentWriter(disk, path, segment, disk.open(name, 'create'));
    const meta = writeHead({ ...head, format: FORMAT_VERSION, writer: 0 });
    await writer.#append(FrameKind.HEAD, layParts(meta, []), NO_ROWS);
    return writer;
  }

  /** The file as it is written so far. */
  get written(): Pick<DiskFile, 'read' | 'bytes'> {
    return this.#file;
  }

  /** Bytes written so far, without chunks that are not. */
  get bytes(): number {
    return this.#offset;
  }

  chunk(bytes: Uint8Array): number {
    this.#chunks.pad(CHUNK_ALIGNMENT);
    const offset = this.#offset + FRAME_HEADER_BYTES + this.#chunks.length;
    this.#chunks.raw(bytes);
    return offset;
  }

  /** Writes the chunks that are not yet written, when they are `least` bytes or more. */
  async flush(least = CHUNK_FRAME_BYTES): Promise<void> {
    if (this.#chunks.length < Math.max(least, 1)) return;
    const frame = layParts(new Uint8Array(0), this.#chunks.parts());
    await this.#write(FrameKind.CHUNKS, frame, NO_ROWS);
    this.#chunks.reset();
  }

  /** Appends the directory of a block, whose rows have their keys with them. */
  async block(block: FrameParts & Facts): Promise<BlockRef> {
    const place = await this.#append(FrameKind.DIRECTORY, block, block);
    const { rowCount, minTimeMs, maxTimeMs } = block;
    const keys = { writer: 0, firstSequence: 0, endSequence: 0 };
    return {
      sealed: true,
      segment: this.segment,
      ...keys,
      ...place,
      rowCount,
      minTimeMs,
      maxTimeMs,
    };
  }

  /** Appends a dictionary. */
  dictionary(meta: Uint8Array, regions: readonly Uint8Array[]): Promise<FramePlace> {
    return this.#append(FrameKind.DICTIONARY, layParts(meta, regions), NO_ROWS);
  }

  /** Appends words of a column. */
  words(meta: Uint8Array, regions: readonly Uint8Array[]): Promise<FramePlace> {
    return this.#append(FrameKind.WORDS, layParts(meta, regions), NO_ROWS);
  }

  /** Appends footer and trailer, makes the file durable, and gives it its name. */
  async finish(footer: FooterParts): Promise<void> {
    const { meta, regions } = writeFooter(footer);
    const place = await this.#append(FrameKind.FOOTER, layParts(meta, regions), NO_ROWS);
    const trailer = writeTrailer(this.segment, place);
    await this.#file.write([trailer], this.#offset);
    this.#offset += trailer.length;
    await this.#file.sync();
    this.#file.close();
    await this.#disk.rename(temporaryPath(this.#path), this.#path);
    await this.#disk.syncFolder(dirname(this.#path));
  }

  /** Drops the file, under whichever name it has. */
  async abandon(): Promise<void> {
    this.#file.close();
    const folder = dirname(this.#path);
    const names = new Set(this.#disk.list(folder));
    for (const path of [temporaryPath(this.#path), this.#path]) {
      if (names.has(path.slice(folder.length + 1))) await this.#disk.unlink(path);
    }
  }

  async #append(kind: FrameKind, frame: FrameParts, facts: Facts): Promise<FramePlace> {
    await this.flush(0);
    return this.#write(kind, frame, facts);
  }

  async #write(kind: FrameKind, frame: FrameParts, facts: Facts): Promise<FramePlace> {
    const { parts, frameBytes, metaBytes, metaRawBytes, metaChecksum } = frame;
    const place = { offset: this.#offset, bytes: frameBytes, ordinal: this.#ordinal };
    this.#previous = writeFrameHeader(parts[0], {
      kind,
      repeats: false,
      segment: this.segment,
      ordinal: this.#ordinal,
      previous: this.#previous,
      frameBytes,
      metaBytes,
      metaRawBytes,
      metaChecksum,
      group: 0,
      rowCount: facts.rowCount,
      firstSequence: 0,
      minTimeMs: facts.minTimeMs,
      maxTimeMs: facts.maxTimeMs,
    });
    await this.#file.write(parts, this.#offset);
    this.#offset += frameBytes;
    this.#ordinal++;
    return place;
  }
}

function temporaryPath(path: string): string {
  return `${path}.new`;
}
