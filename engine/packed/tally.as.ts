import {
  PACKED_BITS,
  PACKED_CELL,
  PACKED_CELLS,
  PACKED_COUNT,
  PACKED_END,
  PACKED_RUN_CELL,
} from './packed.as.ts';
import {
  PACKED_ROWS as ROWS,
  PACKED_VECTOR as VECTOR,
  PACKED_WORD_BITS as WORD_BITS,
} from './unpack.as.ts';

/**
 * Tallies of the codes of rows, a part of the kernel in packed.as.ts: the codes lie in its region of cells, the rows
 * that count in that of bits. The plain form is in plain-tally.ts. Regions beside those that follow:
 *
 * | region | holds |
 * |---|---|
 * | count, run cell | of the kernel: how often codes are there (u32), and the codes of the last tally |
 * | rank | by code its rank (u16), which several may have; 0 of code 0 |
 * | spread | rows by rank (u32) |
 */

/** Codes are below, and ranks. */
const CODES: u32 = (1 << 16) + 1;

const RANK: u32 = (PACKED_END + VECTOR - 1) & ~(VECTOR - 1);
const SPREAD: u32 = (RANK + 2 * CODES + VECTOR - 1) & ~(VECTOR - 1);
const END: u32 = SPREAD + 4 * CODES + VECTOR;

// Accessors: one a region. `assert` is there in the checked build alone.
// @inline
function codeOf(row: u32): u32 {
  assert(row < ROWS);
  return load<u32>(PACKED_CELL + 4 * row);
}
// @inline
function codesOf(row: u32): v128 {
  assert(row + 4 <= ROWS);
  return v128.load(PACKED_CELL + 4 * row);
}
// @inline
function bitsOf(word: u32): u32 {
  assert(word < ROWS / WORD_BITS);
  return load<u32>(PACKED_BITS + 4 * word);
}
// @inline
function timesOf(code: u32): u32 {
  assert(code < PACKED_CELLS);
  return load<u32>(PACKED_COUNT + 4 * code);
}
// @inline
function setTimes(code: u32, times: u32): void {
  assert(code < PACKED_CELLS);
  store<u32>(PACKED_COUNT + 4 * code, times);
}
// @inline
function foundAt(at: u32): u32 {
  assert(at < ROWS);
  return load<u32>(PACKED_RUN_CELL + 4 * at);
}
// @inline
function setFound(at: u32, code: u32): void {
  assert(at <= ROWS);
  store<u32>(PACKED_RUN_CELL + 4 * at, code);
}
// @inline
function rankOf(code: u32): u32 {
  assert(code < CODES);
  return load<u16>(RANK + 2 * code);
}
// @inline
function spreadAt(rank: u32): u32 {
  assert(rank < CODES);
  return load<u32>(SPREAD + 4 * rank);
}
// @inline
function spreadsAt(rank: u32): v128 {
  assert(rank < CODES);
  return v128.load(SPREAD + 4 * rank);
}
// @inline
function setSpread(rank: u32, count: u32): void {
  assert(rank < CODES);
  store<u32>(SPREAD + 4 * rank, count);
}

/** Codes of the last tally, and what is known of its rows. */
let found: u32 = 0;
let total: u64 = 0;
let rowCount: u32 = 0;
let least: u32 = 0;
let greatest: u32 = 0;
/** Ranks up to which the last spread may have counted. */
let spreadEnd: u32 = CODES;

/** Empties the counts of codes up to `last` for tallies. */
export function packedOpen(last: u32): void {
  memory.fill(PACKED_COUNT, 0, 4 * last + 4);
  found = 0;
}

/** The bits of the rows from `row` on up to `end` that are in one word. */
// @inline
function bitsFrom(row: u32, end: u32): u32 {
  const first = row & ~(WORD_BITS - 1);
  const bits = bitsOf(first / WORD_BITS) & ((<u32>-1) << (row - first));
  return end - first < WORD_BITS ? bits & ((1 << (end - first)) - 1) : bits;
}

// @inline
function tallyRow(row: u32): void {
  const code = codeOf(row);
  const times = timesOf(code);
  setTimes(code, times + 1);
  // A place further when it was 0, without a branch.
  setFound(found, code);
  found += times === 0 ? 1 : 0;
}

/** Counts the codes of the rows of the bits from `from` up to `to`. Returns how many codes there are. */
export function packedTally(from: u32, to: u32): u32 {
  for (let at: u32 = 0; at < found; at++) setTimes(foundAt(at), 0);
  found = 0;
  for (let row = from; row < to; ) {
    const first = row & ~(WORD_BITS - 1);
    const end = min(first + WORD_BITS, to);
    let bits = bitsFrom(row, end);
    if (bits === 0xffffffff) for (; row < end; row++) tallyRow(row);
    else for (; bits !== 0; bits &= bits - 1) tallyRow(first + ctz(bits));
    row = end;
  }
  total = 0;
  rowCount = 0;
  least = 0xffffffff;
  greatest = 0;
  for (let at: u32 = 0; at < found; at++) {
    const code = foundAt(at);
    total += <u64>code * timesOf(code);
    if (code !== 0) {
      rowCount += timesOf(code);
      least = min(least, code);
    }
    greatest = max(greatest, code);
  }
  return found;
}

// @inline
function spreadRow(code: u32): void {
  const rank = rankOf(code);
  setSpread(rank, spreadAt(rank) + 1);
}

/** Counts the rows of the bits from `from` up to `to` by the ranks of their codes. Returns the rank of the greatest. */
export function packedSpread(from: u32, to: u32): u32 {
  memory.fill(SPREAD, 0, 4 * spreadEnd);
  let totals = i32x4.splat(0);
  let lowest = i32x4.splat(-1);
  let highest = i32x4.splat(0);
  const one = i32x4.splat(1);
  let rows: u32 = 0;
  for (let row = from; row < to; ) {
    const first = row & ~(WORD_BITS - 1);
    const end = min(first + WORD_BITS, to);
    let bits = bitsFrom(row, end);
    rows += popcnt(bits);
    if (bits === 0xffffffff) {
      for (; row < end; row += 4) {
        const codes = codesOf(row);
        totals = i32x4.add(totals, codes);
        // Code 0, which is none, is the greatest so.
        lowest = i32x4.min_u(lowest, i32x4.sub(codes, one));
        highest = i32x4.max_u(highest, codes);
        spreadRow(codeOf(row));
        spreadRow(codeOf(row + 1));
        spreadRow(codeOf(row + 2));
        spreadRow(codeOf(row + 3));
      }
      continue;
    }
    for (; bits !== 0; bits &= bits - 1) {
      const code = codeOf(first + ctz(bits));
      const codes = i32x4.replace_lane(i32x4.splat(0), 0, code);
      totals = i32x4.add(totals, codes);
      lowest = i32x4.min_u(lowest, i32x4.sub(codes, one));
      highest = i32x4.max_u(highest, codes);
      spreadRow(code);
    }
    row = end;
  }
  total = sumOf(totals);
  rowCount = rows - spreadAt(0);
  least = ~greatestOf(v128.not(lowest)) + 1;
  greatest = greatestOf(highest);
  const last = rankOf(greatest);
  spreadEnd = last + 1;
  return last;
}

/** The sum of four numbers of 32 bits without a sign. */
function sumOf(values: v128): u64 {
  const left = <u64>(<u32>i32x4.extract_lane(values, 0)) + <u32>i32x4.extract_lane(values, 1);
  return left + <u32>i32x4.extract_lane(values, 2) + <u32>i32x4.extract_lane(values, 3);
}

function greatestOf(values: v128): u32 {
  const left = max<u32>(i32x4.extract_lane(values, 0), i32x4.extract_lane(values, 1));
  const right = max<u32>(i32x4.extract_lane(values, 2), i32x4.extract_lane(values, 3));
  return max(left, right);
}

/** Ranks that the last spread has rows of. */
export function packedSpreadRanks(): u32 {
  const zero = i32x4.splat(0);
  let empty = zero;
  // Behind the last rank there are zeros.
  for (let rank: u32 = 0; rank < spreadEnd; rank += 4)
    empty = i32x4.sub(empty, i32x4.eq(spreadsAt(rank), zero));
  return ((spreadEnd + 3) & ~3) - <u32>sumOf(empty);
}

/** Facts of the last tally or spread: sum of codes, rows of codes above 0, least code above 0, greatest code. */
export function packedTallied(number: u32): f64 {
  if (number === 0) return <f64>total;
  if (number === 1) return <f64>rowCount;
  return number === 2 ? <f64>least : <f64>greatest;
}

/** Where the ranks and the counts of ranks are. */
export function packedRanks(number: u32): u32 {
  return number === 0 ? RANK : SPREAD;
}

/** Makes room for all regions, those of packed.as.ts too; 0 when there is none. */
export function packedBegin(): u32 {
  const wanted = <i32>((END + 0xffff) >> 16);
  return memory.size() >= wanted || memory.grow(wanted - memory.size()) >= 0 ? 1 : 0;
}
