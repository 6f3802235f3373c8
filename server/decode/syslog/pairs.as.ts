// biome-ignore format: a name a line would be a page.
import {
  BACKSLASH, BLANK, CLOSE_BRACKET, COMMA, DOT, KIND_NUMBER, KIND_STRING, LESS, LINE_FEED,
  MINUS, NODE_CONTAINER, NODE_LENGTH, NODE_PATH, nodeField, OPEN_BRACKET, QUOTE,
  SOURCE_BYTES, sourceByte, sourceVector, VECTOR, ZERO,
} from '../template/memory.as.ts';
import { addSlot, copyToSide, sideBytes, sideStart } from '../template/slots.as.ts';
import { isDigit, wordAt } from '../template/text.as.ts';
import { isNameAt, likelyNode, nameNode, setLikely } from './names.as.ts';
import { NUMBER, numberAt, numberDetail, numberValue, ODD_NUMBER } from './number.as.ts';

/**
 * Pairs `name=value` of a text and `name="value"` of structured data, as `PairScanner` and `scanStructuredData` find
 * them. Lines end with a line feed, so that searches for what ends a word end there too.
 */

const APOSTROPHE: u32 = 0x27;
const SEMICOLON: u32 = 0x3b;
const EQUALS: u32 = 0x3d;
const GREATER: u32 = 0x3e;
const AT: u32 = 0x40;
const UNDERSCORE: u32 = 0x5f;
const DELETE: u32 = 0x7f;
const LETTER_A: u32 = 0x61;
const NULL_WORD: u32 = 0x6c6c756e;
/** Paths that all tables have: engine/column/path.ts. */
const PATH_CUSTOM: u32 = 1;
const PATH_SYSLOG: u32 = 2;

/** Where the word begins in which the last equals sign was found. */
let wordStart: u32 = 0;
/** Set when a name was met that is not known. */
let hasNewName: bool = false;
// @inline
function setNewName(isNew: bool): void {
  hasNewName = isNew;
}

/** Offset of the first blank, control byte, comma or semicolon from `from` on. */
// @inline
function wordEnd(from: u32): u32 {
  let at = from;
  while (at < SOURCE_BYTES) {
    const bytes = sourceVector(at);
    const stops = i8x16.bitmask(delimiters(bytes));
    if (stops !== 0) return at + ctz<i32>(stops);
    at += VECTOR;
  }
  return at;
}

/** Offset of the first equals sign in `[from, end)`, `end` or more when there is none; `wordStart` is of its word. */
// @inline
function equalsAt(from: u32, end: u32): u32 {
  wordStart = from;
  let at = from;
  while (at < end) {
    const bytes = sourceVector(at);
    const equals = i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(<i8>EQUALS)));
    const place = equals === 0 ? VECTOR : ctz<i32>(equals);
    const stops = i8x16.bitmask(delimiters(bytes)) & ((1 << place) - 1);
    if (stops !== 0) wordStart = at + 32 - clz<i32>(stops);
    if (equals !== 0) return at + place;
    at += VECTOR;
  }
  return at;
}

// @inline
function delimiters(bytes: v128): v128 {
  return v128.or(
    i8x16.le_u(bytes, i8x16.splat(<i8>BLANK)),
    v128.or(i8x16.eq(bytes, i8x16.splat(<i8>COMMA)), i8x16.eq(bytes, i8x16.splat(<i8>SEMICOLON))),
  );
}

/** Offset of the first `mark`, `other` or line feed from `from` on. */
function markEnd(from: u32, mark: u32, other: u32): u32 {
  let at = from;
  while (at < SOURCE_BYTES) {
    const bytes = sourceVector(at);
    const marks = v128.or(
      i8x16.eq(bytes, i8x16.splat(<i8>mark)),
      i8x16.eq(bytes, i8x16.splat(<i8>other)),
    );
    const stops = i8x16.bitmask(v128.or(marks, i8x16.eq(bytes, i8x16.splat(<i8>LINE_FEED))));
    if (stops !== 0) return at + ctz<i32>(stops);
    at += VECTOR;
  }
  return at;
}

/** Reports whether a word consists of bytes that names of pairs may have. */
function isName(from: u32, end: u32): bool {
  for (let at = from; at < end; at++) {
    const byte = sourceByte(at);
    const isLetter = (byte | BLANK) - LETTER_A < 26;
    const isOther = byte === UNDERSCORE || byte === DOT || byte === MINUS || byte === AT;
    if (!isLetter && !isDigit(byte) && !isOther && byte < 0x80) return false;
  }
  return true;
}

/** Reports whether the unquoted value `[start, stop)` of a pair is one. */
// @inline
function isValue(start: u32, stop: u32): bool {
  if (stop === start || sourceByte(start) === EQUALS) return false;
  return stop - start !== 4 || wordAt(start) !== NULL_WORD;
}

/**
 * Adds the value of `node` in double quotes, which begins at `start`; the offset behind the closing one, 0 when there
 * is none. A backslash is left out where it stands before a quote, a backslash or `other`.
 */
function addQuoted(node: u32, start: u32, other: u32): u32 {
  let closing = markEnd(start, QUOTE, BACKSLASH);
  if (sourceByte(closing) === QUOTE)
    return addSlot(node, KIND_STRING, start, closing - start, 0, 0) ? closing + 1 : 0;
  const side = sideBytes;
  let from = start;
  while (sourceByte(closing) === BACKSLASH) {
    const next = sourceByte(closing + 1);
    if (next === LINE_FEED) return 0;
    const isUndone = next === QUOTE || next === BACKSLASH || next === other;
    copyToSide(from, isUndone ? closing : closing + 1);
    from = closing + 1;
    closing = markEnd(closing + 2, QUOTE, BACKSLASH);
  }
  if (sourceByte(closing) !== QUOTE) return 0;
  copyToSide(from, closing);
  const length = sideBytes - side;
  return addSlot(node, KIND_STRING, sideStart(side), length, 0, 0) ? closing + 1 : 0;
}

/** Adds the value of the pair of `node` at `start`; the offset where the next pair may begin, 0 for the reference. */
// @inline
function addPair(node: u32, start: u32): u32 {
  const first = sourceByte(start);
  if (first === QUOTE) return addQuoted(node, start + 1, QUOTE);
  if (first === APOSTROPHE || first === LESS) {
    const mark = first === LESS ? GREATER : first;
    const closing = markEnd(start + 1, mark, mark);
    if (sourceByte(closing) !== mark) return 0;
    return addSlot(node, KIND_STRING, start + 1, closing - start - 1, 0, 0) ? closing + 1 : 0;
  }
  const stop = wordEnd(start);
  if (!isValue(start, stop)) return stop + 1;
  const length = stop - start;
  if (first > ZERO + 9 || first < MINUS)
    return addSlot(node, KIND_STRING, start, length, 0, 0) ? stop + 1 : 0;
  const reading = numberAt(start, stop);
  if (reading === ODD_NUMBER) return 0;
  const isAdded =
    reading === NUMBER
      ? addSlot(node, KIND_NUMBER, start, length, numberValue, numberDetail)
      : addSlot(node, KIND_STRING, start, length, 0, 0);
  return isAdded ? stop + 1 : 0;
}

/** Adds the pairs of the text `[from, end)` behind the value of `last`; false when the line is for the reference. */
export function addPairs(from: u32, end: u32, last: u32): bool {
  let at = from;
  let before = last;
  while (at < end) {
    let node = likelyNode(before);
    if (node === 0 || !isNameAt(node, at)) {
      const equals = equalsAt(at, end);
      if (equals >= end) return true;
      // A name in quotes.
      if (equals > from && sourceByte(equals - 1) === QUOTE) return false;
      at = wordStart;
      if (node === 0 || !isNameAt(node, at)) {
        node = at === equals ? 0 : nameNode(PATH_CUSTOM, at, equals + 1 - at);
        if (node === 0) {
          at = newNameEnd(at, equals);
          if (at === 0) return false;
          continue;
        }
        setLikely(before, node);
      }
    }
    at = addPair(node, at + nodeField(node, NODE_LENGTH));
    if (at === 0) return false;
    before = node;
  }
  return true;
}

/** Where the text goes on behind a word that is no known pair: 0 when it is a pair of a name that is new. */
function newNameEnd(at: u32, equals: u32): u32 {
  if (at === equals || !isName(at, equals)) return wordEnd(equals) + 1;
  const start = equals + 1;
  const first = sourceByte(start);
  const isQuoted = first === QUOTE || first === APOSTROPHE || first === LESS;
  const stop = wordEnd(start);
  if (!isQuoted && !isValue(start, stop)) return stop + 1;
  hasNewName = true;
  return 0;
}

/** Offset of the first byte from `from` on that no name of structured data may have. */
function dataNameEnd(from: u32): u32 {
  let at = from;
  let byte = sourceByte(at);
  while (byte > BLANK && byte !== DELETE && byte !== EQUALS) {
    if (byte === CLOSE_BRACKET || byte === QUOTE) break;
    byte = sourceByte(++at);
  }
  return at;
}

/** The node of the name of `length` bytes at `at`, as `nameNode` finds it; notes when it is new. */
function dataNode(container: u32, at: u32, length: u32): u32 {
  const node = nameNode(container, at, length);
  if (node === 0) hasNewName = true;
  return node;
}

/**
 * Adds the members of structured data at `from`, behind the value of `last`; the offset behind it, 0 when the line is
 * for the reference.
 */
export function addElements(from: u32, end: u32, last: u32): u32 {
  let at = from;
  let before = last;
  do {
    const start = at + 1;
    at = dataNameEnd(start);
    if (at === start || sourceByte(at) !== BLANK) return 0;
    const element = dataNode(PATH_SYSLOG, start, at + 1 - start);
    if (element === 0) return 0;
    while (sourceByte(at) === BLANK) {
      const node = memberNode(nodeField(element, NODE_PATH), at + 1, before);
      if (node === 0) return 0;
      at = addQuoted(node, at + 1 + nodeField(node, NODE_LENGTH), CLOSE_BRACKET);
      if (at === 0) return 0;
      before = node;
    }
    if (sourceByte(at) !== CLOSE_BRACKET) return 0;
    at++;
  } while (sourceByte(at) === OPEN_BRACKET);
  return at === end || sourceByte(at) === BLANK ? at : 0;
}

/** The node of the name at `at` of a member of the element at `container`, behind the value of `before`; 0 if none. */
function memberNode(container: u32, at: u32, before: u32): u32 {
  const likely = likelyNode(before);
  if (likely !== 0 && nodeField(likely, NODE_CONTAINER) === container && isNameAt(likely, at))
    return likely;
  const equals = dataNameEnd(at);
  if (equals === at || sourceByte(equals) !== EQUALS || sourceByte(equals + 1) !== QUOTE) return 0;
  const node = dataNode(container, at, equals + 2 - at);
  if (node !== 0) setLikely(before, node);
  return node;
}

export { hasNewName, setNewName };
