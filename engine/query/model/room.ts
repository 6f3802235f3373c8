/** A cache that can let go of what it keeps, value by value. */
export interface Shrinkable {
  /** Memory that it takes, about. */
  readonly bytes: number;
  /** Lets go of the value that was used longest ago; there is one when it takes memory. */
  dropOldest(): void;
}

/**
 * The memory that caches take together. Each has a bound of its own, which is for what needs it most; few questions
 * need all of them, and many different ones together do not get as much. Used by one thread.
 */
export class Room {
  readonly #bytesMax: number;
  readonly #caches: readonly Shrinkable[];

  constructor(bytesMax: number, caches: readonly Shrinkable[]) {
    this.#bytesMax = bytesMax;
    this.#caches = caches;
  }

  /** Memory that all take, about. */
  get bytes(): number {
    let sum = 0;
    for (const { bytes } of this.#caches) sum += bytes;
    return sum;
  }

  /** Has the cache that takes most let go of its oldest values until all together have room. */
  fit(): void {
    while (this.bytes > this.#bytesMax) {
      this.#caches.reduce((most, cache) => (cache.bytes > most.bytes ? cache : most)).dropOldest();
    }
  }
}
