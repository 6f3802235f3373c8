/**
 * Kernel of the search for a literal in texts that lie one after the other, compiled to WebAssembly; the plain form is
 * `LiteralFinder`. Its memory is private to one instance; regions are fixed and follow each other:
 *
 * | region | holds |
 * |---|---|
 * | literal | the bytes that are looked for, small letters |
 * | text | the texts, and a pad that vectors may read |
 * | offset | where each text begins in what they were cut from, and the end of the last one (u32) |
 * | found | by text 1 when it has the literal, else 0 (u8) |
 */

const VECTOR: u32 = 16;
const LITERAL_BYTES: u32 = 256;
const TEXT_BYTES: u32 = 1 << 20;
const TEXTS: u32 = 4096;
const PAD: u32 = 2 * LITERAL_BYTES;

const LITERAL: u32 = 1024;
const TEXT: u32 = LITERAL + LITERAL_BYTES;
const OFFSET: u32 = TEXT + TEXT_BYTES + PAD;
const FOUND: u32 = OFFSET + 4 * (TEXTS + 4);
const END: u32 = FOUND + TEXTS;

const CAPITAL: u32 = 0x41;
const LETTERS: u32 = 26;
const SMALL: u32 = 0x20;

// Accessors: one a region. `assert` is there in the checked build alone.
function literalByte(at: u32): u32 {
  assert(at < LITERAL_BYTES);
  return load<u8>(LITERAL + at);
}
function textByte(at: u32): u32 {
  assert(at < TEXT_BYTES);
  return load<u8>(TEXT + at);
}
function textVector(at: u32): v128 {
  assert(at + VECTOR <= TEXT_BYTES + PAD);
  return v128.load(TEXT + at);
}
function offsetOf(text: u32): u32 {
  assert(text <= TEXTS);
  return load<u32>(OFFSET + 4 * text);
}
function setFound(text: u32): void {
  assert(text < TEXTS);
  store<u8>(FOUND + text, 1);
}

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

/**
 * Finds those of `count` texts, of `bytes` bytes, that have the literal of `length` bytes: 32 places at a time
 * where its first and last byte stand. Texts behind the first one begin where the one before ends.
 */
export function literalFind(count: u32, bytes: u32, length: u32): void {
  memory.fill(FOUND, 0, count);
  const first = i8x16.splat(<i8>literalByte(0));
  const firstFold = foldOf(literalByte(0));
  const last = i8x16.splat(<i8>literalByte(length - 1));
  const lastFold = foldOf(literalByte(length - 1));
  const base = offsetOf(0);
  let text: u32 = 0;
  let end = offsetOf(1) - base;
  for (let from: u32 = 0; from + length <= bytes; from += 2 * VECTOR) {
    const ends = from + length - 1;
    const hits = v128.and(
      i8x16.eq(v128.or(textVector(from), firstFold), first),
      i8x16.eq(v128.or(textVector(ends), lastFold), last),
    );
    const later = v128.and(
      i8x16.eq(v128.or(textVector(from + VECTOR), firstFold), first),
      i8x16.eq(v128.or(textVector(ends + VECTOR), lastFold), last),
    );
    if (!v128.any_true(v128.or(hits, later))) continue;
    let bits: u32 = i8x16.bitmask(hits) | (i8x16.bitmask(later) << VECTOR);
    for (; bits !== 0; bits &= bits - 1) {
      const at = from + ctz(bits);
      if (at + length > bytes) return;
      while (end <= at) {
        text++;
        end = offsetOf(text + 1) - base;
      }
      if (at + length <= end && isAt(at, length)) setFound(text);
    }
  }
}

/** Makes room for all regions; 0 when there is none. */
export function literalBegin(): u32 {
  const wanted = <i32>((END + 0xffff) >> 16);
  return memory.size() >= wanted || memory.grow(wanted - memory.size()) >= 0 ? 1 : 0;
}

/** Offset of a region, or a limit, by its number in literal-kernel.ts. */
export function literalPlace(number: u32): u32 {
  if (number === 0) return LITERAL;
  if (number === 1) return TEXT;
  if (number === 2) return OFFSET;
  if (number === 3) return FOUND;
  if (number === 4) return LITERAL_BYTES;
  return number === 5 ? TEXT_BYTES : TEXTS;
}
