/**
 * Kernel of the words of a part of a column, compiled to WebAssembly: the hashes of words and whole values, each once,
 * and counts of the values that have certain words. The reference is `PlainWords`. It declines values with characters
 * beyond ASCII, whose words `wordAdd` adds one by one.
 *
 * The memory, private to one instance; regions are fixed and follow each other:
 *
 * | region | holds |
 * |---|---|
 * | fold | by byte, the small letter of a character of words; 0 of others |
 * | text | the values, one after the other, `WORD_TEXT_BYTES` at most |
 * | word | the word of `wordAdd` |
 * | offsets | where each value begins, and the end of the last one (u32) |
 * | weights | how many values each value counts as (u32) |
 * | hashes | the distinct hashes of the part (u32), those of counted words first |
 * | slots | by hash, its number more `base`; less than that in an empty slot (u32) |
 * | memo | short words (u64), of each its hash, its number more `base` (less: not in the part), where it counts (u32) |
 * | small | the window of a value in progress, its letters made small |
 * | counted words | their bytes, small letters, one behind the other |
 * | counted starts | where each begins, and the end of the last one (u32) |
 * | counted last | the last value that has it (u32), and one of words that are not counted |
 * | counts | the values that have it, by their weights (u32), and one that is not read |
 * | counted hashes | 1 when its hash is in the part (u8) |
 */

const WORD_TEXT_BYTES: u32 = 1 << 20;
const WORD_VALUES: u32 = 8192;
const WORD_COUNTED: u32 = 1024;
const WORD_COUNTED_BYTES: u32 = 64 * WORD_COUNTED;
const HASHES: u32 = 1 << 18;
const SLOTS: u32 = 2 * HASHES;
const SLOT_BITS_MIN: u32 = 13;
const VECTOR: u32 = 16;
const MEMO_BITS: u32 = 12;
const MEMOS: u32 = 1 << MEMO_BITS;
const MEMO_BYTES: u32 = 24;
const MEMO_HASH: u32 = 8;
const MEMO_HELD: u32 = 12;
const MEMO_COUNT: u32 = 16;
/** Values of which it is asked together whether they have bytes beyond ASCII. */
const ASCII_VALUES: u32 = 16;
/** Bytes of a value that are looked at together: a bit of a word each. */
const WINDOW: u32 = 64;
/** Bytes of a short word at most. */
const SHORT_BYTES: u32 = 8;
/** Bytes of the word of `wordAdd` at most. */
const WORD_BYTES: u32 = 256;

const WORD_FOLD: u32 = 1024;
const WORD_TEXT: u32 = WORD_FOLD + 256;
const WORD_OFFSET: u32 = WORD_TEXT + WORD_TEXT_BYTES + WORD_BYTES;
const WORD_WEIGHT: u32 = WORD_OFFSET + 4 * (WORD_VALUES + 4);
const WORD_HASH: u32 = WORD_WEIGHT + 4 * WORD_VALUES;
const SLOT: u32 = WORD_HASH + 4 * HASHES;
const MEMO: u32 = SLOT + 4 * SLOTS;
const SMALL: u32 = MEMO + MEMO_BYTES * MEMOS;
const WORD_COUNTED_BYTE: u32 = SMALL + WINDOW + VECTOR;
const WORD_COUNTED_START: u32 = WORD_COUNTED_BYTE + WORD_COUNTED_BYTES;
const LAST: u32 = WORD_COUNTED_START + 4 * (WORD_COUNTED + 4);
const WORD_COUNT: u32 = LAST + 4 * (WORD_COUNTED + 1);
const IS_IN: u32 = WORD_COUNT + 4 * (WORD_COUNTED + 1);
const END: u32 = IS_IN + WORD_COUNTED;

// The numbers of word-hash.ts.
const WORD_BASIS: u32 = 0x811c9dc5;
const VALUE_BASIS: u32 = 0x2f0b4c47;
const PRIME: u32 = 0x01000193;
const ZERO: u32 = 0x30;
const SMALL_A: u32 = 0x61;
const LETTERS: u32 = 26;
const DIGITS: u32 = 10;
const CASE: u32 = 0x20;
const UNDERSCORE: u32 = 0x5f;
const MEMO_FACTOR: u64 = ((<u64>0x9e3779b9) << 32) | 0x7f4a7c15;
const BASE_MAX: u32 = 1 << 31;
/** The bits of eight bytes that ASCII does not use. */
const HIGH_BITS: u64 = ((<u64>0x80808080) << 32) | 0x80808080;

let slotBits: u32 = SLOT_BITS_MIN;
let slotFactor: u32 = 1;
let base: u32 = 1;
let hashCount: u32 = 0;
let countedCount: u32 = 0;
/** Values of the part so far, and the weight of the one in progress. */
let valueCount: u32 = 0;
let weight: u32 = 1;
/** Set when a word of the value in progress tells it from others. */
let tells: bool = false;
/** Of a window, bytes that are of words, and those that are digits. */
let wordBits: u64 = 0;
let digitBits: u64 = 0;

function textByte(at: u32): u32 {
  assert(at < WORD_TEXT_BYTES + WORD_BYTES);
  return load<u8>(WORD_TEXT + at);
}
function fold(byte: u32): u32 {
  assert(byte < 256);
  return load<u8>(WORD_FOLD + byte);
}
/** The small letter of a byte of a word. */
function lower(byte: u32): u32 {
  return byte < 0x80 ? fold(byte) : byte;
}
function offsetOf(value: u32): u32 {
  assert(value <= WORD_VALUES);
  return load<u32>(WORD_OFFSET + 4 * value);
}
function hashAt(place: u32): u32 {
  assert(place < HASHES);
  return load<u32>(WORD_HASH + 4 * place);
}
function setHash(place: u32, hash: u32): void {
  assert(place < HASHES);
  store<u32>(WORD_HASH + 4 * place, hash);
}
function slotAt(slot: u32): u32 {
  assert(slot < SLOTS);
  return load<u32>(SLOT + 4 * slot);
}
function setSlot(slot: u32, held: u32): void {
  assert(slot < SLOTS);
  store<u32>(SLOT + 4 * slot, held);
}
function countedStart(place: u32): u32 {
  assert(place <= WORD_COUNTED);
  return load<u32>(WORD_COUNTED_START + 4 * place);
}
function countedByte(at: u32): u32 {
  assert(at < WORD_COUNTED_BYTES);
  return load<u8>(WORD_COUNTED_BYTE + at);
}
/** Up to SHORT_BYTES bytes; behind the region are others that may be read. */
// @inline
function countedBytes(at: u32, length: u32): u64 {
  assert(at + length <= WORD_COUNTED_BYTES);
  return load<u64>(WORD_COUNTED_BYTE + at) & (u64.MAX_VALUE >>> (64 - 8 * length));
}

/** Spreads the bits of a hash: the end of MurmurHash3. */
function finished(hash: u32): u32 {
  let mixed = (hash ^ (hash >>> 16)) * 0x85ebca6b;
  mixed = (mixed ^ (mixed >>> 13)) * 0xc2b2ae35;
  return mixed ^ (mixed >>> 16);
}

/** Puts a hash, which is new, behind the others. */
function putHash(hash: u32, slot: u32): u32 {
  const place = hashCount++;
  setHash(place, hash);
  setSlot(slot, base + place);
  return place;
}

/** The place of a hash, which is added when it is not there. There has to be room. */
function addHash(hash: u32): u32 {
  const mask = ((<u32>1) << slotBits) - 1;
  let slot = (hash * slotFactor) >>> (32 - slotBits);
  for (let held = slotAt(slot); held >= base; held = slotAt(slot)) {
    if (hashAt(held - base) === hash) return held - base;
    slot = (slot + 1) & mask;
  }
  const place = putHash(hash, slot);
  if (hashCount * 2 > mask) growSlots();
  return place;
}

function growSlots(): void {
  slotBits++;
  const mask = ((<u32>1) << slotBits) - 1;
  assert(mask < SLOTS);
  clearMemo();
  base = 1;
  memory.fill(SLOT, 0, 4 * (mask + 1));
  for (let place: u32 = 0; place < hashCount; place++) {
    let slot = (hashAt(place) * slotFactor) >>> (32 - slotBits);
    while (slotAt(slot) !== 0) slot = (slot + 1) & mask;
    setSlot(slot, base + place);
  }
}

/** Reports that the words of so many bytes have room. */
function hasRoom(bytes: u32): bool {
  return hashCount + (bytes >>> 1) + 2 < HASHES;
}

/** Reports that the word of a place has `length` bytes, and that the value in progress was not counted for it. */
// @inline
function mayCount(place: u32, length: u32): bool {
  store<u8>(IS_IN + place, 1);
  if (load<u32>(LAST + 4 * place) === valueCount) return false;
  return countedStart(place + 1) - countedStart(place) === length;
}

/** Counts the value in progress for the word of a place. */
// @inline
function addCount(place: u32): void {
  store<u32>(LAST + 4 * place, valueCount);
  store<u32>(WORD_COUNT + 4 * place, load<u32>(WORD_COUNT + 4 * place) + weight);
}

/** Counts the value in progress when the word `[from, end)` of the text is that of a place. */
function countWord(place: u32, from: u32, end: u32): void {
  if (!mayCount(place, end - from)) return;
  const start = countedStart(place);
  for (let at = from; at < end; at++) {
    if (lower(textByte(at)) !== countedByte(start + at - from)) return;
  }
  addCount(place);
}

/** Reports that a short word, its bytes made small, is that of a place. */
// @inline
function isCounted(place: u32, small: u64, length: u32): bool {
  const start = countedStart(place);
  return countedStart(place + 1) - start === length && countedBytes(start, length) === small;
}

function addWord(hash: u32, from: u32, end: u32): void {
  const place = addHash(finished(hash));
  if (place < countedCount) countWord(place, from, end);
}

/** Forgets where short words are. */
function clearMemo(): void {
  memory.fill(MEMO, 0, MEMO_BYTES * MEMOS);
}

/** Adds a word of up to SHORT_BYTES bytes: these, made small. Most of them came before. */
function addShort(small: u64, length: u32): void {
  const memo = MEMO + MEMO_BYTES * <u32>((small * MEMO_FACTOR) >>> (64 - MEMO_BITS));
  if (load<u32>(memo + MEMO_HELD) < base || load<u64>(memo) !== small) {
    keepShort(memo, small, length);
  }
  // All words count, as a processor foresees badly which do: those that are not counted together, for nobody.
  const counted = 4 * load<u32>(memo + MEMO_COUNT);
  const isNew = load<u32>(LAST + counted) !== valueCount;
  store<u32>(LAST + counted, valueCount);
  store<u32>(WORD_COUNT + counted, load<u32>(WORD_COUNT + counted) + (isNew ? weight : 0));
}

/** Adds a short word that is not in the memo, or not of this part, and puts it there. */
function keepShort(memo: u32, small: u64, length: u32): void {
  if (load<u64>(memo) !== small) {
    let hash = WORD_BASIS;
    for (let rest = small; rest !== 0; rest >>>= 8) hash = (hash ^ <u32>(rest & 0xff)) * PRIME;
    store<u64>(memo, small);
    store<u32>(memo + MEMO_HASH, finished(hash));
  }
  const place = addHash(load<u32>(memo + MEMO_HASH));
  let counts = WORD_COUNTED;
  if (place < countedCount) {
    store<u8>(IS_IN + place, 1);
    if (isCounted(place, small, length)) counts = place;
  }
  store<u32>(memo + MEMO_HELD, place + base);
  store<u32>(memo + MEMO_COUNT, counts);
}

/** Adds a word of more bytes than a short one has: `count` of what was made small, which begin at `from`. */
function addLong(small: u32, from: u32, count: u32): void {
  assert(small + count <= WINDOW);
  let hash = WORD_BASIS;
  for (let at: u32 = 0; at < count; at++) hash = (hash ^ load<u8>(SMALL + small + at)) * PRIME;
  addWord(hash, from, from + count);
}

/** Adds the word that begins at `from`, of more than a window, byte by byte; returns its end. */
function addEndless(from: u32, end: u32): u32 {
  let hash = WORD_BASIS;
  let at = from;
  for (; at < end; at++) {
    const folded = fold(textByte(at));
    if (folded === 0) break;
    hash = (hash ^ folded) * PRIME;
    if (folded - ZERO < DIGITS) tells = true;
  }
  addWord(hash, from, at);
  return at;
}

/** Makes the bytes from `at` on small, and finds those of words and digits: a bit each. */
function readWindow(at: u32, length: u32): void {
  wordBits = 0;
  digitBits = 0;
  for (let from: u32 = 0; from < length; from += VECTOR) {
    const bytes = v128.load(WORD_TEXT + at + from);
    const cased = v128.or(bytes, i8x16.splat(<i8>CASE));
    const letters = i8x16.lt_u(
      i8x16.sub(cased, i8x16.splat(<i8>SMALL_A)),
      i8x16.splat(<i8>LETTERS),
    );
    const digits = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(<i8>ZERO)), i8x16.splat(<i8>DIGITS));
    const others = i8x16.eq(bytes, i8x16.splat(<i8>UNDERSCORE));
    v128.store(SMALL + from, v128.or(bytes, v128.and(letters, i8x16.splat(<i8>CASE))));
    const words = v128.or(v128.or(letters, digits), others);
    wordBits |= (<u64>(<u32>i8x16.bitmask(words))) << from;
    digitBits |= (<u64>(<u32>i8x16.bitmask(digits))) << from;
  }
  if (length < WINDOW) wordBits &= ((<u64>1) << length) - 1;
}

/** The bytes of those words of a window that have 5 bytes, the TELLING_BYTES of word-hash.ts, or more: a bit each. */
// @inline
function tellingBits(): u64 {
  const twos = wordBits & (wordBits >>> 1);
  const begins = twos & (twos >>> 2) & (wordBits >>> 4);
  const ends = begins | (begins << 1);
  return ends | (ends << 2) | (begins << 4);
}

/** Adds the words of a window that was read at `at`. */
function addWindow(at: u32): void {
  if ((tellingBits() & digitBits) !== 0) tells = true;
  let starts = wordBits & ~(wordBits << 1);
  let ends = ~wordBits & (wordBits << 1);
  while (starts !== 0) {
    const from = <u32>ctz(starts);
    // Of a word that ends with the window there is no bit, which counts as the one behind the last.
    const count = <u32>ctz(ends) - from;
    starts &= starts - 1;
    ends &= ends - 1;
    if (count > SHORT_BYTES) addLong(from, at + from, count);
    else addShort(load<u64>(SMALL + from) & (u64.MAX_VALUE >>> (64 - 8 * count)), count);
  }
}

/** Adds the words of a value; reports that none of them tells it from others. */
function hashWords(start: u32, end: u32): bool {
  tells = false;
  for (let at = start; at < end; ) {
    const length = min(end - at, WINDOW);
    readWindow(at, length);
    // Bytes of a word at the end of a window that goes on behind it.
    const open = at + length < end ? <u32>clz(~wordBits) : 0;
    if (open === WINDOW) at = addEndless(at, end);
    else {
      if (open > 0) wordBits &= u64.MAX_VALUE >>> open;
      addWindow(at);
      at += length - open;
    }
  }
  return !tells;
}

function addWhole(start: u32, end: u32): void {
  let hash = VALUE_BASIS;
  for (let at = start; at < end; at++) hash = (hash ^ textByte(at)) * PRIME;
  const place = addHash(finished(hash));
  if (place < countedCount) store<u8>(IS_IN + place, 1);
}

function isAscii(start: u32, end: u32): bool {
  let bytes = i8x16.splat(0);
  let at = start;
  for (; at + VECTOR <= end; at += VECTOR) bytes = v128.or(bytes, v128.load(WORD_TEXT + at));
  let rest: u64 = 0;
  if (at + 8 <= end) {
    rest = load<u64>(WORD_TEXT + at);
    at += 8;
  }
  // Behind the text are other bytes that may be read.
  if (at < end) rest |= load<u64>(WORD_TEXT + at) & (u64.MAX_VALUE >>> (64 - 8 * (end - at)));
  return i8x16.bitmask(bytes) === 0 && (rest & HIGH_BITS) === 0;
}

/** Begins a value that counts as many as it weighs. */
export function wordValue(weighs: u32): void {
  valueCount++;
  weight = weighs;
}

/**
 * Adds the values `[first, count)` to the part, with `hasValues` as a whole too when their words do not tell them from
 * others. Returns the number of the first that it declines, or `count`.
 */
export function wordValues(first: u32, count: u32, hasValues: bool): u32 {
  assert(count <= WORD_VALUES);
  let checked = first;
  let areAscii = false;
  for (let value = first; value < count; value++) {
    const start = offsetOf(value);
    const end = offsetOf(value + 1);
    assert(start <= end && end <= WORD_TEXT_BYTES);
    if (value === checked) {
      checked = min(count, value + ASCII_VALUES);
      areAscii = isAscii(start, offsetOf(checked));
    }
    if (!hasRoom(end - start) || !(areAscii || isAscii(start, end))) return value;
    wordValue(load<u32>(WORD_WEIGHT + 4 * value));
    if (hashWords(start, end) && hasValues) addWhole(start, end);
  }
  return count;
}

/** Adds a hash of the value in progress, which is that of a word of so many bytes; false without room. */
export function wordAdd(hash: u32, length: u32): bool {
  assert(length <= WORD_BYTES);
  if (!hasRoom(2)) return false;
  const place = addHash(hash);
  if (place < countedCount) countWord(place, WORD_TEXT_BYTES, WORD_TEXT_BYTES + length);
  return true;
}

/** Begins a part of a column with `count` counted words, whose hashes are the first ones. */
export function wordBegin(count: u32): void {
  assert(count <= WORD_COUNTED);
  countedCount = count;
  base += hashCount;
  if (base >= BASE_MAX) {
    memory.fill(SLOT, 0, 4 * SLOTS);
    clearMemo();
    base = 1;
  }
  hashCount = 0;
  valueCount = 0;
  memory.fill(LAST, 0, 4 * count);
  memory.fill(WORD_COUNT, 0, 4 * count);
  memory.fill(IS_IN, 0, count);
  for (let place: u32 = 0; place < count; place++) addHash(hashAt(place));
}

/** Ends the part: the place from which on the hashes are those that are in it. */
export function wordEnd(): u32 {
  let first = countedCount;
  for (let place = countedCount; place > 0; place--) {
    if (load<u8>(IS_IN + place - 1) === 1) setHash(--first, hashAt(place - 1));
  }
  return first;
}

/** Makes room for all regions; false when the system has none. `factor` is odd and not to be known to others. */
export function wordStart(factor: u32): bool {
  const pages = <i32>((END + 0xffff) >>> 16) - memory.size();
  if (pages > 0 && memory.grow(pages) < 0) return false;
  slotFactor = factor;
  return true;
}

export {
  hashCount as wordHashCount,
  WORD_BYTES,
  WORD_COUNT,
  WORD_COUNTED_BYTE,
  WORD_COUNTED_START,
  WORD_FOLD,
  WORD_HASH,
  WORD_OFFSET,
  WORD_TEXT,
  WORD_TEXT_BYTES,
  WORD_VALUES,
  WORD_WEIGHT,
};
