import { fromRow, rowsInBlock } from './lists.as.ts';
// biome-ignore format: a name a line would be longer.
import {
  BLOCK_OUT_BYTES, KIND_BITS, pathNumber, rowShape, setShapeNumber, shapeKey, shapeNumber, shapeStart,
} from './memory.as.ts';
import {
  beginRegions,
  blockOutBytes,
  keepRegions,
  outAt,
  putIds,
  setId,
  takeOut,
} from './region.as.ts';

/**
 * Shapes of the rows of a block, as blockShapes of block-paths.ts finds and writeShapes of shape.ts writes them.
 * Memory: see memory.as.ts.
 */

/** The most that a varint takes here: it is written whole, and the next one over what it does not need. */
const WORD_BYTES: u32 = 4;
/** Stands for a leaf of a shape that was not begun. */
const NOT_BEGUN: u32 = 0xffffffff;
/** Reasons to end that are no paths. */
const DONE: u32 = 0xffffffff;
const NO_ROOM: u32 = 0;

/** The next row, and the next leaf of its shape. */
let shapeRow: u32 = 0;
let shapeLeaf: u32 = NOT_BEGUN;
/** Shapes so far. */
let blockShapeCount: u32 = 0;

/** Begins a block. */
function beginShapes(): void {
  shapeRow = 0;
  shapeLeaf = NOT_BEGUN;
  blockShapeCount = 0;
}

/** Puts a varint of at most four bytes to an address; how many bytes it has. */
// @inline
function putWord(to: u32, value: u32): u32 {
  if (value < 1 << 14) {
    const isLong = value >= 1 << 7;
    const low = (value & 0x7f) | (isLong ? 0x80 : 0);
    store<u16>(to, <u16>(low | ((value >>> 7) << 8)));
    return isLong ? 2 : 1;
  }
  const isLong = value >= 1 << 21;
  const low = (value & 0x7f) | 0x80 | (((value >>> 7) & 0x7f) << 8) | 0x8000;
  const high = ((value >>> 14) & 0x7f) | (isLong ? 0x80 : 0);
  store<u32>(to, low | (high << 16) | ((value >>> 21) << 24));
  return isLong ? 4 : 3;
}

/** Writes the rest of a shape; returns a path that has no number yet, NO_ROOM, or DONE. */
function putShape(shape: u32): u32 {
  const start = shapeStart(shape);
  const end = shapeStart(shape + 1);
  if (shapeLeaf === NOT_BEGUN) {
    if (blockOutBytes + WORD_BYTES * (end - start + 2) > BLOCK_OUT_BYTES) return NO_ROOM;
    takeOut(putWord(outAt(WORD_BYTES), end - start));
    shapeLeaf = start;
  }
  const first = outAt(WORD_BYTES * (end - shapeLeaf + 1));
  let to = first;
  for (; shapeLeaf < end; shapeLeaf++) {
    const key = shapeKey(shapeLeaf);
    const number = pathNumber(key >>> KIND_BITS);
    if (number === 0) {
      takeOut(to - first);
      return key >>> KIND_BITS;
    }
    to += putWord(to, ((number - 1) << KIND_BITS) | (key & ((1 << KIND_BITS) - 1)));
  }
  takeOut(to - first);
  shapeLeaf = NOT_BEGUN;
  return DONE;
}

/**
 * Writes the next shapes that rows of the block have, in their order, each once. Ends before a path without a number,
 * and returns that; with 0 where there is no room for more; else with DONE, and the ids of the rows are the region.
 */
export function encodeShapes(): u32 {
  beginRegions();
  for (; shapeRow < rowsInBlock; shapeRow++) {
    const shape = rowShape(fromRow + shapeRow);
    if (shapeNumber(shape) === 0) {
      const reason = putShape(shape);
      if (reason !== DONE) return reason;
      setShapeNumber(shape, ++blockShapeCount);
    }
    setId(shapeRow, shapeNumber(shape) - 1);
  }
  for (let row: u32 = 0; row < rowsInBlock; row++) setShapeNumber(rowShape(fromRow + row), 0);
  keepRegions();
  putIds(rowsInBlock);
  return DONE;
}

export { beginShapes, blockShapeCount };
