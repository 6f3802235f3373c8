import { assert } from '../base/assert.ts';
import { HASH_SEED, hashBytes, sameBytes } from '../base/hash.ts';
import { PATHS_MAX } from '../base/limits.ts';

/** The root of every event: the object `{custom, syslog, message}`. */
export const PATH_ROOT = 0;
/** `custom`: all attributes of the user. */
export const PATH_CUSTOM = 1;
/** `syslog`. */
export const PATH_SYSLOG = 2;
/** `message`, a string. */
export const PATH_MESSAGE = 3;

const FIXED_NAMES = ['custom', 'syslog', 'message'];

/**
 * The attribute paths that one ingest thread has met: a tree of names, each node a small number.
 * A name may hold dots (see INTERFACE.md 2.3: colliding names keep theirs), so a path is not its dotted text.
 * Owned by one thread. Names are bytes (WTF-8), never keys of plain objects: they come from strangers.
 */
export class PathTable {
  readonly #limit: number;
  #count = 0;
  #parent = new Uint32Array(1024);
  #nameStart = new Uint32Array(1025);
  #names = new Uint8Array(16_384);
  #slots = new Int32Array(4096).fill(-1);
  #hashes = new Int32Array(1024);

  /** `limit`: paths it takes at most. */
  constructor(limit = PATHS_MAX) {
    this.#limit = limit;
    this.#add(0, 0, new Uint8Array(0), 0, 0);
    const encoder = new TextEncoder();
    for (const name of FIXED_NAMES) {
      const bytes = encoder.encode(name);
      this.intern(PATH_ROOT, bytes, 0, bytes.length);
    }
  }

  /** Number of paths, the root and the three fixed ones included. */
  get count(): number {
    return this.#count;
  }

  parent(path: number): number {
    return this.#parent[path];
  }

  /** The last name of `path`, a view that the next `intern` may make stale. */
  name(path: number): Uint8Array {
    return this.#names.subarray(this.#nameStart[path], this.#nameStart[path + 1]);
  }

  /** The child of `parent` named `bytes[start, end)`, made when new; -1 when as many are known as may be. */
  intern(parent: number, bytes: Uint8Array, start: number, end: number): number {
    const hash = hashBytes(bytes, start, end, HASH_SEED ^ Math.imul(parent, 0x9e3779b1));
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] >= 0) {
      const path = this.#slots[slot];
      if (this.#hashes[path] === hash && this.#is(path, parent, bytes, start, end)) return path;
      slot = (slot + 1) & mask;
    }
    if (this.#count >= this.#limit) return -1;
    return this.#add(parent, hash, bytes, start, end);
  }

  /** Compares `path` with the child of `parent` named `bytes[start, end)`. */
  #is(path: number, parent: number, bytes: Uint8Array, start: number, end: number): boolean {
    const nameStart = this.#nameStart[path];
    return (
      this.#parent[path] === parent &&
      this.#nameStart[path + 1] - nameStart === end - start &&
      sameBytes(this.#names, nameStart, bytes, start, end - start)
    );
  }

  #add(parent: number, hash: number, bytes: Uint8Array, start: number, end: number): number {
    const path = this.#count++;
    if (this.#count > this.#parent.length) this.#growNodes();
    const nameStart = this.#nameStart[path];
    const nameEnd = nameStart + end - start;
    if (nameEnd > this.#names.length) {
      const grown = new Uint8Array(Math.max(nameEnd, this.#names.length * 2));
      grown.set(this.#names);
      this.#names = grown;
    }
    this.#names.set(bytes.subarray(start, end), nameStart);
    this.#nameStart[path + 1] = nameEnd;
    this.#parent[path] = parent;
    this.#hashes[path] = hash;
    if (path !== PATH_ROOT) this.#place(path);
    return path;
  }

  #place(path: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#hashes[path] & mask;
    while (this.#slots[slot] >= 0) slot = (slot + 1) & mask;
    this.#slots[slot] = path;
  }

  #growNodes(): void {
    const capacity = this.#parent.length * 2;
    const grow = <T extends Uint32Array | Int32Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    this.#parent = grow(this.#parent, new Uint32Array(capacity));
    this.#nameStart = grow(this.#nameStart, new Uint32Array(capacity + 1));
    this.#hashes = grow(this.#hashes, new Int32Array(capacity));
    this.#slots = new Int32Array(capacity * 4).fill(-1);
    for (let path = 1; path < this.#count - 1; path++) this.#place(path);
    assert(this.#count <= capacity, 'path table grew enough');
  }
}
