/**
 * Work in units: it may be left, for good too, whenever it yields, and returns what it found. A unit takes a few
 * milliseconds, however large what is worked on.
 */
export type Units<T> = Generator<undefined, T>;

/** Steps of a unit. */
const UNIT_STEPS = 4_096;

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

/** Does all units of a work at once. */
export function finished<T>(units: Generator<unknown, T>): T {
  for (;;) {
    const step = units.next();
    if (step.done === true) return step.value;
  }
}
