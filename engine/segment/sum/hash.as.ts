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

// The factor and the turn of string-hash.ts.
const FACTOR: u64 = ((<u64>0x9e3779b9) << 32) | 0x7f4a7c15;
const TURN: u64 = 29;

function offsetOf(string: u32): u32 {
  assert(string <= HASH_STRINGS);
  return load<u32>(HASH_OFFSET + 4 * string);
}

// @inline
/** Hashes the bytes `[start, end)` of the memory, begun with a key and their length; a word behind them may be read. */
export function hashOfBytes(start: u32, end: u32, key: u64): u64 {
  assert(start <= end && end + 8 <= (<u32>memory.size()) << 16);
  let at = start;
  let hash = rotl((key ^ (end - at)) * FACTOR, TURN);
  for (; at + 8 <= end; at += 8) hash = rotl((hash ^ load<u64>(at)) * FACTOR, TURN);
  if (at < end) {
    const rest = load<u64>(at) & (((<u64>1) << (8 * (end - at))) - 1);
    hash = rotl((hash ^ rest) * FACTOR, TURN);
  }
  hash = (hash ^ (hash >>> 32)) * FACTOR;
  hash = (hash ^ (hash >>> 32)) * FACTOR;
  return hash ^ (hash >>> 32);
}

/** Hashes `count` strings, each begun with a key and its length. */
export function hashTexts(count: u32, keyLow: u32, keyHigh: u32): void {
  assert(count <= HASH_STRINGS);
  const key = ((<u64>keyHigh) << 32) | keyLow;
  for (let string: u32 = 0; string < count; string++) {
    const end = offsetOf(string + 1);
    assert(end <= HASH_TEXT_BYTES);
    const hash = hashOfBytes(HASH_TEXT + offsetOf(string), HASH_TEXT + end, key);
    store<u32>(HASH_LOW + 4 * string, <u32>hash);
    store<u32>(HASH_HIGH + 4 * string, <u32>(hash >>> 32));
  }
}

/** Makes room for all regions; false when the system has none. */
export function hashStart(): bool {
  const pages = <i32>((END + 0xffff) >>> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

export { HASH_HIGH, HASH_LOW, HASH_OFFSET, HASH_STRINGS, HASH_TEXT, HASH_TEXT_BYTES };
