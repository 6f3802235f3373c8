import { HASH_SEED, hashBytes, sameBytes } from '../../../engine/base/hash.ts';
import { DEPTH_MAX, NAME_BYTES_MAX } from '../../../engine/base/limits.ts';
import { splitName } from '../../decode/branch.ts';
import type { KeyTable } from '../../decode/key.ts';
import { latin1 } from '../../decode/text.ts';

/** Names that are remembered, and the slots of their table, a power of two. */
const NAMES_MAX = 4_096;
const SLOTS = 2 * NAMES_MAX;

/**
 * Paths of names in objects, whose dots are steps, by their bytes. Forgets all names when they are too many. Made for
 * one path table, owned by one thread.
 */
export class NamePaths {
  readonly #keys: KeyTable;
  readonly #slots = new Int32Array(SLOTS).fill(-1);
  readonly #hashes = new Int32Array(NAMES_MAX);
  readonly #containers = new Uint32Array(NAMES_MAX);
  readonly #paths = new Uint32Array(NAMES_MAX);
  readonly #starts = new Uint32Array(NAMES_MAX + 1);
  #names = new Uint8Array(16_384);
  #count = 0;

  constructor(keys: KeyTable) {
    this.#keys = keys;
  }

  /**
   * The path of the name `bytes[start, end)` in the object at the path `container`; -1 when it would be too deep, or a
   * part of it is too long, or new to a full path table.
   */
  of(container: number, bytes: Uint8Array, start: number, end: number): number {
    const hash = hashBytes(bytes, start, end, HASH_SEED ^ Math.imul(container, 0x9e3779b1));
    for (let slot = hash & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
      const name = this.#slots[slot];
      if (name < 0) return this.#find(container, bytes.subarray(start, end), hash);
      if (this.#hashes[name] !== hash || this.#containers[name] !== container) continue;
      const nameStart = this.#starts[name];
      const isSame =
        this.#starts[name + 1] - nameStart === end - start &&
        sameBytes(this.#names, nameStart, bytes, start, end - start);
      if (isSame) return this.#paths[name];
    }
  }

  #find(container: number, name: Uint8Array, hash: number): number {
    if (name.length > DEPTH_MAX * NAME_BYTES_MAX) return -1;
    const parts = splitName(latin1(name, 0, name.length), Number.POSITIVE_INFINITY);
    if (this.#keys.depth(container) + parts.length > DEPTH_MAX) return -1;
    let path = container;
    for (const part of parts) {
      const bytes = Buffer.from(part, 'latin1');
      path = this.#keys.child(path, bytes, 0, bytes.length);
      if (path < 0) return -1;
    }
    this.#remember(container, name, hash, path);
    return path;
  }

  #remember(container: number, bytes: Uint8Array, hash: number, path: number): void {
    if (this.#count === NAMES_MAX) {
      this.#slots.fill(-1);
      this.#count = 0;
    }
    const name = this.#count++;
    const start = this.#starts[name];
    if (start + bytes.length > this.#names.length) {
      const grown = new Uint8Array(2 * (start + bytes.length));
      grown.set(this.#names.subarray(0, start));
      this.#names = grown;
    }
    this.#names.set(bytes, start);
    this.#starts[name + 1] = start + bytes.length;
    this.#hashes[name] = hash;
    this.#containers[name] = container;
    this.#paths[name] = path;
    let slot = hash & (SLOTS - 1);
    while (this.#slots[slot] >= 0) slot = (slot + 1) & (SLOTS - 1);
    this.#slots[slot] = name;
  }
}
