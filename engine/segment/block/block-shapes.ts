import { ByteReader } from '../../base/bytes.ts';
import { damaged } from '../../base/errors.ts';
import type { Region } from '../../column/chunk.ts';
import { KIND_COLUMN_MIN } from '../../column/kind.ts';
import { type OrderedShapes, readOrderedShapes, shapesOfRows } from '../../column/leaf-order.ts';
import {
  leafKey,
  leafKind,
  leafPath,
  ORDERED_SHAPES,
  readShapes,
  type Shapes,
} from '../../column/shape.ts';
import { readPacked } from '../../packed/compress.ts';
import { free } from '../../packed/growth.ts';
import type { IntegerStream } from '../../packed/integer-stream.ts';
import { pathNames } from '../directory-paths.ts';
import type { Directory } from './directory.ts';
import { type Leaf, type Template, templateOf } from './rebuild.ts';

/** Templates that stay at rest, and memory of one, or of the columns, for each leaf. */
const TEMPLATES_MAX = 8;
const LEAF_BYTES = 100;
/** Memory above which the stream of shapes does not stay: it is read in part then. */
const RESTING_MAX = 16 * 1024;

/** Reads that shapes need of their block. They throw CORRUPTION. */
interface ShapeReads {
  region(region: Region): Uint8Array;
  /** A number a row. */
  stream(region: Region): IntegerStream;
  /** The shapes, which `read` reads when they are not kept, and whether they are from now on. */
  stored(read: () => StoredShapes): { shapes: StoredShapes; isKept: boolean };
  /** Rows that have a value in a column, a bit each; `undefined` when all do. */
  presentBits(column: number): Uint32Array | undefined;
  hasValue(column: number, row: number): boolean;
  /** The number of the column of an overflow map with a leaf key; -1 when there is none. */
  overflowColumn(key: number): number;
}

/** Shapes as they are stored: one by one, or by the order of their leaves. */
export type StoredShapes = { plain: Shapes; ordered: undefined } | { ordered: OrderedShapes };

/** Shapes of the rows of a block. Methods throw CORRUPTION. */
export class BlockShapes {
  readonly #directory: Directory;
  readonly #reads: ShapeReads;
  readonly #templates = new Map<number, Template>();
  /** Names of the paths that were asked for, by their numbers. */
  #names: string[][] = [];
  #columnOf: Map<number, number> | undefined;
  #stored: StoredShapes | undefined;
  #stream: IntegerStream | undefined;
  /** True when others have what is stored too. */
  #isKept = false;
  #given: Uint32Array[] = [];

  constructor(directory: Directory, reads: ShapeReads) {
    this.#directory = directory;
    this.#reads = reads;
  }

  /** Shape of each row, and the leaf keys of the shapes over the block's own paths. */
  all(): { shapes: Shapes; ids: Uint32Array } {
    const stored = this.#read();
    const { shapeCount, shapeIds } = this.#directory;
    const ids = this.#reads.stream(shapeIds).ids(shapeCount - 1);
    this.#given.push(ids);
    const shapes =
      stored.ordered === undefined
        ? stored.plain
        : shapesOfRows(stored.ordered, ids, (key) => this.#reads.presentBits(this.#column(key)));
    if (stored.ordered !== undefined || !this.#isKept) this.#given.push(shapes.starts, shapes.keys);
    return { shapes, ids };
  }

  /** The template of the event of `row`. */
  template(row: number): Template {
    const { shapeCount, shapeIds } = this.#directory;
    this.#stream ??= this.#reads.stream(shapeIds);
    const shape = this.#stream.at(row);
    const known = this.#templates.get(shape);
    if (known !== undefined) return known;
    if (!(shape >= 0 && shape < shapeCount)) damaged(`shape ${shape}`);
    const leaves: Leaf[] = [];
    for (const key of this.#keysOf(shape, row)) {
      const kind = leafKind(key);
      const column = kind < KIND_COLUMN_MIN ? -1 : this.#column(key);
      leaves.push({ names: this.#pathNames(leafPath(key)), kind, column });
    }
    const template = templateOf(leaves);
    this.#templates.set(shape, template);
    return template;
  }

  /** Lets go of what was decoded; shapes and ids that were given are empty then, unless the shapes are kept. */
  forget(): void {
    this.#stored = undefined;
    this.#stream = undefined;
    free(...this.#given.splice(0));
  }

  /** Lets go of what can be read again, and of templates that are many; the bytes that it still holds, about. */
  rest(): number {
    this.#stored = undefined;
    this.#names = [];
    if (this.#templates.size > TEMPLATES_MAX) this.#templates.clear();
    let leafCount = this.#columnOf?.size ?? 0;
    for (const { columns } of this.#templates.values()) leafCount += columns.length;
    const streamBytes = this.#stream?.rest() ?? 0;
    if (streamBytes > RESTING_MAX) this.#stream = undefined;
    return leafCount * LEAF_BYTES + Math.min(streamBytes, RESTING_MAX);
  }

  /** Leaf keys of a shape, that of `row`. */
  #keysOf(shape: number, row: number): Uint32Array {
    const stored = this.#read();
    if (stored.ordered === undefined) {
      const { keys, starts } = stored.plain;
      return keys.subarray(starts[shape], starts[shape + 1]);
    }
    const { order, listed } = stored.ordered;
    const hasValue = (key: number): boolean => this.#reads.hasValue(this.#column(key), row);
    return listed.get(shape) ?? order.filter(hasValue);
  }

  #column(key: number): number {
    this.#columnOf ??= new Map(
      this.#directory.columns
        .outlines()
        .map(({ path, kind }, index) => [leafKey(path, kind), index]),
    );
    const column = this.#columnOf.get(key);
    if (column !== undefined) return column;
    const overflowed = this.#reads.overflowColumn(key);
    if (overflowed < 0) damaged(`no column for leaf ${key}`);
    return overflowed;
  }

  /** Names of a path from the root. */
  #pathNames(path: number): string[] {
    this.#names[path] ??= pathNames(this.#directory, path);
    return this.#names[path];
  }

  #read(): StoredShapes {
    if (this.#stored === undefined) {
      const { shapes, isKept } = this.#reads.stored(() => this.#readStored());
      this.#stored = shapes;
      this.#isKept = isKept;
    }
    return this.#stored;
  }

  #readStored(): StoredShapes {
    const { shapeCount, shapes, names } = this.#directory;
    const bytes = this.#reads.region(shapes);
    const isOrdered = bytes[0] === ORDERED_SHAPES;
    const packed = readPacked(new ByteReader(bytes, isOrdered ? 1 : 0));
    const reader = new ByteReader(packed);
    if (isOrdered) return { ordered: readOrderedShapes(reader, shapeCount, names.length) };
    return { plain: readShapes(reader, shapeCount, names.length), ordered: undefined };
  }
}
