const SUFFIXES = ['', 'k', 'M', 'G', 'T'];
const STEP = 1000;

/**
 * Text of a metric's value for people: at most one decimal, and `k`, `M`, `G` or `T` for thousands and up (`1.2k`).
 * What is missing is `-`. Source: decisions.md 5.7.
 */
export function formatNumber(value: number | null): string {
  if (value === null) return '-';
  let scaled = value;
  let suffix = 0;
  while (Math.abs(rounded(scaled)) >= STEP && suffix < SUFFIXES.length - 1) {
    scaled /= STEP;
    suffix++;
  }
  return `${rounded(scaled)}${SUFFIXES[suffix]}`;
}

/** To one decimal, never minus zero. */
function rounded(value: number): number {
  return Number(value.toFixed(1)) + 0;
}
