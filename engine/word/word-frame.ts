import { ByteReader } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { type Region, RegionReader, type RegionWriter } from '../column/chunk.ts';
import { bitsOf } from '../packed/bitpack.ts';
import { BitReader } from './bit-stream.ts';
import { withPages } from './page-kernel.ts';
import { readCount, type WordCounts, writeCounts } from './word-counts.ts';
import { hashOfWord } from './word-hash.ts';
import { GAP_BITS, isEverywhere, plainBits } from './word-pages.ts';
import type { Pairs } from './word-pairs.ts';

const HASH_BITS = 32;
/** Bytes of a page that are aimed at: it is read as a whole. */
const PAGE_BYTES = 4_096;
const PAGE_BITS_MAX = 12;
/** Bits reckoned for a word, and for each part in which it is. */
const WORD_COST = 6;
const PART_COST = 7;
/** Words and their case are those of a version of Unicode: an index of another one is not used. */
const UNICODE = new TextEncoder().encode(process.versions.unicode);

/** Some parts of a column. */
interface WordParts {
  /** Pieces of a part. */
  pieces: number;
  firstPart: number;
  partCount: number;
}

/**
 * Writes the words of some parts of a column, and how many of their values have some of them: meta and regions of a
 * frame. Source: FORMAT.md 10.4.
 */
export function writeWords(
  out: RegionWriter,
  { pieces, firstPart, partCount }: WordParts,
  pairs: Pairs,
  counts: WordCounts,
): void {
  withPages(pairs, (pages) => {
    const { hashCount } = pages;
    const hashBits = Math.min(bitsOf(hashCount) + GAP_BITS, HASH_BITS);
    const reckonedBytes = (hashCount * WORD_COST + pairs.count * PART_COST) / 8;
    const pageBits = Math.min(bitsOf(Math.floor(reckonedBytes / PAGE_BYTES)), PAGE_BITS_MAX);
    out.meta.blob(UNICODE);
    out.meta.varint(pieces);
    out.meta.varint(firstPart);
    out.meta.varint(partCount);
    out.meta.u8(hashBits);
    out.meta.u8(pageBits);
    const rule = { shift: HASH_BITS - hashBits, pageShift: hashBits - pageBits, partCount };
    for (let page = 0; page < 2 ** pageBits; page++) {
      const { wordCount, bits } = pages.page(page, rule);
      out.region.varint(wordCount);
      out.region.raw(bits);
      out.end();
    }
  });
  writeCounts(out, counts);
}

/** The words of some parts of a column, open for reading: a page of hashes at a time. */
export class WordFrame {
  /** Pieces of a part. */
  readonly pieces: number;
  readonly firstPart: number;
  readonly partCount: number;
  readonly #hashBits: number;
  readonly #pageBits: number;
  readonly #pages: Region[] = [];
  /** The words that were counted. */
  readonly #counts: Region | undefined;
  readonly #isKnown: boolean;
  readonly #region: (region: Region) => Uint8Array;

  /** Opens what `writeWords` wrote; `region` gives the checked bytes of a region. Throws CORRUPTION. */
  constructor(meta: Uint8Array, region: (region: Region) => Uint8Array) {
    const reader = new RegionReader(meta);
    this.#isKnown = Buffer.compare(reader.meta.blob(), UNICODE) === 0;
    this.pieces = reader.meta.varint();
    this.firstPart = reader.meta.varint();
    this.partCount = reader.meta.varint();
    this.#hashBits = reader.meta.u8();
    this.#pageBits = reader.meta.u8();
    this.#region = region;
    if (this.pieces === 0) damaged('parts of no pieces');
    if (!(this.#pageBits <= PAGE_BITS_MAX && this.#hashBits >= this.#pageBits)) {
      damaged(`pages of ${this.#pageBits} bits`);
    }
    for (let page = 0; page < 2 ** this.#pageBits; page++) this.#pages.push(reader.region());
    // Draft 2 counts no words.
    if (reader.meta.remaining !== 0) this.#counts = reader.region();
    if (reader.meta.remaining !== 0) damaged(`${reader.meta.remaining} bytes after words`);
  }

  get pageCount(): number {
    return this.#pages.length;
  }

  /**
   * Takes out of `parts`, 1 for each part of the frame that is possible, those without a word; whether some are left.
   * Throws CORRUPTION.
   */
  narrow(parts: Uint8Array, hash: number): boolean {
    if (!this.#isKnown) return true;
    const wanted = hash >>> (HASH_BITS - this.#hashBits);
    const page = Math.floor(wanted / 2 ** (this.#hashBits - this.#pageBits));
    const reader = new ByteReader(this.#region(this.#pages[page]));
    const wordCount = reader.varint();
    const bits = new BitReader(reader.raw(reader.remaining));
    let word = page * 2 ** (this.#hashBits - this.#pageBits) - 1;
    for (let index = 0; index < wordCount; index++) {
      word += bits.rice(GAP_BITS) + 1;
      if (word > wanted) break;
      if (word === wanted) return this.#keep(parts, bits);
      this.#pass(bits);
    }
    parts.fill(0);
    return false;
  }

  /** Counts the rows of the parts whose value has a lower-cased word; `undefined`: not known. Throws CORRUPTION. */
  rowsWith(word: Uint8Array): number | undefined {
    if (!this.#isKnown) return undefined;
    const count = this.#counts && readCount(this.#region(this.#counts), word);
    if (count !== undefined) return count;
    const parts = new Uint8Array(this.partCount).fill(1);
    return this.narrow(parts, hashOfWord(word)) ? undefined : 0;
  }

  /** Reads all regions. Throws CORRUPTION. */
  verify(): void {
    for (const page of this.#pages) this.#region(page);
    if (this.#counts !== undefined) this.#region(this.#counts);
  }

  /** Goes on behind the parts of a word. */
  #pass(bits: BitReader): void {
    const count = bits.gamma();
    if (isEverywhere(count, this.partCount)) return;
    const low = plainBits(count, this.partCount);
    for (let index = 0; index < count; index++) bits.rice(low);
  }

  /** Keeps the parts of a word alone; whether some of them are left. */
  #keep(parts: Uint8Array, bits: BitReader): boolean {
    const count = bits.gamma();
    if (isEverywhere(count, this.partCount)) return true;
    const low = plainBits(count, this.partCount);
    let next = 0;
    let left = 0;
    for (let index = 0; index < count; index++) {
      const part = next + bits.rice(low);
      if (part >= this.partCount) damaged(`part ${part} of ${this.partCount}`);
      parts.fill(0, next, part);
      left += parts[part];
      next = part + 1;
    }
    parts.fill(0, next);
    return left > 0;
  }
}
