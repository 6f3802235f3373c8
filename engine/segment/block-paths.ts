import { assert } from '../base/assert.ts';
import { ByteWriter } from '../base/bytes.ts';
import { PATH_ROOT, type PathTable } from '../column/path.ts';
import { leafKey, leafKind, leafPath, type Shapes } from '../column/shape.ts';

/** Numbers of a table's paths in a block, or in a footer: only those in use, each after its parent. */
export class BlockPaths {
  readonly #paths: PathTable;
  readonly #numbers: Uint32Array;
  readonly #writer = new ByteWriter(1024);
  count = 0;

  constructor(paths: PathTable) {
    this.#paths = paths;
    this.#numbers = new Uint32Array(paths.count);
  }

  /** The block's number of `path`, from 0. The root has none. */
  number(path: number): number {
    if (this.#numbers[path] === 0) this.#add(path);
    return this.#numbers[path] - 1;
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

/** The shapes that rows have, renumbered from those of `shapes`; `ids` is by row, as `shapeIds`. */
export function blockShapes(
  shapes: Shapes,
  shapeIds: Uint16Array | Uint32Array,
  paths: BlockPaths,
): { shapes: Shapes; ids: Float64Array } {
  const numbers = new Int32Array(shapes.count);
  const ids = new Float64Array(shapeIds.length);
  const used: number[] = [];
  let leafCount = 0;
  for (let row = 0; row < shapeIds.length; row++) {
    const shape = shapeIds[row];
    if (numbers[shape] === 0) {
      used.push(shape);
      numbers[shape] = used.length;
      leafCount += shapes.starts[shape + 1] - shapes.starts[shape];
    }
    ids[row] = numbers[shape] - 1;
  }
  const starts = new Uint32Array(used.length + 1);
  const keys = new Uint32Array(leafCount);
  let at = 0;
  for (const [number, shape] of used.entries()) {
    for (let leaf = shapes.starts[shape]; leaf < shapes.starts[shape + 1]; leaf++) {
      const key = shapes.keys[leaf];
      keys[at++] = leafKey(paths.number(leafPath(key)), leafKind(key));
    }
    starts[number + 1] = at;
  }
  return { shapes: { count: used.length, starts, keys }, ids };
}
