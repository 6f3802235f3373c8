// biome-ignore format: a name a line would be a page.
import {
  anyVector, arena, BATCH_VECTOR, COLUMN, COLUMN_ADDED, COLUMN_BYTE_ROOM, COLUMN_BYTES, COLUMN_BYTES_AT,
  COLUMN_COUNT, COLUMN_DETAILS, COLUMN_ENTRIES, COLUMN_ENTRY_ROOM, COLUMN_FIRST, COLUMN_HASHES,
  COLUMN_KEY, COLUMN_LAST, COLUMN_LAST_BYTES, COLUMN_LAST_COUNT, COLUMN_LAST_ENTRIES,
  COLUMN_OFFSETS, COLUMN_PLAIN, COLUMN_PLAIN_BLOCKS, COLUMN_ROOM, COLUMN_ROWS, COLUMN_SLOT_COUNT,
  COLUMN_SLOTS, COLUMN_VALUES, columnField, freePiece, KIND_BITS, LEAF_DETAIL, LEAF_LENGTH,
  LEAF_START, LEAF_VALUE, leafRow, nextLeaf, PIECE_BYTES_MIN, SIZE_MIN, SIZES, setColumn,
  setColumnNumber, setFreePiece, setLeafRow, setNextLeaf, textLong, textVector,
} from './memory.as.ts';

/**
 * Values of the columns of append.as.ts. Leaves of some rows are chained by column first (`chainLeaf`), then each
 * column takes its own (`addLeaves`): what is done for one leaf after the other is alike.
 *
 * Arrays of a column lie in pieces of the arena; one that is full is copied to a piece twice as large. A block begins
 * with pieces as large as the last one needed.
 */

// Kinds of leaves: engine/column/kind.ts.
const KIND_BOOLEAN: u32 = 2;
const KIND_NUMBER: u32 = 3;
const KIND_STRING: u32 = 4;
const KIND_ARRAY: u32 = 5;
/** `detail` of a number whose text counts: engine/column/rows.ts. */
const NUMBER_AS_TEXT: u32 = 0xffff;

// Rules of strings.ts.
const TRIAL_VALUES: u32 = 4_096;
const BLOCK_VALUES_MIN: u32 = 64;
const PLAIN_BLOCKS_MAX: u32 = 16;

const VALUES_MIN: u32 = 32;
const DICTIONARY_ENTRIES_MIN: u32 = 16;
const SLOTS_PER_ENTRY: u32 = 2;
const SLOTS_GROWTH: u32 = 4;
const NO_LENGTH: u32 = 0xffffffff;
const SPREAD_LONG: u64 = ((<u64>0x9e3779b9) << 32) | 0x7f4a7c15;

let arenaTop: u32 = PIECE_BYTES_MIN;
/** Secrets of this instance: nobody outside can choose strings of one hash. */
let secretLow: u32 = 0;
let secretHigh: u32 = 0;

/** Takes the secrets of hashes. */
function setSecrets(low: u32, high: u32): void {
  secretLow = low;
  secretHigh = high;
}

/** Takes all pieces of the arena back. */
function resetArena(): void {
  arenaTop = PIECE_BYTES_MIN;
  for (let size: u32 = 0; size < SIZES; size++) setFreePiece(size, 0);
}

/** Logarithm of the size of the piece for `bytes` bytes. */
function sizeFor(bytes: u32): u32 {
  return bytes <= PIECE_BYTES_MIN ? SIZE_MIN : 32 - clz<u32>(bytes - 1);
}

/** A power of two that is at least `count` and `least`, itself one. */
function roomFor(count: u32, least: u32): u32 {
  return count <= least ? least : (<u32>1) << (32 - clz<u32>(count - 1));
}

/** A piece of at least `bytes` bytes, which hold anything. */
function piece(bytes: u32): u32 {
  const size = sizeFor(bytes);
  const free = freePiece(size);
  if (free !== 0) {
    setFreePiece(size, load<u32>(arena(free, 4)));
    return free;
  }
  const at = arenaTop;
  arenaTop += (<u32>1) << size;
  arena(at, (<u32>1) << size);
  return at;
}

/** Puts what was in a piece into one of at least `bytes` bytes; 0 stands for a piece with nothing. */
function larger(at: u32, usedBytes: u32, bytes: u32): u32 {
  const to = piece(bytes);
  if (at === 0) return to;
  memory.copy(arena(to, usedBytes), arena(at, usedBytes), usedBytes);
  const size = sizeFor(usedBytes);
  store<u32>(arena(at, 4), freePiece(size));
  setFreePiece(size, at);
  return to;
}

/** Makes room for `count` values; arrays of a column grow together. */
function reserveValues(column: u32, count: u32): void {
  const room = columnField(column, COLUMN_ROOM);
  if (count <= room) return;
  const last = columnField(column, COLUMN_LAST_COUNT);
  const wanted = roomFor(max(count, room === 0 ? last : 2 * room), VALUES_MIN);
  setColumn(column, COLUMN_ROWS, larger(columnField(column, COLUMN_ROWS), 2 * room, 2 * wanted));
  setColumn(
    column,
    COLUMN_DETAILS,
    larger(columnField(column, COLUMN_DETAILS), 2 * room, 2 * wanted),
  );
  const kind = columnField(column, COLUMN_KEY) & ((1 << KIND_BITS) - 1);
  if (kind !== KIND_STRING && kind !== KIND_ARRAY && kind !== KIND_BOOLEAN) {
    setColumn(
      column,
      COLUMN_VALUES,
      larger(columnField(column, COLUMN_VALUES), 8 * room, 8 * wanted),
    );
  }
  setColumn(column, COLUMN_ROOM, wanted);
}

/** Puts value number `at` of a column, in a row behind those before, to the places of its rows and details. */
// @inline
function putValue(rows: u32, details: u32, at: u32, row: u32, detail: u32): void {
  const place = arena(rows + 2 * at, 2);
  // A row has a value of a column once.
  if (at > 0 && <u32>load<u16>(place - 2) >= row) unreachable();
  store<u16>(place, <u16>row);
  store<u16>(arena(details + 2 * at, 2), <u16>detail);
}

/** Makes room for more entries of a dictionary. */
function growEntries(column: u32): void {
  const room = columnField(column, COLUMN_ENTRY_ROOM);
  const last = columnField(column, COLUMN_LAST_ENTRIES);
  const wanted = room === 0 ? roomFor(last + 1, DICTIONARY_ENTRIES_MIN) : 2 * room;
  const offsets = larger(columnField(column, COLUMN_OFFSETS), 4 * room, 4 * wanted);
  setColumn(column, COLUMN_OFFSETS, offsets);
  if (columnField(column, COLUMN_PLAIN) === 0) {
    const hashes = columnField(column, COLUMN_HASHES);
    setColumn(column, COLUMN_HASHES, larger(hashes, 4 * room, 4 * wanted));
  }
  if (room === 0) store<u32>(arena(offsets, 4), 0);
  setColumn(column, COLUMN_ENTRY_ROOM, wanted);
}

/** Offset of an entry's first byte; of the number of entries, that of the end of all. */
function entryOffset(column: u32, entry: u32): u32 {
  return load<u32>(arena(columnField(column, COLUMN_OFFSETS) + 4 * entry, 4));
}

/** Copies a text to the arena, which has room for whole vectors behind it. */
// @inline
function copyText(text: u32, length: u32, to: u32): void {
  if (length > 4 * BATCH_VECTOR) {
    textVector(text + length - BATCH_VECTOR);
    memory.copy(to, text, length);
    return;
  }
  for (let done: u32 = 0; done < length; done += BATCH_VECTOR) {
    v128.store(to + done, textVector(text + done));
  }
}

/** Adds an entry without looking for an equal one. */
// @inline
function addEntry(column: u32, text: u32, length: u32): u32 {
  const entry = columnField(column, COLUMN_ENTRIES);
  // One offset more than there are entries.
  if (entry + 1 >= columnField(column, COLUMN_ENTRY_ROOM)) growEntries(column);
  const used = entryOffset(column, entry);
  const room = columnField(column, COLUMN_BYTE_ROOM);
  const needed = used + length + BATCH_VECTOR;
  if (needed > room) {
    const last = columnField(column, COLUMN_LAST_BYTES) + BATCH_VECTOR;
    const wanted = roomFor(max(needed, room === 0 ? last : 2 * room), PIECE_BYTES_MIN);
    setColumn(column, COLUMN_BYTES_AT, larger(columnField(column, COLUMN_BYTES_AT), room, wanted));
    setColumn(column, COLUMN_BYTE_ROOM, wanted);
  }
  copyText(text, length, arena(columnField(column, COLUMN_BYTES_AT) + used, length + BATCH_VECTOR));
  const offsets = columnField(column, COLUMN_OFFSETS);
  store<u32>(arena(offsets + 4 * (entry + 1), 4), used + length);
  setColumn(column, COLUMN_ENTRIES, entry + 1);
  return entry;
}

/** Compares a text with bytes at an address, of the arena or another text. */
// @inline
function isText(bytes: u32, text: u32, length: u32): bool {
  let done: u32 = 0;
  while (done + BATCH_VECTOR <= length) {
    const same = i8x16.bitmask(i8x16.eq(anyVector(bytes + done), textVector(text + done)));
    if (same !== 0xffff) return false;
    done += BATCH_VECTOR;
  }
  const same = i8x16.bitmask(i8x16.eq(anyVector(bytes + done), textVector(text + done)));
  const wanted = (1 << (length - done)) - 1;
  return (same & wanted) === wanted;
}

/** Address of the bytes of an entry. */
// @inline
function entryAt(column: u32, entry: u32): u32 {
  return arena(columnField(column, COLUMN_BYTES_AT) + entryOffset(column, entry), BATCH_VECTOR);
}

/** Compares an entry with a text. */
// @inline
function isEntry(column: u32, entry: u32, text: u32, length: u32): bool {
  const entryLength = entryOffset(column, entry + 1) - entryOffset(column, entry);
  return entryLength === length && isText(entryAt(column, entry), text, length);
}

/** Mixes eight bytes into a state by a product of both with the secrets. */
// @inline
function mixed(state: u64, bytes: u64): u64 {
  const both = state ^ bytes;
  const product = <u64>(<u32>both + secretLow) * <u64>(<u32>(both >>> 32) + secretHigh);
  return product ^ rotl<u64>(both * SPREAD_LONG, 31);
}

/** A hash of two states, each of every other eight bytes, so that one need not wait for the other. */
// @inline
function hashOf(text: u32, length: u32): u32 {
  let hash = mixed(((<u64>secretHigh) << 32) | secretLow, length);
  let other = ((<u64>secretLow) << 32) | secretHigh;
  let done: u32 = 0;
  for (; done + 16 <= length; done += 16) {
    hash = mixed(hash, textLong(text + done));
    other = mixed(other, textLong(text + done + 8));
  }
  const rest = length - done;
  if (rest >= 8) hash = mixed(hash, textLong(text + done));
  if ((rest & 7) !== 0) {
    const last = textLong(text + done + (rest & 8));
    other = mixed(other, last & (((<u64>1) << (<u64>(rest & 7) * 8)) - 1));
  }
  hash = mixed(hash, other);
  hash ^= hash >>> 32;
  return <u32>((hash * SPREAD_LONG) >>> 32);
}

/** Puts a slot for each entry into a table that has room for as many again. */
function growSlots(column: u32): void {
  const entries = columnField(column, COLUMN_ENTRIES);
  const before = columnField(column, COLUMN_SLOT_COUNT);
  const last = columnField(column, COLUMN_LAST_ENTRIES);
  const least = SLOTS_PER_ENTRY * DICTIONARY_ENTRIES_MIN;
  const count = before === 0 ? roomFor(SLOTS_PER_ENTRY * last, least) : SLOTS_GROWTH * before;
  if (before !== 0) {
    const size = sizeFor(4 * before);
    const old = columnField(column, COLUMN_SLOTS);
    store<u32>(arena(old, 4), freePiece(size));
    setFreePiece(size, old);
  }
  const slots = piece(4 * count);
  memory.fill(arena(slots, 4 * count), 0, 4 * count);
  const hashes = columnField(column, COLUMN_HASHES);
  for (let entry: u32 = 0; entry < entries; entry++) {
    const hash = load<u32>(arena(hashes + 4 * entry, 4));
    let slot = hash & (count - 1);
    while (load<u32>(arena(slots + 4 * slot, 4)) !== 0) slot = (slot + 1) & (count - 1);
    store<u32>(arena(slots + 4 * slot, 4), (hash & 0xffff0000) | (entry + 1));
  }
  setColumn(column, COLUMN_SLOTS, slots);
  setColumn(column, COLUMN_SLOT_COUNT, count);
}

/** The entry that is a text, made when there is none. */
// @inline
function intern(column: u32, text: u32, length: u32): u32 {
  if (columnField(column, COLUMN_SLOT_COUNT) === 0) growSlots(column);
  const hash = hashOf(text, length);
  const slots = columnField(column, COLUMN_SLOTS);
  const mask = columnField(column, COLUMN_SLOT_COUNT) - 1;
  let slot = hash & mask;
  for (;;) {
    const held = load<u32>(arena(slots + 4 * slot, 4));
    if (held === 0) break;
    const isLike = (held ^ hash) >>> 16 === 0;
    if (isLike && isEntry(column, (held & 0xffff) - 1, text, length)) return (held & 0xffff) - 1;
    slot = (slot + 1) & mask;
  }
  const entry = addEntry(column, text, length);
  store<u32>(arena(columnField(column, COLUMN_HASHES) + 4 * entry, 4), hash);
  store<u32>(arena(slots + 4 * slot, 4), (hash & 0xffff0000) | (entry + 1));
  if (SLOTS_PER_ENTRY * (entry + 1) > mask + 1) growSlots(column);
  return entry;
}

// @inline
function addStrings(column: u32): void {
  let at = columnField(column, COLUMN_COUNT);
  const end = at + columnField(column, COLUMN_ADDED);
  reserveValues(column, end);
  const rows = columnField(column, COLUMN_ROWS);
  const details = columnField(column, COLUMN_DETAILS);
  let isPlain = columnField(column, COLUMN_PLAIN) !== 0;
  let leaf = columnField(column, COLUMN_FIRST);
  // The string before, whose length is one that no string has when there is none.
  let entry: u32 = 0;
  let beforeAt: u32 = 0;
  let beforeLength = NO_LENGTH;
  if (at > 0 && !isPlain) {
    entry = load<u16>(arena(details + 2 * (at - 1), 2));
    beforeAt = entryAt(column, entry);
    beforeLength = entryOffset(column, entry + 1) - entryOffset(column, entry);
  }
  for (; at < end; leaf = nextLeaf(leaf)) {
    const text = load<u32>(LEAF_START + 4 * leaf);
    const length = load<u32>(LEAF_LENGTH + 4 * leaf);
    if (isPlain) entry = addEntry(column, text, length);
    else if (length !== beforeLength || !isText(beforeAt, text, length)) {
      entry = intern(column, text, length);
      beforeAt = text;
      beforeLength = length;
    }
    putValue(rows, details, at++, leafRow(leaf), entry);
    if (at === TRIAL_VALUES && columnField(column, COLUMN_ENTRIES) * 2 > TRIAL_VALUES) {
      isPlain = true;
    }
  }
  setColumn(column, COLUMN_COUNT, at);
  setColumn(column, COLUMN_PLAIN, isPlain ? 1 : 0);
}

// @inline
function addBooleans(column: u32): void {
  let at = columnField(column, COLUMN_COUNT);
  const end = at + columnField(column, COLUMN_ADDED);
  reserveValues(column, end);
  const rows = columnField(column, COLUMN_ROWS);
  const details = columnField(column, COLUMN_DETAILS);
  for (let leaf = columnField(column, COLUMN_FIRST); at < end; leaf = nextLeaf(leaf)) {
    putValue(rows, details, at++, leafRow(leaf), load<u32>(LEAF_LENGTH + 4 * leaf));
  }
  setColumn(column, COLUMN_COUNT, at);
}

/** Takes numbers or dates. */
// @inline
function addNumbers(column: u32, kind: u32): void {
  let at = columnField(column, COLUMN_COUNT);
  const end = at + columnField(column, COLUMN_ADDED);
  reserveValues(column, end);
  const rows = columnField(column, COLUMN_ROWS);
  const details = columnField(column, COLUMN_DETAILS);
  const values = columnField(column, COLUMN_VALUES);
  for (let leaf = columnField(column, COLUMN_FIRST); at < end; leaf = nextLeaf(leaf)) {
    const detail = <u32>load<u16>(LEAF_DETAIL + 2 * leaf);
    store<f64>(arena(values + 8 * at, 8), load<f64>(LEAF_VALUE + 8 * leaf));
    putValue(rows, details, at++, leafRow(leaf), detail);
    if (kind === KIND_NUMBER && detail === NUMBER_AS_TEXT) {
      addEntry(column, load<u32>(LEAF_START + 4 * leaf), load<u32>(LEAF_LENGTH + 4 * leaf));
    }
  }
  setColumn(column, COLUMN_COUNT, at);
}

/** Puts a leaf of a row at the end of the chain of its column; false when the column had none. */
// @inline
function chainLeaf(column: u32, leaf: u32, row: u32): bool {
  const added = columnField(column, COLUMN_ADDED);
  if (added === 0) setColumn(column, COLUMN_FIRST, leaf);
  else setNextLeaf(columnField(column, COLUMN_LAST), leaf);
  setLeafRow(leaf, row);
  setColumn(column, COLUMN_LAST, leaf);
  setColumn(column, COLUMN_ADDED, added + 1);
  return added !== 0;
}

/** Takes the leaves of the chain of a column, whose texts are given by their addresses. */
function addLeaves(column: u32): void {
  const kind = columnField(column, COLUMN_KEY) & ((1 << KIND_BITS) - 1);
  if (kind === KIND_STRING || kind === KIND_ARRAY) addStrings(column);
  else if (kind === KIND_BOOLEAN) addBooleans(column);
  else addNumbers(column, kind);
  setColumn(column, COLUMN_ADDED, 0);
}

/** Makes a column ready for the next block at number `to`, where it has no pieces. */
function renewColumn(column: u32, to: u32): void {
  const count = columnField(column, COLUMN_COUNT);
  const entries = columnField(column, COLUMN_ENTRIES);
  const bytes = entries === 0 ? 0 : entryOffset(column, entries);
  const isPlain = columnField(column, COLUMN_PLAIN) !== 0;
  const isDistinct = isPlain || (count >= BLOCK_VALUES_MIN && entries * 2 > count);
  const blocks = isDistinct ? columnField(column, COLUMN_PLAIN_BLOCKS) + 1 : 0;
  const key = columnField(column, COLUMN_KEY);
  memory.fill(COLUMN + to * COLUMN_BYTES, 0, COLUMN_BYTES);
  setColumn(to, COLUMN_KEY, key);
  setColumn(to, COLUMN_PLAIN_BLOCKS, blocks);
  setColumn(to, COLUMN_PLAIN, isDistinct && blocks % PLAIN_BLOCKS_MAX !== 0 ? 1 : 0);
  setColumn(to, COLUMN_LAST_COUNT, count);
  setColumn(to, COLUMN_LAST_ENTRIES, entries);
  setColumn(to, COLUMN_LAST_BYTES, bytes);
  setColumnNumber(key, to + 1);
}

export { addLeaves, arenaTop, chainLeaf, renewColumn, resetArena, setSecrets };
