const SUFFIXES = ['', 'k', 'M', 'G', 'T'];
const STEP = 1000;
const ROUNDING = { maximumFractionDigits: 1, roundingMode: 'halfExpand' } as const;
const DECIMAL = new Intl.NumberFormat('en-US', { ...ROUNDING, useGrouping: false });
const SCIENTIFIC = new Intl.NumberFormat('en-US', { ...ROUNDING, notation: 'scientific' });

/**
 * Text of a metric's value for people: at most one decimal, halves rounded away from zero, `k`, `M`, `G` or `T` for
 * thousands and up (`1.2k`), an exponent beyond (`1.2e15`). What is missing is `-`. Source: INTERFACE.md 4.8.
 */
export function formatNumber(value: number | null): string {
  if (value === null) return '-';
  for (const [power, suffix] of SUFFIXES.entries()) {
    const text = DECIMAL.format(value / STEP ** power);
    if (Math.abs(Number(text)) < STEP) return `${Number(text) + 0}${suffix}`;
  }
  return SCIENTIFIC.format(value).toLowerCase();
}
