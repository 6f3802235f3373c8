import { assert } from '../../base/assert.ts';
import { ByteWriter } from '../../base/bytes.ts';
import { PATH_ROOT, type PathTable } from '../../column/path.ts';
import { leafKey, leafKind, leafPath, type Shapes } from '../../column/shape.ts';
import { extend } from '../../packed/growth.ts';

/** Numbers of a table's paths in a block, or in a footer: only those in use, each after its parent. */
export class BlockPaths {
  readonly #paths: PathTable;
  readonly #numbers: Uint32Array;
  readonly #writer: ByteWriter;
  count = 0;

  /**
   * `writer` is empty, and the block's from now on; so is `numbers`, by path its number + 1, or 0 when the block does
   * not have it.
   */
  constructor(
    paths: PathTable,
    writer = new ByteWriter(1024),
    numbers: Uint32Array = new Uint32Array(paths.count),
  ) {
    this.#paths = paths;
    this.#writer = writer;
    this.#numbers = numbers;
  }

  /** The block's number of `path`, from 0. The root has none. */
  number(path: number): number {
    if (this.#numbers[path] === 0) this.#add(path);
    return this.#numbers[path] - 1;
  }

  /** The leaf key, over the block's paths, of a kind at `path`; -1 when the block does not have the path. */
  leafKey(path: number, kind: number): number {
    const number = this.#numbers[path] - 1;
    return number < 0 ? -1 : leafKey(number, kind);
  }

  /** Writes the leaf keys `keys[from, end)`, over the block's paths, to `target` from `to` on. */
  translate(keys: Uint32Array, from: number, end: number, target: Uint32Array, to: number): void {
    const numbers = this.#numbers;
    for (let leaf = from; leaf < end; leaf++) {
      const key = keys[leaf];
      const path = leafPath(key);
      if (numbers[path] === 0) this.#add(path);
      target[to + leaf - from] = leafKey(numbers[path] - 1, leafKind(key));
    }
  }

  #add(path: number): void {
    const paths = this.#paths;
    assert(path !== PATH_ROOT, 'the root is no leaf');
    const parent = paths.parent(path);
    const parentNumber = parent === PATH_ROOT ? 0 : this.number(parent) + 1;
    this.#writer.varint(parentNumber);
    this.#writer.blob(paths.name(path));
    this.count++;
    this.#numbers[path] = this.count;
  }

  bytes(): Uint8Array {
    return this.#writer.bytes();
  }
}

/**
 * The shapes that rows have, over the block's paths. `shapeIds` is by row, numbers of `shapes`; `ids` by row the number
 * of its shape among those that are given, in the order in which they come.
 */
export function blockShapes(
  shapes: Shapes,
  shapeIds: Uint16Array | Uint32Array,
  paths: BlockPaths,
): { shapes: Shapes; ids: Float64Array } {
  const numbers = new Int32Array(shapes.count);
  const ids = new Float64Array(shapeIds.length);
  let starts = new Uint32Array(65);
  let keys = new Uint32Array(256);
  let count = 0;
  for (let row = 0; row < shapeIds.length; row++) {
    const shape = shapeIds[row];
    if (numbers[shape] === 0) {
      numbers[shape] = ++count;
      const from = shapes.starts[shape];
      const fromEnd = shapes.starts[shape + 1];
      const end = starts[count - 1] + fromEnd - from;
      if (count === starts.length) starts = extend(starts, count + 1);
      if (end > keys.length) keys = extend(keys, end);
      paths.translate(shapes.keys, from, fromEnd, keys, starts[count - 1]);
      starts[count] = end;
    }
    ids[row] = numbers[shape] - 1;
  }
  return { shapes: { count, starts, keys }, ids };
}
