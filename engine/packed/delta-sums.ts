const NO_SUMS = new Float64Array(0);

/** Sums of a stream of deltas: its values whose indexes are multiples of PAGE_VALUES, of which the first are known. */
export class DeltaSums {
  values = NO_SUMS;
  count = 0;
  #inside: DeltaSums | undefined;

  /** Sums of the stream that is inside of it: of the places of patches, or the starts of runs. */
  get inside(): DeltaSums {
    this.#inside ??= new DeltaSums();
    return this.#inside;
  }
}
