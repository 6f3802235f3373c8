import { assert } from '../base/assert.ts';
import type { ByteParts } from '../base/byte-parts.ts';
import { ByteReader, ByteWriter } from '../base/bytes.ts';
import { checksum } from '../base/checksum.ts';
import { type Compress, coldCompressor, compress } from '../packed/compress.ts';

/** Regions up to this size lie in the meta. */
const INLINE_BYTES_MAX = 128;
/** Regions in the frame begin at multiples of this. */
export const REGION_ALIGNMENT = 8;

assert(new Uint8Array(new Uint32Array([1]).buffer)[0] === 1, 'this machine is little-endian');

/** Collects a block's regions: the directory goes to `meta`, region by region, small ones themselves. FORMAT.md 4.1. */
export class RegionWriter {
  readonly meta = new ByteWriter(1024);
  readonly regions: ByteWriter | ByteParts;
  /** An empty writer for the next region; `end` adds what was written to it. */
  readonly region: ByteWriter;
  /** For what is packed into `region`. */
  readonly packed = new ByteWriter(1024);
  readonly #isCold: boolean;

  /**
   * `regions`: where they are collected. `region`: others may use it too, between two regions. `isCold`: of a sealed
   * segment, which is written once and read now and then.
   */
  constructor(
    regions: ByteWriter | ByteParts = new ByteWriter(1024),
    region = new ByteWriter(1024),
    isCold = false,
  ) {
    this.regions = regions;
    this.region = region;
    this.#isCold = isCold;
  }

  /** A compressor for like pieces. */
  compressor(): Compress {
    return this.#isCold ? coldCompressor() : compress;
  }

  /** Empties it for the next block; what views of it showed is gone. */
  reset(): void {
    this.meta.reset();
    this.regions.reset();
    this.region.reset();
  }

  /** Adds what `region` holds, and empties it. */
  end(): void {
    this.add(this.region.bytes());
    this.region.reset();
  }

  /** Adds a region. Copies `bytes`. */
  add(bytes: Uint8Array): void {
    if (bytes.length <= INLINE_BYTES_MAX) {
      this.meta.varint(bytes.length * 2 + 1);
      this.meta.raw(bytes);
      return;
    }
    this.meta.varint(bytes.length * 2);
    this.meta.u32(checksum(bytes));
    this.regions.pad(REGION_ALIGNMENT);
    this.regions.raw(bytes);
  }
}

/** Place of a region's bytes. `offset` counts from the end of the meta, rounded up to REGION_ALIGNMENT. */
export type Region =
  | { inline: Uint8Array }
  | { inline: undefined; offset: number; bytes: number; checksum: number };

/** Reads a block's directory in order: regions lie one after the other, so their places follow from their sizes. */
export class RegionReader {
  readonly meta: ByteReader;
  #next = 0;

  constructor(meta: Uint8Array) {
    this.meta = new ByteReader(meta);
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
    const offset = Math.ceil(this.#next / REGION_ALIGNMENT) * REGION_ALIGNMENT;
    this.#next = offset + bytes;
    return { inline: undefined, offset, bytes, checksum: this.meta.u32() };
  }
}

/** Least and greatest value of a chunk. May be wider than the values, never narrower. */
export interface Zone {
  min: number;
  max: number;
}
