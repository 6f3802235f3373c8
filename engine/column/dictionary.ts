import { assert } from '../base/assert.ts';
import { copyBytes } from '../base/bytes.ts';
import { HASH_SEED, hashBytes, sameBytes } from '../base/hash.ts';
import { extend, refit, release } from '../packed/growth.ts';

const SLOTS_MIN = 16;
/**
 * Entries from which on a table has no more slots than needed, because they would not stay in the processor's cache.
 */
const SLOTS_MANY = 65_536;
/** Offsets are of 32 bits. */
const OFFSET_MAX = 2 ** 32 - 1;

/**
 * Byte strings that are numbered in the order in which they came: distinct when they are found by `intern`,
 * as they come when added by `add`. Open addressing over seeded hashes; bytes are compared on every hit.
 */
export class Dictionary {
  entryCount = 0;
  /** Entry e is `bytes[offsets[e], offsets[e + 1])`. */
  offsets = new Uint32Array(5);
  bytes = new Uint8Array(64);
  #hashes = new Int32Array(4);
  #slots = new Int32Array(SLOTS_MIN);

  /** A dictionary over entries that are numbered already, to be read alone. Takes the arrays. */
  static of(offsets: Uint32Array<ArrayBuffer>, bytes: Uint8Array<ArrayBuffer>): Dictionary {
    const dictionary = new Dictionary();
    dictionary.entryCount = offsets.length - 1;
    dictionary.offsets = offsets;
    dictionary.bytes = bytes;
    return dictionary;
  }

  get byteCount(): number {
    return this.offsets[this.entryCount];
  }

  /** Compares `entry` with `source[start, start + length)`. */
  is(entry: number, source: Uint8Array, start: number, length: number): boolean {
    const at = this.offsets[entry];
    return (
      this.offsets[entry + 1] - at === length && sameBytes(this.bytes, at, source, start, length)
    );
  }

  /** The entry that is `source[start, start + length)`, made when there is none. */
  intern(source: Uint8Array, start: number, length: number): number {
    const hash = hashBytes(source, start, start + length, HASH_SEED);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let held = this.#slots[slot]; held !== 0; held = this.#slots[slot]) {
      if (this.#hashes[held - 1] === hash && this.is(held - 1, source, start, length))
        return held - 1;
      slot = (slot + 1) & mask;
    }
    const entry = this.add(source, start, length);
    if (entry >= this.#hashes.length) this.#hashes = extend(this.#hashes, entry + 1);
    this.#hashes[entry] = hash;
    this.#slots[slot] = entry + 1;
    if (this.entryCount * 2 > this.#slots.length) this.#growSlots();
    return entry;
  }

  /** Adds an entry without looking for an equal one; `intern` does not find it. */
  add(source: Uint8Array, start: number, length: number): number {
    const entry = this.entryCount++;
    if (this.entryCount >= this.offsets.length) this.offsets = extend(this.offsets, entry + 2);
    const at = this.offsets[entry];
    const end = at + length;
    assert(end <= OFFSET_MAX, 'offsets of entries fit in 32 bits');
    this.offsets[entry + 1] = end;
    if (end > this.bytes.length) this.bytes = extend(this.bytes, end);
    copyBytes(source, start, start + length, this.bytes, at);
    return entry;
  }

  /** Bytes of `entries[from, to)`, one after the other: a view when they lie so, else a copy. */
  gather(entries: Uint16Array | Uint32Array, from: number, to: number): Uint8Array {
    const { offsets, bytes } = this;
    let byteCount = 0;
    let isContiguous = true;
    for (let index = from; index < to; index++) {
      const entry = entries[index];
      byteCount += offsets[entry + 1] - offsets[entry];
      if (index > from && entry !== entries[index - 1] + 1) isContiguous = false;
    }
    if (isContiguous) {
      const start = offsets[entries[from]];
      return bytes.subarray(start, start + byteCount);
    }
    const gathered = new Uint8Array(byteCount);
    let at = 0;
    for (let index = from; index < to; ) {
      const start = offsets[entries[index++]];
      while (index < to && entries[index] === entries[index - 1] + 1) index++;
      const end = offsets[entries[index - 1] + 1];
      copyBytes(bytes, start, end, gathered, at);
      at += end - start;
    }
    return gathered;
  }

  /** Frees what `intern` needs, which is not called any more. */
  endInterning(): void {
    this.#slots = release(this.#slots);
    this.#hashes = release(this.#hashes);
  }

  /** Empties it; memory far beyond what was in use is given back. */
  clear(): void {
    this.bytes = refit(this.bytes, this.byteCount, 64);
    this.offsets = refit(this.offsets, this.entryCount + 1, 5);
    this.#hashes = refit(this.#hashes, this.entryCount, 4);
    const slotsUseful = this.entryCount * 8;
    if (this.#slots.length > Math.max(slotsUseful, SLOTS_MIN)) {
      this.#slots = new Int32Array(SLOTS_MIN);
    } else {
      this.#slots.fill(0);
    }
    this.entryCount = 0;
    this.offsets[0] = 0;
  }

  #growSlots(): void {
    const factor = this.#slots.length < SLOTS_MANY ? 4 : 2;
    const slots = new Int32Array(this.#slots.length * factor);
    const mask = slots.length - 1;
    for (let entry = 0; entry < this.entryCount; entry++) {
      let slot = this.#hashes[entry] & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry + 1;
    }
    this.#slots = slots;
  }
}
