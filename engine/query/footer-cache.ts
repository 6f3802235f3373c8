import { CompactFooter, NameLists } from '../segment/compact-footer.ts';
import { type Footer, memoryOf } from '../segment/footer.ts';
import { type PlainFooter, readFooter, type ShareNames } from '../segment/footer-reader.ts';
import { KeptByBytes } from './kept-by-bytes.ts';
import type { Shrinkable } from './model/room.ts';

/** Memory of footers that are read: of a thousand small segments, or fifteen hundred of a million rows. */
const READ_BYTES_MAX = 16 * 1024 * 1024;
/** Memory of compact ones: of 15,000 segments of a million rows with ten attributes. */
const COMPACT_BYTES_MAX = 16 * 1024 * 1024;

/** When there is no room, one in so many footers that are read is kept: else a scan of all would find none it left. */
const ADMITTED_OF = 16;

/**
 * Footers of sealed segments, at which a query looks before it opens any block: those that were used last as they are
 * read, and very many more in their compact form. Used by one thread.
 */
export class FooterCache {
  readonly #read: KeptByBytes<number, Footer>;
  readonly #compact: KeptByBytes<number, CompactFooter>;
  readonly #names = new NameLists();
  readonly #readBytesMax: number;
  /** Footers that were read when there was no room. */
  #excess = 0;

  constructor(readBytesMax = READ_BYTES_MAX, compactBytesMax = COMPACT_BYTES_MAX) {
    this.#readBytesMax = readBytesMax;
    this.#read = new KeptByBytes(readBytesMax);
    this.#compact = new KeptByBytes(compactBytesMax);
  }

  /** Memory that it takes, about. */
  get bytes(): number {
    return this.#read.bytes + this.#compact.bytes;
  }

  /** Where it keeps them. */
  get caches(): readonly Shrinkable[] {
    return [this.#read, this.#compact];
  }

  /** The footer of a segment; `read` reads it from its file when it is not kept, and throws what it likes. */
  get(segment: number, read: (share: ShareNames) => PlainFooter): Footer {
    const known = this.#read.get(segment);
    if (known !== undefined) return known;
    const plain = this.#compact.get(segment)?.plain() ?? this.#first(segment, read);
    const footer = readFooter(plain, segment);
    const bytes = memoryOf(footer);
    const hasRoom = this.#read.bytes + bytes <= this.#readBytesMax;
    if (hasRoom || ++this.#excess % ADMITTED_OF === 0) {
      this.#read.keep(segment, segment, footer, bytes);
    }
    return footer;
  }

  /** Forgets segments that are gone. */
  forget(segments: readonly number[]): void {
    for (const segment of segments) {
      this.#read.drop(segment);
      this.#compact.drop(segment);
    }
  }

  /** Forgets all. */
  clear(): void {
    this.#read.clear();
    this.#compact.clear();
    this.#names.clear();
  }

  #first(segment: number, read: (share: ShareNames) => PlainFooter): PlainFooter {
    const plain = read(this.#names.share);
    const compact = new CompactFooter(plain);
    this.#compact.keep(segment, segment, compact, compact.memoryBytes);
    return plain;
  }
}
