import type { Rows } from '../../../engine/column/rows.ts';
import { Slot } from './trace.ts';

/** Shapes that are known, a power of two, each in the place of its hash. */
const SHAPES_MAX = 4_096;
const PLACE_SHIFT = 20;
/** Rows of others that come to the place of a shape, since it came itself, before one of them has it. */
const STRANGERS_MAX = 16;
/** Nodes of all of them, and of one. */
const NODES_MAX = 32_768;
const SHAPE_NODES_MAX = 512;
/** Rows of a shape that may be recorded before as many have to come that need not be. */
const PATIENCE_ROWS = 64;
/** Rows that are left to the steps when they did not, when there are too many nodes, or when few shapes are known. */
const REST_ROWS = 16_384;
/** Rows after which it is looked at whether one in so many has a shape that is known. */
const WINDOW_ROWS = 1_024;
const KNOWN_SHARE = 2;

/** A list of leaves that rows have, by paths and kinds, and the trace of what steps do with them. */
export interface TracedShape {
  readonly hash: number;
  readonly path: Uint32Array;
  readonly kind: Uint8Array;
  root: Slot;
  nodeCount: number;
  /** Rows that the trace was enough for, and the others. */
  hits: number;
  misses: number;
  /** Rows that are still left to the steps. */
  rest: number;
  /** Rows of others that came to its place since it came itself. */
  strangers: number;
}

/** Shapes of rows with their traces: those that came twice in a row at their place. Owned by one thread. */
export class Shapes {
  readonly #known: (TracedShape | undefined)[] = new Array(SHAPES_MAX).fill(undefined);
  /** The hash that came last to each place. */
  readonly #last = new Int32Array(SHAPES_MAX);
  #nodeCount = 0;
  /** Rows of shapes that are not known for which none is learnt. */
  #rest = 0;
  /** Rows of the window, those of known shapes among them, and rows whose shape is not looked for. */
  #windowRows = 0;
  #windowKnown = 0;
  #pause = 0;

  /** The shape of the last row; `undefined` when it has no trace. */
  of(rows: Rows): TracedShape | undefined {
    if (this.#pause > 0) {
      this.#pause--;
      return undefined;
    }
    if (++this.#windowRows === WINDOW_ROWS) this.#endWindow();
    const { path, kind, rowEntry, rowCount } = rows;
    const first = rowEntry[rowCount - 1];
    const end = rowEntry[rowCount];
    let hash = end - first;
    // A sum, whose terms do not wait for each other.
    for (let entry = first; entry < end; entry++)
      hash += Math.imul(
        path[entry] * 8 + kind[entry] + 1,
        Math.imul(entry - first, 0x9e3779b2) + 1,
      );
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    const place = hash >>> PLACE_SHIFT;
    const known = this.#known[place];
    if (known !== undefined && known.hash === hash && isShape(known, rows, first, end)) {
      known.strangers = 0;
      this.#windowKnown++;
      if (known.rest === 0 && this.#isWorthIt(known)) return known;
      known.rest--;
      return undefined;
    }
    const hasCome = this.#last[place] === hash;
    this.#last[place] = hash;
    if (known !== undefined && ++known.strangers <= STRANGERS_MAX) return undefined;
    if (this.#rest > 0) this.#rest--;
    else if (hasCome)
      return this.#learn(place, hash, path.slice(first, end), kind.slice(first, end));
    return undefined;
  }

  /** Looks for no shape for a while when most rows of the last ones had none that is known. */
  #endWindow(): void {
    if (this.#windowKnown * KNOWN_SHARE < WINDOW_ROWS) this.#pause = REST_ROWS;
    this.#windowRows = 0;
    this.#windowKnown = 0;
  }

  /** Tells that the trace of a shape got so many nodes. */
  grew(shape: TracedShape, nodeCount: number): void {
    shape.nodeCount += nodeCount;
    this.#nodeCount += nodeCount;
    if (this.#nodeCount < NODES_MAX) return;
    this.#known.fill(undefined);
    this.#nodeCount = 0;
    this.#rest = REST_ROWS;
  }

  #learn(place: number, hash: number, path: Uint32Array, kind: Uint8Array): TracedShape {
    const counts = { nodeCount: 0, hits: 0, misses: 0, rest: 0, strangers: 0 };
    const shape = { hash, path, kind, root: new Slot(), ...counts };
    this.#nodeCount -= this.#known[place]?.nodeCount ?? 0;
    this.#known[place] = shape;
    return shape;
  }

  /** Begins a trace anew, after a rest, that has become too large or has too many rows left over. */
  #isWorthIt(shape: TracedShape): boolean {
    const isLarge = shape.nodeCount > SHAPE_NODES_MAX;
    if (!isLarge && shape.misses <= PATIENCE_ROWS + shape.hits) return true;
    this.#nodeCount -= shape.nodeCount;
    shape.root = new Slot();
    shape.nodeCount = 0;
    shape.hits = 0;
    shape.misses = 0;
    shape.rest = REST_ROWS;
    return false;
  }
}

function isShape(shape: TracedShape, rows: Rows, first: number, end: number): boolean {
  const { path, kind } = shape;
  if (path.length !== end - first) return false;
  for (let entry = first; entry < end; entry++) {
    if (rows.path[entry] !== path[entry - first] || rows.kind[entry] !== kind[entry - first])
      return false;
  }
  return true;
}
