import { assert } from '../base/assert.ts';

/**
 * Bit-packing in vertical groups: value i of a group of 128 is in lane `i & 3` at position `i >> 2`, and word k of
 * lane l is word 4k + l of the group, so that a vector of four words unpacks four neighbours at once.
 * Of the last group only the words in use are stored. Source: FORMAT.md 4.2.
 */
const GROUP_VALUES = 128;
const LANES = 4;
const WORD_BITS = 32;
/** Numbers that a word holds. In a bundle a power of a constant of the module would be computed at each use. */
const WORD_RANGE = 2 ** WORD_BITS;
/** For values that are not checked. */
const UNCHECKED = -1;
/**
 * Values that are unpacked together, one position of all their groups after the other: few enough to stay near the
 * processor.
 */
const PART_VALUES = 32 * GROUP_VALUES;

/** Words that `count` values of `width` bits take. */
export function packedWords(count: number, width: number): number {
  const tail = count % GROUP_VALUES;
  const tailBits = Math.ceil(tail / LANES) * width;
  return ((count - tail) / WORD_BITS) * width + Math.ceil(tailBits / WORD_BITS) * LANES;
}

/**
 * Packs `values[0, count)`, each below 2^width, into the first `packedWords` of `words`, whose contents are lost.
 * `values` has room for a multiple of four; what lies there beyond `count` is overwritten with 0.
 */
export function pack(
  values: Uint32Array,
  count: number,
  width: number,
  words: Uint32Array = new Uint32Array(packedWords(count, width)),
): Uint32Array {
  assert(width >= 0 && width <= WORD_BITS, `packing ${width} bits`);
  if (width === 0) return words;
  words.fill(0, 0, packedWords(count, width));
  values.fill(0, count, Math.ceil(count / LANES) * LANES);
  for (let first = 0; first < count; first += GROUP_VALUES) {
    const groupWord = (first / WORD_BITS) * width;
    const end = Math.min(first + GROUP_VALUES, count);
    let bit = 0;
    for (let at = first; at < end; at += LANES) {
      const word = groupWord + (bit >>> 5) * LANES;
      const shift = bit & 31;
      words[word] |= values[at] << shift;
      words[word + 1] |= values[at + 1] << shift;
      words[word + 2] |= values[at + 2] << shift;
      words[word + 3] |= values[at + 3] << shift;
      if (shift + width > WORD_BITS) {
        const taken = WORD_BITS - shift;
        words[word + 4] = values[at] >>> taken;
        words[word + 5] = values[at + 1] >>> taken;
        words[word + 6] = values[at + 2] >>> taken;
        words[word + 7] = values[at + 3] >>> taken;
      }
      bit += width;
    }
  }
  return words;
}

/**
 * Unpacks `count` values of `width` bits, each more `base`, into `values`, which has room for the next multiple of
 * four. `words` holds exactly `packedWords(count, width)`.
 */
export function unpack(
  words: Uint32Array,
  count: number,
  width: number,
  base = 0,
  values = new Uint32Array(Math.ceil(count / LANES) * LANES),
): Uint32Array {
  unpackAll(words, count, width, base, values, UNCHECKED);
  return values.subarray(0, count);
}

/** Unpacks values below 2^31 as `unpack` does, into a new array; `undefined` when one of them is above `last`. */
export function unpackBelow(
  words: Uint32Array,
  count: number,
  width: number,
  base: number,
  last: number,
): Uint32Array | undefined {
  const values = new Uint32Array(Math.ceil(count / LANES) * LANES);
  const sign = unpackAll(words, count, width, base, values, last);
  return sign < 0 ? undefined : values.subarray(0, count);
}

/** Unpacks values as `unpack` does; a number below 0 when one of them is above `last`, unless they are unchecked. */
function unpackAll(
  words: Uint32Array,
  count: number,
  width: number,
  base: number,
  values: Uint32Array,
  last: number,
): number {
  assert(words.length === packedWords(count, width), `unpacking ${words.length} words`);
  if (width === 0) {
    values.fill(base, 0, count);
    return last - base;
  }
  const mask = width === WORD_BITS ? -1 : (1 << width) - 1;
  let signs = 0;
  for (let first = 0; first < count; first += PART_VALUES) {
    const end = Math.min(first + PART_VALUES, count);
    const firstWord = (first / WORD_BITS) * width;
    for (let from = 0, bit = 0; from < GROUP_VALUES && first + from < end; from += LANES) {
      const word = firstWord + (bit >>> 5) * LANES;
      const shift = bit & 31;
      const at = first + from;
      if (last === UNCHECKED) {
        unpackPosition(words, word, width, shift, mask, base, values, at, end);
      } else {
        signs |= checkPosition(words, word, width, shift, mask, base, values, at, end, last);
      }
      bit += width;
    }
  }
  return signs;
}

/**
 * Unpacks the values of all lanes at one position of each group, from `values[from]` on: all at the same bit of their
 * words, so that the loop has no branches. `word` is that of the first lane in the first group.
 */
function unpackPosition(
  words: Uint32Array,
  word: number,
  width: number,
  shift: number,
  mask: number,
  base: number,
  values: Uint32Array,
  from: number,
  end: number,
): void {
  const step = width * LANES;
  const taken = WORD_BITS - shift;
  if (width > taken) {
    for (let at = from; at < end; at += GROUP_VALUES) {
      values[at] = (((words[word] >>> shift) | (words[word + 4] << taken)) & mask) + base;
      values[at + 1] = (((words[word + 1] >>> shift) | (words[word + 5] << taken)) & mask) + base;
      values[at + 2] = (((words[word + 2] >>> shift) | (words[word + 6] << taken)) & mask) + base;
      values[at + 3] = (((words[word + 3] >>> shift) | (words[word + 7] << taken)) & mask) + base;
      word += step;
    }
    return;
  }
  for (let at = from; at < end; at += GROUP_VALUES) {
    values[at] = ((words[word] >>> shift) & mask) + base;
    values[at + 1] = ((words[word + 1] >>> shift) & mask) + base;
    values[at + 2] = ((words[word + 2] >>> shift) & mask) + base;
    values[at + 3] = ((words[word + 3] >>> shift) & mask) + base;
    word += step;
  }
}

/** Unpacks the same, with the signs of how far the values are below `last`: to look at them once more takes longer. */
function checkPosition(
  words: Uint32Array,
  word: number,
  width: number,
  shift: number,
  mask: number,
  base: number,
  values: Uint32Array,
  from: number,
  end: number,
  last: number,
): number {
  const step = width * LANES;
  const taken = WORD_BITS - shift;
  let signs = 0;
  if (width > taken) {
    for (let at = from; at < end; at += GROUP_VALUES) {
      const a = (((words[word] >>> shift) | (words[word + 4] << taken)) & mask) + base;
      const b = (((words[word + 1] >>> shift) | (words[word + 5] << taken)) & mask) + base;
      const c = (((words[word + 2] >>> shift) | (words[word + 6] << taken)) & mask) + base;
      const d = (((words[word + 3] >>> shift) | (words[word + 7] << taken)) & mask) + base;
      values[at] = a;
      values[at + 1] = b;
      values[at + 2] = c;
      values[at + 3] = d;
      signs |= (last - a) | (last - b) | (last - c) | (last - d);
      word += step;
    }
    return signs;
  }
  for (let at = from; at < end; at += GROUP_VALUES) {
    const a = ((words[word] >>> shift) & mask) + base;
    const b = ((words[word + 1] >>> shift) & mask) + base;
    const c = ((words[word + 2] >>> shift) & mask) + base;
    const d = ((words[word + 3] >>> shift) & mask) + base;
    values[at] = a;
    values[at + 1] = b;
    values[at + 2] = c;
    values[at + 3] = d;
    signs |= (last - a) | (last - b) | (last - c) | (last - d);
    word += step;
  }
  return signs;
}

/**
 * Finds those of `count` values of `width` bits, 31 at most, that are from `first` to `last`, both below 2^31, without
 * storing any: a bit for each, in a new array.
 */
export function findPacked(
  words: Uint32Array,
  count: number,
  width: number,
  first: number,
  last: number,
): Uint32Array {
  assert(words.length === packedWords(count, width), `searching ${words.length} words`);
  const bits = new Uint32Array(Math.ceil(count / GROUP_VALUES) * LANES);
  const found = bits.subarray(0, Math.ceil(count / WORD_BITS));
  if (first >= 2 ** width) return found;
  for (let value = 0; value < count && width > 0; value += PART_VALUES) {
    const end = Math.min(value + PART_VALUES, count);
    const firstWord = (value / WORD_BITS) * width;
    for (let from = 0, bit = 0; from < GROUP_VALUES && value + from < end; from += LANES) {
      const word = firstWord + (bit >>> 5) * LANES;
      findPosition(words, word, width, bit & 31, bits, value + from, end, first, last);
      bit += width;
    }
  }
  // What was found are the values that are not within.
  for (let word = 0; word < bits.length; word++) bits[word] = ~bits[word];
  if (count % WORD_BITS !== 0) found[found.length - 1] &= (1 << (count % WORD_BITS)) - 1;
  return found;
}

/**
 * Adds the bits of the values at one position that are not from `first` to `last`, by the signs of differences: the
 * loop has no branches. The rest is as for `unpackPosition`.
 */
function findPosition(
  words: Uint32Array,
  word: number,
  width: number,
  shift: number,
  bits: Uint32Array,
  from: number,
  end: number,
  first: number,
  last: number,
): void {
  const step = width * LANES;
  const mask = (1 << width) - 1;
  const taken = WORD_BITS - shift;
  const at = from & 31;
  let to = from >>> 5;
  if (width > taken) {
    for (let value = from; value < end; value += GROUP_VALUES) {
      const a = ((words[word] >>> shift) | (words[word + 4] << taken)) & mask;
      const b = ((words[word + 1] >>> shift) | (words[word + 5] << taken)) & mask;
      const c = ((words[word + 2] >>> shift) | (words[word + 6] << taken)) & mask;
      const d = ((words[word + 3] >>> shift) | (words[word + 7] << taken)) & mask;
      const low = isOutside(a, first, last) | (isOutside(b, first, last) << 1);
      const high = isOutside(c, first, last) | (isOutside(d, first, last) << 1);
      bits[to] |= (low | (high << 2)) << at;
      to += LANES;
      word += step;
    }
    return;
  }
  for (let value = from; value < end; value += GROUP_VALUES) {
    const a = (words[word] >>> shift) & mask;
    const b = (words[word + 1] >>> shift) & mask;
    const c = (words[word + 2] >>> shift) & mask;
    const d = (words[word + 3] >>> shift) & mask;
    const low = isOutside(a, first, last) | (isOutside(b, first, last) << 1);
    const high = isOutside(c, first, last) | (isOutside(d, first, last) << 1);
    bits[to] |= (low | (high << 2)) << at;
    to += LANES;
    word += step;
  }
}

/** 1 when `value` is not from `first` to `last`: the sign of a difference. */
function isOutside(value: number, first: number, last: number): number {
  return ((value - first) | (last - value)) >>> 31;
}

/** The value at `index` alone. */
export function unpackOne(words: Uint32Array, width: number, index: number): number {
  if (width === 0) return 0;
  const inGroup = index % GROUP_VALUES;
  const bit = (inGroup >>> 2) * width;
  const word = ((index - inGroup) / WORD_BITS) * width + (bit >>> 5) * LANES + (inGroup & 3);
  const shift = bit & 31;
  const mask = width === WORD_BITS ? -1 : (1 << width) - 1;
  let value = words[word] >>> shift;
  if (shift + width > WORD_BITS) value |= words[word + LANES] << (WORD_BITS - shift);
  return (value & mask) >>> 0;
}

/** Bits that a whole number from 0 to 2^53 - 1 takes; 0 for 0. */
export function bitsOf(value: number): number {
  if (value < WORD_RANGE) return WORD_BITS - Math.clz32(value);
  return 2 * WORD_BITS - Math.clz32(Math.floor(value / WORD_RANGE));
}
