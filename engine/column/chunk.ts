import { createHash } from 'node:crypto';
import type { ByteParts } from '../base/byte-parts.ts';
import { ByteReader, ByteWriter } from '../base/bytes.ts';
import { checksum } from '../base/checksum.ts';
import { damaged } from '../base/errors.ts';
import {
  type Compress,
  type CompressTexts,
  coldCompressor,
  coldTextCompressor,
  compress,
} from '../packed/compress.ts';
import { writeDense } from '../packed/dense-integers.ts';
import { type WriteIntegers, writeIntegers } from '../packed/integers.ts';

/** Regions up to this size lie in the meta. */
const INLINE_BYTES_MAX = 128;
/** Regions in the frame begin at multiples of this. */
export const REGION_ALIGNMENT = 8;
/** Chunks in the file begin at multiples of this. */
export const CHUNK_ALIGNMENT = 64;

/** Distances from here on lead back. */
const BACK = 2 ** 32;

/** Rounds up to a multiple of a power of two. */
function align(bytes: number, alignment: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

/** Writes a region whose bytes stand in the meta itself. */
export function writeInline(meta: ByteWriter, bytes: Uint8Array): void {
  meta.varint(bytes.length * 2 + 1);
  meta.raw(bytes);
}

/** A file that takes the chunks of all columns of a segment, one after the other. */
export interface ChunkFile {
  /** Appends `bytes`, which are copied; returns their offset in the file, a multiple of CHUNK_ALIGNMENT. */
  chunk(bytes: Uint8Array): number;
}

/** Collects a block's regions: the directory goes to `meta`, region by region, small ones themselves. FORMAT.md 4.1. */
export class RegionWriter {
  readonly meta = new ByteWriter(1024);
  readonly regions: ByteWriter | ByteParts;
  /** An empty writer for the next region; `end` adds what was written to it. */
  readonly region: ByteWriter;
  /** For the names of a block's paths. */
  readonly paths = new ByteWriter(1024);
  /** For what is packed into `region`. */
  readonly packed = new ByteWriter(1024);
  readonly isCold: boolean;
  readonly #chunks: ChunkFile | undefined;
  /** Where the next chunk lies when it follows the last one. */
  #nextChunk = 0;
  /** Offsets of chunks of ids by their digests: those of attributes that tell the same are the same. */
  readonly #ids = new Map<string, number>();

  /**
   * `regions`: where they are collected. `region`: others may use it too, between two regions. `isCold`: of a sealed
   * segment, which is written once and read now and then. `chunks`: where regions go instead, as soon as they end.
   */
  constructor(
    regions: ByteWriter | ByteParts = new ByteWriter(1024),
    region = new ByteWriter(1024),
    isCold = false,
    chunks?: ChunkFile,
  ) {
    this.regions = regions;
    this.region = region;
    this.isCold = isCold;
    this.#chunks = chunks;
  }

  /** A compressor for like pieces. */
  compressor(): Compress {
    return this.isCold ? coldCompressor() : compress;
  }

  /** A compressor for like pieces of texts. */
  textCompressor(): CompressTexts {
    return this.isCold ? coldTextCompressor() : compress;
  }

  /** Writes streams of numbers. */
  get integers(): WriteIntegers {
    return this.isCold ? writeDense : writeIntegers;
  }

  /** Empties it for the next block; what views of it showed is gone. */
  reset(): void {
    this.meta.reset();
    this.paths.reset();
    this.regions.reset();
    this.region.reset();
  }

  /** Adds what `region` holds, and empties it. */
  end(): void {
    this.add(this.region.bytes());
    this.region.reset();
  }

  /** Adds ids that `region` holds, and empties it; ids that are the same as others of the block share a chunk. */
  endIds(): void {
    const chunks = this.#chunks;
    const bytes = this.region.bytes();
    if (chunks === undefined || bytes.length <= INLINE_BYTES_MAX) {
      this.end();
      return;
    }
    const digest = createHash('sha256').update(bytes).digest('base64');
    const known = this.#ids.get(digest);
    if (known === undefined) this.#ids.set(digest, this.#addChunk(chunks, bytes));
    else {
      this.#head(bytes);
      this.meta.varint(BACK + (this.#nextChunk - known) / CHUNK_ALIGNMENT);
    }
    this.region.reset();
  }

  /** Adds a region. Copies `bytes`. */
  add(bytes: Uint8Array): void {
    if (bytes.length <= INLINE_BYTES_MAX) {
      writeInline(this.meta, bytes);
    } else if (this.#chunks !== undefined) this.#addChunk(this.#chunks, bytes);
    else {
      this.#head(bytes);
      this.regions.pad(REGION_ALIGNMENT);
      this.regions.raw(bytes);
    }
  }

  /** Adds a chunk; returns its offset. */
  #addChunk(chunks: ChunkFile, bytes: Uint8Array): number {
    this.#head(bytes);
    const offset = chunks.chunk(bytes);
    this.meta.varint((offset - this.#nextChunk) / CHUNK_ALIGNMENT);
    this.#nextChunk = align(offset + bytes.length, CHUNK_ALIGNMENT);
    return offset;
  }

  /** Begins the entry of a region that is not in the meta. */
  #head(bytes: Uint8Array): void {
    this.meta.varint(bytes.length * 2);
    this.meta.u32(checksum(bytes));
  }
}

/**
 * Place of a region's bytes. `offset` counts from the end of the meta, rounded up to REGION_ALIGNMENT; that of a chunk
 * from the file's begin. `isShared`: of a chunk that another region of the block has already.
 */
export type Region =
  | { inline: Uint8Array }
  | {
      inline: undefined;
      offset: number;
      bytes: number;
      checksum: number;
      isShared?: true;
    };

/**
 * Reads a block's directory in order: regions lie one after the other, so their places follow from their sizes; of
 * chunks it has the distances.
 */
export class RegionReader {
  readonly meta: ByteReader;
  readonly #areChunks: boolean;
  #next: number;

  /** Begins at `at` of the meta, with `end` behind all regions before. */
  constructor(meta: Uint8Array, areChunks = false, at = 0, end = 0) {
    this.meta = new ByteReader(meta, at);
    this.#areChunks = areChunks;
    this.#next = end;
  }

  /** Bytes of all regions so far. */
  get end(): number {
    return this.#next;
  }

  /** The next region. Throws CORRUPTION when the meta ends early. */
  region(): Region {
    const head = this.meta.varint();
    if (head % 2 === 1) return { inline: this.meta.raw((head - 1) / 2) };
    const bytes = head / 2;
    const sum = this.meta.u32();
    if (!this.#areChunks) {
      const offset = align(this.#next, REGION_ALIGNMENT);
      this.#next = offset + bytes;
      return { inline: undefined, offset, bytes, checksum: sum };
    }
    const next = align(this.#next, CHUNK_ALIGNMENT);
    const distance = this.meta.varint();
    if (distance >= BACK) {
      const offset = next - (distance - BACK) * CHUNK_ALIGNMENT;
      if (offset < 0) damaged(`a chunk at ${offset}`);
      return { inline: undefined, offset, bytes, checksum: sum, isShared: true };
    }
    const offset = next + distance * CHUNK_ALIGNMENT;
    this.#next = offset + bytes;
    return { inline: undefined, offset, bytes, checksum: sum };
  }
}

/** Least and greatest value of a chunk. May be wider than the values, never narrower. */
export interface Zone {
  min: number;
  max: number;
}
