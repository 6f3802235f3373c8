import { damaged } from '../base/errors.ts';

/** Bits that are taken at once at most: with those that are no byte yet they fit in 32. */
const STEP_BITS = 24;
const STEP_MASK = (1 << STEP_BITS) - 1;
/** Zero bytes behind the bits, so that 32 of them can be read from each byte on. */
const PADDING_BYTES = 4;
/** Bytes that a step writes at most, and the padding. */
const ROOM_BYTES = 8;

/** Writes small numbers bit by bit, the least significant bit first. */
export class BitWriter {
  #bytes = new Uint8Array(8_192);
  #length = 0;
  #pending = 0;
  #pendingBits = 0;

  /** Writes a number in Rice's code with `low` plain bits, up to 24. Source: FORMAT.md 10.4. */
  rice(value: number, low: number): void {
    this.#zeros(value >>> low);
    this.#bits(1, 1);
    this.#bits(value & ((1 << low) - 1), low);
  }

  /** Writes a number from 1 to 2^24 in Elias' gamma code. Source: FORMAT.md 10.4. */
  gamma(value: number): void {
    const low = 31 - Math.clz32(value);
    this.#zeros(low);
    this.#bits(1, 1);
    this.#bits(value & ((1 << low) - 1), low);
  }

  /** Ends the bits, gives them with their padding, and begins anew. Good until the next write. */
  take(): Uint8Array {
    this.#bits(0, 7);
    this.#pending = 0;
    this.#pendingBits = 0;
    const end = this.#length + PADDING_BYTES;
    this.#bytes.fill(0, this.#length, end);
    this.#length = 0;
    return this.#bytes.subarray(0, end);
  }

  #bits(value: number, count: number): void {
    if (this.#length + ROOM_BYTES > this.#bytes.length) this.#grow();
    let pending = this.#pending | (value << this.#pendingBits);
    let left = this.#pendingBits + count;
    for (; left >= 8; left -= 8) {
      this.#bytes[this.#length++] = pending;
      pending >>>= 8;
    }
    this.#pending = pending;
    this.#pendingBits = left;
  }

  #zeros(count: number): void {
    let left = count;
    for (; left > STEP_BITS; left -= STEP_BITS) this.#bits(0, STEP_BITS);
    this.#bits(0, left);
  }

  #grow(): void {
    const bytes = new Uint8Array(this.#bytes.length * 2);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }
}

/** Reads what BitWriter wrote. Methods throw CORRUPTION when the bits end early. */
export class BitReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#end = (bytes.length - PADDING_BYTES) * 8;
  }

  /** Reads a number in Rice's code. */
  rice(low: number): number {
    const high = this.#zeros();
    return high * (1 << low) + this.#bits(low);
  }

  /** Reads a number in Elias' gamma code. */
  gamma(): number {
    const low = this.#zeros();
    if (low > STEP_BITS) damaged(`a number of ${low} bits`);
    return (1 << low) + this.#bits(low);
  }

  /** At least 24 bits from the next one on. */
  #peek(): number {
    const at = this.#at >>> 3;
    const bytes = this.#bytes;
    const word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    return word >>> (this.#at & 7);
  }

  /** Counts the zeros before the next 1, behind which it goes on. */
  #zeros(): number {
    for (let count = 0; this.#at < this.#end; count += STEP_BITS) {
      const word = this.#peek() & STEP_MASK;
      if (word !== 0) {
        const zeros = 31 - Math.clz32(word & -word);
        this.#at += zeros + 1;
        return count + zeros;
      }
      this.#at += STEP_BITS;
    }
    return damaged('bits end early');
  }

  #bits(count: number): number {
    const value = this.#peek() & ((1 << count) - 1);
    this.#at += count;
    if (this.#at > this.#end) damaged('bits end early');
    return value;
  }
}
