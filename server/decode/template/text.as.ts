import {
  BACKSLASH,
  BACKSPACE,
  BLANK,
  CARRIAGE_RETURN,
  FALSE_WORD,
  FORM_FEED,
  LETTER_B,
  LETTER_E,
  LETTER_F,
  LETTER_N,
  LETTER_R,
  LETTER_T,
  LINE_FEED,
  literalVector,
  PAD_BYTES,
  PREFIX,
  PREFIX_BYTES,
  QUOTE,
  SLASH,
  SOURCE,
  SOURCE_BYTES,
  sourceByte,
  sourceVector,
  TAB,
  TRUE_WORD,
  VECTOR,
  ZERO,
} from './memory.as.ts';

const LETTER_A: u32 = 0x61;

// Texts of the source. Offsets count from its beginning.

/** Compares `length` bytes of the source with those at `at` of a region that vectors may read beyond. */
// @inline
function isLiteral(from: u32, literal: u32, length: u32): bool {
  let done: u32 = 0;
  while (done + VECTOR <= length) {
    if (!i8x16.all_true(i8x16.eq(sourceVector(from + done), literalVector(literal + done))))
      return false;
    done += VECTOR;
  }
  if (done === length) return true;
  const same = i8x16.bitmask(i8x16.eq(sourceVector(from + done), literalVector(literal + done)));
  const wanted = (1 << (length - done)) - 1;
  return (same & wanted) === wanted;
}

/** Compares the source with the prefix, whose bytes may be a key: the time does not tell where they differ. */
function isPrefix(from: u32, length: u32): bool {
  assert(length <= PREFIX_BYTES);
  let difference: u32 = 0;
  for (let at: u32 = 0; at < length; at += VECTOR) {
    const same = i8x16.bitmask(i8x16.eq(sourceVector(from + at), v128.load(PREFIX + at)));
    const wanted = length - at >= VECTOR ? 0xffff : (1 << (length - at)) - 1;
    difference |= ~same & wanted;
  }
  return difference === 0;
}

/** Offset of the first quote, backslash or control byte from `from` on; `end` or more when there is none. */
// @inline
function plainEnd(from: u32, end: u32): u32 {
  const quotes = i8x16.splat(<i8>QUOTE);
  const escapes = i8x16.splat(<i8>BACKSLASH);
  const blanks = i8x16.splat(<i8>BLANK);
  let at = from;
  while (at < end) {
    const bytes = sourceVector(at);
    const stops = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, escapes)),
        i8x16.lt_u(bytes, blanks),
      ),
    );
    if (stops !== 0) return at + ctz<i32>(stops);
    at += VECTOR;
  }
  return at;
}

/** Offset of the quote that ends a string without escapes; 0 when there is none. */
// @inline
function stringEnd(from: u32, end: u32): u32 {
  const at = plainEnd(from, end);
  return at < end && sourceByte(at) === QUOTE ? at : 0;
}

/** The byte that the letter behind a backslash stands for; 0 for those that the reference has to read. */
function escaped(letter: u32): u32 {
  if (letter === QUOTE || letter === BACKSLASH || letter === SLASH) return letter;
  if (letter === LETTER_N) return LINE_FEED;
  if (letter === LETTER_T) return TAB;
  if (letter === LETTER_R) return CARRIAGE_RETURN;
  if (letter === LETTER_B) return BACKSPACE;
  return letter === LETTER_F ? FORM_FEED : 0;
}

/** Stands for an escape that the reference has to read. */
const NO_POINT: u32 = 0xffffffff;

/** The code point of four hexadecimal digits; NO_POINT for halves of pairs, and where they are none. */
function escapedPoint(at: u32): u32 {
  let point: u32 = 0;
  for (let digit = at; digit < at + 4; digit++) {
    const byte = sourceByte(digit);
    const letter = (byte | BLANK) - LETTER_A;
    if (isDigit(byte)) point = (point << 4) | (byte - ZERO);
    else if (letter < 6) point = (point << 4) | (letter + 10);
    else return NO_POINT;
  }
  return point >= 0xd800 && point < 0xe000 ? NO_POINT : point;
}

function isDigit(byte: u32): bool {
  return byte - ZERO <= 9;
}

function isBlank(byte: u32): bool {
  return byte === BLANK || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB;
}

function wordAt(at: u32): u32 {
  assert(at + 4 <= SOURCE_BYTES + PAD_BYTES);
  return load<u32>(SOURCE + at);
}

/** End of `true` or `false`, or 0. */
function booleanEnd(from: u32): u32 {
  const word = wordAt(from);
  if (word === TRUE_WORD) return from + 4;
  return word === FALSE_WORD && sourceByte(from + 4) === LETTER_E ? from + 5 : 0;
}

export {
  booleanEnd,
  escaped,
  escapedPoint,
  isBlank,
  isDigit,
  isLiteral,
  isPrefix,
  NO_POINT,
  plainEnd,
  stringEnd,
  wordAt,
};
