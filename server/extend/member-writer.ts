import {
  BACKSLASH,
  BLANK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  TILDE,
} from '../../engine/base/ascii.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { Member } from '../decode/member.ts';
import { type ExtractedValue, NumberText } from './extraction.ts';
import { ASCII_MAX, oneByteText } from './row-index.ts';

/** Characters up to which a loop is faster than a call of the runtime. */
const SHORT_LENGTH = 64;
/** Bytes that UTF-8 needs at most for a unit of UTF-16. */
const UNIT_BYTES_MAX = 3;
/** Characters that JSON escapes. Others found here are merely written the slow way. */
const NEEDS_ESCAPES = /["\\\p{Cc}\p{Cs}]/u;

/**
 * Writes what extensions found as JSON into the side buffer of rows, from where it is read as what was sent is: so that
 * the same rules hold for both.
 */
export class MemberWriter {
  readonly #rows: Rows;
  /** The rows' side buffer, which moves when it grows. */
  #side: Buffer;

  constructor(rows: Rows) {
    this.#rows = rows;
    this.#side = viewOf(rows.side);
  }

  /** Writes an attribute; a member of an object that is to be put into a tree. */
  member(name: string, value: ExtractedValue): Member {
    const member = this.#member(name, value);
    // A number ends where something else begins.
    this.#byte(COMMA);
    return member;
  }

  /** Writes an attribute that is to be put into a row, which needs no JSON of texts, numbers and objects. */
  leaves(name: string, value: ExtractedValue): Member {
    if (value instanceof Map) {
      const members: Member[] = [];
      for (const [inner, each] of value) members.push(this.leaves(inner, each));
      return { name: oneByteText(name), start: 0, end: 0, isObject: true, members };
    }
    const mayBeNumber = value instanceof NumberText;
    if (!mayBeNumber && typeof value !== 'string') return this.member(name, value);
    const plain = { ...this.plain(mayBeNumber ? value.text : value), mayBeNumber };
    return {
      name: oneByteText(name),
      start: 0,
      end: 0,
      isObject: false,
      members: undefined,
      plain,
    };
  }

  #member(name: string, value: ExtractedValue): Member {
    const start = this.#rows.sideBytes;
    const members = this.#value(value);
    return {
      name: oneByteText(name),
      start,
      end: this.#rows.sideBytes,
      isObject: members !== undefined,
      members,
    };
  }

  /** Writes a text that is no JSON unchanged; `start` and `length` are those of a row entry. */
  plain(text: string): { start: number; length: number } {
    const at = this.#rows.sideBytes;
    if (text.length > SHORT_LENGTH || !this.#shortText(text)) this.#text(text);
    return { start: ~at, length: this.#rows.sideBytes - at };
  }

  /** Writes a text of ASCII; false, and then nothing, when it is another. */
  #shortText(text: string): boolean {
    const rows = this.#rows;
    const start = rows.reserveSide(text.length);
    const { side } = rows;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > ASCII_MAX) {
        rows.sideBytes = start;
        return false;
      }
      side[start + at] = code;
    }
    return true;
  }

  /** Writes a value; returns the members of an object. */
  #value(value: ExtractedValue): Member[] | undefined {
    if (typeof value === 'string') this.#string(value);
    else if (typeof value === 'number') this.#text(Number.isFinite(value) ? String(value) : 'null');
    else if (value instanceof NumberText) this.#text(value.text);
    else if (value instanceof Map) return this.#object(value);
    else if (value === null || typeof value === 'boolean') this.#text(String(value));
    else this.#array(value);
    return undefined;
  }

  #object(attributes: ReadonlyMap<string, ExtractedValue>): Member[] {
    const members: Member[] = [];
    this.#byte(OPEN_BRACE);
    for (const [name, value] of attributes) {
      if (members.length > 0) this.#byte(COMMA);
      this.#string(name);
      this.#byte(COLON);
      members.push(this.#member(name, value));
    }
    this.#byte(CLOSE_BRACE);
    return members;
  }

  #array(values: readonly ExtractedValue[]): void {
    this.#byte(OPEN_BRACKET);
    for (const [index, value] of values.entries()) {
      if (index > 0) this.#byte(COMMA);
      this.#value(value);
    }
    this.#byte(CLOSE_BRACKET);
  }

  #string(text: string): void {
    if (text.length <= SHORT_LENGTH && this.#shortString(text)) return;
    if (NEEDS_ESCAPES.test(text)) {
      this.#text(JSON.stringify(text));
      return;
    }
    this.#byte(QUOTE);
    this.#text(text);
    this.#byte(QUOTE);
  }

  /** Writes a string of printable ASCII that needs no escapes; false, and then nothing, when it is another. */
  #shortString(text: string): boolean {
    const rows = this.#rows;
    const start = rows.reserveSide(text.length + 2);
    const { side } = rows;
    side[start] = QUOTE;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code < BLANK || code > TILDE || code === QUOTE || code === BACKSLASH) {
        rows.sideBytes = start;
        return false;
      }
      side[start + 1 + at] = code;
    }
    side[start + 1 + text.length] = QUOTE;
    return true;
  }

  #text(text: string): void {
    const rows = this.#rows;
    const at = rows.reserveSide(text.length * UNIT_BYTES_MAX);
    if (this.#side.buffer !== rows.side.buffer) this.#side = viewOf(rows.side);
    rows.sideBytes = at + this.#side.write(text, at);
  }

  #byte(byte: number): void {
    const at = this.#rows.reserveSide(1);
    this.#rows.side[at] = byte;
  }
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
