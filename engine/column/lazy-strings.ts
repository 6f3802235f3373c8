import type { PackedValues } from '../packed/cells.ts';
import { STRETCH_ROWS, type StringColumn } from './column.ts';
import type { Entries, EntrySource, PossibleParts, Scratch, Terms } from './entries.ts';

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

/** Reads that a column of text makes on demand. They throw CORRUPTION. */
interface TextReads {
  ids(): Uint32Array;
  entries(): Entries;
  /**
   * PIECE_ENTRIES entries, at the end fewer, from `first` on, which is a multiple of it; not kept. In `scratch`, when
   * it is given.
   */
  piece(first: number, scratch?: Scratch): Entries;
  partsWith: StringColumn['partsWith'];
}

/** A column of text, an entry a value: read whole, or piece by piece by those who look at each entry once. */
export class TextColumn implements StringColumn {
  readonly kind: StringColumn['kind'];
  readonly entryCount: number;
  readonly shared = undefined;
  readonly #reads: TextReads;
  #ids: Uint32Array | undefined;

  constructor(kind: StringColumn['kind'], entryCount: number, reads: TextReads) {
    this.kind = kind;
    this.entryCount = entryCount;
    this.#reads = reads;
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

  partsWith(terms: Terms): PossibleParts | undefined {
    return this.#reads.partsWith?.(terms);
  }
}
