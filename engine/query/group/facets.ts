import { entrySeed } from '../../column/entries.ts';
import { aggregateLimits, memoryOf } from '../model/budget.ts';
import type {
  AggregateQuery,
  AttributeValue,
  Facet,
  FacetsQuery,
  FacetsResult,
  Snapshot,
} from '../model/query.ts';
import type { BlockSource, Progress, Reach } from '../model/source.ts';
import { following, type PartsProgress, telling } from '../model/units.ts';
import { withinBound } from '../scan/bound.ts';
import { aggregateUnits } from './aggregate.ts';
import { ValueCounter, type ValueLimits } from './attribute-values.ts';
import { BlockScan } from './block-scan.ts';
import { WholeValues, wholeTaken } from './whole-values.ts';

/** Distinct values of an attribute, and memory of them, up to which it is counted together with others. */
const DISTINCT_MAX = 50_000;
const MEMORY_BYTES_MAX = 8 * 1024 * 1024;
/** The part of the memory of a query that all of them may take. */
const MEMORY_PART = 2;

/** Findings of one pass. */
interface Counted {
  facets: Map<string, Facet>;
  stats: FacetsResult['stats'];
}

/**
 * Finds the most frequent values of some attributes: one pass over the blocks counts all that have no more than some
 * 10,000 values, others are counted one by one, as an aggregation does it. All counts are exact. Damaged blocks are
 * left out and counted. Throws MEMORY and LIMIT, and what the source throws but CORRUPTION.
 */
export function* facetsUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: FacetsQuery,
  distinctMax = DISTINCT_MAX,
): Generator<Progress, FacetsResult> {
  const parts: PartsProgress = { unitsDone: 0 };
  const counted = withinBound(source, snapshot, query, (reached) =>
    countTogether(source, snapshot, reached, distinctMax),
  );
  const { facets, stats, bound } = yield* following(parts, counted);
  const found: Facet[] = [];
  for (const path of query.paths) {
    const known = facets.get(path);
    found.push(known ?? (yield* following(parts, countAlone(source, snapshot, query, path))));
  }
  return { facets: found, stats, ...(bound === undefined ? {} : { bound }) };
}

/** Counts the values of all paths in one pass; those that have too many are not in the answer. */
function* countTogether(
  source: BlockSource,
  snapshot: Snapshot,
  query: FacetsQuery & Reach,
  distinctMax: number,
): Generator<Progress, Counted> {
  const { paths, limit } = query;
  const seed = entrySeed(source.secret);
  const share = Math.floor(memoryOf(source) / (MEMORY_PART * paths.length));
  const limits: ValueLimits = {
    distinctMax,
    memoryBytesMax: Math.min(share, MEMORY_BYTES_MAX),
  };
  const scan = new BlockScan(source, snapshot, query);
  const whole = new WholeValues(source, scan, paths);
  const counter = yield* wholeTaken(scan, () => new ValueCounter(paths, seed, limits, whole));
  yield* scan.run(counter);
  const firsts = yield* telling(() => scan.progress, counter.firsts(limit));
  const facets = new Map<string, Facet>();
  for (const [path, { values, distinctCount }] of firsts) {
    facets.set(path, { path, values, more: distinctCount > values.length });
  }
  return { facets, stats: scan.stats };
}

/** Counts the values of one path. */
function* countAlone(
  source: BlockSource,
  snapshot: Snapshot,
  { paths, limit, ...selection }: FacetsQuery,
  path: string,
): Generator<Progress, Facet> {
  const query: AggregateQuery = {
    ...selection,
    computes: [{ type: 'metric', metric: { type: 'core' } }],
    groupBys: [
      {
        ...{ type: 'field', path, limit, total: false },
        order: { by: { type: 'core' }, direction: 'desc' },
      },
    ],
  };
  const { buckets, more } = yield* aggregateUnits(source, snapshot, query, aggregateLimits(source));
  const values = buckets.map(({ keys: [key], values: [count] }): AttributeValue => {
    return { key, eventCount: Number(count) };
  });
  return { path, values, more };
}
