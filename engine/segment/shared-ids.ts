import { bitsOf } from '../column/bitpack.ts';

/** Bits reckoned for an entry of a block's own list, beyond those of the gaps between its entries. */
const GAP_BITS = 2;

/** Finds out which entries of a segment's dictionary a block uses, and whether a list of them makes its ids smaller. */
export class SharedIdList {
  readonly #entryCount: number;
  readonly #numbers: Uint32Array;

  /** For a dictionary of `entryCount` entries. */
  constructor(entryCount: number) {
    this.#entryCount = entryCount;
    this.#numbers = new Uint32Array(entryCount + 1);
  }

  /**
   * Replaces `ids`, each an entry + 1, by their numbers (from 1) in the list of those in use, which is returned; when
   * that would not be smaller, `ids` stay as they are and the list is empty.
   */
  shorten(ids: Float64Array): Float64Array {
    const numbers = this.#numbers;
    let least = this.#entryCount;
    let greatest = 0;
    let count = 0;
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index];
      if (numbers[id] !== 0) continue;
      numbers[id] = 1;
      count++;
      if (id < least) least = id;
      if (id > greatest) greatest = id;
    }
    const gain = ids.length * (bitsOf(greatest) - bitsOf(count));
    const cost = count * (bitsOf(Math.ceil((greatest - least + 1) / count)) + GAP_BITS);
    const list = new Float64Array(gain > cost ? count : 0);
    let at = 0;
    for (let id = least; id <= greatest; id++) {
      if (numbers[id] === 0) continue;
      if (list.length > 0) {
        list[at] = id;
        numbers[id] = ++at;
      } else numbers[id] = 0;
    }
    if (list.length === 0) return list;
    for (let index = 0; index < ids.length; index++) ids[index] = numbers[ids[index]];
    for (let index = 0; index < list.length; index++) numbers[list[index]] = 0;
    return list;
  }
}
