import type { Entries } from '../../column/entries.ts';
import { makeKernels } from '../../kernel/kernel.ts';
import type { HashLanes } from './row-hash.ts';

/** Functions of hash.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  hashStart(): number;
  hashTexts(count: number, keyLow: number, keyHigh: number): void;
  HASH_TEXT: WebAssembly.Global;
  HASH_TEXT_BYTES: WebAssembly.Global;
  HASH_OFFSET: WebAssembly.Global;
  HASH_STRINGS: WebAssembly.Global;
  HASH_LOW: WebAssembly.Global;
  HASH_HIGH: WebAssembly.Global;
}

/** Fewer strings are hashed faster where they are. */
const STRINGS_MIN = 16;

/** The pair that hashes of strings begin with, and where they go: from `first` on. */
export interface HashPlace {
  keyLow: number;
  keyHigh: number;
  into: HashLanes;
  first: number;
}

/** The words of an odd factor of 64 bits, and by how many bits a product is turned. Source: the golden ratio. */
const FACTOR_LOW = 0x7f4a7c15;
const FACTOR_HIGH = 0x9e3779b9;
const TURN = 29;

/** The high word of the product of two words. */
function highProduct(left: number, right: number): number {
  const leftLow = left & 0xffff;
  const leftHigh = left >>> 16;
  const rightLow = right & 0xffff;
  const rightHigh = right >>> 16;
  const middle = leftHigh * rightLow + ((leftLow * rightLow) >>> 16);
  const other = leftLow * rightHigh + (middle & 0xffff);
  return (leftHigh * rightHigh + (middle >>> 16) + (other >>> 16)) | 0;
}

/** A hash of 64 bits in progress, in two words. */
class Hash {
  low = 0;
  high = 0;

  /** Mixes 64 bits in: each bit of them changes the hash. */
  mix(low: number, high: number): void {
    this.#multiply(this.low ^ low, this.high ^ high);
    const turned = (this.low << TURN) | (this.high >>> (32 - TURN));
    this.high = (this.high << TURN) | (this.low >>> (32 - TURN));
    this.low = turned;
  }

  /** Ends it: every bit of it depends on all of them. */
  end(): void {
    this.#multiply(this.low ^ this.high, this.high);
    this.#multiply(this.low ^ this.high, this.high);
    this.low ^= this.high;
  }

  #multiply(low: number, high: number): void {
    const crossed = Math.imul(low, FACTOR_HIGH) + Math.imul(high, FACTOR_LOW);
    this.low = Math.imul(low, FACTOR_LOW);
    this.high = (highProduct(low, FACTOR_LOW) + crossed) | 0;
  }
}

const hash = new Hash();

/** Hashes the strings `[from, to)`: the reference of `StringHashes`. */
export function hashPlain(
  { offsets, bytes }: Entries,
  { keyLow, keyHigh, into, first }: HashPlace,
  from: number,
  to: number,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let string = from; string < to; string++) {
    const end = offsets[string + 1];
    let at = offsets[string];
    hash.low = keyLow;
    hash.high = keyHigh;
    hash.mix(end - at, 0);
    for (; at + 8 <= end; at += 8) hash.mix(view.getInt32(at, true), view.getInt32(at + 4, true));
    if (at < end) {
      let low = 0;
      let high = 0;
      for (let place = 0; at + place < end; place++) {
        const byte = view.getUint8(at + place);
        if (place < 4) low |= byte << (8 * place);
        else high |= byte << (8 * (place - 4));
      }
      hash.mix(low, high);
    }
    hash.end();
    into.low[first + string] = hash.low;
    into.high[first + string] = hash.high;
  }
}

/** Hashes strings by the kernel, and by the reference those that it has no room for. Owned by one thread. */
export class StringHashes {
  readonly #exports: Exports | undefined;
  readonly #text: Uint8Array;
  readonly #offsets: Uint32Array;
  readonly #low: Int32Array;
  readonly #high: Int32Array;
  /** Set when there is no kernel, or it failed. */
  #isOver: boolean;

  constructor() {
    const exports = makeKernels() as Exports | undefined;
    const isThere = exports !== undefined && exports.hashStart() !== 0;
    const buffer = exports?.memory.buffer ?? new ArrayBuffer(0);
    const count = isThere ? exports.HASH_STRINGS.value : 0;
    const at = (global?: WebAssembly.Global): number => (isThere ? global?.value : 0);
    this.#exports = exports;
    this.#text = new Uint8Array(buffer, at(exports?.HASH_TEXT), at(exports?.HASH_TEXT_BYTES));
    this.#offsets = new Uint32Array(buffer, at(exports?.HASH_OFFSET), isThere ? count + 1 : 0);
    this.#low = new Int32Array(buffer, at(exports?.HASH_LOW), count);
    this.#high = new Int32Array(buffer, at(exports?.HASH_HIGH), count);
    this.#isOver = !isThere;
  }

  /** Hashes all strings. */
  hash(strings: Entries, place: HashPlace): void {
    const { offsets } = strings;
    const count = offsets.length - 1;
    for (let from = 0; from < count; ) {
      let to = from;
      const most = Math.min(count, from + this.#low.length);
      const room = offsets[from] + this.#text.length;
      while (to < most && offsets[to + 1] <= room) to++;
      const isTried = !this.#isOver && to - from >= STRINGS_MIN;
      // Those that the kernel has no room for, each on its own.
      if (to === from) to = this.#isOver ? count : from + 1;
      if (!isTried || !this.#hash(strings, place, from, to)) hashPlain(strings, place, from, to);
      from = to;
    }
  }

  /** Hashes the strings `[from, to)`; false when the kernel fails. */
  #hash(
    { offsets, bytes }: Entries,
    { keyLow, keyHigh, into, first }: HashPlace,
    from: number,
    to: number,
  ): boolean {
    const count = to - from;
    const start = offsets[from];
    this.#text.set(bytes.subarray(start, offsets[to]));
    for (let at = 0; at <= count; at++) this.#offsets[at] = offsets[from + at] - start;
    try {
      this.#exports?.hashTexts(count, keyLow, keyHigh);
    } catch {
      this.#isOver = true;
      return false;
    }
    into.low.set(this.#low.subarray(0, count), first + from);
    into.high.set(this.#high.subarray(0, count), first + from);
    return true;
  }
}

let ofThread: StringHashes | undefined;

/** Hashes the strings, each begun with the pair number `index` of `key`, to `into` from `first` on. */
export function hashStrings(
  strings: Entries,
  key: HashLanes,
  index: number,
  into: HashLanes,
  first: number,
): void {
  const place = { keyLow: key.low[index], keyHigh: key.high[index], into, first };
  const count = strings.offsets.length - 1;
  if (count < STRINGS_MIN) {
    hashPlain(strings, place, 0, count);
    return;
  }
  ofThread ??= new StringHashes();
  ofThread.hash(strings, place);
}
