/**
 * Kernel that puts strings in the order of their first bytes, compiled to WebAssembly: those that intern.as.ts has
 * numbered. The plain form is entry-order.ts. It is a quicksort by eight bytes at a time, which are read once.
 *
 * It uses regions of intern.as.ts that are needed no more once all strings are numbered:
 *
 * | region | holds |
 * |---|---|
 * | hashes | numbers of the strings (u32) |
 * | slots | of each of them eight bytes, the first one the highest (u64) |
 */
import { entryBytes, entryOffset, INTERN_ENTRIES, INTERN_HASH, INTERN_SLOT } from './intern.as.ts';

const ORDER_BYTES: u32 = 64;
const KEY_BYTES: u32 = 8;
/** Strings that are put in order by insertion. */
const FEW: u32 = 16;

const ORDER_ENTRY: u32 = INTERN_HASH;

/** Chooses what strings are compared with: strangers do not know it. */
let choice: u32 = 1;

function entryAt(place: u32): u32 {
  assert(place < INTERN_ENTRIES);
  return load<u32>(ORDER_ENTRY + 4 * place);
}
function setEntry(place: u32, entry: u32): void {
  assert(place < INTERN_ENTRIES);
  store<u32>(ORDER_ENTRY + 4 * place, entry);
}
function keyAt(place: u32): u64 {
  assert(place < INTERN_ENTRIES);
  return load<u64>(INTERN_SLOT + 8 * place);
}
function setKey(place: u32, key: u64): void {
  assert(place < INTERN_ENTRIES);
  store<u64>(INTERN_SLOT + 8 * place, key);
}

/** The eight bytes of a string from `depth` on, with zeros behind its end; behind the last bytes its number. */
function keyOf(entry: u32, depth: u32): u64 {
  if (depth === ORDER_BYTES) return entry;
  const at = entryOffset(entry) + depth;
  const end = entryOffset(entry + 1);
  if (at >= end) return 0;
  const key = bswap(entryBytes(at));
  const missing = at + KEY_BYTES - min(at + KEY_BYTES, end);
  return (key >> (8 * missing)) << (8 * missing);
}

function swap(left: u32, right: u32): void {
  const key = keyAt(left);
  const entry = entryAt(left);
  setKey(left, keyAt(right));
  setEntry(left, entryAt(right));
  setKey(right, key);
  setEntry(right, entry);
}

function insert(from: u32, to: u32): void {
  for (let place = from + 1; place < to; place++) {
    const key = keyAt(place);
    const entry = entryAt(place);
    let at = place;
    for (; at > from && keyAt(at - 1) > key; at--) {
      setKey(at, keyAt(at - 1));
      setEntry(at, entryAt(at - 1));
    }
    setKey(at, key);
    setEntry(at, entry);
  }
}

/** Puts strings in order that are alike up to `depth`. */
function orderFrom(from: u32, to: u32, depth: u32): void {
  for (let place = from; place < to; place++) setKey(place, keyOf(entryAt(place), depth));
  orderKeys(from, to, depth);
}

/** Goes on behind the bytes of the keys, with those strings that have the same. */
function orderEqual(from: u32, to: u32, depth: u32): void {
  if (depth === ORDER_BYTES) return;
  for (let first = from; first < to; ) {
    const key = keyAt(first);
    let end = first + 1;
    while (end < to && keyAt(end) === key) end++;
    if (end - first > 1) orderFrom(first, end, depth + KEY_BYTES);
    first = end;
  }
}

function orderKeys(first: u32, end: u32, depth: u32): void {
  let from = first;
  let to = end;
  while (to - from > FEW) {
    choice = choice * 1_664_525 + 1_013_904_223;
    const pivot = keyAt(from + <u32>((<u64>choice * (to - from)) >> 32));
    // Keys below the pivot, equal to it, not looked at yet, above it.
    let below = from;
    let above = to;
    for (let at = from; at < above; ) {
      const key = keyAt(at);
      if (key < pivot) swap(at++, below++);
      else if (key > pivot) swap(at, --above);
      else at++;
    }
    if (above - below > 1 && depth !== ORDER_BYTES) orderFrom(below, above, depth + KEY_BYTES);
    // The smaller part first, so that calls are not deep.
    if (below - from < to - above) {
      orderKeys(from, below, depth);
      from = above;
    } else {
      orderKeys(above, to, depth);
      to = below;
    }
  }
  insert(from, to);
  orderEqual(from, to, depth);
}

/** Puts `count` strings in order; `seed` is not to be known to others. */
export function orderEntries(count: u32, seed: u32): void {
  choice = seed;
  orderFrom(0, count, 0);
}

export { ORDER_ENTRY };
