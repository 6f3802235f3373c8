/** Bits of a double's mantissa that tell values apart: 1,024 steps an octave, so an error below 0.1 %. */
const MANTISSA_BITS = 10;
/** The upper word of a double holds 20 bits of its mantissa. */
const INDEX_SHIFT = 20 - MANTISSA_BITS;
/** Significant digits that say any double. */
const DIGITS_MAX = 17;

const double = new Float64Array(1);
/** Words of `double`; the upper one is the second: the machine is little-endian, as FORMAT.md 1 is. */
const words = new Uint32Array(double.buffer);

/** The bucket of a value above 0: buckets are in the order of the values. */
function bucketOf(value: number): number {
  double[0] = value;
  return words[1] >>> INDEX_SHIFT;
}

/** The least value of a bucket. */
function bucketStart(bucket: number): number {
  words[0] = 0;
  words[1] = bucket << INDEX_SHIFT;
  return double[0];
}

/** The value of a bucket with the fewest digits. */
function roundest(bucket: number): number {
  const low = bucketStart(bucket);
  const high = bucketStart(bucket + 1);
  const middle = low + (high - low) / 2;
  for (let digits = 1; digits < DIGITS_MAX; digits++) {
    const round = Number(middle.toPrecision(digits));
    if (round >= low && round < high) return round;
  }
  return low;
}

/** Counts by bucket, for the buckets that were met and those between. */
class Histogram {
  first = 0;
  counts = new Float64Array(0);

  add(bucket: number, times: number): void {
    const at = bucket - this.first;
    if (at >= 0 && at < this.counts.length) this.counts[at] += times;
    else this.#addBeyond(bucket, times);
  }

  #addBeyond(bucket: number, times: number): void {
    const slack = 1 << MANTISSA_BITS;
    const empty = this.counts.length === 0;
    const first = empty ? bucket : Math.min(this.first, bucket - slack);
    const last = empty ? bucket + slack : Math.max(this.first + this.counts.length, bucket + slack);
    const from = Math.max(first, 0);
    const counts = new Float64Array(last - from);
    if (!empty) counts.set(this.counts, this.first - from);
    this.first = from;
    this.counts = counts;
    counts[bucket - from] += times;
  }

  merge(other: Histogram): void {
    for (let at = 0; at < other.counts.length; at++) {
      if (other.counts[at] > 0) this.add(other.first + at, other.counts[at]);
    }
  }
}

/**
 * Quantiles of numbers by log-linear histograms: each is within 0.1 % of the value at its rank. Mergeable; a merge
 * gives what adding all values to one would give. Values are finite.
 */
export class Quantiles {
  readonly #above = new Histogram();
  readonly #below = new Histogram();
  #zeros = 0;
  #count = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  /** Adds `value` `times` over. */
  add(value: number, times: number): void {
    this.#count += times;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
    if (value > 0) this.#above.add(bucketOf(value), times);
    else if (value < 0) this.#below.add(bucketOf(-value), times);
    else this.#zeros += times;
  }

  /** Adds what `other` has; `other` stays as it is. */
  merge(other: Quantiles): void {
    this.#above.merge(other.#above);
    this.#below.merge(other.#below);
    this.#zeros += other.#zeros;
    this.#count += other.#count;
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
  }

  /** The least value that `percent` % of the values do not exceed; `undefined` when there are no values. */
  at(percent: number): number | undefined {
    if (this.#count === 0) return undefined;
    const rank = Math.max(Math.ceil((percent * this.#count) / 100), 1);
    return Math.min(Math.max(this.#valueAt(rank), this.#min), this.#max);
  }

  /** A value of the bucket in which the value of this rank, counted from 1, lies. */
  #valueAt(rank: number): number {
    let left = rank;
    const below = this.#below.counts;
    for (let at = below.length - 1; at >= 0; at--) {
      left -= below[at];
      if (left <= 0) return -roundest(this.#below.first + at);
    }
    left -= this.#zeros;
    if (left <= 0) return 0;
    const above = this.#above.counts;
    for (let at = 0; at < above.length; at++) {
      left -= above[at];
      if (left <= 0) return roundest(this.#above.first + at);
    }
    return this.#max;
  }
}
