import { damaged } from '../base/errors.ts';

/** The start and the value of each run. */
export interface Runs {
  starts: Float64Array;
  heads: Float64Array;
}

/** A stream of numbers that is part of runs, as `IntegerStream` reads it. */
interface Numbers {
  readonly count: number;
  at(index: number): number;
  values(): Float64Array;
  placeOf(value: number): number | undefined;
  rest(): number;
}

/** Runs of equal values that are open for reading: for one value they are not decoded. Source: FORMAT.md 4.2. */
export class StoredRuns {
  readonly #count: number;
  readonly #starts: Numbers;
  readonly #heads: Numbers;
  #all: Runs | undefined;
  /** Set once the ends are known to be right. */
  #isChecked = false;

  /** Of `count` values. */
  constructor(count: number, starts: Numbers, heads: Numbers) {
    this.#count = count;
    this.#starts = starts;
    this.#heads = heads;
  }

  /** The value at `index`. Throws CORRUPTION. */
  at(index: number): number {
    const run = this.#all === undefined ? this.#starts.placeOf(index) : undefined;
    if (run === undefined) {
      const { starts, heads } = this.all();
      return heads[placeIn(starts, index)];
    }
    if (!this.#isChecked) this.#checkEnds();
    return this.#heads.at(run);
  }

  /** All of them. Throws CORRUPTION. */
  all(): Runs {
    if (this.#all !== undefined) return this.#all;
    const starts = this.#starts.values();
    const heads = this.#heads.values();
    for (let run = 0; run < starts.length; run++) {
      const start = starts[run];
      const end = run + 1 < starts.length ? starts[run + 1] : this.#count;
      if (!(start >= 0 && start < end && end <= this.#count) || (run === 0 && start !== 0)) {
        damaged(`run from ${start} to ${end} of ${this.#count}`);
      }
    }
    this.#all = { starts, heads };
    return this.#all;
  }

  /** Lets go of what can be read again; the bytes that it still holds. */
  rest(): number {
    this.#all = undefined;
    return this.#starts.rest() + this.#heads.rest();
  }

  /** Checks starts that are known to ascend. */
  #checkEnds(): void {
    const first = this.#starts.at(0);
    const last = this.#starts.at(this.#starts.count - 1);
    if (first !== 0 || last >= this.#count) damaged(`runs from ${first} to ${last}`);
    this.#isChecked = true;
  }
}

/** The first and the last of `values`, which ascend, from `low` to `high`; none when the first is behind the last. */
export function placesWithin(
  values: Float64Array,
  low: number,
  high: number,
): { first: number; last: number } {
  let first = 0;
  while (first < values.length && values[first] < low) first++;
  let end = first;
  while (end < values.length && values[end] <= high) end++;
  return { first, last: end - 1 };
}

/** The last place in ascending numbers whose number is not above `value`; 0 when there is none. */
export function placeIn(numbers: Float64Array, value: number): number {
  let low = 0;
  let high = numbers.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (numbers[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** The `count` values of runs from `from` on. */
export function valuesOfRuns({ starts, heads }: Runs, from: number, count: number): Float64Array {
  const values = new Float64Array(count);
  for (let run = placeIn(starts, from); run < starts.length && starts[run] < from + count; run++) {
    values.fill(heads[run], Math.max(starts[run] - from, 0));
  }
  return values;
}

/** The runs of some values. */
export function runsOf(values: Float64Array): Runs {
  const starts: number[] = [];
  for (let index = 0; index < values.length; index++) {
    if (index === 0 || values[index] !== values[index - 1]) starts.push(index);
  }
  return {
    starts: Float64Array.from(starts),
    heads: Float64Array.from(starts, (at) => values[at]),
  };
}

/** Puts the value of each run in its places of `values`, which it gives. */
export function spreadRuns({ starts, heads }: Runs, values: Float64Array): Float64Array {
  for (let run = 0; run < starts.length; run++) {
    values.fill(heads[run], starts[run], starts[run + 1] ?? values.length);
  }
  return values;
}
