import { derivedKey } from '../base/derived-key.ts';
import { damaged } from '../base/errors.ts';
import { HASH_SEED, hashNumber, hashText, sameBytes } from '../base/hash.ts';
import type { Units } from '../base/pause.ts';
import type { PackedValues } from '../packed/cells.ts';
import type { CountRuns } from './count-runs.ts';
import { parseDateForm } from './date-form.ts';

/** Strings that lie one after the other: entry e is `bytes[offsets[e], offsets[e + 1])`. Not to be written. */
export interface Entries {
  offsets: Uint32Array;
  bytes: Uint8Array;
}

/** Bytes that adjacent strings have at most. */
const STRING_BYTES_MAX = 2 ** 32 - 1;

/**
 * Offsets of adjacent strings of these `lengths`, the first of which is at `start`, with the end of the last one, in
 * `offsets`. Throws CORRUPTION.
 */
export function offsetsOf(
  lengths: Float64Array,
  offsets = new Uint32Array(lengths.length + 1),
  start = 0,
): Uint32Array {
  const count = lengths.length;
  offsets[0] = start;
  let end = start;
  for (let index = 0; index < count; index++) {
    const length = lengths[index];
    end += length;
    offsets[index + 1] = end;
    if (!(length >= 0 && end <= STRING_BYTES_MAX && offsets[index + 1] === end)) {
      damaged(`string of ${length} bytes`);
    }
  }
  return offsets;
}

/** A piece of a text: `offsets` count from its own start, `first` is the number of its first value. */
export interface TextPiece {
  first: number;
  offsets: Uint32Array;
  bytes: Uint8Array;
}

/** Memory for what is read of a piece of a text. */
export interface PieceRoom {
  /** `count` offsets, whose contents are anything. */
  offsets(count: number): Uint32Array<ArrayBuffer>;
  /** `count` bytes or more, whose contents are anything. */
  bytes(count: number): Uint8Array;
  /** Others, for what is stored and has to be decompressed; `undefined` when there are none. */
  stored(count: number): Uint8Array | undefined;
  /** Takes inflated bytes, which may lie elsewhere. */
  hold(inflated: Uint8Array): void;
}

/** Memory for a piece of a text, used again for the next one. */
export class Scratch {
  #bytes = new Uint8Array(0);
  #stored = new Uint8Array(0);
  #offsets = new Uint32Array(0);
  #inflated: ArrayBuffer | undefined;

  /** `count` offsets, whose contents are anything. */
  offsets(count: number): Uint32Array<ArrayBuffer> {
    if (count > this.#offsets.length) this.#offsets = new Uint32Array(count);
    return this.#offsets.subarray(0, count);
  }

  /** `count` bytes or more, whose contents are anything. */
  bytes(count: number): Uint8Array {
    if (count > this.#bytes.length) this.#bytes = roomy(count);
    return this.#bytes;
  }

  /** Others, for what is stored and has to be decompressed. */
  stored(count: number): Uint8Array {
    if (count > this.#stored.length) this.#stored = roomy(count);
    return this.#stored;
  }

  /**
   * Keeps inflated bytes that are not its own, and frees those before. They lie outside the heap, where so much would
   * wait for the collector that it runs again and again.
   */
  hold(bytes: Uint8Array): void {
    const { buffer } = bytes;
    if (buffer === this.#bytes.buffer || buffer === this.#stored.buffer) return;
    this.#inflated?.transfer(0);
    const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length;
    this.#inflated = isOwn ? buffer : undefined;
  }
}

/** Memory for `count` bytes, and for a quarter more: the next piece may be somewhat larger. */
function roomy(count: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(count + (count >>> 2));
}

/** A piece of a text as it is stored: the lengths of its values, and their bytes, compressed when these are fewer. */
export interface StoredTexts {
  lengths: PackedValues;
  stored: Uint8Array;
}

/** The pieces of a text, of PIECE_ENTRIES values each, as they are stored. Throws CORRUPTION. */
export interface StoredPieces {
  /** The lengths of the values of a piece, good until others are read; `undefined` when they are not packed. */
  lengths(piece: number): PackedValues | undefined;
  /**
   * The bytes of the piece `first` and of others behind it, those before `end` at most, as many as are read together;
   * good until `scratch` is used again.
   */
  bytes(first: number, end: number, scratch: Scratch): Uint8Array[];
}

/** Some bytes in which a string lies. */
export interface StringPlace {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** Values that are made again of other columns. Methods throw CORRUPTION when one is not as long as it should be. */
export interface DerivedValues {
  /** Makes the piece number `number`, whose values lie at `offsets`, into `bytes`. */
  piece(number: number, offsets: Uint32Array, bytes: Uint8Array): void;
  /** The value number `rank`, of `length` bytes. */
  value(rank: number, length: number): StringPlace;
}

/** Names the use of the secret. It is on disk: another name makes other hashes. */
const SEED_PURPOSE = 'entry hashes';

const dateForm = { form: 0, value: 0, timeMs: 0 };

/** The hash of 32 bits of a date as a column of dates has it. Source: FORMAT.md 10.3. */
export function hashDate(value: number, form: number, seed: number): number {
  return hashNumber(value, seed ^ form);
}

/**
 * The hash of 32 bits of a string, that of a date when it is the text of one: it is the same value in both columns.
 * Source: FORMAT.md 10.3.
 */
export function hashEntry(bytes: Uint8Array, start: number, end: number, seed: number): number {
  return parseDateForm(bytes, start, end, dateForm)
    ? hashDate(dateForm.value, dateForm.form, seed)
    : hashText(bytes, start, end, seed);
}

/** The seed of the hashes of a store's strings; `secret` is the manifest's. */
export function entrySeed(secret: Uint8Array): number {
  return new DataView(derivedKey(secret, SEED_PURPOSE, 4).buffer).getInt32(0, true);
}

/** A hash of strings. Those of one seed are equal for equal strings. */
export class EntryHash {
  readonly seed: number;

  constructor(seed: number) {
    this.seed = seed;
  }

  /** The upper 31 bits of the hash of a string. */
  hashOf(bytes: Uint8Array, start: number, end: number): number {
    return hashEntry(bytes, start, end, this.seed) >>> 1;
  }
}

/** Hashes, those of engine/word, that texts have which are looked for. */
export interface Terms {
  /** Words that all of them have, the longest first: mostly it is the rarest. */
  words: readonly number[];
  /** The only text that is looked for, when its words do not tell it from others. */
  value: number | undefined;
}

/** Where what is looked for may be in a column. */
export interface PossibleParts {
  /** 1 for each part that may have it, 0 for the others. Not to be written. */
  parts: Uint8Array;
  /** Pieces of a part; the last one may have fewer. */
  pieces: number;
}

/** A sum of all entries of a dictionary, of whatever kind. */
export interface Summed {
  readonly memoryBytes: number;
}

/** Key of a sum that dictionaries keep. One name a way of making it. */
export class SumKey<T extends Summed> {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** A sum that was kept by this key, which is of its type. */
  of(kept: Summed | undefined): T | undefined {
    return kept as T | undefined;
  }
}

/**
 * Keeps a sum of the entries of one dictionary, which `make` makes in units: it is there the next time that the same
 * `key` asks, as long as there is room.
 */
export type KeepSum = <T extends Summed>(key: SumKey<T>, make: () => Units<T>) => Units<T>;

/** Keeps sums of the entries of one dictionary. */
export interface SumKeeper {
  readonly keptUnits: KeepSum;
  /** True when a sum of about so many bytes is kept, or was asked about before and will be kept when it is made. */
  isDue<T extends Summed>(key: SumKey<T>, bytes: number): boolean;
}

/** Keeps sums that grow. */
export interface GrowingSumKeeper extends SumKeeper {
  /** Takes note of the memory of a sum that has grown, if it is the one that is kept; without room it is let go. */
  weigh<T extends Summed>(key: SumKey<T>, sum: T): void;
}

/** Hashes of the entries of a dictionary. */
export class EntryHashes implements Summed {
  readonly hashes: Int32Array;

  constructor(hashes: Int32Array) {
    this.hashes = hashes;
  }

  get memoryBytes(): number {
    return this.hashes.byteLength;
  }

  /** The key of those that a hash gives the entries of the first pieces. */
  static key({ seed }: EntryHash, pieceCount: number): SumKey<EntryHashes> {
    return new SumKey(`hashes ${seed} of ${pieceCount} pieces`);
  }
}

/** Hashes by which texts are looked up among entries. */
export const TEXT_HASHES: SumKey<EntryHashes> = new SumKey('hashes of texts');
/** The hash that they are made by. */
export const TEXT_HASH = new EntryHash(HASH_SEED);

/** Entries that are `text`, in their order; `hashes` are those of all by `hash`, `placeOf` says where an entry is. */
export function* equalEntries(
  hash: EntryHash,
  hashes: Int32Array,
  text: Uint8Array,
  placeOf: (entry: number) => StringPlace,
): Generator<number> {
  const wanted = hash.hashOf(text, 0, text.length);
  let entry = hashes.indexOf(wanted);
  for (; entry >= 0; entry = hashes.indexOf(wanted, entry + 1)) {
    const { bytes, start, end } = placeOf(entry);
    if (end - start === text.length && sameBytes(bytes, start, text, 0, text.length)) yield entry;
  }
}

/** Entries of a piece of a dictionary of a segment, which is read and decoded as one. Source: FORMAT.md 10.3. */
export const PIECE_ENTRIES = 1_024;

/** Entries of which hashes and sums are kept; some may be equal. Throws CORRUPTION when what is needed is damaged. */
export interface KeptEntries {
  readonly entryCount: number;
  place(entry: number): StringPlace;
  /**
   * PIECE_ENTRIES entries, at the end fewer, from `first` on, which is a multiple of it. They are not kept. With
   * `scratch`, for those who read many, they are good until that is used again.
   */
  piece(first: number, scratch?: Scratch): Entries;
  /** All entries, read in units. */
  entryUnits(): Units<Entries>;
  /** A hash of 31 bits of each entry, of the first `count` at least when that is given, made in units; kept. */
  hashUnits(hash: EntryHash, count?: number): Units<Int32Array>;
  readonly keptUnits: KeepSum;
}

/** The entries of a column of a block. */
export interface BlockEntries extends KeptEntries, SumKeeper {
  /**
   * The entries that are `text`, found in units by hashes that are kept; `undefined` the first time that texts are
   * looked up, when to compare all takes less time than to hash them, and when there is no room for hashes.
   */
  equalUnits(text: Uint8Array): Units<number[] | undefined>;
}

/** A dictionary of a segment: its entries, whole or in part. Throws CORRUPTION when what is needed is damaged. */
export interface EntrySource extends KeptEntries {
  /** All entries: the same arrays each time, as long as they are kept. */
  entries(): Entries;
  /** Bytes of each entry. */
  lengths(): Float64Array;
  /** Values of each entry in the segment, descending. */
  countRuns(): CountRuns;
  /** Verifies all bytes against their checksums and keeps none. Throws CORRUPTION. */
  verify(): void;
  /** Throws CORRUPTION unless the hashes that are stored of the entries of a piece, from `first` on, are theirs. */
  verifyHashes(first: number, piece: Entries): void;
  /**
   * The entry that is `text`, -1 when none is, found in units: by hashes of all entries, which are kept for the next
   * time.
   */
  findUnits(text: Uint8Array): Units<number>;
}

/** A dictionary that knows how many rows of its segment have each entry. */
export interface CountedEntries extends EntrySource {
  /** Rows by entry, descending, each 1 or more. Throws CORRUPTION. */
  counts(): Float64Array;
}
