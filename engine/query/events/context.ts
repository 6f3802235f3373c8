import type {
  ContextQuery,
  ContextResult,
  PageQuery,
  PageResult,
  Snapshot,
} from '../model/query.ts';
import { type BlockSource, noStats, type Progress } from '../model/source.ts';
import { following } from '../model/units.ts';
import { fetchUnits } from './fetch.ts';
import { pageUnits } from './list.ts';

/**
 * Finds an event and those around it: blocks are visited from the event outwards, until none that is left can have one
 * of them. A malformed, an unknown and a hidden id are the same: `undefined`. Throws as `fetchUnits`.
 */
export function* contextUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: ContextQuery,
): Generator<Progress, ContextResult | undefined> {
  const so = { unitsDone: 0 };
  const fetched = { ...query, predicate: query.visible };
  const event = yield* following(so, fetchUnits(source, snapshot, fetched));
  if (event === undefined) return undefined;
  const side = (order: 'asc' | 'desc', limit: number): Generator<Progress, PageResult> =>
    following(so, pageUnits(source, snapshot, sideOf(query, order, limit)));
  const before = yield* side('desc', query.before);
  const after = yield* side('asc', query.after);
  return {
    before: before.events.reverse(),
    event,
    after: after.events,
    stats: statsOf(snapshot, [before, after]),
  };
}

/** The list of what comes before the event (newest first) or after it. */
function sideOf(query: ContextQuery, order: 'asc' | 'desc', limit: number): PageQuery {
  const { id, predicate, event, columns } = query;
  const everything = { fromMs: -Infinity, toMs: Infinity, predicate };
  const unbounded = { textMax: Infinity, blocksMax: Infinity };
  return { ...everything, ...unbounded, order, limit, after: id, event, columns };
}

function statsOf(snapshot: Snapshot, sides: readonly PageResult[]) {
  const stats = noStats(snapshot.blocks.length);
  for (const { blocksOpened, blocksRefuted, rowsScanned } of sides.map((side) => side.stats)) {
    stats.blocksOpened += blocksOpened;
    stats.blocksRefuted += blocksRefuted;
    stats.rowsScanned += rowsScanned;
  }
  stats.blocksDamaged = new Set(sides.flatMap((side) => side.damaged)).size;
  return stats;
}
