/**
 * Kernel of scans over the packed values of a block, compiled to WebAssembly; the plain forms are in plain-scan.ts.
 * Its memory is private to one instance; regions are fixed and follow each other:
 *
 * | region | holds |
 * |---|---|
 * | packed | words of a column as bitpack.ts packs them, and a pad that vectors may read |
 * | unpacked | the values (u32) of a group of 128 |
 * | cell | of each row its cell (u32) |
 * | bits | a bit a row: the rows that count, or those that were found |
 * | table | by value of a column, what is added to the cells of rows that have it (u32), or 1 when it is chosen (u8) |
 * | count | rows by cell (u32), last those of no cell |
 * | sum | by cell 16 bytes: sum (u64, at the end f64), least and greatest value (u32) |
 * | run end, run cell | of each run of rows the row behind it, and its cell (u32) |
 * | group | by cell the group (u32) + 1, or 0 |
 * | patch place, patch high | of each patched value its place, ascending, and what is added to it (u32) |
 * | pair row, pair group | rows that have a group, with it (u32) |
 */

const VECTOR: u32 = 16;
const WORD_BITS: u32 = 32;
const ROWS: u32 = 1 << 16;
const GROUP_ROWS: u32 = 128;
const PAD: u32 = 64;
const CODES: u32 = 1 << 18;
const CELLS: u32 = 1 << 20;
const SUMS: u32 = 1 << 16;
const SUM_BYTES: u32 = 16;

const PACKED: u32 = 1024;
const UNPACKED: u32 = PACKED + 4 * ROWS + PAD;
const CELL: u32 = UNPACKED + 4 * GROUP_ROWS;
const BITS: u32 = CELL + 4 * ROWS;
const TABLE: u32 = BITS + ROWS / 8 + PAD;
const COUNT: u32 = TABLE + 4 * CODES;
const SUM: u32 = COUNT + 4 * CELLS + PAD;
const RUN_END: u32 = SUM + SUM_BYTES * SUMS;
const RUN_CELL: u32 = RUN_END + 4 * ROWS;
const GROUP: u32 = RUN_CELL + 4 * ROWS + PAD;
const PAIR_ROW: u32 = GROUP + 4 * CELLS + PAD;
const PAIR_GROUP: u32 = PAIR_ROW + 4 * ROWS + PAD;
const PATCH_PLACE: u32 = PAIR_GROUP + 4 * ROWS + PAD;
const PATCH_HIGH: u32 = PATCH_PLACE + 4 * ROWS;
const END: u32 = PATCH_HIGH + 4 * ROWS + PAD;

// Accessors: one a region. `assert` is there in the checked build alone.
function packedVector(at: u32): v128 {
  assert(at + VECTOR <= 4 * ROWS + PAD);
  return v128.load(PACKED + at);
}
function unpackedVector(at: u32): v128 {
  assert(at + VECTOR <= 4 * GROUP_ROWS);
  return v128.load(UNPACKED + at);
}
function setUnpacked(at: u32, values: v128): void {
  assert(at + VECTOR <= 4 * GROUP_ROWS);
  v128.store(UNPACKED + at, values);
}
function unpackedOne(at: u32): u32 {
  assert(at < GROUP_ROWS);
  return load<u32>(UNPACKED + 4 * at);
}
function setUnpackedOne(at: u32, value: u32): void {
  assert(at < GROUP_ROWS);
  store<u32>(UNPACKED + 4 * at, value);
}
function setCells(row: u32, cells: v128): void {
  assert(row + 4 <= ROWS);
  v128.store(CELL + 4 * row, cells);
}
function cellOf(row: u32): u32 {
  assert(row < ROWS);
  return load<u32>(CELL + 4 * row);
}
function cellsOf(row: u32): v128 {
  assert(row + 4 <= ROWS);
  return v128.load(CELL + 4 * row);
}
function setCell(row: u32, cell: u32): void {
  assert(row < ROWS);
  store<u32>(CELL + 4 * row, cell);
}
function bitsOf(word: u32): u32 {
  assert(word < ROWS / WORD_BITS);
  return load<u32>(BITS + 4 * word);
}
function setBits(group: u32, part: u32, bits: u32): void {
  assert(group < ROWS / GROUP_ROWS && part < 8);
  store<u16>(BITS + 16 * group + 2 * part, <u16>bits);
}
function tablePlace(value: u32): u32 {
  assert(value < CODES);
  return TABLE + 4 * value;
}
function tableOf(values: v128): v128 {
  let found = v128.load32_zero(tablePlace(i32x4.extract_lane(values, 0)));
  found = v128.load32_lane(tablePlace(i32x4.extract_lane(values, 1)), found, 1);
  found = v128.load32_lane(tablePlace(i32x4.extract_lane(values, 2)), found, 2);
  return v128.load32_lane(tablePlace(i32x4.extract_lane(values, 3)), found, 3);
}
function isChosen(value: u32): u32 {
  assert(value < 4 * CODES);
  return load<u8>(TABLE + value);
}
function setWord(word: u32, bits: u32): void {
  assert(word < ROWS / WORD_BITS);
  store<u32>(BITS + 4 * word, bits);
}
function countRow(cell: u32): void {
  assert(cell <= CELLS);
  const at = COUNT + 4 * cell;
  store<u32>(at, load<u32>(at) + 1);
}
function sumAt(cell: u32): u32 {
  assert(cell < SUMS);
  return SUM + SUM_BYTES * cell;
}
function runEnd(run: u32): u32 {
  assert(run < ROWS);
  return load<u32>(RUN_END + 4 * run);
}
function runCell(run: u32): u32 {
  assert(run < ROWS);
  return load<u32>(RUN_CELL + 4 * run);
}
function setRunCell(run: u32, cell: u32): void {
  assert(run <= ROWS);
  store<u32>(RUN_CELL + 4 * run, cell);
}
function countAt(cell: u32): u32 {
  assert(cell <= CELLS);
  return load<u32>(COUNT + 4 * cell);
}
function setCount(cell: u32, count: u32): void {
  assert(cell <= CELLS);
  store<u32>(COUNT + 4 * cell, count);
}
function patchPlace(at: u32): u32 {
  assert(at < ROWS);
  return load<u32>(PATCH_PLACE + 4 * at);
}
function patchHigh(at: u32): u32 {
  assert(at < ROWS);
  return load<u32>(PATCH_HIGH + 4 * at);
}
function groupOf(cell: u32): u32 {
  assert(cell <= CELLS);
  return load<u32>(GROUP + 4 * cell);
}
function setPair(at: u32, row: u32, group: u32): void {
  assert(at < ROWS);
  store<u32>(PAIR_ROW + 4 * at, row);
  store<u32>(PAIR_GROUP + 4 * at, group);
}

/** Patches of the packed values, and the first of them that is behind the group that was unpacked last. */
let patchCount: u32 = 0;
let nextPatch: u32 = 0;

/** Takes the number of patches of the values that were put into the memory. */
export function packedPatch(count: u32): void {
  patchCount = count;
}

/** Adds the patches of a group: groups are unpacked from the first one on. */
function patchGroup(group: u32): void {
  if (group === 0) nextPatch = 0;
  const first = group * GROUP_ROWS;
  for (; nextPatch < patchCount; nextPatch++) {
    const at = patchPlace(nextPatch) - first;
    if (at >= GROUP_ROWS) return;
    setUnpackedOne(at, unpackedOne(at) + patchHigh(nextPatch));
  }
}

/** Unpacks a group of 128 values. What lies behind the last values of a column are anything. */
function unpackGroup(group: u32, width: u32): void {
  const mask = i32x4.splat(width === WORD_BITS ? -1 : (1 << width) - 1);
  let from = group * width * VECTOR;
  let shift: u32 = 0;
  for (let to: u32 = 0; to < 4 * GROUP_ROWS; to += VECTOR) {
    let values = i32x4.shr_u(packedVector(from), shift);
    const end = shift + width;
    if (end > WORD_BITS) {
      values = v128.or(values, i32x4.shl(packedVector(from + VECTOR), WORD_BITS - shift));
    }
    setUnpacked(to, v128.and(values, mask));
    from += (end / WORD_BITS) * VECTOR;
    shift = end % WORD_BITS;
  }
  if (patchCount !== 0) patchGroup(group);
}

/** A bit for each of four values, set when it is chosen. */
function chosenOf(values: v128): u32 {
  const low =
    isChosen(i32x4.extract_lane(values, 0)) | (isChosen(i32x4.extract_lane(values, 1)) << 1);
  const high =
    isChosen(i32x4.extract_lane(values, 2)) | (isChosen(i32x4.extract_lane(values, 3)) << 1);
  return low | (high << 2);
}

/** A bit for each of four vectors of values, set when it is from `low` on no further than `span`. */
function within(at: u32, low: v128, span: v128): u32 {
  const a = i32x4.le_u(i32x4.sub(unpackedVector(at), low), span);
  const b = i32x4.le_u(i32x4.sub(unpackedVector(at + VECTOR), low), span);
  const c = i32x4.le_u(i32x4.sub(unpackedVector(at + 2 * VECTOR), low), span);
  const d = i32x4.le_u(i32x4.sub(unpackedVector(at + 3 * VECTOR), low), span);
  const left = i16x8.narrow_i32x4_s(a, b);
  return i8x16.bitmask(i8x16.narrow_i16x8_s(left, i16x8.narrow_i32x4_s(c, d)));
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

/** Makes 0 what lies behind the last of `count` values in its group. */
function clearExcess(group: u32, count: u32): void {
  for (let at = count - group * GROUP_ROWS; at < GROUP_ROWS; at++) setUnpackedOne(at, 0);
}

/** Sets the bits of those of `count` packed values that are from `first` to `last`. */
export function packedFind(count: u32, width: u32, first: u32, last: u32): void {
  const low = i32x4.splat(first);
  const span = i32x4.splat(last - first);
  for (let group: u32 = 0; group * GROUP_ROWS < count; group++) {
    unpackGroup(group, width);
    for (let part: u32 = 0; part < 8; part++)
      setBits(group, part, within(4 * VECTOR * part, low, span));
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

/** Adds to the cells of `count` rows what the table has for their packed values, at `last` for greater ones. */
export function packedAdd(count: u32, width: u32, last: u32): void {
  const most = i32x4.splat(last);
  for (let group: u32 = 0; group * GROUP_ROWS < count; group++) {
    unpackGroup(group, width);
    const first = group * GROUP_ROWS;
    for (let at: u32 = 0; at < GROUP_ROWS; at += 4) {
      const values = i32x4.min_u(unpackedVector(4 * at), most);
      setCells(first + at, i32x4.add(cellsOf(first + at), tableOf(values)));
    }
  }
}

/** Counts the rows of the bits by cell; those of cells from `cellCount` on together. Returns these. */
export function packedCount(rowCount: u32, cellCount: u32): u32 {
  memory.fill(COUNT, 0, 4 * cellCount + 4);
  for (let from: u32 = 0; from < rowCount; from += WORD_BITS) {
    let bits = bitsOf(from / WORD_BITS);
    if (bits === 0xffffffff) {
      for (let row = from; row < from + WORD_BITS; row++) countRow(min(cellOf(row), cellCount));
      continue;
    }
    for (; bits !== 0; bits &= bits - 1) countRow(min(cellOf(from + ctz(bits)), cellCount));
  }
  return load<u32>(COUNT + 4 * cellCount);
}

/** Makes pairs of the rows of the bits whose cell has a group; their number. Cells from `cellCount` on have none. */
export function packedPairs(rowCount: u32, cellCount: u32): u32 {
  let count: u32 = 0;
  for (let from: u32 = 0; from < rowCount; from += WORD_BITS) {
    for (let bits = bitsOf(from / WORD_BITS); bits !== 0; bits &= bits - 1) {
      const row = from + ctz(bits);
      const group = groupOf(min(cellOf(row), cellCount));
      if (group === 0) continue;
      setPair(count++, row, group - 1);
    }
  }
  return count;
}

/** Empties the sums of the first cells. */
function clearSums(cellCount: u32): void {
  for (let cell: u32 = 0; cell < cellCount; cell++) {
    const at = sumAt(cell);
    store<u64>(at, 0);
    store<u32>(at, 0xffffffff, 8);
    store<u32>(at, 0, 12);
  }
}

function addTo(cell: u32, cellCount: u32, value: u32): void {
  if (cell >= cellCount) return;
  const at = sumAt(cell);
  store<u64>(at, load<u64>(at) + value);
  store<u32>(at, min(load<u32>(at, 8), value), 8);
  store<u32>(at, max(load<u32>(at, 12), value), 12);
}

/** Adds the packed values of the rows of the bits to the sums of their cells, which are f64 then. */
export function packedSum(rowCount: u32, width: u32, cellCount: u32): void {
  clearSums(cellCount);
  for (let group: u32 = 0; group * GROUP_ROWS < rowCount; group++) {
    unpackGroup(group, width);
    const first = group * GROUP_ROWS;
    for (let from: u32 = 0; from < GROUP_ROWS && first + from < rowCount; from += WORD_BITS) {
      let bits = bitsOf((first + from) / WORD_BITS);
      if (bits === 0xffffffff) {
        for (let at = from; at < from + WORD_BITS; at++)
          addTo(cellOf(first + at), cellCount, unpackedOne(at));
        continue;
      }
      for (; bits !== 0; bits &= bits - 1) {
        const at = from + ctz(bits);
        addTo(cellOf(first + at), cellCount, unpackedOne(at));
      }
    }
  }
  for (let cell: u32 = 0; cell < cellCount; cell++) {
    const at = sumAt(cell);
    store<f64>(at, <f64>load<u64>(at));
  }
}

/** Codes of the last tally, which lie in the cells of runs, and what is known of them. */
let tallied: u32 = 0;
let tallyTotal: u64 = 0;
let tallyRows: u32 = 0;
let tallyLeast: u32 = 0;
let tallyGreatest: u32 = 0;

/** Empties the counts of codes up to `greatest` for tallies. */
export function packedOpen(greatest: u32): void {
  memory.fill(COUNT, 0, 4 * greatest + 4);
  tallied = 0;
}

function tallyRow(row: u32): void {
  const code = cellOf(row);
  const times = countAt(code);
  setCount(code, times + 1);
  // A place further when it was 0, without a branch.
  setRunCell(tallied, code);
  tallied += times === 0 ? 1 : 0;
}

/** Counts the codes, which lie in the cells, of the rows of the bits from `from` up to `to`. Returns the codes. */
export function packedTally(from: u32, to: u32): u32 {
  for (let at: u32 = 0; at < tallied; at++) setCount(runCell(at), 0);
  tallied = 0;
  for (let row = from; row < to; ) {
    const first = row & ~(WORD_BITS - 1);
    const end = min(first + WORD_BITS, to);
    let bits = bitsOf(first / WORD_BITS) & ((<u32>-1) << (row - first));
    if (end - first < WORD_BITS) bits &= (1 << (end - first)) - 1;
    if (bits === 0xffffffff) for (; row < end; row++) tallyRow(row);
    else for (; bits !== 0; bits &= bits - 1) tallyRow(first + ctz(bits));
    row = end;
  }
  tallyTotal = 0;
  tallyRows = 0;
  tallyLeast = 0xffffffff;
  tallyGreatest = 0;
  for (let at: u32 = 0; at < tallied; at++) {
    const code = runCell(at);
    tallyTotal += <u64>code * countAt(code);
    if (code !== 0) {
      tallyRows += countAt(code);
      tallyLeast = min(tallyLeast, code);
    }
    tallyGreatest = max(tallyGreatest, code);
  }
  return tallied;
}

/** Facts of the last tally: sum of codes, rows of codes above 0, least code above 0, greatest code. */
export function packedTallied(number: u32): f64 {
  if (number === 0) return <f64>tallyTotal;
  if (number === 1) return <f64>tallyRows;
  return number === 2 ? <f64>tallyLeast : <f64>tallyGreatest;
}

/** Makes room for all regions; 0 when there is none. */
export function packedBegin(): u32 {
  const wanted = <i32>((END + 0xffff) >> 16);
  return memory.size() >= wanted || memory.grow(wanted - memory.size()) >= 0 ? 1 : 0;
}

/** Offset of a region, or a limit, by its number in scan-kernel.ts. */
export function packedPlace(number: u32): u32 {
  if (number === 0) return PACKED;
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
  if (number === 14) return PATCH_PLACE;
  return PATCH_HIGH;
}
