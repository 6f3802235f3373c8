import { constants } from 'node:buffer';
import { BLANK, CARRIAGE_RETURN, LINE_FEED, TAB } from '../../engine/base/ascii.ts';
import { assert } from '../../engine/base/assert.ts';

/** ASCII bytes that the grammar of JSON is made of. Source: RFC 8259. */
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const COLON = 0x3a;
export const COMMA = 0x2c;
export const DOT = 0x2e;
export const MINUS = 0x2d;
export const ZERO = 0x30;

const LETTER_U = 0x75;
const HEX_BAD = 0x100;

/** 1 for the bytes that end a plain run of a string: quote, backslash and control bytes. */
const STRING_STOP = new Uint8Array(256).fill(1, 0, BLANK);
STRING_STOP[QUOTE] = 1;
STRING_STOP[BACKSLASH] = 1;

/** A byte four times, as a word. */
const ONES = 0x01010101;
const QUOTES = QUOTE * ONES;
const BACKSLASHES = BACKSLASH * ONES;
const BLANKS = BLANK * ONES;
const HIGH_BITS = 0x80808080 | 0;

/** Character that a one-letter escape stands for; 0 where there is no such escape. */
const ESCAPE = new Uint8Array(256);
for (const [letter, byte] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'])
  ESCAPE[letter.charCodeAt(0)] = byte.charCodeAt(0);

const HEX = new Uint16Array(256).fill(HEX_BAD);
for (let digit = 0; digit < 16; digit++) {
  HEX[digit.toString(16).charCodeAt(0)] = digit;
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}

/** Returns the offset of the first byte from `at` on that is not blank, tab, line feed or return; at most `end`. */
export function skipBlanks(bytes: Uint8Array, at: number, end: number): number {
  let offset = at;
  while (offset < end) {
    const byte = bytes[offset];
    if (byte > BLANK) return offset;
    if (byte !== BLANK && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB) {
      return offset;
    }
    offset++;
  }
  return offset;
}

/** Returns the offset of the first quote, backslash or control byte from `at` on, or `end`. */
export function plainEnd(bytes: Uint8Array, at: number, end: number): number {
  let offset = at;
  while (offset < end && STRING_STOP[bytes[offset]] === 0) offset++;
  return offset;
}

/** The result of `plainEnd`, read four bytes at once through a view, for texts of some length. */
export function plainEndOf(view: DataView, at: number, end: number): number {
  let offset = at;
  for (; offset + 4 <= end; offset += 4) {
    const word = view.getInt32(offset, true);
    const quotes = word ^ QUOTES;
    const escapes = word ^ BACKSLASHES;
    // The high bit of each byte that is 0, or below a blank; a byte above the lowest of them may have it too.
    const stops =
      (((quotes - ONES) & ~quotes) | ((escapes - ONES) & ~escapes) | ((word - BLANKS) & ~word)) &
      HIGH_BITS;
    if (stops !== 0) return offset + ((31 - Math.clz32(stops & -stops)) >>> 3);
  }
  while (offset < end && STRING_STOP[view.getUint8(offset)] === 0) offset++;
  return offset;
}

/**
 * Finds the closing quote of a string from `at`, inside of it, on; -1 when there is none before `end`, or
 * something illegal is before it: a control byte, an unknown escape.
 */
export function stringEnd(bytes: Uint8Array, at: number, end: number): number {
  let offset = plainEnd(bytes, at, end);
  while (offset < end && bytes[offset] === BACKSLASH) {
    const letter = offset + 1 < end ? bytes[offset + 1] : 0;
    if (letter === LETTER_U) {
      if (offset + 6 > end || hexAt(bytes, offset + 2) < 0) return -1;
      offset += 6;
    } else {
      if (ESCAPE[letter] === 0) return -1;
      offset += 2;
    }
    offset = plainEnd(bytes, offset, end);
  }
  return offset < end && bytes[offset] === QUOTE ? offset : -1;
}

/** Four hexadecimal digits as a number; negative when one of them is none. */
function hexAt(bytes: Uint8Array, at: number): number {
  const high = (HEX[bytes[at]] << 4) | HEX[bytes[at + 1]];
  const low = (HEX[bytes[at + 2]] << 4) | HEX[bytes[at + 3]];
  return high > 0xff || low > 0xff ? -1 : (high << 8) | low;
}

/**
 * Writes the inside of a JSON string, `bytes[start, end)`, to `target` from `at` on, its escapes undone; returns
 * the offset behind. The text must have passed `stringEnd`; `target` must have room for `end - start` bytes.
 * Surrogate pairs are joined, lone surrogates stay (WTF-8).
 */
export function unescapeString(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  let from = start;
  let to = at;
  while (from < end) {
    const byte = bytes[from];
    if (byte !== BACKSLASH) {
      target[to++] = byte;
      from++;
    } else if (bytes[from + 1] !== LETTER_U) {
      target[to++] = ESCAPE[bytes[from + 1]];
      from += 2;
    } else {
      let point = hexAt(bytes, from + 2);
      from += 6;
      if (isHighSurrogate(point) && isLowEscape(bytes, from, end)) {
        point = 0x10000 + ((point - 0xd800) << 10) + (hexAt(bytes, from + 2) - 0xdc00);
        from += 6;
      }
      to = putPoint(target, to, point);
    }
  }
  return to;
}

function isHighSurrogate(point: number): boolean {
  return point >= 0xd800 && point < 0xdc00;
}

function isLowEscape(bytes: Uint8Array, at: number, end: number): boolean {
  if (at + 6 > end || bytes[at] !== BACKSLASH || bytes[at + 1] !== LETTER_U) return false;
  const point = hexAt(bytes, at + 2);
  return point >= 0xdc00 && point < 0xe000;
}

/** Writes a code point, surrogates included, as UTF-8 bits; returns the offset behind. */
function putPoint(target: Uint8Array, at: number, point: number): number {
  let to = at;
  if (point < 0x80) {
    target[to++] = point;
    return to;
  }
  if (point < 0x800) {
    target[to++] = 0xc0 | (point >> 6);
  } else {
    if (point < 0x10000) {
      target[to++] = 0xe0 | (point >> 12);
    } else {
      target[to++] = 0xf0 | (point >> 18);
      target[to++] = 0x80 | ((point >> 12) & 0x3f);
    }
    target[to++] = 0x80 | ((point >> 6) & 0x3f);
  }
  target[to++] = 0x80 | (point & 0x3f);
  return to;
}

/** Bytes `[start, end)` as a string with one character a byte. For cold paths. */
export function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

/** Returns a copy of `bytes[start, end)` in which U+FFFD stands for what is not UTF-8. For cold paths. */
export function repairedText(bytes: Uint8Array, start: number, end: number): Uint8Array {
  assert(end - start < constants.MAX_STRING_LENGTH, 'a text to repair fits in a string');
  return Buffer.from(
    Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'),
    'utf8',
  );
}

/** Returns `end` moved in front of a UTF-8 sequence that a cut at `end` left unfinished. */
export function wholeCharactersEnd(bytes: Uint8Array, start: number, end: number): number {
  for (let back = 1; back <= 3 && end - back >= start; back++) {
    const byte = bytes[end - back];
    if (byte < 0x80) return end;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? end - back : end;
    }
  }
  return end;
}
