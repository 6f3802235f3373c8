import type { FarBytes } from '../../base/bytes.ts';
import type { Region } from '../../column/chunk.ts';
import type { Scratch } from '../../column/entries.ts';
import { free } from '../../packed/growth.ts';
import { type BlockRef, placed } from '../frame.ts';
import type { FrameSource } from '../frame-source.ts';
import type { ChunkSource } from './block-sources.ts';

/** Bytes that a region takes of the file: none when it shares its chunk. */
export function bytesOf(region: Region): number {
  if (region.inline !== undefined) return region.inline.length;
  return region.isShared === true ? 0 : region.bytes;
}

/** Bytes of a block's regions, whole or in part. */
export class BlockRegions {
  readonly #ref: BlockRef;
  readonly #source: FrameSource;
  readonly #chunks: ChunkSource | undefined;
  /** Bytes that were given since `collect`. */
  #given: Uint8Array[] | undefined;

  /** `chunks`: where those of columns are kept. */
  constructor(ref: BlockRef, source: FrameSource, chunks: ChunkSource | undefined) {
    this.#ref = ref;
    this.#source = source;
    this.#chunks = chunks;
  }

  /** All bytes of a region, as the source gives them. Throws CORRUPTION. */
  region(region: Region, scratch?: Uint8Array): Uint8Array {
    const bytes = this.#source.region(region, scratch);
    if (scratch === undefined) this.#given?.push(bytes);
    return bytes;
  }

  /** The bytes of some regions, as `together` of the source. Throws CORRUPTION. */
  together(regions: readonly Region[], scratch: Scratch): Uint8Array[] {
    return this.#source.together(regions, scratch);
  }

  /** From now on collects what `region` gives, but in a scratch. */
  collect(): void {
    this.#given ??= [];
  }

  /** Frees what was collected, as far as it was read alone: nobody reads it any more. */
  free(): void {
    for (const bytes of this.#given ?? []) {
      if (bytes.length === bytes.buffer.byteLength) free(bytes);
    }
    if (this.#given !== undefined) this.#given = [];
  }

  /** Bytes of a region, of which no more are read than needed; `whole` reads all. Throws CORRUPTION, later too. */
  far(region: Region, whole = () => this.region(region)): Uint8Array | FarBytes {
    const bytes = this.#source.far(region);
    if (bytes instanceof Uint8Array) {
      this.#given?.push(bytes);
      return bytes;
    }
    const { length } = bytes;
    return {
      length,
      read: (from, count, room) => placed(this.#ref, () => bytes.read(from, count, room)),
      whole: () => placed(this.#ref, whole),
      window: (from) => placed(this.#ref, () => bytes.window(from)),
    };
  }

  /** The ids or numbers of the column number `index`. Throws as `far`. */
  chunk(index: number, region: Region): Uint8Array | FarBytes {
    const chunks = this.#chunks;
    if (chunks === undefined || region.inline !== undefined) return this.far(region);
    const known = chunks.known(this.#ref, index);
    if (known !== undefined) return known;
    const keep = (read: () => Uint8Array): Uint8Array => chunks.chunk(this.#ref, index, read);
    const bytes = this.far(region, () => keep(() => this.region(region)));
    return bytes instanceof Uint8Array ? keep(() => bytes) : bytes;
  }
}
