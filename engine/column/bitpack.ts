import { assert } from '../base/assert.ts';

/**
 * Bit-packing in vertical groups: value i of a group of 128 is in lane `i & 3` at position `i >> 2`, and word k of
 * lane l is word 4k + l of the group, so that a vector of four words unpacks four neighbours at once.
 * Of the last group only the words in use are stored. Source: FORMAT.md 4.2.
 */
const GROUP_VALUES = 128;
const LANES = 4;
const WORD_BITS = 32;
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
  words = new Uint32Array(packedWords(count, width)),
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
  assert(words.length === packedWords(count, width), `unpacking ${words.length} words`);
  if (width === 0) return values.subarray(0, count).fill(base);
  const mask = width === WORD_BITS ? -1 : (1 << width) - 1;
  for (let first = 0; first < count; first += PART_VALUES) {
    const end = Math.min(first + PART_VALUES, count);
    const firstWord = (first / WORD_BITS) * width;
    for (let from = 0, bit = 0; from < GROUP_VALUES && first + from < end; from += LANES) {
      unpackPosition(
        words,
        firstWord + (bit >>> 5) * LANES,
        width,
        bit & 31,
        mask,
        base,
        values,
        first + from,
        end,
      );
      bit += width;
    }
  }
  return values.subarray(0, count);
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
  if (value < 2 ** WORD_BITS) return WORD_BITS - Math.clz32(value);
  return 2 * WORD_BITS - Math.clz32(Math.floor(value / 2 ** WORD_BITS));
}
