/** Places of a filter: as many times those of the hashes, but for very many. */
const WORD_BITS = 32;
const FILTER_RATIO = 32;
const FILTER_MIN = 1 << 12;
const FILTER_MAX = 1 << 20;

/** Numbers hashes from 0 on. */
export class NumberedHashes {
  count = 0;
  #keys = new Int32Array(1 << 12);
  /** Number + 1; 0 is free. */
  #slots = new Int32Array(1 << 12);

  /** The number of a hash; -1 when it has none. */
  find(hash: number): number {
    return this.#slots[this.#slot(hash)] - 1;
  }

  /** The number of a hash, a new one when it has none. */
  add(hash: number): number {
    const slot = this.#slot(hash);
    if (this.#slots[slot] !== 0) return this.#slots[slot] - 1;
    this.#keys[slot] = hash;
    this.#slots[slot] = ++this.count;
    if (this.count * 2 > this.#slots.length) this.#spread();
    return this.count - 1;
  }

  /** A power of two of bits, those of a word together: set where a hash may be whose last bits say the place. */
  filter(): Uint32Array {
    let length = FILTER_MIN;
    while (length < this.count * FILTER_RATIO && length < FILTER_MAX) length *= 2;
    const filter = new Uint32Array(length / WORD_BITS);
    for (let slot = 0; slot < this.#slots.length; slot++) {
      const place = this.#keys[slot] & (length - 1);
      if (this.#slots[slot] !== 0) filter[place >>> 5] |= 1 << (place & 31);
    }
    return filter;
  }

  #slot(hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== 0 && this.#keys[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  #spread(): void {
    const [keys, slots] = [this.#keys, this.#slots];
    this.#keys = new Int32Array(keys.length * 2);
    this.#slots = new Int32Array(keys.length * 2);
    for (let from = 0; from < keys.length; from++) {
      if (slots[from] === 0) continue;
      const slot = this.#slot(keys[from]);
      this.#keys[slot] = keys[from];
      this.#slots[slot] = slots[from];
    }
  }
}
