import { digestName, digestOf, KEY_CHARACTERS } from './digest.ts';

/** A write key as the ingest workers know it: SHA-256 digest, id, cell of its usage. */
export interface KeyTableEntry {
  digest: Uint8Array;
  id: string;
  cell: number;
}

/** All write keys, disabled ones too (their cells say so). Plain data that crosses threads. */
export interface KeyTable {
  /** Grows with every change of a key. */
  version: number;
  entries: readonly KeyTableEntry[];
}

/** What `find` answers for bytes that are no write key. */
export const NO_CELL = -1;

/**
 * Finds the cell of a write key in the bytes of a line. Belongs to one thread.
 * A key that was seen last costs a compare, one seen before a Map lookup, others a digest. Only keys that exist are
 * remembered, so what strangers send takes no memory.
 */
export class KeyLookup {
  #cells = new Map<string, number>();
  readonly #verified = new Map<string, number>();
  readonly #ids: string[] = [];
  readonly #last = new Uint8Array(KEY_CHARACTERS);
  #lastCell = NO_CELL;
  #version = -1;

  /** Takes the newest table; an older one than the last is left aside. Keeps no reference to it. */
  update(table: KeyTable): void {
    if (table.version < this.#version) return;
    this.#version = table.version;
    this.#cells = new Map(table.entries.map((entry) => [digestName(entry.digest), entry.cell]));
    for (const entry of table.entries) this.#ids[entry.cell] = entry.id;
    this.#verified.clear();
    this.#lastCell = NO_CELL;
  }

  /** The cell of the key that `bytes[start, end)` is, or NO_CELL. Whether the key is on, its cell says. */
  find(bytes: Uint8Array, start: number, end: number): number {
    if (end - start !== KEY_CHARACTERS) return NO_CELL;
    if (this.#lastCell !== NO_CELL) {
      const last = this.#last;
      let difference = 0;
      for (let index = 0; index < KEY_CHARACTERS; index++) {
        difference |= last[index] ^ bytes[start + index];
      }
      if (difference === 0) return this.#lastCell;
    }
    return this.#search(bytes.subarray(start, end));
  }

  /** The id of the key whose cell `find` gave; it stays known when the key is deleted. */
  id(cell: number): string {
    return this.#ids[cell];
  }

  #search(key: Uint8Array): number {
    const text = String.fromCharCode(...key);
    let cell = this.#verified.get(text);
    if (cell === undefined) {
      cell = this.#cells.get(digestName(digestOf(key)));
      if (cell === undefined) return NO_CELL;
      this.#verified.set(text, cell);
    }
    this.#last.set(key);
    this.#lastCell = cell;
    return cell;
  }
}
