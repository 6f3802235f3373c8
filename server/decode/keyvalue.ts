import {
  APOSTROPHE,
  AT,
  BLANK,
  EQUALS,
  GREATER,
  LESS,
  SEMICOLON,
  UNDERSCORE,
} from '../../engine/base/ascii.ts';
import { Note, type Pairs } from './pairs.ts';
import { BACKSLASH, COMMA, DOT, MINUS, QUOTE } from './text.ts';

const NULL = Uint8Array.from(Buffer.from('null'));

const NAME = 1;
const DELIMITER = 2;

/** Class of each byte in pairs: letters, digits, `_ . - @` and all bytes beyond ASCII may stand in names. */
const CLASS = new Uint8Array(256).fill(DELIMITER, 0, BLANK + 1).fill(NAME, 0x80);
CLASS[COMMA] = DELIMITER;
CLASS[SEMICOLON] = DELIMITER;
for (const byte of [UNDERSCORE, DOT, MINUS, AT]) CLASS[byte] = NAME;
for (let byte = 0; byte < 26; byte++) {
  CLASS[0x41 + byte] = NAME;
  CLASS[0x61 + byte] = NAME;
  if (byte < 10) CLASS[0x30 + byte] = NAME;
}

/**
 * Bytes that cannot stand in a quoted name. They include `=`, so that a stray quote does not hide the pairs behind
 * it.
 */
const QUOTED_NAME_END = new Uint8Array(256);
for (const byte of [QUOTE, BACKSLASH, EQUALS]) QUOTED_NAME_END[byte] = 1;

/**
 * Finds the pairs `name=value` of a text. A name begins the text or stands behind a blank, `,`, `;` or a closing
 * quote; it may stand in double quotes and then hold all but `=`, `"` and `\`. A value ends at a blank, `,` or `;`, or
 * is quoted by `"` (in which `\"` and `\\` stand for themselves), `'` or `<>`; a quote that is never closed is part of
 * the value. `name=`, `name=null` and `name==` give nothing. Owned by one thread. Source: INTERFACE.md 1.2.
 */
export class PairScanner {
  /**
   * Set per quote while a closing one may still come. After one vain search there is none, so a text is read only
   * twice.
   */
  #mayClose = new Uint8Array(256);

  /** Adds the pairs of `bytes[start, end)` to `pairs`. */
  scan(bytes: Uint8Array, start: number, end: number, pairs: Pairs): void {
    this.#mayClose[QUOTE] = 1;
    this.#mayClose[APOSTROPHE] = 1;
    this.#mayClose[GREATER] = 1;
    let at = start;
    while (at < end) {
      const nameStart = at;
      while (at < end && CLASS[bytes[at]] === NAME) at++;
      if (at < end && at > nameStart && bytes[at] === EQUALS) {
        at = this.#value(bytes, nameStart, at, at, end, pairs);
      } else if (at === nameStart && bytes[at] === QUOTE) {
        at = this.#quotedName(bytes, at, end, pairs);
      } else {
        at = wordEnd(bytes, at, end) + 1;
      }
    }
  }

  /** Reads what may be a name in quotes at `at`; returns where the next pair may begin. */
  #quotedName(bytes: Uint8Array, at: number, end: number, pairs: Pairs): number {
    let closing = at + 1;
    while (closing < end && QUOTED_NAME_END[bytes[closing]] === 0) closing++;
    const isName =
      closing > at + 1 &&
      closing + 1 < end &&
      bytes[closing] === QUOTE &&
      bytes[closing + 1] === EQUALS;
    if (!isName) return wordEnd(bytes, at, end) + 1;
    return this.#value(bytes, at + 1, closing, closing + 1, end, pairs);
  }

  /**
   * Adds the pair of the name `[nameStart, nameEnd)` whose `=` stands at `equals`; returns where the next one may
   * begin.
   */
  #value(
    bytes: Uint8Array,
    nameStart: number,
    nameEnd: number,
    equals: number,
    end: number,
    pairs: Pairs,
  ): number {
    const start = equals + 1;
    const first = start < end ? bytes[start] : BLANK;
    if (first === QUOTE || first === APOSTROPHE || first === LESS) {
      const closing = this.#closing(bytes, start + 1, end, first === LESS ? GREATER : first);
      if (closing >= 0) {
        const note = first === QUOTE && hasBackslash(bytes, start + 1, closing);
        pairs.add(nameStart, nameEnd, start + 1, closing, note ? Note.ESCAPED : Note.STRING);
        return closing + 1;
      }
    }
    const stop = wordEnd(bytes, start, end);
    if (stop > start && first !== EQUALS && !isNull(bytes, start, stop)) {
      pairs.add(nameStart, nameEnd, start, stop, Note.PLAIN);
    }
    return stop;
  }

  /** Offset of the quote `mark` from `start` on; -1 when there is none. */
  #closing(bytes: Uint8Array, start: number, end: number, mark: number): number {
    if (this.#mayClose[mark] === 0) return -1;
    for (let at = start; at < end; at++) {
      const byte = bytes[at];
      if (byte === mark) return at;
      if (byte === BACKSLASH && mark === QUOTE) at++;
    }
    this.#mayClose[mark] = 0;
    return -1;
  }
}

function wordEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && CLASS[bytes[at]] !== DELIMITER) at++;
  return at;
}

function hasBackslash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

function isNull(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== NULL.length) return false;
  for (let index = 0; index < NULL.length; index++) {
    if (bytes[start + index] !== NULL[index]) return false;
  }
  return true;
}
