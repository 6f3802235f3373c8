import { randomBytes } from 'node:crypto';
import { extend } from '../packed/growth.ts';

const SLOT_BITS_MIN = 12;
/** Numbers in slots begin anew after so many. */
const BASE_MAX = 2 ** 31;
/** Words come from strangers: none of them may be able to choose hashes that lie in one place. */
const SLOT_FACTOR = randomBytes(4).readInt32LE() | 1;

/** Distinct hashes of 32 bits, emptied without being written over. */
export class HashSet {
  /** The hashes, `count` of them, in the order in which they came. */
  hashes = new Uint32Array(2 ** (SLOT_BITS_MIN - 1));
  count = 0;
  #shift = 32 - SLOT_BITS_MIN;
  /** Number of a hash more `#base`; less than that in an empty slot. */
  #slots = new Uint32Array(2 ** SLOT_BITS_MIN);
  #base = 1;

  /** Adds a hash, when it is not there; its place among `hashes`. */
  add(hash: number): number {
    const { hashes } = this;
    const slots = this.#slots;
    const base = this.#base;
    const mask = slots.length - 1;
    let slot = Math.imul(hash, SLOT_FACTOR) >>> this.#shift;
    for (let held = slots[slot]; held >= base; held = slots[slot]) {
      if (hashes[held - base] === hash) return held - base;
      slot = (slot + 1) & mask;
    }
    const place = this.count++;
    slots[slot] = base + place;
    hashes[place] = hash;
    if (this.count === hashes.length) this.#grow();
    return place;
  }

  /** Empties it. */
  clear(): void {
    this.#base += this.count;
    this.count = 0;
    if (this.#base > BASE_MAX) this.#reset();
  }

  #grow(): void {
    const { hashes, count } = this;
    this.hashes = extend(hashes, count * 2);
    this.#shift--;
    this.#slots = new Uint32Array(this.#slots.length * 2);
    this.count = 0;
    for (let index = 0; index < count; index++) this.add(this.hashes[index]);
  }

  #reset(): void {
    this.#slots.fill(0);
    this.#base = 1;
  }
}
