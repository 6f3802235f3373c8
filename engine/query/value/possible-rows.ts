import { inParts, UNIT_SLOTS, type Units } from '../../base/pause.ts';
import type { KeptEntries } from '../../column/entries.ts';
import { chooseValues } from '../../packed/packed.ts';
import type { Block } from '../../segment/block/block.ts';
import { type Bitmap, keepRows } from '../model/bitmap.ts';
import { stringsOf } from './block-strings.ts';
import { TEXT_NEEDED, type ValueNumbers } from './value-numbers.ts';

/** Rows whose value at a path may have a number, as hashes tell. Used by one thread. */
export class PossibleRows {
  readonly #path: string;
  readonly #numbers: ValueNumbers;
  /** By entry + 1 of the dictionary that was met last, 1 when it may have a number. */
  #possible = new Uint8Array(0);
  #dictionary: KeptEntries | undefined;

  /** Which hashes have no number does not change any more. */
  constructor(path: string, numbers: ValueNumbers) {
    this.#path = path;
    this.#numbers = numbers;
  }

  /**
   * Such rows among `rows`, found in units by the ids of a dictionary of the segment as they are stored; `rows` itself
   * where there is none. Throws CORRUPTION.
   */
  *among(block: Block, rows: Bitmap): Units<Bitmap> {
    const column = stringsOf(block, this.#path);
    if (column?.shared === undefined) return rows;
    const possible = yield* this.#possibleOf(column.shared);
    const ids = column.packed?.();
    const found = ids && chooseValues(ids, possible);
    if (found === undefined) return rows;
    keepRows(found, rows);
    return found;
  }

  *#possibleOf(dictionary: KeptEntries): Units<Uint8Array> {
    if (this.#dictionary === dictionary) return this.#possible;
    const numbers = this.#numbers;
    const hashes = yield* dictionary.hashUnits(numbers);
    const possible = new Uint8Array(hashes.length + 1);
    yield* inParts(hashes.length, UNIT_SLOTS, (from, to) => {
      for (let entry = from; entry < to; entry++) {
        if (numbers.ofHash(hashes[entry]) === TEXT_NEEDED) possible[entry + 1] = 1;
      }
    });
    this.#possible = possible;
    this.#dictionary = dictionary;
    return possible;
  }
}
