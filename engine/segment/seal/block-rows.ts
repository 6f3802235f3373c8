import { leafKey, leafKind, leafPath, type Shapes } from '../../column/shape.ts';
import type { BlockRows } from '../block/block-encoder.ts';
import type { RowKeys } from '../block/keys/present-writers.ts';
import type { SegmentRows } from './segment-rows.ts';
import type { ShapeList } from './shape-list.ts';
import type { SourceRows } from './source-rows.ts';

/**
 * Reads what the rows of a new block have but for their values; their shapes go to `shapes`, emptied. Throws
 * CORRUPTION.
 */
export function readBlockRows(
  source: SourceRows,
  rows: SegmentRows,
  number: number,
  shapes: ShapeList,
): BlockRows & { keys: RowKeys } {
  const { from, to } = rows.bounds(number);
  const count = to - from;
  const timeMs = new Float64Array(count);
  const receivedMs = new Float64Array(count);
  const shapeIds = new Uint32Array(count);
  shapes.clear();
  const keys = { writers: new Uint8Array(count), sequences: new Float64Array(count) };
  for (const index of rows.sourcesOf(number)) {
    const { block, paths } = source.sources[index];
    const positions = rows.positions(index);
    const times = block.timeMs();
    const received = block.receivedMs();
    const own = block.keys();
    const numbers = new ShapeNumbers(shapes, block.shapes(), paths);
    for (let row = 0; row < positions.length; row++) {
      const target = positions[row] - from;
      if (target < 0 || target >= count) continue;
      timeMs[target] = times[row];
      receivedMs[target] = received[row];
      shapeIds[target] = numbers.of(row);
      keys.writers[target] = own.writers[row];
      keys.sequences[target] = own.sequences[row];
    }
    block.forget();
  }
  return { timeMs, receivedMs, shapes, shapeIds, keys };
}

/** Numbers, among the shapes of a new block, of those of a source: each is looked up once. */
class ShapeNumbers {
  readonly #list: ShapeList;
  readonly #shapes: Shapes;
  readonly #ids: Uint32Array;
  readonly #paths: Uint32Array;
  /** By shape of the source, number + 1. */
  readonly #numbers: Uint32Array;
  #keys = new Uint32Array(64);

  constructor(
    list: ShapeList,
    { shapes, ids }: { shapes: Shapes; ids: Uint32Array },
    paths: Uint32Array,
  ) {
    this.#list = list;
    this.#shapes = shapes;
    this.#ids = ids;
    this.#paths = paths;
    this.#numbers = new Uint32Array(shapes.count);
  }

  of(row: number): number {
    const shape = this.#ids[row];
    if (this.#numbers[shape] === 0) this.#numbers[shape] = this.#find(shape) + 1;
    return this.#numbers[shape] - 1;
  }

  #find(shape: number): number {
    const { starts, keys } = this.#shapes;
    const from = starts[shape];
    const count = starts[shape + 1] - from;
    if (count > this.#keys.length) this.#keys = new Uint32Array(count * 2);
    const target = this.#keys;
    const paths = this.#paths;
    for (let at = 0; at < count; at++) {
      const key = keys[from + at];
      target[at] = leafKey(paths[leafPath(key)], leafKind(key));
    }
    return this.#list.intern(target, 0, count);
  }
}
