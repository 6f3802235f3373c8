import { EngineError } from '../base/errors.ts';
import { COMPRESSION_GAIN_MIN } from '../base/limits.ts';
import { bitsOf, pack, packedWords, unpack } from './bitpack.ts';

/*
 * Texts that are IPv4 addresses, one after the other, as numbers. Source: FORMAT.md 4.2.
 */

/** The first four bytes of addresses, which are no raw length of LZ4. */
export const ADDRESSES_MAGIC = 0xfd2fb529;
/** Bytes before the words: magic, count, first or least number, least step, whether these are steps, width. */
const HEAD_BYTES = 20;
const STEPS = 1;
const WIDTH_MAX = 32;
const COUNT_MAX = 65_536;
const TEXT_BYTES_MAX = '255.255.255.255'.length;
const EXPANSION_MAX = 255;
const DOT = 0x2e;
const ZERO = 0x30;

/** The number of the address that `bytes[start, end)` is, without zeros in front of its parts; -1 when it is none. */
export function addressOf(bytes: Uint8Array, start: number, end: number): number {
  let number = 0;
  let part = -1;
  let parts = 1;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === DOT) {
      if (part < 0 || ++parts > 4) return -1;
      number = number * 256 + part;
      part = -1;
      continue;
    }
    const digit = byte - ZERO;
    // A zero is a part alone.
    if (!(digit >= 0 && digit <= 9) || part === 0) return -1;
    part = part < 0 ? digit : part * 10 + digit;
    if (part > 255) return -1;
  }
  return part < 0 || parts < 4 ? -1 : number * 256 + part;
}

/**
 * Packs `count` texts that lie one after the other in `bytes`, text i as long as `lengthOf(i)`; `undefined` when one is
 * no address, or that gains less than 15 %.
 */
export function packAddresses(
  bytes: Uint8Array,
  count: number,
  lengthOf: (text: number) => number,
): Uint8Array | undefined {
  if (count === 0 || count > COUNT_MAX) return undefined;
  const numbers = new Float64Array(count);
  let end = 0;
  let isAscending = true;
  let least = Number.POSITIVE_INFINITY;
  for (let text = 0; text < count; text++) {
    const start = end;
    end += lengthOf(text);
    const number = addressOf(bytes, start, end);
    if (number < 0) return undefined;
    numbers[text] = number;
    if (text > 0 && number < numbers[text - 1]) isAscending = false;
    if (number < least) least = number;
  }
  const packed = packNumbers(numbers, isAscending, isAscending ? numbers[0] : least);
  const gains = packed.length <= bytes.length * (1 - COMPRESSION_GAIN_MIN);
  return gains && bytes.length <= packed.length * EXPANSION_MAX ? packed : undefined;
}

function packNumbers(numbers: Float64Array, isAscending: boolean, base: number): Uint8Array {
  const { length } = numbers;
  const stored = new Uint32Array(length + 4);
  let least = 0;
  if (isAscending && length > 1) {
    least = Number.POSITIVE_INFINITY;
    for (let at = 1; at < length; at++) least = Math.min(least, numbers[at] - numbers[at - 1]);
  }
  const count = isAscending ? length - 1 : length;
  let most = 0;
  for (let at = 0; at < count; at++) {
    const from = isAscending ? numbers[at] + least : base;
    stored[at] = numbers[isAscending ? at + 1 : at] - from;
    most = Math.max(most, stored[at]);
  }
  const width = bitsOf(most);
  const words = pack(stored, count, width);
  const packed = new Uint8Array(HEAD_BYTES + words.byteLength);
  const view = new DataView(packed.buffer);
  view.setUint32(0, ADDRESSES_MAGIC, true);
  view.setUint32(4, length, true);
  view.setUint32(8, base, true);
  view.setUint32(12, least, true);
  packed[16] = isAscending ? STEPS : 0;
  packed[17] = width;
  packed.set(new Uint8Array(words.buffer, words.byteOffset, words.byteLength), HEAD_BYTES);
  return packed;
}

/** Undoes `packAddresses`. Throws CORRUPTION when that does not give `rawBytes` bytes. */
export function unpackAddresses(packed: Uint8Array, rawBytes: number): Uint8Array {
  const damage = (): never => {
    throw new EngineError('CORRUPTION', `addresses of ${packed.length} bytes for ${rawBytes}`);
  };
  if (packed.length < HEAD_BYTES || rawBytes > packed.length * EXPANSION_MAX) damage();
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  const length = view.getUint32(4, true);
  const base = view.getUint32(8, true);
  const least = view.getUint32(12, true);
  const isAscending = packed[16] === STEPS;
  const width = packed[17];
  if (length < 1 || length > COUNT_MAX || width > WIDTH_MAX || packed[16] > STEPS) damage();
  const count = isAscending ? length - 1 : length;
  if (packed.length !== HEAD_BYTES + 4 * packedWords(count, width)) damage();
  const stored = unpack(new Uint32Array(packed.slice(HEAD_BYTES).buffer), count, width);
  const text = new Uint8Array(length * TEXT_BYTES_MAX);
  let end = 0;
  let number = base;
  if (isAscending) end = printAddress(text, end, number);
  for (let at = 0; at < count; at++) {
    number = isAscending ? number + least + stored[at] : base + stored[at];
    end = printAddress(text, end, number);
  }
  if (end !== rawBytes || number > 2 ** 32 - 1) damage();
  return text.slice(0, end);
}

/** Texts of the parts of an address, each with its length in the last byte. */
const PART_TEXTS = new Uint8Array(256 * 4);
for (let part = 0; part < 256; part++) {
  const text = String(part);
  for (let at = 0; at < text.length; at++) PART_TEXTS[part * 4 + at] = text.charCodeAt(at);
  PART_TEXTS[part * 4 + 3] = text.length;
}

/** Prints the address of a number from `at` on, where there is room for the longest one; returns its end. */
function printAddress(text: Uint8Array, at: number, number: number): number {
  let end = at;
  for (let shift = 24; shift >= 0; shift -= 8) {
    const part = ((number >>> shift) & 255) * 4;
    // What is beyond the length is overwritten.
    text[end] = PART_TEXTS[part];
    text[end + 1] = PART_TEXTS[part + 1];
    text[end + 2] = PART_TEXTS[part + 2];
    end += PART_TEXTS[part + 3];
    if (shift > 0) text[end++] = DOT;
  }
  return end;
}
