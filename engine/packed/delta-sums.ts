import { damaged } from '../base/errors.ts';
import { PAGE_VALUES } from './stored-words.ts';

/** Values of a stream of deltas of which the first one is kept for those who read single ones. */
export const SUM_VALUES = PAGE_VALUES;

/** Sums from one mark to the next. */
const MARK_SUMS = 4;

const NO_SUMS = new Float64Array(0);

/** Start of a stream of deltas, and the number that each of them is more than it is stored. */
export interface Deltas {
  count: number;
  base: number;
  step: number;
}

/** Sums of a stream of deltas: its values whose indexes are multiples of SUM_VALUES, of which the first are known. */
export class DeltaSums {
  values = NO_SUMS;
  count = 0;
  /** Values whose indexes are multiples of MARK_SUMS * SUM_VALUES, but 0, when they are stored besides. */
  marks: Float64Array | undefined;
  #inside: DeltaSums | undefined;

  /** Sums of the stream that is inside of it: of the places of patches, or the starts of runs. */
  get inside(): DeltaSums {
    this.#inside ??= new DeltaSums();
    return this.#inside;
  }

  /** The sums up to that number `last` at least; `stored` gives some whole SUM_VALUES of the deltas from one on. */
  upTo(last: number, deltas: Deltas, stored: (from: number) => Uint32Array): Float64Array {
    const { step } = deltas;
    this.#begin(deltas);
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

  /**
   * The sum number `number`, made with those around it from the mark before them; `undefined` when it is not known and
   * there are no marks. `stored` gives SUM_VALUES of the deltas from one on, at the end fewer. Throws CORRUPTION when
   * these do not come to the next mark.
   */
  near(number: number, deltas: Deltas, stored: (from: number) => Uint32Array): number | undefined {
    this.#begin(deltas);
    const { values, marks } = this;
    if (!Number.isNaN(values[number])) return values[number];
    if (marks === undefined) return undefined;
    const mark = Math.floor(number / MARK_SUMS);
    const first = mark * MARK_SUMS;
    const end = Math.min(first + MARK_SUMS, values.length);
    const sums: number[] = [];
    let value = mark === 0 ? deltas.base : marks[mark - 1];
    for (let sum = first; sum < end; sum++) {
      sums.push(value);
      const steps = stored(sum * SUM_VALUES);
      for (let at = 0; at < steps.length; at++) value += deltas.step + steps[at];
    }
    const next = marks[mark];
    if (next !== undefined && next !== value) damaged(`deltas up to ${value}, not ${next}`);
    values.set(sums, first);
    return values[number];
  }

  #begin(deltas: Deltas): void {
    if (this.count > 0) return;
    this.values = new Float64Array(Math.ceil(deltas.count / SUM_VALUES)).fill(Number.NaN);
    this.values[this.count++] = deltas.base;
  }
}
