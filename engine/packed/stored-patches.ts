import { damaged } from '../base/errors.ts';
import type { Patches } from './cells.ts';
import { firstFrom } from './patches.ts';

/** Numbers from here on have more than 32 bits. */
const NUMBER_END = 2 ** 32;

/** A stream of numbers that is part of patches, as `IntegerStream` reads it. */
interface Numbers {
  ids(max: number): Uint32Array;
  isWithin(min: number, max: number): boolean;
}

/** Patches of a stream, which are decoded when they are asked for. Source: FORMAT.md 4.2. */
export class StoredPatches {
  readonly #count: number;
  readonly #width: number;
  readonly #places: Numbers;
  readonly #highs: Numbers;
  #patches: Patches | undefined;

  /** Of `count` numbers whose words have `width` bits. Throws CORRUPTION. */
  constructor(count: number, width: number, places: Numbers, highs: Numbers) {
    this.#count = count;
    this.#width = width;
    this.#places = places;
    this.#highs = highs;
    if (!this.areWithin(NUMBER_END - 1)) damaged('patched numbers of more than 32 bits');
  }

  /** True when all numbers are known to be up to `max`. */
  areWithin(max: number): boolean {
    return this.#highs.isWithin(1, Math.floor((max + 1) / 2 ** this.#width) - 1);
  }

  /** Places, ascending, and what is added there. Throws CORRUPTION. */
  all(): Patches {
    this.#patches ??= this.#read();
    return this.#patches;
  }

  /** The patch of the number at `place`, 0 when it has none. */
  at(place: number): number {
    const { places, highs } = this.all();
    const found = firstFrom(places, place);
    return places[found] === place ? highs[found] : 0;
  }

  /** The sum of the patches of the numbers from `first` up to `end`. */
  sum(first: number, end: number): number {
    const { places, highs } = this.all();
    let sum = 0;
    for (let at = firstFrom(places, first); at < places.length && places[at] < end; at++) {
      sum += highs[at];
    }
    return sum;
  }

  #read(): Patches {
    const places = this.#places.ids(this.#count - 1);
    for (let at = 1; at < places.length; at++) {
      if (places[at] <= places[at - 1]) damaged('patches are not in order');
    }
    const highs = this.#highs.ids(NUMBER_END - 1);
    const unit = 2 ** this.#width;
    let highest = 0;
    for (let at = 0; at < highs.length; at++) {
      highs[at] *= unit;
      highest = Math.max(highest, highs[at]);
    }
    return { places, highs, highest };
  }
}
