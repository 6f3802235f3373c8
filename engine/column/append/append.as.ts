import { STREAM_END } from '../../packed/stream.as.ts';
// biome-ignore format: a name a line would be a page.
import {
  ARENA_FULL, BATCH_END, BATCH_ROWS, BATCH_SIDE, BATCH_SOURCE, BATCH_SOURCE_BYTES, BLOCK_META, COLUMN,
  COLUMN_BYTES, COLUMN_COUNT, COLUMN_KEY, COLUMNS, columnField, columnNumber,
  LEAF_KIND, LEAF_LENGTH, LEAF_START, RECORD_LEAF, RECORDS, recordKey, recordKeys, SHAPE_KEYS, SHAPE_SLOT,
  SHAPE_SLOTS, setColumn, setColumnNumber, setRowShape, setShapeHash, setShapeKey, setShapeSlot,
  setShapeStart, setTouched, shapeHash, shapeKeys, shapeSlot, shapeStart, touched,
} from './memory.as.ts';
import {
  addLeaves,
  arenaTop,
  chainLeaf,
  renewColumn,
  resetArena,
  setSecrets,
} from './values.as.ts';

/**
 * Kernel of the open block: takes row records in as columns, as `Batch` does, whose columns, shapes and order of
 * entries are the same. A row is taken whole or not at all. The leaves of some rows, a portion, are put into their
 * columns together.
 */

// Kinds of leaves: engine/column/kind.ts.
const KIND_COLUMN_MIN: u32 = 2;
const KIND_NUMBER: u32 = 3;
const KIND_STRING: u32 = 4;
const KIND_ARRAY: u32 = 5;

// Limits of batch.ts and limits.ts.
const TEXT_BYTES_MAX: u32 = 32 << 20;
const TEXT_BYTES_AMPLE: u32 = TEXT_BYTES_MAX / 2;
const BATCH_BYTES_CLOSE: u32 = 64 << 20;
const LEAF_BYTES: u32 = 16;

/** A portion ends at as many leaves or bytes of texts. */
const PORTION_LEAVES: u32 = 4_096;
const PORTION_BYTES: u32 = 1 << 20;

/** Stands for texts of which one is not there. */
const NO_TEXTS: u32 = 0xffffffff;
const SHAPE_PRIME: u32 = 0x5bd1e995;
const SHAPE_SHIFT: u32 = 15;
/** Leaf keys of a vector. */
const LANES: u32 = 4;
const LANES_ALL: u32 = 0xf;

let rowCount: u32 = 0;
let columnCount: u32 = 0;
let shapeCount: u32 = 0;
let keyCount: u32 = 0;
/** Shape of the last row. */
let lastShape: u32 = 0;
let textBytes: u32 = 0;
let batchBytes: u32 = 0;
let isTextFull: bool = false;
/** Columns that have leaves of the portion. */
let touchedCount: u32 = 0;
/** Secret of the hashes of shapes. */
let shapeSecret: u32 = 0;

/** The column of a leaf key, made when there is none. */
// @inline
function columnOf(key: u32): u32 {
  const number = columnNumber(key);
  if (number !== 0) return number - 1;
  const column = columnCount++;
  memory.fill(COLUMN + column * COLUMN_BYTES, 0, COLUMN_BYTES);
  setColumn(column, COLUMN_KEY, key);
  setColumnNumber(key, columnCount);
  return column;
}

function isShape(shape: u32, first: u32, end: u32): bool {
  const start = shapeStart(shape);
  if (shapeStart(shape + 1) - start !== end - first) return false;
  for (let leaf = first; leaf < end; leaf += LANES) {
    const same = i32x4.bitmask(i32x4.eq(shapeKeys(start + leaf - first), recordKeys(leaf)));
    const wanted = end - leaf < LANES ? (1 << (end - leaf)) - 1 : LANES_ALL;
    if ((same & wanted) !== wanted) return false;
  }
  return true;
}

// @inline
function mixedShape(hash: u32, other: u32): u32 {
  const product = (hash ^ other) * SHAPE_PRIME;
  return product ^ (product >>> SHAPE_SHIFT);
}

/** A hash of the leaf keys of the leaves `[first, end)` in their order: four of every fourth, then one of these. */
// @inline
function shapeHashOf(first: u32, end: u32): u32 {
  const numbers = i32x4(0, 1, 2, 3);
  let state = v128.xor(i32x4.splat(shapeSecret ^ (end - first)), numbers);
  for (let leaf = first; leaf < end; leaf += LANES) {
    const keys = v128.and(recordKeys(leaf), i32x4.lt_u(numbers, i32x4.splat(end - leaf)));
    state = i32x4.mul(v128.xor(state, keys), i32x4.splat(SHAPE_PRIME));
    state = v128.xor(state, i32x4.shr_u(state, SHAPE_SHIFT));
  }
  const half = mixedShape(i32x4.extract_lane(state, 0), i32x4.extract_lane(state, 1));
  return mixedShape(mixedShape(half, i32x4.extract_lane(state, 2)), i32x4.extract_lane(state, 3));
}

/** The shape of the leaves `[first, end)`; when it is new it is the last one. */
function shapeOf(first: u32, end: u32): u32 {
  if (rowCount > 0 && isShape(lastShape, first, end)) return lastShape;
  const hash = shapeHashOf(first, end);
  let slot = hash & (SHAPE_SLOTS - 1);
  for (let held = shapeSlot(slot); held !== 0; held = shapeSlot(slot)) {
    if (shapeHash(held - 1) === hash && isShape(held - 1, first, end)) return held - 1;
    slot = (slot + 1) & (SHAPE_SLOTS - 1);
  }
  const shape = shapeCount++;
  for (let leaf = first; leaf < end; leaf++) setShapeKey(keyCount++, recordKey(leaf));
  setShapeStart(shape + 1, keyCount);
  setShapeHash(shape, hash);
  setShapeSlot(slot, shape + 1);
  return shape;
}

/** Address of the text of a leaf; 0 when it does not lie in what was brought. */
// @inline
function textOf(leaf: u32, sourceFrom: u32, sourceEnd: u32, sideEnd: u32): u32 {
  const start = load<i32>(LEAF_START + 4 * leaf);
  const length = load<u32>(LEAF_LENGTH + 4 * leaf);
  if (length === 0) return BATCH_SOURCE;
  if (start < 0) {
    const at = <u32>~start;
    return at <= sideEnd && length <= sideEnd - at ? BATCH_SIDE + at : 0;
  }
  const at = <u32>start;
  if (at < sourceFrom || at > sourceEnd || length > sourceEnd - at) return 0;
  return BATCH_SOURCE + at - sourceFrom;
}

/**
 * Puts the address of its text in the place of the start of each of the leaves `[first, end)`; returns the bytes of
 * all, NO_TEXTS when one is not there.
 */
// @inline
function findTexts(first: u32, end: u32, sourceFrom: u32, sourceEnd: u32, sideEnd: u32): u32 {
  let bytes: u32 = 0;
  for (let leaf = first; leaf < end; leaf++) {
    const kind = <u32>load<u8>(LEAF_KIND + leaf);
    if (kind < KIND_COLUMN_MIN) continue;
    bytes += load<u32>(LEAF_LENGTH + 4 * leaf);
    if (kind !== KIND_NUMBER && kind !== KIND_STRING && kind !== KIND_ARRAY) continue;
    const text = textOf(leaf, sourceFrom, sourceEnd, sideEnd);
    if (text === 0) return NO_TEXTS;
    store<u32>(LEAF_START + 4 * leaf, text);
  }
  return bytes;
}

/** Adds the leaves `[first, end)` of the last row to the portion. */
// @inline
function chainLeaves(first: u32, end: u32): void {
  for (let leaf = first; leaf < end; leaf++) {
    if (<u32>load<u8>(LEAF_KIND + leaf) < KIND_COLUMN_MIN) continue;
    const column = columnOf(recordKey(leaf));
    if (!chainLeaf(column, leaf, rowCount)) setTouched(touchedCount++, column);
  }
}

/** Puts the leaves of the portion into their columns. */
function endPortion(): void {
  for (let at: u32 = 0; at < touchedCount; at++) addLeaves(touched(at));
  touchedCount = 0;
}

/** Reports that no more rows are taken. */
export function isBatchFull(): bool {
  return (
    rowCount === BATCH_ROWS ||
    isTextFull ||
    batchBytes >= BATCH_BYTES_CLOSE ||
    arenaTop >= ARENA_FULL
  );
}

/**
 * Takes the `count` row records that were brought, from the first on, until the batch is full or a row has a text that
 * was not brought: those of the source lie in `[sourceFrom, sourceEnd)` of it, those of the side before `sideEnd`.
 * Returns how many were taken.
 */
export function appendRows(count: u32, sourceFrom: u32, sourceEnd: u32, sideEnd: u32): u32 {
  assert(count <= RECORDS && sourceEnd - sourceFrom <= BATCH_SOURCE_BYTES);
  let taken: u32 = 0;
  let portionLeaf = load<u32>(RECORD_LEAF);
  let portionBytes: u32 = 0;
  for (; taken < count && !isBatchFull(); taken++) {
    const first = load<u32>(RECORD_LEAF + 4 * taken);
    const end = load<u32>(RECORD_LEAF + 4 * (taken + 1));
    const bytes = findTexts(first, end, sourceFrom, sourceEnd, sideEnd);
    if (bytes === NO_TEXTS) break;
    const isAmple = textBytes <= TEXT_BYTES_AMPLE || bytes <= TEXT_BYTES_MAX - textBytes;
    const hasRoom = columnCount + end - first <= COLUMNS && keyCount + end - first <= SHAPE_KEYS;
    if (!isAmple || !hasRoom) {
      isTextFull = true;
      break;
    }
    lastShape = shapeOf(first, end);
    setRowShape(rowCount, lastShape);
    chainLeaves(first, end);
    rowCount++;
    textBytes += bytes;
    portionBytes += bytes;
    batchBytes += bytes + (end - first) * LEAF_BYTES;
    if (end - portionLeaf < PORTION_LEAVES && portionBytes < PORTION_BYTES) continue;
    endPortion();
    portionLeaf = end;
    portionBytes = 0;
  }
  endPortion();
  return taken;
}

/** Forgets all rows. Columns that had no value since the last time are dropped. */
export function clearBatch(): void {
  let kept: u32 = 0;
  for (let column: u32 = 0; column < columnCount; column++) {
    if (columnField(column, COLUMN_COUNT) === 0)
      setColumnNumber(columnField(column, COLUMN_KEY), 0);
    else renewColumn(column, kept++);
  }
  columnCount = kept;
  if (shapeCount > 0) memory.fill(SHAPE_SLOT, 0, 4 * SHAPE_SLOTS);
  rowCount = 0;
  shapeCount = 0;
  keyCount = 0;
  textBytes = 0;
  batchBytes = 0;
  isTextFull = false;
  resetArena();
}

/** Forgets all rows and columns. */
export function resetBatch(): void {
  clearBatch();
  for (let column: u32 = 0; column < columnCount; column++) {
    setColumnNumber(columnField(column, COLUMN_KEY), 0);
  }
  columnCount = 0;
}

/** Makes room for all regions and takes the secrets of its hashes; false when the system has none. */
export function beginBatch(low: u32, high: u32): bool {
  assert(STREAM_END <= BLOCK_META);
  const pages = <i32>((BATCH_END + 0xffff) >>> 16) - memory.size();
  if (pages > 0 && memory.grow(pages) < 0) return false;
  shapeSecret = low;
  setSecrets(low, high);
  clearBatch();
  return true;
}

export { batchBytes, columnCount, rowCount as batchRowCount, shapeCount };
