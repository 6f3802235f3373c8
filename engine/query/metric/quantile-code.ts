/** Bits of a double's mantissa that tell values apart: 1,024 steps an octave, so an error below 0.1 %. */
const MANTISSA_BITS = 10;
/** The upper word of a double holds 20 bits of its mantissa. */
const INDEX_SHIFT = 20 - MANTISSA_BITS;
/** Significant digits that say any double. */
const DIGITS_MAX = 17;
/** The code of zero: codes of other values lie around it. */
const ZERO = 2 ** 21;
/** Codes are above 0 and below this one. */
export const CODES = 2 * ZERO;
/** Whole numbers below have their codes in a table. */
export const SMALL_VALUES = 2 ** 16;
/** Bits by which codes are told apart in a pass of `codeAtRank`. */
const DIGIT_BITS = 8;

const double = new Float64Array(1);
/** Words of `double`; the upper one is the second: the machine is little-endian, as FORMAT.md 1 is. */
const words = new Uint32Array(double.buffer);
const weights = new Float64Array(2 ** DIGIT_BITS);
const smallCodes = new Map<number, Uint32Array>();
/** Values of codes that were asked for, so many at most. */
const values = new Map<number, number>();
const VALUES_MAX = 2 ** 14;

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

/**
 * The code of a finite value: codes are in the order of the values, and those that share one differ by less than 0.1 %.
 */
export function codeOf(value: number): number {
  if (value > 0) return ZERO + bucketOf(value) + 1;
  return value < 0 ? ZERO - bucketOf(-value) - 1 : ZERO;
}

/** A value that has this code: the one with the fewest digits. Remembered: most groups have the same ones. */
export function valueOfCode(code: number): number {
  const known = values.get(code);
  if (known !== undefined) return known;
  if (values.size === VALUES_MAX) values.clear();
  const value = newValueOf(code);
  values.set(code, value);
  return value;
}

function newValueOf(code: number): number {
  if (code > ZERO) return roundest(code - ZERO - 1);
  return code < ZERO ? -roundest(ZERO - code - 1) : 0;
}

/** The codes of the whole numbers from 0 on, up to some one, each divided by `divisor`: made once a divisor. */
export function smallCodesOf(divisor: number): Uint32Array {
  const known = smallCodes.get(divisor);
  if (known !== undefined) return known;
  const codes = Uint32Array.from({ length: SMALL_VALUES }, (_, value) => codeOf(value / divisor));
  smallCodes.set(divisor, codes);
  return codes;
}

/** The whole numbers below SMALL_VALUES, divided by something, by their codes: several may have one. */
export interface SmallPlaces {
  /** By number the place of its code. */
  places: Uint16Array;
  /** By place the code; ascending. */
  codes: Uint32Array;
  /** By number + 1 its place + 1; 0 at 0. */
  ranks: Uint16Array;
}

const smallPlaces = new Map<number, SmallPlaces>();

/** The places of the codes of `smallCodesOf`: made once a divisor. */
export function placesOf(divisor: number): SmallPlaces {
  const known = smallPlaces.get(divisor);
  if (known !== undefined) return known;
  const all = smallCodesOf(divisor);
  const codes = new Uint32Array(new Set(all));
  const places = new Uint16Array(all.length);
  for (let value = 1, place = 0; value < all.length; value++) {
    if (all[value] !== all[value - 1]) place++;
    places[value] = place;
  }
  const ranks = Uint16Array.from(
    { length: all.length + 1 },
    (_, code) => code && places[code - 1] + 1,
  );
  const made = { places, codes, ranks };
  smallPlaces.set(divisor, made);
  return made;
}

/** The code at a rank, from 1 on, of `codes[from, to)`, which are in any order and count `counts` times each. */
export function codeAtRank(
  codes: Uint32Array,
  counts: Float64Array,
  from: number,
  to: number,
  rank: number,
): number {
  let first = codes[from];
  let last = first;
  for (let at = from + 1; at < to; at++) {
    if (codes[at] < first) first = codes[at];
    if (codes[at] > last) last = codes[at];
  }
  let left = rank;
  let bits = 32 - Math.clz32(last - first);
  do {
    bits = Math.max(bits - DIGIT_BITS, 0);
    weights.fill(0);
    for (let at = from; at < to; at++) {
      // Codes below the first one are far above it without their sign.
      const digit = (codes[at] - first) >>> bits;
      if (digit < weights.length) weights[digit] += counts[at];
    }
    let digit = 0;
    while (left > weights[digit]) left -= weights[digit++];
    first += digit << bits;
  } while (bits > 0);
  return first;
}
