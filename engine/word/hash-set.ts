import { randomBytes } from 'node:crypto';
import { extend } from '../column/growth.ts';
import type { HashSink } from './word-hash.ts';

const SLOT_BITS_MIN = 12;
/** Words come from strangers: none of them may be able to choose hashes that lie in one place. */
const SLOT_FACTOR = randomBytes(4).readInt32LE() | 1;

/** Distinct hashes of 32 bits, emptied without being written over. */
export class HashSet implements HashSink {
  /** The hashes, `count` of them, in the order in which they came. */
  hashes = new Uint32Array(2 ** (SLOT_BITS_MIN - 1));
  count = 0;
  #shift = 32 - SLOT_BITS_MIN;
  #slots = new Uint32Array(2 ** SLOT_BITS_MIN);
  /** By slot, in which round it was taken. */
  #rounds = new Uint32Array(2 ** SLOT_BITS_MIN);
  #round = 1;

  add(hash: number): void {
    const mask = this.#slots.length - 1;
    let slot = Math.imul(hash, SLOT_FACTOR) >>> this.#shift;
    while (this.#rounds[slot] === this.#round) {
      if (this.#slots[slot] === hash) return;
      slot = (slot + 1) & mask;
    }
    this.#slots[slot] = hash;
    this.#rounds[slot] = this.#round;
    this.hashes[this.count++] = hash;
    if (this.count === this.hashes.length) this.#grow();
  }

  /** Empties it. */
  clear(): void {
    this.count = 0;
    this.#round++;
  }

  #grow(): void {
    const { hashes, count } = this;
    this.hashes = extend(hashes, count * 2);
    this.#shift--;
    this.#slots = new Uint32Array(this.#slots.length * 2);
    this.#rounds = new Uint32Array(this.#slots.length);
    this.count = 0;
    for (let index = 0; index < count; index++) this.add(this.hashes[index]);
  }
}
