/**
 * Kernel of the hashes of strings by which rows are compared, compiled to WebAssembly. The reference is `hashPlain`.
 *
 * The memory, private to one instance; regions are fixed and follow each other:
 *
 * | region | holds |
 * |---|---|
 * | text | the strings, one after the other, `HASH_TEXT_BYTES` at most |
 * | offsets | where each begins, and the end of the last one (u32) |
 * | lows, highs | the two lanes of each string's hash (u32) |
 */

const HASH_TEXT_BYTES: u32 = 1 << 20;
const HASH_STRINGS: u32 = 1 << 14;

const HASH_TEXT: u32 = 1024;
const HASH_OFFSET: u32 = HASH_TEXT + HASH_TEXT_BYTES;
const HASH_LOW: u32 = HASH_OFFSET + 4 * (HASH_STRINGS + 4);
const HASH_HIGH: u32 = HASH_LOW + 4 * HASH_STRINGS;
const END: u32 = HASH_HIGH + 4 * HASH_STRINGS;

// The factors of row-hash.ts.
const LOW_FACTOR: u32 = 0x9e3779b1;
const HIGH_FACTOR: u32 = 0x85ebca6b;

function offsetOf(string: u32): u32 {
  assert(string <= HASH_STRINGS);
  return load<u32>(HASH_OFFSET + 4 * string);
}
function textWord(at: u32): u32 {
  assert(at + 4 <= HASH_TEXT_BYTES);
  return load<u32>(HASH_TEXT + at);
}
function textByte(at: u32): u32 {
  assert(at < HASH_TEXT_BYTES);
  return load<u8>(HASH_TEXT + at);
}

function mixLow(hash: u32, word: u32): u32 {
  const mixed = (hash ^ word) * LOW_FACTOR;
  return mixed ^ (mixed >>> 15);
}
function mixHigh(hash: u32, word: u32): u32 {
  return rotl((hash ^ word) * HIGH_FACTOR, 13);
}
function spread(hash: u32): u32 {
  let mixed = (hash ^ (hash >>> 16)) * 0x85ebca6b;
  mixed = (mixed ^ (mixed >>> 13)) * 0xc2b2ae35;
  return mixed ^ (mixed >>> 16);
}

/** Hashes `count` strings, each begun with the pair of a key. */
export function hashTexts(count: u32, keyLow: u32, keyHigh: u32): void {
  assert(count <= HASH_STRINGS);
  for (let string: u32 = 0; string < count; string++) {
    let at = offsetOf(string);
    const end = offsetOf(string + 1);
    let low = mixLow(keyLow, end - at);
    let high = mixHigh(keyHigh, end - at);
    for (; at + 4 <= end; at += 4) {
      const word = textWord(at);
      low = mixLow(low, word);
      high = mixHigh(high, word);
    }
    let rest: u32 = 0;
    for (; at < end; at++) rest = (rest << 8) | textByte(at);
    store<u32>(HASH_LOW + 4 * string, spread(mixLow(low, rest)));
    store<u32>(HASH_HIGH + 4 * string, spread(mixHigh(high, rest)));
  }
}

/** Makes room for all regions; false when the system has none. */
export function hashStart(): bool {
  const pages = <i32>((END + 0xffff) >>> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

export { HASH_HIGH, HASH_LOW, HASH_OFFSET, HASH_STRINGS, HASH_TEXT, HASH_TEXT_BYTES };
