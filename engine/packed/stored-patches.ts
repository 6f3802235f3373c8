import { damaged } from '../base/errors.ts';
import type { PackedPatches, PackedSteps, PackedValues, Patches, ValuesFound } from './cells.ts';
import { areBelow } from './packed.ts';
import { firstFrom } from './patches.ts';

/** Numbers from here on have more than 32 bits. */
const NUMBER_END = 2 ** 32;

/** Times that patches are looked for before all are decoded. */
const LOOKS_MAX = 16;

/** Patches that stay decoded at rest, and memory of one. */
const RESTING_MAX = 1_024;
const PATCH_BYTES = 8;

/** Throws CORRUPTION when an id is not from 0 to `max`. */
export function checkId(value: number, max: number): void {
  if (!(value >= 0 && value <= max)) damaged(`id ${value} of ${max}`);
}

/** A stream of numbers that is part of patches, as `IntegerStream` reads it. */
interface Numbers {
  readonly count: number;
  at(index: number): number;
  valuesBetween(from: number, end: number): ValuesFound | undefined;
  ids(max: number): Uint32Array;
  isWithin(min: number, max: number): boolean;
  steps(): PackedSteps | undefined;
  packed(more: number): PackedValues | undefined;
  rest(): number;
}

/** Patches of a stream, which are decoded when they are asked for. Source: FORMAT.md 4.2. */
export class StoredPatches implements Patches {
  readonly #count: number;
  readonly #width: number;
  readonly #places: Numbers;
  readonly #highs: Numbers;
  #patches: Patches | undefined;
  #looks = 0;
  #isChecked = false;

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

  get places(): Uint32Array {
    return this.all().places;
  }

  get highs(): Uint32Array {
    return this.all().highs;
  }

  get highest(): number {
    return this.all().highest;
  }

  get packed(): PackedPatches | undefined {
    const places = this.#places.steps();
    const highs = this.#highs.packed(0);
    return places && highs && { places, highs, shift: this.#width };
  }

  /** Itself, when its places are right: it is read without errors then. Throws CORRUPTION. */
  checked(): this {
    if (this.#isChecked) return this;
    const steps = this.#places.steps();
    if (steps === undefined || !areBelow(steps, this.#count)) this.all();
    this.#isChecked = true;
    return this;
  }

  /** Places, ascending, and what is added there. Throws CORRUPTION. */
  all(): Patches {
    this.#patches ??= this.#read();
    return this.#patches;
  }

  /** The patch of the number at `place`, 0 when it has none. Throws CORRUPTION. */
  at(place: number): number {
    const found = this.#find(place, place + 1);
    if (found !== undefined) {
      return found.values.length === 0 ? 0 : this.#highs.at(found.first) * 2 ** this.#width;
    }
    const { places, highs } = this.all();
    const first = firstFrom(places, place);
    return places[first] === place ? highs[first] : 0;
  }

  /** The patches from one place up to another, and perhaps others; for a few times not all are decoded. */
  among(from: number, to: number): Pick<Patches, 'places' | 'highs'> {
    const found = this.#find(from, to);
    if (found === undefined) return this.all();
    const { first, values } = found;
    const unit = 2 ** this.#width;
    const highs = new Uint32Array(values.length);
    for (let at = 0; at < highs.length; at++) highs[at] = this.#highs.at(first + at) * unit;
    return { places: new Uint32Array(values), highs };
  }

  /** Finds the places from one up to another; `undefined` when all have to be decoded, or are. */
  #find(from: number, to: number): ValuesFound | undefined {
    const mayLook = this.#patches === undefined && ++this.#looks <= LOOKS_MAX;
    return mayLook ? this.#places.valuesBetween(from, to) : undefined;
  }

  /** Lets go of what can be read again, but of few patches; the bytes that it still holds. */
  rest(): number {
    if (this.#places.count > RESTING_MAX) this.#patches = undefined;
    this.#looks = 0;
    const decoded = this.#patches === undefined ? 0 : this.#places.count * PATCH_BYTES;
    return decoded + this.#places.rest() + this.#highs.rest();
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
