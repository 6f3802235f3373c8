import type { ByteReader, FarBytes } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { packedWords, unpackOne } from './bitpack.ts';

/** Values of a page, whose words are read together: a multiple of a group of bitpack.ts. */
export const PAGE_VALUES = 256;
/** Pages that are read alone, and bytes of all for each of which another one is; whoever wants more reads all. */
const PAGES_MIN = 8;
const PAGE_FOR_BYTES = 16 * 1024;
const WORD_BYTES = 4;
/** Memory of a page for each bit of a value, and beside its words. */
const PAGE_WIDTH_BYTES = PAGE_VALUES / 8;
const PAGE_BYTES = 256;
/** Memory of words that are read for one look. */
let passing = new Uint8Array(0);

/** Width of the largest safe whole number. */
const WIDTH_MAX = 53;

/** Reads the width of words, up to which they begin. Throws CORRUPTION when it is above `most`. */
export function readWidth(reader: ByteReader, most = WIDTH_MAX): number {
  const width = reader.u8();
  if (width > most) damaged(`numbers of ${width} bits`);
  reader.pad(4);
  return width;
}

/** A u32 view of bytes, or a copy when they do not lie at a multiple of four. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, length } = bytes;
  if (byteOffset % WORD_BYTES === 0)
    return new Uint32Array(buffer, byteOffset, length / WORD_BYTES);
  return new Uint32Array(new Uint8Array(bytes).buffer);
}

/** A u32 view of the next `count` words, or a copy when they do not lie at a multiple of four. */
export function readWords(reader: ByteReader, count: number): Uint32Array {
  return wordsOf(reader.raw(count * WORD_BYTES));
}

const NO_ROOM = new Uint8Array(0);

/** Words of packed values as bitpack.ts packs them: far ones are read page by page, for single values, or all. */
export class StoredWords {
  readonly #count: number;
  readonly #width: number;
  #words: Uint32Array | undefined;
  /** The same, unless they were near from the beginning; and until all were read. */
  readonly #source: FarBytes | undefined;
  #far: FarBytes | undefined;
  /** Made when one is read. */
  #pages: Map<number, Uint32Array> | undefined;

  /** Takes the words of `count` values of `width` bits. Throws CORRUPTION when there are not as many. */
  constructor(reader: ByteReader, count: number, width: number) {
    this.#count = count;
    this.#width = width;
    const bytes = reader.later(packedWords(count, width) * WORD_BYTES);
    if (bytes instanceof Uint8Array) this.#words = wordsOf(bytes);
    else this.#source = bytes;
    this.#far = this.#source;
  }

  /** Lets go of what can be read again, but of pages; the bytes that it still holds. */
  rest(): number {
    this.#far = this.#source;
    if (this.#far !== undefined) this.#words = undefined;
    return (
      (this.#words?.byteLength ?? 0) +
      (this.#pages?.size ?? 0) * (this.#width * PAGE_WIDTH_BYTES + PAGE_BYTES)
    );
  }

  /** All words. */
  all(): Uint32Array {
    if (this.#far !== undefined) {
      this.#words = wordsOf(this.#far.whole());
      this.#far = undefined;
      this.#pages = undefined;
    }
    return this.#words ?? new Uint32Array(0);
  }

  /** The value at `index` alone. */
  at(index: number): number {
    if (this.#far === undefined) return unpackOne(this.all(), this.#width, index);
    return unpackOne(this.page(index), this.#width, index % PAGE_VALUES);
  }

  /** The words of the PAGE_VALUES values, at the end fewer, among which that at `index` is. */
  page(index: number): Uint32Array {
    const page = Math.floor(index / PAGE_VALUES);
    const known = this.#pages?.get(page);
    if (known !== undefined) return known;
    if (this.#pages !== undefined && this.#pages.size >= this.#pagesMax) this.all();
    const first = page * PAGE_VALUES;
    const words = this.#read(first, Math.min(PAGE_VALUES, this.#count - first), NO_ROOM);
    if (this.#far === undefined) return words;
    this.#pages ??= new Map();
    this.#pages.set(page, words);
    return words;
  }

  /**
   * The words of `count` values from `from` on, a multiple of PAGE_VALUES; far ones are read alone, and good until the
   * next call.
   */
  some(from: number, count: number): Uint32Array {
    const bytes = packedWords(count, this.#width) * WORD_BYTES;
    if (this.#far !== undefined && bytes > passing.length) passing = new Uint8Array(2 * bytes);
    return this.#read(from, count, passing);
  }

  /** Pages that take no longer to read than all. */
  get #pagesMax(): number {
    return PAGES_MIN + Math.floor((this.#source?.length ?? 0) / PAGE_FOR_BYTES);
  }

  #read(from: number, count: number, room: Uint8Array): Uint32Array {
    const first = packedWords(from, this.#width);
    const wordCount = packedWords(count, this.#width);
    if (this.#far === undefined) return this.all().subarray(first, first + wordCount);
    return wordsOf(this.#far.read(first * WORD_BYTES, wordCount * WORD_BYTES, room));
  }
}
