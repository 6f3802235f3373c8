/**
 * Kernel that numbers strings, compiled to WebAssembly: equal ones alike, in the order in which they come. The
 * reference is `Dictionary.intern`. It stops at the first string that it has no room for.
 *
 * The memory, private to one instance; regions are fixed and follow each other, and of most only the beginning is used:
 *
 * | region | holds |
 * |---|---|
 * | text | strings that are to be numbered, or were gathered, one after the other, `INTERN_TEXT_BYTES` at most |
 * | offsets | where each begins, and the end of the last one (u32) |
 * | numbers | the number of each (u32) |
 * | entry offsets | where each distinct string begins, and the end of the last one (u32) |
 * | hashes | of each distinct string (u32) |
 * | slots | by hash, the number + 1 of a distinct string and above it bits of its hash; 0 in an empty slot (u32) |
 * | entry bytes | the distinct strings, one after the other |
 */

const INTERN_TEXT_BYTES: u32 = 1 << 20;
const INTERN_STRINGS: u32 = 1 << 14;
const ENTRIES: u32 = 1 << 21;
const ENTRY_BYTES: u32 = 36 << 20;
const SLOTS: u32 = 2 * ENTRIES;
const SLOT_BITS_MIN: u32 = 10;
/** Bits of slots from which on these become twice as many at once, before four times. */
const SLOT_BITS_MANY: u32 = 20;
const SLOT_BITS_MAX: u32 = 22;
/** Bits of a number + 1 in a slot. */
const NUMBER_BITS: u32 = 21;
const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;
/** Strings whose places are looked up together, so that the processor waits for memory once for several. */
const TOGETHER: u32 = 16;
const PAD_BYTES: u32 = 16;
const HASH_FACTOR: u64 = ((<u64>0x9e3779b9) << 32) | 0x7f4a7c15;

const INTERN_TEXT: u32 = 1024;
const INTERN_OFFSET: u32 = INTERN_TEXT + INTERN_TEXT_BYTES + PAD_BYTES;
const INTERN_NUMBER: u32 = INTERN_OFFSET + 4 * (INTERN_STRINGS + 4);
const INTERN_ENTRY_OFFSET: u32 = INTERN_NUMBER + 4 * INTERN_STRINGS;
const HASH: u32 = INTERN_ENTRY_OFFSET + 4 * (ENTRIES + 4);
const SLOT: u32 = HASH + 4 * ENTRIES;
const INTERN_ENTRY: u32 = SLOT + 4 * SLOTS;
const END: u32 = INTERN_ENTRY + ENTRY_BYTES + PAD_BYTES;

let slotBits: u32 = SLOT_BITS_MIN;
let seed: u32 = 0;
let entryCount: u32 = 0;
let entryEnd: u32 = 0;
/** A sum of what was brought near. It is exported, so that no compiler leaves out the reads that nobody needs. */
let near: u32 = 0;

function offsetOf(string: u32): u32 {
  assert(string <= INTERN_STRINGS);
  return load<u32>(INTERN_OFFSET + 4 * string);
}
function entryOffset(entry: u32): u32 {
  assert(entry <= ENTRIES);
  return load<u32>(INTERN_ENTRY_OFFSET + 4 * entry);
}
function hashOf(entry: u32): u32 {
  assert(entry < ENTRIES);
  return load<u32>(HASH + 4 * entry);
}
function slotAt(slot: u32): u32 {
  assert(slot < SLOTS);
  return load<u32>(SLOT + 4 * slot);
}
function setSlot(slot: u32, held: u32): void {
  assert(slot < SLOTS);
  store<u32>(SLOT + 4 * slot, held);
}

/** The bits of the first `count` bytes of a word, less than all: strings have room for a word behind them. */
// @inline
function maskOf(count: u32): u64 {
  return ((<u64>1) << (8 * count)) - 1;
}

/** Hashes `[start, end)` of the text, keyed, eight bytes at once. */
function hashText(start: u32, end: u32): u32 {
  assert(start <= end && end <= INTERN_TEXT_BYTES);
  const last = INTERN_TEXT + end;
  let at = INTERN_TEXT + start;
  let hash = ((<u64>seed) << 32) ^ (end - start);
  for (; at + 8 <= last; at += 8) hash = rotl((hash ^ load<u64>(at)) * HASH_FACTOR, 29);
  hash = (hash ^ (load<u64>(at) & maskOf(last - at))) * HASH_FACTOR;
  hash = (hash ^ (hash >>> 32)) * HASH_FACTOR;
  return <u32>(hash >>> 32);
}

/** Reports that an entry is `[start, end)` of the text. */
function isEntry(entry: u32, start: u32, end: u32): bool {
  const from = entryOffset(entry);
  const length = end - start;
  if (entryOffset(entry + 1) - from !== length) return false;
  assert(from + length <= ENTRY_BYTES);
  const left = INTERN_ENTRY + from;
  const right = INTERN_TEXT + start;
  let at: u32 = 0;
  for (; at + 8 <= length; at += 8) {
    if (load<u64>(left + at) !== load<u64>(right + at)) return false;
  }
  return ((load<u64>(left + at) ^ load<u64>(right + at)) & maskOf(length - at)) === 0;
}

/** Copies a string to the entries; both regions have room for a vector behind them. */
function copyText(from: u32, to: u32, length: u32): void {
  assert(from + length <= INTERN_TEXT_BYTES && to + length <= ENTRY_BYTES);
  for (let at: u32 = 0; at < length; at += PAD_BYTES) {
    v128.store(INTERN_ENTRY + to + at, v128.load(INTERN_TEXT + from + at));
  }
}

/** A number + 1 as a slot holds it. */
function heldOf(number: u32, hash: u32): u32 {
  return (number + 1) | (hash & ~NUMBER_MASK);
}

function growSlots(): void {
  slotBits += slotBits < SLOT_BITS_MANY ? 2 : 1;
  const mask = ((<u32>1) << slotBits) - 1;
  memory.fill(SLOT, 0, 4 * (mask + 1));
  for (let entry: u32 = 0; entry < entryCount; entry++) {
    const hash = hashOf(entry);
    let slot = hash & mask;
    while (slotAt(slot) !== 0) slot = (slot + 1) & mask;
    setSlot(slot, heldOf(entry, hash));
  }
}

/** The number of `[start, end)` of the text, whose hash is known. There has to be room. */
function intern(start: u32, end: u32, hash: u32): u32 {
  const mask = ((<u32>1) << slotBits) - 1;
  let slot = hash & mask;
  for (let held = slotAt(slot); held !== 0; held = slotAt(slot)) {
    const number = (held & NUMBER_MASK) - 1;
    if ((held ^ hash) >>> NUMBER_BITS === 0 && isEntry(number, start, end)) return number;
    slot = (slot + 1) & mask;
  }
  const entry = entryCount++;
  copyText(start, entryEnd, end - start);
  entryEnd += end - start;
  store<u32>(INTERN_ENTRY_OFFSET + 4 * entryCount, entryEnd);
  store<u32>(HASH + 4 * entry, hash);
  setSlot(slot, heldOf(entry, hash));
  if (entryCount * 2 > mask && slotBits < SLOT_BITS_MAX) growSlots();
  return entry;
}

/** Hashes the strings `[from, to)`, and has what they are mostly compared with brought near. */
function lookUp(from: u32, to: u32): void {
  const mask = ((<u32>1) << slotBits) - 1;
  for (let string = from; string < to; string++) {
    const hash = hashText(offsetOf(string), offsetOf(string + 1));
    store<u32>(INTERN_NUMBER + 4 * string, hash);
    near += slotAt(hash & mask);
  }
  for (let string = from; string < to; string++) {
    const held = slotAt(load<u32>(INTERN_NUMBER + 4 * string) & mask);
    if (held !== 0) near += load<u8>(INTERN_ENTRY + entryOffset((held & NUMBER_MASK) - 1));
  }
}

/** Numbers strings from the first on; returns how many, which are fewer when there is no room for the next one. */
export function internStrings(count: u32): u32 {
  assert(count <= INTERN_STRINGS);
  for (let from: u32 = 0; from < count; from += TOGETHER) {
    const to = min(count, from + TOGETHER);
    lookUp(from, to);
    for (let string = from; string < to; string++) {
      const start = offsetOf(string);
      const end = offsetOf(string + 1);
      if (entryCount + 1 >= ENTRIES || end - start > ENTRY_BYTES - entryEnd) return string;
      const place = INTERN_NUMBER + 4 * string;
      store<u32>(place, intern(start, end, load<u32>(place)));
    }
  }
  return count;
}

/** Copies `length` bytes; both places have room for a vector behind them. */
function copyEntry(from: u32, to: u32, length: u32): void {
  assert(from + length <= ENTRY_BYTES && to + length <= INTERN_TEXT_BYTES);
  for (let at: u32 = 0; at < length; at += PAD_BYTES) {
    v128.store(INTERN_TEXT + to + at, v128.load(INTERN_ENTRY + from + at));
  }
}

/**
 * Puts the distinct strings that the first `count` numbers name into the text, one after the other, and where they lie
 * into the offsets; false when there is no room for all of them.
 */
export function internGather(count: u32): bool {
  assert(count <= INTERN_STRINGS);
  let end: u32 = 0;
  for (let at: u32 = 0; at < count; at++) {
    const entry = load<u32>(INTERN_NUMBER + 4 * at);
    if (entry >= entryCount) return false;
    const from = entryOffset(entry);
    const length = entryOffset(entry + 1) - from;
    if (length > INTERN_TEXT_BYTES - end) return false;
    store<u32>(INTERN_OFFSET + 4 * at, end);
    copyEntry(from, end, length);
    end += length;
  }
  store<u32>(INTERN_OFFSET + 4 * count, end);
  return true;
}

/** Forgets all strings. `key` is not to be known to others. */
export function internBegin(key: u32): void {
  seed = key;
  slotBits = SLOT_BITS_MIN;
  memory.fill(SLOT, 0, (<u32>4) << slotBits);
  entryCount = 0;
  entryEnd = 0;
  store<u32>(INTERN_ENTRY_OFFSET, 0);
}

/** Makes room for all regions; false when the system has none. */
export function internStart(): bool {
  const pages = <i32>((END + 0xffff) >>> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

export {
  entryCount as internEntryCount,
  entryEnd as internEntryEnd,
  INTERN_ENTRY,
  INTERN_ENTRY_OFFSET,
  INTERN_NUMBER,
  INTERN_OFFSET,
  INTERN_STRINGS,
  INTERN_TEXT,
  INTERN_TEXT_BYTES,
  near as internNear,
};
