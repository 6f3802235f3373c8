/** Counts of values by class. */
export interface Distribution {
  /** Upper ends of the classes, ascending; one more class is above them. */
  readonly bounds: readonly number[];
  /** One more than bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** The class of `value`: the first whose upper end is not below it. */
function classOf(bounds: readonly number[], value: number): number {
  let place = 0;
  while (place < bounds.length && value > bounds[place]) place++;
  return place;
}

/** Counts values by class. */
export class Histogram implements Distribution {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  add(value: number): void {
    this.counts[classOf(this.bounds, value)]++;
    this.sum += value;
  }
}
