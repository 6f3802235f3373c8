import { compareValues } from '../metric/long-bounds.ts';
import type { BucketKey, BucketOrder, GroupBy, MetricValue } from '../model/query.ts';
import type { Level } from './level.ts';
import type { Candidate } from './shared-scan.ts';

/** Candidates beyond the limit that are kept before they are sorted out. */
const SLACK = 64;

/** The function that orders buckets: negative when `left` comes first. */
export function comparer(
  order: BucketOrder,
  level: Pick<Level, 'compare'>,
): (left: Pick<Candidate, 'value' | 'rank'>, right: Pick<Candidate, 'value' | 'rank'>) => number {
  const sign = order.direction === 'asc' ? 1 : -1;
  if (order.by.type === 'natural') {
    return (left, right) => sign * level.compare(left.value, right.value);
  }
  return (left, right) => {
    const a = left.rank ?? null;
    const b = right.rank ?? null;
    if (a === b) return level.compare(left.value, right.value);
    if (a === null) return 1;
    if (b === null) return -1;
    return sign * compareValues(a, b);
  };
}

/** The first `limit` of the buckets that were offered, by their parents. */
export class FirstBuckets {
  readonly #limit: number;
  readonly #compare: ReturnType<typeof comparer>;
  readonly #byParent = new Map<number, Candidate[]>();
  /** The last one that counts, of parents that had more than enough. */
  readonly #worst = new Map<number, Candidate>();

  /** Without a limit all are kept. */
  constructor(limit: number | undefined, compare: ReturnType<typeof comparer>) {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
    this.#compare = compare;
  }

  /** Offers a bucket; `values` are computed only when it may be among the first. */
  offer(parent: number, value: number, rank: Candidate['rank'], values: () => MetricValue[]): void {
    const worst = this.#worst.get(parent);
    const bucket = { value, rank };
    if (worst !== undefined && this.#compare(bucket, worst) >= 0) return;
    const known = this.#byParent.get(parent);
    if (known === undefined) {
      this.#byParent.set(parent, [{ ...bucket, values: values() }]);
      return;
    }
    known.push({ ...bucket, values: values() });
    if (known.length >= this.#limit * 2 + SLACK) this.#cut(parent, known);
  }

  /** Parents with their buckets in order. */
  *entries(): Generator<[number, Candidate[]]> {
    for (const [parent, candidates] of this.#byParent) {
      this.#cut(parent, candidates);
      yield [parent, candidates];
    }
  }

  #cut(parent: number, candidates: Candidate[]): void {
    candidates.sort(this.#compare);
    if (candidates.length < this.#limit) return;
    candidates.length = this.#limit;
    const last = candidates.at(-1);
    if (last !== undefined) this.#worst.set(parent, last);
  }
}

/** How many buckets of a level are wanted in each bucket; of the first one more, to know whether there are more. */
export function limitOf(groupBy: GroupBy, place: number): number | undefined {
  if (groupBy.type === 'time' || groupBy.limit === undefined) return undefined;
  return place === 0 ? groupBy.limit + 1 : groupBy.limit;
}

/** Tells whether a value of a level comes after a bucket, in the natural order of that direction. */
export function afterTest(
  level: Level,
  after: BucketKey | undefined,
  direction: 'asc' | 'desc',
): (value: number) => boolean {
  const afterValue = after === undefined ? -1 : level.place(after);
  if (afterValue < 0) return () => true;
  const sign = direction === 'asc' ? 1 : -1;
  return (value) => sign * level.compare(value, afterValue) > 0;
}

/** The ranks of the last wanted buckets, of parents that have so many. */
export function lastRanks(
  first: FirstBuckets,
  limit: number | undefined,
): Map<number, Candidate['rank']> {
  const ranks = new Map<number, Candidate['rank']>();
  for (const [parent, { length, [length - 1]: last }] of first.entries()) {
    if (length === limit) ranks.set(parent, last.rank);
  }
  return ranks;
}
