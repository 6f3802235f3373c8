import { ByteWriter } from '../../engine/base/bytes.ts';
import { BACKSLASH, CLOSE_BRACE, COLON, COMMA, OPEN_BRACE, QUOTE } from './text.ts';

/**
 * Writes the attributes of an event that have no place of their own as one JSON object, nested as they were.
 * Names and texts have one character a byte. Source: INTERFACE.md 8.
 */
export class ExcessWriter {
  readonly #out = new ByteWriter();
  /** Number of open objects around the last attribute. */
  #openCount = 0;
  #needsComma = false;
  #isUsed = false;

  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Begins an empty object. */
  begin(): void {
    this.#out.reset();
    this.#out.u8(OPEN_BRACE);
    this.#openCount = 0;
    this.#needsComma = false;
    this.#isUsed = false;
  }

  /** Adds the attribute `name`, which lies in the objects `around`, with the JSON text `value`. */
  add(around: readonly string[], name: string, value: Uint8Array): void {
    this.#isUsed = true;
    for (; this.#openCount < around.length; this.#openCount++) {
      this.#name(around[this.#openCount]);
      this.#out.u8(OPEN_BRACE);
      this.#needsComma = false;
    }
    this.#name(name);
    this.#out.raw(value);
    this.#needsComma = true;
  }

  /** Adds the members of an object, given as its JSON text, outside of all objects. */
  addAll(object: Uint8Array): void {
    this.#isUsed = true;
    this.closeTo(0);
    if (object.length <= 2) return;
    if (this.#needsComma) this.#out.u8(COMMA);
    this.#out.raw(object.subarray(1, -1));
    this.#needsComma = true;
  }

  /** Closes what is open beyond the outermost `count` objects around. */
  closeTo(count: number): void {
    for (; this.#openCount > count; this.#openCount--) {
      this.#out.u8(CLOSE_BRACE);
      this.#needsComma = true;
    }
  }

  /** The whole object; valid until the next `begin`. */
  end(): Uint8Array {
    this.closeTo(0);
    this.#out.u8(CLOSE_BRACE);
    return this.#out.bytes();
  }

  #name(name: string): void {
    if (this.#needsComma) this.#out.u8(COMMA);
    writeString(this.#out, name);
    this.#out.u8(COLON);
  }
}

/** The bytes of a text, one character a byte, as a JSON string. For cold paths. */
export function jsonString(text: string): Uint8Array {
  const out = new ByteWriter(text.length + 16);
  writeString(out, text);
  return out.bytes();
}

function writeString(out: ByteWriter, text: string): void {
  out.u8(QUOTE);
  for (let at = 0; at < text.length; at++) {
    const byte = text.charCodeAt(at);
    if (byte < 0x20) {
      out.raw(Buffer.from(`\\u${byte.toString(16).padStart(4, '0')}`));
    } else {
      if (byte === QUOTE || byte === BACKSLASH) out.u8(BACKSLASH);
      out.u8(byte);
    }
  }
  out.u8(QUOTE);
}
