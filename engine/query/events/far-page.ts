import type { Sharing } from '../group/shared-scan.ts';
import { type EventKey, keyBefore } from '../model/event-id.ts';
import type { ListQuery, Snapshot } from '../model/query.ts';
import type { BlockSource, Progress, Reach } from '../model/source.ts';
import { following, type PartsProgress } from '../model/units.ts';
import { newestUnits } from '../scan/bound.ts';
import { totalUnits } from './total.ts';

/** Rows before a page that are gathered to find it; more of them are counted, which is cheaper then. */
export const NEAR_ROWS = 10_000;

/** A list by date of what is reached. */
type Query = ListQuery & Reach;

/**
 * The same page, behind an event in place of more than `nearRows` rows. Of the blocks before it none is read whose
 * number of events the refs, the minutes or what is kept of filters tell, and the memory does not grow with the rows.
 * Throws what the source throws but CORRUPTION.
 */
export function* withoutFarRows(
  source: BlockSource,
  snapshot: Snapshot,
  query: Query,
  nearRows: number,
  sharing?: Sharing,
): Generator<Progress, Query> {
  const { skip = 0, after } = query;
  if (skip <= nearRows || after !== undefined) return query;
  const before = yield* keyBeforeRow(source, snapshot, query, skip, sharing);
  if (before === undefined) return { ...query, skip: 0, limit: 0 };
  return { ...query, skip: 0, after: source.ids.encode(before) };
}

/** The key behind which a row of a list begins; `undefined` when there is no such row. */
function* keyBeforeRow(
  source: BlockSource,
  snapshot: Snapshot,
  query: Query,
  row: number,
  sharing: Sharing | undefined,
): Generator<Progress, EventKey | undefined> {
  if (query.order === 'desc') return yield* newestUnits(source, snapshot, query, row);
  const parts: PartsProgress = { unitsDone: 0 };
  const { total } = yield* following(parts, totalUnits(source, snapshot, query, sharing));
  if (row >= total) return undefined;
  const key = yield* following(parts, newestUnits(source, snapshot, query, total - row));
  return key === undefined ? undefined : keyBefore(key);
}
