import { compress, decompress } from '../packed/compress.ts';
import type { PlainFooter, ShareNames } from './footer-reader.ts';

/** Lists of names that are kept for footers to come. */
const LISTS_MAX = 64;
/** Memory of an object of this class, its text's head and its place in a map. */
const OBJECT_MEMORY_BYTES = 150;

/** Lists of the names of columns, which the segments of like events have in common. Used by one thread. */
export class NameLists {
  /** By the bytes of the paths, the list that was used last at the end. */
  readonly #lists = new Map<string, readonly string[]>();

  /** Gives the list that was made of the same bytes, or keeps the one of `read`. */
  readonly share: ShareNames = (paths, read) => {
    const key = Buffer.from(paths.buffer, paths.byteOffset, paths.length).toString('latin1');
    const names = this.#lists.get(key) ?? read();
    this.#lists.delete(key);
    this.#lists.set(key, names);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > LISTS_MAX) this.#lists.delete(oldest);
    return names;
  };

  /** Forgets all. */
  clear(): void {
    this.#lists.clear();
  }
}

/**
 * A footer in a fifth of the memory that it takes read: the bytes of its plain form, compressed. They are a string of
 * characters below 256, as a buffer of its own takes 300 bytes more.
 */
export class CompactFooter {
  readonly #names: readonly string[];
  readonly #text: string;
  /** Bytes before compression; 0: they are not compressed. */
  readonly #rawBytes: number;

  constructor({ names, bytes }: PlainFooter) {
    const packed = compress(bytes);
    const { buffer, byteOffset, length } = packed ?? bytes;
    this.#names = names;
    this.#text = Buffer.from(buffer, byteOffset, length).toString('latin1');
    this.#rawBytes = packed === undefined ? 0 : bytes.length;
  }

  /** Memory that it takes, about; the names aside, which others have too. */
  get memoryBytes(): number {
    return OBJECT_MEMORY_BYTES + this.#text.length;
  }

  /** The plain form again. */
  plain(): PlainFooter {
    const bytes = Buffer.from(this.#text, 'latin1');
    return {
      names: this.#names,
      bytes: this.#rawBytes === 0 ? bytes : decompress(bytes, this.#rawBytes),
    };
  }
}
