import { PATHS_MAX } from '../../engine/base/limits.ts';
import { PATH_ROOT, type PathTable } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';

const NONE = -1;

/** The paths of a row's leaves: `path[rowEntry[rowCount], entryCount)`, as of the row of Rows that is being written. */
export type RowLeaves = Pick<Rows, 'path' | 'rowEntry' | 'rowCount' | 'entryCount'>;

/**
 * Finds the order of a row's leaves in which each object is contiguous, at the place of its first leaf: names with dots
 * that interleave make objects that come back. Source: INTERFACE.md 2.3.
 */
export class LeafOrder {
  readonly #paths: PathTable;
  /** The call in which each path was met as an object, and the object's number in it. */
  readonly #met = new Uint32Array(PATHS_MAX);
  readonly #objectOf = new Uint32Array(PATHS_MAX);
  #call = 0;
  #leafCount = 0;
  #objectCount = 0;
  /** Next sibling in the parent, of each leaf and then of each object. */
  #next = new Int32Array(64);
  /** First and last child of each object: a leaf, or `#leafCount` and the number of an object. */
  #first = new Int32Array(64);
  #last = new Int32Array(64);
  #order = new Uint32Array(64);
  #placed = 0;
  /** The paths that the order is of. */
  #known = new Uint32Array(64);

  constructor(paths: PathTable) {
    this.#paths = paths;
  }

  /** The number of the leaf at each place of a row. Good until the next call. */
  of({ path, rowEntry, rowCount, entryCount }: RowLeaves): Uint32Array {
    const start = rowEntry[rowCount];
    const leafCount = entryCount - start;
    if (this.#isKnown(path, start, leafCount)) return this.#order.subarray(0, leafCount);
    this.#begin(leafCount);
    let parent = NONE;
    let object = 0;
    for (let leaf = 0; leaf < this.#leafCount; leaf++) {
      const above = this.#paths.parent(path[start + leaf]);
      if (above !== parent) object = this.#object(above);
      parent = above;
      this.#append(object, leaf);
    }
    this.#placed = 0;
    this.#place(0);
    for (let leaf = 0; leaf < leafCount; leaf++) this.#known[leaf] = path[start + leaf];
    return this.#order.subarray(0, leafCount);
  }

  /** Reports whether the last call was for the same paths. */
  #isKnown(path: Uint32Array, start: number, leafCount: number): boolean {
    if (leafCount !== this.#leafCount) return false;
    for (let leaf = 0; leaf < leafCount; leaf++) {
      if (this.#known[leaf] !== path[start + leaf]) return false;
    }
    return true;
  }

  #begin(leafCount: number): void {
    if (++this.#call === 2 ** 32) {
      this.#met.fill(0);
      this.#call = 1;
    }
    if (leafCount > this.#order.length) {
      this.#order = new Uint32Array(2 * leafCount);
      this.#known = new Uint32Array(2 * leafCount);
    }
    if (leafCount > this.#next.length) this.#next = new Int32Array(2 * leafCount);
    this.#leafCount = leafCount;
    this.#objectCount = 0;
    this.#add(PATH_ROOT);
  }

  /** The number of the object at a path; a new object is made behind what its parent has. */
  #object(path: number): number {
    if (this.#met[path] === this.#call) return this.#objectOf[path];
    const parent = this.#object(this.#paths.parent(path));
    const object = this.#add(path);
    this.#append(parent, this.#leafCount + object);
    return object;
  }

  #add(path: number): number {
    const object = this.#objectCount++;
    if (object === this.#first.length) {
      this.#first = twice(this.#first);
      this.#last = twice(this.#last);
    }
    while (this.#leafCount + object >= this.#next.length) this.#next = twice(this.#next);
    this.#met[path] = this.#call;
    this.#objectOf[path] = object;
    this.#first[object] = NONE;
    return object;
  }

  #append(object: number, child: number): void {
    if (this.#first[object] === NONE) this.#first[object] = child;
    else this.#next[this.#last[object]] = child;
    this.#last[object] = child;
    this.#next[child] = NONE;
  }

  /** Places what an object has; objects nest no deeper than DEPTH_MAX. */
  #place(object: number): void {
    for (let child = this.#first[object]; child !== NONE; child = this.#next[child]) {
      if (child < this.#leafCount) this.#order[this.#placed++] = child;
      else this.#place(child - this.#leafCount);
    }
  }
}

function twice(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(2 * array.length);
  grown.set(array);
  return grown;
}
