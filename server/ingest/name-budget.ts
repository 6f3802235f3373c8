import { assert } from '../../engine/base/assert.ts';
import { HASH_SEED, hashBytes } from '../../engine/base/hash.ts';
import { PATH_ROOT, PathTable } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { NameLimit } from '../decode/name-limit.ts';
import type { NameCounts } from './name-counts.ts';

/** Names that a worker remembers of a day, of all write keys together: 16 MiB at most. */
const NAMES_MAX = 2_000_000;
const SLOTS_MIN = 256;
const PATHS_MIN = 1_024;

/** The names that a write key has brought today. */
interface KeyNames {
  /** The path table that the marks in `paths` refer to: 1 for each path that is one of them. It grows. */
  table: PathTable | undefined;
  paths: Uint8Array;
  /** Of lists of such paths, how many from the first on are marked. */
  known: WeakMap<readonly number[], number>;
  /** Their hashes + 1, in open addressing; 0 is an empty slot. */
  slots: Int32Array;
  count: number;
}

/**
 * The names of attributes, whole paths, that each write key may bring on a UTC day: so many, which the ingest workers
 * share, and those that the service itself knows. They are remembered by hashes of 31 bits, so that they outlive path
 * tables; two names of one hash count as one. Owned by one ingest thread.
 */
export class NameBudget implements NameLimit {
  readonly #counts: NameCounts;
  readonly #namesMax: number;
  readonly #keys = new Map<number, KeyNames>();
  #paths = new PathTable();
  /** Paths below it are the service's own. */
  #ownPaths = 0;
  #day = 0;
  /** Names of all keys. */
  #count = 0;
  #cell = -1;
  #key: KeyNames = emptyNames();

  /** `namesMax`: those of a key and day. */
  constructor(counts: NameCounts, namesMax: number) {
    this.#counts = counts;
    this.#namesMax = namesMax;
  }

  /** Turns to a path table, if it is another one; its first `ownPaths` have the names that the service itself knows. */
  usePaths(paths: PathTable, ownPaths = paths.count): void {
    if (paths === this.#paths) return;
    this.#paths = paths;
    this.#ownPaths = ownPaths;
    this.#key = emptyNames();
    this.#cell = -1;
  }

  /**
   * Turns to the events of the write key with that cell, received on `day`. What came in just before midnight goes with
   * the day that has begun; a clock that is set back further begins a day anew.
   */
  begin(cell: number, day: number): void {
    const isOver = day > this.#day || day < this.#day - 1;
    if (cell === this.#cell && !isOver) return;
    if (isOver) {
      this.#day = day;
      this.#count = 0;
      this.#keys.clear();
    }
    let key = this.#keys.get(cell);
    if (key === undefined) {
      key = emptyNames();
      this.#keys.set(cell, key);
    }
    if (key.table !== this.#paths) {
      key.table = this.#paths;
      key.paths = new Uint8Array(PATHS_MIN);
      key.known = new WeakMap();
    }
    this.#cell = cell;
    this.#key = key;
  }

  /** The cell of the write key at hand; -1 before the first. */
  get cell(): number {
    return this.#cell;
  }

  keptRows({ path, rowEntry }: Rows, row: number, count: number): number {
    const end = rowEntry[row + count];
    let known = this.#key.paths;
    for (let entry = rowEntry[row]; entry < end; entry++) {
      const at = path[entry];
      if (at < known.length && known[at] === 1) continue;
      if (!this.#take(at)) return rowOf(rowEntry, row, entry) - row;
      known = this.#key.paths;
    }
    return count;
  }

  knowsAll(paths: readonly number[]): boolean {
    const { paths: marks, known } = this.#key;
    const before = known.get(paths) ?? 0;
    let at = before;
    while (at < paths.length && marks[paths[at]] === 1) at++;
    if (at > before) known.set(paths, at);
    return at === paths.length;
  }

  keeps(path: number): boolean {
    return this.#key.paths[path] === 1 || this.#take(path);
  }

  /** Finds a path among the names of the key, or adds it when there is room; false when there is none. */
  #take(path: number): boolean {
    const key = this.#key;
    if (path >= this.#ownPaths) {
      const hash = this.#hashOf(path) + 1;
      const mask = key.slots.length - 1;
      let slot = hash & mask;
      while (key.slots[slot] !== 0 && key.slots[slot] !== hash) slot = (slot + 1) & mask;
      if (key.slots[slot] === 0) {
        if (!this.#hasRoom()) return false;
        key.slots[slot] = hash;
        key.count++;
        this.#count++;
        this.#counts.add(this.#cell, this.#day);
        if (key.count * 2 > key.slots.length) key.slots = grown(key.slots);
      }
    }
    if (path >= key.paths.length) key.paths = grow(key.paths, path + 1);
    key.paths[path] = 1;
    return true;
  }

  #hasRoom(): boolean {
    assert(this.#cell >= 0, 'names are of a write key');
    return this.#count < NAMES_MAX && this.#counts.sum(this.#cell, this.#day) < this.#namesMax;
  }

  /** A hash of all names of a path, the same in every table. */
  #hashOf(path: number): number {
    if (path === PATH_ROOT) return HASH_SEED;
    const seed = Math.imul(this.#hashOf(this.#paths.parent(path)), 0x9e3779b1);
    const name = this.#paths.name(path);
    return hashBytes(name, 0, name.length, seed);
  }
}

/** The row from `row` on that an entry is of. */
function rowOf(rowEntry: Uint32Array, row: number, entry: number): number {
  let at = row;
  while (rowEntry[at + 1] <= entry) at++;
  return at;
}

function emptyNames(): KeyNames {
  return {
    table: undefined,
    paths: new Uint8Array(0),
    known: new WeakMap(),
    slots: new Int32Array(SLOTS_MIN),
    count: 0,
  };
}

function grow(paths: Uint8Array, length: number): Uint8Array {
  const more = new Uint8Array(Math.max(paths.length * 2, length));
  more.set(paths);
  return more;
}

function grown(slots: Int32Array): Int32Array {
  const more = new Int32Array(slots.length * 2);
  const mask = more.length - 1;
  for (const hash of slots) {
    if (hash === 0) continue;
    let slot = hash & mask;
    while (more[slot] !== 0) slot = (slot + 1) & mask;
    more[slot] = hash;
  }
  return more;
}
