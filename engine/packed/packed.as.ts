import {
  clearExcess,
  PACKED_GROUP_ROWS as GROUP_ROWS,
  hasPatches,
  PACKED_WORDS,
  PACKED_PAD as PAD,
  PATCH_HIGH,
  PATCH_PLACE,
  PACKED_ROWS as ROWS,
  UNPACKED_END,
  unpackedOne,
  unpackedVector,
  unpackGroup,
  PACKED_VECTOR as VECTOR,
  PACKED_WORD_BITS as WORD_BITS,
} from './unpack.as.ts';

/**
 * Kernel of scans over the packed values of a block, compiled to WebAssembly; the plain forms are in plain-cells.ts.
 * Its memory is private to one instance; regions are fixed and follow each other, those of unpack.as.ts first, those of
 * tally.as.ts last:
 *
 * | region | holds |
 * |---|---|
 * | cell | of each row its cell (u32) |
 * | bits | a bit a row: the rows that count, or those that were found |
 * | table | by value of a column, what is added to the cells of rows that have it (u32), or 1 when it is chosen (u8) |
 * | count | rows by cell (u32): four tables when cells are few, as rows that follow each other often have the same one |
 * | sum | by cell the sum (u64, above SUM_BITS the number of rows; at the end f64): four tables likewise |
 * | least, greatest | by cell the least and the greatest value (u32) |
 * | run end, run cell | of each run of rows the row behind it, and its cell (u32) |
 * | group | by cell the group (u32) + 1, or 0 |
 * | pair row, pair group | rows that have a group, with it (u32) |
 */

const CODES: u32 = 1 << 18;
const CELLS: u32 = 1 << 20;
const SUMS: u32 = 1 << 16;
/** Cells up to which there are four tables. */
const FEW_CELLS: u32 = 1 << 13;
/** Bits of a sum: ROWS values of 31 bits fit. */
const SUM_BITS: u64 = 47;

const CELL: u32 = UNPACKED_END;
const BITS: u32 = CELL + 4 * ROWS;
const TABLE: u32 = BITS + ROWS / 8 + PAD;
const COUNT: u32 = TABLE + 4 * CODES;
const SUM: u32 = COUNT + 4 * CELLS + PAD;
const LEAST: u32 = SUM + 8 * SUMS;
const GREATEST: u32 = LEAST + 4 * SUMS;
const RUN_END: u32 = GREATEST + 4 * SUMS;
const RUN_CELL: u32 = RUN_END + 4 * ROWS;
const GROUP: u32 = RUN_CELL + 4 * ROWS + PAD;
const PAIR_ROW: u32 = GROUP + 4 * CELLS + PAD;
const PAIR_GROUP: u32 = PAIR_ROW + 4 * ROWS + PAD;
const END: u32 = PAIR_GROUP + 4 * ROWS + PAD;

/** Where the regions are that tally.as.ts uses too, and where all end. */
export {
  BITS as PACKED_BITS,
  CELL as PACKED_CELL,
  CELLS as PACKED_CELLS,
  COUNT as PACKED_COUNT,
  END as PACKED_END,
  RUN_CELL as PACKED_RUN_CELL,
};

// Accessors: one a region. `assert` is there in the checked build alone.
// @inline
function setCells(row: u32, cells: v128): void {
  assert(row + 4 <= ROWS);
  v128.store(CELL + 4 * row, cells);
}
// @inline
function cellOf(row: u32): u32 {
  assert(row < ROWS);
  return load<u32>(CELL + 4 * row);
}
// @inline
function cellsOf(row: u32): v128 {
  assert(row + 4 <= ROWS);
  return v128.load(CELL + 4 * row);
}
// @inline
function setCell(row: u32, cell: u32): void {
  assert(row < ROWS);
  store<u32>(CELL + 4 * row, cell);
}
// @inline
function bitsOf(word: u32): u32 {
  assert(word < ROWS / WORD_BITS);
  return load<u32>(BITS + 4 * word);
}
/** The bits of half a group. */
// @inline
function halfBits(group: u32, half: u32): u64 {
  assert(group < ROWS / GROUP_ROWS && half < 2);
  return load<u64>(BITS + 16 * group + 8 * half);
}
// @inline
function setBits(group: u32, part: u32, bits: u32): void {
  assert(group < ROWS / GROUP_ROWS && part < 8);
  store<u16>(BITS + 16 * group + 2 * part, <u16>bits);
}
// @inline
function tablePlace(value: u32): u32 {
  assert(value < CODES);
  return TABLE + 4 * value;
}
// @inline
function tableOf(values: v128): v128 {
  let found = v128.load32_zero(tablePlace(i32x4.extract_lane(values, 0)));
  found = v128.load32_lane(tablePlace(i32x4.extract_lane(values, 1)), found, 1);
  found = v128.load32_lane(tablePlace(i32x4.extract_lane(values, 2)), found, 2);
  return v128.load32_lane(tablePlace(i32x4.extract_lane(values, 3)), found, 3);
}
// @inline
function isChosen(value: u32): u32 {
  assert(value < 4 * CODES);
  return load<u8>(TABLE + value);
}
// @inline
function setWord(word: u32, bits: u32): void {
  assert(word < ROWS / WORD_BITS);
  store<u32>(BITS + 4 * word, bits);
}
// @inline
function countRow(cell: u32): void {
  assert(cell < CELLS);
  const at = COUNT + 4 * cell;
  store<u32>(at, load<u32>(at) + 1);
}
// @inline
function countAt(cell: u32): u32 {
  assert(cell < CELLS);
  return load<u32>(COUNT + 4 * cell);
}
// @inline
function setCount(cell: u32, count: u32): void {
  assert(cell < CELLS);
  store<u32>(COUNT + 4 * cell, count);
}
// @inline
function sumAt(cell: u32): u64 {
  assert(cell < SUMS);
  return load<u64>(SUM + 8 * cell);
}
// @inline
function setSum(cell: u32, sum: u64): void {
  assert(cell < SUMS);
  store<u64>(SUM + 8 * cell, sum);
}
// @inline
function setTotal(cell: u32, total: f64): void {
  assert(cell < SUMS);
  store<f64>(SUM + 8 * cell, total);
}
// @inline
function boundsPlace(cell: u32): u32 {
  assert(cell < SUMS);
  return 4 * cell;
}
// @inline
function runEnd(run: u32): u32 {
  assert(run < ROWS);
  return load<u32>(RUN_END + 4 * run);
}
// @inline
function runCell(run: u32): u32 {
  assert(run < ROWS);
  return load<u32>(RUN_CELL + 4 * run);
}
// @inline
function groupOf(cell: u32): u32 {
  assert(cell < CELLS);
  return load<u32>(GROUP + 4 * cell);
}
// @inline
function setPair(at: u32, row: u32, group: u32): void {
  assert(at < ROWS);
  store<u32>(PAIR_ROW + 4 * at, row);
  store<u32>(PAIR_GROUP + 4 * at, group);
}

/** A bit for each of four values, set when it is chosen. */
// @inline
function chosenOf(values: v128): u32 {
  const low =
    isChosen(i32x4.extract_lane(values, 0)) | (isChosen(i32x4.extract_lane(values, 1)) << 1);
  const high =
    isChosen(i32x4.extract_lane(values, 2)) | (isChosen(i32x4.extract_lane(values, 3)) << 1);
  return low | (high << 2);
}

/** A bit for each of four vectors of values, set when it is from `low` on no further than `span`. */
// @inline
function within(at: u32, low: v128, span: v128): u32 {
  const a = i32x4.le_u(i32x4.sub(unpackedVector(at), low), span);
  const b = i32x4.le_u(i32x4.sub(unpackedVector(at + VECTOR), low), span);
  const c = i32x4.le_u(i32x4.sub(unpackedVector(at + 2 * VECTOR), low), span);
  const d = i32x4.le_u(i32x4.sub(unpackedVector(at + 3 * VECTOR), low), span);
  const left = i16x8.narrow_i32x4_s(a, b);
  return i8x16.bitmask(i8x16.narrow_i16x8_s(left, i16x8.narrow_i32x4_s(c, d)));
}

/** The same of values up to 255, which are compared as bytes. */
// @inline
function withinBytes(at: u32, low: v128, span: v128): u32 {
  const left = i16x8.narrow_i32x4_s(unpackedVector(at), unpackedVector(at + VECTOR));
  const right = i16x8.narrow_i32x4_s(
    unpackedVector(at + 2 * VECTOR),
    unpackedVector(at + 3 * VECTOR),
  );
  return i8x16.bitmask(i8x16.le_u(i8x16.sub(i8x16.narrow_i16x8_u(left, right), low), span));
}

/** Unpacks `count` values, each more `base`, into the cells of rows. Returns the greatest. */
export function packedUnpack(count: u32, width: u32, base: u32): u32 {
  const more = i32x4.splat(base);
  let greatest = i32x4.splat(0);
  for (let group: u32 = 0; group * GROUP_ROWS < count; group++) {
    unpackGroup(group, width);
    clearExcess(group, count);
    for (let at: u32 = 0; at < GROUP_ROWS; at += 4) {
      const values = unpackedVector(4 * at);
      greatest = i32x4.max_u(greatest, values);
      setCells(group * GROUP_ROWS + at, i32x4.add(values, more));
    }
  }
  return greatestOf(greatest) + base;
}

function greatestOf(values: v128): u32 {
  const left = max<u32>(i32x4.extract_lane(values, 0), i32x4.extract_lane(values, 1));
  const right = max<u32>(i32x4.extract_lane(values, 2), i32x4.extract_lane(values, 3));
  return max(left, right);
}

/** Sets the bits of those of `count` packed values that are from `first` to `last`. */
export function packedFind(count: u32, width: u32, first: u32, last: u32): void {
  if (width <= 8 && !hasPatches() && first < 256) {
    const low = i8x16.splat(<i8>first);
    const span = i8x16.splat(<i8>(min<u32>(last, 255) - first));
    for (let group: u32 = 0; group * GROUP_ROWS < count; group++) {
      unpackGroup(group, width);
      for (let part: u32 = 0; part < 8; part++)
        setBits(group, part, withinBytes(4 * VECTOR * part, low, span));
    }
    return;
  }
  const low = i32x4.splat(first);
  const span = i32x4.splat(last - first);
  for (let group: u32 = 0; group * GROUP_ROWS < count; group++) {
    unpackGroup(group, width);
    for (let part: u32 = 0; part < 8; part++)
      setBits(group, part, within(4 * VECTOR * part, low, span));
  }
}

/** The bits of rows from `from` up to `to`, all of the same 64 rows. */
// @inline
function bitsBetween(from: u32, to: u32): u64 {
  const bits = halfBits(from / GROUP_ROWS, (from / 64) & 1);
  return bits & ((<u64>-1) << (<u64>(from & 63))) & (<u64>-1 >> <u64>(63 - ((to - 1) & 63)));
}

/** Counts the rows of the bits by run, of which there are `runCount`. */
export function packedCountRuns(runCount: u32): void {
  let row: u32 = 0;
  for (let run: u32 = 0; run < runCount; run++) {
    const end = runEnd(run);
    let count: u64 = 0;
    while (row < end) {
      const next = min((row & ~63) + 64, end);
      count += popcnt(bitsBetween(row, next));
      row = next;
    }
    setCount(run, <u32>count);
  }
}

/** Sets the bits of those of `count` packed values that the table has chosen up to `last`. Returns the greatest. */
export function packedChoose(count: u32, width: u32, last: u32): u32 {
  const most = i32x4.splat(last);
  let greatest = i32x4.splat(0);
  for (let group: u32 = 0; group * GROUP_ROWS < count; group++) {
    unpackGroup(group, width);
    clearExcess(group, count);
    for (let from: u32 = 0; from < GROUP_ROWS; from += WORD_BITS) {
      let bits: u32 = 0;
      for (let at: u32 = 0; at < WORD_BITS; at += 4) {
        const values = unpackedVector(4 * (from + at));
        greatest = i32x4.max_u(greatest, values);
        bits |= chosenOf(i32x4.min_u(values, most)) << at;
      }
      setWord((group * GROUP_ROWS + from) / WORD_BITS, bits);
    }
  }
  return greatestOf(greatest);
}

/** Sets the cells of rows to those of their runs. */
export function packedRuns(runCount: u32): void {
  let row: u32 = 0;
  for (let run: u32 = 0; run < runCount; run++) {
    const end = runEnd(run);
    const cell = runCell(run);
    const cells = i32x4.splat(cell);
    for (; row + 4 <= end; row += 4) setCells(row, cells);
    for (; row < end; row++) setCell(row, cell);
  }
}

// @inline
function hasRows(group: u32): bool {
  return (halfBits(group, 0) | halfBits(group, 1)) !== 0;
}

/** Adds to the cells of `count` rows what the table has for their packed values, at `last` for greater ones. */
export function packedAdd(count: u32, width: u32, last: u32): void {
  const most = i32x4.splat(last);
  for (let group: u32 = 0; group * GROUP_ROWS < count; group++) {
    if (!hasRows(group)) continue;
    unpackGroup(group, width);
    const first = group * GROUP_ROWS;
    for (let at: u32 = 0; at < GROUP_ROWS; at += 4) {
      const values = i32x4.min_u(unpackedVector(4 * at), most);
      setCells(first + at, i32x4.add(cellsOf(first + at), tableOf(values)));
    }
  }
}

/** Adds to the cells of `count` rows their packed values times `step`, `last` in place of greater ones. */
export function packedMultiply(count: u32, width: u32, last: u32, step: u32): void {
  const most = i32x4.splat(last);
  const steps = i32x4.splat(step);
  for (let group: u32 = 0; group * GROUP_ROWS < count; group++) {
    if (!hasRows(group)) continue;
    unpackGroup(group, width);
    const first = group * GROUP_ROWS;
    for (let at: u32 = 0; at < GROUP_ROWS; at += 4) {
      const values = i32x4.mul(i32x4.min_u(unpackedVector(4 * at), most), steps);
      setCells(first + at, i32x4.add(cellsOf(first + at), values));
    }
  }
}

/** Counts the rows of the bits by cell. */
export function packedCount(rowCount: u32, cellCount: u32): void {
  const stride: u32 = cellCount <= FEW_CELLS ? cellCount : 0;
  memory.fill(COUNT, 0, 4 * max(cellCount, 4 * stride));
  for (let group: u32 = 0; group * GROUP_ROWS < rowCount; group++) {
    const first = group * GROUP_ROWS;
    if ((halfBits(group, 0) & halfBits(group, 1)) === <u64>-1) {
      for (let row = first; row < first + GROUP_ROWS; row += 4) {
        countRow(cellOf(row));
        countRow(cellOf(row + 1) + stride);
        countRow(cellOf(row + 2) + 2 * stride);
        countRow(cellOf(row + 3) + 3 * stride);
      }
      continue;
    }
    for (let half: u32 = 0; half < 2; half++)
      for (let bits = halfBits(group, half); bits !== 0; bits &= bits - 1)
        countRow(cellOf(first + 64 * half + <u32>ctz(bits)));
  }
  if (stride === 0) return;
  for (let cell: u32 = 0; cell < cellCount; cell++) {
    const low = countAt(cell) + countAt(cell + stride);
    setCount(cell, low + countAt(cell + 2 * stride) + countAt(cell + 3 * stride));
  }
}

/** Puts a row behind the pairs; one more than before when its cell has a group, without a branch. */
// @inline
function pairRow(count: u32, row: u32): u32 {
  const group = groupOf(cellOf(row));
  setPair(count, row, group - 1);
  return count + (group === 0 ? 0 : 1);
}

/** Makes pairs of the rows of the bits whose cell has a group; their number. */
export function packedPairs(rowCount: u32): u32 {
  let count: u32 = 0;
  for (let from: u32 = 0; from < rowCount; from += WORD_BITS) {
    let bits = bitsOf(from / WORD_BITS);
    if (bits === 0xffffffff) {
      for (let row = from; row < from + WORD_BITS; row++) count = pairRow(count, row);
      continue;
    }
    for (; bits !== 0; bits &= bits - 1) count = pairRow(count, from + ctz(bits));
  }
  return count;
}

// @inline
function addTo(cell: u32, value: u32): void {
  setSum(cell, sumAt(cell) + (((<u64>1) << SUM_BITS) + value));
}

// @inline
function widen(cell: u32, value: u32): void {
  const at = boundsPlace(cell);
  store<u32>(LEAST + at, min(load<u32>(LEAST + at), value));
  store<u32>(GREATEST + at, max(load<u32>(GREATEST + at), value));
}

/**
 * Adds the packed values of the rows of the bits to the sums of their cells, which are f64 then, and counts these rows;
 * `withBounds` finds the least and greatest values too.
 */
export function packedSum(rowCount: u32, width: u32, cellCount: u32, withBounds: bool): void {
  const stride: u32 = cellCount <= FEW_CELLS ? cellCount : 0;
  memory.fill(SUM, 0, 8 * max(cellCount, 4 * stride));
  if (withBounds) {
    memory.fill(LEAST, 0xff, 4 * cellCount);
    memory.fill(GREATEST, 0, 4 * cellCount);
  }
  for (let group: u32 = 0; group * GROUP_ROWS < rowCount; group++) {
    if (!hasRows(group)) continue;
    unpackGroup(group, width);
    const first = group * GROUP_ROWS;
    if ((halfBits(group, 0) & halfBits(group, 1)) === <u64>-1) {
      for (let at: u32 = 0; at < GROUP_ROWS; at += 4) {
        const row = first + at;
        addTo(cellOf(row), unpackedOne(at));
        addTo(cellOf(row + 1) + stride, unpackedOne(at + 1));
        addTo(cellOf(row + 2) + 2 * stride, unpackedOne(at + 2));
        addTo(cellOf(row + 3) + 3 * stride, unpackedOne(at + 3));
      }
    } else {
      for (let half: u32 = 0; half < 2; half++)
        for (let bits = halfBits(group, half); bits !== 0; bits &= bits - 1) {
          const at = 64 * half + <u32>ctz(bits);
          addTo(cellOf(first + at), unpackedOne(at));
        }
    }
    if (!withBounds) continue;
    for (let half: u32 = 0; half < 2; half++)
      for (let bits = halfBits(group, half); bits !== 0; bits &= bits - 1) {
        const at = 64 * half + <u32>ctz(bits);
        widen(cellOf(first + at), unpackedOne(at));
      }
  }
  for (let cell: u32 = 0; cell < cellCount; cell++) {
    let sum = sumAt(cell);
    if (stride !== 0)
      sum += sumAt(cell + stride) + sumAt(cell + 2 * stride) + sumAt(cell + 3 * stride);
    setCount(cell, <u32>(sum >> SUM_BITS));
    setTotal(cell, <f64>(sum & (((<u64>1) << SUM_BITS) - 1)));
  }
}

/** Offset of a region, or a limit, by its number in packed-kernel.ts. */
export function packedPlace(number: u32): u32 {
  if (number === 0) return PACKED_WORDS;
  if (number === 1) return BITS;
  if (number === 2) return TABLE;
  if (number === 3) return COUNT;
  if (number === 4) return SUM;
  if (number === 5) return RUN_END;
  if (number === 6) return RUN_CELL;
  if (number === 7) return GROUP;
  if (number === 8) return PAIR_ROW;
  if (number === 9) return PAIR_GROUP;
  if (number === 10) return CODES;
  if (number === 11) return CELLS;
  if (number === 12) return SUMS;
  if (number === 13) return CELL;
  if (number === 14) return LEAST;
  if (number === 15) return GREATEST;
  return number === 16 ? PATCH_PLACE : PATCH_HIGH;
}
