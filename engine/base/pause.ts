/**
 * Work in units, which returns its result. At each yield it may be paused, or left for good. A unit takes a few
 * milliseconds, however large the data.
 */
export type Units<T> = Generator<undefined, T>;

/** Steps of a unit. */
const UNIT_STEPS = 2_048;

/** Counts steps, each about a microsecond, and tells when a unit is full. Owned by one piece of work. */
export class Pace {
  #left = UNIT_STEPS;

  /** Counts steps that were done; whether it is time to yield. */
  isFull(steps: number): boolean {
    this.#left -= steps;
    if (this.#left > 0) return false;
    this.#left = UNIT_STEPS;
    return true;
  }
}

/** Slots of tables, or places of arrays, that are gone through in a unit. */
export const UNIT_SLOTS = 16_384;

/** Goes through places 0 to `count - 1` in units of `size`: `part` does those from one up to another. */
export function* inParts(
  count: number,
  size: number,
  part: (from: number, to: number) => void,
): Units<void> {
  for (let from = 0; from < count; from += size) {
    part(from, Math.min(from + size, count));
    if (count - from >= size) yield;
  }
}

/** Does all units of a work at once. */
export function finished<T>(units: Generator<unknown, T>): T {
  for (;;) {
    const step = units.next();
    if (step.done === true) return step.value;
  }
}
