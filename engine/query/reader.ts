import type { Disk, DiskFile } from '../base/file.ts';
import { type Block, openBlock } from '../segment/block.ts';
import type { BlockRef } from '../segment/frame.ts';
import { segmentPath } from '../store/filename.ts';
import { aggregateUnits } from './aggregate.ts';
import { fetchUnits } from './fetch.ts';
import { listUnits } from './list.ts';
import type {
  AggregateQuery,
  AggregateResult,
  FetchQuery,
  ListedEvent,
  ListQuery,
  ListResult,
  Snapshot,
} from './query.ts';
import type { BlockSource, Progress } from './source.ts';

/** Segment files that one reader keeps open. */
const FILES_MAX = 64;
/** Memory of the opened blocks that one reader keeps: the newest of a busy service are asked for again and again. */
const BLOCKS_BYTES_MAX = 64 * 1024 * 1024;
/** What a decoded column takes a row at most, its strings aside. */
const CELL_BYTES = 8;
/** What strings take decoded, over what the block takes on disk. */
const EXPANSION = 4;

interface KeptBlock {
  block: Block;
  bytes: number;
}

/** Answers queries in units, and keeps some of the files and blocks that it opened. Used by one thread. */
export class Reader implements BlockSource {
  readonly secret: Uint8Array;
  readonly #disk: Disk;
  /** By segment, the one that was used last at the end. */
  readonly #files = new Map<number, DiskFile>();
  /** By segment and offset, the one that was used last at the end. */
  readonly #blocks = new Map<string, KeptBlock>();
  #blocksBytes = 0;

  /** `secret` is the manifest's. */
  constructor(disk: Disk, secret: Uint8Array) {
    this.#disk = disk;
    this.secret = secret;
  }

  /** Opens a block, or gives the one that is open. Throws CORRUPTION, and IO when the file is not there. */
  open(ref: BlockRef): Block {
    const key = `${ref.segment} ${ref.offset}`;
    const kept = this.#blocks.get(key);
    if (kept !== undefined) {
      this.#blocks.delete(key);
      this.#blocks.set(key, kept);
      return kept.block;
    }
    const source = {
      read: (target: Uint8Array, position: number) =>
        this.#file(ref.segment).read(target, position),
    };
    const block = openBlock(source, ref);
    this.#keep(key, block);
    return block;
  }

  /** Units of a list query; see `listUnits`. */
  list(snapshot: Snapshot, query: ListQuery): Generator<Progress, ListResult> {
    return listUnits(this, snapshot, query);
  }

  /** Units of a fetch; see `fetchUnits`. */
  fetch(snapshot: Snapshot, query: FetchQuery): Generator<Progress, ListedEvent | undefined> {
    return fetchUnits(this, snapshot, query);
  }

  /** Units of an aggregation; see `aggregateUnits`. */
  aggregate(snapshot: Snapshot, query: AggregateQuery): Generator<Progress, AggregateResult> {
    return aggregateUnits(this, snapshot, query);
  }

  /** Closes all files and forgets all blocks. It can be used again. */
  close(): void {
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
    this.#blocks.clear();
    this.#blocksBytes = 0;
  }

  #keep(key: string, block: Block): void {
    const { rowCount, bytes } = block.ref;
    const size = rowCount * CELL_BYTES * (block.columns.length + 2) + bytes * EXPANSION;
    this.#blocks.set(key, { block, bytes: size });
    this.#blocksBytes += size;
    for (const [oldest, kept] of this.#blocks) {
      if (this.#blocksBytes <= BLOCKS_BYTES_MAX) return;
      this.#blocks.delete(oldest);
      this.#blocksBytes -= kept.bytes;
    }
  }

  /** The file of a segment; blocks read from it long after they were opened, so it may have to be opened again. */
  #file(segment: number): DiskFile {
    const open = this.#files.get(segment);
    if (open !== undefined) {
      this.#files.delete(segment);
      this.#files.set(segment, open);
      return open;
    }
    const file = this.#disk.open(segmentPath(segment), 'read');
    this.#files.set(segment, file);
    if (this.#files.size > FILES_MAX) {
      const [oldest, used] = this.#files.entries().next().value ?? [segment, file];
      used.close();
      this.#files.delete(oldest);
    }
    return file;
  }
}
