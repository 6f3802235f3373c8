import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../base/ascii.ts';
import { Kind } from '../../column/kind.ts';
import { grow } from '../../packed/growth.ts';
import { encodePoint } from './text.ts';

const LETTER_U = 0x75;

/** Bytes that `\b` and its like stand for, by the byte after the backslash; others stand for themselves. */
const ESCAPED = new Map([
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
]);

/** Where the string whose opening quote is at `at` ends, behind its closing quote. */
function stringEnd(bytes: Uint8Array, at: number, end: number): number {
  let place = at + 1;
  while (place < end && bytes[place] !== QUOTE) place += bytes[place] === BACKSLASH ? 2 : 1;
  return place + 1;
}

/** Where the JSON value that begins at `at` ends. The text is JSON without blanks. */
export function valueEnd(bytes: Uint8Array, at: number, end: number): number {
  let depth = 0;
  let place = at;
  while (place < end) {
    const byte = bytes[place];
    if (byte === QUOTE) place = stringEnd(bytes, place, end);
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE))
      break;
    else {
      if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth++;
      else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth--;
      place++;
    }
  }
  return Math.min(place, end);
}

/**
 * Reads strings of JSON text: `bytes[start, end)` is the WTF-8 text of the last one, without quotes and escapes,
 * valid until the next read. Owns its memory.
 */
class StringReader {
  bytes = new Uint8Array(0);
  start = 0;
  end = 0;
  #scratch = new Uint8Array(256);

  /** Reads the string between the quotes at `from` and `to - 1`. */
  read(source: Uint8Array, from: number, to: number): void {
    const last = to - 1;
    let plain = from + 1;
    while (plain < last && source[plain] !== BACKSLASH) plain++;
    this.start = from + 1;
    this.end = last;
    if (plain === last) {
      this.bytes = source as Uint8Array<ArrayBuffer>;
      return;
    }
    if (this.#scratch.length < to - from) this.#scratch = grow(this.#scratch, to - from);
    this.bytes = this.#scratch;
    this.#unescape(source, from + 1, last);
  }

  #unescape(source: Uint8Array, from: number, to: number): void {
    const scratch = this.#scratch;
    let length = 0;
    let at = from;
    while (at < to) {
      const byte = source[at];
      if (byte !== BACKSLASH) {
        scratch[length++] = byte;
        at++;
      } else if (source[at + 1] !== LETTER_U) {
        scratch[length++] = ESCAPED.get(source[at + 1]) ?? source[at + 1];
        at += 2;
      } else {
        let point = hexUnit(source, at + 2);
        at += 6;
        if (isHigh(point) && source[at] === BACKSLASH && source[at + 1] === LETTER_U) {
          const low = hexUnit(source, at + 2);
          if (isLow(low)) {
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
          }
        }
        length = encodePoint(scratch, length, point);
      }
    }
    this.start = 0;
    this.end = length;
  }
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** The UTF-16 unit of four hexadecimal digits. */
function hexUnit(bytes: Uint8Array, at: number): number {
  let unit = 0;
  for (let index = at; index < at + 4; index++) {
    const byte = bytes[index];
    unit = (unit << 4) | (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57);
  }
  return unit;
}

/**
 * Walks the elements of an array that count as its values: strings, numbers and booleans. Nulls, arrays and objects
 * in it are passed over. After `next` the element is `kind` and `bytes[start, end)`: a string unescaped, a number
 * as written; a boolean is in `truth`. Source: INTERFACE.md 4.3 and 10.
 */
export class ArrayCursor {
  kind: typeof Kind.STRING | typeof Kind.NUMBER | typeof Kind.BOOLEAN = Kind.STRING;
  bytes = new Uint8Array(0);
  start = 0;
  end = 0;
  truth = false;
  #source = new Uint8Array(0);
  #at = 0;
  #sourceEnd = 0;
  readonly #strings = new StringReader();

  /** Begins with the array whose JSON text, without blanks, is `bytes[start, end)`. */
  open(bytes: Uint8Array, start: number, end: number): void {
    this.#source = bytes as Uint8Array<ArrayBuffer>;
    this.#at = start + 1;
    this.#sourceEnd = end;
  }

  /** Goes to the next element; false when there is none. */
  next(): boolean {
    while (this.#at < this.#sourceEnd - 1) {
      const from = this.#at;
      const to = valueEnd(this.#source, from, this.#sourceEnd);
      this.#at = to + 1;
      if (this.#take(from, to)) return true;
    }
    return false;
  }

  #take(from: number, to: number): boolean {
    const first = this.#source[from];
    if (first === OPEN_BRACKET || first === OPEN_BRACE || first === 0x6e) return false;
    if (first === QUOTE) {
      this.#strings.read(this.#source, from, to);
      this.kind = Kind.STRING;
      this.bytes = this.#strings.bytes;
      this.start = this.#strings.start;
      this.end = this.#strings.end;
      return true;
    }
    this.truth = first === 0x74;
    this.kind = this.truth || first === 0x66 ? Kind.BOOLEAN : Kind.NUMBER;
    this.bytes = this.#source;
    this.start = from;
    this.end = to;
    return true;
  }
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const memberName = new StringReader();

/**
 * The JSON text of the attribute of an event (JSON text without blanks) whose names joined by dots are `path`;
 * `undefined` when it has none. For objects, which are in no column.
 */
export function attributeText(event: string, path: string): string | undefined {
  const bytes = encoder.encode(event);
  const place = findAttribute(bytes, 0, bytes.length, path);
  return place === undefined ? undefined : decoder.decode(bytes.subarray(place[0], place[1]));
}

/** Start and end of the attribute `path` of the object `bytes[start, end)`. */
function findAttribute(
  bytes: Uint8Array,
  start: number,
  end: number,
  path: string,
): [number, number] | undefined {
  if (bytes[start] !== OPEN_BRACE) return undefined;
  let at = start + 1;
  while (at < end && bytes[at] === QUOTE) {
    const nameEnd = stringEnd(bytes, at, end);
    memberName.read(bytes, at, nameEnd);
    const name = decoder.decode(memberName.bytes.subarray(memberName.start, memberName.end));
    const from = bytes[nameEnd] === COLON ? nameEnd + 1 : nameEnd;
    const to = valueEnd(bytes, from, end);
    if (name === path) return [from, to];
    if (path.startsWith(name) && path[name.length] === '.') {
      const found = findAttribute(bytes, from, to, path.slice(name.length + 1));
      if (found !== undefined) return found;
    }
    at = to + 1;
  }
  return undefined;
}
