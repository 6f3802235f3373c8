import {
  LZ4_END,
  LZ4_SOURCE,
  LZ4_SOURCE_BYTES,
  LZ4_TARGET,
  lz4Decompress,
} from '../../packed/lz4.as.ts';
import {
  PACKED_GROUP_ROWS,
  PACKED_WORDS,
  packedPatch,
  unpackedOne,
  unpackGroup,
} from '../../packed/unpack.as.ts';

/**
 * Kernel of the search for a literal in texts that lie one after the other, compiled to WebAssembly; the plain form is
 * `LiteralFinder`. Its memory is private to one instance, and begins with that of lz4.as.ts, whose source the texts
 * are, and over it that of unpack.as.ts, in which lengths of texts are unpacked before these are put there. Regions
 * behind are fixed and follow each other:
 *
 * | region | holds |
 * |---|---|
 * | text | the texts, and a pad that vectors may read |
 * | literal | the bytes that are looked for, small letters |
 * | offset | where each text begins in what they were cut from, and the end of the last one (u32) |
 * | found | by text TEXT_NONE, TEXT_FOUND, or TEXT_UNSURE where it has to be looked at (u8) |
 * | bits | by text a bit, set where it is TEXT_FOUND |
 */

const VECTOR: u32 = 16;
const LITERAL_BYTES: u32 = 256;
const TEXT_BYTES: u32 = LZ4_SOURCE_BYTES;
/** Texts that there is room for. */
export const TEXT_COUNT_MAX: u32 = 4096;
const PAD: u32 = 2 * LITERAL_BYTES;

const TEXT: u32 = LZ4_SOURCE;
const LITERAL: u32 = LZ4_END;
const OFFSET: u32 = LITERAL + LITERAL_BYTES;
const FOUND: u32 = OFFSET + 4 * (TEXT_COUNT_MAX + 4);
const BITS: u32 = FOUND + TEXT_COUNT_MAX;
/** Where the regions end. */
export const LITERAL_END: u32 = BITS + TEXT_COUNT_MAX / 8;

/** Verdicts on a text. */
export const TEXT_NONE: u32 = 0;
export const TEXT_FOUND: u32 = 1;
export const TEXT_UNSURE: u32 = 2;

/** Offset of texts that are too large. */
const TOO_MANY: u32 = 0xffffffff;

// Accessors: one a region. `assert` is there in the checked build alone.
function literalByte(at: u32): u32 {
  assert(at < LITERAL_BYTES);
  return load<u8>(LITERAL + at);
}
// @inline
/** A byte of the texts. */
export function textByte(at: u32): u32 {
  assert(at < TEXT_BYTES);
  return load<u8>(TEXT + at);
}
function textVector(at: u32): v128 {
  assert(at + VECTOR <= TEXT_BYTES + PAD);
  return v128.load(TEXT + at);
}
// @inline
/** Where a text begins in what it was cut from. */
export function textStart(text: u32): u32 {
  assert(text <= TEXT_COUNT_MAX);
  return load<u32>(OFFSET + 4 * text);
}
function setOffset(text: u32, offset: u32): void {
  assert(text <= TEXT_COUNT_MAX);
  store<u32>(OFFSET + 4 * text, offset);
}
// @inline
/** The verdict on a text. */
export function textFound(text: u32): u32 {
  assert(text < TEXT_COUNT_MAX);
  return load<u8>(FOUND + text);
}
// @inline
/** Takes note of the verdict on a text. */
export function setTextFound(text: u32, found: u32): void {
  assert(text < TEXT_COUNT_MAX);
  store<u8>(FOUND + text, <u8>found);
}

const CAPITAL: u32 = 0x41;
const LETTERS: u32 = 26;
const SMALL: u32 = 0x20;

/** The bit by which a byte of the literal differs from its capital, in all lanes; none when it is no letter. */
function foldOf(byte: u32): v128 {
  return i8x16.splat(byte - SMALL - CAPITAL < LETTERS ? <i8>SMALL : 0);
}

/** Tells that the literal, of which the ends are right, stands at `at`. */
function isAt(at: u32, length: u32): bool {
  for (let place: u32 = 1; place + 1 < length; place++) {
    let byte = textByte(at + place);
    if (byte - CAPITAL < LETTERS) byte |= SMALL;
    if (byte !== literalByte(place)) return false;
  }
  return true;
}

/** True for ASCII characters of words. */
// @inline
function isOfWord(byte: u32): bool {
  return (byte | SMALL) - 0x61 < LETTERS || byte - 0x30 < 10 || byte === 0x5f;
}

/** The verdict on a text in which what is to be a word stands between two bytes; a blank stands for none. */
function asWord(before: u32, after: u32): u32 {
  if (isOfWord(before) || isOfWord(after)) return TEXT_NONE;
  return (before | after) >= 0x80 ? TEXT_UNSURE : TEXT_FOUND;
}

/** Forgets the verdicts on `count` texts, and on those behind them whose bits are in one word with theirs. */
export function textClear(count: u32): void {
  assert(count <= TEXT_COUNT_MAX);
  memory.fill(FOUND, 0, (count + 31) & ~31);
}

/**
 * Finds those of `count` texts, of `bytes` bytes, that have the literal of `length` bytes: 32 places at a time
 * where its first and last byte stand. Texts behind the first one begin where the one before ends. `isWord`: it is to
 * stand there as a word. True when all bytes are ASCII.
 */
export function literalFind(count: u32, bytes: u32, length: u32, isWord: bool): bool {
  textClear(count);
  const first = i8x16.splat(<i8>literalByte(0));
  const firstFold = foldOf(literalByte(0));
  const last = i8x16.splat(<i8>literalByte(length - 1));
  const lastFold = foldOf(literalByte(length - 1));
  const base = textStart(0);
  let text: u32 = 0;
  let start: u32 = 0;
  let end = textStart(1) - base;
  let seen = i8x16.splat(0);
  let from: u32 = 0;
  for (; from + length <= bytes; from += 2 * VECTOR) {
    const ends = from + length - 1;
    const here = textVector(from);
    const next = textVector(from + VECTOR);
    seen = v128.or(seen, v128.or(here, next));
    const hits = v128.and(
      i8x16.eq(v128.or(here, firstFold), first),
      i8x16.eq(v128.or(textVector(ends), lastFold), last),
    );
    const later = v128.and(
      i8x16.eq(v128.or(next, firstFold), first),
      i8x16.eq(v128.or(textVector(ends + VECTOR), lastFold), last),
    );
    if (!v128.any_true(v128.or(hits, later))) continue;
    let bits: u32 = i8x16.bitmask(hits) | (i8x16.bitmask(later) << VECTOR);
    for (; bits !== 0; bits &= bits - 1) {
      const at = from + ctz(bits);
      if (at + length > bytes) break;
      while (end <= at) {
        text++;
        start = end;
        end = textStart(text + 1) - base;
      }
      if (at + length > end || textFound(text) === TEXT_FOUND || !isAt(at, length)) continue;
      if (!isWord) setTextFound(text, TEXT_FOUND);
      else {
        const before = at === start ? SMALL : textByte(at - 1);
        const after = at + length === end ? SMALL : textByte(at + length);
        const found = asWord(before, after);
        if (found !== TEXT_NONE) setTextFound(text, found);
      }
    }
  }
  for (; from < bytes; from += VECTOR) seen = v128.or(seen, textVector(from));
  return i8x16.bitmask(seen) === 0;
}

/**
 * Unpacks the lengths of `count` texts, each more `base`, from the packed words, and makes offsets of them; the end of
 * the last one, or a number above TEXT_BYTES.
 */
export function textLengths(count: u32, width: u32, base: u32): u32 {
  assert(count <= TEXT_COUNT_MAX);
  packedPatch(0);
  let end: u64 = 0;
  for (let from: u32 = 0; from < count; from += PACKED_GROUP_ROWS) {
    unpackGroup(from / PACKED_GROUP_ROWS, width);
    const to = min(from + PACKED_GROUP_ROWS, count);
    for (let text = from; text < to; text++) {
      setOffset(text, <u32>end);
      end += <u64>base + unpackedOne(text - from);
    }
    if (end > TEXT_BYTES) return TOO_MANY;
  }
  setOffset(count, <u32>end);
  return <u32>end;
}

/** Makes the texts, of `bytes` bytes, of as many compressed ones; false when that cannot be. */
export function textInflate(packedBytes: u32, bytes: u32): bool {
  return lz4Decompress(packedBytes, bytes, bytes);
}

/** Makes bits of the verdicts on `count` texts. */
export function textBits(count: u32): void {
  const found = i8x16.splat(<i8>TEXT_FOUND);
  for (let text: u32 = 0; text < count; text += VECTOR) {
    const bits = i8x16.bitmask(i8x16.eq(v128.load(FOUND + text), found));
    store<u16>(BITS + text / 8, <u16>bits);
  }
}

/** True when all of the first `bytes` bytes of the texts are ASCII. */
export function textIsAscii(bytes: u32): bool {
  let seen = i8x16.splat(0);
  let from: u32 = 0;
  for (; from + VECTOR <= bytes; from += VECTOR) seen = v128.or(seen, textVector(from));
  for (; from < bytes; from++) if (textByte(from) >= 0x80) return false;
  return i8x16.bitmask(seen) === 0;
}

/** Offset of a region, or a limit, by its number in search-kernel.ts. */
export function literalPlace(number: u32): u32 {
  if (number === 0) return LITERAL;
  if (number === 1) return TEXT;
  if (number === 2) return OFFSET;
  if (number === 3) return FOUND;
  if (number === 4) return LITERAL_BYTES;
  if (number === 5) return TEXT_BYTES;
  if (number === 6) return TEXT_COUNT_MAX;
  if (number === 7) return BITS;
  if (number === 8) return PACKED_WORDS;
  return LZ4_TARGET;
}
