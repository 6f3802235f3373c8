import type { Block } from '../segment/block/block.ts';
import type { BlockHead } from '../segment/block/block-head.ts';
import type { BlockRef } from '../segment/frame.ts';
import { ChunkCache } from './chunk-cache.ts';
import { KeptByBytes } from './kept-by-bytes.ts';

/** Memory of the opened blocks that are kept: the newest of a busy service are asked for again and again. */
const BLOCKS_BYTES_MAX = 48 * 1024 * 1024;
/** Memory of heads: of some 300 blocks of ten attributes, 20 million rows. */
const HEADS_BYTES_MAX = 12 * 1024 * 1024;
/** What a decoded column takes a row at most, its strings aside. */
const CELL_BYTES = 8;
/** What strings take decoded, over what the block takes on disk. */
const EXPANSION = 4;

/** Blocks that were opened, with what they have decoded, and heads and chunks of very many more. Used by one thread. */
export class BlockCache {
  readonly chunks = new ChunkCache();
  readonly #blocks = new KeptByBytes<string, Block>(BLOCKS_BYTES_MAX);
  readonly #heads = new KeptByBytes<string, BlockHead>(HEADS_BYTES_MAX);

  /** The block at `ref`; `open` opens it when it is not kept, with its head when this is, and throws what it likes. */
  get(ref: BlockRef, open: (head: BlockHead | undefined) => Block): Block {
    const { segment, offset, rowCount, bytes } = ref;
    const key = `${segment} ${offset}`;
    const known = this.#blocks.get(key);
    if (known !== undefined) return known;
    const head = this.#heads.get(key);
    const block = open(head);
    if (head === undefined) this.#heads.keep(key, segment, block.head, block.head.memoryBytes);
    const cells = rowCount * CELL_BYTES * (block.columnCount + 2);
    this.#blocks.keep(key, segment, block, cells + bytes * EXPANSION);
    return block;
  }

  /** Forgets the blocks of segments that are gone. */
  forget(segments: readonly number[]): void {
    this.#blocks.forget(segments);
    this.#heads.forget(segments);
    this.chunks.forget(segments);
  }

  /** Forgets all. */
  clear(): void {
    this.#blocks.clear();
    this.#heads.clear();
    this.chunks.clear();
  }
}
