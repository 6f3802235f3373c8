import type { CardinalitiesData } from './cardinality.ts';
import type { LongBoundsData } from './long-bounds.ts';
import type { QuantilesData } from './quantile.ts';
import type { SumsData } from './sum.ts';

/** A summary of the values of one path, by group, as plain data that crosses threads. */
export interface SummaryData {
  groupCount: number;
  counts: Float64Array<ArrayBuffer>;
  numberCounts: Float64Array<ArrayBuffer>;
  mins: Float64Array<ArrayBuffer>;
  maxs: Float64Array<ArrayBuffer>;
  longBounds: LongBoundsData;
  sums: SumsData | undefined;
  quantiles: QuantilesData | undefined;
  cardinalities: CardinalitiesData | undefined;
}
