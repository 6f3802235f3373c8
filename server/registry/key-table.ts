import { digestName, digestNameOf, KEY_CHARACTERS } from './digest.ts';

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

/** Places of the memory for verified keys, a power of two: 32 KB. */
const PLACES_BITS = 10;
const PLACES = 1 << PLACES_BITS;

/** Spreads the first four characters over all bits (2^32 divided by the golden ratio). */
const SPREAD = 0x9e3779b1;

/**
 * Finds the cell of a write key in the bytes of a line. Belongs to one thread.
 * A key that was seen before costs a compare, others a digest. Each key has one place where it is remembered when it
 * was verified; only keys that exist are, so what strangers send takes no memory and no place.
 */
export class KeyLookup {
  #cells = new Map<string, number>();
  #names = new Map<string, number>();
  readonly #ids: string[] = [];
  /** Verified keys, one a place, and their cells. */
  readonly #keys = new Uint8Array(PLACES * KEY_CHARACTERS);
  readonly #verified = new Int32Array(PLACES).fill(NO_CELL);
  #version = -1;

  /** Takes the newest table; an older one than the last is left aside. Keeps no reference to it. */
  update(table: KeyTable): void {
    if (table.version < this.#version) return;
    this.#version = table.version;
    this.#cells = new Map(table.entries.map((entry) => [digestName(entry.digest), entry.cell]));
    this.#names = new Map(table.entries.map(({ name, cell }) => [name, cell]));
    for (const entry of table.entries) this.#ids[entry.cell] = entry.id;
    this.#verified.fill(NO_CELL);
  }

  /** The cell of the key that `bytes[start, end)` is, or NO_CELL. Whether the key is on, its cell says. */
  find(bytes: Uint8Array, start: number, end: number): number {
    if (end - start !== KEY_CHARACTERS) return NO_CELL;
    const place = placeOf(bytes, start);
    const cell = this.#verified[place];
    if (cell !== NO_CELL && sameKey(this.#keys, place * KEY_CHARACTERS, bytes, start)) return cell;
    return this.#verify(bytes.subarray(start, end), place);
  }

  /** The id of the key whose cell `find` gave; it stays known when the key is deleted. */
  id(cell: number): string {
    return this.#ids[cell];
  }

  /** The cell of the key with that name; NO_CELL when there is none. */
  named(name: string): number {
    return this.#names.get(name) ?? NO_CELL;
  }

  #verify(key: Uint8Array, place: number): number {
    const cell = this.#cells.get(digestNameOf(key));
    if (cell === undefined) return NO_CELL;
    this.#keys.set(key, place * KEY_CHARACTERS);
    this.#verified[place] = cell;
    return cell;
  }
}

function placeOf(bytes: Uint8Array, start: number): number {
  const head =
    bytes[start] | (bytes[start + 1] << 8) | (bytes[start + 2] << 16) | (bytes[start + 3] << 24);
  return Math.imul(head, SPREAD) >>> (32 - PLACES_BITS);
}

/** Compares whole keys: the time does not tell where they differ. */
function sameKey(
  left: Uint8Array,
  leftStart: number,
  right: Uint8Array,
  rightStart: number,
): boolean {
  let difference = 0;
  for (let index = 0; index < KEY_CHARACTERS; index++) {
    difference |= left[leftStart + index] ^ right[rightStart + index];
  }
  return difference === 0;
}
