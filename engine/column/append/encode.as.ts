import { LZ4_SOURCE, LZ4_SOURCE_BYTES, LZ4_TARGET, lz4Compress } from '../../packed/lz4.as.ts';
import { STREAM_LOW } from '../../packed/stream.as.ts';
import { columnCount } from './append.as.ts';
// biome-ignore format: a name a line would be longer.
import {
  beginLists, dropLists, fromRow, isBitmap, keepLists, putPresence, rowsInBlock,
} from './lists.as.ts';
// biome-ignore format: a name a line would be longer.
import {
  arena, BATCH_ROWS, BLOCK_ENTRY, BLOCK_META_BYTES, BLOCK_OUT_BYTES, BLOCK_PATH, BLOCK_PATHS,
  BLOCK_REGIONS, BLOCK_SHAPE, COLUMN_BYTES_AT, COLUMN_COUNT, COLUMN_DETAILS, COLUMN_KEY,
  COLUMN_OFFSETS, COLUMN_PLAIN, COLUMN_ROWS, COLUMN_VALUES, columnField, entryNumber, KIND_BITS,
  pathNumber, setEntryNumber, setUsedEntry, usedEntry, usedEntryAt,
} from './memory.as.ts';
import { putDates, putNumbers } from './numbers.as.ts';
// biome-ignore format: a name a line would be longer.
import {
  beginRegions, blockMetaBytes, blockOutBytes, blockRegions, dropRegions, endRegion, giveUp, isOver,
  keepRegions, metaByte, metaVarint, putIds, setId, takeRegion, varint,
} from './region.as.ts';
import { beginShapes } from './shapes.as.ts';

/**
 * Kernel that writes the columns of a block from the arrays of append.as.ts, as BlockEncoder does, byte for byte, as
 * many together as there is room for; a column that is large or rare it leaves to that. Checksums of regions are put in
 * by TypeScript. Its memory is a part of that of append.as.ts, in which that of lz4.as.ts and stream.as.ts lies too
 * (memory.as.ts).
 */

// Kinds of columns: engine/column/kind.ts.
const KIND_BOOLEAN: u32 = 2;
const KIND_NUMBER: u32 = 3;
const KIND_DATE: u32 = 6;

// Forms of strings and of presences: text.ts, directory.ts.
const CONSTANT_TEXT: u32 = 0;
const DICTIONARY: u32 = 1;
const TEXT: u32 = 2;
const PRESENT_IN_IDS: u32 = 1;
const ENCODING_SHIFT: u32 = 4;

// Rules of compress.ts, text.ts and limits.ts.
const COMPRESS_BYTES_MIN: u32 = 64;
const KEPT_SHARE: f64 = 1 - 0.15;
const PREFIX_BYTES: u32 = 4;
const VALUES_PER_ENTRY_MIN: u32 = 2;
const TEXT_PIECE_ROWS: u32 = 1_024;

/** The most that a column takes: regions, bytes of the meta with these in it, and bytes outside of the meta. */
const COLUMN_REGIONS: u32 = BATCH_ROWS / TEXT_PIECE_ROWS + 2;
const COLUMN_META_BYTES: u32 = 130 * COLUMN_REGIONS + 64;
const COLUMN_OUT_BYTES: u32 = LZ4_SOURCE_BYTES + (1 << 19);

/** Paths of the block. */
let paths: u32 = 0;
/** The first column that was not written yet, and how many are in the part. */
let nextColumn: u32 = 0;
let partColumns: u32 = 0;

/** Copies entries of a dictionary to the source of LZ4; how many bytes those are, 0 when there is no room. */
function gather(column: u32, entries: u32, count: u32): u32 {
  const offsets = columnField(column, COLUMN_OFFSETS);
  const texts = columnField(column, COLUMN_BYTES_AT);
  let to: u32 = 0;
  for (let index: u32 = 0; index < count; ) {
    const first = <u32>load<u16>(entries + 2 * index);
    let end = first + 1;
    while (++index < count && <u32>load<u16>(entries + 2 * index) === end) end++;
    const start = load<u32>(arena(offsets + 4 * first, 4));
    const bytes = load<u32>(arena(offsets + 4 * end, 4)) - start;
    if (bytes === 0) continue;
    if (bytes > LZ4_SOURCE_BYTES - to) {
      giveUp();
      return 0;
    }
    memory.copy(LZ4_SOURCE + to, arena(texts + start, bytes), bytes);
    to += bytes;
  }
  return to;
}

/** Puts the lengths of entries where ids are packed from. */
function measure(column: u32, entries: u32, count: u32): void {
  const offsets = columnField(column, COLUMN_OFFSETS);
  for (let index: u32 = 0; index < count; index++) {
    const place = arena(offsets + 4 * <u32>load<u16>(entries + 2 * index), 8);
    setId(index, load<u32>(place + 4) - load<u32>(place));
  }
}

/** Compresses the `bytes` bytes in the source of LZ4; how many bytes come of them with their prefix, 0 for too many. */
function compressed(bytes: u32): u32 {
  if (bytes < COMPRESS_BYTES_MIN) return 0;
  const most = <u32>Math.floor(<f64>bytes * KEPT_SHARE) - PREFIX_BYTES;
  const made = lz4Compress(bytes, most);
  return made === 0 ? 0 : made + PREFIX_BYTES;
}

/** Writes the bytes that were gathered: `stored` of them compressed, unless that is 0. */
function putTexts(bytes: u32, stored: u32): void {
  if (stored === 0) {
    memory.copy(takeRegion(bytes), LZ4_SOURCE, bytes);
    return;
  }
  const to = takeRegion(stored);
  store<u32>(to, bytes);
  memory.copy(to + PREFIX_BYTES, LZ4_TARGET, stored - PREFIX_BYTES);
}

/** Writes the bytes that were gathered as `writePacked` does. */
function putPacked(bytes: u32): void {
  const stored = compressed(bytes);
  varint(bytes);
  varint(stored === 0 ? bytes : stored);
  putTexts(bytes, stored);
}

/** Numbers the entries of values in the order of their first use; how many there are. */
function useEntries(entries: u32, count: u32): u32 {
  let used: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    const entry = <u32>load<u16>(entries + 2 * index);
    if (entryNumber(entry) !== 0) continue;
    setUsedEntry(used++, entry);
    setEntryNumber(entry, used);
  }
  return used;
}

function forgetEntries(used: u32): void {
  for (let at: u32 = 0; at < used; at++) setEntryNumber(usedEntry(at), 0);
}

/** Writes strings and arrays as `BlockEncoder` does. */
function putStrings(column: u32, kind: u32, first: u32, count: u32): void {
  const isPlain = columnField(column, COLUMN_PLAIN) !== 0;
  const rows = arena(columnField(column, COLUMN_ROWS) + 2 * first, 2 * count);
  const entries = arena(columnField(column, COLUMN_DETAILS) + 2 * first, 2 * count);
  const differs = load<u16>(entries) !== load<u16>(entries + 2 * (count - 1));
  // Two entries that differ are enough to say that it is text: nothing else about them matters.
  const used: u32 = isPlain && differs ? 0 : useEntries(entries, count);
  if (used === 1) {
    metaByte(kind | (CONSTANT_TEXT << ENCODING_SHIFT));
    putPresence(rows, count);
    putPacked(gather(column, entries, 1));
    endRegion();
  } else if (used === 0 || isPlain || count < used * VALUES_PER_ENTRY_MIN) {
    metaByte(kind | (TEXT << ENCODING_SHIFT));
    putPresence(rows, count);
    putText(column, entries, count);
  } else {
    metaByte(kind | (DICTIONARY << ENCODING_SHIFT));
    putDictionary(column, rows, entries, count, used);
  }
  forgetEntries(used);
}

/** Writes values as text: their lengths, then pieces. */
function putText(column: u32, entries: u32, count: u32): void {
  measure(column, entries, count);
  putIds(count);
  endRegion();
  for (let at: u32 = 0; at < count; at += TEXT_PIECE_ROWS) {
    const bytes = gather(column, entries + 2 * at, min(TEXT_PIECE_ROWS, count - at));
    if (isOver) return;
    putTexts(bytes, compressed(bytes));
    endRegion();
  }
}

/** Writes entries and ids of values, the ids by row when most rows have a value. */
function putDictionary(column: u32, rows: u32, entries: u32, count: u32, used: u32): void {
  const isDense = count === rowsInBlock;
  const hasSlots = !isDense && isBitmap(count);
  if (hasSlots) {
    metaVarint(PRESENT_IN_IDS);
    metaVarint(count);
  } else putPresence(rows, count);
  metaVarint(used);
  const usedAt = usedEntryAt();
  measure(column, usedAt, used);
  putIds(used);
  putPacked(gather(column, usedAt, used));
  endRegion();
  if (hasSlots) memory.fill(STREAM_LOW, 0, 4 * rowsInBlock);
  for (let index: u32 = 0; index < count; index++) {
    const at = hasSlots ? <u32>load<u16>(rows + 2 * index) - fromRow : index;
    setId(at, entryNumber(<u32>load<u16>(entries + 2 * index)));
  }
  putIds(hasSlots ? rowsInBlock : count);
  endRegion();
}

/** Writes the values of a column from number `first` on; false when that is not for this kernel. */
function putColumn(column: u32, first: u32, count: u32): bool {
  const kind = columnField(column, COLUMN_KEY) & ((1 << KIND_BITS) - 1);
  if (kind !== KIND_BOOLEAN && kind !== KIND_NUMBER && kind !== KIND_DATE) {
    putStrings(column, kind, first, count);
    return true;
  }
  const rows = arena(columnField(column, COLUMN_ROWS) + 2 * first, 2 * count);
  const details = arena(columnField(column, COLUMN_DETAILS) + 2 * first, 2 * count);
  metaByte(kind);
  putPresence(rows, count);
  if (kind === KIND_BOOLEAN) {
    for (let index: u32 = 0; index < count; index++) setId(index, load<u16>(details + 2 * index));
    putIds(count);
    endRegion();
    return true;
  }
  const values = arena(columnField(column, COLUMN_VALUES) + 8 * first, 8 * count);
  return kind === KIND_NUMBER
    ? putNumbers(details, values, count)
    : putDates(rows, details, values, count);
}

/** Number of values, of `count` with their rows at `rows`, in rows before `row`. */
function valuesBefore(rows: u32, count: u32, row: u32): u32 {
  let low: u32 = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (<u32>load<u16>(arena(rows + 2 * middle, 2)) < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Begins a block of the rows `[from, to)`, whose times were brought. Its paths, below `pathCount`, get their numbers
 * while the shapes are encoded.
 */
export function beginBlock(from: u32, to: u32, pathCount: u32): void {
  assert(from < to && to <= BATCH_ROWS && pathCount <= BLOCK_PATHS);
  beginLists(from, to - from);
  beginShapes();
  memory.fill(BLOCK_PATH, 0, 4 * pathCount);
  paths = pathCount;
  nextColumn = 0;
}

function hasRoom(): bool {
  return (
    blockMetaBytes + COLUMN_META_BYTES <= BLOCK_META_BYTES &&
    blockOutBytes + COLUMN_OUT_BYTES <= BLOCK_OUT_BYTES &&
    blockRegions + COLUMN_REGIONS <= BLOCK_REGIONS
  );
}

/**
 * Writes the entries and regions of the next columns that have values in the rows of the block, until there is no room
 * for one more: the part. Ends before a column that is for BlockEncoder, as all a part has no room for it, and returns
 * true then.
 */
export function encodeColumns(): bool {
  beginRegions();
  partColumns = 0;
  for (; nextColumn < columnCount && hasRoom(); nextColumn++) {
    const valueCount = columnField(nextColumn, COLUMN_COUNT);
    const rows = columnField(nextColumn, COLUMN_ROWS);
    if (valueCount === 0 || <u32>load<u16>(arena(rows + 2 * (valueCount - 1), 2)) < fromRow)
      continue;
    const first = valuesBefore(rows, valueCount, fromRow);
    const end = valuesBefore(rows, valueCount, fromRow + rowsInBlock);
    if (first === end) continue;
    keepRegions();
    keepLists();
    const path = columnField(nextColumn, COLUMN_KEY) >>> KIND_BITS;
    const number = path < paths ? pathNumber(path) : 0;
    if (number === 0) return true;
    metaVarint(number - 1);
    const isDone = putColumn(nextColumn, first, end - first);
    if (!isDone || isOver) {
      dropColumn();
      // A part of its own has more room.
      return !isDone || partColumns === 0;
    }
    partColumns++;
  }
  return false;
}

/** Forgets what was written of the next column. */
function dropColumn(): void {
  dropRegions();
  dropLists();
}

/** Forgets what a trap has interrupted, after which nothing is encoded any more: a column, or shapes. */
export function dropTrapped(): void {
  dropColumn();
  memory.fill(BLOCK_ENTRY, 0, 2 * (1 << 16));
  memory.fill(BLOCK_SHAPE, 0, 2 * BATCH_ROWS);
}

export { nextColumn, partColumns };
