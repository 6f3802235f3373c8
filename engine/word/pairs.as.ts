/**
 * Kernel that sorts words of parts of a column and writes them, compiled to WebAssembly. The reference is `PlainPages`.
 *
 * The memory, private to one instance; regions are fixed and follow each other:
 *
 * | region | holds |
 * |---|---|
 * | digits | for each pass of the sort, how many pairs have each digit, then where the next of them goes (u32) |
 * | bitmap | a bit a part: those of several hashes that are written as one |
 * | bits | what is written of a page |
 * | sorted | the pairs: hash, above 16 bits of a part (u64) |
 * | spare | at first the hashes (u32), behind them their parts (u16); then memory of the sort (u64) |
 */

const PAIR_COUNT: u32 = 3 << 18;
const DIGIT_BITS: u32 = 11;
const DIGITS: u32 = 1 << DIGIT_BITS;
const PASSES: u32 = 3;
const PART_BITS: u32 = 16;
const BITMAP_WORDS: u32 = 1 << (PART_BITS - 6);
const BITS_BYTES: u32 = 1 << 20;
const PAD_BYTES: u32 = 16;
/** Plain bits of the gaps between hashes. */
const GAP_BITS: u32 = 3;
/** Zero bytes behind the bits. */
const PADDING_BYTES: u32 = 4;

const DIGIT: u32 = 1024;
const BITMAP: u32 = DIGIT + 4 * DIGITS * PASSES;
const PAIR_BITS: u32 = BITMAP + 8 * BITMAP_WORDS;
const SORTED: u32 = PAIR_BITS + BITS_BYTES + PAD_BYTES;
const PAIR_HASH: u32 = SORTED + 8 * PAIR_COUNT;
const PAIR_PART: u32 = PAIR_HASH + 4 * PAIR_COUNT;
const END: u32 = PAIR_HASH + 8 * PAIR_COUNT;

let count: u32 = 0;
/** Of the page that was written last. */
let wordCount: u32 = 0;
/** Bytes that were written, and bits that are no four bytes yet. */
let written: u32 = 0;
let pending: u64 = 0;
let pendingBits: u32 = 0;

function digitPlace(pass: u32, digit: u32): u32 {
  assert(pass < PASSES && digit < DIGITS);
  return DIGIT + 4 * (pass * DIGITS + digit);
}
function pairPlace(region: u32, index: u32): u32 {
  assert((region === SORTED || region === PAIR_HASH) && index < PAIR_COUNT);
  return region + 8 * index;
}
function hashOf(index: u32): u32 {
  assert(index < PAIR_COUNT);
  return load<u32>(PAIR_HASH + 4 * index);
}
function partOf(index: u32): u32 {
  assert(index < PAIR_COUNT);
  return load<u16>(PAIR_PART + 2 * index);
}
function sortedHash(index: u32): u32 {
  return <u32>(load<u64>(pairPlace(SORTED, index)) >>> PART_BITS);
}
function sortedPart(index: u32): u32 {
  return load<u16>(pairPlace(SORTED, index));
}
function bitmapPlace(word: u32): u32 {
  assert(word < BITMAP_WORDS);
  return BITMAP + 8 * word;
}

// @inline
function digitOf(hash: u32, pass: u32): u32 {
  return (hash >>> (pass * DIGIT_BITS)) & (DIGITS - 1);
}

/** Puts a pair to its place in the order of a digit. */
// @inline
function place(pair: u64, region: u32, pass: u32): void {
  const next = digitPlace(pass, digitOf(<u32>(pair >>> PART_BITS), pass));
  const index = load<u32>(next);
  store<u64>(pairPlace(region, index), pair);
  store<u32>(next, index + 1);
}

/** Turns how many pairs have each digit into where the first of them goes. */
function addUp(pass: u32): void {
  let index: u32 = 0;
  for (let digit: u32 = 0; digit < DIGITS; digit++) {
    const next = digitPlace(pass, digit);
    const own = load<u32>(next);
    store<u32>(next, index);
    index += own;
  }
}

/** Sorts the pairs by hash; those of a hash stay in their order. Returns how many hashes there are. */
export function pairSort(pairCount: u32): u32 {
  assert(pairCount <= PAIR_COUNT);
  count = pairCount;
  memory.fill(DIGIT, 0, 4 * DIGITS * PASSES);
  for (let index: u32 = 0; index < count; index++) {
    const hash = hashOf(index);
    for (let pass: u32 = 0; pass < PASSES; pass++) {
      const own = digitPlace(pass, digitOf(hash, pass));
      store<u32>(own, load<u32>(own) + 1);
    }
  }
  for (let pass: u32 = 0; pass < PASSES; pass++) addUp(pass);
  for (let index: u32 = 0; index < count; index++) {
    place(((<u64>hashOf(index)) << PART_BITS) | partOf(index), SORTED, 0);
  }
  for (let index: u32 = 0; index < count; index++) {
    place(load<u64>(pairPlace(SORTED, index)), PAIR_HASH, 1);
  }
  for (let index: u32 = 0; index < count; index++) {
    place(load<u64>(pairPlace(PAIR_HASH, index)), SORTED, 2);
  }
  let hashCount: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    if (index === 0 || sortedHash(index) !== sortedHash(index - 1)) hashCount++;
  }
  return hashCount;
}

/** Writes up to 32 bits. */
// @inline
function putBits(value: u32, bits: u32): void {
  pending |= (<u64>value) << pendingBits;
  pendingBits += bits;
  if (pendingBits < 32) return;
  assert(written + 4 <= BITS_BYTES);
  store<u32>(PAIR_BITS + written, <u32>pending);
  written += 4;
  pending >>>= 32;
  pendingBits -= 32;
}
function putZeros(zeros: u32): void {
  let left = zeros;
  for (; left > 32; left -= 32) putBits(0, 32);
  putBits(0, left);
}
// @inline
function putRice(value: u32, low: u32): void {
  const zeros = value >>> low;
  const rest = ((value & ((1 << low) - 1)) << 1) | 1;
  if (zeros + low < 32) {
    putBits(rest << zeros, zeros + 1 + low);
    return;
  }
  putZeros(zeros);
  putBits(rest, 1 + low);
}
function putGamma(value: u32): void {
  const low = 31 - <u32>clz(value);
  putZeros(low);
  putBits(((value & ((1 << low) - 1)) << 1) | 1, 1 + low);
}

/** Plain bits of the gaps between `own` of `parts` parts. */
function plainBits(own: u32, parts: u32): u32 {
  const ratio = (parts * 2) / (own * 3);
  return ratio === 0 ? 0 : 31 - <u32>clz(ratio);
}

/** Writes the parts of the pairs `[from, to)`, which are of one hash. */
function putParts(from: u32, to: u32, parts: u32): void {
  const own = to - from;
  putGamma(own);
  if (own * 2 > parts) return;
  const low = plainBits(own, parts);
  let next: u32 = 0;
  for (let index = from; index < to; index++) {
    const part = sortedPart(index);
    putRice(part - next, low);
    next = part + 1;
  }
}

/** Writes the parts of the pairs `[from, to)`, which are of several hashes: each once, in order. */
function putMixedParts(from: u32, to: u32, parts: u32): void {
  const words = (parts + 63) >>> 6;
  for (let index = from; index < to; index++) {
    const part = sortedPart(index);
    const at = bitmapPlace(part >>> 6);
    store<u64>(at, load<u64>(at) | ((<u64>1) << (part & 63)));
  }
  let own: u32 = 0;
  for (let word: u32 = 0; word < words; word++) own += <u32>popcnt(load<u64>(bitmapPlace(word)));
  putGamma(own);
  const low = plainBits(own, parts);
  let next: u32 = 0;
  for (let word: u32 = 0; word < words; word++) {
    const at = bitmapPlace(word);
    if (own * 2 <= parts) {
      for (let bits = load<u64>(at); bits !== 0; bits &= bits - 1) {
        const part = (word << 6) + <u32>ctz(bits);
        putRice(part - next, low);
        next = part + 1;
      }
    }
    store<u64>(at, 0);
  }
}

/** The first pair whose hash, without `shift` bits, is `least` or more. */
function search(least: u64, shift: u32): u32 {
  let low: u32 = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (<u64>(sortedHash(middle) >>> shift) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Reports that there is room for a word of `own` pairs, `gap` hashes behind the last one. */
function hasRoom(gap: u32, own: u32, parts: u32): bool {
  const bits = <u64>(gap >>> GAP_BITS) + <u64>own * 32 + 2 * <u64>parts;
  return (bits >>> 3) + 64 < <u64>(BITS_BYTES - written);
}

/**
 * Writes the words of a page, whose hashes are the same without `shift` and `pageShift` bits, of `parts` parts; returns
 * the bytes of it, 0 when there is no room for it.
 */
export function pairPage(page: u32, shift: u32, pageShift: u32, parts: u32): u32 {
  assert(parts <= 1 << PART_BITS);
  let next = (<u64>page) << pageShift;
  const end = (<u64>(page + 1)) << pageShift;
  wordCount = 0;
  written = 0;
  pending = 0;
  pendingBits = 0;
  let at = search(next, shift);
  while (at < count) {
    const first = sortedHash(at);
    const hash = first >>> shift;
    if (<u64>hash >= end) break;
    let to = at + 1;
    while (to < count && sortedHash(to) >>> shift === hash) to++;
    const gap = <u32>(<u64>hash - next);
    if (!hasRoom(gap, to - at, parts)) return 0;
    putRice(gap, GAP_BITS);
    if (first === sortedHash(to - 1)) putParts(at, to, parts);
    else putMixedParts(at, to, parts);
    next = <u64>hash + 1;
    at = to;
    wordCount++;
  }
  store<u64>(PAIR_BITS + written, pending);
  const bytes = written + ((pendingBits + 7) >>> 3);
  store<u32>(PAIR_BITS + bytes, 0);
  return bytes + PADDING_BYTES;
}

/** Makes room for all regions; false when the system has none. */
export function pairStart(): bool {
  const pages = <i32>((END + 0xffff) >>> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

export { PAIR_BITS, PAIR_COUNT, PAIR_HASH, PAIR_PART, wordCount as pairWordCount };
