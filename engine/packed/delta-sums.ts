import { PAGE_VALUES } from './stored-words.ts';

/** Values of a stream of deltas of which the first one is kept for those who read single ones. */
export const SUM_VALUES = PAGE_VALUES;

const NO_SUMS = new Float64Array(0);

/** Start of a stream of deltas, and the number that each of them is more than it is stored. */
interface Deltas {
  count: number;
  base: number;
  step: number;
}

/** Sums of a stream of deltas: its values whose indexes are multiples of SUM_VALUES, of which the first are known. */
export class DeltaSums {
  values = NO_SUMS;
  count = 0;
  #inside: DeltaSums | undefined;

  /** Sums of the stream that is inside of it: of the places of patches, or the starts of runs. */
  get inside(): DeltaSums {
    this.#inside ??= new DeltaSums();
    return this.#inside;
  }

  /** The sums up to that number `last` at least; `stored` gives some whole SUM_VALUES of the deltas from one on. */
  upTo(last: number, deltas: Deltas, stored: (from: number) => Uint32Array): Float64Array {
    const { step } = deltas;
    if (this.count === 0) {
      this.values = new Float64Array(Math.ceil(deltas.count / SUM_VALUES));
      this.values[this.count++] = deltas.base;
    }
    while (this.count <= last) {
      const steps = stored((this.count - 1) * SUM_VALUES);
      for (let end = SUM_VALUES; end <= steps.length; end += SUM_VALUES) {
        let value = this.values[this.count - 1];
        for (let index = end - SUM_VALUES; index < end; index++) value += step + steps[index];
        this.values[this.count++] = value;
      }
    }
    return this.values;
  }
}
