/** Bytes of ASCII characters by their names. */
export const NUL = 0x00;
export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const BLANK = 0x20;
export const QUOTE = 0x22;
export const HASH = 0x23;
export const PERCENT = 0x25;
export const AMPERSAND = 0x26;
export const APOSTROPHE = 0x27;
export const ASTERISK = 0x2a;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const DOT = 0x2e;
export const SLASH = 0x2f;
export const ZERO = 0x30;
export const NINE = 0x39;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;
export const LESS = 0x3c;
export const EQUALS = 0x3d;
export const GREATER = 0x3e;
export const QUESTION = 0x3f;
export const AT = 0x40;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const UNDERSCORE = 0x5f;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const TILDE = 0x7e;
export const DELETE = 0x7f;
/** The greatest byte of ASCII. */
export const ASCII_MAX = 0x7f;

/** Offset of the first `byte` in `[start, end)`; `end` at least when there is none. */
export function byteFrom(byte: number, bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== byte) at++;
  return at;
}

/** Offset behind the digits that stand at `start`, `end` at most. */
export function digitsEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] >= ZERO && bytes[at] <= NINE) at++;
  return at;
}

/** Recognises the bytes of line ends. */
export function isLineEnd(byte: number): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN;
}

/** End of `bytes[start, end)` without the line ends at its end. */
export function trimmedEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && isLineEnd(bytes[at - 1])) at--;
  return at;
}
