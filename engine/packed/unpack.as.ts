/**
 * Unpacks groups of 128 bit-packed values, as bitpack.ts packs them; a part of the kernel in packed.as.ts, whose first
 * regions these are:
 *
 * | region | holds |
 * |---|---|
 * | packed | words of a column, and a pad that vectors may read |
 * | unpacked | the values (u32) of a group |
 * | patch place, patch high | of each patched value its place, ascending, and what is added to it (u32) |
 *
 * Each width has code of its own, in which all shifts are constants. Exported names are those of the module of all
 * kernels.
 */

/** Bytes of a vector. */
export const PACKED_VECTOR: u32 = 16;
/** Bits of a word. */
export const PACKED_WORD_BITS: u32 = 32;
/** Rows of a block at most. */
export const PACKED_ROWS: u32 = 1 << 16;
/** Values of a group. */
export const PACKED_GROUP_ROWS: u32 = 128;
/** Bytes behind a region that vectors may read. */
export const PACKED_PAD: u32 = 64;

/** Where the packed words are. */
export const PACKED_WORDS: u32 = 1024;
const UNPACKED: u32 = PACKED_WORDS + 4 * PACKED_ROWS + PACKED_PAD;
/** Where the places of patches are. */
export const PATCH_PLACE: u32 = UNPACKED + 4 * PACKED_GROUP_ROWS;
/** Where what patches add is. */
export const PATCH_HIGH: u32 = PATCH_PLACE + 4 * PACKED_ROWS;
/** Where the regions end. */
export const UNPACKED_END: u32 = PATCH_HIGH + 4 * PACKED_ROWS;

// @inline
function packedVector(at: u32): v128 {
  assert(at + PACKED_VECTOR <= 4 * PACKED_ROWS + PACKED_PAD);
  return v128.load(PACKED_WORDS + at);
}
// @inline
function setUnpacked(at: u32, values: v128): void {
  assert(at + PACKED_VECTOR <= 4 * PACKED_GROUP_ROWS);
  v128.store(UNPACKED + at, values);
}
// @inline
/** Four values of the group. */
export function unpackedVector(at: u32): v128 {
  assert(at + PACKED_VECTOR <= 4 * PACKED_GROUP_ROWS);
  return v128.load(UNPACKED + at);
}
// @inline
/** A value of the group. */
export function unpackedOne(at: u32): u32 {
  assert(at < PACKED_GROUP_ROWS);
  return load<u32>(UNPACKED + 4 * at);
}
// @inline
function setUnpackedOne(at: u32, value: u32): void {
  assert(at < PACKED_GROUP_ROWS);
  store<u32>(UNPACKED + 4 * at, value);
}
// @inline
function patchPlace(at: u32): u32 {
  assert(at < PACKED_ROWS);
  return load<u32>(PATCH_PLACE + 4 * at);
}
// @inline
function setPatchPlace(at: u32, place: u32): void {
  assert(at < PACKED_ROWS);
  store<u32>(PATCH_PLACE + 4 * at, place);
}
// @inline
function patchHigh(at: u32): u32 {
  assert(at < PACKED_ROWS);
  return load<u32>(PATCH_HIGH + 4 * at);
}
// @inline
function setPatchHighs(at: u32, highs: v128): void {
  assert(at + 4 <= PACKED_ROWS);
  v128.store(PATCH_HIGH + 4 * at, highs);
}

/** Makes 0 what lies behind the last of `count` values in their last group. */
export function clearExcess(group: u32, count: u32): void {
  for (let at = count - group * PACKED_GROUP_ROWS; at < PACKED_GROUP_ROWS; at++)
    setUnpackedOne(at, 0);
}

/** Patches of the packed values, and the first of them that may be in the next group. */
let patchCount: u32 = 0;
let nextPatch: u32 = 0;

/** Takes the number of patches of the values that were put into the memory, which are gone through once then. */
export function packedPatch(count: u32): void {
  patchCount = count;
  nextPatch = 0;
}

/** True when values that were put into the memory have patches. */
export function hasPatches(): bool {
  return patchCount > 0;
}

/**
 * Unpacks the places of `count` patches from the packed steps between them, each more `step`, which is above 0; the
 * first is `first`. Returns the last one, or one that is beyond the rows.
 */
export function packedPatchPlaces(count: u32, width: u32, first: u32, step: u32): u32 {
  patchCount = 0;
  let place: u64 = first;
  for (let at: u32 = 0; at < count && place < PACKED_ROWS; at++) {
    setPatchPlace(at, <u32>place);
    if (at + 1 === count) return <u32>place;
    if (at % PACKED_GROUP_ROWS === 0) unpackGroup(at / PACKED_GROUP_ROWS, width);
    place += step + <u64>unpackedOne(at % PACKED_GROUP_ROWS);
  }
  return PACKED_ROWS;
}

/** Unpacks what `count` patches add: the packed numbers, each more `base`, behind `shift` lower bits. */
export function packedPatchHighs(count: u32, width: u32, base: u32, shift: u32): void {
  patchCount = 0;
  const more = i32x4.splat(base);
  for (let from: u32 = 0; from < count; from += PACKED_GROUP_ROWS) {
    unpackGroup(from / PACKED_GROUP_ROWS, width);
    for (let at: u32 = 0; at < PACKED_GROUP_ROWS; at += 4)
      setPatchHighs(from + at, i32x4.shl(i32x4.add(unpackedVector(4 * at), more), shift));
  }
}

/** Adds the patches of a group; groups ascend, and some may be left out. */
function patchGroup(group: u32): void {
  const first = group * PACKED_GROUP_ROWS;
  for (; nextPatch < patchCount; nextPatch++) {
    const place = patchPlace(nextPatch);
    if (place >= first + PACKED_GROUP_ROWS) return;
    if (place < first) continue;
    setUnpackedOne(place - first, unpackedOne(place - first) + patchHigh(nextPatch));
  }
}

/** The values of the vector number `at` of the group at `from`, with bits above of those of others. */
// @inline
function vectorOf(width: u32, from: u32, at: u32): v128 {
  return ((at * width) % PACKED_WORD_BITS) + width > PACKED_WORD_BITS
    ? v128.or(
        i32x4.shr_u(
          packedVector(from + ((at * width) / PACKED_WORD_BITS) * PACKED_VECTOR),
          (at * width) % PACKED_WORD_BITS,
        ),
        i32x4.shl(
          packedVector(from + ((at * width) / PACKED_WORD_BITS + 1) * PACKED_VECTOR),
          PACKED_WORD_BITS - ((at * width) % PACKED_WORD_BITS),
        ),
      )
    : i32x4.shr_u(
        packedVector(from + ((at * width) / PACKED_WORD_BITS) * PACKED_VECTOR),
        (at * width) % PACKED_WORD_BITS,
      );
}

// @inline
function unpackVector(width: u32, from: u32, at: u32): void {
  setUnpacked(
    at * PACKED_VECTOR,
    v128.and(vectorOf(width, from, at), i32x4.splat((1 << width) - 1)),
  );
}

// @inline
function unpackFour(width: u32, from: u32, at: u32): void {
  unpackVector(width, from, at);
  unpackVector(width, from, at + 1);
  unpackVector(width, from, at + 2);
  unpackVector(width, from, at + 3);
}

// @inline
function unpackAll(width: u32, from: u32): void {
  unpackFour(width, from, 0);
  unpackFour(width, from, 4);
  unpackFour(width, from, 8);
  unpackFour(width, from, 12);
  unpackFour(width, from, 16);
  unpackFour(width, from, 20);
  unpackFour(width, from, 24);
  unpackFour(width, from, 28);
}

function unpack1(from: u32): void {
  unpackAll(1, from);
}
function unpack2(from: u32): void {
  unpackAll(2, from);
}
function unpack3(from: u32): void {
  unpackAll(3, from);
}
function unpack4(from: u32): void {
  unpackAll(4, from);
}
function unpack5(from: u32): void {
  unpackAll(5, from);
}
function unpack6(from: u32): void {
  unpackAll(6, from);
}
function unpack7(from: u32): void {
  unpackAll(7, from);
}
function unpack8(from: u32): void {
  unpackAll(8, from);
}
function unpack9(from: u32): void {
  unpackAll(9, from);
}
function unpack10(from: u32): void {
  unpackAll(10, from);
}
function unpack11(from: u32): void {
  unpackAll(11, from);
}
function unpack12(from: u32): void {
  unpackAll(12, from);
}
function unpack13(from: u32): void {
  unpackAll(13, from);
}
function unpack14(from: u32): void {
  unpackAll(14, from);
}
function unpack15(from: u32): void {
  unpackAll(15, from);
}
function unpack16(from: u32): void {
  unpackAll(16, from);
}
function unpack17(from: u32): void {
  unpackAll(17, from);
}
function unpack18(from: u32): void {
  unpackAll(18, from);
}
function unpack19(from: u32): void {
  unpackAll(19, from);
}
function unpack20(from: u32): void {
  unpackAll(20, from);
}
function unpack21(from: u32): void {
  unpackAll(21, from);
}
function unpack22(from: u32): void {
  unpackAll(22, from);
}
function unpack23(from: u32): void {
  unpackAll(23, from);
}
function unpack24(from: u32): void {
  unpackAll(24, from);
}
function unpack25(from: u32): void {
  unpackAll(25, from);
}
function unpack26(from: u32): void {
  unpackAll(26, from);
}
function unpack27(from: u32): void {
  unpackAll(27, from);
}
function unpack28(from: u32): void {
  unpackAll(28, from);
}
function unpack29(from: u32): void {
  unpackAll(29, from);
}
function unpack30(from: u32): void {
  unpackAll(30, from);
}
function unpack31(from: u32): void {
  unpackAll(31, from);
}

/** Unpacks a group. What lies behind the last values of a column are anything. */
export function unpackGroup(group: u32, width: u32): void {
  const from = group * width * PACKED_VECTOR;
  // biome-ignore format: a line a width.
  switch (width) {
    case 1: unpack1(from); break;
    case 2: unpack2(from); break;
    case 3: unpack3(from); break;
    case 4: unpack4(from); break;
    case 5: unpack5(from); break;
    case 6: unpack6(from); break;
    case 7: unpack7(from); break;
    case 8: unpack8(from); break;
    case 9: unpack9(from); break;
    case 10: unpack10(from); break;
    case 11: unpack11(from); break;
    case 12: unpack12(from); break;
    case 13: unpack13(from); break;
    case 14: unpack14(from); break;
    case 15: unpack15(from); break;
    case 16: unpack16(from); break;
    case 17: unpack17(from); break;
    case 18: unpack18(from); break;
    case 19: unpack19(from); break;
    case 20: unpack20(from); break;
    case 21: unpack21(from); break;
    case 22: unpack22(from); break;
    case 23: unpack23(from); break;
    case 24: unpack24(from); break;
    case 25: unpack25(from); break;
    case 26: unpack26(from); break;
    case 27: unpack27(from); break;
    case 28: unpack28(from); break;
    case 29: unpack29(from); break;
    case 30: unpack30(from); break;
    case 31: unpack31(from); break;
    default:
      for (let at: u32 = 0; at < 4 * PACKED_GROUP_ROWS; at += PACKED_VECTOR)
        setUnpacked(at, width === 0 ? i32x4.splat(0) : packedVector(from + at));
  }
  if (patchCount !== 0) patchGroup(group);
}
