/** Powers of ten that are doubles exactly. */
export const POWERS_OF_TEN: readonly number[] = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
  1e18, 1e19, 1e20, 1e21, 1e22,
];

/** Fraction digits up to which mantissa / 10^digits is rounded once. */
export const FRACTION_DIGITS_MAX = 22;

/** `scale` of numbers that are doubles. */
export const SCALE_DOUBLE = -1;
/** Whole numbers below have 15 digits at most: a double is the nearest of one decimal of so many digits only. */
export const MANTISSA_EXACT_MAX = 1e15;

/**
 * Rule for printing the numbers of a chunk: with all decimals of the scale; with as few as identify the number; as
 * few, but at least one. The numbers are on disk. Source: FORMAT.md 4.5.
 */
export const PrintRule = { FIXED: 0, SHORTEST: 1, POINT: 2 } as const;
/** One of the values of `PrintRule`. */
export type PrintRule = (typeof PrintRule)[keyof typeof PrintRule];

const LAST_ZEROS = /0+$/;
const ONLY_DIGITS = /^-?\d+$/;

/** Prints `value / 10^scale`, or the double `value`, by `rule`. Exact: no rounding anywhere. */
export function printNumber(value: number, scale: number, rule: PrintRule): string {
  if (scale === SCALE_DOUBLE) {
    const text = String(value);
    return rule === PrintRule.POINT && ONLY_DIGITS.test(text) ? `${text}.0` : text;
  }
  if (scale === 0) return String(value);
  const digits = String(Math.abs(value)).padStart(scale + 1, '0');
  const sign = value < 0 ? '-' : '';
  const whole = `${sign}${digits.slice(0, -scale)}`;
  let fraction = digits.slice(-scale);
  if (rule !== PrintRule.FIXED) fraction = fraction.replace(LAST_ZEROS, '');
  if (fraction === '' && rule === PrintRule.POINT) fraction = '0';
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
