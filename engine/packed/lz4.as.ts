/**
 * Kernel of LZ4, in its block format. Its memory is private to one instance; regions are fixed and follow each other:
 *
 * | region | holds |
 * |---|---|
 * | table | by the hash of some bytes, where they were last (u32) |
 * | source | the bytes that are compressed, and a pad that vectors may read |
 * | target | what becomes of them, and a pad that vectors may write |
 *
 * Decompression goes the other way round: what was compressed lies in the target, what becomes of it in the source.
 */

const TABLE_BITS: u32 = 13;
const LZ4_SOURCE_BYTES: u32 = 1 << 20;
const LZ4_PAD: u32 = 64;

const LZ4_TABLE: u32 = 1024;
const LZ4_SOURCE: u32 = LZ4_TABLE + (4 << TABLE_BITS);
const LZ4_TARGET: u32 = LZ4_SOURCE + LZ4_SOURCE_BYTES + LZ4_PAD;
const LZ4_END: u32 = LZ4_TARGET + LZ4_SOURCE_BYTES + LZ4_PAD;

/** The last match begins so far from the end, and ends so far from it: rules of the format. */
const LAST_MATCH: u32 = 12;
const LAST_LITERALS: u32 = 5;
const MATCH_MIN: u32 = 4;
const OFFSET_MAX: u32 = 0xffff;
/** Lengths from here on go on in bytes of their own. */
const LONG: u32 = 15;
const MORE: u32 = 255;
const COPY_BYTES: u32 = 16;
/** The longest match whose length is in its token. */
const SHORT_MATCH: u32 = MATCH_MIN + LONG - 1;
/** The step of a search grows with every so many places without a match. */
const SKIP_BITS: u32 = 5;
/** Hashes are of five bytes, and of seven where there is so much that short matches cost more than they gain. */
const MANY_BYTES: u32 = 16_384;
const FEW_UNSEEN_BITS: u64 = 24;
const MANY_UNSEEN_BITS: u64 = 8;
/** Less than this needs a part of the table alone, which has to be made empty before. */
const FEW_BYTES: u32 = 2_048;
const FEW_TABLE_BITS: u32 = 9;
/** Spreads the bits of a hash (2^64 divided by the golden ratio). */
const SPREAD_BITS: u64 = ((<u64>0x9e3779b9) << 32) | 0x7f4a7c15;

// Accessors: one a region. `assert` is there in the checked build alone.
function lastPlace(hash: u32): u32 {
  assert(hash < 1 << TABLE_BITS);
  return load<u32>(LZ4_TABLE + 4 * hash);
}
function setPlace(hash: u32, at: u32): void {
  assert(hash < 1 << TABLE_BITS);
  store<u32>(LZ4_TABLE + 4 * hash, at);
}
function lz4Byte(at: u32): u32 {
  assert(at < LZ4_SOURCE_BYTES);
  return load<u8>(LZ4_SOURCE + at);
}
function lz4Word(at: u32): u32 {
  assert(at + 4 <= LZ4_SOURCE_BYTES + LZ4_PAD);
  return load<u32>(LZ4_SOURCE + at);
}
function lz4Long(at: u32): u64 {
  assert(at + 8 <= LZ4_SOURCE_BYTES + LZ4_PAD);
  return load<u64>(LZ4_SOURCE + at);
}
/** Address of `bytes` bytes of the target. */
function targetAt(at: u32, bytes: u32): u32 {
  assert(at + bytes <= LZ4_SOURCE_BYTES + LZ4_PAD);
  return LZ4_TARGET + at;
}

/** Hash of the bytes at an offset, of eight without the last `unseenBits`; it has 64 - `shift` bits. */
// @inline
function hashAt(at: u32, unseenBits: u64, shift: u64): u32 {
  return <u32>(((lz4Long(at) << unseenBits) * SPREAD_BITS) >>> shift);
}

/** Bytes that are alike from two offsets on, the latter up to `end`. */
// @inline
function alike(before: u32, at: u32, end: u32): u32 {
  let count: u32 = 0;
  while (at + count + 8 <= end) {
    const difference = lz4Long(before + count) ^ lz4Long(at + count);
    if (difference !== 0) return count + <u32>(ctz<u64>(difference) >>> 3);
    count += 8;
  }
  while (at + count < end && lz4Byte(before + count) === lz4Byte(at + count)) count++;
  return count;
}

/** Writes what a length is more than LONG; the offset behind it. */
function putLength(to: u32, more: u32): u32 {
  let at = to;
  let rest = more;
  for (; rest >= MORE; rest -= MORE) store<u8>(targetAt(at++, 1), <u8>MORE);
  store<u8>(targetAt(at++, 1), <u8>rest);
  return at;
}

/** Writes the bytes `[from, end)` as literals, whose token has the length of the match behind them to come. */
// @inline
function putLiterals(to: u32, from: u32, end: u32): u32 {
  const count = end - from;
  store<u8>(targetAt(to, 1), <u8>(min(count, LONG) << 4));
  let at = to + 1;
  if (count >= LONG) at = putLength(at, count - LONG);
  targetAt(at, count + COPY_BYTES);
  for (let done: u32 = 0; done < count; done += COPY_BYTES) {
    v128.store(LZ4_TARGET + at + done, v128.load(LZ4_SOURCE + from + done));
  }
  return at + count;
}

/** The most that the literals `[from, end)` and a match of a length take. */
function bytesOf(literals: u32, length: u32): u32 {
  return literals + literals / MORE + length / MORE + 8;
}

/**
 * Compresses the first `length` bytes of the source into the target; how many bytes that are, 0 when they are more than
 * `most`.
 */
export function lz4Compress(length: u32, most: u32): u32 {
  assert(length <= LZ4_SOURCE_BYTES && most <= length && length > LAST_MATCH);
  const tableBits = length < FEW_BYTES ? FEW_TABLE_BITS : TABLE_BITS;
  const shift = 64 - <u64>tableBits;
  memory.fill(LZ4_TABLE, 0, 4 << tableBits);
  const unseenBits = length < MANY_BYTES ? FEW_UNSEEN_BITS : MANY_UNSEEN_BITS;
  const searchEnd = length - LAST_MATCH;
  const matchEnd = length - LAST_LITERALS;
  let anchor: u32 = 0;
  let to: u32 = 0;
  let at: u32 = 1;
  while (at <= searchEnd) {
    let before: u32 = 0;
    let tries: u32 = 1 << SKIP_BITS;
    let isFound = false;
    while (at <= searchEnd) {
      const hash = hashAt(at, unseenBits, shift);
      before = lastPlace(hash);
      setPlace(hash, at);
      if (lz4Word(before) === lz4Word(at) && at - before <= OFFSET_MAX) {
        isFound = true;
        break;
      }
      at += tries++ >>> SKIP_BITS;
    }
    if (!isFound) break;
    while (at > anchor && before > 0 && lz4Byte(at - 1) === lz4Byte(before - 1)) {
      at--;
      before--;
    }
    do {
      const count = MATCH_MIN + alike(before + MATCH_MIN, at + MATCH_MIN, matchEnd);
      if (to + bytesOf(at - anchor, count) > most) return 0;
      const token = to;
      to = putLiterals(to, anchor, at);
      store<u16>(targetAt(to, 2), <u16>(at - before));
      to += 2;
      const more = count - MATCH_MIN;
      const place = targetAt(token, 1);
      store<u8>(place, <u8>(<u32>load<u8>(place) | min(more, LONG)));
      if (more >= LONG) to = putLength(to, more - LONG);
      at += count;
      anchor = at;
      if (at > searchEnd) break;
      setPlace(hashAt(at - 2, unseenBits, shift), at - 2);
      const hash = hashAt(at, unseenBits, shift);
      before = lastPlace(hash);
      setPlace(hash, at);
    } while (lz4Word(before) === lz4Word(at) && at - before <= OFFSET_MAX);
    at++;
  }
  if (to + bytesOf(length - anchor, 0) > most) return 0;
  return putLiterals(to, anchor, length);
}

/** An address of `bytes` bytes of what was compressed. */
// @inline
function packedAt(at: u32, bytes: u32): u32 {
  assert(at >= LZ4_TARGET && at + bytes <= LZ4_TARGET + LZ4_SOURCE_BYTES + LZ4_PAD);
  return at;
}
/** An address of `bytes` bytes of what becomes of it. */
// @inline
function rawAt(at: u32, bytes: u32): u32 {
  assert(at >= LZ4_SOURCE && at + bytes <= LZ4_SOURCE + LZ4_SOURCE_BYTES + LZ4_PAD);
  return at;
}

/** Where the last length ended that goes on in bytes of its own. */
let lengthEnd: u32 = 0;

/** Adds the bytes of a length to what its token has of it; more than there can be when they end early. */
function longLength(from: u32, end: u32): u32 {
  let at = from;
  let length: u32 = LONG;
  while (at < end) {
    const byte = <u32>load<u8>(packedAt(at++, 1));
    length += byte;
    if (length > LZ4_SOURCE_BYTES) break;
    if (byte < MORE) {
      lengthEnd = at;
      return length;
    }
  }
  return LZ4_SOURCE_BYTES + 1;
}

/** Copies a match of `length` bytes that begins `offset` bytes before, and may go on in itself. */
function copyMatch(to: u32, offset: u32, length: u32): void {
  const from = to - offset;
  if (offset >= COPY_BYTES) {
    for (let done: u32 = 0; done < length; done += COPY_BYTES) {
      v128.store(rawAt(to + done, COPY_BYTES), v128.load(rawAt(from + done, COPY_BYTES)));
    }
  } else if (offset >= 8) {
    for (let done: u32 = 0; done < length; done += 8) {
      store<u64>(rawAt(to + done, 8), load<u64>(rawAt(from + done, 8)));
    }
  } else {
    for (let done: u32 = 0; done < length; done++) {
      store<u8>(rawAt(to + done, 1), load<u8>(rawAt(from + done, 1)));
    }
  }
}

/**
 * Decompresses the first `packedBytes` bytes of the target; false when they do not give `rawBytes` bytes. It ends when
 * the first `wanted` of these are there, if they are fewer.
 */
export function lz4Decompress(packedBytes: u32, rawBytes: u32, wanted: u32): bool {
  assert(packedBytes <= LZ4_SOURCE_BYTES && rawBytes <= LZ4_SOURCE_BYTES);
  const end = LZ4_TARGET + packedBytes;
  const limit = LZ4_SOURCE + rawBytes;
  const enough = wanted < rawBytes ? LZ4_SOURCE + wanted : u32.MAX_VALUE;
  let from = LZ4_TARGET;
  let to = LZ4_SOURCE;
  while (from < end) {
    if (to >= enough) return true;
    const token = <u32>load<u8>(packedAt(from++, 1));
    let literals = token >>> 4;
    if (literals < LONG) {
      v128.store(rawAt(to, COPY_BYTES), v128.load(packedAt(from, COPY_BYTES)));
    } else {
      literals = longLength(from, end);
      from = lengthEnd;
      if (literals > limit - to || literals > end - from) return false;
      memory.copy(rawAt(to, literals), packedAt(from, literals), literals);
    }
    from += literals;
    to += literals;
    if (from >= end) return from === end && to === limit;
    if (to > limit || from + 2 > end) return false;
    const offset = <u32>load<u16>(packedAt(from, 2));
    from += 2;
    if (offset === 0 || offset > to - LZ4_SOURCE) return false;
    let length = (token & LONG) + MATCH_MIN;
    if (length > SHORT_MATCH) {
      length = longLength(from, end) + MATCH_MIN;
      from = lengthEnd;
    }
    if (length > limit - to) return false;
    if (length <= SHORT_MATCH && offset >= COPY_BYTES) {
      const match = to - offset;
      v128.store(rawAt(to, COPY_BYTES), v128.load(rawAt(match, COPY_BYTES)));
      store<u32>(rawAt(to + COPY_BYTES, 4), load<u32>(rawAt(match + COPY_BYTES, 4)));
    } else copyMatch(to, offset, length);
    to += length;
  }
  return false;
}

/** Makes room for all regions; false when the system has none. */
export function lz4Begin(): bool {
  const pages = <i32>((LZ4_END + 0xffff) >>> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

export { LZ4_END, LZ4_SOURCE, LZ4_SOURCE_BYTES, LZ4_TARGET };
