import { LZ4_END } from '../../packed/lz4.as.ts';

/**
 * The memory of append.as.ts and encode.as.ts, private to one instance; regions are fixed and follow each other:
 *
 * | region | holds |
 * |---|---|
 * | packing | the memory of lz4.as.ts and that of stream.as.ts, in one place: neither keeps anything |
 * | block | meta, current region and other regions of a block that is written, and more about it: see BLOCK_ |
 * | texts | what strings are read from: a window of the rows' source, then their side; each with a pad for vectors |
 * | leaves | path, start, length (u32), value (f64), detail (u16), kind (u8) of row records, each in an array |
 * | records | first leaf (u32) of each row record |
 * | chains | of leaves of a portion the next leaf of the column (u32) and the row (u16), each in an array |
 * | touched | columns that have leaves of the portion (u32) |
 * | free | first free piece of the arena (u32) by the logarithm of its size; a piece begins with the next one |
 * | column numbers | column + 1 (u32) of each leaf key; 0 when there is none |
 * | columns | 96 bytes each: see COLUMN_ |
 * | row shapes | shape (u16) of each row of the batch |
 * | shapes | first leaf key, hash (u32), then slots: shape + 1 (u32) at the place that its hash says |
 * | shape keys | leaf keys (u32) of the shapes |
 * | arena | arrays of the columns: pieces whose sizes are powers of two; 0 is none of them |
 */

// Limits, which TypeScript asks for by the functions at the end.
const BATCH_SOURCE_BYTES: u32 = 1 << 20;
const BATCH_SIDE_BYTES: u32 = 20 << 20;
const BATCH_PAD_BYTES: u32 = 64;
const LEAVES: u32 = 1 << 17;
const RECORDS: u32 = 4096;
const SIZES: u32 = 32;
/** Bits of a kind in a leaf key: engine/column/kind.ts. */
const KIND_BITS: u32 = 3;
const KEYS: u32 = 1 << 19;
const COLUMNS: u32 = 1 << 16;
const BATCH_ROWS: u32 = 32_768;
const SHAPE_SLOTS: u32 = 1 << 16;
const SHAPE_KEYS: u32 = 1 << 22;
/** A row may need twice what lies in the arena. */
const ARENA_FULL: u32 = 64 << 20;
const ARENA_BYTES: u32 = 3 * ARENA_FULL;

/** Paths of a block, and its lists of rows: one a column at most, found by their hashes. */
const BLOCK_PATHS: u32 = KEYS >>> KIND_BITS;
const LIST_BYTES: u32 = 12;
const LIST_SLOTS: u32 = 1_024;
/** Regions, and bytes of the meta and of regions, of the columns of a block that are encoded together. */
const BLOCK_REGIONS: u32 = 4_096;
const BLOCK_META_BYTES: u32 = 1 << 16;
/** Texts that are compressed together and what stands before them, or numbers of all rows. */
const BLOCK_REGION_BYTES: u32 = (1 << 20) + (1 << 17);
const BLOCK_OUT_BYTES: u32 = 4 << 20;
const BLOCK_PAD: u32 = 64;

// Regions.
const BLOCK_META: u32 = LZ4_END;
const BLOCK_REGION: u32 = BLOCK_META + BLOCK_META_BYTES + BLOCK_PAD;
const BLOCK_OUT: u32 = BLOCK_REGION + BLOCK_REGION_BYTES + BLOCK_PAD;
/** Time (f64) of each row. */
const BLOCK_TIME: u32 = BLOCK_OUT + BLOCK_OUT_BYTES + BLOCK_PAD;
/** First row and value (f64) of each run of a stream, each in an array. */
const BLOCK_RUN_START: u32 = BLOCK_TIME + 8 * BATCH_ROWS;
const BLOCK_RUN_HEAD: u32 = BLOCK_RUN_START + 8 * BATCH_ROWS;
/** Number + 1 (u32) of each path, 0 of those that the block does not have. */
const BLOCK_PATH: u32 = BLOCK_RUN_HEAD + 8 * BATCH_ROWS;
/** Number + 1 (u32) of the last list of rows of each hash. */
const BLOCK_LIST_SLOT: u32 = BLOCK_PATH + 4 * BLOCK_PATHS;
/** Address and count of each list of rows, and number + 1 of the one before it with its hash (u32). */
const BLOCK_LIST: u32 = BLOCK_LIST_SLOT + 4 * LIST_SLOTS;
/** Of each region outside of the meta where its checksum belongs in the meta, where it lies, and its bytes (u32). */
const BLOCK_PLACE: u32 = BLOCK_LIST + LIST_BYTES * COLUMNS;
/** Number + 1 (u16) of each entry of a column that is used, else 0; then those that are used (u16). */
const BLOCK_ENTRY: u32 = BLOCK_PLACE + 12 * BLOCK_REGIONS;
const BLOCK_USED: u32 = BLOCK_ENTRY + 2 * (1 << 16);
/** Number + 1 (u16) of each shape that a row of the block before the next one has, else 0. */
const BLOCK_SHAPE: u32 = BLOCK_USED + 2 * BATCH_ROWS;
const BATCH_SOURCE: u32 = BLOCK_SHAPE + 2 * BATCH_ROWS;
const BATCH_SIDE: u32 = BATCH_SOURCE + BATCH_SOURCE_BYTES + BATCH_PAD_BYTES;
const TEXTS_END: u32 = BATCH_SIDE + BATCH_SIDE_BYTES + BATCH_PAD_BYTES;
const LEAF_PATH: u32 = TEXTS_END;
const LEAF_START: u32 = LEAF_PATH + 4 * LEAVES;
const LEAF_LENGTH: u32 = LEAF_START + 4 * LEAVES;
const LEAF_VALUE: u32 = LEAF_LENGTH + 4 * LEAVES;
const LEAF_DETAIL: u32 = LEAF_VALUE + 8 * LEAVES;
const LEAF_KIND: u32 = LEAF_DETAIL + 2 * LEAVES;
const RECORD_LEAF: u32 = LEAF_KIND + LEAVES;
const CHAIN_NEXT: u32 = RECORD_LEAF + 4 * (RECORDS + 16);
const CHAIN_ROW: u32 = CHAIN_NEXT + 4 * LEAVES;
const TOUCHED: u32 = CHAIN_ROW + 2 * LEAVES;
const FREE: u32 = TOUCHED + 4 * LEAVES;
const COLUMN_NUMBER: u32 = FREE + 4 * SIZES;
const COLUMN: u32 = COLUMN_NUMBER + 4 * KEYS;
const COLUMN_BYTES: u32 = 96;
const ROW_SHAPE: u32 = COLUMN + COLUMN_BYTES * COLUMNS;
const SHAPE_START: u32 = ROW_SHAPE + 2 * BATCH_ROWS;
const SHAPE_HASH: u32 = SHAPE_START + 4 * (BATCH_ROWS + 16);
const SHAPE_SLOT: u32 = SHAPE_HASH + 4 * BATCH_ROWS;
const SHAPE_KEY: u32 = SHAPE_SLOT + 4 * SHAPE_SLOTS;
const ARENA: u32 = SHAPE_KEY + 4 * SHAPE_KEYS;
const BATCH_END: u32 = ARENA + ARENA_BYTES + BATCH_PAD_BYTES;

// Fields of a column. Pieces of the arena are given by their offsets in it.
const COLUMN_KEY: u32 = 0;
/** Values. */
const COLUMN_COUNT: u32 = 4;
/** Values for which there is room. */
const COLUMN_ROOM: u32 = 8;
/** Row (u16) of each value. */
const COLUMN_ROWS: u32 = 12;
/** Entry of a string, detail of a number, form of a date, boolean (u16). */
const COLUMN_DETAILS: u32 = 16;
/** Number or date (f64). */
const COLUMN_VALUES: u32 = 20;
/** Entries of its dictionary: distinct strings, or those of a plain column; texts of numbers. */
const COLUMN_ENTRIES: u32 = 24;
const COLUMN_ENTRY_ROOM: u32 = 28;
/** End of each entry, behind a 0 (u32). */
const COLUMN_OFFSETS: u32 = 32;
/** Hash of each entry (u32). */
const COLUMN_HASHES: u32 = 36;
/** Sixteen bits of a hash, and entry + 1 (u16), at the place that its hash says. */
const COLUMN_SLOTS: u32 = 40;
const COLUMN_SLOT_COUNT: u32 = 44;
const COLUMN_BYTES_AT: u32 = 48;
const COLUMN_BYTE_ROOM: u32 = 52;
/** 1 when equal strings are not looked for. */
const COLUMN_PLAIN: u32 = 56;
const COLUMN_PLAIN_BLOCKS: u32 = 60;
/** Values, entries and their bytes of the last block. */
const COLUMN_LAST_COUNT: u32 = 64;
const COLUMN_LAST_ENTRIES: u32 = 68;
const COLUMN_LAST_BYTES: u32 = 72;
/** Leaves of the portion: how many, the first and the last one. */
const COLUMN_ADDED: u32 = 76;
const COLUMN_FIRST: u32 = 80;
const COLUMN_LAST: u32 = 84;

const BATCH_VECTOR: u32 = 16;
/** The smallest piece of the arena has 64 bytes. */
const SIZE_MIN: u32 = 6;
const PIECE_BYTES_MIN: u32 = 64;

// Accessors: one a region. `assert` is there in the checked build alone.
function textLong(at: u32): u64 {
  assert(at >= BATCH_SOURCE && at + 8 <= TEXTS_END);
  return load<u64>(at);
}
function textVector(at: u32): v128 {
  assert(at >= BATCH_SOURCE && at + BATCH_VECTOR <= TEXTS_END);
  return v128.load(at);
}
/** A vector of the texts or of the arena. */
function anyVector(at: u32): v128 {
  assert(at >= BATCH_SOURCE && at + BATCH_VECTOR <= BATCH_END);
  assert(at + BATCH_VECTOR <= TEXTS_END || at >= ARENA);
  return v128.load(at);
}
function freePiece(size: u32): u32 {
  assert(size < SIZES);
  return load<u32>(FREE + 4 * size);
}
function setFreePiece(size: u32, at: u32): void {
  assert(size < SIZES);
  store<u32>(FREE + 4 * size, at);
}
function columnNumber(key: u32): u32 {
  assert(key < KEYS);
  return load<u32>(COLUMN_NUMBER + 4 * key);
}
function setColumnNumber(key: u32, number: u32): void {
  assert(key < KEYS);
  store<u32>(COLUMN_NUMBER + 4 * key, number);
}
function columnField(column: u32, field: u32): u32 {
  assert(column < COLUMNS);
  return load<u32>(COLUMN + column * COLUMN_BYTES + field);
}
function setColumn(column: u32, field: u32, value: u32): void {
  assert(column < COLUMNS);
  store<u32>(COLUMN + column * COLUMN_BYTES + field, value);
}
function setRowShape(row: u32, shape: u32): void {
  assert(row < BATCH_ROWS);
  store<u16>(ROW_SHAPE + 2 * row, <u16>shape);
}
function rowShape(row: u32): u32 {
  assert(row < BATCH_ROWS);
  return load<u16>(ROW_SHAPE + 2 * row);
}
function shapeNumber(shape: u32): u32 {
  assert(shape < BATCH_ROWS);
  return load<u16>(BLOCK_SHAPE + 2 * shape);
}
function setShapeNumber(shape: u32, number: u32): void {
  assert(shape < BATCH_ROWS);
  store<u16>(BLOCK_SHAPE + 2 * shape, <u16>number);
}
function shapeStart(shape: u32): u32 {
  assert(shape <= BATCH_ROWS);
  return load<u32>(SHAPE_START + 4 * shape);
}
function setShapeStart(shape: u32, start: u32): void {
  assert(shape <= BATCH_ROWS);
  store<u32>(SHAPE_START + 4 * shape, start);
}
function shapeHash(shape: u32): u32 {
  assert(shape < BATCH_ROWS);
  return load<u32>(SHAPE_HASH + 4 * shape);
}
function setShapeHash(shape: u32, hash: u32): void {
  assert(shape < BATCH_ROWS);
  store<u32>(SHAPE_HASH + 4 * shape, hash);
}
function shapeSlot(slot: u32): u32 {
  assert(slot < SHAPE_SLOTS);
  return load<u32>(SHAPE_SLOT + 4 * slot);
}
function setShapeSlot(slot: u32, held: u32): void {
  assert(slot < SHAPE_SLOTS);
  store<u32>(SHAPE_SLOT + 4 * slot, held);
}
function shapeKey(at: u32): u32 {
  assert(at < SHAPE_KEYS);
  return load<u32>(SHAPE_KEY + 4 * at);
}
/** Leaf keys of a shape: one and the three behind it. */
function shapeKeys(at: u32): v128 {
  assert(at < SHAPE_KEYS);
  return v128.load(SHAPE_KEY + 4 * at);
}
function setShapeKey(at: u32, key: u32): void {
  assert(at < SHAPE_KEYS);
  store<u32>(SHAPE_KEY + 4 * at, key);
}
/** Leaf key of a leaf of the row records, as leafKey of shape.ts has it. */
function recordKey(leaf: u32): u32 {
  assert(leaf < LEAVES);
  return (load<u32>(LEAF_PATH + 4 * leaf) << KIND_BITS) | <u32>load<u8>(LEAF_KIND + leaf);
}
/** Leaf keys of a leaf and of the three behind it. */
function recordKeys(leaf: u32): v128 {
  assert(leaf < LEAVES);
  const kinds = i16x8.extend_low_i8x16_u(v128.load32_zero(LEAF_KIND + leaf));
  const paths = i32x4.shl(v128.load(LEAF_PATH + 4 * leaf), KIND_BITS);
  return v128.or(paths, i32x4.extend_low_i16x8_u(kinds));
}
function nextLeaf(leaf: u32): u32 {
  assert(leaf < LEAVES);
  return load<u32>(CHAIN_NEXT + 4 * leaf);
}
function setNextLeaf(leaf: u32, next: u32): void {
  assert(leaf < LEAVES);
  store<u32>(CHAIN_NEXT + 4 * leaf, next);
}
function leafRow(leaf: u32): u32 {
  assert(leaf < LEAVES);
  return load<u16>(CHAIN_ROW + 2 * leaf);
}
function setLeafRow(leaf: u32, row: u32): void {
  assert(leaf < LEAVES);
  store<u16>(CHAIN_ROW + 2 * leaf, <u16>row);
}
function touched(at: u32): u32 {
  assert(at < LEAVES);
  return load<u32>(TOUCHED + 4 * at);
}
function setTouched(at: u32, column: u32): void {
  assert(at < LEAVES);
  store<u32>(TOUCHED + 4 * at, column);
}
function blockTime(row: u32): f64 {
  assert(row < BATCH_ROWS);
  return load<f64>(BLOCK_TIME + 8 * row);
}
function runStart(run: u32): f64 {
  assert(run < BATCH_ROWS);
  return load<f64>(BLOCK_RUN_START + 8 * run);
}
function setRunStart(run: u32, row: u32): void {
  assert(run < BATCH_ROWS);
  store<f64>(BLOCK_RUN_START + 8 * run, row);
}
function runHead(run: u32): f64 {
  assert(run < BATCH_ROWS);
  return load<f64>(BLOCK_RUN_HEAD + 8 * run);
}
function setRunHead(run: u32, value: f64): void {
  assert(run < BATCH_ROWS);
  store<f64>(BLOCK_RUN_HEAD + 8 * run, value);
}
function pathNumber(path: u32): u32 {
  assert(path < BLOCK_PATHS);
  return load<u32>(BLOCK_PATH + 4 * path);
}
function listSlot(slot: u32): u32 {
  assert(slot < LIST_SLOTS);
  return load<u32>(BLOCK_LIST_SLOT + 4 * slot);
}
function setListSlot(slot: u32, held: u32): void {
  assert(slot < LIST_SLOTS);
  store<u32>(BLOCK_LIST_SLOT + 4 * slot, held);
}
function listRows(list: u32): u32 {
  assert(list < COLUMNS);
  return load<u32>(BLOCK_LIST + LIST_BYTES * list);
}
function listCount(list: u32): u32 {
  assert(list < COLUMNS);
  return load<u32>(BLOCK_LIST + LIST_BYTES * list + 4);
}
function listBefore(list: u32): u32 {
  assert(list < COLUMNS);
  return load<u32>(BLOCK_LIST + LIST_BYTES * list + 8);
}
function setList(list: u32, rows: u32, count: u32, before: u32): void {
  assert(list < COLUMNS);
  store<u32>(BLOCK_LIST + LIST_BYTES * list, rows);
  store<u32>(BLOCK_LIST + LIST_BYTES * list + 4, count);
  store<u32>(BLOCK_LIST + LIST_BYTES * list + 8, before);
}
function setRegion(region: u32, metaAt: u32, at: u32, bytes: u32): void {
  assert(region < BLOCK_REGIONS);
  store<u32>(BLOCK_PLACE + 12 * region, metaAt);
  store<u32>(BLOCK_PLACE + 12 * region + 4, at);
  store<u32>(BLOCK_PLACE + 12 * region + 8, bytes);
}
function entryNumber(entry: u32): u32 {
  assert(entry < 1 << 16);
  return load<u16>(BLOCK_ENTRY + 2 * entry);
}
function setEntryNumber(entry: u32, number: u32): void {
  assert(entry < 1 << 16);
  store<u16>(BLOCK_ENTRY + 2 * entry, <u16>number);
}
/** Address of the entries that are used. */
function usedEntryAt(): u32 {
  return BLOCK_USED;
}
function usedEntry(at: u32): u32 {
  assert(at < BATCH_ROWS);
  return load<u16>(BLOCK_USED + 2 * at);
}
function setUsedEntry(at: u32, entry: u32): void {
  assert(at < BATCH_ROWS);
  store<u16>(BLOCK_USED + 2 * at, <u16>entry);
}
/** Address of `bytes` bytes at an offset in the arena. */
function arena(at: u32, bytes: u32): u32 {
  assert(at >= PIECE_BYTES_MIN && at + bytes <= ARENA_BYTES + BATCH_PAD_BYTES);
  return ARENA + at;
}

// biome-ignore format: a name a line would be two pages.
export {
  ARENA, ARENA_FULL, anyVector, arena, BATCH_END, BATCH_ROWS, BATCH_SIDE, BATCH_SIDE_BYTES,
  BATCH_SOURCE, BATCH_SOURCE_BYTES, BATCH_VECTOR, BLOCK_ENTRY, BLOCK_LIST_SLOT, BLOCK_META, BLOCK_META_BYTES, BLOCK_OUT,
  BLOCK_OUT_BYTES, BLOCK_PAD, BLOCK_PATH, BLOCK_PATHS, BLOCK_PLACE, BLOCK_REGION,
  BLOCK_REGION_BYTES, BLOCK_REGIONS, BLOCK_SHAPE, BLOCK_TIME, blockTime, COLUMN, COLUMN_ADDED,
  COLUMN_BYTE_ROOM, COLUMN_BYTES, COLUMN_BYTES_AT, COLUMN_COUNT, COLUMN_DETAILS, COLUMN_ENTRIES,
  COLUMN_ENTRY_ROOM, COLUMN_FIRST, COLUMN_HASHES, COLUMN_KEY, COLUMN_LAST, COLUMN_LAST_BYTES,
  COLUMN_LAST_COUNT, COLUMN_LAST_ENTRIES, COLUMN_OFFSETS, COLUMN_PLAIN, COLUMN_PLAIN_BLOCKS,
  COLUMN_ROOM, COLUMN_ROWS, COLUMN_SLOT_COUNT, COLUMN_SLOTS, COLUMN_VALUES, COLUMNS, columnField,
  columnNumber, entryNumber, FREE, freePiece, KEYS, KIND_BITS, LEAF_DETAIL, LEAF_KIND, LEAF_LENGTH,
  LEAF_PATH, LEAF_START, LEAF_VALUE, LEAVES, LIST_SLOTS, leafRow, listBefore, listCount, listRows, listSlot, nextLeaf,
  PIECE_BYTES_MIN, pathNumber, RECORD_LEAF, RECORDS, ROW_SHAPE, recordKey, recordKeys, rowShape, runHead, runStart,
  SHAPE_HASH, SHAPE_KEY, SHAPE_KEYS, SHAPE_SLOT, SHAPE_SLOTS, SHAPE_START, SIZE_MIN, SIZES,
  setColumn, setColumnNumber, setEntryNumber, setFreePiece, setLeafRow, setList, setListSlot, setNextLeaf,
  setRegion, setRowShape, setRunHead, setRunStart, setShapeHash, setShapeKey, setShapeNumber, setShapeSlot,
  setShapeStart, setTouched, setUsedEntry, shapeHash, shapeKey, shapeKeys, shapeNumber, shapeSlot, shapeStart, textLong,
  textVector, touched, usedEntry, usedEntryAt,
};
