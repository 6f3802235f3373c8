/** A generator of numbers in [0, 1): mulberry32. The same seed gives the same numbers on every machine. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Choices of a corpus, drawn from one seeded stream of numbers. */
export class Draw {
  /** A number in [0, 1). */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = random(seed);
  }

  /** A whole number in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** One of `values`, each as often. */
  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.next() * values.length)];
  }

  /** True with the probability `share`. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** A number whose logarithm is normal with these two moments. */
  lognormal(mean: number, deviation: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return Math.exp(mean + deviation * normal);
  }

  /** `digits` hexadecimal digits. */
  hex(digits: number): string {
    let text = '';
    while (text.length < digits) text += hex8(this.below(2 ** 32));
    return text.slice(0, digits);
  }

  /** `values` in another order. */
  shuffled<T>(values: readonly T[]): T[] {
    const mixed = [...values];
    for (let at = mixed.length - 1; at > 0; at--) {
      const other = this.below(at + 1);
      [mixed[at], mixed[other]] = [mixed[other], mixed[at]];
    }
    return mixed;
  }
}

/** Draws ranks in [0, count) as people choose: the first ones often, the last ones hardly ever (Zipf). */
export function zipfRank(count: number, exponent: number, next: () => number): () => number {
  const sums = new Float64Array(count);
  let total = 0;
  for (let rank = 0; rank < count; rank++) {
    total += 1 / (rank + 1) ** exponent;
    sums[rank] = total;
  }
  return () => {
    const wanted = next() * total;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Draws from `values` by `zipfRank`. */
export function zipf<T>(values: readonly T[], exponent: number, next: () => number): () => T {
  const rank = zipfRank(values.length, exponent, next);
  return () => values[rank()];
}

/**
 * A permutation of the whole numbers below 2^32 that looks random: numbers 0, 1, 2, ... give values that never repeat,
 * without a set of those that were. Each step can be undone, so that no two numbers meet (the mixer lowbias32).
 */
export function permutation(seed: number): (number: number) => number {
  const offset = Math.imul(seed, 0x9e3779b1);
  return (number) => {
    let mixed = (number + offset) | 0;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
}

/** A number below 2^32 as eight hexadecimal digits. */
export function hex8(number: number): string {
  return number.toString(16).padStart(8, '0');
}
