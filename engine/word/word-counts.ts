import { ByteReader } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { sameBytes } from '../base/hash.ts';
import type { RegionWriter } from '../column/chunk.ts';
import { compress, readPacked, writePacked } from '../packed/compress.ts';
import { IntegerStream } from '../packed/integer-stream.ts';
import { writeIntegers } from '../packed/integers.ts';
import { HashSet } from './hash-set.ts';
import { type HashSink, hashWords, LOWER } from './word-hash.ts';

/** Words that are counted at most, and values of which one is. */
const COUNTED_MAX = 1_024;
const VALUES_A_WORD = 256;
/** How often a word stands in the sample at least, and bytes that it has at most. */
const SAMPLED_MIN = 4;
const WORD_BYTES_MAX = 64;

/** Words that are lower-cased, each with its hash. */
export interface HashedWords {
  words: readonly Uint8Array[];
  /** Distinct. */
  hashes: readonly number[];
}

/** Finds the words that stand in many values of a column, by a sample of them. */
export class WordSample implements HashSink {
  readonly #set = new HashSet();
  readonly #words: Uint8Array[] = [];
  readonly #times: number[] = [];

  /** Takes the words of a value. */
  take(bytes: Uint8Array, start: number, end: number): void {
    hashWords(bytes, start, end, this);
  }

  add(hash: number, bytes: Uint8Array, start: number, end: number): void {
    const place = this.#set.add(hash);
    if (place === this.#words.length) {
      this.#words.push(bytes.slice(start, Math.min(end, start + WORD_BYTES_MAX + 1)));
      this.#times.push(0);
    }
    this.#times[place]++;
  }

  /** The most frequent words, of a column of about so many values. */
  frequent(valueCount: number): HashedWords {
    const places = [...this.#words.keys()]
      .filter((place) => this.#times[place] >= SAMPLED_MIN)
      .filter((place) => this.#words[place].length <= WORD_BYTES_MAX)
      .sort((one, other) => this.#times[other] - this.#times[one])
      .slice(0, Math.min(COUNTED_MAX, Math.floor(valueCount / VALUES_A_WORD)));
    return {
      words: places.map((place) => this.#words[place].map((byte) => LOWER[byte])),
      hashes: places.map((place) => this.#set.hashes[place]),
    };
  }
}

/** The words of a column that counts none. */
export const NO_WORDS: HashedWords = { words: [], hashes: [] };

/** Counts the values that have words. */
export class WordCounts implements HashedWords {
  readonly words: readonly Uint8Array[];
  readonly hashes: readonly number[];
  /** Values by word, or what these weigh. */
  readonly counts: Uint32Array;
  /** The words, one behind the other. */
  readonly bytes: Uint8Array;
  /** Where each begins, and the end of the last one. */
  readonly starts: Uint32Array;
  /** By word, the last value that has it. */
  readonly #last: Uint32Array;
  #value = 0;
  #weight = 1;

  constructor({ words, hashes }: HashedWords) {
    this.words = words;
    this.hashes = hashes;
    this.counts = new Uint32Array(words.length);
    this.#last = new Uint32Array(words.length);
    this.bytes = Buffer.concat(words);
    this.starts = new Uint32Array(words.length + 1);
    for (const [place, word] of words.entries()) {
      this.starts[place + 1] = this.starts[place] + word.length;
    }
  }

  /** Begins a value that counts as many as it weighs. */
  begin(weight: number): void {
    this.#value++;
    this.#weight = weight;
  }

  /** Counts the value when `bytes[start, end)` is the word of that place, with `A` to `Z` made small. */
  add(place: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.#last[place] === this.#value) return;
    const from = this.starts[place];
    const length = end - start;
    if (length !== this.starts[place + 1] - from) return;
    const own = this.bytes;
    for (let at = 0; at < length; at++) {
      if (LOWER[bytes[start + at]] !== own[from + at]) return;
    }
    this.#last[place] = this.#value;
    this.counts[place] += this.#weight;
  }

  /** Adds what was counted elsewhere. */
  addAll(counts: Uint32Array): void {
    for (let place = 0; place < counts.length; place++) this.counts[place] += counts[place];
  }

  /** Begins anew. */
  clear(): void {
    this.counts.fill(0);
  }
}

/** Writes a region of words, each with its count. Source: FORMAT.md 10.4. */
export function writeCounts(out: RegionWriter, { words, counts, bytes }: WordCounts): void {
  const { region } = out;
  region.varint(words.length);
  if (words.length > 0) {
    writeIntegers(
      region,
      Float64Array.from(words, ({ length }) => length),
      words.length,
      'values',
    );
    writeIntegers(region, Float64Array.from(counts), words.length, 'values');
    writePacked(region, bytes, compress);
  }
  out.end();
}

/** Reads the count of a word from such a region; `undefined` when it has none. Throws CORRUPTION. */
export function readCount(region: Uint8Array, word: Uint8Array): number | undefined {
  const reader = new ByteReader(region);
  const wordCount = reader.varint();
  if (wordCount === 0) return undefined;
  if (wordCount > COUNTED_MAX) damaged(`counts of ${wordCount} words`);
  const lengths = new IntegerStream(reader, wordCount).values();
  const counts = new IntegerStream(reader, wordCount).values();
  const bytes = readPacked(reader);
  let start = 0;
  for (let place = 0; place < wordCount; place++) {
    const end = start + lengths[place];
    if (end > bytes.length) break;
    if (lengths[place] === word.length && sameBytes(bytes, start, word, 0, word.length)) {
      return counts[place];
    }
    start = end;
  }
  return undefined;
}
