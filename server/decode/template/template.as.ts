import { syslogLine } from '../syslog/header.as.ts';
import { resetNames, setNameSecret } from '../syslog/names.as.ts';
import { hasNewName, setNewName } from '../syslog/pairs.as.ts';
import { rowDate } from './date.as.ts';
import { isInOrder } from './form.as.ts';
// biome-ignore format: a name a line would be a page.
import {
  BLANK, CARRIAGE_RETURN, CLOSE_BRACKET, COLON, COMMA, CONTEXT, CONTEXTS, DIGITS_MAX, DOT,
  END, ENTRIES, ENTRY_DETAIL, ENTRY_KIND, ENTRY_LENGTH, ENTRY_NODE, ENTRY_PATH, ENTRY_START,
  ENTRY_VALUE, FORM_COUNT, FORM_HASH, FORM_ORDER, FORM_PLAIN, FORM_SHIFT, FORMS, firstNode,
  formField, GUESS, GUESS_SHIFT, GUESSES, guess, IN_ORDER, KIND_ARRAY, KIND_BOOLEAN,
  KIND_NULL, KIND_NUMBER, KIND_OBJECT, KIND_STRING, LESS, LETTER_E, LINE, LINE_FEED,
  LITERAL_BYTES, lineVector, literalWord, MANTISSA_MAX, MINUS, mayFollow, NO_COUNT,
  NODE_AFTER, NODE_LENGTH, NODE_LITERAL, NODE_NEXT, NODE_OPENED, NODE_PATH, NODE_RANK,
  NODE_SIMPLE, NODE_TYPE, NODES, nodeField, OPEN_BRACKET, OPENED_PATHS, ORDER, ORDERS,
  openedPath, orderOf, orderVector, PATH_PARENT, PATHS, PREDICTION, PREDICTION_SHIFT,
  PREDICTIONS, prediction, QUOTE, ROW_BYTES, ROW_ENTRY, ROW_FORM, ROW_LINE, ROW_TIME, ROWS,
  SLOT, SLOT_BYTES, SLOT_DETAIL, SLOT_KIND, SLOT_LENGTH, SLOT_PATH, SLOT_START, SLOT_VALUE,
  SLOTS, SOURCE_BYTES, SPREAD, SPREAD_LONG, setFirstNode, setForm, setGuess, setNode,
  setNodeWord, setOpenedPath, setPrediction, setSlot, sourceByte, sourceVector, sourceWord,
  TRUE_WORD, TYPE_ARRAY, TYPE_BOOLEAN, TYPE_END, TYPE_NULL, TYPE_NUMBER, TYPE_STRING,
  UNKNOWN_MAX, VECTOR, WALKS_MAX, ZERO,
} from './memory.as.ts';
import {
  addToForm,
  beginSide,
  beginSlots,
  endSlot,
  formHash,
  setSideBytes,
  sideBytes,
  sideStart,
  slotCount,
  unescaped,
} from './slots.as.ts';
import {
  booleanEnd,
  isBlank,
  isDigit,
  isLiteral,
  isPrefix,
  plainEnd,
  stringEnd,
} from './text.as.ts';

/**
 * Kernel of JSON lines whose members are known, compiled to WebAssembly. It reads lines one after the other until one
 * has a member that is not known where it stands, and writes the records of engine/column/rows.ts; a line that fails
 * leaves nothing. The reference is `LineReader`; what is known comes from `Learner`.
 *
 * A node is a value with the literal before it: what stands between two values of a line, names and punctuation. The
 * objects around a place in a line, from the outermost, are its context, which tells what the names behind it mean: the
 * nodes of the context behind a node may follow it. The values of a line are its form.
 * Forms that were met before have an order in which their leaves come back. Syslog lines, whose values have the names
 * of `names.as.ts` in place of literals, are read by `syslogLine`.
 */

/** Nodes that a vector has. */
const NODES_A_VECTOR: u32 = 8;

let nodeCount: u32 = 1;
let literalBytes: u32 = 0;
let orderCount: u32 = 0;
/** Words of the objects that literals open; place 0 is none. */
let openedCount: u32 = 1;
let rowCount: u32 = 0;
let entryCount: u32 = 0;
/** Rows of forms that are not known. */
let unknownCount: u32 = 0;
/** Offset behind the node that was found last. */
let reached: u32 = 0;
/** Nodes that were looked at for the line in progress. */
let walks: u32 = 0;

/** Reads a number without an exponent whose mantissa is exact; its end, or 0. */
// @inline
function numberEnd(from: u32, end: u32): u32 {
  let at = from;
  const isNegative = sourceByte(at) === MINUS;
  if (isNegative) at++;
  const wholeStart = at;
  let mantissa: u64 = 0;
  let byte = sourceByte(at);
  while (at < end && isDigit(byte)) {
    mantissa = mantissa * 10 + <u64>(byte - ZERO);
    byte = sourceByte(++at);
    if (at - wholeStart > DIGITS_MAX) return 0;
  }
  let digits = at - wholeStart;
  if (digits === 0 || (digits > 1 && sourceByte(wholeStart) === ZERO)) return 0;
  let fraction: u32 = 0;
  if (at < end && byte === DOT) {
    const fractionStart = ++at;
    byte = sourceByte(at);
    while (at < end && isDigit(byte)) {
      mantissa = mantissa * 10 + <u64>(byte - ZERO);
      byte = sourceByte(++at);
      if (++digits > DIGITS_MAX) return 0;
    }
    fraction = at - fractionStart;
    if (fraction === 0) return 0;
  }
  if (at >= end || (byte | BLANK) === LETTER_E || (isNegative && mantissa === 0)) return 0;
  if (mantissa > MANTISSA_MAX) return 0;
  const value = <f64>mantissa;
  store<f64>(SLOT + slotCount * SLOT_BYTES + SLOT_VALUE, isNegative ? -value : value);
  setSlot(slotCount, SLOT_DETAIL, fraction);
  return at;
}

/** End of an array of strings without escapes, plain numbers, true and false, without blanks; 0 for others. */
function arrayEnd(from: u32, end: u32): u32 {
  if (sourceByte(from) !== OPEN_BRACKET) return 0;
  let at = from + 1;
  if (sourceByte(at) === CLOSE_BRACKET) return at + 1;
  while (at < end) {
    const first = sourceByte(at);
    if (first === QUOTE) {
      const closing = stringEnd(at + 1, end);
      if (closing === 0) return 0;
      at = closing + 1;
    } else {
      at = isDigit(first) || first === MINUS ? numberEnd(at, end) : booleanEnd(at);
      if (at === 0) return 0;
    }
    const byte = sourceByte(at++);
    if (at > end) return 0;
    if (byte === CLOSE_BRACKET) return at;
    if (byte !== COMMA) return 0;
  }
  return 0;
}

/** Reads the value of a node into the next slot; the offset behind it, or 0. */
// @inline
function value(node: u32, type: u32, from: u32, end: u32): u32 {
  if (slotCount === SLOTS) return 0;
  let behind: u32 = 0;
  let start = from;
  let length: u32 = 0;
  let kind = KIND_STRING;
  setSlot(slotCount, SLOT_DETAIL, 0);
  store<f64>(SLOT + slotCount * SLOT_BYTES + SLOT_VALUE, 0);
  if (type === TYPE_STRING) {
    let closing = plainEnd(from, end);
    if (closing >= end) return 0;
    length = closing - from;
    if (sourceByte(closing) !== QUOTE) {
      const side = sideBytes;
      closing = unescaped(from, end);
      if (closing === 0) return 0;
      start = sideStart(side);
      length = sideBytes - side;
    }
    behind = closing + 1;
  } else if (type === TYPE_NUMBER) {
    behind = numberEnd(from, end);
    length = behind - from;
    kind = KIND_NUMBER;
  } else if (type === TYPE_BOOLEAN) {
    behind = booleanEnd(from);
    length = sourceByte(from) === (TRUE_WORD & 0xff) ? 1 : 0;
    start = 0;
    kind = KIND_BOOLEAN;
  } else if (type === TYPE_ARRAY) {
    behind = arrayEnd(from, end);
    length = behind - from;
    kind = KIND_ARRAY;
    setSlot(slotCount, SLOT_DETAIL, 0);
    store<f64>(SLOT + slotCount * SLOT_BYTES + SLOT_VALUE, 0);
  } else {
    behind = from;
    start = 0;
    kind = type === TYPE_NULL ? KIND_NULL : KIND_OBJECT;
  }
  if (behind === 0 || behind > end) return 0;
  endSlot(node, kind, start, length);
  return behind;
}

/** Reads the literal and the value of `node` at `at`; false when they are not there. `reached` is behind it. */
// @inline
function fits(node: u32, at: u32, end: u32): bool {
  const length = nodeField(node, NODE_LENGTH);
  const behind = at + length;
  if (behind > end || !isLiteral(at, nodeField(node, NODE_LITERAL), length)) return false;
  const type = nodeField(node, NODE_TYPE);
  reached = type === TYPE_END ? behind : value(node, type, behind, end);
  return reached !== 0;
}

/** The node of what was found at a place, if it is one that follows `before`, a node or a context; else 0. */
// @inline
function follower(found: u32, before: u32): u32 {
  return found >>> 16 === before ? found & 0xffff : 0;
}

/** A hash of the bytes at `at` up to a colon, at most those of a vector. No branch is there to be guessed wrong. */
// @inline
function nameHash(at: u32): u64 {
  const bytes = sourceVector(at);
  const colons = i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(<i8>COLON)));
  const length: u64 = ctz<u32>(colons | 0x10000);
  const low: u64 = i64x2.extract_lane(bytes, 0) << (64 - 8 * min<u64>(length, 8));
  const high: u64 = i64x2.extract_lane(bytes, 1) << (128 - 8 * length);
  return low ^ select<u64>(high * SPREAD_LONG, 0, length > 8);
}

/**
 * The node behind `node` that fits at `at`; 0 when none does. The one is tried first that followed when a line was last
 * the same so far, then the one that did in the context when the next bytes were last the same. `reached` is behind it.
 */
// @inline
function next(node: u32, at: u32, end: u32): u32 {
  const place = ((formHash ^ node) * SPREAD) >>> PREDICTION_SHIFT;
  const predicted = follower(prediction(place), node);
  if (predicted !== 0 && fits(predicted, at, end)) return predicted;
  const context = nodeField(node, NODE_AFTER);
  const guessed = <u32>(((nameHash(at) ^ context) * SPREAD_LONG) >>> GUESS_SHIFT);
  let found = follower(guess(guessed), context);
  if (found === 0 || found === predicted || !fits(found, at, end)) {
    found = nextOfAll(context, at, end, sourceWord(at));
    if (found === 0) return 0;
    setGuess(guessed, context, found);
  }
  setPrediction(place, node, found);
  return found;
}

/** The node of a context that fits at `at`, where `word` is, which goes to the front of them; 0 when none does. */
function nextOfAll(context: u32, at: u32, end: u32, word: u64): u32 {
  let before: u32 = 0;
  for (let node = firstNode(context); node !== 0; node = nodeField(node, NODE_NEXT)) {
    if (++walks > WALKS_MAX) return 0;
    if (mayFollow(node, word) && fits(node, at, end)) {
      if (before !== 0) {
        setNode(before, NODE_NEXT, nodeField(node, NODE_NEXT));
        setNode(node, NODE_NEXT, firstNode(context));
        setFirstNode(context, node);
      }
      return node;
    }
    before = node;
  }
  return 0;
}

/** Reads the object at `from` into the slots and `formHash`; the offset behind it, or 0. */
function object(from: u32, end: u32): u32 {
  beginSlots();
  walks = 0;
  const side = sideBytes;
  let node = next(0, from, end);
  while (node !== 0 && nodeField(node, NODE_TYPE) !== TYPE_END) {
    addToForm(node);
    node = next(node, reached, end);
  }
  if (node === 0) setSideBytes(side);
  return node === 0 ? 0 : reached;
}

/** The form of the slots, plus 1; 0 when it is not known. */
// @inline
function formOf(): u32 {
  const form = formHash >>> FORM_SHIFT;
  if (formField(form, FORM_HASH) !== formHash || formField(form, FORM_COUNT) !== slotCount)
    return 0;
  const nodes = formField(form, FORM_ORDER);
  for (let slot: u32 = 0; slot < slotCount; slot += NODES_A_VECTOR) {
    const same = i16x8.bitmask(i16x8.eq(orderVector(nodes + slot), lineVector(slot)));
    const left = slotCount - slot;
    const wanted = left < NODES_A_VECTOR ? (1 << left) - 1 : 0xff;
    if ((same & wanted) !== wanted) return 0;
  }
  return form + 1;
}

/** Remembers the form of the slots, which are in order, when its hash was the last one at its place before. */
function addPlainForm(): void {
  const form = formHash >>> FORM_SHIFT;
  const isTaken = formField(form, FORM_COUNT) !== NO_COUNT && formField(form, FORM_PLAIN) === 0;
  // What TypeScript has found is worth more.
  if (isTaken || orderCount + slotCount > ORDERS) return;
  const isFirst = formField(form, FORM_HASH) !== formHash;
  setForm(form, FORM_HASH, formHash);
  setForm(form, FORM_COUNT, NO_COUNT);
  if (isFirst) return;
  memory.copy(ORDER + 2 * orderCount, LINE, 2 * slotCount);
  setForm(form, FORM_COUNT, slotCount);
  setForm(form, FORM_ORDER, orderCount);
  setForm(form, FORM_PLAIN, 1);
  orderCount += slotCount;
}

/** The form of a row of the slots, as ROW_FORM has it: 0 when it is not known. */
// @inline
function rowForm(): u32 {
  const known = formOf();
  if (known !== 0) return formField(known - 1, FORM_PLAIN) !== 0 ? IN_ORDER : known;
  if (!isInOrder(slotCount)) return 0;
  addPlainForm();
  return IN_ORDER;
}

/** Makes a row of the slots, in the order of their form, or as they stand in the line. */
// @inline
function addRow(line: u32, bytes: u32, base: i32, receivedMs: f64): void {
  assert(entryCount + slotCount <= ENTRIES && rowCount < ROWS);
  const time = rowDate(receivedMs);
  const form = rowForm();
  const isPlaced = form !== 0 && form !== IN_ORDER;
  const places = isPlaced ? formField(form - 1, FORM_ORDER) + slotCount : 0;
  if (form === 0) {
    unknownCount++;
    memory.copy(ENTRY_NODE + 2 * entryCount, LINE, 2 * slotCount);
  }
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    const from = SLOT + slot * SLOT_BYTES;
    const kind = load<u32>(from + SLOT_KIND);
    const start = load<i32>(from + SLOT_START);
    const isInSource = kind >= KIND_NUMBER && start >= 0;
    const entry = entryCount + (isPlaced ? orderOf(places + slot) : slot);
    store<u32>(ENTRY_PATH + 4 * entry, load<u32>(from + SLOT_PATH));
    store<i32>(ENTRY_START + 4 * entry, isInSource ? start + base : start);
    store<u32>(ENTRY_LENGTH + 4 * entry, load<u32>(from + SLOT_LENGTH));
    store<f64>(ENTRY_VALUE + 8 * entry, load<f64>(from + SLOT_VALUE));
    store<u16>(ENTRY_DETAIL + 2 * entry, <u16>load<u32>(from + SLOT_DETAIL));
    store<u8>(ENTRY_KIND + entry, <u8>kind);
  }
  entryCount += slotCount;
  store<f64>(ROW_TIME + 8 * rowCount, time);
  store<u32>(ROW_LINE + 4 * rowCount, line + base);
  store<u32>(ROW_BYTES + 4 * rowCount, bytes);
  store<u32>(ROW_FORM + 4 * rowCount, form);
  rowCount++;
  store<u32>(ROW_ENTRY + 4 * rowCount, entryCount);
}

/** Offset behind a line feed or comma at `at`: of a comma, behind the blanks after it too. 0 when there is none. */
function separatorEnd(at: u32, end: u32, separator: u32): u32 {
  let next = at;
  if (separator === LINE_FEED && sourceByte(next) === CARRIAGE_RETURN) next++;
  if (next >= end || sourceByte(next) !== separator) return 0;
  next++;
  if (separator === LINE_FEED) return next;
  while (next < end && isBlank(sourceByte(next))) next++;
  return next;
}

/**
 * Reads lines `[from, end)` of the source, each with its separator, from the first on while they are known, at most
 * `rowsMax`; returns the offset behind the last one. Each begins with the `prefixBytes` of the prefix. `base` is added
 * to the offsets of records in the source, `sideAt` to those in the side. `receivedMs` is the date of rows without one.
 * The separator is a line feed, behind a carriage return or not, or a comma.
 */
export function readLines(
  from: u32,
  end: u32,
  prefixBytes: u32,
  rowsMax: u32,
  base: i32,
  sideAt: u32,
  receivedMs: f64,
  separator: u32,
): u32 {
  assert(end <= SOURCE_BYTES && from <= end);
  rowCount = 0;
  entryCount = 0;
  unknownCount = 0;
  beginSide(sideAt);
  setNewName(false);
  store<u32>(ROW_ENTRY, 0);
  let at = from;
  const most = min(rowsMax, ROWS);
  while (
    at < end &&
    rowCount < most &&
    unknownCount < UNKNOWN_MAX &&
    entryCount + SLOTS <= ENTRIES
  ) {
    const start = at + prefixBytes;
    if (start >= end || !isPrefix(at, prefixBytes)) break;
    const isSyslog = sourceByte(start) === LESS;
    const behind = isSyslog ? syslogLine(start, end, receivedMs) : object(start, end);
    if (behind === 0 || behind >= end) break;
    const next = separatorEnd(behind, end, separator);
    if (next === 0) break;
    const bytes = behind - start;
    addRow(at, bytes, base, receivedMs);
    at = next;
  }
  return at;
}

/**
 * Makes a node of `length` bytes of literal, which lie at `literalBytes`, and a value; 0 when there is no room. `rank`
 * and `simple` are NODE_RANK and NODE_SIMPLE.
 */
export function addNode(length: u32, type: u32, path: u32, rank: u32, simple: u32): u32 {
  if (nodeCount === NODES) return 0;
  assert(literalBytes + length + 2 * VECTOR <= LITERAL_BYTES);
  const node = nodeCount++;
  setNode(node, NODE_LITERAL, literalBytes);
  setNode(node, NODE_LENGTH, length);
  setNode(node, NODE_TYPE, type);
  setNode(node, NODE_PATH, path);
  setNode(node, NODE_NEXT, 0);
  setNode(node, NODE_RANK, rank);
  setNode(node, NODE_SIMPLE, simple);
  setNode(node, NODE_OPENED, 0);
  literalBytes = (literalBytes + length + VECTOR) & ~(VECTOR - 1);
  return node;
}

/** Notes that the literal of a node, the last one that was made, opens an object too; false when there is no room. */
export function addOpened(node: u32, path: u32): bool {
  if (openedCount + 2 >= OPENED_PATHS) return false;
  if (nodeField(node, NODE_OPENED) === 0) {
    setNode(node, NODE_OPENED, openedCount);
    setOpenedPath(openedCount++, 0);
  }
  const first = nodeField(node, NODE_OPENED);
  setOpenedPath(first, openedPath(first) + 1);
  setOpenedPath(openedCount++, path);
  return true;
}

/** Notes what a path lies in. */
export function setParent(path: u32, parent: u32): void {
  assert(path < PATHS && parent < PATHS);
  store<u32>(PATH_PARENT + 4 * path, parent);
}

/** Makes a node, the last one that was made, one of `context`, with the context `after` behind its value. */
export function placeNode(node: u32, context: u32, after: u32): void {
  const length = min<u32>(nodeField(node, NODE_LENGTH), 8);
  setNodeWord(node, literalWord(nodeField(node, NODE_LITERAL)), 64 - 8 * length);
  setNode(node, NODE_AFTER, after);
  setNode(node, NODE_NEXT, firstNode(context));
  setFirstNode(context, node);
}

/**
 * Remembers the form of row `row`, which was not known, with the places of its leaves that lie at `placesAt`: when its
 * hash was the last one at its place before.
 */
export function addForm(row: u32): void {
  assert(row < rowCount && load<u32>(ROW_FORM + 4 * row) === 0);
  const first = load<u32>(ROW_ENTRY + 4 * row);
  const count = load<u32>(ROW_ENTRY + 4 * (row + 1)) - first;
  let hash: u32 = 0;
  for (let entry = first; entry < first + count; entry++) {
    hash = (rotl(hash, 5) ^ <u32>load<u16>(ENTRY_NODE + 2 * entry)) * SPREAD;
  }
  const form = hash >>> FORM_SHIFT;
  const isFirst = formField(form, FORM_HASH) !== hash;
  setForm(form, FORM_HASH, hash);
  setForm(form, FORM_COUNT, NO_COUNT);
  if (isFirst || orderCount + 2 * count > ORDERS) return;
  memory.copy(ORDER + 2 * orderCount, ENTRY_NODE + 2 * first, 2 * count);
  memory.copy(ORDER + 2 * (orderCount + count), SLOT, 2 * count);
  setForm(form, FORM_COUNT, count);
  setForm(form, FORM_ORDER, orderCount);
  setForm(form, FORM_PLAIN, 0);
  orderCount += 2 * count;
}

/** Forgets all forms. */
export function resetForms(): void {
  orderCount = 0;
  for (let form: u32 = 0; form < FORMS; form++) setForm(form, FORM_COUNT, NO_COUNT);
}

/** Forgets all nodes and forms. */
export function reset(): void {
  nodeCount = 1;
  literalBytes = 0;
  openedCount = 1;
  memory.fill(CONTEXT, 0, 4 * CONTEXTS);
  memory.fill(PREDICTION, 0, 4 * PREDICTIONS);
  memory.fill(GUESS, 0, 4 * GUESSES);
  resetNames();
  resetForms();
}

/** Makes room for all regions, `secret` being that of hashes of names; false when the system has none. */
export function begin(secret: u32): bool {
  const pages = <i32>((END + 0xffff) >>> 16) - memory.size();
  if (pages > 0 && memory.grow(pages) < 0) return false;
  setNameSecret(secret);
  reset();
  return true;
}

export { hasNewName, literalBytes, orderCount, rowCount, sideBytes };
