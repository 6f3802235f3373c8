import { byteFrom } from '../../engine/base/ascii.ts';
import { DEPTH_MAX } from '../../engine/base/limits.ts';
import { compactJson, literalEnd, ValueScanner } from '../decode/json.ts';
import type { NumberResult } from '../decode/number.ts';
import { scanNumber } from '../decode/number.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  plainEnd,
  QUOTE,
  skipBlanks,
  stringEnd,
  unescapeString,
} from '../decode/text.ts';
import { OBJECTS_TRIED_MAX } from '../decode/text-object.ts';
import type { Attributes, ExtractedValue, Extraction, Extractor } from './extraction.ts';
import { NumberText } from './extraction.ts';
import { bitsOf } from './signs.ts';

const LETTER_A = 0x61;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;

const SIGNS = bitsOf('{"}');

/**
 * Finds a JSON object that is the text or stands in it, with any text before and behind: the first `{` with a name
 * behind it that begins a valid one, of at most OBJECTS_TRIED_MAX. What is in an object that is not valid is no object
 * of its own, so that half an event does not look like a whole one.
 */
export class EmbeddedJsonExtractor implements Extractor {
  readonly #scanner = new ValueScanner();
  readonly #place: ObjectPlace = { at: 0, behind: 0 };

  mayFind(signs: number): boolean {
    return (signs & SIGNS) === SIGNS;
  }

  extract(text: string): Extraction | undefined {
    if (!text.includes('{')) return undefined;
    const bytes = Buffer.from(text);
    const place = this.#place;
    if (!findObject(this.#scanner, bytes, 0, bytes.length, place)) return undefined;
    const before = bytes.toString('utf8', 0, place.at).trim();
    const rest = bytes.toString('utf8', place.behind).trim();
    const around = before === '' && rest === '' ? {} : { around: [before, rest] as const };
    return { attributes: new ValidJson(text, bytes, place.behind).object(place.at, 1), ...around };
  }
}

/** Place of an object in a text. */
export interface ObjectPlace {
  at: number;
  behind: number;
}

/** Finds the object of `bytes[start, end)` that EmbeddedJsonExtractor takes out; false when there is none. */
export function findObject(
  scanner: ValueScanner,
  bytes: Uint8Array,
  start: number,
  end: number,
  place: ObjectPlace,
): boolean {
  let at = byteFrom(OPEN_BRACE, bytes, start, end);
  for (let tried = 0; at < end && tried < OBJECTS_TRIED_MAX; ) {
    let next = skipBlanks(bytes, at + 1, end);
    if (next < end && bytes[next] === QUOTE) {
      tried++;
      place.at = at;
      place.behind = scanner.skip(bytes, at, end);
      if (place.behind >= 0) return true;
      // Behind the error, not behind the brace: this keeps the time linear.
      next = Math.max(next, scanner.errorAt);
    }
    at = byteFrom(OPEN_BRACE, bytes, next, end);
  }
  return false;
}

/** Reads JSON that is known to be valid. Objects and arrays below DEPTH_MAX levels become their text. */
class ValidJson {
  readonly #text: string;
  readonly #bytes: Buffer;
  readonly #end: number;
  /** Set when all characters are ASCII, so that offsets of bytes are those of the text. */
  readonly #isAscii: boolean;
  readonly #number: NumberResult = { value: 0, detail: 0 };
  /** Offset behind what was read last. */
  #at = 0;

  /** `bytes` are those of `text`; what is read ends before `end`. */
  constructor(text: string, bytes: Buffer, end: number) {
    this.#text = text;
    this.#bytes = bytes;
    this.#end = end;
    this.#isAscii = text.length === bytes.length;
  }

  /** The members of the object at `at`, itself on `level`. A repeated name keeps its last value, first position. */
  object(at: number, level: number): Attributes {
    const attributes: Attributes = new Map();
    this.#skipTo(at + 1);
    while (this.#bytes[this.#at] !== CLOSE_BRACE) {
      const name = this.#string(this.#at);
      // The colon is one byte.
      this.#skipTo(skipBlanks(this.#bytes, this.#at, this.#end) + 1);
      attributes.set(name, this.#value(this.#at, level));
      this.#skipComma();
    }
    this.#at++;
    return attributes;
  }

  #array(at: number, level: number): ExtractedValue[] {
    const elements: ExtractedValue[] = [];
    this.#skipTo(at + 1);
    while (this.#bytes[this.#at] !== CLOSE_BRACKET) {
      elements.push(this.#value(this.#at, level));
      this.#skipComma();
    }
    this.#at++;
    return elements;
  }

  #value(at: number, level: number): ExtractedValue {
    const bytes = this.#bytes;
    const byte = bytes[at];
    if (byte === QUOTE) return this.#string(at);
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (level >= DEPTH_MAX) return this.#compact(at);
      return byte === OPEN_BRACE ? this.object(at, level + 1) : this.#array(at, level + 1);
    }
    if (byte >= LETTER_A) {
      this.#at = literalEnd(bytes, at, this.#end);
      return byte === LETTER_N ? null : byte !== LETTER_F;
    }
    this.#at = scanNumber(bytes, at, this.#end, this.#number);
    return new NumberText(this.#written(at, this.#at));
  }

  #string(at: number): string {
    const bytes = this.#bytes;
    const start = at + 1;
    const stop = plainEnd(bytes, start, this.#end);
    const closing = bytes[stop] === BACKSLASH ? stringEnd(bytes, stop, this.#end) : stop;
    this.#at = closing + 1;
    if (closing === stop) return this.#written(start, stop);
    const room = Buffer.allocUnsafe(closing - start);
    return room.toString('utf8', 0, unescapeString(bytes, start, closing, room, 0));
  }

  /** The object or array at `at` as text, without blanks between its tokens. */
  #compact(at: number): string {
    const end = new ValueScanner().skip(this.#bytes, at, this.#end);
    const room = Buffer.allocUnsafe(end - at);
    this.#at = end;
    return room.toString('utf8', 0, compactJson(this.#bytes, at, end, room, 0));
  }

  #written(start: number, end: number): string {
    return this.#isAscii ? this.#text.slice(start, end) : this.#bytes.toString('utf8', start, end);
  }

  #skipTo(at: number): void {
    this.#at = skipBlanks(this.#bytes, at, this.#end);
  }

  #skipComma(): void {
    this.#skipTo(this.#at);
    if (this.#bytes[this.#at] === COMMA) this.#skipTo(this.#at + 1);
  }
}
