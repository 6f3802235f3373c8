// biome-ignore format: a name a line would be a page.
import {
  BLANK, CARRIAGE_RETURN, CLOSE_BRACKET, KIND_NUMBER, KIND_STRING, LINE_FEED, MINUS,
  OPEN_BRACKET, partNode, QUOTE, SOURCE_BYTES, setSide, sourceByte, sourceVector, VECTOR,
  ZERO,
} from '../template/memory.as.ts';
import { addSlot, beginSlots, setSideBytes, sideBytes, sideStart } from '../template/slots.as.ts';
import { isBlank, isDigit } from '../template/text.as.ts';
import { bsdDateEnd } from './bsd-date.as.ts';
import { addElements, addPairs, setNewName } from './pairs.as.ts';

/**
 * Syslog lines with a PRI: a header of RFC 5424 or RFC 3164, then a text with pairs, as `SyslogReader` reads them.
 * Lines that are not plainly so are for it.
 */

// Parts of a header: syslog-header.ts; then the text.
const PRIVAL: u32 = 0;
const SEVERITY: u32 = 1;
const FACILITY: u32 = 2;
const VERSION: u32 = 3;
const TIMESTAMP: u32 = 5;
const HOSTNAME: u32 = 6;
const APPNAME: u32 = 7;
const PROCID: u32 = 8;
const MSGID: u32 = 9;
const TEXT: u32 = 10;

const COLON: u32 = 0x3a;
const EQUALS: u32 = 0x3d;
const GREATER: u32 = 0x3e;
const APOSTROPHE: u32 = 0x27;
const DELETE: u32 = 0x7f;
const OPEN_BRACE: u32 = 0x7b;
const LETTER_A: u32 = 0x41;
const LETTER_T: u32 = 0x74;
const PRIVAL_MAX: u32 = 191;
const PRIVAL_DIGITS_MAX: u32 = 3;
const DATE_BYTES: u32 = 10;
/** More than are looked at to see that there is no header. */
const BARE_BYTES_MIN: u32 = 8;
/** The bytes of a byte order mark. */
const MARK_FIRST: u32 = 0xef;
const MARK_SECOND: u32 = 0xbb;
const MARK_THIRD: u32 = 0xbf;

/** Set when the line that was looked through last has an opening brace. */
let hasBrace: bool = false;
/** Node of the last part that was added. */
let lastPart: u32 = 0;

/** Offset of the line feed from `from` on, `end` or more when there is none; notes what stands before it. */
function lineFeedAt(from: u32, end: u32): u32 {
  let at = from;
  let braces = i8x16.splat(0);
  while (at < end) {
    const bytes = sourceVector(at);
    // The bytes behind the line feed do no harm: they make a line be looked through once more.
    braces = v128.or(braces, i8x16.eq(bytes, i8x16.splat(<i8>OPEN_BRACE)));
    const feeds = i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(<i8>LINE_FEED)));
    if (feeds !== 0) {
      at += ctz<i32>(feeds);
      break;
    }
    at += VECTOR;
  }
  hasBrace = v128.any_true(braces);
  return at;
}

/** Offset of the first blank or control byte from `from` on. */
// @inline
function tokenEnd(from: u32): u32 {
  let at = from;
  while (at < SOURCE_BYTES) {
    const bytes = sourceVector(at);
    const controls = i8x16.le_u(bytes, i8x16.splat(<i8>BLANK));
    const stops = i8x16.bitmask(v128.or(controls, i8x16.eq(bytes, i8x16.splat(<i8>DELETE))));
    if (stops !== 0) return at + ctz<i32>(stops);
    at += VECTOR;
  }
  return at;
}

/** Adds the part of a line that is the text `[start, end)`; false when there is no room. */
// @inline
function addPart(part: u32, start: u32, end: u32): bool {
  lastPart = partNode(part);
  return addSlot(lastPart, KIND_STRING, start, end - start, 0, 0);
}

/** Adds the part of a header that is a number whose text is `length` bytes at `start`. */
// @inline
function addNumber(part: u32, start: u32, length: u32, value: u32): void {
  lastPart = partNode(part);
  addSlot(lastPart, KIND_NUMBER, start, length, <f64>value, 0);
}

/** Adds a part that does not stand in the line, a number of one or two digits. */
// @inline
function addDerived(part: u32, value: u32): void {
  const start = sideBytes;
  let at = start;
  if (value >= 10) setSide(at++, ZERO + value / 10);
  setSide(at++, ZERO + (value % 10));
  setSideBytes(at);
  addNumber(part, sideStart(start), at - start, value);
}

/** Reads `<PRI>` at `from` and adds what it says; the offset behind it, or 0. */
function priorityEnd(from: u32): u32 {
  let at = from + 1;
  let prival: u32 = 0;
  while (at - from <= PRIVAL_DIGITS_MAX && isDigit(sourceByte(at))) {
    prival = prival * 10 + sourceByte(at++) - ZERO;
  }
  if (at === from + 1 || sourceByte(at) !== GREATER || prival > PRIVAL_MAX) return 0;
  if (sourceByte(from + 1) === ZERO && at > from + 2) return 0;
  addNumber(PRIVAL, from + 1, at - from - 1, prival);
  addDerived(SEVERITY, prival & 7);
  addDerived(FACILITY, prival >>> 3);
  return at + 1;
}

/** Recognises the beginning of a day and a time of ISO 8601, as `isDateLike` does. */
function isDateLike(at: u32, end: u32): bool {
  if (end - at <= DATE_BYTES || sourceByte(at + 4) !== MINUS || sourceByte(at + 7) !== MINUS)
    return false;
  for (let digit: u32 = 0; digit < DATE_BYTES; digit++) {
    if (digit !== 4 && digit !== 7 && !isDigit(sourceByte(at + digit))) return false;
  }
  return (sourceByte(at + 10) | BLANK) === LETTER_T;
}

/** Reads the header of RFC 5424 that begins with its version at `from`; the offset behind it, or 0. */
function newHeader(from: u32, end: u32): u32 {
  const version = sourceByte(from) - ZERO;
  if (version > 1) return 0;
  addNumber(VERSION, from, 1, version);
  let at = from + 2;
  for (let part = TIMESTAMP; part <= MSGID; part++) {
    const stop = tokenEnd(at);
    if (stop === at || sourceByte(stop) !== BLANK) return 0;
    if (stop !== at + 1 || sourceByte(at) !== MINUS) {
      if (part === TIMESTAMP && !isDateLike(at, stop)) return 0;
      addPart(part, at, stop);
    }
    at = stop + 1;
  }
  const first = sourceByte(at);
  if (first === OPEN_BRACKET) return addElements(at, end, lastPart);
  const isNil = first === MINUS && (at + 1 === end || sourceByte(at + 1) === BLANK);
  return isNil ? at + 1 : at;
}

/** Offset of the first blank, control byte, colon or bracket from `from` on. */
// @inline
function tagNameEnd(from: u32): u32 {
  let at = from;
  while (at < SOURCE_BYTES) {
    const bytes = sourceVector(at);
    const marks = v128.or(
      i8x16.eq(bytes, i8x16.splat(<i8>COLON)),
      i8x16.eq(bytes, i8x16.splat(<i8>OPEN_BRACKET)),
    );
    const stops = i8x16.bitmask(v128.or(marks, i8x16.le_u(bytes, i8x16.splat(<i8>BLANK))));
    if (stops !== 0) return at + ctz<i32>(stops);
    at += VECTOR;
  }
  return at;
}

/** Reads `tag:`, `tag[pid]:` or `tag[pid]` at `from` and adds it; the offset behind it, `from` when there is none. */
function tagEnd(from: u32, end: u32): u32 {
  let at = tagNameEnd(from);
  let byte = sourceByte(at);
  if (at === from || byte <= BLANK) return from;
  const nameEnd = at;
  if (byte === OPEN_BRACKET) {
    do byte = sourceByte(++at);
    while (byte > BLANK && byte !== CLOSE_BRACKET);
    if (byte !== CLOSE_BRACKET || at === nameEnd + 1) return from;
    byte = sourceByte(++at);
  }
  const pidEnd = at - 1;
  if (byte === COLON) byte = sourceByte(++at);
  if (at < end && byte !== BLANK) return from;
  addPart(APPNAME, from, nameEnd);
  if (pidEnd > nameEnd) addPart(PROCID, nameEnd + 1, pidEnd);
  return at;
}

/** Reads the header of RFC 3164 behind the PRI; the offset behind it, or 0. */
function oldHeader(from: u32, end: u32, receivedMs: f64): u32 {
  let at: u32 = 0;
  if (isDigit(sourceByte(from))) {
    at = tokenEnd(from);
    if (!isDateLike(from, at) || sourceByte(at) !== BLANK) return 0;
    addPart(TIMESTAMP, from, at);
  } else {
    at = bsdDateEnd(partNode(TIMESTAMP), from, receivedMs);
    if (at === 0) return 0;
  }
  at = blanksEnd(at);
  const behind = tagEnd(at, end);
  if (behind > at) return behind;
  const hostEnd = tokenEnd(at);
  if (hostEnd === at || sourceByte(hostEnd) !== BLANK) return 0;
  if (hostEnd !== at + 1 || sourceByte(at) !== MINUS) addPart(HOSTNAME, at, hostEnd);
  at = hostEnd + 1;
  return sourceByte(at) === COLON ? 0 : tagEnd(at, end);
}

/** Reports whether what stands behind a PRI begins with a letter and is no date, so that all of it is text. */
function isBare(from: u32, end: u32): bool {
  const isShort = end - from < BARE_BYTES_MIN;
  if (isShort || sourceByte(from) < LETTER_A) return false;
  return sourceByte(from + 3) !== BLANK && sourceByte(from + 4) !== MINUS;
}

function blanksEnd(from: u32): u32 {
  let at = from;
  while (sourceByte(at) === BLANK) at++;
  return at;
}

/** Offset of the text behind a header: blanks and a byte order mark are left out. */
function textStart(behind: u32): u32 {
  const at = blanksEnd(behind);
  if (sourceByte(at) !== MARK_FIRST || sourceByte(at + 1) !== MARK_SECOND) return at;
  return sourceByte(at + 2) === MARK_THIRD ? blanksEnd(at + 3) : at;
}

/** Reports whether an object may begin in the text `[from, end)`, as `nextObject` does. */
function mayHaveObject(from: u32, end: u32): bool {
  for (let at = from; at < end; at++) {
    if (sourceByte(at) !== OPEN_BRACE) continue;
    const before = at > from ? sourceByte(at - 1) : BLANK;
    if (before === EQUALS || before === QUOTE || before === APOSTROPHE) continue;
    let inside = at + 1;
    while (inside < end && isBlank(sourceByte(inside))) inside++;
    if (inside < end && sourceByte(inside) === QUOTE) return true;
  }
  return false;
}

/**
 * Reads the line at `from` into the slots and `formHash`; the offset behind its content, 0 when it is for the
 * reference.
 */
export function syslogLine(from: u32, end: u32, receivedMs: f64): u32 {
  if (partNode(PRIVAL) === 0) {
    setNewName(true);
    return 0;
  }
  const lineFeed = lineFeedAt(from, end);
  if (lineFeed >= end) return 0;
  const lineEnd = sourceByte(lineFeed - 1) === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed;
  beginSlots();
  const side = sideBytes;
  const isRead = readLine(from, lineEnd, receivedMs);
  if (!isRead) setSideBytes(side);
  return isRead ? lineEnd : 0;
}

function readLine(from: u32, end: u32, receivedMs: f64): bool {
  const start = priorityEnd(from);
  if (start === 0) return false;
  let behind = start;
  if (sourceByte(start + 1) === BLANK) behind = newHeader(start, end);
  else if (!isBare(start, end)) behind = oldHeader(start, end, receivedMs);
  if (behind === 0) return false;
  const text = textStart(behind);
  if (text >= end) return text === end;
  if (hasBrace && mayHaveObject(text, end)) return false;
  if (!addPart(TEXT, text, end)) return false;
  return addPairs(text, end, lastPart);
}
