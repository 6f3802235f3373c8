import { digestName, digestNameOf, KEY_CHARACTERS } from './digest.ts';
import { VerifiedKeys } from './verified-keys.ts';

/** A write key as the ingest workers know it: SHA-256 digest, id, name, cell of its usage. */
export interface KeyTableEntry {
  digest: Uint8Array;
  id: string;
  name: string;
  cell: number;
}

/** All write keys, disabled ones too (their cells say so). Plain data that crosses threads. */
export interface KeyTable {
  /** Grows with every change of a key. */
  version: number;
  entries: readonly KeyTableEntry[];
}

/** Result of `find` for bytes that are no write key. */
export const NO_CELL = -1;

/**
 * Finds the cell of a write key in the bytes of a line. Belongs to one thread.
 * A key that was seen before costs a compare, others a digest.
 */
export class KeyLookup {
  #cells = new Map<string, number>();
  #names = new Map<string, number>();
  readonly #ids: string[] = [];
  /** Their cells. */
  readonly #verified = new VerifiedKeys<number>();
  #version = -1;

  /** Takes the newest table; an older one than the last is left aside. Keeps no reference to it. */
  update(table: KeyTable): void {
    if (table.version < this.#version) return;
    this.#version = table.version;
    this.#cells = new Map(table.entries.map((entry) => [digestName(entry.digest), entry.cell]));
    this.#names = new Map(table.entries.map(({ name, cell }) => [name, cell]));
    for (const entry of table.entries) this.#ids[entry.cell] = entry.id;
    this.#verified.forget();
  }

  /** The cell of the key that `bytes[start, end)` is, or NO_CELL. Whether the key is on, its cell says. */
  find(bytes: Uint8Array, start: number, end: number): number {
    if (end - start !== KEY_CHARACTERS) return NO_CELL;
    return this.#verified.find(bytes, start) ?? this.#verify(bytes, start, end);
  }

  /** The id of the key whose cell `find` gave; it stays known when the key is deleted. */
  id(cell: number): string {
    return this.#ids[cell];
  }

  /** The cell of the key with that name; NO_CELL when there is none. */
  named(name: string): number {
    return this.#names.get(name) ?? NO_CELL;
  }

  #verify(bytes: Uint8Array, start: number, end: number): number {
    const cell = this.#cells.get(digestNameOf(bytes.subarray(start, end)));
    if (cell === undefined) return NO_CELL;
    this.#verified.remember(bytes, start, cell);
    return cell;
  }
}
