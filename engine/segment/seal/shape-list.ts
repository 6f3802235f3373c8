import { HASH_SEED } from '../../base/hash.ts';
import type { Shapes } from '../../column/shape.ts';
import { extend } from '../../packed/growth.ts';

const SLOTS_MIN = 256;

/** Distinct shapes, numbered as they come: those of the rows of one block. */
export class ShapeList implements Shapes {
  count = 0;
  starts = new Uint32Array(65);
  keys = new Uint32Array(1024);
  #hashes = new Int32Array(64);
  /** Shape + 1; 0 in free slots. At most half of them are taken. */
  #slots = new Int32Array(SLOTS_MIN);

  /** Empties it; its memory stays. */
  clear(): void {
    this.count = 0;
    this.#slots.fill(0);
  }

  /** The number of the shape whose leaf keys are `keys[from, to)`. */
  intern(keys: Uint32Array, from: number, to: number): number {
    let hash = HASH_SEED ^ (to - from);
    for (let at = from; at < to; at++) {
      hash = Math.imul(hash ^ keys[at], 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let held = this.#slots[slot]; held !== 0; held = this.#slots[slot]) {
      if (this.#hashes[held - 1] === hash && this.#is(held - 1, keys, from, to)) return held - 1;
      slot = (slot + 1) & mask;
    }
    const shape = this.#add(keys, from, to, hash);
    this.#slots[slot] = shape + 1;
    if (this.count * 2 > this.#slots.length) this.#growSlots();
    return shape;
  }

  #is(shape: number, keys: Uint32Array, from: number, to: number): boolean {
    const start = this.starts[shape];
    if (this.starts[shape + 1] - start !== to - from) return false;
    const own = this.keys;
    for (let at = from; at < to; at++) if (own[start + at - from] !== keys[at]) return false;
    return true;
  }

  #add(keys: Uint32Array, from: number, to: number, hash: number): number {
    const shape = this.count++;
    if (shape + 2 > this.starts.length) this.starts = extend(this.starts, shape + 2);
    if (shape >= this.#hashes.length) this.#hashes = extend(this.#hashes, shape + 1);
    const start = this.starts[shape];
    const end = start + to - from;
    if (end > this.keys.length) this.keys = extend(this.keys, end);
    const own = this.keys;
    for (let at = from; at < to; at++) own[start + at - from] = keys[at];
    this.starts[shape + 1] = end;
    this.#hashes[shape] = hash;
    return shape;
  }

  #growSlots(): void {
    const slots = new Int32Array(this.#slots.length * 4);
    const mask = slots.length - 1;
    for (let shape = 0; shape < this.count; shape++) {
      let slot = this.#hashes[shape] & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = shape + 1;
    }
    this.#slots = slots;
  }
}
