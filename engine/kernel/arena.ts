import { EngineError } from '../base/errors.ts';

const PAGE_BYTES = 65_536;
/** The first address: what the compiler puts into the memory lies below. */
const START = 4_096;
/** Places begin at multiples of this, with room behind them for as many bytes that vectors may read. */
const ALIGNMENT = 16;

/** Memory of an instance of the kernels that is given out place by place, and taken back as a whole. */
export class Arena {
  readonly #memory: WebAssembly.Memory;
  readonly #bytesMax: number;
  #end = START;

  /** Grows up to `bytesMax`. */
  constructor(memory: WebAssembly.Memory, bytesMax: number) {
    this.#memory = memory;
    this.#bytesMax = bytesMax;
  }

  /** Takes all back, or all from `address` on. */
  reset(address = START): void {
    this.#end = address;
  }

  /** Where the next place begins. */
  get end(): number {
    return this.#end;
  }

  /** The address of a place of so many bytes, which hold anything. Throws MEMORY when there is no room. */
  reserve(bytes: number): number {
    const address = this.#end;
    const end = address + Math.ceil(bytes / ALIGNMENT) * ALIGNMENT + ALIGNMENT;
    const missing = end - this.#memory.buffer.byteLength;
    if (end > this.#bytesMax) throw new EngineError('MEMORY', `no room for ${bytes} bytes`);
    if (missing > 0) this.#memory.grow(Math.ceil(missing / PAGE_BYTES));
    this.#end = end;
    return address;
  }

  /** Puts bytes into a place of their own; its address. */
  putBytes(bytes: Uint8Array): number {
    const address = this.reserve(bytes.length);
    new Uint8Array(this.#memory.buffer, address, bytes.length).set(bytes);
    return address;
  }

  /** Puts words into a place of their own; its address. */
  putWords(words: Uint32Array | Uint16Array | readonly number[]): number {
    const address = this.reserve(words.length * 4);
    new Uint32Array(this.#memory.buffer, address, words.length).set(words);
    return address;
  }

  /** Puts doubles into a place of their own; its address. */
  putDoubles(doubles: Float64Array): number {
    const address = this.reserve(doubles.length * 8);
    new Float64Array(this.#memory.buffer, address, doubles.length).set(doubles);
    return address;
  }

  /** A view of bytes, good until the next place is given out. */
  bytes(address: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, address, length);
  }

  /** A view of words, good until the next place is given out. */
  words(address: number, length: number): Uint32Array {
    return new Uint32Array(this.#memory.buffer, address, length);
  }
}
