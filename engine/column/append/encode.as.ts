import { LZ4_SOURCE, LZ4_SOURCE_BYTES, LZ4_TARGET, lz4Compress } from '../../packed/lz4.as.ts';
import { STREAM_LOW } from '../../packed/stream.as.ts';
import { columnCount } from './append.as.ts';
// biome-ignore format: a name a line would be longer.
import {
  arena, BLOCK_META_BYTES, BLOCK_PATHS, BLOCK_ROWS, blockTime, COLUMN_BYTES_AT, COLUMN_COUNT,
  COLUMN_DETAILS, COLUMN_KEY, COLUMN_OFFSETS, COLUMN_PLAIN, COLUMN_ROWS, COLUMN_VALUES,
  columnField, entryNumber, KIND_BITS, listCount, listRows, pathNumber, setEntryNumber, setList,
  setUsedEntry, usedEntry, usedEntryAt,
} from './memory.as.ts';
// biome-ignore format: a name a line would be longer.
import {
  beginRegions, blockMetaBytes, byte, endRegion, giveUp, isOver, metaByte, metaNumber, metaVarint,
  putIds, putStream, SAFE_MAX, setId, takeRegion, valueAt, varint,
} from './region.as.ts';

/**
 * Kernel that writes the columns of a block of few rows from the arrays of append.as.ts, as BlockEncoder does, byte for
 * byte; what it has no room for, or is rare, it leaves to that. Checksums of regions are put in by TypeScript. Its
 * memory is a part of that of append.as.ts, in which that of lz4.as.ts and stream.as.ts lies too (memory.as.ts).
 */

// Kinds of columns: engine/column/kind.ts.
const KIND_BOOLEAN: u32 = 2;
const KIND_NUMBER: u32 = 3;
const KIND_DATE: u32 = 6;
const NUMBER_AS_TEXT: u32 = 0xffff;

// Forms of strings, of numbers, of presences and of zones: text.ts, number-text.ts, presence.ts, directory.ts.
const CONSTANT_TEXT: u32 = 0;
const DICTIONARY: u32 = 1;
const TEXT: u32 = 2;
const RULE_FIXED: u32 = 0;
const RULE_SHORTEST: u32 = 1;
const RULE_POINT: u32 = 2;
const BITMAP: u32 = 1;
const POSITIONS: u32 = 2;
const PRESENT_ALL: u32 = 0;
const PRESENT_IN_IDS: u32 = 1;
const PRESENT_NEW: u32 = 2;
const PRESENT_KNOWN: u32 = 3;
const ZONE_POINT: u32 = 1;
const ZONE_RANGE: u32 = 2;
const ENCODING_SHIFT: u32 = 4;

// Rules of compress.ts, text.ts, presence.ts, dates.ts and limits.ts.
const COMPRESS_BYTES_MIN: u32 = 64;
const KEPT_SHARE: f64 = 1 - 0.15;
const PREFIX_BYTES: u32 = 4;
const VALUES_PER_ENTRY_MIN: u32 = 2;
const TEXT_PIECE_ROWS: u32 = 1_024;
const SPARSE_RATIO: u32 = 16;
const FORM_FRACTION: u32 = 3;
const FORM_MICROS: u32 = 2;
const FROM_EPOCH: u32 = 0;
const FROM_EVENT: u32 = 1;

/** The most that the entry of a column takes in the meta, with six regions that lie there. */
const ENTRY_BYTES: u32 = 1_024;

/** Lists of rows of the block, and its rows. */
let lists: u32 = 0;
let fromRow: u32 = 0;
let rowsInBlock: u32 = 0;

/** Copies entries of a dictionary to the source of LZ4; how many bytes those are, 0 when there is no room. */
function gather(column: u32, entries: u32, count: u32): u32 {
  const offsets = columnField(column, COLUMN_OFFSETS);
  const texts = columnField(column, COLUMN_BYTES_AT);
  let to: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    const place = arena(offsets + 4 * <u32>load<u16>(entries + 2 * index), 8);
    const start = load<u32>(place);
    const bytes = load<u32>(place + 4) - start;
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

/** Reports whether `count` rows that are not all of the block are written as a bitmap. */
function isBitmap(count: u32): bool {
  return count * SPARSE_RATIO >= rowsInBlock;
}

/** Number of an equal list of rows; a list that is new is added. */
function knownList(rows: u32, count: u32): i32 {
  for (let list: u32 = 0; list < lists; list++) {
    if (listCount(list) !== count) continue;
    if (memory.compare(listRows(list), rows, 2 * count) === 0) return <i32>list;
  }
  if (lists === BLOCK_PATHS) giveUp();
  else setList(lists++, rows, count);
  return -1;
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

/** Writes the zone of numbers or dates, and ends their region. */
function endZoned(least: f64, greatest: f64): void {
  metaByte(least === greatest ? ZONE_POINT : ZONE_RANGE);
  metaNumber(least);
  if (least !== greatest) metaNumber(greatest);
  endRegion();
}

function powerOfTen(exponent: u32): f64 {
  let power: f64 = 1;
  for (let at: u32 = 0; at < exponent; at++) power *= 10;
  return power;
}

/** Writes numbers as `writeNumbers` does; false when some are texts, exceptions or stored as doubles. */
function putNumbers(details: u32, values: u32, count: u32): bool {
  let isUniform = true;
  let isShortest = true;
  let isPoint = true;
  let scale: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    const digits = <u32>load<u16>(details + 2 * index);
    if (digits === NUMBER_AS_TEXT) return false;
    if (digits !== <u32>load<u16>(details)) isUniform = false;
    const isTrimmed = digits === 0 || <i64>load<f64>(values + 8 * index) % 10 !== 0;
    if (!isTrimmed) isShortest = false;
    if (digits !== 1 && (digits === 0 || !isTrimmed)) isPoint = false;
    scale = max(scale, digits);
  }
  if (!isUniform && !isShortest && !isPoint) return false;
  let least: f64 = Infinity;
  let greatest: f64 = -Infinity;
  for (let index: u32 = 0; index < count; index++) {
    const mantissa = load<f64>(values + 8 * index);
    const digits = <u32>load<u16>(details + 2 * index);
    const number = mantissa / powerOfTen(digits);
    if (number < least) least = number;
    if (number > greatest) greatest = number;
    const stored = isUniform ? mantissa : mantissa * powerOfTen(scale - digits);
    if (abs(stored) > SAFE_MAX) return false;
    store<f64>(valueAt(index), stored);
  }
  byte(isUniform ? RULE_FIXED : isShortest ? RULE_SHORTEST : RULE_POINT);
  byte(scale);
  varint(0);
  if (!putStream(count, false)) return false;
  endZoned(least, greatest);
  return true;
}

/** The time of a row in the unit of a form of dates. */
function eventValue(row: u32, form: u32): f64 {
  const time = blockTime(row - fromRow);
  return (form & FORM_FRACTION) === FORM_MICROS ? time * 1_000 : time;
}

function isSafe(value: f64): bool {
  return Math.floor(value) === value && abs(value) <= SAFE_MAX;
}

/** Writes dates as `writeDates` does; false when some are stored as doubles. */
function putDates(rows: u32, forms: u32, values: u32, count: u32): bool {
  let isExact = true;
  let least: f64 = Infinity;
  let greatest: f64 = -Infinity;
  for (let index: u32 = 0; index < count; index++) {
    const form = <u32>load<u16>(forms + 2 * index);
    const value = load<f64>(values + 8 * index);
    const event = eventValue(<u32>load<u16>(rows + 2 * index), form);
    if (!isSafe(event) || !isSafe(value - event)) isExact = false;
    const isMicros = (form & FORM_FRACTION) === FORM_MICROS;
    const time = isMicros ? Math.floor(value / 1_000) : value;
    const end = time === value || time * 1_000 === value ? time : time + 1;
    if (time < least) least = time;
    if (end > greatest) greatest = end;
    store<f64>(valueAt(index), <f64>form);
  }
  byte(isExact ? FROM_EVENT : FROM_EPOCH);
  if (!putStream(count, true)) return false;
  for (let index: u32 = 0; index < count; index++) {
    const form = <u32>load<u16>(forms + 2 * index);
    const event = isExact ? eventValue(<u32>load<u16>(rows + 2 * index), form) : 0;
    store<f64>(valueAt(index), load<f64>(values + 8 * index) - event);
  }
  if (!putStream(count, false)) return false;
  endZoned(least, greatest);
  return true;
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
 * Writes the entries and regions of all columns that have values in the rows `[from, to)`. The times of these rows, and
 * of each path below `pathCount` its number in the block + 1, were brought. Returns how many columns that are; -1 when
 * one of them is for BlockEncoder.
 */
export function encodeColumns(from: u32, to: u32, pathCount: u32): i32 {
  assert(from < to && to - from <= BLOCK_ROWS && pathCount <= BLOCK_PATHS);
  beginRegions();
  lists = 0;
  fromRow = from;
  rowsInBlock = to - from;
  let columns: i32 = 0;
  for (let column: u32 = 0; column < columnCount; column++) {
    const valueCount = columnField(column, COLUMN_COUNT);
    const rows = columnField(column, COLUMN_ROWS);
    if (valueCount === 0 || <u32>load<u16>(arena(rows + 2 * (valueCount - 1), 2)) < from) continue;
    const first = valuesBefore(rows, valueCount, from);
    const end = valuesBefore(rows, valueCount, to);
    if (first === end) continue;
    const path = columnField(column, COLUMN_KEY) >>> KIND_BITS;
    const number = path < pathCount ? pathNumber(path) : 0;
    if (number === 0 || blockMetaBytes + ENTRY_BYTES > BLOCK_META_BYTES) return -1;
    metaVarint(number - 1);
    if (!putColumn(column, first, end - first) || isOver) return -1;
    columns++;
  }
  return columns;
}
