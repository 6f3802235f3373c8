import {
  BACKSLASH,
  CLOSE_BRACE,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../../engine/base/ascii.ts';
import { sameBytes } from '../../../engine/base/hash.ts';
import { Kind } from '../../../engine/column/kind.ts';
import { literalEnd, ValueScanner } from '../../decode/json.ts';
import { scanNumber } from '../../decode/number.ts';
import { plainEnd, skipBlanks, stringEnd, unescapeString } from '../../decode/text.ts';
import { findObject, type ObjectPlace } from '../embedded-json.ts';
import type { RowValues } from '../row-values.ts';
import { type Answer, type Finder, type Findings, FOUND, NOTHING, UNSURE } from './findings.ts';

const LETTER_A = 0x61;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const LETTER_U = 0x75;
const MESSAGE = Uint8Array.from(Buffer.from('message'));
/** Objects in objects, and objects in all, that are read here. */
const LEVELS_MAX = 8;
const OBJECTS_MAX = 32;

/** Finds the attributes of the JSON object in a text, as EmbeddedJsonExtractor does. */
export class JsonFinder implements Finder {
  readonly #found: Findings;
  readonly #scanner = new ValueScanner();
  readonly #place: ObjectPlace = { at: 0, behind: 0 };
  readonly #number = { value: 0, detail: 0 };
  #bytes: Uint8Array = new Uint8Array(0);
  #isInSide = false;
  #end = 0;
  /** Paths of the objects that were read. */
  readonly #objects = new Int32Array(OBJECTS_MAX + 1);
  #objectCount = 0;
  /** Set when there was a member `message` that may become the event's. */
  #hasMessage = false;
  /** The string that was read last, as `start` and `length` of a row entry. */
  #textStart = 0;
  #textLength = 0;

  constructor(found: Findings) {
    this.#found = found;
  }

  find({ bytes, start, end, isInSide }: RowValues): Answer {
    const found = this.#found;
    const place = this.#place;
    if (!findObject(this.#scanner, bytes, start, end, place)) return NOTHING;
    this.#bytes = bytes;
    this.#isInSide = isInSide;
    this.#end = place.behind;
    this.#objectCount = 0;
    this.#hasMessage = false;
    if (this.#object(found.container, place.at, 1) < 0) return UNSURE;
    const isAlone =
      skipBlanks(bytes, start, end) === place.at && skipBlanks(bytes, place.behind, end) === end;
    // The message has what is around the object, too.
    return found.messageLength >= 0 && !isAlone ? UNSURE : FOUND;
  }

  /** Reads the object at `at`, which is valid; the offset behind it, -1 when it is not plain. */
  #object(container: number, at: number, level: number): number {
    const bytes = this.#bytes;
    const end = this.#end;
    let offset = skipBlanks(bytes, at + 1, end);
    if (bytes[offset] === CLOSE_BRACE || level > LEVELS_MAX) return -1;
    while (bytes[offset] !== CLOSE_BRACE) {
      const name = offset + 1;
      const nameEnd = plainEnd(bytes, name, end);
      if (bytes[nameEnd] !== QUOTE) return -1;
      // The colon is one byte.
      const value = skipBlanks(bytes, skipBlanks(bytes, nameEnd + 1, end) + 1, end);
      offset = this.#member(container, name, nameEnd, value, level);
      if (offset < 0) return -1;
      offset = skipBlanks(bytes, offset, end);
      if (bytes[offset] === COMMA) offset = skipBlanks(bytes, offset + 1, end);
    }
    return offset + 1;
  }

  /** Reads the value at `at` of a member; the offset behind it, -1 when it is not plain. */
  #member(container: number, name: number, nameEnd: number, at: number, level: number): number {
    const found = this.#found;
    const bytes = this.#bytes;
    const byte = bytes[at];
    if (level === 1 && found.takesMessage && this.#isMessage(name, nameEnd)) {
      if (this.#hasMessage) return -1;
      this.#hasMessage = true;
      if (byte === QUOTE) {
        const behind = this.#string(at);
        found.addMessage(this.#textStart, this.#textLength);
        return behind;
      }
    }
    const path = found.pathIn(container, bytes, name, nameEnd);
    if (path < 0) return -1;
    if (byte === QUOTE) {
      const behind = this.#string(at);
      found.add(path, Kind.STRING, this.#textStart, this.#textLength);
      return behind;
    }
    if (byte === OPEN_BRACE) {
      // Of objects of one name the last one is the member.
      const isNew = this.#objectCount < OBJECTS_MAX && !this.#isOpened(path);
      this.#objects[this.#objectCount++] = path;
      return isNew ? this.#object(path, at, level + 1) : -1;
    }
    const behind = this.#scalarEnd(at);
    if (behind < 0) return -1;
    if (byte === OPEN_BRACKET) found.add(path, Kind.ARRAY, this.#start(at), behind - at);
    else if (byte < LETTER_A) found.add(path, Kind.NUMBER, this.#start(at), behind - at);
    else
      found.add(path, byte === LETTER_N ? Kind.NULL : Kind.BOOLEAN, 0, byte === LETTER_T ? 1 : 0);
    return behind;
  }

  #isOpened(path: number): boolean {
    for (let object = 0; object < this.#objectCount; object++)
      if (this.#objects[object] === path) return true;
    return false;
  }

  #isMessage(start: number, end: number): boolean {
    const { length } = MESSAGE;
    return end - start === length && sameBytes(MESSAGE, 0, this.#bytes, start, length);
  }

  /** Reads a string; the offset behind it, -1 when it has escapes that are no single characters. */
  #string(at: number): number {
    const bytes = this.#bytes;
    const start = at + 1;
    const stop = plainEnd(bytes, start, this.#end);
    this.#textStart = this.#start(start);
    this.#textLength = stop - start;
    if (bytes[stop] === QUOTE) return stop + 1;
    const closing = stringEnd(bytes, stop, this.#end);
    for (let from = stop; from < closing; from++) {
      if (bytes[from] === BACKSLASH && bytes[++from] === LETTER_U) return -1;
    }
    const { rows } = this.#found;
    const to = rows.reserveSide(closing - start);
    rows.sideBytes = unescapeString(bytes, start, closing, rows.side, to);
    this.#textStart = ~to;
    this.#textLength = rows.sideBytes - to;
    return closing + 1;
  }

  /** The offset behind a number, a word, or an array of scalars as events show it; -1 when it is another value. */
  #scalarEnd(at: number): number {
    const bytes = this.#bytes;
    if (bytes[at] >= LETTER_A) return literalEnd(bytes, at, this.#end);
    if (bytes[at] !== OPEN_BRACKET) return scanNumber(bytes, at, this.#end, this.#number);
    const behind = this.#scanner.skip(bytes, at, this.#end);
    if (this.#scanner.depth > 1 || this.#scanner.hasBlanks) return -1;
    for (let offset = at; offset < behind; offset++) if (bytes[offset] === BACKSLASH) return -1;
    return behind;
  }

  #start(at: number): number {
    return this.#isInSide ? ~at : at;
  }
}
