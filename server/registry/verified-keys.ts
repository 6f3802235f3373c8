import { KEY_CHARACTERS } from './digest.ts';

/** Places, a power of two: 32 KB of keys and what was found by them. */
const PLACES_BITS = 10;
const PLACES = 1 << PLACES_BITS;

/** Spreads the first four characters over all bits (2^32 divided by the golden ratio). */
const SPREAD = 0x9e3779b1;

/**
 * Values that were found by keys when these were verified: a compare in place of a digest. Each key has one place,
 * which the last one takes that was verified; only keys that exist are, so what strangers send takes no memory and no
 * place. Belongs to one thread.
 */
export class VerifiedKeys<Found> {
  readonly #keys = new Uint8Array(PLACES * KEY_CHARACTERS);
  readonly #found = new Array<Found | undefined>(PLACES).fill(undefined);

  /** The value that was found by the key of KEY_CHARACTERS bytes from `start` on. */
  find(bytes: Uint8Array, start: number): Found | undefined {
    const place = placeOf(bytes, start);
    const found = this.#found[place];
    if (found === undefined) return undefined;
    return sameKey(this.#keys, place * KEY_CHARACTERS, bytes, start) ? found : undefined;
  }

  /** Remembers the value that was found by the key of KEY_CHARACTERS bytes from `start` on, which it copies. */
  remember(bytes: Uint8Array, start: number, found: Found): void {
    const place = placeOf(bytes, start);
    this.#keys.set(bytes.subarray(start, start + KEY_CHARACTERS), place * KEY_CHARACTERS);
    this.#found[place] = found;
  }

  /** Forgets all, as keys have changed. */
  forget(): void {
    this.#found.fill(undefined);
  }
}

function placeOf(bytes: Uint8Array, start: number): number {
  const head =
    bytes[start] | (bytes[start + 1] << 8) | (bytes[start + 2] << 16) | (bytes[start + 3] << 24);
  return Math.imul(head, SPREAD) >>> (32 - PLACES_BITS);
}

/** Compares whole keys: the time does not tell where they differ. */
function sameKey(
  left: Uint8Array,
  leftStart: number,
  right: Uint8Array,
  rightStart: number,
): boolean {
  let difference = 0;
  for (let index = 0; index < KEY_CHARACTERS; index++) {
    difference |= left[leftStart + index] ^ right[rightStart + index];
  }
  return difference === 0;
}
