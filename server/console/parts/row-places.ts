/** Places of rows of which most have one height, and some that were measured have another. */
export class RowPlaces {
  readonly #rowPx: number;
  readonly #heights = new Map<number, number>();
  /** The rows that were measured, ascending, and by how much those up to each are higher than others; made anew. */
  #rows: number[] = [];
  #sums: number[] = [];
  #isSummed = true;

  constructor(rowPx: number) {
    this.#rowPx = rowPx;
  }

  /** Takes the height of a row. Returns by how much it has changed. */
  measure(row: number, heightPx: number): number {
    const before = this.#heights.get(row) ?? this.#rowPx;
    if (Math.abs(heightPx - this.#rowPx) < 1) this.#heights.delete(row);
    else this.#heights.set(row, heightPx);
    const delta = heightPx - before;
    if (delta !== 0) this.#isSummed = false;
    return delta;
  }

  /** Where a row begins; where they end for the number of rows. */
  startOf(row: number): number {
    if (!this.#isSummed) this.#sum();
    const before = firstAt(this.#rows, row);
    return row * this.#rowPx + (before === 0 ? 0 : (this.#sums[before - 1] ?? 0));
  }

  /** The row at a place, of so many. */
  rowAt(px: number, count: number): number {
    let [low, high] = [0, Math.max(0, count - 1)];
    while (low < high) {
      const middle = low + Math.ceil((high - low) / 2);
      if (this.startOf(middle) <= px) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #sum(): void {
    let sum = 0;
    this.#rows = [...this.#heights.keys()].sort((left, right) => left - right);
    this.#sums = this.#rows.map((row) => {
      sum += (this.#heights.get(row) ?? 0) - this.#rowPx;
      return sum;
    });
    this.#isSummed = true;
  }
}

/** The first place of ascending numbers at which there is none below `value`. */
function firstAt(numbers: readonly number[], value: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
