import { hashOfBytes } from './hash.as.ts';

/**
 * Kernel that adds the hashes of values to those of their rows, and up those of rows, compiled to WebAssembly. The
 * references are `addWords`, `addEntries`, `addTexts`, `mixWords`, `mixDetails` and `sumLanes` of row-lanes.ts.
 *
 * The memory, private to one instance; regions are fixed and follow each other, behind them is an `Arena`:
 *
 * | region | holds |
 * |---|---|
 * | rows | by value, its row (u32), when they are not one after the other |
 * | words | by value, the 64 bits of a number |
 * | details | by value, what else is known of the number (u32) |
 * | ids | by value, the entry + 1 that it is (u32); of a text where it begins, and the end of the last one |
 * | entry lows, entry highs | by entry, the two lanes of its hash (u32); of texts these, one after the other |
 * | arena | of blocks, by row, the low lanes of the hashes of rows (u32), or the high ones |
 */

const VALUES: u32 = 1 << 16;
const LANE_ENTRIES: u32 = 1 << 20;

const LANE_ROW: u32 = 1024;
const LANE_WORD: u32 = LANE_ROW + 4 * VALUES;
const LANE_DETAIL: u32 = LANE_WORD + 8 * VALUES;
const LANE_ID: u32 = LANE_DETAIL + 4 * VALUES;
const LANE_ENTRY_LOW: u32 = LANE_ID + 4 * VALUES;
const LANE_ENTRY_HIGH: u32 = LANE_ENTRY_LOW + 4 * LANE_ENTRIES;
const LANE_ARENA: u32 = LANE_ENTRY_HIGH + 4 * LANE_ENTRIES;

// The factors of row-hash.ts.
const LOW_FACTOR: u32 = 0x9e3779b1;
const HIGH_FACTOR: u32 = 0x85ebca6b;
const NEGATIVE_ZERO: u32 = 0x80000000;

let lowLanes: u32 = 0;
let highLanes: u32 = 0;
let rowCount: u32 = 0;
let lowSum: u32 = 0;
let highSum: u32 = 0;

// Accessors: one a region. `assert` is there in the checked build alone.
// @inline
function lowPlace(row: u32): u32 {
  assert(row < rowCount);
  return lowLanes + 4 * row;
}
// @inline
function highPlace(row: u32): u32 {
  assert(row < rowCount);
  return highLanes + 4 * row;
}
// @inline
function rowOf(value: u32): u32 {
  assert(value < VALUES);
  return load<u32>(LANE_ROW + 4 * value);
}
// @inline
function wordsOf(value: u32): v128 {
  assert(value + 2 <= VALUES);
  return v128.load(LANE_WORD + 8 * value);
}
// @inline
function detailsOf(value: u32): v128 {
  assert(value + 4 <= VALUES);
  return v128.load(LANE_DETAIL + 4 * value);
}
// @inline
function idOf(value: u32): u32 {
  assert(value < VALUES);
  return load<u32>(LANE_ID + 4 * value);
}
// @inline
function entryLow(entry: u32): u32 {
  assert(entry < LANE_ENTRIES);
  return load<u32>(LANE_ENTRY_LOW + 4 * entry);
}
// @inline
function entryHigh(entry: u32): u32 {
  assert(entry < LANE_ENTRIES);
  return load<u32>(LANE_ENTRY_HIGH + 4 * entry);
}

// @inline
function mixLows(hashes: v128, words: v128): v128 {
  const mixed = i32x4.mul(v128.xor(hashes, words), i32x4.splat(LOW_FACTOR));
  return v128.xor(mixed, i32x4.shr_u(mixed, 15));
}
// @inline
function mixHighs(hashes: v128, words: v128): v128 {
  const mixed = i32x4.mul(v128.xor(hashes, words), i32x4.splat(HIGH_FACTOR));
  return v128.or(i32x4.shl(mixed, 13), i32x4.shr_u(mixed, 19));
}
// @inline
function spreads(hashes: v128): v128 {
  let mixed = i32x4.mul(v128.xor(hashes, i32x4.shr_u(hashes, 16)), i32x4.splat(0x85ebca6b));
  mixed = i32x4.mul(v128.xor(mixed, i32x4.shr_u(mixed, 13)), i32x4.splat(0xc2b2ae35));
  return v128.xor(mixed, i32x4.shr_u(mixed, 16));
}

/** The high words of four numbers; that of -0 is that of 0. */
// @inline
function highsOf(first: v128, second: v128, lows: v128): v128 {
  const highs = v128.shuffle<i32>(first, second, 1, 3, 5, 7);
  const isZero = v128.and(
    i32x4.eq(lows, i32x4.splat(0)),
    i32x4.eq(highs, i32x4.splat(NEGATIVE_ZERO)),
  );
  return v128.andnot(highs, isZero);
}
function spread(hash: u32): u32 {
  let mixed = (hash ^ (hash >>> 16)) * 0x85ebca6b;
  mixed = (mixed ^ (mixed >>> 13)) * 0xc2b2ae35;
  return mixed ^ (mixed >>> 16);
}

// @inline
function addTo(row: u32, low: u32, high: u32): void {
  const lowAt = lowPlace(row);
  const highAt = highPlace(row);
  store<u32>(lowAt, load<u32>(lowAt) + low);
  store<u32>(highAt, load<u32>(highAt) + high);
}

/** Adds the first `count` numbers of a column, whose own hash is `columnLow` and `columnHigh`; four at once. */
export function laneWords(count: u32, columnLow: u32, columnHigh: u32, hasRows: bool): void {
  assert(count <= VALUES);
  const baseLow = i32x4.splat(columnLow);
  const baseHigh = i32x4.splat(columnHigh);
  for (let value: u32 = 0; value < count; value += 4) {
    const first = wordsOf(value);
    const second = wordsOf(value + 2);
    const low = v128.shuffle<i32>(first, second, 0, 2, 4, 6);
    const high = highsOf(first, second, low);
    const details = detailsOf(value);
    const lows = spreads(mixLows(mixLows(mixLows(baseLow, low), high), details));
    const highs = spreads(mixHighs(mixHighs(mixHighs(baseHigh, low), high), details));
    if (!hasRows) {
      // Places behind the last row of lanes are nobody's.
      const lowAt = lowPlace(value);
      const highAt = highPlace(value);
      v128.store(lowAt, i32x4.add(v128.load(lowAt), lows));
      v128.store(highAt, i32x4.add(v128.load(highAt), highs));
      continue;
    }
    addTo(rowOf(value), i32x4.extract_lane(lows, 0), i32x4.extract_lane(highs, 0));
    if (value + 1 < count)
      addTo(rowOf(value + 1), i32x4.extract_lane(lows, 1), i32x4.extract_lane(highs, 1));
    if (value + 2 < count)
      addTo(rowOf(value + 2), i32x4.extract_lane(lows, 2), i32x4.extract_lane(highs, 2));
    if (value + 3 < count)
      addTo(rowOf(value + 3), i32x4.extract_lane(lows, 3), i32x4.extract_lane(highs, 3));
  }
}

/** Adds the hashes of the entries that the first `count` values are. Ids that are none are of no value. */
export function laneIds(count: u32, hasRows: bool): void {
  assert(count <= VALUES);
  for (let value: u32 = 0; value < count; value++) {
    const entry = idOf(value) - 1;
    if (entry >= LANE_ENTRIES) continue;
    addTo(hasRows ? rowOf(value) : value, entryLow(entry), entryHigh(entry));
  }
}

/**
 * Adds the hashes of `count` texts, each begun with a key: those of rows one after the other from `first` on, unless
 * they have rows.
 */
export function laneTexts(count: u32, keyLow: u32, keyHigh: u32, first: u32, hasRows: bool): void {
  assert(count < VALUES);
  const key = ((<u64>keyHigh) << 32) | keyLow;
  let start = LANE_ENTRY_LOW + idOf(0);
  for (let value: u32 = 0; value < count; value++) {
    const end = LANE_ENTRY_LOW + idOf(value + 1);
    assert(end <= LANE_ARENA);
    const hash = hashOfBytes(start, end, key);
    addTo(hasRows ? rowOf(value) : first + value, <u32>hash, <u32>(hash >>> 32));
    start = end;
  }
}

/** Mixes 64 bits into the hash of each row. */
export function laneMixWords(count: u32): void {
  assert(count <= VALUES);
  for (let row: u32 = 0; row < count; row += 4) {
    const first = wordsOf(row);
    const second = wordsOf(row + 2);
    const low = v128.shuffle<i32>(first, second, 0, 2, 4, 6);
    const high = highsOf(first, second, low);
    const lowAt = lowPlace(row);
    const highAt = highPlace(row);
    v128.store(lowAt, mixLows(mixLows(v128.load(lowAt), low), high));
    v128.store(highAt, mixHighs(mixHighs(v128.load(highAt), low), high));
  }
}

/** Mixes 32 bits into the hash of each row. */
export function laneMixDetails(count: u32): void {
  assert(count <= VALUES);
  for (let row: u32 = 0; row < count; row += 4) {
    const details = detailsOf(row);
    const lowAt = lowPlace(row);
    const highAt = highPlace(row);
    v128.store(lowAt, mixLows(v128.load(lowAt), details));
    v128.store(highAt, mixHighs(v128.load(highAt), details));
  }
}

/** Sums up the ends of all hashes, a lane each. */
export function laneSum(count: u32): void {
  assert(count <= VALUES);
  lowSum = 0;
  highSum = 0;
  for (let row: u32 = 0; row < count; row++) {
    lowSum += spread(load<u32>(lowPlace(row)));
    highSum += spread(load<u32>(highPlace(row)));
  }
}

/** Sets the rows that leaves are added to: the places of their lanes, each with room for a vector behind it. */
export function laneRows(count: u32, lows: u32, highs: u32): void {
  assert(lows >= LANE_ARENA && highs >= lows + 4 * count);
  assert(highs + 4 * count <= (<u32>memory.size()) << 16);
  rowCount = count;
  lowLanes = lows;
  highLanes = highs;
}

/** Makes room for all regions but the arena; false when the system has none. */
export function laneStart(): bool {
  const pages = <i32>((LANE_ARENA + 0xffff) >>> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

export {
  highSum as laneHighSum,
  LANE_ARENA,
  LANE_DETAIL,
  LANE_ENTRIES,
  LANE_ENTRY_HIGH,
  LANE_ENTRY_LOW,
  LANE_ID,
  LANE_ROW,
  LANE_WORD,
  lowSum as laneLowSum,
};
