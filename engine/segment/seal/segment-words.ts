import { ByteParts } from '../../base/byte-parts.ts';
import { RegionWriter } from '../../column/chunk.ts';
import { type Entries, PIECE_ENTRIES } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import { PATH_MESSAGE } from '../../column/path.ts';
import { leafKey } from '../../column/shape.ts';
import { type HashedWords, NO_WORDS, WordCounts, WordSample } from '../../word/word-counts.ts';
import { writeWords } from '../../word/word-frame.ts';
import { partWords } from '../../word/word-kernel.ts';
import { WordPairs } from '../../word/word-pairs.ts';
import type { FramePlace, WordPlace } from '../footer.ts';
import type { SegmentWriter } from './segment-writer.ts';

/** Columns of fewer values, or entries of a dictionary, are tested whole. */
const VALUES_MIN = 3 * PIECE_ENTRIES;
/** Bytes of values that a part has about: it is read and tested as one. */
const PART_BYTES = 128 * 1024;
/** Pieces of a part at most: a power of two. */
export const PART_PIECES_MAX = 8;
/** Pairs of words and parts that are in memory about at most, 6 bytes each and as many while they are sorted. */
const PAIRS_MAX = 2 ** 19;
/** Values that are looked at to find the words that are counted, and bytes of them about, at most. */
const SAMPLE_VALUES = 8_192;
const SAMPLE_BYTES = 1024 * 1024;

/** A column of strings. */
interface Column {
  path: number;
  kind: Kind;
}

/** Values of a column: those of a block, or the entries of its dictionary. */
interface Values {
  entries: Entries;
  /** The entry of each value; left out when they are the entries in their order. */
  entryOf?: ArrayLike<number>;
  /** Rows of each entry; 1 unless it is given. */
  rowsOf?: ArrayLike<number>;
  count: number;
  isDictionary: boolean;
  /** About as many as the column has in all, the same each time. */
  ofCount: number;
}

/** Words of a column that are not yet written. */
interface Pending extends Column {
  pairs: WordPairs;
  counts: WordCounts;
  /** Pieces of a part. */
  pieces: number;
  firstPart: number;
}

/** Bytes of a value, about. */
function bytesOf({ entries: { offsets }, entryOf, count }: Values): number {
  const sampleCount = Math.min(count, PIECE_ENTRIES);
  let bytes = 0;
  for (let value = 0; value < sampleCount; value++) {
    const entry = entryOf === undefined ? value : entryOf[value];
    bytes += offsets[entry + 1] - offsets[entry];
  }
  return bytes / sampleCount;
}

/** Pieces of the parts of a column with values of so many bytes: as many as have few bytes, a power of two. */
function piecesOf(valueBytes: number): number {
  const pieceBytes = valueBytes * PIECE_ENTRIES;
  let pieces = 1;
  while (pieces < PART_PIECES_MAX && pieces * 2 * pieceBytes <= PART_BYTES) pieces *= 2;
  return pieces;
}

/** The frequent words of a column that begins with these values, of so many bytes each. */
function frequentWords(values: Values, valueBytes: number): HashedWords {
  const { entries, entryOf, count, ofCount } = values;
  const { offsets, bytes } = entries;
  const sample = new WordSample();
  const parts = Math.max(count / SAMPLE_VALUES, (count * valueBytes) / SAMPLE_BYTES);
  for (let value = 0; value < count; value += Math.max(Math.ceil(parts), 1)) {
    const entry = entryOf === undefined ? value : entryOf[value];
    sample.take(bytes, offsets[entry], offsets[entry + 1]);
  }
  return sample.frequent(ofCount);
}

/** Writes in which parts of columns words are, in a bounded memory. Rejects with IO, and as its pause. */
export class SegmentWords {
  readonly #places: { key: number; place: FramePlace }[] = [];
  readonly #writer: SegmentWriter;
  readonly #pause: () => Promise<void>;
  readonly #words = partWords();
  readonly #pending = new Map<number, Pending>();

  /** `pause` is awaited between two parts. */
  constructor(writer: SegmentWriter, pause: () => Promise<void>) {
    this.#writer = writer;
    this.#pause = pause;
  }

  /** Adds values of a column behind those that it has, when it has enough. */
  async add(column: Column, values: Values): Promise<void> {
    const { entries, entryOf, rowsOf, count, isDictionary, ofCount } = values;
    if (column.kind !== Kind.STRING || ofCount <= VALUES_MIN) return;
    const { pairs, pieces } = this.#pendingOf(column, values);
    const partValues = pieces * PIECE_ENTRIES;
    for (let from = 0; from < count; from += partValues) {
      const to = Math.min(from + partValues, count);
      pairs.addPart({ entries, entryOf, rowsOf, from, to, hasValues: isDictionary });
      await this.#bound();
      await this.#pause();
    }
  }

  /** Writes what is pending of a column that has no more values. */
  async end({ path, kind }: Column): Promise<void> {
    const key = leafKey(path, kind);
    const pending = this.#pending.get(key);
    if (pending !== undefined) await this.#write(pending);
    this.#pending.delete(key);
  }

  /** Writes what is pending; resolves with the places of all frames whose columns are among `columns`. */
  async finish(columns: readonly Column[]): Promise<WordPlace[]> {
    for (const pending of this.#pending.values()) await this.#write(pending);
    this.#pending.clear();
    const numbers = new Map(columns.map(({ path, kind }, number) => [leafKey(path, kind), number]));
    return this.#places.flatMap(({ key, place }) => {
      const column = numbers.get(key);
      return column === undefined ? [] : [{ column, ...place }];
    });
  }

  #pendingOf({ path, kind }: Column, values: Values): Pending {
    const key = leafKey(path, kind);
    let pending = this.#pending.get(key);
    if (pending === undefined) {
      const valueBytes = bytesOf(values);
      const isText = path === PATH_MESSAGE;
      const counts = new WordCounts(isText ? frequentWords(values, valueBytes) : NO_WORDS);
      const pairs = new WordPairs(this.#words, counts);
      pending = { path, kind, pairs, counts, pieces: piecesOf(valueBytes), firstPart: 0 };
      this.#pending.set(key, pending);
    }
    return pending;
  }

  /** Writes the words of the column that has most of them, when there are too many. */
  async #bound(): Promise<void> {
    let count = 0;
    let most: Pending | undefined;
    for (const pending of this.#pending.values()) {
      count += pending.pairs.count;
      if (most === undefined || pending.pairs.count > most.pairs.count) most = pending;
    }
    if (count > PAIRS_MAX && most !== undefined) await this.#write(most);
  }

  async #write(pending: Pending): Promise<void> {
    const { path, kind, pairs, counts, pieces, firstPart } = pending;
    const { partCount } = pairs;
    if (partCount === 0) return;
    const out = new RegionWriter(new ByteParts());
    pairs.take((all) => writeWords(out, { pieces, firstPart, partCount }, all, counts));
    counts.clear();
    const place = await this.#writer.words(out.meta.bytes(), out.regions.parts());
    out.reset();
    this.#places.push({ key: leafKey(path, kind), place });
    pending.firstPart += partCount;
  }
}
