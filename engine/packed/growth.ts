import { assert } from '../base/assert.ts';

type Growable =
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>;

/** Elements are counted, and bytes of strings found, by numbers of 32 bits. */
const LENGTH_MAX = 2 ** 32 - 1;
/**
 * Elements from which on an array grows by less, because the old and the new one are in memory at once: arrays that
 * grow side by side stay as long as each other, whatever their elements are.
 */
const LARGE_LENGTH = 1 << 20;
/** The same of single bytes, most of which are texts: they are never shorter than what grows beside them. */
const LARGE_BYTES = 1 << 23;
/** Arrays up to this multiple of what was in use are kept. */
const SLACK = 4;

function make<T extends Growable>(like: T, length: number): T {
  assert(length <= LENGTH_MAX, `an array of ${length} elements`);
  const Type = like.constructor as new (length: number) => T;
  return new Type(length);
}

function over<T extends Growable>(like: T, buffer: ArrayBuffer): T {
  const Type = like.constructor as new (buffer: ArrayBuffer) => T;
  return new Type(buffer);
}

/** The next length of an array: twice as long, or by a quarter when it is large, and at least `needed`. */
function nextLength(array: Growable, needed: number): number {
  const isSmall = array.length < (array.BYTES_PER_ELEMENT === 1 ? LARGE_BYTES : LARGE_LENGTH);
  const factor = isSmall ? 2 : 1.25;
  return Math.max(needed, Math.ceil(array.length * factor));
}

/** A copy of `array` that is longer by a share of its length, and at least `needed` long. */
export function grow<T extends Growable>(array: T, needed: number): T {
  const grown = make(array, nextLength(array, needed));
  grown.set(array);
  return grown;
}

/**
 * Grows as `grow` does, and frees the memory of `array` at once: `array` is the whole of its buffer, and no view of
 * it remains.
 */
export function extend<T extends Growable>(array: T, needed: number): T {
  const length = nextLength(array, needed);
  assert(length <= LENGTH_MAX, `an array of ${length} elements`);
  return over(array, array.buffer.transfer(length * array.BYTES_PER_ELEMENT));
}

/** An empty array like `array`, whose memory is free at once, as for `extend`. */
export function release<T extends Growable>(array: T): T {
  return over(array, array.buffer.transfer(0));
}

/**
 * Frees at once the memory of arrays that nobody reads any more, which are empty then: waiting for the collector, they
 * would make it run again and again. Each is the only view of its buffer.
 */
export function free(...arrays: readonly (ArrayBufferView | undefined)[]): void {
  for (const array of arrays) {
    if (array?.buffer instanceof ArrayBuffer && array.byteLength > 0) array.buffer.transfer(0);
  }
}

/** `array` itself for the next use, or a shorter one when the last use filled little of it. Contents are lost. */
export function refit<T extends Growable>(array: T, used: number, least: number): T {
  const wanted = Math.max(used, least);
  return array.length > wanted * SLACK ? make(array, wanted) : array;
}
