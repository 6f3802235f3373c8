/**
 * Kernel of streams that are written, as integers.ts writes them. Its memory is private to one instance; regions are
 * fixed and follow each other:
 *
 * | region | holds |
 * |---|---|
 * | extent | least and greatest value, least and greatest step (f64) |
 * | values | numbers of a stream (f64) |
 * | low, high | numbers that are packed: their low 32 bits, and those above (u32), each in an array |
 * | words | what they are packed to (u32) |
 * | entries, rows | of each value of a column its entry and its row (u16), each in an array |
 * | numbers | of each entry its number + 1 among those that are used, or 0 (u16) |
 * | used | the entries that are used (u16) |
 *
 * Behind each region is a pad that vectors may read and write.
 */

const STREAM_COUNT: u32 = 1 << 16;
const STREAM_PAD: u32 = 64;
const STREAM_VECTOR: u32 = 16;
const STREAM_WORD_BITS: u32 = 32;
/** Values of a group, whose vectors are packed into words of their own. */
const STREAM_GROUP: u32 = 128;

const STREAM_EXTENT: u32 = 1024;
const STREAM_VALUES: u32 = STREAM_EXTENT + STREAM_PAD;
const STREAM_LOW: u32 = STREAM_VALUES + 8 * STREAM_COUNT + STREAM_PAD;
const STREAM_HIGH: u32 = STREAM_LOW + 4 * STREAM_COUNT + STREAM_PAD;
const STREAM_WORDS: u32 = STREAM_HIGH + 4 * STREAM_COUNT + STREAM_PAD;
const STREAM_ENTRIES: u32 = STREAM_WORDS + 4 * STREAM_COUNT + STREAM_PAD;
const STREAM_ROWS: u32 = STREAM_ENTRIES + 2 * STREAM_COUNT + STREAM_PAD;
const STREAM_NUMBERS: u32 = STREAM_ROWS + 2 * STREAM_COUNT + STREAM_PAD;
const STREAM_USED: u32 = STREAM_NUMBERS + 2 * STREAM_COUNT + STREAM_PAD;
const STREAM_END: u32 = STREAM_USED + 2 * STREAM_COUNT + STREAM_PAD;

// Accessors: one a region. `assert` is there in the checked build alone.
/** Address of a vector of values. */
function valuesAt(index: u32): u32 {
  assert(8 * index + STREAM_VECTOR <= 8 * STREAM_COUNT + STREAM_PAD);
  return STREAM_VALUES + 8 * index;
}
/** Address of a vector of the low or high bits, whose region is given. */
function bitsAt(region: u32, index: u32): u32 {
  assert(region === STREAM_LOW || region === STREAM_HIGH);
  assert(4 * index + STREAM_VECTOR <= 4 * STREAM_COUNT + STREAM_PAD);
  return region + 4 * index;
}
function wordsAt(at: u32): u32 {
  assert(at + STREAM_VECTOR <= 4 * STREAM_COUNT + STREAM_PAD);
  return STREAM_WORDS + at;
}
function entryOf(index: u32): u32 {
  assert(index < STREAM_COUNT);
  return load<u16>(STREAM_ENTRIES + 2 * index);
}
function rowOf(index: u32): u32 {
  assert(index < STREAM_COUNT);
  return load<u16>(STREAM_ROWS + 2 * index);
}
function numberOf(entry: u32): u32 {
  assert(entry < STREAM_COUNT);
  return load<u16>(STREAM_NUMBERS + 2 * entry);
}

let idMin: u32 = 0;
let idMax: u32 = 0;

/**
 * Finds the extent of the first `count` values, at least two; returns twice the count of runs, and 1 more when all are
 * whole numbers.
 */
export function streamExtent(count: u32): u32 {
  const first = f64x2.splat(load<f64>(valuesAt(0)));
  let least = first;
  let greatest = first;
  let leastStep = f64x2.splat(Infinity);
  let greatestStep = f64x2.splat(-Infinity);
  let changes = i64x2.splat(0);
  let whole = f64x2.eq(f64x2.floor(first), first);
  let index: u32 = 1;
  for (; index + 2 <= count; index += 2) {
    const values = v128.load(valuesAt(index));
    const steps = f64x2.sub(values, v128.load(valuesAt(index - 1)));
    least = f64x2.pmin(least, values);
    greatest = f64x2.pmax(greatest, values);
    leastStep = f64x2.pmin(leastStep, steps);
    greatestStep = f64x2.pmax(greatestStep, steps);
    changes = i64x2.sub(changes, f64x2.ne(steps, f64x2.splat(0)));
    whole = v128.and(whole, f64x2.eq(f64x2.floor(values), values));
  }
  if (index < count) {
    const value = load<f64>(valuesAt(index));
    const step = value - load<f64>(valuesAt(index - 1));
    least = f64x2.pmin(least, f64x2.splat(value));
    greatest = f64x2.pmax(greatest, f64x2.splat(value));
    leastStep = f64x2.pmin(leastStep, f64x2.splat(step));
    greatestStep = f64x2.pmax(greatestStep, f64x2.splat(step));
    if (step !== 0) changes = i64x2.replace_lane(changes, 0, i64x2.extract_lane(changes, 0) + 1);
    whole = v128.and(whole, f64x2.eq(f64x2.floor(f64x2.splat(value)), f64x2.splat(value)));
  }
  store<f64>(STREAM_EXTENT, min(f64x2.extract_lane(least, 0), f64x2.extract_lane(least, 1)));
  store<f64>(
    STREAM_EXTENT + 8,
    max(f64x2.extract_lane(greatest, 0), f64x2.extract_lane(greatest, 1)),
  );
  store<f64>(
    STREAM_EXTENT + 16,
    min(f64x2.extract_lane(leastStep, 0), f64x2.extract_lane(leastStep, 1)),
  );
  store<f64>(
    STREAM_EXTENT + 24,
    max(f64x2.extract_lane(greatestStep, 0), f64x2.extract_lane(greatestStep, 1)),
  );
  const runs = 1 + <u32>(i64x2.extract_lane(changes, 0) + i64x2.extract_lane(changes, 1));
  return 2 * runs + (i64x2.all_true(whole) ? 1 : 0);
}

/** Puts a whole number below 2^53 where numbers are packed from. */
function setWide(index: u32, value: f64): void {
  const bits = <u64>(<i64>value);
  store<u32>(bitsAt(STREAM_LOW, index), <u32>bits);
  store<u32>(bitsAt(STREAM_HIGH, index), <u32>(bits >>> 32));
}

/** Puts the first `count` values, each less `base`, where numbers are packed from; `isWide`: some have 2^32 or more. */
export function streamRelative(count: u32, base: f64, isWide: bool): void {
  if (isWide) {
    for (let at: u32 = 0; at < count; at++) setWide(at, load<f64>(valuesAt(at)) - base);
    return;
  }
  const bases = f64x2.splat(base);
  for (let at: u32 = 0; at < count; at += 2) {
    const values = f64x2.sub(v128.load(valuesAt(at)), bases);
    v128.store64_lane(bitsAt(STREAM_LOW, at), i32x4.trunc_sat_f64x2_u_zero(values), 0);
  }
}

/** Does the same with the differences between the first `count` + 1 values. */
export function streamSteps(count: u32, base: f64, isWide: bool): void {
  if (isWide) {
    for (let at: u32 = 0; at < count; at++) {
      setWide(at, load<f64>(valuesAt(at + 1)) - load<f64>(valuesAt(at)) - base);
    }
    return;
  }
  const bases = f64x2.splat(base);
  for (let at: u32 = 0; at < count; at += 2) {
    const steps = f64x2.sub(v128.load(valuesAt(at + 1)), v128.load(valuesAt(at)));
    const values = i32x4.trunc_sat_f64x2_u_zero(f64x2.sub(steps, bases));
    v128.store64_lane(bitsAt(STREAM_LOW, at), values, 0);
  }
}

/** Finds `idMin` and `idMax` of the first `count` low bits, at least one; returns the count of runs. */
export function streamIdExtent(count: u32): u32 {
  const first = v128.load32_splat(bitsAt(STREAM_LOW, 0));
  let least = first;
  let greatest = first;
  let changes = i32x4.splat(0);
  let index: u32 = 1;
  for (; index + 4 <= count; index += 4) {
    const ids = v128.load(bitsAt(STREAM_LOW, index));
    least = i32x4.min_u(least, ids);
    greatest = i32x4.max_u(greatest, ids);
    changes = i32x4.sub(changes, i32x4.ne(ids, v128.load(bitsAt(STREAM_LOW, index - 1))));
  }
  let runs: u32 = 1;
  for (; index < count; index++) {
    const ids = v128.load32_splat(bitsAt(STREAM_LOW, index));
    least = i32x4.min_u(least, ids);
    greatest = i32x4.max_u(greatest, ids);
    if (load<u32>(bitsAt(STREAM_LOW, index)) !== load<u32>(bitsAt(STREAM_LOW, index - 1))) runs++;
  }
  idMin = min(
    min(<u32>i32x4.extract_lane(least, 0), <u32>i32x4.extract_lane(least, 1)),
    min(<u32>i32x4.extract_lane(least, 2), <u32>i32x4.extract_lane(least, 3)),
  );
  idMax = max(
    max(<u32>i32x4.extract_lane(greatest, 0), <u32>i32x4.extract_lane(greatest, 1)),
    max(<u32>i32x4.extract_lane(greatest, 2), <u32>i32x4.extract_lane(greatest, 3)),
  );
  const some = i32x4.extract_lane(changes, 0) + i32x4.extract_lane(changes, 1);
  return runs + <u32>(some + i32x4.extract_lane(changes, 2) + i32x4.extract_lane(changes, 3));
}

/**
 * Packs the first `count` low or high bits, each less `base` and then below 2^width, as bitpack.ts does; returns the
 * bytes of the words.
 */
export function streamPack(isHigh: bool, count: u32, width: u32, base: u32): u32 {
  assert(width <= STREAM_WORD_BITS && count <= STREAM_COUNT);
  if (width === 0) return 0;
  const region = isHigh ? STREAM_HIGH : STREAM_LOW;
  const bases = i32x4.splat(base);
  // Lanes behind the last value are packed as 0.
  v128.store(bitsAt(region, count), bases);
  let to: u32 = 0;
  for (let first: u32 = 0; first < count; first += STREAM_GROUP) {
    const end = min(first + STREAM_GROUP, count);
    let word = i32x4.splat(0);
    let filled: u32 = 0;
    for (let at = first; at < end; at += 4) {
      const values = i32x4.sub(v128.load(bitsAt(region, at)), bases);
      word = v128.or(word, i32x4.shl(values, filled));
      filled += width;
      if (filled < STREAM_WORD_BITS) continue;
      v128.store(wordsAt(to), word);
      to += STREAM_VECTOR;
      filled -= STREAM_WORD_BITS;
      word = filled === 0 ? i32x4.splat(0) : i32x4.shr_u(values, width - filled);
    }
    if (filled === 0) continue;
    v128.store(wordsAt(to), word);
    to += STREAM_VECTOR;
  }
  return to;
}

/** Numbers the entries that the first `count` values use, of `entryCount`, as they come; how many that are. */
export function streamUse(count: u32, entryCount: u32): u32 {
  assert(count <= STREAM_COUNT && entryCount <= STREAM_COUNT);
  memory.fill(STREAM_NUMBERS, 0, 2 * entryCount);
  let used: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    const entry = entryOf(index);
    if (numberOf(entry) !== 0) continue;
    assert(entry < entryCount && used < STREAM_COUNT);
    store<u16>(STREAM_USED + 2 * used, <u16>entry);
    used++;
    store<u16>(STREAM_NUMBERS + 2 * entry, <u16>used);
  }
  return used;
}

/** Puts the numbers of the entries of the first `count` values to the low bits. */
export function streamNumber(count: u32): void {
  for (let index: u32 = 0; index < count; index++) {
    store<u32>(bitsAt(STREAM_LOW, index), numberOf(entryOf(index)));
  }
}

/** Puts them to the places of their rows among `rowCount`, counted from `firstRow`; the others are 0. */
export function streamSlots(count: u32, firstRow: u32, rowCount: u32): void {
  assert(rowCount <= STREAM_COUNT);
  memory.fill(STREAM_LOW, 0, 4 * rowCount);
  for (let index: u32 = 0; index < count; index++) {
    store<u32>(bitsAt(STREAM_LOW, rowOf(index) - firstRow), numberOf(entryOf(index)));
  }
}

/** Makes room for all regions; false when the system has none. */
export function streamBegin(): bool {
  const pages = <i32>((STREAM_END + 0xffff) >>> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

// biome-ignore format: a name a line would be longer.
export {
  idMax, idMin, STREAM_COUNT, STREAM_END, STREAM_ENTRIES, STREAM_EXTENT, STREAM_HIGH, STREAM_LOW,
  STREAM_NUMBERS, STREAM_PAD, STREAM_ROWS, STREAM_USED, STREAM_VALUES, STREAM_WORDS,
};
