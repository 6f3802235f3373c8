import type { BlockRef } from '../segment/frame.ts';
import { addRow, hasRow, noRows } from './bitmap.ts';
import { EventBuilder } from './event.ts';
import { decodeEventId, type EventKey } from './event-id.ts';
import { type Plan, planOf } from './plan.ts';
import type { FetchQuery, ListedEvent, Snapshot } from './query.ts';
import { rowsWhere } from './scan.ts';
import { type BlockSource, isDamage, type Progress } from './source.ts';

/** Whether a block may have the event of this key. */
function covers(ref: BlockRef, key: EventKey): boolean {
  return (
    ref.writer === key.writer &&
    key.sequence >= ref.firstSequence &&
    key.sequence < ref.firstSequence + ref.rowCount &&
    key.timeMs >= ref.minTimeMs &&
    key.timeMs <= ref.maxTimeMs
  );
}

/**
 * Fetches one event, a block a unit. A malformed, an unknown and a hidden id are the same: no event.
 * Throws CORRUPTION when it may be in a damaged block and is in no other, and what the source throws.
 */
export function* fetchUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: FetchQuery,
): Generator<Progress, ListedEvent | undefined> {
  const key = decodeEventId(source.secret, query.id);
  if (key === undefined) return undefined;
  const refs = snapshot.blocks.filter((ref) => covers(ref, key));
  const plan = planOf(query.predicate);
  let damage: unknown;
  for (const [done, ref] of refs.entries()) {
    try {
      const event = fetchFrom(source, ref, key, plan, query);
      if (event !== undefined) return event;
    } catch (error) {
      if (!isDamage(error)) throw error;
      damage = error;
    }
    yield { unitsDone: done + 1, unitsTotal: refs.length };
  }
  if (damage !== undefined) throw damage;
  return undefined;
}

function fetchFrom(
  source: BlockSource,
  ref: BlockRef,
  key: EventKey,
  plan: Plan,
  query: FetchQuery,
): ListedEvent | undefined {
  const block = source.open(ref);
  const row = key.sequence - ref.firstSequence;
  if (block.timeMs()[row] !== key.timeMs) return undefined;
  const wanted = noRows(block.rowCount);
  addRow(wanted, row);
  if (!hasRow(rowsWhere(plan, block, wanted), row)) return undefined;
  return new EventBuilder(block, source.secret, query).build(row);
}
