type Growable =
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>;

/** Arrays up to this multiple of what was in use are kept. */
const SLACK = 4;

function make<T extends Growable>(like: T, length: number): T {
  const Type = like.constructor as new (length: number) => T;
  return new Type(length);
}

/** A copy of `array` at least twice as long, and at least `needed` long. */
export function grow<T extends Growable>(array: T, needed: number): T {
  const grown = make(array, Math.max(needed, array.length * 2));
  grown.set(array);
  return grown;
}

/** `array` itself for the next use, or a shorter one when the last use filled little of it. Contents are lost. */
export function refit<T extends Growable>(array: T, used: number, least: number): T {
  const wanted = Math.max(used, least);
  return array.length > wanted * SLACK ? make(array, wanted) : array;
}
