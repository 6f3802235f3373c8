import { type Disk, type DiskFile, readWritten } from '../base/file.ts';
import type { CountedEntries, PossibleParts, Terms } from '../column/entries.ts';
import { Block } from '../segment/block/block.ts';
import { readHead } from '../segment/block/block-head.ts';
import type { DictionarySource } from '../segment/block/block-sources.ts';
import type { BlockColumns } from '../segment/column-outline.ts';
import { columnsOfBlock, type Footer } from '../segment/footer.ts';
import { type BlockRef, corruption, isHole } from '../segment/frame.ts';
import { SealedFile, type SealedSource } from '../segment/sealed-file.ts';
import { pathOfSegment } from '../store/filename.ts';
import { BlockCache } from './block-cache.ts';
import { FooterCache } from './footer-cache.ts';
import { KeptByBytes } from './kept-by-bytes.ts';
import { EventIds } from './model/event-id.ts';
import { FilterCache, type SelectedRows, type VisibleMinutes } from './model/filter-cache.ts';
import { Room } from './model/room.ts';
import type { BlockSource } from './model/source.ts';
import { PieceCache } from './piece-cache.ts';
import { SumCache } from './sum-cache.ts';

/** Segment files that one reader keeps open. */
const FILES_MAX = 64;
/** Memory of open sealed segments that one reader keeps, and that of one beside what it has decoded. */
const SEALED_BYTES_MAX = 36 * 1024 * 1024;
const SEALED_FILE_BYTES = 8_192;
/** Memory of how many rows filters let through: of one filter for about 30,000 blocks, 2 billion rows. */
const VISIBLE_BYTES_MAX = 32 * 1024 * 1024;
/** Memory of the rows that predicates select: of one predicate for at least 2,000 blocks, 130 million rows. */
const SELECTED_BYTES_MAX = 16 * 1024 * 1024;
/** Memory that all takes together which a reader keeps from query to query, but the rows that predicates select. */
const KEPT_BYTES_MAX = 128 * 1024 * 1024;
/** Memory and files that a reader may take. */
export interface ReaderMemory {
  /** Bytes that one query may keep until it is answered; 256 MiB unless it is given. */
  queryBytesMax?: number;
  /** Bytes of the rows that predicates selected, kept from query to query; 0 keeps none, 16 MiB unless it is given. */
  selectedBytesMax?: number;
  /** Bytes of all else that it keeps from query to query; 128 MiB unless it is given. */
  keptBytesMax?: number;
  /** Segment files that it keeps open; 64 unless it is given. */
  filesMax?: number;
}

/** Answers queries in units, and keeps some of the files and blocks that it opened. Used by one thread. */
export class Reader implements BlockSource {
  readonly secret: Uint8Array;
  readonly ids: EventIds;
  readonly visible = new FilterCache<VisibleMinutes>(VISIBLE_BYTES_MAX);
  readonly selected: FilterCache<SelectedRows> | undefined;
  readonly sums = new SumCache();
  readonly memoryBytesMax: number | undefined;
  readonly #disk: Disk;
  readonly #filesMax: number;
  readonly #footers = new FooterCache();
  /** By segment, the one that was used last at the end. */
  readonly #files = new Map<number, DiskFile>();
  #lastFile: { segment: number; file: DiskFile } | undefined;
  /** Sealed segments by number, but the last one. */
  readonly #sealed = new KeptByBytes<number, SealedFile>(SEALED_BYTES_MAX);
  #lastSealed: SealedFile | undefined;
  readonly #blocks = new BlockCache();
  readonly #pieces = new PieceCache();
  readonly #room: Room;

  /** `secret` is the manifest's. */
  constructor(disk: Disk, secret: Uint8Array, memory: ReaderMemory = {}) {
    const { queryBytesMax, selectedBytesMax = SELECTED_BYTES_MAX, filesMax = FILES_MAX } = memory;
    const { keptBytesMax = KEPT_BYTES_MAX } = memory;
    this.#filesMax = filesMax;
    this.#disk = disk;
    this.secret = secret;
    this.ids = new EventIds(secret);
    this.memoryBytesMax = queryBytesMax;
    this.selected = selectedBytesMax === 0 ? undefined : new FilterCache(selectedBytesMax);
    const caches = [this.#blocks, this.#footers, this.#pieces, this.sums];
    const all = [this.visible, this.#sealed, ...caches.flatMap((one) => one.caches)];
    this.#room = new Room(keptBytesMax, all);
  }

  /** Memory that it keeps from query to query, about, but the rows that predicates select. */
  get keptBytes(): number {
    return this.#room.bytes;
  }

  /** Opens a block, or gives the one that is open. Throws CORRUPTION, also when the file is not there; IO. */
  open(ref: BlockRef): Block {
    if (isHole(ref)) corruption(ref, 'rows are lost');
    this.#room.fit();
    return this.#blocks.get(ref, (head) => {
      if (ref.sealed) {
        const { chunks } = this.#blocks;
        return this.#sealedFile(ref).open(ref, head, chunks, this.#dictionaries(ref));
      }
      const read = head ?? readHead(this.#source(ref), ref, new Set());
      return new Block(read, undefined, undefined, this.sums);
    });
  }

  /** The columns of a sealed block, from its segment's footer. Throws as `open`. */
  columns(ref: BlockRef): BlockColumns | undefined {
    return ref.sealed ? columnsOfBlock(this.#footer(ref), ref) : undefined;
  }

  /** The footer of a sealed block's segment. Throws as `open`. */
  footer(ref: BlockRef): Footer | undefined {
    return ref.sealed ? this.#footer(ref) : undefined;
  }

  /** The dictionary number `number` of a sealed block's segment. Throws as `open`. */
  dictionary(ref: BlockRef, number: number): CountedEntries {
    return this.#sealedFile(ref).dictionary(number);
  }

  /** Finds parts of a column of strings of a sealed block. Throws as `open`. */
  partsWith(ref: BlockRef, path: string, terms: Terms): PossibleParts | undefined {
    if (!ref.sealed) return undefined;
    return this.#sealedFile(ref).partsWith(ref, path, terms);
  }

  /** Counts rows with a word in the segment of a sealed block. Throws as `open`. */
  rowsWith(ref: BlockRef, path: string, word: Uint8Array): number | undefined {
    return this.#sealedFile(ref).rowsWith(path, word);
  }

  /** Closes the files of segments that are gone, whose room on the disk is free then, and forgets their blocks. */
  forget(segments: readonly number[]): void {
    this.visible.forget(segments);
    this.selected?.forget(segments);
    this.#footers.forget(segments);
    for (const segment of segments) {
      this.#files.get(segment)?.close();
      this.#files.delete(segment);
      if (this.#lastFile?.segment === segment) this.#lastFile = undefined;
      if (this.#lastSealed?.segment === segment) this.#lastSealed = undefined;
    }
    this.#sealed.forget(segments);
    this.#blocks.forget(segments);
    this.#pieces.forget(segments);
    this.sums.forget(segments);
  }

  /** Closes all files and forgets all blocks. It can be used again. */
  close(): void {
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
    this.#lastFile = undefined;
    this.#footers.clear();
    this.#sealed.clear();
    this.#lastSealed = undefined;
    this.#blocks.clear();
    this.#pieces.clear();
    this.sums.clear();
  }

  /** The dictionaries of a sealed block's segment, of whichever file is open then. */
  #dictionaries(ref: BlockRef): DictionarySource {
    return {
      dictionary: (number) => this.dictionary(ref, number),
      partsWith: (block, path, terms) => this.partsWith(block, path, terms),
    };
  }

  #footer(ref: BlockRef): Footer {
    const { segment } = ref;
    this.#room.fit();
    return this.#footers.get(segment, (share) =>
      new SealedFile(this.#source(ref), segment).plainFooter(share),
    );
  }

  /** The open file of a sealed segment. */
  #sealedFile(ref: BlockRef): SealedFile {
    const last = this.#lastSealed;
    return last?.segment === ref.segment ? last : this.#openSealed(ref, last);
  }

  /** Opens the file of another sealed segment than the `last` one, or gives it when it is kept. */
  #openSealed(ref: BlockRef, last: SealedFile | undefined): SealedFile {
    const { segment } = ref;
    // What a file holds is known when another one is read.
    if (last !== undefined) {
      const bytes = last.memoryBytes + SEALED_FILE_BYTES;
      this.#sealed.keep(last.segment, last.segment, last, bytes);
    }
    const footer = (): Footer => this.#footer(ref);
    const kept = { pieces: this.#pieces, sums: this.sums };
    this.#lastSealed =
      this.#sealed.get(segment) ?? new SealedFile(this.#source(ref), segment, footer, kept);
    return this.#lastSealed;
  }

  /** Source of the bytes of a segment's blocks, however often its file has to be opened again. */
  #source(ref: BlockRef): SealedSource {
    const path = pathOf(ref);
    return {
      read: (target, position) => readWritten(path, () => this.#file(ref).read(target, position)),
      bytes: () => readWritten(path, () => this.#file(ref).bytes()),
    };
  }

  /** The file of a segment; blocks read from it long after they were opened, so it may have to be opened again. */
  #file(ref: BlockRef): DiskFile {
    const { segment } = ref;
    const last = this.#lastFile;
    if (last?.segment === segment) return last.file;
    const open = this.#files.get(segment);
    if (open !== undefined) {
      this.#files.delete(segment);
      this.#files.set(segment, open);
      this.#lastFile = { segment, file: open };
      return open;
    }
    const file = this.#disk.open(pathOf(ref), 'read');
    this.#files.set(segment, file);
    this.#lastFile = { segment, file };
    if (this.#files.size > this.#filesMax) {
      const [oldest, used] = this.#files.entries().next().value ?? [segment, file];
      used.close();
      this.#files.delete(oldest);
    }
    return file;
  }
}

function pathOf({ sealed, segment }: BlockRef): string {
  return pathOfSegment(sealed, segment);
}
