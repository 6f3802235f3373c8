import { assert } from './assert.ts';
import { EngineError } from './errors.ts';

assert(new Uint8Array(new Uint32Array([1]).buffer)[0] === 1, 'this machine is little-endian');

/** Bytes of the longest LEB128 of a u32. */
const VARINT_U32_BYTES_MAX = 5;
/** The least first byte of a LEB128 of several bytes. */
const VARINT_LONG = 0x80;

/**
 * A growing byte buffer that small structures are written to, little-endian.
 * Owns its buffer; `bytes()` is a view that is valid until the next write.
 */
export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView<ArrayBuffer>;
  #length = 0;

  constructor(capacityBytes = 256) {
    this.#bytes = new Uint8Array(capacityBytes);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#length;
  }

  reset(): void {
    this.#length = 0;
  }

  /** Reserves `count` bytes and returns the offset of the first. */
  #grow(count: number): number {
    const at = this.#length;
    const needed = at + count;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, at));
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    this.#length = needed;
    return at;
  }

  u8(value: number): void {
    const at = this.#grow(1);
    this.#bytes[at] = value;
  }

  u32(value: number): void {
    assert(value >>> 0 === value, 'a u32 has 32 bits');
    const at = this.#grow(4);
    this.#view.setUint32(at, value, true);
  }

  f64(value: number): void {
    const at = this.#grow(8);
    this.#view.setFloat64(at, value, true);
  }

  /** LEB128 of a whole number from 0 to 2^53 - 1. */
  varint(value: number): void {
    assert(Number.isSafeInteger(value) && value >= 0, 'a varint is a whole number');
    let rest = value;
    while (rest >= 0x80) {
      this.u8((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.u8(rest);
  }

  /** LEB128 of each of `count` of `values`, from `from` on. */
  varints(values: Uint32Array, from: number, count: number): void {
    let at = this.#grow(count * VARINT_U32_BYTES_MAX);
    const bytes = this.#bytes;
    for (let index = from; index < from + count; index++) {
      let rest = values[index];
      for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
      bytes[at++] = rest;
    }
    this.#length = at;
  }

  /** Each of the first `count` of `values` as a u32. */
  words(values: Uint32Array, count: number): void {
    const at = this.#grow(count * 4);
    this.#bytes.set(new Uint8Array(values.buffer, values.byteOffset, count * 4), at);
  }

  /** The bytes as they are, without a length. */
  raw(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** The length as a varint, then the bytes. */
  blob(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.raw(bytes);
  }

  /** `source[start, end)` as a blob. */
  part(source: Uint8Array, start: number, end: number): void {
    this.varint(end - start);
    const at = this.#grow(end - start);
    copyBytes(source, start, end, this.#bytes, at);
  }

  /** Zero bytes up to the next multiple of `alignment`. */
  pad(alignment: number): void {
    const excess = this.#length % alignment;
    if (excess !== 0) {
      const at = this.#grow(alignment - excess);
      this.#bytes.fill(0, at, this.#length);
    }
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  /** `bytes()`, as ByteParts has them. */
  parts(): readonly Uint8Array[] {
    return [this.bytes()];
  }
}

/** Bytes that lie elsewhere, of which some or all are read when they are asked for. Reads throw what they like. */
export interface FarBytes {
  readonly length: number;
  /** `count` of them from `from` on, which are the caller's; in `room`, when it is given and they fit. */
  read(from: number, count: number, room?: Uint8Array): Uint8Array;
  /** All of them, not to be written. */
  whole(): Uint8Array;
  /** The WINDOW_BYTES from `from` on, or as many as there are: kept for the next reader. Not to be written. */
  window(from: number): Uint8Array;
}

const NO_BYTES = new Uint8Array(0);
/** Far bytes that are a smaller part of all are read without the others. */
const FEW_SHARE = 0.5;
/** Far bytes that a reader reads at a time at least, so that it has the head of a stream at once. */
export const WINDOW_BYTES = 64;

/**
 * Reads what ByteWriter wrote. Every read is bounds-checked.
 * Throws CORRUPTION when the bytes end early or a number is not a legal one.
 */
export class ByteReader {
  #bytes: Uint8Array;
  /** Of `#bytes`, once it was needed: most readers read a few small numbers. */
  #view: DataView | undefined;
  #at: number;
  readonly #far: FarBytes | undefined;
  /** Where `#bytes` begin in the far bytes. */
  #from = 0;

  constructor(bytes: Uint8Array | FarBytes, at = 0) {
    const isNear = bytes instanceof Uint8Array;
    this.#far = isNear ? undefined : bytes;
    this.#bytes = isNear ? bytes : NO_BYTES;
    this.#at = at;
  }

  /** Where the next byte lies among all. */
  get at(): number {
    return this.#from + this.#at;
  }

  get remaining(): number {
    return this.#end - this.#at;
  }

  /** Where all bytes end, counted from where `#bytes` begin. */
  get #end(): number {
    return this.#far === undefined ? this.#bytes.length : this.#far.length - this.#from;
  }

  #take(count: number): number {
    if (count < 0 || this.#at + count > this.#bytes.length) this.#more(count);
    const at = this.#at;
    this.#at = at + count;
    return at;
  }

  /** Reads the next `count` far bytes, and some behind them. Throws CORRUPTION when there are none. */
  #more(count: number): void {
    this.#check(count);
    if (this.#far === undefined) return;
    this.#from += this.#at;
    this.#at = 0;
    const isHead = count <= WINDOW_BYTES;
    const bytes = isHead ? this.#far.window(this.#from) : this.#far.read(this.#from, count);
    this.#bytes = bytes;
    this.#view = undefined;
  }

  /** The bytes as numbers of several. */
  #numbers(): DataView {
    const { buffer, byteOffset, byteLength } = this.#bytes;
    this.#view ??= new DataView(buffer, byteOffset, byteLength);
    return this.#view;
  }

  #check(count: number): void {
    if (count >= 0 && count <= this.remaining) return;
    const at = this.#from + this.#at;
    throw new EngineError(
      'CORRUPTION',
      `structure ends early: ${count} bytes wanted at ${at} of ${at + this.remaining}`,
    );
  }

  u8(): number {
    const at = this.#take(1);
    return this.#bytes[at];
  }

  u32(): number {
    const at = this.#take(4);
    return this.#numbers().getUint32(at, true);
  }

  f64(): number {
    const at = this.#take(8);
    return this.#numbers().getFloat64(at, true);
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let index = 0; index < 8; index++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (!Number.isSafeInteger(value)) break;
        return value;
      }
      scale *= 0x80;
    }
    throw new EngineError('CORRUPTION', `varint too long before offset ${this.#at}`);
  }

  /** Reads `count` varints below 2^32 to `into`, from `from` on. */
  varints(into: Uint32Array, from: number, count: number): void {
    let bytes = this.#bytes;
    let at = this.#at;
    for (let index = from; index < from + count; index++) {
      const byte = at < bytes.length ? bytes[at] : VARINT_LONG;
      if (byte < VARINT_LONG) {
        into[index] = byte;
        at++;
        continue;
      }
      const second = at + 1 < bytes.length ? bytes[at + 1] : VARINT_LONG;
      if (second < VARINT_LONG) {
        into[index] = (byte & (VARINT_LONG - 1)) | (second << 7);
        at += 2;
        continue;
      }
      this.#at = at;
      const value = this.varint();
      if (value >>> 0 !== value) throw new EngineError('CORRUPTION', `${value} is no u32`);
      into[index] = value;
      at = this.#at;
      bytes = this.#bytes;
    }
    this.#at = at;
  }

  /** A view of the next `count` bytes, not a copy. */
  raw(count: number): Uint8Array {
    const at = this.#take(count);
    return this.#bytes.subarray(at, at + count);
  }

  /** The next `count` bytes: far ones are not read yet. */
  later(count: number): Uint8Array | FarBytes {
    const far = this.#far;
    if (far === undefined) return this.raw(count);
    this.#check(count);
    const first = this.#from + this.#at;
    this.#at += count;
    return {
      length: count,
      read: (from, wanted, room) => far.read(first + from, wanted, room),
      window: (from) => far.window(first + from),
      whole: () =>
        count < far.length * FEW_SHARE
          ? far.read(first, count)
          : far.whole().subarray(first, first + count),
    };
  }

  blob(): Uint8Array {
    return this.raw(this.varint());
  }

  /** Skips `count` bytes. */
  skip(count: number): void {
    this.#take(count);
  }

  /** Skips to the next multiple of `alignment`. */
  pad(alignment: number): void {
    const excess = (this.#from + this.#at) % alignment;
    if (excess !== 0) this.#take(alignment - excess);
  }
}

/** Bytes up to which memory of their own takes longer than reading them. */
const POOLED_BYTES_MAX = 2_048;

/** Up to this a loop copies faster than a call. */
const COPY_LOOP_BYTES_MAX = 12;

/**
 * Copy of buffers, of which a call costs less than half of what `set` and its view cost, and which is as fast for
 * memory that threads share, where `set` goes by words at best, and byte by byte between places aligned otherwise.
 * A whole array it would leave to `set`, so that the first byte is copied apart.
 */
const { copy } = Buffer.prototype;

/** Copies `source[start, end)` to `target` from `at` on; they do not overlap. */
export function copyBytes(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): void {
  if (end - start > COPY_LOOP_BYTES_MAX) {
    target[at] = source[start];
    const copied = 1 + copy.call(source, target, at + 1, start + 1, end);
    assert(copied === end - start, 'bytes have room where they are copied to');
    return;
  }
  for (let from = start; from < end; from++) target[at + from - start] = source[from];
}

/** `count` bytes of arbitrary content, for callers that overwrite all of them; few of them share memory with others. */
export function unfilled(count: number): Uint8Array<ArrayBuffer> {
  if (count > POOLED_BYTES_MAX) return new Uint8Array(Buffer.allocUnsafeSlow(count).buffer);
  const { buffer, byteOffset } = Buffer.allocUnsafe(count);
  return new Uint8Array(buffer, byteOffset, count);
}
