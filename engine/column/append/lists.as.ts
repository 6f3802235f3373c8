// biome-ignore format: a name a line would be longer.
import {
  ARENA, arena, BLOCK_LIST_SLOT, LIST_SLOTS, listBefore, listCount, listRows, listSlot, setList,
  setListSlot,
} from './memory.as.ts';
// biome-ignore format: a name a line would be longer.
import { endRegion, metaByte, metaVarint, putStream, takeRegion, valueAt } from './region.as.ts';

/**
 * Rows of a block that columns have values in, as BlockEncoder writes them. Memory: see memory.as.ts.
 */

// Forms and rules of presences: presence.ts, directory.ts, limits.ts.
const BITMAP: u32 = 1;
const POSITIONS: u32 = 2;
const PRESENT_ALL: u32 = 0;
const PRESENT_NEW: u32 = 2;
const PRESENT_KNOWN: u32 = 3;
const SPARSE_RATIO: u32 = 16;
/** Spreads the bits of a hash. */
const SPREAD: u32 = 0x9e3779b1;

/** First row of the block in the batch, and how many it has. */
let fromRow: u32 = 0;
let rowsInBlock: u32 = 0;
/** Lists of rows of the block, and those before the column that is being written. */
let lists: u32 = 0;
let keptLists: u32 = 0;

/** Begins a block. */
function beginLists(from: u32, count: u32): void {
  fromRow = from;
  rowsInBlock = count;
  lists = 0;
  memory.fill(BLOCK_LIST_SLOT, 0, 4 * LIST_SLOTS);
}
/** Begins a column. */
function keepLists(): void {
  keptLists = lists;
}
/** Forgets the lists that were added since. */
function dropLists(): void {
  while (lists > keptLists) {
    const list = --lists;
    setListSlot(listSlotOf(listRows(list), listCount(list)), listBefore(list));
  }
}

/** Reports whether `count` rows that are not all of the block are written as a bitmap. */
function isBitmap(count: u32): bool {
  return count * SPARSE_RATIO >= rowsInBlock;
}

/** Slot of a list of rows, by a hash of a few of them. */
function listSlotOf(rows: u32, count: u32): u32 {
  const first = <u32>load<u16>(rows);
  const middle = <u32>load<u16>(rows + 2 * (count >>> 1));
  const last = <u32>load<u16>(rows + 2 * (count - 1));
  return (((count + 7 * first + 13 * middle + 31 * last) * SPREAD) >>> 16) & (LIST_SLOTS - 1);
}

/** Number of an equal list of rows; -1 when it is new, and then it is added. */
function knownList(rows: u32, count: u32): i32 {
  const slot = listSlotOf(rows, count);
  for (let held = listSlot(slot); held !== 0; held = listBefore(held - 1)) {
    const list = held - 1;
    if (listCount(list) !== count) continue;
    if (memory.compare(listRows(list), rows, 2 * count) === 0) return <i32>list;
  }
  setList(lists, rows, count, listSlot(slot));
  setListSlot(slot, ++lists);
  return -1;
}

/** Number of the list of the `count` rows at an address among those of the block; -1 when it is new, and then added. */
export function findRows(rows: u32, count: u32): i32 {
  arena(rows - ARENA, 2 * count);
  return knownList(rows, count);
}

/** Writes which rows the `count` values from address `rows` on are of, as `BlockEncoder` does. */
function putPresence(rows: u32, count: u32): void {
  if (count === rowsInBlock) {
    metaVarint(PRESENT_ALL);
    return;
  }
  const known = knownList(rows, count);
  if (known >= 0) {
    metaVarint(PRESENT_KNOWN + known);
    return;
  }
  metaVarint(PRESENT_NEW);
  metaByte(isBitmap(count) ? BITMAP : POSITIONS);
  metaVarint(count);
  if (isBitmap(count)) {
    const bytes = 4 * ((rowsInBlock + 31) >>> 5);
    const bits = takeRegion(bytes);
    memory.fill(bits, 0, bytes);
    for (let index: u32 = 0; index < count; index++) {
      const row = <u32>load<u16>(rows + 2 * index) - fromRow;
      const place = bits + (row >>> 3);
      store<u8>(place, <u8>(<u32>load<u8>(place) | (1 << (row & 7))));
    }
  } else {
    for (let index: u32 = 0; index < count; index++) {
      store<f64>(valueAt(index), <f64>(<u32>load<u16>(rows + 2 * index) - fromRow));
    }
    putStream(count, false);
  }
  endRegion();
}

export { beginLists, dropLists, fromRow, isBitmap, keepLists, putPresence, rowsInBlock };
