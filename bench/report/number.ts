/** The middle one of the samples, or the mean of the middle two; NaN of none. */
export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((left, right) => left - right);
  const middle = sorted.length >>> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The mean of positive values that makes twice as much and half as much even; NaN of none. */
export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** A number as tables show it: three digits, thousands apart. */
export function print(value: number): string {
  if (value !== 0 && Math.abs(value) < 10) return value.toPrecision(3);
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 1000 ? 1 : 0 });
}

/** A count as axes show it: `10M`, `300k`. */
export function printCount(count: number): string {
  if (count >= 1e6) return `${Number((count / 1e6).toPrecision(3))}M`;
  return count >= 1e3 ? `${Number((count / 1e3).toPrecision(3))}k` : String(count);
}
