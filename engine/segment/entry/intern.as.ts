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
 * | slots | by hash, the number + 1 of a distinct string; 0 in an empty slot (u32) |
 * | entry bytes | the distinct strings, one after the other |
 */

const INTERN_TEXT_BYTES: u32 = 1 << 20;
const INTERN_STRINGS: u32 = 1 << 14;
const ENTRIES: u32 = 1 << 21;
const ENTRY_BYTES: u32 = 36 << 20;
const SLOTS: u32 = 2 * ENTRIES;
const SLOT_BITS_MIN: u32 = 10;
const PAD_BYTES: u32 = 16;

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

/** Hashes `[start, end)` of the text, keyed, four bytes at once. */
function hashText(start: u32, end: u32): u32 {
  assert(start <= end && end <= INTERN_TEXT_BYTES);
  let hash = seed ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) hash = rotl((hash ^ load<u32>(INTERN_TEXT + at)) * 0x9e3779b1, 13);
  for (; at < end; at++) hash = (hash ^ load<u8>(INTERN_TEXT + at)) * 0x01000193;
  hash = (hash ^ (hash >>> 16)) * 0x85ebca6b;
  hash = (hash ^ (hash >>> 13)) * 0xc2b2ae35;
  return hash ^ (hash >>> 16);
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
  for (; at < length; at++) if (load<u8>(left + at) !== load<u8>(right + at)) return false;
  return true;
}

function growSlots(): void {
  slotBits += 2;
  const mask = ((<u32>1) << slotBits) - 1;
  memory.fill(SLOT, 0, 4 * (mask + 1));
  for (let entry: u32 = 0; entry < entryCount; entry++) {
    let slot = hashOf(entry) & mask;
    while (slotAt(slot) !== 0) slot = (slot + 1) & mask;
    setSlot(slot, entry + 1);
  }
}

/** The number of `[start, end)` of the text. There has to be room. */
function intern(start: u32, end: u32): u32 {
  const hash = hashText(start, end);
  const mask = ((<u32>1) << slotBits) - 1;
  let slot = hash & mask;
  for (let held = slotAt(slot); held !== 0; held = slotAt(slot)) {
    if (hashOf(held - 1) === hash && isEntry(held - 1, start, end)) return held - 1;
    slot = (slot + 1) & mask;
  }
  const entry = entryCount++;
  memory.copy(INTERN_ENTRY + entryEnd, INTERN_TEXT + start, end - start);
  entryEnd += end - start;
  store<u32>(INTERN_ENTRY_OFFSET + 4 * entryCount, entryEnd);
  store<u32>(HASH + 4 * entry, hash);
  setSlot(slot, entry + 1);
  if (entryCount * 2 > mask && slotBits + 2 <= 22) growSlots();
  return entry;
}

/** Numbers strings from the first on; returns how many, which are fewer when there is no room for the next one. */
export function internStrings(count: u32): u32 {
  assert(count <= INTERN_STRINGS);
  for (let string: u32 = 0; string < count; string++) {
    const start = offsetOf(string);
    const end = offsetOf(string + 1);
    if (entryCount + 1 >= ENTRIES || end - start > ENTRY_BYTES - entryEnd) return string;
    store<u32>(INTERN_NUMBER + 4 * string, intern(start, end));
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
};
