import { EVENT_BYTES_MAX } from '../../engine/base/limits.ts';
import type { NumberResult } from './number.ts';
import { scanNumber } from './number.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipBlanks,
  stringEnd,
} from './text.ts';

const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const TRUE = Uint8Array.from(Buffer.from('true'));
const FALSE = Uint8Array.from(Buffer.from('false'));
const NULL = Uint8Array.from(Buffer.from('null'));

/** Returns the offset behind `true`, `false` or `null` at `at`, -1 when it is none of them. */
export function literalEnd(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at];
  const word = first === LETTER_T ? TRUE : first === LETTER_F ? FALSE : NULL;
  if (word === NULL && first !== LETTER_N) return -1;
  if (at + word.length > end) return -1;
  for (let index = 1; index < word.length; index++) {
    if (bytes[at + index] !== word[index]) return -1;
  }
  return at + word.length;
}

/**
 * Finds the ends of JSON values, checking all of their grammar (RFC 8259), whatever their depth: it does not
 * recurse. Owned by one thread; remembers its last value and where the last error was.
 */
export class ValueScanner {
  /** Objects and arrays around the innermost value of the last value: 0 for a scalar, 1 for `[1]` and `[]`. */
  depth = 0;
  /** Set when the last value had blanks between its tokens. */
  hasBlanks = false;
  /** Position of the fault in the last value that was refused. */
  errorAt = 0;

  /** Closing bytes of what is open. */
  #open = new Uint8Array(64);
  #number: NumberResult = { value: 0, detail: 0 };

  /** Returns the offset behind the value that begins at `start`; -1 when it is not JSON. */
  skip(bytes: Uint8Array, start: number, end: number): number {
    this.depth = 0;
    this.hasBlanks = false;
    let level = 0;
    let at = start;
    while (at >= 0) {
      const byte = at < end ? bytes[at] : 0;
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (!this.#push(level++, byte)) return this.#fail(at);
        at = this.#blanks(bytes, at + 1, end);
        if (at >= end || bytes[at] !== this.#open[level - 1]) {
          if (byte === OPEN_BRACE) at = this.#name(bytes, at, end);
          continue;
        }
      } else {
        at = this.#scalar(bytes, at, end);
        if (at < 0) return -1;
        if (level === 0) return at;
        at = this.#blanks(bytes, at, end);
      }
      while (at < end && bytes[at] === this.#open[level - 1]) {
        if (--level === 0) return at + 1;
        at = this.#blanks(bytes, at + 1, end);
      }
      if (at >= end || bytes[at] !== COMMA) return this.#fail(at);
      at = this.#blanks(bytes, at + 1, end);
      if (this.#open[level - 1] === CLOSE_BRACE) at = this.#name(bytes, at, end);
    }
    return -1;
  }

  #push(level: number, byte: number): boolean {
    if (level >= EVENT_BYTES_MAX) return false;
    if (level === this.#open.length) {
      const grown = new Uint8Array(level * 2);
      grown.set(this.#open);
      this.#open = grown;
    }
    this.#open[level] = byte === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    if (level >= this.depth) this.depth = level + 1;
    return true;
  }

  #blanks(bytes: Uint8Array, at: number, end: number): number {
    const behind = skipBlanks(bytes, at, end);
    if (behind !== at) this.hasBlanks = true;
    return behind;
  }

  /** Offset of the value behind the name at `at`. */
  #name(bytes: Uint8Array, at: number, end: number): number {
    if (at >= end || bytes[at] !== QUOTE) return this.#fail(at);
    const closing = stringEnd(bytes, at + 1, end);
    if (closing < 0) return this.#fail(at);
    const colon = this.#blanks(bytes, closing + 1, end);
    if (colon >= end || bytes[colon] !== COLON) return this.#fail(colon);
    return this.#blanks(bytes, colon + 1, end);
  }

  #scalar(bytes: Uint8Array, at: number, end: number): number {
    if (at >= end) return this.#fail(at);
    if (bytes[at] === QUOTE) {
      const closing = stringEnd(bytes, at + 1, end);
      return closing < 0 ? this.#fail(at) : closing + 1;
    }
    const isWord = bytes[at] >= 0x61;
    const behind = isWord ? literalEnd(bytes, at, end) : scanNumber(bytes, at, end, this.#number);
    return behind < 0 ? this.#fail(at) : behind;
  }

  #fail(at: number): number {
    this.errorAt = at;
    return -1;
  }
}

/**
 * Copies the valid JSON `bytes[start, end)` to `target` from `at` on, without the blanks between its tokens;
 * returns the offset behind. `target` must have room for `end - start` bytes.
 */
export function compactJson(
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
    if (byte === QUOTE) {
      const behind = stringEnd(bytes, from + 1, end) + 1;
      target.set(bytes.subarray(from, behind), to);
      to += behind - from;
      from = behind;
    } else {
      if (byte > 0x20) target[to++] = byte;
      from++;
    }
  }
  return to;
}
