import type { ByteReader, FarBytes } from '../base/bytes.ts';
import { packedWords, unpackOne } from './bitpack.ts';

/** Values of a page, whose words are read together: a multiple of a group of bitpack.ts. */
const PAGE_VALUES = 1_024;
/** Pages that are read alone; whoever wants more reads all. */
const PAGES_MAX = 8;
const WORD_BYTES = 4;

/** A u32 view of bytes, or a copy when they do not lie at a multiple of four. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, length } = bytes;
  if (byteOffset % WORD_BYTES === 0)
    return new Uint32Array(buffer, byteOffset, length / WORD_BYTES);
  return new Uint32Array(new Uint8Array(bytes).buffer);
}

/** Words of packed values as bitpack.ts packs them: far ones are read page by page, for single values, or all. */
export class StoredWords {
  readonly #count: number;
  readonly #width: number;
  #words: Uint32Array | undefined;
  #far: FarBytes | undefined;
  readonly #pages = new Map<number, Uint32Array>();

  /** Takes the words of `count` values of `width` bits. Throws CORRUPTION when there are not as many. */
  constructor(reader: ByteReader, count: number, width: number) {
    this.#count = count;
    this.#width = width;
    const bytes = reader.later(packedWords(count, width) * WORD_BYTES);
    if (bytes instanceof Uint8Array) this.#words = wordsOf(bytes);
    else this.#far = bytes;
  }

  /** All words. */
  all(): Uint32Array {
    if (this.#far !== undefined) {
      this.#words = wordsOf(this.#far.whole());
      this.#far = undefined;
      this.#pages.clear();
    }
    return this.#words ?? new Uint32Array(0);
  }

  /** The value at `index` alone. */
  at(index: number): number {
    const far = this.#far;
    if (far === undefined) return unpackOne(this.all(), this.#width, index);
    const page = Math.floor(index / PAGE_VALUES);
    const known = this.#pages.get(page);
    if (known === undefined && this.#pages.size === PAGES_MAX) {
      return unpackOne(this.all(), this.#width, index);
    }
    const words = known ?? this.#readPage(far, page);
    return unpackOne(words, this.#width, index - page * PAGE_VALUES);
  }

  #readPage(far: FarBytes, page: number): Uint32Array {
    const first = page * PAGE_VALUES;
    const values = Math.min(PAGE_VALUES, this.#count - first);
    const from = packedWords(first, this.#width) * WORD_BYTES;
    const words = wordsOf(far.read(from, packedWords(values, this.#width) * WORD_BYTES));
    this.#pages.set(page, words);
    return words;
  }
}
