import { ByteParts } from '../base/byte-parts.ts';
import { ByteReader } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { finished, inParts, type Units } from '../base/pause.ts';
import { type CompressTexts, type Room, readPacked, writeStored } from '../packed/compress.ts';
import { free } from '../packed/growth.ts';
import { IntegerStream } from '../packed/integer-stream.ts';
import { type Region, RegionReader, type RegionWriter } from './chunk.ts';
import { CountRuns } from './count-runs.ts';
import {
  type CountedEntries,
  type Entries,
  EntryHash,
  EntryHashes,
  equalEntries,
  hashEntry,
  type KeepSum,
  offsetsOf,
  PIECE_ENTRIES,
  Scratch,
  type StringPlace,
  TEXT_HASH,
} from './entries.ts';

/** Decoded pieces that are kept: a page of events asks for entries here and there. */
const PIECES_KEPT_MAX = 32;
/** Memory of the place of a piece, about. */
const REGION_BYTES = 64;
/** Pieces of a head whose hashes are kept alone: as few as hold the entries that are asked for. */
const HEAD_PIECES = [1, 4];
/** Pieces that are read in a unit. */
const UNIT_PIECES = 4;
/** Hashes of a region. */
const REGION_HASHES = 16_384;
/** Those that were read last. The machine is little-endian, as FORMAT.md 1 is. */
const hashWords = new Uint32Array(REGION_HASHES);
const BYTES_MAX = 2 ** 32 - 1;

/** Begins to write a dictionary of a segment: the values of each entry, descending. Source: FORMAT.md 10.3. */
export function writeSharedCounts(out: RegionWriter, counts: Float64Array): void {
  out.meta.varint(counts.length);
  out.integers(out.region, counts, counts.length, 'values');
  out.end();
}

/** Goes on with the next entries: whole pieces, unless they are the last ones. */
export function writeSharedEntries(
  out: RegionWriter,
  compress: CompressTexts,
  { offsets, bytes }: Entries,
): void {
  const entryCount = offsets.length - 1;
  for (let first = 0; first < entryCount; first += PIECE_ENTRIES) {
    const count = Math.min(PIECE_ENTRIES, entryCount - first);
    const lengths = new Float64Array(count);
    for (let index = 0; index < count; index++) {
      lengths[index] = offsets[first + index + 1] - offsets[first + index];
    }
    out.integers(out.region, lengths, count, 'values');
    const piece = bytes.subarray(offsets[first], offsets[first + count]);
    writeStored(out.region, piece, compress(piece, count, (text) => lengths[text]) ?? piece);
    free(lengths);
    out.end();
  }
}

/** The hashes of some entries by `seed`, to `hashes` from `first` on. */
export function hashEntries(
  { offsets, bytes }: Entries,
  seed: number,
  hashes: Uint32Array,
  first: number,
): void {
  for (let at = 0; at < offsets.length - 1; at++) {
    hashes[first + at] = hashEntry(bytes, offsets[at], offsets[at + 1], seed);
  }
}

/** Ends the dictionary with the hashes of all entries by `seed`. */
export function writeSharedHashes(out: RegionWriter, seed: number, hashes: Uint32Array): void {
  out.meta.u32(seed >>> 0);
  for (let first = 0; first < hashes.length; first += REGION_HASHES) {
    const some = hashes.subarray(first, first + REGION_HASHES);
    out.region.words(some, some.length);
    out.end();
  }
}

/** Keeper of pieces and sums of a dictionary, from one opening to the next. */
export interface DictionaryKeep {
  /** Gives the piece of a number that is kept, or what `read` reads. Throws what that throws. */
  piece(number: number, read: () => Entries): Entries;
  sum: KeepSum;
}

/** Keeps nothing. */
const KEEP_NONE: DictionaryKeep = { piece: (_, read) => read(), sum: (_, make) => make() };

/** Reads the checked bytes of a region; in `room` when it is given. Throws CORRUPTION. */
export type ReadRegion = (region: Region, room?: Room) => Uint8Array;

/** A dictionary of a segment that is open for reading; decodes what is asked for, and keeps it. */
export class SharedDictionary implements CountedEntries {
  readonly entryCount: number;
  readonly keptUnits: KeepSum;
  readonly #region: ReadRegion;
  readonly #keep: DictionaryKeep;
  readonly #countRegion: Region;
  readonly #pieces: Region[] = [];
  /** The hash of the entries that is stored; `undefined` in dictionaries of drafts that have none. */
  readonly #hash: EntryHash | undefined;
  readonly #hashRegions: Region[] = [];
  /** Entries by number, the most recently used last, and their bytes. */
  readonly #kept = new Map<number, Entries>();
  /** The number at the end. */
  #newest = -1;
  #keptBytes = 0;
  #entries: Entries | undefined;
  #lengths: Float64Array | undefined;
  #countRuns: CountRuns | undefined;
  #isVerified = false;
  /** Stored hashes of a region, for who verifies piece by piece. */
  #verified: { number: number; hashes: Uint32Array } | undefined;

  /**
   * Opens what `writeSharedCounts`, `writeSharedEntries` and `writeSharedHashes` wrote; `region` gives the checked
   * bytes of a region, `keep` keeps what is made of it. Throws CORRUPTION.
   */
  constructor(meta: Uint8Array, region: ReadRegion, keep = KEEP_NONE) {
    this.#keep = keep;
    this.keptUnits = keep.sum;
    const reader = new RegionReader(meta);
    this.entryCount = reader.meta.varint();
    this.#region = region;
    this.#countRegion = reader.region();
    const pieceCount = Math.ceil(this.entryCount / PIECE_ENTRIES);
    if (pieceCount > reader.meta.remaining) damaged(`dictionary of ${this.entryCount} entries`);
    for (let number = 0; number < pieceCount; number++) this.#pieces.push(reader.region());
    if (reader.meta.remaining > 0) {
      this.#hash = new EntryHash(reader.meta.u32() | 0);
      const count = Math.ceil(this.entryCount / REGION_HASHES);
      for (let number = 0; number < count; number++) this.#hashRegions.push(reader.region());
    }
    if (reader.meta.remaining !== 0) damaged(`${reader.meta.remaining} bytes after a dictionary`);
  }

  /** Bytes of memory that the places of pieces, and what is decoded, take now. */
  get memoryBytes(): number {
    const regionCount = this.#pieces.length + this.#hashRegions.length;
    let bytes = regionCount * REGION_BYTES + (this.#lengths?.length ?? 0) * 8;
    bytes += this.#countRuns?.memoryBytes ?? 0;
    if (this.#entries !== undefined) bytes += bytesOf(this.#entries);
    return bytes + this.#keptBytes;
  }

  counts(): Float64Array {
    return this.#countStream().values();
  }

  countRuns(): CountRuns {
    if (this.#countRuns !== undefined) return this.#countRuns;
    const { starts, heads } = this.#countStream().runs();
    this.#countRuns = new CountRuns(this.entryCount, starts, heads);
    return this.#countRuns;
  }

  entries(): Entries {
    return finished(this.entryUnits());
  }

  *entryUnits(): Units<Entries> {
    this.#entries ??= yield* this.#readAll();
    return this.#entries;
  }

  lengths(): Float64Array {
    if (this.#lengths !== undefined) return this.#lengths;
    const lengths = new Float64Array(this.entryCount);
    for (let number = 0; number < this.#pieces.length; number++) {
      const first = number * PIECE_ENTRIES;
      const count = Math.min(PIECE_ENTRIES, this.entryCount - first);
      const reader = new ByteReader(this.#region(this.#pieces[number]));
      lengths.set(new IntegerStream(reader, count).values(), first);
    }
    this.#lengths = lengths;
    return lengths;
  }

  place(entry: number): StringPlace {
    if (this.#entries !== undefined) {
      const { offsets, bytes } = this.#entries;
      return { bytes, start: offsets[entry], end: offsets[entry + 1] };
    }
    const number = Math.floor(entry / PIECE_ENTRIES);
    const { offsets, bytes } = this.#keptPiece(number);
    const at = entry - number * PIECE_ENTRIES;
    return { bytes, start: offsets[at], end: offsets[at + 1] };
  }

  verify(): void {
    if (this.#isVerified) return;
    for (const region of [this.#countRegion, ...this.#pieces, ...this.#hashRegions]) {
      this.#region(region);
    }
    this.#isVerified = true;
  }

  verifyHashes(first: number, piece: Entries): void {
    const hash = this.#hash;
    if (hash === undefined) return;
    const { offsets, bytes } = piece;
    const number = Math.floor(first / REGION_HASHES);
    if (this.#verified?.number !== number) {
      this.#verified = { number, hashes: this.#hashesOf(number).slice() };
    }
    const { hashes } = this.#verified;
    const from = first - number * REGION_HASHES;
    for (let at = 0; at < offsets.length - 1; at++) {
      if (hashEntry(bytes, offsets[at], offsets[at + 1], hash.seed) === (hashes[from + at] | 0))
        continue;
      damaged(`hash of entry ${first + at} of a dictionary`);
    }
  }

  piece(first: number, scratch?: Scratch): Entries {
    if (this.#entries !== undefined) {
      const { offsets, bytes } = this.#entries;
      return { offsets: offsets.subarray(first, first + PIECE_ENTRIES + 1), bytes };
    }
    const number = first / PIECE_ENTRIES;
    return this.#kept.get(number) ?? this.#pieceOf(number, scratch);
  }

  *hashUnits(hash: EntryHash, count = this.entryCount): Units<Int32Array> {
    const all = this.#pieces.length;
    const head = HEAD_PIECES.find((pieces) => pieces * PIECE_ENTRIES >= count) ?? all;
    const pieceCount = Math.min(head, all);
    const hashed = (): Units<EntryHashes> =>
      hash.seed === this.#hash?.seed
        ? this.#storedHashes(Math.min(pieceCount * PIECE_ENTRIES, this.entryCount))
        : this.#hashed(hash, pieceCount);
    return (yield* this.keptUnits(EntryHashes.key(hash, pieceCount), hashed)).hashes;
  }

  *findUnits(text: Uint8Array): Units<number> {
    const hash = this.#hash ?? TEXT_HASH;
    const hashes = yield* this.hashUnits(hash);
    for (const entry of equalEntries(hash, hashes, text, (at) => this.place(at))) return entry;
    return -1;
  }

  /** Ends it: frees the entries at once. */
  free(): void {
    free(this.#entries?.offsets, this.#entries?.bytes);
    this.#entries = undefined;
  }

  #countStream(): IntegerStream {
    return new IntegerStream(new ByteReader(this.#region(this.#countRegion)), this.entryCount);
  }

  /** The stored hashes of the first entries, read in units. */
  *#storedHashes(count: number): Units<EntryHashes> {
    const hashes = new Int32Array(count);
    yield* inParts(Math.ceil(count / REGION_HASHES), UNIT_PIECES, (from, to) => {
      for (let number = from; number < to; number++) {
        const own = this.#hashesOf(number);
        const first = number * REGION_HASHES;
        const end = Math.min(first + own.length, count);
        for (let entry = first; entry < end; entry++) hashes[entry] = own[entry - first] >>> 1;
      }
    });
    return new EntryHashes(hashes);
  }

  /** The stored hashes of a region, good until those of the next one. */
  #hashesOf(number: number): Uint32Array {
    const count = Math.min(REGION_HASHES, this.entryCount - number * REGION_HASHES);
    const words = new Uint8Array(hashWords.buffer);
    const stored = this.#region(this.#hashRegions[number], () => words);
    if (stored.length !== count * 4) damaged(`${count} hashes in ${stored.length} bytes`);
    if (stored.buffer !== hashWords.buffer) words.set(stored);
    return hashWords.subarray(0, count);
  }

  /** A hash of each entry of the first pieces, made in units. */
  *#hashed(hash: EntryHash, pieceCount: number): Units<EntryHashes> {
    const hashes = new Int32Array(Math.min(pieceCount * PIECE_ENTRIES, this.entryCount));
    yield* this.#eachPiece(pieceCount, (first, { offsets, bytes }) => {
      for (let at = 0; at < offsets.length - 1; at++) {
        hashes[first + at] = hash.hashOf(bytes, offsets[at], offsets[at + 1]);
      }
    });
    return new EntryHashes(hashes);
  }

  /** Shows the first pieces, in units; `first` is the number of a piece's first entry. */
  #eachPiece(pieceCount: number, visit: (first: number, piece: Entries) => void): Units<void> {
    const scratch = new Scratch();
    return inParts(pieceCount, UNIT_PIECES, (from, to) => {
      for (let number = from; number < to; number++) {
        const first = number * PIECE_ENTRIES;
        visit(first, this.piece(first, scratch));
      }
    });
  }

  #keptPiece(number: number): Entries {
    const known = this.#kept.get(number);
    if (known !== undefined && number === this.#newest) return known;
    const piece = known ?? this.#pieceOf(number);
    if (known === undefined) this.#keptBytes += bytesOf(piece);
    this.#kept.delete(number);
    this.#kept.set(number, piece);
    this.#newest = number;
    if (this.#kept.size > PIECES_KEPT_MAX) {
      for (const [oldest, entries] of this.#kept) {
        this.#kept.delete(oldest);
        this.#keptBytes -= bytesOf(entries);
        break;
      }
    }
    return piece;
  }

  #pieceOf(number: number, scratch?: Scratch): Entries {
    return this.#keep.piece(number, () => this.#readPiece(number, scratch));
  }

  #readPiece(number: number, scratch?: Scratch): Entries {
    const count = Math.min(PIECE_ENTRIES, this.entryCount - number * PIECE_ENTRIES);
    const stored = this.#region(this.#pieces[number], scratch && ((room) => scratch.stored(room)));
    const reader = new ByteReader(stored);
    const lengths = new IntegerStream(reader, count).part(0, count);
    const offsets = offsetsOf(lengths, scratch?.offsets(count + 1));
    const bytes = readPacked(reader, scratch && ((room) => scratch.bytes(room)));
    scratch?.hold(bytes);
    if (offsets[count] !== bytes.length) {
      damaged(`entries of ${offsets[count]} bytes in ${bytes.length}`);
    }
    return { offsets, bytes };
  }

  *#readAll(): Units<Entries> {
    const offsets = new Uint32Array(this.entryCount + 1);
    const parts = new ByteParts();
    yield* this.#eachPiece(this.#pieces.length, (first, { offsets: own, bytes }) => {
      const from = parts.length;
      if (from + bytes.length > BYTES_MAX) damaged(`dictionary of ${from + bytes.length} bytes`);
      for (let index = 0; index < own.length; index++) offsets[first + index] = from + own[index];
      parts.raw(bytes);
    });
    return { offsets, bytes: parts.take() };
  }
}

function bytesOf({ bytes, offsets }: Entries): number {
  return bytes.length + offsets.length * 4;
}
