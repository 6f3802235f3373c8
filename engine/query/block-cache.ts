import { type Block, CELL_BYTES } from '../segment/block/block.ts';
import type { BlockHead } from '../segment/block/block-head.ts';
import { type BlockRef, placeKey } from '../segment/frame.ts';
import { ChunkCache } from './chunk-cache.ts';
import { KeptByBytes } from './kept-by-bytes.ts';
import type { Shrinkable } from './model/room.ts';

/** Memory of the opened blocks that keep what they have decoded: those that were read last. */
const BLOCKS_BYTES_MAX = 24 * 1024 * 1024;
/** Memory of blocks at rest: of a hundred whose events were rebuilt, and many times as many others. */
const RESTING_BYTES_MAX = 8 * 1024 * 1024;
/** Memory of heads: of some 300 blocks of ten attributes, 20 million rows. */
const HEADS_BYTES_MAX = 12 * 1024 * 1024;
/** Blocks that come to rest between two looks at another one: who still reads one may decode more of it. */
const LOOK_EVERY = 4;
/** Bytes of decoded strings up to which a block is not weighed anew. */
const TEXT_BYTES_RECKONED = 1024 * 1024;
/** Bytes that strings take decoded, over those that the block takes on disk. */
const EXPANSION = 4;

/**
 * Blocks that were opened, with what they have decoded; many more at rest; heads and chunks of very many more. Used by
 * one thread.
 */
export class BlockCache {
  readonly chunks = new ChunkCache();
  readonly #blocks = new KeptByBytes<string, Block>(BLOCKS_BYTES_MAX, (key, segment, block) =>
    this.#rest(key, segment, block),
  );
  /** Those whose heads are kept. */
  readonly #resting: KeptByBytes<string, Block>;
  readonly #heads = new KeptByBytes<string, BlockHead>(HEADS_BYTES_MAX, (key) =>
    this.#resting.drop(key),
  );
  /** The block that was asked for last. */
  #last: { key: string; segment: number; block: Block } | undefined;
  #restedCount = 0;

  constructor(restingBytesMax = RESTING_BYTES_MAX) {
    this.#resting = new KeptByBytes(restingBytesMax);
  }

  /** Where it keeps them. */
  get caches(): readonly Shrinkable[] {
    return [this.#blocks, this.#resting, this.#heads, ...this.chunks.caches];
  }

  /** The block at `ref`; `open` opens it when it is not kept, with its head when this is, and throws what it likes. */
  get(ref: BlockRef, open: (head: BlockHead | undefined) => Block): Block {
    const { segment, rowCount, bytes } = ref;
    const key = placeKey(ref);
    this.#weighLast(key);
    const known = this.#blocks.get(key);
    if (known !== undefined) {
      this.#last = { key, segment, block: known };
      return known;
    }
    const head = this.#heads.get(key);
    const block = this.#resting.get(key) ?? open(head);
    this.#resting.drop(key);
    if (head === undefined) this.#heads.keep(key, segment, block.head, block.head.memoryBytes);
    const decodedMax = rowCount * CELL_BYTES * (block.columnCount + 2) + bytes * EXPANSION;
    if (decodedMax <= BLOCKS_BYTES_MAX) {
      this.#blocks.keep(key, segment, block, decodedMax);
      this.#last = { key, segment, block };
    }
    return block;
  }

  /**
   * Weighs the block that was asked for last anew, when another one is: texts that repeat take hundreds of times what
   * they take on disk.
   */
  #weighLast(key: string): void {
    const last = this.#last;
    if (last === undefined || last.key === key) return;
    this.#last = undefined;
    const textBytes = last.block.decodedTextBytes;
    if (textBytes <= TEXT_BYTES_RECKONED) return;
    if (textBytes <= BLOCKS_BYTES_MAX) this.#blocks.weigh(last.key, textBytes);
    else if (this.#blocks.get(last.key) !== undefined) {
      this.#blocks.drop(last.key);
      this.#rest(last.key, last.segment, last.block);
    }
  }

  #rest(key: string, segment: number, block: Block): void {
    if (this.#heads.get(key) === undefined) return;
    this.#resting.keep(key, segment, block, block.rest(false));
    if (++this.#restedCount % LOOK_EVERY !== 0) return;
    this.#resting.weighNext((resting) => resting.rest(true));
    this.#heads.weighNext((head) => head.memoryBytes);
  }

  /** Forgets the blocks of segments that are gone. */
  forget(segments: readonly number[]): void {
    if (this.#last !== undefined && segments.includes(this.#last.segment)) this.#last = undefined;
    this.#blocks.forget(segments);
    this.#resting.forget(segments);
    this.#heads.forget(segments);
    this.chunks.forget(segments);
  }

  /** Forgets all. */
  clear(): void {
    this.#last = undefined;
    this.#blocks.clear();
    this.#resting.clear();
    this.#heads.clear();
    this.chunks.clear();
  }
}
