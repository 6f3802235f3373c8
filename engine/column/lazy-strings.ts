import { Pace, type Units } from '../base/pause.ts';
import type { PackedValues } from '../packed/cells.ts';
import { STRETCH_ROWS, type StringColumn } from './column.ts';
import {
  type BlockEntries,
  type Entries,
  type EntryHash,
  EntryHashes,
  type EntrySource,
  equalEntries,
  type KeepSum,
  PIECE_ENTRIES,
  type PossibleParts,
  type Scratch,
  type StoredPieces,
  type StringPlace,
  type SumKeeper,
  type SumKey,
  type Summed,
  TEXT_HASH,
  TEXT_HASHES,
  type Terms,
} from './entries.ts';

/** Reads that a column over a dictionary makes on demand. They throw CORRUPTION. */
interface SharedReads {
  ids(): Uint32Array;
  /** The ids as they are stored; `undefined` when not each row has one. */
  packed(): PackedValues | undefined;
  /** The rows of the entry `id` - 1; `undefined` when the ids have to be read for that. */
  rowsOf(id: number): Uint32Array | undefined;
  /** The ids of a stretch of rows, as the column has them. */
  idsFrom(from: number): Uint32Array | undefined;
  partsWith: StringColumn['partsWith'];
}

/** A column over a dictionary of its segment: ids and entries are read when they are asked for. */
export class SharedStringColumn implements StringColumn {
  readonly kind: StringColumn['kind'];
  readonly shared: EntrySource;
  readonly #reads: SharedReads;
  #ids: Uint32Array | undefined;

  constructor(kind: StringColumn['kind'], shared: EntrySource, reads: SharedReads) {
    this.kind = kind;
    this.shared = shared;
    this.#reads = reads;
  }

  get ids(): Uint32Array {
    this.#ids ??= this.#reads.ids();
    return this.#ids;
  }

  packed(): PackedValues | undefined {
    return this.#reads.packed();
  }

  rowsOf(id: number): Uint32Array | undefined {
    return this.#ids === undefined ? this.#reads.rowsOf(id) : undefined;
  }

  idsFrom(from: number): Uint32Array | undefined {
    return this.#ids === undefined
      ? this.#reads.idsFrom(from)
      : this.#ids.subarray(from, from + STRETCH_ROWS);
  }

  partsWith(terms: Terms): PossibleParts | undefined {
    return this.#reads.partsWith?.(terms);
  }

  get entryCount(): number {
    return this.shared.entryCount;
  }

  get offsets(): Uint32Array {
    return this.shared.entries().offsets;
  }

  get bytes(): Uint8Array {
    return this.shared.entries().bytes;
  }
}

/** Reads of entries. They throw CORRUPTION. */
interface EntryReads {
  /** The same arrays each time. */
  entries(): Entries;
  /** PIECE_ENTRIES entries from `first` on, without the others; not kept. */
  piece?(first: number): Entries;
}

/** The entries of a column of a block, whose hashes and sums are kept longer than the open block. */
class OwnEntries implements BlockEntries {
  readonly entryCount: number;
  readonly keptUnits: KeepSum;
  readonly #reads: EntryReads;
  readonly #keeper: SumKeeper;

  constructor(entryCount: number, reads: EntryReads, keeper: SumKeeper) {
    this.entryCount = entryCount;
    this.keptUnits = keeper.keptUnits;
    this.#reads = reads;
    this.#keeper = keeper;
  }

  isDue<T extends Summed>(key: SumKey<T>, bytes: number): boolean {
    return this.#keeper.isDue(key, bytes);
  }

  place(entry: number): StringPlace {
    const { bytes, offsets } = this.#reads.entries();
    return { bytes, start: offsets[entry], end: offsets[entry + 1] };
  }

  piece(first: number): Entries {
    const { bytes, offsets } = this.#reads.entries();
    return { bytes, offsets: offsets.subarray(first, first + PIECE_ENTRIES + 1) };
  }

  *entryUnits(): Units<Entries> {
    const entries = this.#reads.entries();
    yield;
    return entries;
  }

  *hashUnits(hash: EntryHash): Units<Int32Array> {
    const key = EntryHashes.key(hash, Math.ceil(this.entryCount / PIECE_ENTRIES));
    return (yield* this.keptUnits(key, () => this.#hashed(hash))).hashes;
  }

  *equalUnits(text: Uint8Array): Units<number[] | undefined> {
    if (!this.isDue(TEXT_HASHES, this.entryCount * 4)) return undefined;
    const { hashes } = yield* this.keptUnits(TEXT_HASHES, () => this.#hashed(TEXT_HASH));
    return [...equalEntries(TEXT_HASH, hashes, text, (entry) => this.#placeInPiece(entry))];
  }

  /** The place of an entry, whose piece alone is read where that can be. */
  #placeInPiece(entry: number): StringPlace {
    const first = entry - (entry % PIECE_ENTRIES);
    const { bytes, offsets } = this.#reads.piece?.(first) ?? this.piece(first);
    return { bytes, start: offsets[entry - first], end: offsets[entry - first + 1] };
  }

  *#hashed(hash: EntryHash): Units<EntryHashes> {
    const { bytes, offsets } = this.#reads.entries();
    const hashes = new Int32Array(this.entryCount);
    const pace = new Pace();
    for (let entry = 0; entry < hashes.length; entry++) {
      hashes[entry] = hash.hashOf(bytes, offsets[entry], offsets[entry + 1]);
      if (pace.isFull(1)) yield;
    }
    return new EntryHashes(hashes);
  }
}

/** Reads that a column over a dictionary of its block makes on demand. They throw CORRUPTION. */
interface DictionaryReads {
  ids(): Uint32Array;
  /** As those of a column over a dictionary of its segment. */
  packed(): PackedValues | undefined;
  /** The same arrays each time. */
  entries(): Entries;
}

/** A column over a dictionary of its block, whose ids and entries are read when they are asked for. */
export class DictionaryColumn implements StringColumn {
  readonly kind: StringColumn['kind'];
  readonly entryCount: number;
  readonly shared = undefined;
  readonly own: BlockEntries | undefined;
  readonly #reads: DictionaryReads;
  #ids: Uint32Array | undefined;

  /** `keeper` keeps sums of its entries. */
  constructor(
    kind: StringColumn['kind'],
    entryCount: number,
    reads: DictionaryReads,
    keeper: SumKeeper | undefined,
  ) {
    this.kind = kind;
    this.entryCount = entryCount;
    this.#reads = reads;
    this.own = keeper && new OwnEntries(entryCount, { entries: () => reads.entries() }, keeper);
  }

  get ids(): Uint32Array {
    this.#ids ??= this.#reads.ids();
    return this.#ids;
  }

  packed(): PackedValues | undefined {
    return this.#reads.packed();
  }

  get offsets(): Uint32Array {
    return this.#reads.entries().offsets;
  }

  get bytes(): Uint8Array {
    return this.#reads.entries().bytes;
  }
}

/** Reads that a column of text makes on demand. They throw CORRUPTION. */
export interface TextReads {
  ids(): Uint32Array;
  entries(): Entries;
  /**
   * PIECE_ENTRIES entries, at the end fewer, from `first` on, which is a multiple of it; not kept. In `scratch`, when
   * it is given.
   */
  piece(first: number, scratch?: Scratch): Entries;
  /** The pieces as they are stored, when each row has an entry. */
  stored?: StoredPieces | undefined;
  partsWith: StringColumn['partsWith'];
}

/** A column of text, an entry a value: read whole, or piece by piece by those who look at each entry once. */
export class TextColumn implements StringColumn {
  readonly kind: StringColumn['kind'];
  readonly entryCount: number;
  readonly shared = undefined;
  readonly own: BlockEntries | undefined;
  readonly #reads: TextReads;
  #ids: Uint32Array | undefined;

  /** `keeper` keeps sums of its entries. */
  constructor(
    kind: StringColumn['kind'],
    entryCount: number,
    reads: TextReads,
    keeper?: SumKeeper,
  ) {
    this.kind = kind;
    this.entryCount = entryCount;
    this.#reads = reads;
    this.own = keeper && new OwnEntries(entryCount, reads, keeper);
  }

  get ids(): Uint32Array {
    this.#ids ??= this.#reads.ids();
    return this.#ids;
  }

  get offsets(): Uint32Array {
    return this.#reads.entries().offsets;
  }

  get bytes(): Uint8Array {
    return this.#reads.entries().bytes;
  }

  piece(first: number, scratch?: Scratch): Entries {
    return this.#reads.piece(first, scratch);
  }

  get storedPieces(): StoredPieces | undefined {
    return this.#reads.stored;
  }

  partsWith(terms: Terms): PossibleParts | undefined {
    return this.#reads.partsWith?.(terms);
  }
}
