import { NAME_BYTES_MAX, PATHS_MAX } from '../../engine/base/limits.ts';
import type { PathTable } from '../../engine/column/path.ts';
import type { KeyTable } from './key.ts';
import { DOT } from './text.ts';

/** Paths that are remembered; then all are forgotten. */
const KNOWN_MAX = PATHS_MAX;

/**
 * Finds the paths of attributes whose names collide: inside an object that is an attribute too they go to the object
 * around it, under a name with dots. Source: INTERFACE.md 2.3.
 */
export class Collisions {
  readonly #paths: PathTable;
  readonly #keys: KeyTable;
  /** Paths by that of the attribute and the one inside it. */
  readonly #known = new Map<number, number>();
  readonly #name = new Uint8Array(NAME_BYTES_MAX);

  constructor(paths: PathTable, keys: KeyTable) {
    this.#paths = paths;
    this.#keys = keys;
  }

  /** Path of the attribute at `path` when it lies inside the attribute at `around`; -1 when it has none. */
  pathOf(around: number, path: number): number {
    const key = around * PATHS_MAX + path;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size === KNOWN_MAX) this.#known.clear();
    const length = this.#joinNames(around, path);
    const found =
      length < 0 ? -1 : this.#keys.child(this.#paths.parent(around), this.#name, 0, length);
    if (found >= 0) this.#known.set(key, found);
    return found;
  }

  /** Joins the names from `around` to `path` by dots; returns the bytes, -1 when they are too many for a name. */
  #joinNames(around: number, path: number): number {
    let length = 0;
    if (path !== around) {
      length = this.#joinNames(around, this.#paths.parent(path));
      if (length < 0 || length === NAME_BYTES_MAX) return -1;
      this.#name[length++] = DOT;
    }
    const name = this.#paths.name(path);
    if (length + name.length > NAME_BYTES_MAX) return -1;
    this.#name.set(name, length);
    return length + name.length;
  }
}
